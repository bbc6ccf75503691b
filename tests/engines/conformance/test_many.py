"""More memories in one conversation than a backend pages through at once."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from longterm_memory.errors import StoreFailed
from longterm_memory.models import Filters, Status
from tests.support.conformance import EVERYTHING, ask, native, restarted, say
from tests.support.memory import Bot

pytestmark = pytest.mark.engine

FIRST, ALL = 6_000, 16_900
ARCHIVED = Filters(statuses=frozenset({Status.ARCHIVED}))

T = TypeVar("T")


async def patiently(ask_again: Callable[[], Awaitable[T]]) -> T:
    """Ask until everything was read: who is told that it is still being read gets further the next time."""
    known, stalled = -1, 0
    while True:
        try:
            return await ask_again()
        except StoreFailed as exc:
            if exc.reason != "still_reading":
                raise
            # A scope that turns out to be large is read from its start again, which shows nothing new for a while.
            stalled = stalled + 1 if int(str(exc.details["count"])) <= known else 0
            known = max(known, int(str(exc.details["count"])))
            assert stalled < 5


@pytest.mark.check("import", "paging")
@pytest.mark.timeout(1_500)
async def test_sixteen_thousand_memories_in_one_conversation(bot: Bot) -> None:
    rows = [
        {
            "id": n,
            "content": f"note {n} of the long list",
            "sender_id": "9001",
            "timestamp": f"20{n // 1_000:02}-01-01T{n // 60 % 24:02}:{n % 60:02}:00Z",
        }
        for n in range(ALL)
    ]
    memory, elsewhere = await bot.memory(), await bot.memory("group_77002")
    await say(elsewhere, "note 5 of the long list")
    report = await memory.transfer.import_file(json.dumps(rows[:FIRST]).encode())
    assert (report.accepted, report.rejected, report.error) == (FIRST, (), None)
    assert await native(bot, memory) == FIRST
    report = await memory.transfer.import_file(json.dumps(rows[FIRST:]).encode())
    assert (report.accepted, report.remaining, report.ok) == (ALL - FIRST, 0, True)
    assert await native(bot, memory) == ALL

    memory = await restarted(bot)
    listed = await patiently(lambda: memory.select(EVERYTHING))
    assert len(listed) == ALL
    assert {e.content for e in listed} == {row["content"] for row in rows}
    report = await memory.transfer.import_file(json.dumps(rows).encode())
    assert (report.accepted, report.skipped, report.ok) == (0, ALL, True)
    assert await native(bot, memory) == ALL
    last = await memory.page(EVERYTHING, 1_690)
    assert (last.total, last.pages, last.left) == (ALL, 1_690, 0)
    assert [e.id for e in last.items] == [e.id for e in listed[-10:]]
    for episode in (listed[0], listed[-1]):
        assert await memory.show(episode.id) == episode
        await memory.changes.archive(episode.id)
    assert [e.content for e in (await memory.page(ARCHIVED)).items] == [listed[0].content, listed[-1].content]
    assert (await memory.page(Filters(), 1_690)).total == ALL - 2
    assert "note 12345 of the long list" in await ask(memory, "note 12345")

    console = await bot.memory(via="console")
    erased = await patiently(console.privacy.erase_space)
    assert erased.episodes == ALL
    assert await native(bot, memory) == 0
    assert await native(bot, elsewhere) == 1
