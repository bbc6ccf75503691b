"""How the index of a scope fills from the store: page by page, complete whatever happens beside it."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterable
from typing import Any

import pytest

from longterm_memory.errors import StoreFailed
from longterm_memory.models import Status
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.envelope import Record
from longterm_memory.records.keys import SHARDS, Visibility
from longterm_memory.records.paging import PAGEABLE
from tests.support.core import BASE, GROUP, Core, core, numbered_id, record
from tests.support.strict_host import _WINDOW, StrictHost

KEY = GROUP.user_key


async def fill_once(memory: Core) -> None:
    await memory.recaller.warm(KEY, seconds=60)


async def test_a_cold_index_is_filled_page_by_page() -> None:
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(1_100)])
    index = memory.collection.indexes.of(KEY)
    sizes = []
    for _ in range(4):
        with memory.api.calls.recording() as log:
            await fill_once(memory)
        sizes.append((len(index), log.total))
    assert sizes == [(500, 1), (1_000, 1), (1_100, 1), (1_100, 0)]
    assert index.complete


async def test_an_interrupted_fill_goes_on_where_it_stopped() -> None:
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(1_100)])
    memory.api.faults.fail = {"vector_list"}
    memory.api.faults.let_pass = {"vector_list": 1}
    with pytest.raises(StoreFailed):
        await memory.recaller.loaded(KEY)
    memory.api.faults.clear()
    with memory.api.calls.recording() as log:  # readers share the work
        found = await asyncio.gather(*(memory.recaller.loaded(KEY) for _ in range(10)))
    assert {len(i) for i in found} == {1_100}
    assert log.total == 1


async def test_a_reader_that_is_cancelled_leaves_the_index_to_the_others() -> None:
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(1_100)])
    memory.api.latency = 0.002
    first, second = (asyncio.create_task(memory.recaller.loaded(KEY)) for _ in range(2))
    await asyncio.sleep(0.003)
    first.cancel()
    assert len(await second) == 1_100
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_time_runs_out_but_what_was_read_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(1_100)])
    whole = memory.host.list_rows

    async def slow(*args: Any) -> Any:
        memory.time.seconds += 10
        return await whole(*args)

    monkeypatch.setattr(memory.host, "list_rows", slow)
    with pytest.raises(StoreFailed):
        await memory.recaller.loaded(KEY, timeout=15)
    assert 500 <= len(memory.collection.indexes.of(KEY)) < 1_100
    monkeypatch.undo()
    with memory.api.calls.recording() as log:
        assert len(await memory.recaller.loaded(KEY, timeout=15)) == 1_100
    assert log.total <= 2


class InsertionOrder(StrictHost):
    """Lists rows in the order they were written, as Chroma and SeekDB do."""

    def _matching(self, collection_id: str, filters: dict[str, Any] | None) -> list[Any]:
        found = {row.id: row for row in super()._matching(collection_id, filters)}
        return [found[i] for i in self.rows[collection_id] if i in found]


@pytest.mark.parametrize(
    ("host", "seed"), [(StrictHost, 0), (StrictHost, 1), (InsertionOrder, 2), (InsertionOrder, 3)]
)
async def test_paging_while_memories_come_and_go_never_loses_one(
    monkeypatch: pytest.MonkeyPatch, host: type[StrictHost], seed: int
) -> None:
    monkeypatch.setattr("longterm_memory.records.paging.PAGE_ROWS", 7)
    monkeypatch.setattr("longterm_memory.records.paging.MORE_ROWS", 11)
    monkeypatch.setattr("longterm_memory.records.paging._SMALLEST_PAGE", 7)
    monkeypatch.setattr("longterm_memory.records.paging.PAGEABLE", 60 if seed % 3 == 0 else 10_000)
    rng = random.Random(seed)
    memory = await core(host(any_dimension=True))
    there = {r.episode.id: r for r in (record(f"old {i}", numbered_id(i)) for i in range(120))}
    await memory.fill(list(there.values()))
    index = memory.collection.indexes.of(KEY)

    async def read() -> None:
        while not index.complete:
            if rng.random() < 0.5:
                await fill_once(memory)
            else:
                with contextlib.suppress(StoreFailed):  # stops after one page, with the next one on its way
                    await memory.recaller.loaded(KEY, timeout=0)
            await asyncio.sleep(0)

    async def change() -> None:
        for turn in range(40):
            for call in ("vector_list", "vector_delete", "vector_upsert"):
                memory.api.faults.slow[call] = rng.choice([0, 0, 0.001, 0.003])
            await changed_once(memory, there, rng, turn)

    await asyncio.gather(read(), change())
    assert contents(index.living()) == contents(there.values())
    fresh = await (await memory.restarted()).recaller.loaded(KEY)
    assert contents(index.living()) == contents(fresh.living())


async def changed_once(memory: Core, there: dict[str, Record], rng: random.Random, turn: int) -> None:
    """Write, delete, edit or archive one memory."""
    records, index = memory.collection.records, memory.collection.indexes.of(KEY)
    one = there[rng.choice(sorted(there))]
    match rng.randrange(4):
        case 0:
            new = record(f"new {turn}", numbered_id(1_000 + turn))
            await records.write([new])
            index.changed(new)
            there[new.episode.id] = new
        case 1:
            await records.delete(KEY, [one.episode.id])
            index.deleted([one.episode.id])
            del there[one.episode.id]
        case 2:
            edited = one.changed(content=f"changed {turn}")
            await records.write([edited], [one])
            index.changed(edited)
            there[one.episode.id] = edited
        case _:
            await records.write([one.changed(status=Status.ARCHIVED)], [one])
            index.discard(one.episode.id)
            del there[one.episode.id]


def contents(records: Iterable[Record]) -> list[str]:
    return sorted(r.episode.content for r in records)


async def test_a_page_on_its_way_does_not_bring_back_what_was_deleted() -> None:
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(20)])
    memory.api.faults.slow = {"vector_list": 0.01}
    page = asyncio.create_task(memory.recaller.loaded(KEY))
    await asyncio.sleep(0)
    held = memory.api.rows[BASE].copy()
    await memory.episodes.forget(GROUP, record("m 3", numbered_id(3)).episode)
    memory.api.rows[BASE] = held  # an engine whose listing lags behind its deletes
    assert not (await page).has(numbered_id(3))


async def test_a_scope_beyond_what_engines_page_is_read_shard_by_shard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert PAGEABLE <= _WINDOW
    monkeypatch.setattr("longterm_memory.records.paging.PAGEABLE", 2_000)
    monkeypatch.setattr("tests.support.strict_host._WINDOW", 2_000)
    memory = await core()
    count = 2_700
    some = [record(f"m {i}", numbered_id(i)) for i in range(count)]
    hidden = [record(f"h {i}", numbered_id(i + count), status=Status.ARCHIVED) for i in range(2_100)]
    await memory.plant(some + hidden)
    with memory.api.calls.recording() as log:
        index = await memory.recaller.loaded(KEY, timeout=600)
    assert len(index) == count
    assert log.total == 2 + SHARDS
    assert len(await memory.episodes.hidden(KEY)) == 2_100
    with memory.api.calls.recording() as log:
        assert (await memory.ask(f"m {count - 1}", fill=Fill.ALL)).complete
    assert log.total == 2


async def test_only_the_first_page_of_a_scope_that_is_read_whole_is_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("longterm_memory.records.paging.PAGE_ROWS", 20)
    monkeypatch.setattr("longterm_memory.records.paging.MORE_ROWS", 300)
    monkeypatch.setattr("longterm_memory.records.paging.AS_ONE", 800)
    for count, calls in ((19, 1), (310, 2), (600, 3), (1_000, 3 + SHARDS)):
        memory = await core()
        await memory.plant([record(f"m {i}", numbered_id(i)) for i in range(count)])
        with memory.api.calls.recording() as log:
            assert len(await memory.recaller.loaded(KEY)) == count
        assert log.counts["vector_list"] == calls


async def test_paging_gets_ahead_while_very_many_rows_are_deleted() -> None:
    memory = await core()
    await memory.plant([record(f"m {i}", numbered_id(i)) for i in range(2_600)])
    memory.api.faults.slow = {"vector_delete": 0.01}
    gone = [numbered_id(i) for i in range(1_700)]
    deleting = asyncio.create_task(memory.collection.records.delete(KEY, gone))
    while memory.api.calls.counts["vector_delete"] < 1:
        await asyncio.sleep(0.001)
    loading = asyncio.create_task(memory.recaller.loaded(KEY))
    found = await asyncio.gather(
        *(memory.collection.records.everything(KEY, Visibility.RECALLED) for _ in range(3))
    )
    await deleting
    await loading
    kept = {numbered_id(i) for i in range(1_700, 2_600)}
    for records in found:
        assert kept <= {r.episode.id for r in records}
    assert kept <= set(memory.collection.indexes.of(KEY)._slot_of)
    with memory.api.calls.recording() as log:
        await memory.collection.records.everything(KEY, Visibility.RECALLED)
    assert log.total == 2


async def test_whoever_stops_paging_gets_the_rest_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.records.paging.PAGE_ROWS", 60)
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(300)])
    records = memory.collection.records
    cursor = records.cursor(KEY, Visibility.RECALLED)
    seen: set[str] = set()
    for stop_after in (1, 2, 3, 4, 2, 1, 5, 3, 50):
        async with contextlib.aclosing(records.pages(cursor)) as pages:
            count = 0
            async for part in pages:
                seen |= {r.episode.id for r in part.records}
                await asyncio.sleep(0.002)  # the next page has arrived by now
                count += 1
                if count == stop_after:
                    break
    assert cursor.done
    assert len(seen) == 300
