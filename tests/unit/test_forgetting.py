"""Forgetting: gone everywhere, with what it replaced, and reported only once a read-back shows it."""

from __future__ import annotations

import pytest

from longterm_memory.errors import NotFound, StoreFailed
from longterm_memory.models import Filters, Status
from longterm_memory.recall.recaller import Fill
from tests.support.core import ALL, GROUP, MINA, OTHER, TAO, Core, core, numbered_id, record

KEY = GROUP.user_key
ID = "k7m29xqd"


@pytest.fixture
async def memory() -> Core:
    return await core()


async def test_forgotten_is_gone_everywhere(memory: Core) -> None:  # C1
    stored = await memory.say("Rent is due")
    await memory.say("cats are fine")
    await memory.recaller.loaded(KEY)
    forgotten = await memory.episodes.forget(GROUP, stored)
    assert forgotten.ids == (stored.id,)
    assert memory.row_count == 1
    for target in (memory, await memory.restarted()):
        with pytest.raises(NotFound):
            await target.episodes.find(GROUP, stored.id)
        assert await target.listed(statuses=ALL) == ["cats are fine"]
        for fill in Fill:
            assert await target.found("rent due", fill=fill) == []


async def test_only_what_a_read_back_shows_gone_is_reported_deleted() -> None:  # C2
    for lying in (True, False):
        memory = await core()
        stored = await memory.say("Rent is due")
        memory.api.faults.lie_counts, memory.api.faults.delete_nothing = lying, True
        with pytest.raises(StoreFailed, match="delete_unverified"):
            await memory.episodes.forget(GROUP, stored)
        assert await memory.active() == ["Rent is due"]
        memory.api.faults.delete_nothing = False
        await memory.episodes.forget(GROUP, stored)
        assert await memory.active() == []
        with pytest.raises(NotFound):
            await memory.episodes.find(GROUP, stored.id)


async def test_forgetting_a_correction_takes_its_chain(memory: Core) -> None:
    await memory.say("My flight is Monday", TAO)
    first = await memory.say("My flight is Monday")
    second = await memory.say("My flight is Tuesday", MINA, "correction")
    third = await memory.say("My flight is Wednesday", MINA, "correction")
    forgotten = await memory.episodes.forget(GROUP, third)
    assert forgotten.chain == (second.id, first.id)
    found = await memory.episodes.select(KEY, Filters(statuses=ALL))
    assert [(e.sender_id, e.content) for e in found] == [("9002", "My flight is Monday")]


async def test_forgetting_an_old_version_leaves_the_new_one(memory: Core) -> None:
    first = await memory.say("My flight is Monday")
    second = await memory.say("My flight is Tuesday", MINA, "correction")
    old = await memory.episodes.find(GROUP, first.id)
    assert (await memory.episodes.forget(GROUP, old)).ids == (first.id,)
    assert await memory.everything() == [("My flight is Tuesday", "active")]
    assert (await memory.episodes.forget(GROUP, second)).chain == ()


async def test_a_restored_version_is_not_taken_along(memory: Core) -> None:
    first = await memory.say("My flight is Monday")
    second = await memory.say("My flight is Tuesday", MINA, "correction")
    records = memory.collection.records
    hidden = (await records.find(KEY, [first.id]))[first.id]
    await records.write([hidden.changed(status=Status.ACTIVE, superseded_by="")], [hidden])
    assert (await memory.episodes.forget(GROUP, second)).chain == ()
    assert [c for c, _ in await memory.everything()] == ["My flight is Monday"]


async def test_chains_that_somebody_else_or_a_circle_is_part_of_stop_there(memory: Core) -> None:
    theirs = record("Tao's", "a0000001", speaker=TAO, status=Status.SUPERSEDED, superseded_by=ID)
    round_ = record("round", "b0000001", status=Status.SUPERSEDED, superseded_by=ID, supersedes=((ID, 1),))
    elsewhere = record("elsewhere", "c0000001", status=Status.SUPERSEDED, superseded_by="d0000001")
    claims = tuple((i, 1) for i in ("a0000001", "b0000001", "c0000001", "e0000001"))
    head = record("head", ID, supersedes=claims)
    await memory.fill([theirs, round_, elsewhere, head])
    forgotten = await memory.episodes.forget(GROUP, head.episode)
    assert forgotten.ids == (ID, "b0000001")
    assert [c for c, _ in await memory.everything()] == ["Tao's", "elsewhere"]


async def test_forgetting_costs_the_same_whatever_the_size() -> None:
    for size in (5, 1_200):
        memory = await core()
        await memory.plant([record(f"note {i}", numbered_id(i)) for i in range(size)])
        await memory.recaller.loaded(KEY)
        with memory.api.calls.recording() as log:
            await memory.episodes.forget(GROUP, await memory.episodes.find(GROUP, numbered_id(3)))
        assert dict(log.counts) == {"vector_list": 3, "vector_delete": 1}


async def test_many_are_deleted_in_this_scope_only(memory: Core) -> None:  # C5, C2
    for scope in (GROUP, OTHER):
        for i in range(5):
            await memory.say(f"note {i}", MINA, *(["work"] if i < 3 else []), scope=scope)
    found = await memory.episodes.select(KEY, Filters(tag="work"))
    assert len(await memory.episodes.delete_many(GROUP, found)) == 3
    assert await memory.active() == ["note 3", "note 4"]
    assert len(await memory.listed(OTHER)) == 5
    assert await memory.episodes.delete_many(GROUP, []) == ()


async def test_a_scope_of_thousands_can_be_deleted(memory: Core) -> None:
    await memory.plant([record(f"note {i}", numbered_id(i)) for i in range(1_300)])
    found = await memory.episodes.select(KEY, Filters())
    with memory.api.calls.recording() as log:
        await memory.episodes.delete_many(GROUP, found)
    assert memory.row_count == 0
    assert log.total < 20
    assert await memory.active() == []
