"""Vector databases that leave out rows under a filter: what they lose is found all the same, or it is told."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from longterm_memory.models import Filters, RecallQuery, Status
from longterm_memory.recall.recaller import Candidates, Fill
from longterm_memory.records.envelope import Record
from longterm_memory.records.vectors import Vector, unit
from tests.support.core import ALL, GROUP, MINA, TAO, Core, core, draft, numbered_id, record
from tests.support.rows import spread
from tests.support.strict_host import StrictHost

KEY = GROUP.user_key


class FewRows(StrictHost):
    """Returns two rows of however many there are, as pgvector's HNSW index does under a filter."""

    async def _search(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        return (await super()._search(*args, **kwargs))[:2]


class WrongRows(StrictHost):
    """Returns as many rows as were asked for, but never one of the nearest thirty, as Chroma's can."""

    async def _search(
        self, collection_id: str, query_vector: list[float], top_k: int, *rest: Any, **kwargs: Any
    ) -> Any:
        found = await super()._search(collection_id, query_vector, min(16_384, top_k + 30), *rest, **kwargs)
        return found[30:] if len(found) > 30 else found[-1:]


class NarrowRows(WrongRows):
    """Finds the nearest when asked for many, as a graph is searched the wider the more rows are wanted."""

    async def _search(
        self, collection_id: str, query_vector: list[float], top_k: int, *rest: Any, **kwargs: Any
    ) -> Any:
        search = WrongRows._search if top_k < 300 else StrictHost._search
        return await search(self, collection_id, query_vector, top_k, *rest, **kwargs)


LOSSY = (FewRows, WrongRows)


def memories(count: int, status: Status = Status.ACTIVE, first: int = 0) -> list[Record]:
    """Return memories that share no word and lie in all directions."""
    return [
        record(f"word{n}", numbered_id(n), vector=spread(f"memory {n}"), status=status)
        for n in range(first, first + count)
    ]


def exact(stored: list[Record], vector: Vector, count: int = 10) -> set[str]:
    cosines = np.stack([r.vector.vector() for r in stored]) @ vector
    return {stored[at].episode.id for at in np.argsort(-cosines)[:count]}


async def asked(
    memory: Core, vector: Vector, fill: Fill = Fill.PAGE, **fields: Any
) -> tuple[set[str], Candidates]:
    """Return the ids of the ten nearest of what a recall considers."""
    query = RecallQuery(text="something else", k=10, **fields)
    found = await memory.recaller.candidates(KEY, query, vector=vector, fill=fill)
    best = found.slots[np.argsort(-found.index.cosines(vector, found.slots), kind="stable")][:10]
    return {found.index.at(int(slot)).episode.id for slot in best}, found


async def everything_read(memory: Core) -> None:
    while memory.recaller.filling.working:
        await asyncio.gather(*memory.recaller.filling.working)


@pytest.mark.parametrize("host", LOSSY)
async def test_a_small_scope_is_answered_exactly_warm_and_cold(host: type[StrictHost]) -> None:
    memory, stored = await core(host()), memories(150)
    await memory.fill(stored)
    memory.api.latency = 0.002
    for n in range(5):
        vector = unit(spread(f"question {n}"))
        memory.collection.indexes.clear()
        for how in (Fill.PAGE, Fill.PAGE, Fill.ALL):  # cold, then warm
            with memory.api.calls.recording() as log:
                ids, found = await asked(memory, vector, how)
            assert ids == exact(stored, vector)
            assert found.complete
            assert log.counts["vector_search"] == 1
            assert log.counts["vector_list"] <= 1


@pytest.mark.parametrize("host", LOSSY)
async def test_a_large_scope_is_exact_once_it_is_read_and_says_so_before(
    host: type[StrictHost], caplog: pytest.LogCaptureFixture
) -> None:
    memory, stored = await core(host()), memories(1_300)
    await memory.plant(stored)
    vector = unit(spread("question"))
    with memory.api.calls.recording() as log:
        _, found = await asked(memory, vector)
    assert not found.complete
    assert log.counts["vector_list"] == 1
    # Where the page came after the answer, the store is asked once more, for more rows.
    assert log.counts["vector_search"] == (2 if host is WrongRows else 1)
    while host is WrongRows and not memory.collection.records.health.short_answers:
        _, found = await asked(memory, vector)  # a page more each time, until one of the nearest is in it
        assert not found.complete
    assert memory.collection.records.health.short_answers == 1
    assert "search returned fewer rows" in caplog.text or "search left out nearer rows" in caplog.text
    assert "complete=False" in caplog.text
    await everything_read(memory)  # it goes on reading with nobody waiting
    with memory.api.calls.recording() as log:
        ids, found = await asked(memory, vector)
    assert ids == exact(stored, vector)
    assert found.complete
    assert log.total == 1


async def test_a_large_scope_that_is_not_read_is_searched_wide() -> None:
    memory, stored = await core(NarrowRows()), memories(1_300)
    await memory.plant(stored)
    memory.api.faults.slow = {"invoke_embedding": 0.2}  # meanwhile the first page comes
    for n in range(3):
        memory.collection.indexes.clear()
        text = f"question {n}"
        with memory.api.calls.recording() as log:
            found = await memory.recaller.candidates(KEY, RecallQuery(text=text, k=10), fill=Fill.PAGE)
        considered = {found.index.at(slot).episode.id for slot in found.slots.tolist()}
        assert exact(stored, found.vector) <= considered
        assert not found.complete
        assert log.counts["vector_search"] == 1
        await everything_read(memory)


async def test_a_store_that_brings_everything_is_not_suspected() -> None:
    memory, stored = await core(), memories(700)
    await memory.plant(stored)
    for n in range(6):
        vector = unit(spread(f"question {n}"))
        ids, _ = await asked(memory, vector)
        assert ids == exact(stored, vector)
    small = await core()
    await small.fill(memories(30))
    for _ in range(2):
        await asked(small, vector)
        await small.episodes.forget(GROUP, (await small.recaller.loaded(KEY)).living()[0].episode)
    assert (
        memory.collection.records.health.short_answers == small.collection.records.health.short_answers == 0
    )


async def test_a_store_is_not_suspected_for_what_is_changed_during_a_search() -> None:
    memory = await core()
    said = [await memory.say(f"rent note {n}") for n in range(8)]
    await memory.episodes.changes.set_status(GROUP, said[0].id, Status.ARCHIVED)
    held: list[int] = []
    real = memory.api.vector_list

    async def read_back(*args: Any, **kwargs: Any) -> Any:
        """Answer late, while others ask: the row is gone, and the index does not know yet."""
        for statuses in (frozenset({Status.ACTIVE}), ALL):
            found = await memory.ask("rent note", filters=Filters(statuses=statuses))
            held.append(len(found.hits))
        return await real(*args, **kwargs)

    memory.api.vector_list = read_back  # type: ignore[method-assign]
    await memory.episodes.forget(GROUP, said[3])
    await memory.episodes.changes.set_status(GROUP, said[4].id, Status.ARCHIVED)
    assert held
    assert memory.collection.records.health.short_answers == 0


@pytest.mark.parametrize("host", LOSSY)
async def test_archived_memories_are_found_as_well(host: type[StrictHost]) -> None:
    memory = await core(host())
    stored, hidden = memories(60), memories(300, Status.ARCHIVED, first=60)
    await memory.fill([*stored, *hidden])
    vector = unit(spread("question"))
    for statuses, there in (
        ({Status.ARCHIVED}, hidden),
        ({Status.ARCHIVED, Status.ACTIVE}, [*stored, *hidden]),
    ):
        for _ in range(2):
            ids, found = await asked(memory, vector, Fill.ALL, filters=Filters(statuses=frozenset(statuses)))
            assert ids == exact(there, vector)
            assert found.complete


@pytest.mark.parametrize("host", LOSSY)
async def test_filters_and_people_left_out_do_not_cost_matches(host: type[StrictHost]) -> None:
    """Also where the nearest thousand are of somebody whose memories must not come back."""
    memory = await core(host())
    vector = spread("question")
    mine = memories(40)
    near = [record(f"near{n}", numbered_id(1_000 + n), vector=vector, speaker=TAO) for n in range(1_000)]
    await memory.plant([*mine, *near])
    await memory.recaller.loaded(KEY)
    for fields in ({"exclude_senders": frozenset({TAO.id})}, {"filters": Filters(sender_id="9001")}):
        ids, _ = await asked(memory, unit(vector), **fields)
        assert ids == exact(mine, unit(vector))


@pytest.mark.parametrize("host", LOSSY)
async def test_what_is_said_again_or_corrected_is_found(host: type[StrictHost]) -> None:
    old, said = "Mina's flight to Oslo is on Tuesday", "the rent is due on the 15th"
    for size in (100, 1_300):
        memory = await core(host())
        words = [f"{n} " + " ".join(f"word{n}x{i}" for i in range(6)) for n in range(size)]
        there = [record(text, numbered_id(n)) for n, text in enumerate(words)]
        facts = [record(old, numbered_id(5_000)), record(said, numbered_id(5_001))]
        await memory.plant([*there, *facts])
        for cold in (True, False):
            if cold:
                memory.collection.indexes.clear()
            again = await memory.episodes.remember(GROUP, draft(said))
            assert again.duplicate, (size, cold)
        memory.collection.indexes.clear()
        new = await memory.say("Mina's flight to Oslo is on Wednesday", MINA, "correction")
        assert await memory.found("when is Mina's flight to Oslo", k=3, fill=Fill.ALL) == [new.content]
