"""What can go wrong around the memory, by name; a clock that does not wait for it; and the chat that has to go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from langbot_plugin.api.entities.builtin.provider.message import Message

from components.event_listener.memory_injector import MemoryInjector
from playground.engines.wire import HostError
from tests.support.memory import KB, Bot

__all__ = ["FAULTS", "FOREIGN", "heard", "hurried"]

FOREIGN = "the vault code word is heron"
"""A memory of another conversation, which the fault "foreign rows come back" hands out."""


def faults(**how: Any) -> Callable[[Bot], None]:
    def switch_on(bot: Bot) -> None:
        for name, value in how.items():
            setattr(bot.api.faults, name, value)

    return switch_on


def foreign(bot: Bot) -> None:
    rows = [row for row in bot.api.rows[KB].values() if FOREIGN in row.document]
    bot.api.faults.foreign = [
        {"id": r.id, "distance": 0.0, "document": r.document, "metadata": bot.api._given_back(r)}
        for r in rows
    ]
    assert rows


def corrupt(prefix: str) -> Callable[[Bot], None]:
    def switch_on(bot: Bot) -> None:
        bot.restart()  # so that nothing is known from before
        broken = {key: b'{"schema_version": 1, "brok' for key in bot.api.values if key.startswith(prefix)}
        bot.api.faults.storage_corrupt = broken

    return switch_on


SET, UPSERT, DELETE = {"set_plugin_storage"}, {"vector_upsert"}, {"vector_delete"}
TOO_LARGE = HostError("ActionCallError: Binary storage value exceeds limit (2048 > 1024 bytes)")
FAULTS: dict[str, Callable[[Bot], None]] = {
    "embedding service down": faults(fail={"invoke_embedding"}),
    "embedding service hangs": faults(hang={"invoke_embedding"}),
    "embedding service slow": faults(slow={"invoke_embedding": 2.0}),
    **{f"embedding service answers {what}": faults(embedding=what) for what in ("short", "nan", "none")},
    "another dimension": faults(dimension=512),
    "writes fail": faults(fail=UPSERT),
    "the second write fails": faults(fail=UPSERT, let_pass={"vector_upsert": 1}),
    "writes get no answer": faults(lose_answer=UPSERT),
    "deletes fail": faults(fail=DELETE),
    "the second delete fails": faults(fail=DELETE, let_pass={"vector_delete": 1}),
    "deletes get no answer": faults(lose_answer=DELETE),
    "deletes do nothing": faults(delete_nothing=True),
    "lists fail": faults(fail={"vector_list"}),
    "the third list fails": faults(fail={"vector_list"}, let_pass={"vector_list": 2}),
    "the store is down": faults(fail={*UPSERT, *DELETE, "vector_list", "vector_search"}),
    "filters are ignored": faults(ignore_filters=True),
    "foreign rows come back": foreign,
    "rows come back twice and backwards": faults(duplicate_rows=True, reverse_rows=True),
    "counts lie": faults(lie_counts=True),
    "metadata is dropped": faults(drop_metadata=True),
    "metadata is null": faults(null_metadata=True),
    "storage is full": faults(storage_full=True),
    "storage fills up": faults(fail=SET, let_pass={"set_plugin_storage": 1}),
    "storage gets no answer": faults(lose_answer=SET),
    "storage finds values too large": faults(fail=SET, error=TOO_LARGE),
    "storage is down": faults(storage_down=True),
    "storage deletes nothing": faults(fail={"delete_plugin_storage"}),
    "corrupt profiles": corrupt("ltm/profile/"),
    "corrupt audit": corrupt("ltm/audit/"),
    "corrupt snapshots": corrupt("ltm/snapshot/"),
    "corrupt choices of off": corrupt("ltm/opt"),
    "corrupt knowledge base": corrupt("ltm/kb"),
    "corrupt everything": corrupt("ltm/"),
}


@asynccontextmanager
async def hurried() -> AsyncIterator[None]:
    """Let the loop's clock jump to the next timer when nothing else is to do, so that no real time is waited."""
    loop: Any = asyncio.get_running_loop()
    time, select, ahead = loop.time, loop._selector.select, 0.0

    def jump(timeout: float | None = None) -> Any:
        nonlocal ahead
        events = select(timeout if timeout is None else min(timeout, 0.001))
        if not events and timeout:
            ahead += timeout
        return events

    loop.time, loop._selector.select = (lambda: time() + ahead), jump
    try:
        yield
    finally:
        del loop._selector.select
        del loop.time


async def heard(bot: Bot, text: str, sender: str) -> str:
    """What the model gets of us when somebody says something; the listener lets nothing of ours stop the chat."""
    listener = MemoryInjector()
    listener.plugin = SimpleNamespace(memory=lambda: bot.service)  # type: ignore[assignment]
    turn, prompt = bot.turn(text, "group_77001", sender), [Message(role="system", content="You are helpful.")]
    context = SimpleNamespace(
        event=SimpleNamespace(default_prompt=prompt),
        query_id=1,
        query_uuid=turn.query_id,
        get_query_vars=turn.variables,
        get_bot_uuid=turn.bot_uuid,
        set_query_var=turn.set_variable,
    )
    await listener._prepare(context)
    assert prompt[0].content == "You are helpful."
    return "\n\n".join(str(message.content) for message in prompt)
