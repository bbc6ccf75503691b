"""Recall as a whole: what comes back, what it costs, and what happens when something is slow or lies."""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest

from longterm_memory.errors import EmbeddingFailed, StoreFailed
from longterm_memory.models import Filters, RecallQuery, Status
from longterm_memory.recall.recaller import CANDIDATES, Fill
from longterm_memory.scope import Speaker
from tests.support.core import ALL, BASE, GROUP, MINA, NOW, OTHER, TAO, Core, core, numbered_id, record

KEY = GROUP.user_key
ID = "k7m29xqd"


@pytest.fixture
async def memory() -> Core:
    return await core()


async def settled(memory: Core) -> None:
    """Wait for pages that nobody waits for."""
    await asyncio.gather(*memory.recaller.filling.working)


# ------------------------------------------------------------ what comes back


async def test_blank_questions_cost_nothing(memory: Core) -> None:
    for text in ("", "  ", "?!", "🌙", "___", "\n"):
        await memory.say("rent is due")
        with memory.api.calls.recording() as log:
            result = await memory.ask(text)
        assert (result.hits, result.skipped, log.total) == ((), "blank", 0)


async def test_a_word_far_from_everything_is_found_once_the_index_is_warm(memory: Core) -> None:
    """Lexical recall has candidates of its own: not only what the vector search brings."""
    many = [record(f"the meeting notes of day {i}", numbered_id(i)) for i in range(300)]
    odd = record("zq-7 " + " ".join(f"word{i}" for i in range(60)), ID, vector=[1.0] + [0.0] * 383)
    await memory.plant([*many, odd])
    everything = await memory.ask("meeting notes zq-7", fill=Fill.ALL, filters=Filters(statuses=ALL))
    assert everything.hits[0].episode.id == ID
    assert (await memory.ask("meeting notes zq-7", fill=Fill.ALL)).hits[0].episode.id == ID
    assert [e.id for e in (await memory.ask("zq-7")).episodes()] == [ID]


async def test_what_was_shown_is_left_out(memory: Core) -> None:
    one = await memory.say("rent is due on the 15th")
    await memory.say("rent is paid by Tao", TAO)
    assert await memory.found("rent", exclude=frozenset({one.id})) == ["rent is paid by Tao"]


async def test_a_question_may_be_longer_than_any_memory(memory: Core) -> None:
    await memory.say("rent is due")
    assert (await memory.ask("rent due " * 5_000)).hits


# ------------------------------------------------------------ filters


@pytest.mark.parametrize("fill", Fill)
async def test_filters_hold(memory: Core, fill: Fill) -> None:  # A9 and SPEC 6
    early, late = NOW - timedelta(days=400), NOW - timedelta(days=1)
    labels: dict[str, Any] = {"importance": 5, "tags": ("Work",), "source": "import"}
    superseded, archived = frozenset({Status.SUPERSEDED}), frozenset({Status.ARCHIVED})
    await memory.fill(
        [
            record("house one", numbered_id(1), timestamp=early, **labels),
            record("house two", numbered_id(2), speaker=TAO, timestamp=late),
            record("house three", numbered_id(3), status=Status.ARCHIVED, timestamp=late),
            record("house four", numbered_id(4), status=Status.SUPERSEDED, speaker=TAO, timestamp=early),
        ]
    )
    for filters, expected in (
        (Filters(), "one two"), (Filters(sender_id="9002"), "two"), (Filters(sender_name="ｔａｏ "), "two"),
        (Filters(time_after=late), "two"), (Filters(time_before=late), "one"), (Filters(tag="work"), "one"),
        (Filters(importance_min=3), "one"), (Filters(source="import"), "one"),
        (Filters(statuses=archived), "three"), (Filters(statuses=superseded), "four"),
        (Filters(statuses=ALL), "one two three four"), (Filters(sender_id="nobody"), ""),
        (Filters(statuses=ALL, sender_id="9002"), "two four"),
    ):  # fmt: skip
        found = await memory.found("house", fill=fill, k=10, filters=filters)
        assert {text.removeprefix("house ") for text in found} == set(expected.split()), filters


async def test_a_filter_finds_the_needle_however_many_rank_above_it(memory: Core) -> None:
    many = [record(f"house number {i} of Mina", numbered_id(i)) for i in range(600)]
    needle = record("a shed somewhere", ID, speaker=TAO)
    await memory.plant([*many, needle])
    found = await memory.found("house", fill=Fill.ALL, floor=False, filters=Filters(sender_id="9002"))
    assert found == ["a shed somewhere"]


async def test_hidden_memories_are_all_looked_at_in_a_command(memory: Core) -> None:
    many = [record(f"old house {i}", numbered_id(i), status=Status.SUPERSEDED) for i in range(600)]
    needle = record("PROJ-123 is done", ID, status=Status.SUPERSEDED, vector=[1.0] + [0.0] * 383)
    await memory.plant([*many, needle])
    wanted = Filters(statuses=frozenset({Status.SUPERSEDED}))
    assert await memory.found("PROJ-123", fill=Fill.ALL, filters=wanted) == ["PROJ-123 is done"]


async def test_what_was_just_deleted_is_not_found_among_all_statuses_either(memory: Core) -> None:
    kept = await memory.say("rent is due")
    held = dict(memory.api.rows[BASE])
    await memory.episodes.forget(GROUP, kept)
    memory.api.rows[BASE].update(held)  # an engine whose index lags behind its deletes
    for statuses in (ALL, frozenset({Status.ACTIVE})):
        assert await memory.found("rent due", filters=Filters(statuses=statuses)) == []


# ------------------------------------------------------------ cost


async def test_a_recall_costs_the_same_whatever_the_size_of_the_scope() -> None:
    for rows in (5, 700, 3_000):
        memory = await core()
        await memory.plant([record(f"house {i}", numbered_id(i)) for i in range(rows)])
        with memory.api.calls.recording() as cold:
            assert (await memory.ask("house 3")).hits
        await settled(memory)
        assert dict(cold.counts) == {"invoke_embedding": 1, "vector_search": 1, "vector_list": 1}
        assert cold.rounds() == 2
        await memory.recaller.loaded(KEY)
        with memory.api.calls.recording() as warm:
            result = await memory.ask("house 3")
        assert result.complete
        assert dict(warm.counts) == {"invoke_embedding": 1, "vector_search": 1}


async def test_the_first_recall_of_all_prepares_once(memory: Core) -> None:
    with memory.api.calls.recording() as first:
        assert (await memory.ask("house")).hits == ()
    await settled(memory)
    assert first.counts["invoke_embedding"] == 2
    with memory.api.calls.recording() as second:
        await memory.ask("house")
    assert second.counts["invoke_embedding"] == 1


async def test_a_busy_conversation_warms_up_by_itself(memory: Core) -> None:
    await memory.plant([record(f"house {i}", numbered_id(i)) for i in range(1_100)])
    states = []
    for _ in range(4):
        states.append((await memory.ask("house 3")).complete)
        await settled(memory)
    assert states[0] is False
    assert states[-1] is True


async def test_a_given_vector_is_not_embedded_again(memory: Core) -> None:
    await memory.say("rent is due")
    (vector,) = await memory.collection.embeddings.embed(["rent due"])
    with memory.api.calls.recording() as log:
        result = await memory.recaller.recall(
            KEY, RecallQuery(text="rent due"), memory.settings, vector=vector
        )
    assert result.hits
    assert log.counts["invoke_embedding"] == 0


async def test_twenty_thousand_memories_cost_one_embedding_and_no_listing() -> None:  # K4
    def embed(texts: list[str]) -> list[list[float]]:
        angles = [sum(text.encode()) % 97 for text in texts]
        return [[math.cos(a), math.sin(a), 0.0, 0.0] for a in angles]

    memory = await core(any_dimension=True, embed=embed)
    some = [record(f"house {i}", numbered_id(i), vector=[1.0, i % 97, 0.0, 0.0]) for i in range(20_000)]
    await memory.plant(some)
    with memory.api.calls.recording() as log:
        for turn in range(2):
            await memory.ask(f"house {turn}")
            await settled(memory)
    # One page each, whatever the size; no key scan.
    assert dict(log.counts) == {"invoke_embedding": 2, "vector_search": 2, "vector_list": 2}


# ------------------------------------------------------------ failures and time


async def test_a_search_that_fails_is_a_failure_not_an_empty_answer(memory: Core) -> None:
    await memory.say("rent is due")
    memory.api.faults.fail = {"vector_search"}
    with pytest.raises(StoreFailed, match="store_down"):
        await memory.ask("rent")
    memory.api.faults.fail = {"invoke_embedding"}
    with pytest.raises(EmbeddingFailed, match="embedding_down"):
        await memory.ask("rent")


async def test_a_page_that_fails_does_not_fail_the_answer(memory: Core) -> None:
    await memory.fill([record("rent is due", ID)])
    memory.api.faults.fail = {"vector_list"}
    for fill in Fill:
        result = await memory.ask("rent due", fill=fill)
        assert [e.content for e in result.episodes()] == ["rent is due"]
        assert not result.complete


async def test_a_page_that_never_comes_does_not_hold_the_turn(memory: Core) -> None:
    await memory.fill([record("rent is due", ID)])
    memory.api.faults.hang = {"vector_list"}
    result = await asyncio.wait_for(memory.ask("rent due"), 5)
    assert result.hits
    # Nor is another one started on top of it.
    with memory.api.calls.recording() as log:
        await asyncio.wait_for(memory.ask("rent due"), 5)
    assert log.counts["vector_list"] == 0
    for task in list(memory.recaller.filling.working):
        task.cancel()


async def test_loading_the_index_does_not_use_up_the_time_of_the_embedding(
    memory: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow store must not look like a hanging embedding service."""
    await memory.plant([record(f"house {i}", numbered_id(i)) for i in range(1_200)])
    memory.api.faults.slow = {"vector_list": 0.02}
    whole = memory.host.list_rows

    async def slow(*args: Any) -> Any:
        found = await whole(*args)
        memory.time.seconds += 100
        return found

    monkeypatch.setattr(memory.host, "list_rows", slow)
    assert (await memory.ask("house 3", fill=Fill.ALL)).hits
    assert memory.collection.embeddings.breaker.seconds_left() == 0


async def test_a_recall_that_is_cut_off_leaves_everything_usable(memory: Core) -> None:
    await memory.say("rent is due")
    for call in ("invoke_embedding", "vector_search"):
        memory.api.faults.hang = {call}
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(memory.ask("rent"), 0.05)
    memory.api.faults.clear()
    assert await memory.found("rent due") == ["rent is due"]


# ------------------------------------------------------------ stores that lie


async def test_nothing_but_foreign_rows_is_no_answer(memory: Core) -> None:
    await memory.fill([record(f"secret {i}", numbered_id(i), scope=OTHER) for i in range(CANDIDATES + 5)])
    memory.api.faults.ignore_filters = True
    with pytest.raises(StoreFailed, match="store_untrusted"):
        await memory.ask("secret")


async def test_rows_that_come_twice_or_backwards_change_nothing(memory: Core) -> None:
    for i in range(5):
        await memory.say(f"house {i} of street {i}", Speaker(str(i)))
    expected = await memory.found("house 3 of the street", k=3)
    memory.api.faults.duplicate_rows = memory.api.faults.reverse_rows = True
    assert await memory.found("house 3 of the street", k=3) == expected


async def test_speakers_asked_for_by_name_come_first(memory: Core) -> None:
    await memory.say("my flight is on Monday", MINA)
    await memory.say("my flight is on Friday", TAO)
    assert (await memory.found("when is Tao's flight"))[0] == "my flight is on Friday"
    assert (await memory.found("when is my flight", speaker_id="9001"))[0] == "my flight is on Monday"
