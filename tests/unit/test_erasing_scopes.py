"""A whole scope is erased by where it lives: in few calls, with whatever is in it, and nothing of anybody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from longterm_memory.errors import StoreFailed
from longterm_memory.models import Status
from longterm_memory.ports import VectorRecord
from longterm_memory.records.envelope import Record, encode
from longterm_memory.records.keys import file_id, file_ids, places
from longterm_memory.records.unsettled import UNSETTLED_SECONDS
from tests.support.core import ALL, BASE, GROUP, OTHER, Core, core, draft, numbered_id, record

MANY = 1_200


def others(memory: Core) -> list[str]:
    """What the store holds of anybody else, the mark not counted."""
    gone = {*places(GROUP.user_key), "ltm-sentinel"}
    return [row.document for row in memory.api.rows[BASE].values() if row.metadata["file_id"] not in gone]


async def lived_in(more: int = 0) -> tuple[Core, list[str]]:
    """A scope with memories of every status and a row that cannot be read, another one with the same texts."""
    memory = await core()
    said = [await memory.say(f"note {n}") for n in range(5)]
    await memory.episodes.changes.set_status(GROUP, said[0].id, Status.ARCHIVED)
    await memory.say("note 1", scope=OTHER)
    await memory.plant([record(f"planted {n}", numbered_id(n)) for n in range(more)])
    damaged = encode(record("damaged", "a0000001"))
    damaged = VectorRecord(damaged.id, damaged.vector, {**damaged.metadata, "text": "{"}, "damaged")
    await memory.host.upsert(BASE, [damaged])
    return await memory.restarted(), [*(e.id for e in said), *map(numbered_id, range(more))]


async def test_everything_in_it_goes_whatever_its_state_and_nothing_else() -> None:
    for more in (0, MANY):
        memory, there = await lived_in(more=more)
        await memory.listed(statuses=ALL)
        with memory.api.calls.recording() as calls:
            erased = await memory.episodes.erase_whole(GROUP)
        assert sorted(erased) == sorted(there)
        assert others(memory) == ["note 1"]
        assert memory.row_count == 1
        # As many calls for a scope that is read, whatever its size: the archived ones, what is there, what is left.
        assert calls.counts["vector_list"] == 3
        assert calls.counts["vector_delete"] == (17 if more else 1)
        for one in (memory, await memory.restarted()):
            assert await one.listed(statuses=ALL) == []
            assert await one.found("note 1") == []
            assert await one.listed(OTHER) == ["note 1"]
        assert await memory.episodes.erase_whole(GROUP) == ()


async def test_what_corrections_replaced_goes_and_counts_where_they_broke_off() -> None:
    memory = await core()
    old = await memory.say("Mina loves cilantro")
    claimed = record("Mina hates cilantro", "b0000001", supersedes=((old.id, 1),))
    await memory.fill([claimed])
    fresh = await memory.restarted()
    assert set(await fresh.episodes.erase_whole(GROUP)) == {old.id, claimed.episode.id}
    assert fresh.row_count == 0


async def test_what_cannot_be_seen_to_be_gone_is_not_said_to_be() -> None:
    memory, _ = await lived_in()
    memory.api.faults.delete_nothing = True
    with pytest.raises(StoreFailed, match="delete_unverified"):
        await memory.episodes.erase_whole(GROUP)
    memory.api.faults.clear()
    # No call was given up, so whatever is said now stays.
    await memory.say("Mina sings")
    memory.api.faults.foreign = [{"id": "x", "metadata": {"file_id": file_ids(OTHER.user_key, "r")[0]}}]  # type: ignore[arg-type]
    memory.api.calls.clear()
    with pytest.raises(StoreFailed, match="store_untrusted"):
        await memory.episodes.erase_whole(GROUP)
    assert memory.api.calls.counts["vector_delete"] == 0


async def test_a_half_that_is_gone_is_told_and_the_rest_goes_the_next_time() -> None:
    memory, there = await lived_in(more=MANY)
    memory.api.faults.fail, memory.api.faults.let_pass = {"vector_delete"}, {"vector_delete": 5}
    with pytest.raises(StoreFailed, match="delete_unknown"):
        await memory.episodes.erase_whole(GROUP)
    assert 1 < memory.row_count < len(there)
    memory.api.faults.clear()
    left = await memory.listed(statuses=ALL)
    assert len(await memory.episodes.erase_whole(GROUP)) == len(left)
    assert others(memory) == ["note 1"]
    assert memory.row_count == 1


async def given_up(memory: Core, name: str, act: Callable[[], Any]) -> Callable[[], Any]:
    """Do something whose call to the store times out; returns what lets that call take effect."""
    real, late = getattr(memory.api, name), list[Callable[[], Any]]()

    async def call(*args: Any, **kwargs: Any) -> None:
        late.append(lambda: real(*args, **kwargs))
        raise TimeoutError(f"Action {name} call timed out")

    setattr(memory.api, name, call)
    with pytest.raises(StoreFailed):
        await act()
    setattr(memory.api, name, real)
    return late[0]


async def test_a_delete_that_takes_effect_late_takes_nothing_new_along() -> None:
    memory, _ = await lived_in()
    late = await given_up(memory, "vector_delete", lambda: memory.episodes.erase_whole(GROUP))
    # Erased again, and seen to be gone: the first call may still be on its way.
    await memory.episodes.erase_whole(GROUP)
    for storing in (memory.say("Mina sings"), memory.importer.add_many(GROUP, [draft("Mina sings")])):
        with pytest.raises(StoreFailed, match="erasure_unsettled") as refused:
            await storing
        assert refused.value.details["minutes"] == 4
    await memory.say("note 2", scope=OTHER)
    await late()
    memory.time.seconds += UNSETTLED_SECONDS
    await memory.say("Mina sings")
    assert await memory.active() == ["Mina sings"]
    assert await memory.listed(OTHER) == ["note 1", "note 2"]


async def test_an_erasure_that_is_cancelled_may_still_take_effect() -> None:
    memory, _ = await lived_in()
    memory.api.faults.hang = {"vector_delete"}
    task = asyncio.ensure_future(memory.episodes.erase_whole(GROUP))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    memory.api.faults.clear()
    with pytest.raises(StoreFailed, match="erasure_unsettled"):
        await memory.say("Mina sings")
    assert "note 1" in await memory.listed()


async def test_a_write_that_takes_effect_after_its_scope_was_erased_does_not_stay() -> None:
    memory, _ = await lived_in()
    late = await given_up(memory, "vector_upsert", lambda: memory.say("Mina sings"))
    await memory.episodes.erase_whole(GROUP)
    await late()
    memory.time.seconds += UNSETTLED_SECONDS + 1
    assert await memory.listed(statuses=ALL) == []
    assert others(memory) == ["note 1"]


async def test_a_memory_that_is_back_stays_though_a_write_of_it_was_given_up_before() -> None:
    memory = await core()
    mina = await memory.say("Mina sings")
    change = memory.episodes.changes.set_status
    await given_up(memory, "vector_upsert", lambda: change(GROUP, mina.id, Status.ARCHIVED))
    await memory.episodes.erase_whole(GROUP)
    await memory.importer.add_many(GROUP, [draft("Mina sings", id=mina.id)])
    memory.time.seconds += UNSETTLED_SECONDS + 1
    assert await memory.active() == ["Mina sings"]


def test_the_places_of_a_scope_are_all_that_its_rows_can_have() -> None:
    found = places(GROUP.user_key)
    assert len(set(found)) == len(found) == 33
    for status in Status:
        stored: Record = record("x", "a0000001", status=status)
        assert file_id(GROUP.user_key, stored.visibility, "a0000001") in found
    assert not set(found) & set(places(OTHER.user_key))
