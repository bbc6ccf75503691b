"""Changes that fail, hang or are cancelled anywhere: a truth is left, and they can be repeated."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from longterm_memory.errors import LongTermMemoryError
from longterm_memory.models import Filters, Status
from longterm_memory.records.envelope import encode
from longterm_memory.records.keys import Visibility
from tests.support.core import BASE, GROUP, MINA, Core, core, draft, record

KEY = GROUP.user_key
ID = "k7m29xqd"
Change = Callable[[Core], Awaitable[Any]]


@pytest.fixture
async def memory() -> Core:
    return await core()


# ------------------------------------------------------------ changes


async def _remember(memory: Core) -> None:
    await memory.say("dogs are fine")


async def _correct(memory: Core) -> None:
    await memory.say("My flight is Wednesday", MINA, "correction")


async def _forget(memory: Core) -> None:
    (stored,) = [e for e in await memory.episodes.select(KEY, Filters()) if "Tuesday" in e.content]
    await memory.episodes.forget(GROUP, stored)


async def _import(memory: Core) -> None:
    await memory.importer.add_many(GROUP, [draft(f"note {i}") for i in range(5)])


CHANGES: dict[str, Change] = {
    "remember": _remember,
    "correct": _correct,
    "forget": _forget,
    "import": _import,
}


CALLS = ("vector_upsert", "vector_list", "vector_delete", "vector_search", "invoke_embedding")


async def _consistent(memory: Core) -> None:
    """What this process believes is what the store holds, and no fact is lost."""
    here = await memory.active()
    assert "Mina plays chess" in here
    flights = [c for c in here if "flight" in c]
    assert len(flights) <= 1
    for content in here:
        assert content in await memory.found(content, k=10)
    held = {
        r.episode.content
        for r in await memory.collection.records.everything(KEY, Visibility.RECALLED)
        if not memory.collection.indexes.of(KEY).superseded(r)
    }
    assert set(here) == held


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_that_is_interrupted_anywhere_leaves_a_truth_that_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:  # P1
    monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0))
    for call, way, passing in itertools.product(CALLS, ("fail", "lose_answer", "cancel"), (0, 1)):
        memory = await core()
        await memory.say("Mina plays chess")
        await memory.say("My flight is Tuesday")
        await memory.recaller.loaded(KEY)
        failed = await _interrupted(memory, change, call, way, passing)
        await _consistent(memory)
        if failed:
            with contextlib.suppress(*[ValueError] * (change == "forget")):  # it was gone already
                await CHANGES[change](memory)
        await _consistent(memory)
        here = await memory.active()
        expected = {
            "remember": "dogs are fine" in here,
            "correct": "My flight is Wednesday" in here and "My flight is Tuesday" not in here,
            "forget": not any("flight" in c for c in here),
            "import": {f"note {i}" for i in range(5)} <= set(here),
        }
        assert expected[change], (call, way, passing)
        assert len(here) == len(set(here)), (call, way, passing)


async def _interrupted(memory: Core, change: str, call: str, way: str, passing: int) -> bool:
    """Carry a change out while a call of the host fails, loses its answer or hangs; says whether it failed."""
    faults = memory.api.faults
    setattr(faults, "hang" if way == "cancel" else way, {call})
    faults.let_pass = {call: passing}
    task = asyncio.ensure_future(CHANGES[change](memory))
    if way == "cancel":
        await asyncio.sleep(0.01)
        task.cancel()
    try:
        await task
        return False
    except (LongTermMemoryError, asyncio.CancelledError):
        return True
    finally:
        faults.clear()
        memory.time.seconds += 120  # the breaker, if it opened


async def test_a_changed_row_of_a_crash_is_taken_over_when_it_is_looked_at(memory: Core) -> None:
    old = record("rent is due", ID)
    await memory.fill([old])
    await memory.recaller.loaded(KEY)
    await memory.host.upsert(BASE, [encode(old.changed(status=Status.ARCHIVED))])
    assert (await memory.episodes.find(GROUP, ID)).status is Status.ARCHIVED
    assert await memory.active() == []
    assert await memory.found("rent due") == []
    again = old.changed().changed(status=Status.ACTIVE, content="rent is paid")
    await memory.host.upsert(BASE, [encode(again)])
    fresh = await memory.restarted()
    await fresh.recaller.loaded(KEY)
    newest = again.changed(content="rent is overdue")
    await fresh.host.upsert(BASE, [encode(newest)])
    assert (await fresh.episodes.find(GROUP, ID)).content == "rent is overdue"
    assert await fresh.listed() == ["rent is overdue"]
