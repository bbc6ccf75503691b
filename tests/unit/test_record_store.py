"""The record store against a host that fails, lies and mixes things up."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longterm_memory.errors import StoreFailed
from longterm_memory.models import Status
from longterm_memory.ports import VectorRow
from longterm_memory.records.envelope import encode
from longterm_memory.records.keys import VERSION_SLOTS, Visibility
from longterm_memory.records.store import RecordStore
from tests.support.core import BASE, OTHER, TAO, Core, core, numbered_id, record, row_of
from tests.support.record_reads import ID, KEY, RECALLED, embedded, listed


@pytest.fixture
async def memory() -> Core:
    found = await core()
    await found.collection.prepare()
    return found


# ------------------------------------------------------------ what is written is there


async def test_what_was_written_is_found_by_search_listing_and_id(memory: Core) -> None:
    records = memory.collection.records
    one, two = record("rent is due", ID), record("cats and nuts", "a0000001", speaker=TAO)
    await records.write([one, two])
    assert await listed(memory) == ["cats and nuts", "rent is due"]
    found = await records.find(KEY, [ID, "a0000001", "b0000001"])
    assert {i: r.episode for i, r in found.items()} == {ID: one.episode, "a0000001": two.episode}
    answer = await records.search(KEY, embedded("nuts"), 2, RECALLED)
    assert [r.episode.content for r in answer.records] == ["cats and nuts", "rent is due"]  # nearest first


async def test_a_write_that_the_store_loses_is_reported_and_the_old_version_stays(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = memory.collection.records
    old = record("old", ID)
    await records.write([old])

    async def lose(**_: Any) -> None:
        return

    monkeypatch.setattr(memory.api, "_upsert", lose)
    with pytest.raises(StoreFailed, match="write_unverified"):
        await records.write([old.changed(content="new")], [old])
    assert await listed(memory) == ["old"]


async def test_a_change_never_leaves_nothing_behind(memory: Core) -> None:
    """Whatever call of a change fails, one version is readable afterwards."""
    records = memory.collection.records
    for call in ("vector_upsert", "vector_list", "vector_delete"):
        for way in ("fail", "lose_answer"):
            for passing in (0, 1):
                old = record("old", numbered_id(hash((call, way, passing)) % 10_000))
                await records.write([old])
                setattr(memory.api.faults, way, {call})
                memory.api.faults.let_pass = {call: passing}
                try:
                    await records.write([old.changed(content="new")], [old])
                except StoreFailed as exc:
                    assert exc.reason == "store_down"
                memory.api.faults.clear()
                found = (await records.find(KEY, [old.episode.id]))[old.episode.id]
                assert found.episode.content in ("old", "new")
                await records.delete(KEY, [old.episode.id])
                assert await records.find(KEY, [old.episode.id]) == {}


# ------------------------------------------------------------ leftovers of a crash


async def test_readers_keep_the_highest_version_and_finding_removes_the_rest(memory: Core) -> None:
    records = memory.collection.records
    old = record("old", ID)
    await memory.fill([old, old.changed(content="newer"), old.changed().changed(content="newest")])
    assert await listed(memory) == ["newest"]
    assert (await records.find(KEY, [ID]))[ID].episode.content == "newest"
    assert memory.row_count == 1
    assert (await records.find(KEY, [ID]))[ID].episode.content == "newest"


async def test_an_archive_that_crashed_is_one_archived_memory_once_it_was_looked_at(memory: Core) -> None:
    old = record("old", ID)
    await memory.fill([old, old.changed(status=Status.ARCHIVED)])
    records = memory.collection.records
    memory.api.faults.fail = {"vector_delete"}  # a repair that fails does not fail the reader
    assert (await records.find(KEY, [ID]))[ID].episode.status is Status.ARCHIVED
    assert memory.row_count == 2
    memory.api.faults.clear()
    assert (await records.find(KEY, [ID]))[ID].episode.status is Status.ARCHIVED
    assert memory.row_count == 1
    assert await listed(memory) == []
    assert await listed(memory, visibility=Visibility.HIDDEN) == ["old"]


async def test_an_episode_may_be_changed_more_often_than_there_are_row_ids(memory: Core) -> None:
    records = memory.collection.records
    current = record("version 1", ID)
    await records.write([current])
    for number in range(2, 2 * VERSION_SLOTS + 5):
        changed = current.changed(content=f"version {number}")
        await records.write([changed], [current])
        current = changed
    found = (await records.find(KEY, [ID]))[ID]
    assert (found.version, found.episode.content) == (132, "version 132")
    assert memory.row_count == 1


async def test_a_repair_never_removes_the_row_it_keeps(memory: Core) -> None:
    """A store that kept an old version under the same row id (64 versions later) gives both back."""
    old = record("old", ID)
    new = record("new", ID, version=1 + VERSION_SLOTS)
    assert old.row_id == new.row_id
    await memory.fill([new])
    stale = row_of(old)
    memory.api.faults.foreign = [{"id": stale.id, "metadata": dict(stale.metadata), "document": ""}]
    assert (await memory.collection.records.find(KEY, [ID]))[ID].episode.content == "new"
    memory.api.faults.clear()
    assert (await memory.collection.records.find(KEY, [ID]))[ID].episode.content == "new"


# ------------------------------------------------------------ other people's rows


# ------------------------------------------------------------ deleting


async def test_a_deleted_episode_is_gone_with_all_its_versions(memory: Core) -> None:
    old = record("x", ID)
    await memory.fill(
        [old, old.changed(), old.changed(status=Status.ARCHIVED).changed(), record("y", "a0000001")]
    )
    await memory.collection.records.delete(KEY, [ID])
    assert memory.row_count == 1
    assert await listed(memory) == ["y"]


async def test_deleting_what_is_not_there_deletes_nothing(memory: Core) -> None:
    await memory.fill([record("x", ID), record("theirs", "a0000001", scope=OTHER)])
    await memory.collection.records.delete(KEY, ["a0000001", "b0000001"])
    assert memory.row_count == 2
    assert memory.api.calls.counts["vector_delete"] == 0


async def test_a_delete_that_does_nothing_is_found_out() -> None:
    for count in (1, 60):
        memory = await core()
        await memory.fill([record(f"x {i}", numbered_id(i)) for i in range(count)])
        memory.api.faults.delete_nothing = True
        with pytest.raises(StoreFailed, match="delete_unverified") as caught:
            await memory.collection.records.delete(KEY, [numbered_id(i) for i in range(count)])
        assert caught.value.details["count"] == count
        assert memory.collection.records.health.unverified_deletes == count
        with pytest.raises(StoreFailed, match="delete_unverified"):
            await memory.collection.records.erase(KEY)


async def test_deletes_cost_the_same_whatever_else_is_in_the_scope(memory: Core) -> None:
    costs = []
    for more in (0, 1_200):
        await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(more)] + [record("x", ID)])
        with memory.api.calls.recording() as log:
            await memory.collection.records.delete(KEY, [ID])
        costs.append(log.total)
    assert costs == [3, 3]
    await memory.fill([record("kept", ID)])
    with memory.api.calls.recording() as log:
        await memory.collection.records.delete(KEY, [numbered_id(i) for i in range(1_200)])
    assert memory.row_count == 1
    assert log.total <= 12


async def test_erasing_a_scope_takes_its_hidden_rows_and_leaves_the_others(memory: Core) -> None:
    await memory.fill(
        [
            record("x", ID),
            record("h", "a0000001", status=Status.SUPERSEDED),
            record("theirs", ID, scope=OTHER),
        ]
    )
    await memory.collection.records.erase(KEY)
    assert memory.row_count == 1
    assert await listed(memory, OTHER.user_key) == ["theirs"]


# ------------------------------------------------------------ failures


async def test_a_page_too_big_for_one_message_is_read_in_smaller_ones(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(130)])
    whole = memory.host.list_rows

    async def limited(collection: str, where: Any, limit: int, offset: int = 0) -> list[VectorRow]:
        if limit > 100:
            raise StoreFailed("store_down")
        return await whole(collection, where, limit, offset)

    monkeypatch.setattr(memory.host, "list_rows", limited)
    assert len(await listed(memory)) == 130


async def test_a_store_that_never_ends_does_not_hold_the_reader_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("longterm_memory.records.paging.PAGEABLE", 2_000)

    class Endless:
        async def list_rows(self, _: str, __: Any, limit: int, ___: int = 0) -> list[VectorRow]:
            return [row] * limit

    row = row_of(record("x", ID))
    with pytest.raises(StoreFailed):
        await RecordStore(Endless(), BASE, dimension=lambda: 384).everything(  # type: ignore[arg-type]
            KEY, Visibility.RECALLED
        )


async def test_known_rows_are_not_decoded_again(memory: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    known = record("x", ID)
    await memory.fill([known, record("y", "a0000001")])
    decoded: list[str] = []

    def decode(row: VectorRow, user_key: str) -> None:
        decoded.append(row.id)

    monkeypatch.setattr("longterm_memory.records.store.decode", decode)
    answer = await memory.collection.records.search(KEY, embedded("x"), 5, RECALLED, {known.row_id: known})
    assert answer.records == [known]
    assert decoded == [record("y", "a0000001").row_id]


async def test_the_envelope_alone_is_the_truth(memory: Core) -> None:
    """Readable copies beside the envelope may be lost or changed by a backend; nothing is read from them."""
    stored = record("x", ID, importance=4)
    sent = encode(stored)
    changed = {k: "changed" if k not in ("text", "file_id", "uuid") else v for k, v in sent.metadata.items()}
    await memory.host.upsert(BASE, [type(sent)(sent.id, sent.vector, changed, "changed")])
    found = (await memory.collection.records.find(KEY, [ID]))[ID]
    assert found.episode == stored.episode
    assert json.loads(str(sent.metadata["text"]))["content"] == "x"


async def test_a_store_that_shows_changes_a_little_later_is_looked_at_again(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Milvus server, say: reads may be some seconds old."""
    monkeypatch.setattr("longterm_memory.records.again.READ_AGAIN", (0.0, 0.0, 0.0))
    records, shown = memory.collection.records, memory.api._list
    await records.write([record("old", ID)])
    before = {name: dict(rows) for name, rows in memory.api.rows.items()}
    there = await records.rows_of(KEY, [ID])
    looks = 0

    async def late(**given: Any) -> Any:
        nonlocal looks
        looks -= 1
        now = memory.api.rows
        if looks >= 0:
            memory.api.rows = before
        try:
            return await shown(**given)
        finally:
            memory.api.rows = now

    monkeypatch.setattr(memory.api, "_list", late)
    looks = 3
    await records.write([record("new", numbered_id(1))])
    looks = 3
    await records.remove(KEY, there)
    assert await listed(memory) == ["new"]
    looks = 4
    with pytest.raises(StoreFailed, match="write_unverified"):
        await records.write([record("newer", numbered_id(2))])
    looks = 5
    with pytest.raises(StoreFailed, match="delete_unverified"):
        await records.remove(KEY, there)
