"""The index of a scope: equal to a fresh one whatever happened to it, complete whatever happens beside it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longterm_memory.errors import StoreFailed
from longterm_memory.models import Status
from longterm_memory.recall.cache import IndexCache
from longterm_memory.recall.index import GONE_SECONDS, ScopeIndex
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.envelope import Record
from longterm_memory.records.keys import SHARDS, Visibility
from longterm_memory.records.paging import PAGEABLE
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Speaker
from longterm_memory.text.terms import terms
from playground.embedders import HashedWords
from tests.support.core import BASE, GROUP, MINA, TAO, Core, Time, core, numbered_id, record
from tests.support.strict_host import _WINDOW, StrictHost

KEY = GROUP.user_key
QUERIES = ("rent due", "Mina's cats", "PROJ-123", "阿明 口令", "nothing of this", "tuesday")
CONTENTS = (
    "rent is due on the 15th",
    "Mina's cats are called PROJ-123",
    "阿明的口令是向日葵",
    "flight on Tuesday",
    "Rent is due on the 15th!",
    "cats cats cats",
    "…",
)


def view(index: ScopeIndex) -> dict[str, Any]:
    """Everything that can be asked of an index, by episode id instead of slot."""
    ids = sorted(r.episode.id for r in index.living())
    slots = index.slots(ids)
    vectors = [unit(HashedWords().embed([q])[0]) for q in QUERIES]
    return {
        "ids": ids,
        "size": len(index),
        "lexical": [index.lexical(terms(q))[slots].round(5).tolist() for q in QUERIES],
        "cosines": [index.cosines(v, slots).round(5).tolist() for v in vectors],
        "times": index.times(slots).tolist(),
        "importances": index.importances(slots).tolist(),
        "saying": [sorted(r.episode.id for r in index.saying(c)) for c in CONTENTS],
        "holding": [sorted(index.at(int(s)).episode.id for s in index.holding(terms(q))) for q in QUERIES],
        "named": sorted(index.named("what did Mina and Tao say to 米娜")),
        "rows": sorted(index.rows),
        "all": sorted(index.at(int(s)).episode.id for s in index.all_slots()),
    }


def built(records: Iterable[Record]) -> ScopeIndex:
    index = ScopeIndex()
    for r in records:
        index.put(r)
    return index


people = st.sampled_from([MINA, TAO, Speaker("9003", "米娜"), Speaker()])
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "read", "change", "discard", "delete"]),
        st.integers(0, 12),
        st.sampled_from(CONTENTS),
        people,
        st.integers(1, 5),
    ),
    max_size=60,
)


@given(steps)
@settings(max_examples=120, deadline=None)
def test_an_index_that_was_changed_equals_a_fresh_one(
    changes: list[tuple[str, int, str, Speaker, int]],
) -> None:
    index, truth = ScopeIndex(), dict[str, Record]()
    for what, number, content, speaker, importance in changes:
        ident = numbered_id(number)
        known = truth.get(ident)
        version = known.version + 1 if known else 1
        new = record(content, ident, speaker=speaker, importance=importance, version=version, age_days=number)
        match what:
            case "put" | "change":
                # What this process wrote counts, whatever was taken out before.
                index.changed(new)
                truth[ident] = new
            case "read":
                # An old page brings nothing that was taken out, and no older version.
                index.read([known] if known else [])
            case "discard":
                index.discard(ident)
                truth.pop(ident, None)
            case "delete":
                index.deleted([ident])
                truth.pop(ident, None)
    assert view(index) == view(built(truth.values()))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), max_size=12))
def test_the_highest_version_counts_in_whatever_order_versions_come(versions: list[tuple[int, int]]) -> None:
    index = ScopeIndex()
    for number, version in versions:
        index.put(record(f"version {version}", numbered_id(number), version=version))
    highest = {n: max(v for m, v in versions if m == n) for n, _ in versions}
    assert {r.episode.content for r in index.living()} == {f"version {v}" for v in highest.values()}
    assert len(index) == len(highest)


# ------------------------------------------------------------ bounded memory


def test_a_scope_that_keeps_changing_does_not_grow() -> None:
    index = ScopeIndex()
    for turn in range(3_000):
        ident = numbered_id(turn % 20)
        index.changed(record(f"version {turn}", ident, version=turn + 1))
    for turn in range(1_000):
        index.changed(record(f"once {turn}", numbered_id(1_000 + turn)))
        index.deleted([numbered_id(1_000 + turn)])
    assert len(index) == 20
    assert index.weight < 300
    assert len(index.lexical(["x"])) < 150
    assert view(index) == view(built(index.living()))


def test_what_was_taken_out_is_remembered_for_a_while_only() -> None:
    time = Time()
    index = ScopeIndex(time.clock)
    gone = record("gone", "k7m29xqd")
    index.put(gone)
    index.deleted(["k7m29xqd"])
    time.seconds = GONE_SECONDS - 1
    index.read([gone])
    assert not index.has("k7m29xqd")
    assert index.was_deleted("k7m29xqd")
    for turn in range(5_000):
        time.seconds += 1
        index.discard(numbered_id(turn))
    assert not index.was_deleted("k7m29xqd")
    assert len(index._gone) <= GONE_SECONDS + 1
    assert not index._deleted


def test_indexes_are_bounded_over_all_scopes_and_the_least_used_goes_first() -> None:
    cache = IndexCache(rows_max=1_000)
    for number in range(200):
        index = cache.of(f"scope {number}")
        for i in range(20):
            index.put(record(f"m {i}", numbered_id(i)))
        cache.of("scope 0")
    del index
    gc.collect()
    assert len(cache.of("scope 0")) == 20
    assert len(cache.of("scope 5")) == 0
    assert len(cache._kept) <= 1_000 // 64 + 1
    assert len(cache._alive) <= 1_000 // 64 + 1


def test_one_huge_scope_is_kept_all_the_same() -> None:
    cache = IndexCache(rows_max=10)
    index = cache.of("a")
    for i in range(100):
        index.put(record(f"m {i}", numbered_id(i)))
    assert cache.of("a") is index


def test_an_index_in_use_is_never_doubled() -> None:
    cache = IndexCache(rows_max=100)
    held = cache.of("a")
    for other in "bcdefgh":
        cache.of(other)
    assert "a" not in cache._kept
    cache.of("a").put(record("x", "k7m29xqd"))
    assert held.has("k7m29xqd")


def test_a_dropped_index_is_not_found_again() -> None:
    cache = IndexCache()
    held = cache.of("a")
    cache.drop("a")
    assert cache.of("a") is not held
    cache.drop("never seen")
    again = cache.of("a")
    cache.clear()
    assert cache.of("a") is not again


# ------------------------------------------------------------ claims


def correction(ident: str, *claims: tuple[str, int], content: str = "new") -> Record:
    return record(content, ident, supersedes=claims, tags=("correction",))


def test_a_claimed_version_is_not_living_and_another_version_is() -> None:  # E1
    old = record("old", "k7m29xqd")
    index = built([old, correction("a0000001", ("k7m29xqd", 1))])
    assert [r.episode.content for r in index.living()] == ["new"]
    assert index.saying("old") == []
    assert index.leftovers() == [(old, "a0000001")]
    index.changed(old.changed().changed())  # superseded, then restored
    assert len(index.living()) == 2
    assert index.leftovers() == []


def test_a_claim_holds_although_its_correction_was_corrected_in_turn() -> None:
    index = built([correction("a0000001", ("k7m29xqd", 1))])
    index.discard("a0000001")
    index.read([record("old", "k7m29xqd")])
    assert index.living() == []


def test_a_deleted_correction_claims_nothing_any_more() -> None:
    index = built([correction("a0000001", ("k7m29xqd", 1)), correction("b0000001", ("k7m29xqd", 1))])
    index.deleted(["a0000001"])
    index.put(record("old", "k7m29xqd"))
    assert len(index.living()) == 1
    index.discard("b0000001")
    index.deleted(["b0000001"])  # superseded first, deleted later
    assert [r.episode.content for r in index.living()] == ["old"]
    assert index.claimed_versions() == {}


def test_the_highest_claimed_version_is_known() -> None:
    index = built([correction("a0000001", ("k7m29xqd", 1)), correction("b0000001", ("k7m29xqd", 4))])
    assert index.claimed_versions() == {"k7m29xqd": 4}


# ------------------------------------------------------------ odd records


def test_a_vector_of_another_length_is_kept_but_close_to_nothing() -> None:
    index = built(
        [record("four", "k7m29xqd", vector=[1, 0, 0, 0]), record("six", "a0000001", vector=[1] * 6)]
    )
    slots = index.slots(["k7m29xqd", "a0000001"])
    assert index.cosines(unit([1, 0, 0, 0]), slots).tolist() == [pytest.approx(1), 0]
    assert index.cosines(unit([1] * 6), slots).tolist() == [0, pytest.approx(1)]
    assert index.cosines(unit([1] * 5), slots).tolist() == [0, 0]
    assert index.lexical(terms("six"))[slots].tolist() == [0, pytest.approx(1)]


def test_an_empty_index_answers() -> None:
    index = ScopeIndex()
    none = np.zeros(0, dtype=np.int64)
    assert (
        index.lexical(["x"]).size == index.cosines(unit([1.0]), none).size == index.holding(["x"]).size == 0
    )
    assert (index.living(), index.saying("x"), index.named("x"), index.leftovers()) == (
        [],
        [],
        frozenset(),
        [],
    )
    assert (index.get("x"), index.has("x"), index.complete) == (None, False, False)


def test_a_dead_slot_holds_nothing() -> None:
    index = built([record("x", "k7m29xqd"), record("y", "a0000001")])
    slot = int(index.slots(["k7m29xqd"])[0])
    index.discard("k7m29xqd")
    with pytest.raises(KeyError):
        index.at(slot)
    assert index.lexical(terms("x"))[slot] == 0


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Al", "what did Al say?", True),
        ("Al", "also", False),
        ("Al", "al_x", False),
        ("Al", "AL!", True),
        ("Al", "also by al", True),
        ("米娜", "米娜喜欢什么", True),
        ("Mina K.", "did mina  k. call", True),
        ("  ", "any text", False),
        ("🌙", "🌙 said", True),
    ],
)
def test_speakers_are_recognized_by_name(name: str, text: str, found: bool) -> None:
    index = built([record("x", "k7m29xqd", speaker=Speaker("9001", name))])
    assert index.named(text) == (frozenset({"9001"}) if found else frozenset())


def test_rare_words_weigh_more_and_full_matches_are_full_shares() -> None:
    index = built(
        [record(f"cats number {i}", numbered_id(i)) for i in range(20)] + [record("a parrot", "k7m29xqd")]
    )
    scores = index.lexical(terms("cats parrot"))
    cat, parrot = (float(scores[index.slots([i])[0]]) for i in (numbered_id(0), "k7m29xqd"))
    assert parrot > 3 * cat > 0
    assert float(index.lexical(terms("parrot")).max()) == pytest.approx(1, abs=0.05)
    assert index.lexical(terms("zebra")).max() == 0


# ------------------------------------------------------------ filling


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
    memory.api.faults.let_pass = {"vector_list": 2}
    with pytest.raises(StoreFailed):
        await memory.recaller.loaded(KEY)
    memory.api.faults.clear()
    with memory.api.calls.recording() as log:
        assert len(await memory.recaller.loaded(KEY)) == 1_100
    assert log.total == 1


async def test_readers_of_one_index_share_the_work() -> None:
    memory = await core()
    await memory.fill([record(f"m {i}", numbered_id(i)) for i in range(1_100)])
    with memory.api.calls.recording() as log:
        found = await asyncio.gather(*(memory.recaller.loaded(KEY) for _ in range(10)))
    assert {len(i) for i in found} == {1_100}
    assert log.total == 3


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


@pytest.mark.parametrize("host", [StrictHost, InsertionOrder])
@pytest.mark.parametrize("seed", range(4))
async def test_paging_while_memories_come_and_go_never_loses_one(
    monkeypatch: pytest.MonkeyPatch, host: type[StrictHost], seed: int
) -> None:
    monkeypatch.setattr("longterm_memory.records.store.PAGE_ROWS", 7)
    monkeypatch.setattr("longterm_memory.records.store._SMALLEST_PAGE", 7)
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


def test_no_page_reaches_beyond_what_engines_page() -> None:
    assert PAGEABLE <= _WINDOW


async def test_a_scope_beyond_what_engines_page_is_read_shard_by_shard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
    assert log.total == 2_000 // 500 + SHARDS
    assert len(await memory.episodes.hidden(KEY)) == 2_100
    with memory.api.calls.recording() as log:
        assert (await memory.ask(f"m {count - 1}", fill=Fill.ALL)).complete
    assert log.total == 2


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
    monkeypatch.setattr("longterm_memory.records.store.PAGE_ROWS", 60)
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
