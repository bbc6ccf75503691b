"""Bringing many memories in: nothing twice, whatever happens half-way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from longterm_memory.errors import EmbeddingFailed, LongTermMemoryError, StoreFailed
from longterm_memory.records.keys import Visibility
from longterm_memory.scope import Isolation, Scope
from tests.support.core import GROUP, MINA, TAO, Core, core, draft

KEY = GROUP.user_key
ID = "k7m29xqd"


@pytest.fixture
async def memory() -> Core:
    return await core()


async def test_an_import_adds_nothing_twice(memory: Core) -> None:  # O1
    rows = [draft(f"note {i}", imported_id=str(i)) for i in range(20)]
    stored, known = await memory.importer.add_many(GROUP, rows)
    assert (len(stored), known) == (20, 0)
    assert [e.content for e in stored] == [f"note {i}" for i in range(20)]
    assert all(e.sender_id == "9001" and e.imported_episode_id == str(i) for i, e in enumerate(stored))
    for target in (memory, await memory.restarted()):
        with memory.api.calls.recording() as log:
            assert await target.importer.add_many(GROUP, rows) == ([], 20)
        assert log.counts["invoke_embedding"] == log.counts["vector_upsert"] == 0


async def test_what_is_in_the_file_twice_is_stored_once(memory: Core) -> None:  # F8
    rows = [
        draft("one", id=ID),
        draft("another text", id=ID),
        draft("two", imported_id="7"),
        draft("two again", imported_id="7"),
        draft("Two."),
        draft("two", TAO),
    ]
    stored, known = await memory.importer.add_many(GROUP, rows)
    assert sorted((e.content, e.sender_id) for e in stored) == [
        ("one", "9001"),
        ("two", "9001"),
        ("two", "9002"),
    ]
    assert known == 3


async def test_superseded_and_archived_memories_are_known_too(memory: Core) -> None:
    await memory.say("My flight is Tuesday")
    await memory.say("My flight is Wednesday", MINA, "correction")
    assert await memory.importer.add_many(GROUP, [draft("My flight is Tuesday")]) == ([], 1)
    assert await memory.active() == ["My flight is Wednesday"]


async def test_a_forgotten_memory_comes_back_from_an_export(memory: Core) -> None:
    """Although the correction that had replaced its first version is still there, or was, in this process."""
    old = await memory.say("My flight is Tuesday")
    new = await memory.say("My flight is Wednesday", MINA, "correction")
    await memory.episodes.forget(GROUP, await memory.episodes.find(GROUP, old.id))
    stored, _ = await memory.importer.add_many(GROUP, [draft(old.content, id=old.id)])
    assert [e.id for e in stored] == [old.id]
    assert len(await memory.active()) == 2
    await memory.episodes.forget(GROUP, new)
    await memory.episodes.forget(GROUP, old)
    stored, _ = await memory.importer.add_many(
        GROUP, [draft(old.content, id=old.id), draft(new.content, id=new.id)]
    )
    assert len(stored) == len(await memory.active()) == 2


async def test_rows_may_have_been_said_elsewhere_in_the_same_bot(memory: Core) -> None:
    one, two = (Scope.of_session(s, bot_uuid="b", isolation=Isolation.BOT) for s in ("group_1", "group_2"))
    stored, _ = await memory.importer.add_many(one, [draft("a b"), draft("c d")], [one, two])
    assert [e.session_name for e in stored] == ["group_1", "group_2"]


async def test_an_import_that_failed_in_the_middle_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    for call in ("invoke_embedding", "vector_upsert", "vector_list"):
        for way in ("fail", "lose_answer"):
            memory = await core()
            monkeypatch.setattr("longterm_memory.importer.WRITE_ROWS", 10)
            monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0))
            rows = [draft(f"note {i}") for i in range(35)]
            setattr(memory.api.faults, way, {call})
            memory.api.faults.let_pass = {call: 4}
            with pytest.raises(LongTermMemoryError):
                await memory.importer.add_many(GROUP, rows)
            memory.api.faults.clear()
            memory.time.seconds += 120
            done = len(await memory.active())
            assert 0 < done <= 35  # all of them when only the last answer was lost
            stored, known = await memory.importer.add_many(GROUP, rows)
            assert (len(stored), known) == (35 - done, done)
            assert await memory.active() == sorted(f"note {i}" for i in range(35))


async def test_a_rate_limit_ends_an_import_after_few_tries(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:  # G4
    monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0))
    await memory.say("rent is due")
    memory.api.faults.fail = {"invoke_embedding"}
    with memory.api.calls.recording() as log, pytest.raises(EmbeddingFailed):
        await memory.importer.add_many(GROUP, [draft(f"note {i}") for i in range(500)])
    assert log.counts["invoke_embedding"] == 2


async def test_one_refused_call_does_not_end_an_import(memory: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0))
    await memory.say("rent is due")
    embed, calls = memory.host.embed, 0

    async def flaky(model: str, texts: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise EmbeddingFailed("embedding_down")
        return await embed(model, texts)

    memory.host.embed = flaky  # type: ignore[method-assign]
    stored, _ = await memory.importer.add_many(GROUP, [draft(f"note {i}") for i in range(5)])
    assert len(stored) == 5


async def test_people_can_talk_while_an_import_runs(memory: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.importer.WRITE_ROWS", 5)
    memory.api.latency = 0.002
    running = asyncio.create_task(memory.importer.add_many(GROUP, [draft(f"note {i}") for i in range(60)]))
    await asyncio.sleep(0.02)
    await memory.say("note 59")  # what the import brings, said meanwhile
    assert not running.done()
    stored, known = await running
    assert (len(stored), known) == (59, 1)
    assert len(await memory.active()) == 60


async def test_an_index_that_is_dropped_while_an_import_runs_misses_nothing(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longterm_memory.importer.WRITE_ROWS", 5)
    indexes = memory.collection.indexes
    indexes._rows_max = 200
    memory.api.latency = 0.001
    running = asyncio.create_task(memory.importer.add_many(GROUP, [draft(f"note {i}") for i in range(40)]))
    while not running.done():
        for i in range(6):
            indexes.of(f"other {i}")
        await asyncio.gather(memory.recaller.warm(KEY, seconds=1), asyncio.sleep(0.002))
    assert len((await running)[0]) == 40
    assert len(await memory.active()) == 40


async def test_a_store_that_loses_a_row_is_found_out_and_the_row_comes_with_the_next_import(
    memory: Core,
) -> None:
    rows = [draft(f"note {i}") for i in range(400)]
    upsert, lost = memory.host.upsert, 0

    async def forgetful(collection: str, records: Any) -> None:
        nonlocal lost
        kept = [r for r in records if "note 123" not in r.document]
        lost += len(records) - len(kept)
        await upsert(collection, kept)

    memory.host.upsert = forgetful  # type: ignore[method-assign]
    with pytest.raises(StoreFailed, match="write_unverified"):
        await memory.importer.add_many(GROUP, rows)
    assert lost == 1
    memory.host.upsert = upsert  # type: ignore[method-assign]
    stored, known = await memory.importer.add_many(GROUP, rows)
    assert ([e.content for e in stored], known) == (["note 123"], 399)


async def test_the_store_is_asked_little_about_what_was_written(memory: Core) -> None:
    rows = [draft(f"note {i}") for i in range(600)]
    with memory.api.calls.recording() as seen:
        await memory.importer.add_many(GROUP, rows)
    assert seen.counts["vector_upsert"] == 3  # the first row of all makes the collection safe to read
    assert seen.counts["vector_list"] <= 6


async def test_many_memories_are_counted_shard_by_shard(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longterm_memory.records.store.PAGEABLE", 50)
    monkeypatch.setattr("longterm_memory.records.store.AS_ONE", 40)
    stored, _ = await memory.importer.add_many(GROUP, [draft(f"note {i}") for i in range(120)])
    records, ids = memory.collection.records, [e.id for e in stored]
    with memory.api.calls.recording() as calls:
        assert await records.holds(KEY, Visibility.RECALLED, ids)
    assert 3 <= calls.counts["vector_list"] <= 6
    assert await records.holds(KEY, Visibility.RECALLED, ids)
    await records.delete(KEY, ids[:1])
    assert not await records.holds(KEY, Visibility.RECALLED, ids)
    assert await records.holds(KEY, Visibility.RECALLED, ids[1:])
    assert await records.holds(KEY, Visibility.HIDDEN, [])
