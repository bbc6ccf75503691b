"""Episodes: remembered once, as given and for whom; refused when unusable; found and listed whole."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from longterm_memory.drafts import TAGS_CHARS_MAX, TAGS_MAX, EpisodeDraft, checked_content
from longterm_memory.errors import BadArgument, NotFound, StoreFailed
from longterm_memory.ids import is_id
from longterm_memory.models import CONTENT_MAX, Episode, Filters, Status
from longterm_memory.recall.recaller import CANDIDATES
from longterm_memory.scope import Speaker
from tests.support.core import ALL, BASE, GROUP, MINA, NOW, OTHER, TAO, Core, core, draft, numbered_id, record

KEY = GROUP.user_key
SUPERSEDED = frozenset({Status.SUPERSEDED})
ID = "k7m29xqd"


@pytest.fixture
async def memory() -> Core:
    return await core()


# ------------------------------------------------------------ remembering


async def test_a_memory_is_stored_as_given_with_its_speaker(memory: Core) -> None:
    moment = NOW - timedelta(days=3)
    stored = await memory.say(
        "Mina said: “<b>hi</b>”\n  & more", MINA, "旅行，工作", importance=4, timestamp=moment
    )
    assert is_id(stored.id)
    assert stored.content == "Mina said: “<b>hi</b>”\n  & more"
    assert (stored.sender_id, stored.sender_name, stored.bot_uuid) == ("9001", "Mina", "b-01")
    assert (stored.session_name, stored.user_key) == ("group_77001", KEY)
    assert (stored.tags, stored.importance, stored.timestamp, stored.created_at) == (
        ("旅行，工作",),
        4,
        moment,
        memory.time.now(),
    )
    assert await (await memory.restarted()).episodes.find(GROUP, stored.id) == stored


async def test_remembering_is_cheap(memory: Core) -> None:
    await memory.say("rent is due")
    with memory.api.calls.recording() as warm:
        await memory.say("cats are fine")
    assert dict(warm.counts) == {
        "invoke_embedding": 1,
        "vector_search": 1,
        "vector_upsert": 1,
        "vector_list": 1,
    }
    with memory.api.calls.recording() as correcting:
        await memory.say("cats are not fine", MINA, "correction")
    assert correcting.counts["invoke_embedding"] == 1
    assert correcting.total <= 9
    with memory.api.calls.recording() as again:
        await memory.say("cats are not fine")
    assert dict(again.counts) == {"invoke_embedding": 1, "vector_search": 1}
    restarted = await memory.restarted()
    with memory.api.calls.recording() as cold:
        await restarted.say("dogs are fine")
    assert cold.total <= 8  # the store is met and the scope looked up, once per process


async def test_remembering_costs_the_same_whatever_the_size() -> None:
    for size in (10, 1_500):
        memory = await core()
        await memory.plant([record(f"note {i}", numbered_id(i)) for i in range(size)])
        for _ in range(5):
            await memory.recaller.warm(KEY, seconds=60)
        await memory.say("the scope is known")
        with memory.api.calls.recording() as log:
            await memory.say("dogs are fine")
        assert log.total == 4


async def test_the_very_first_memory_prepares_the_collection_once(memory: Core) -> None:
    await asyncio.gather(*(memory.say(f"note {i}", Speaker(str(i))) for i in range(10)))
    assert memory.api.calls.counts["set_plugin_storage"] == 3  # registered, calibrated, scope noted
    assert memory.row_count == 10
    assert len(memory.api.rows[BASE]) == 11  # one sentinel


# ------------------------------------------------------------ the same again


async def test_saying_it_again_adds_nothing(memory: Core) -> None:  # D1
    for again in (
        "Rent is due on the 15", "Rent is due on the 15 ", "rent  is due on the １５.",
        "RENT IS DUE ON THE 15！",
    ):  # fmt: skip
        first = await memory.say("Rent is due on the 15")
        for target in (memory, await memory.restarted()):
            outcome = await target.episodes.remember(GROUP, draft(again))
            assert outcome.duplicate
            assert outcome.episode == first
        assert await memory.active() == ["Rent is due on the 15"]


async def test_nearly_the_same_is_another_fact(memory: Core) -> None:  # D3
    texts = [
        *("Rent is due on the 15th", "Rent is due on the 16th", "It is 5 degrees", "It is -5 degrees"),
        *("阿明喜欢香菜", "阿明不喜欢香菜", "API v1.2 ships Friday", "API v1.3 ships Friday"),
    ]
    for text in texts:
        await memory.say(text)
    assert await memory.active() == sorted(texts)


async def test_two_people_may_remember_the_same(memory: Core) -> None:
    await memory.say("My flight is Tuesday", MINA)
    await memory.say("My flight is Tuesday", TAO)
    assert await memory.active() == ["My flight is Tuesday"] * 2


async def test_the_same_said_at_once_is_stored_once(memory: Core) -> None:
    await memory.say("something before")
    outcomes = await asyncio.gather(
        *(memory.episodes.remember(GROUP, draft("Rent is due")) for _ in range(6))
    )
    assert sorted(o.duplicate for o in outcomes) == [False] + [True] * 5
    assert len({o.episode.id for o in outcomes}) == 1
    assert await memory.active() == ["Rent is due", "something before"]


async def test_the_same_said_at_once_in_two_scopes_is_two(memory: Core) -> None:
    await asyncio.gather(*(memory.say("Rent is due", scope=s) for s in (GROUP, OTHER)))
    assert await memory.listed(GROUP) == await memory.listed(OTHER) == ["Rent is due"]


async def test_ones_own_copy_is_found_behind_many_of_others(memory: Core) -> None:
    """Sixty people said it; the speaker's own copy is not among the fifty nearest and the index is cold."""
    others = [
        record("My flight is Tuesday", numbered_id(i), speaker=Speaker(f"u{i}"))
        for i in range(CANDIDATES + 90)
    ]
    late = [record(f"note {i} of the day", numbered_id(1_000 + i)) for i in range(1_500)]
    mine = record("my flight is tuesday.", ID)
    await memory.plant([*others, *late, mine])
    outcome = await memory.episodes.remember(GROUP, draft("My flight is Tuesday"))
    assert outcome.duplicate
    assert outcome.episode.id == ID


async def test_a_copy_that_embeds_differently_is_found(memory: Core) -> None:
    """Full-width digits, capitals: the same text for people, another vector for a model."""
    others = [record(f"Rent is due on the {i}", numbered_id(i)) for i in range(200)]
    mine = record("RENT IS DUE ON THE １５", ID, vector=[1.0] + [0.0] * 383)
    await memory.plant([*others[:15], *others[16:], mine])
    assert (await memory.episodes.remember(GROUP, draft("Rent is due on the 15"))).duplicate


# ------------------------------------------------------------ what is refused


async def test_empty_content_and_secrets_are_refused(memory: Core) -> None:  # L3
    for content, reason in (
        ("", "content_empty"), ("  ", "content_empty"), ("\n\t", "content_empty"),
        ("deploy key is sk-test-FAKE0123456789abcdef", "content_secret"),
    ):  # fmt: skip
        with pytest.raises(BadArgument, match=reason):
            await memory.say(content)
    assert memory.api.calls.counts["invoke_embedding"] == 0
    assert await memory.say("we have no API key in the build")
    assert checked_content("  rent is due \n") == "rent is due"


async def test_content_has_a_limit(memory: Core) -> None:  # K5
    with pytest.raises(BadArgument, match="content_too_long") as caught:
        await memory.say("x" * (CONTENT_MAX + 1))
    assert caught.value.details == {"length": CONTENT_MAX + 1, "limit": CONTENT_MAX}
    stored = await memory.say("🌙" * CONTENT_MAX)
    assert stored.content == "🌙" * CONTENT_MAX


def test_labels_have_limits() -> None:  # K5
    for fields in (
        {"tags": tuple(str(i) for i in range(TAGS_MAX + 1))}, {"tags": ("x" * (TAGS_CHARS_MAX + 1),)},
        {"sender": Speaker("x" * 501)}, {"imported_id": "x" * 501}, {"document_id": "x" * 501},
    ):  # fmt: skip
        with pytest.raises(BadArgument, match="parameter"):
            EpisodeDraft("x", **fields)


async def test_the_largest_memory_can_be_stored(memory: Core) -> None:
    stored = await memory.say(
        "🌙" * CONTENT_MAX, Speaker("u" * 500, "米" * 1_000), "标" * TAGS_CHARS_MAX, source="s" * 500
    )
    assert len(stored.sender_name) == 200
    assert await (await memory.restarted()).episodes.find(GROUP, stored.id) == stored


async def test_half_characters_are_replaced_not_a_crash(memory: Core) -> None:
    stored = await memory.say("cut emoji \ud83c", Speaker("9001", "M\ud83c"), "t\udf19")
    assert (stored.content, stored.sender_name, stored.tags) == ("cut emoji \ufffd", "M\ufffd", ("t\ufffd",))


# ------------------------------------------------------------ finding and listing


async def test_an_id_is_found_in_its_scope_only(memory: Core) -> None:  # A5
    stored = await memory.say("Rent is due")
    assert await memory.episodes.find(GROUP, stored.id) == stored
    for scope, wanted in ((OTHER, stored.id), (GROUP, numbered_id(7))):
        with pytest.raises(NotFound, match="id_unknown"):
            await memory.episodes.find(scope, wanted)


async def test_what_is_no_id_is_not_found(memory: Core) -> None:  # M3
    for odd in ("", "1", "\ud800", "K7M29XQD", "'; --", "x" * 1_000):
        await memory.say("Rent is due")
        with memory.api.calls.recording() as log, pytest.raises(NotFound, match="id_unknown"):
            await memory.episodes.find(GROUP, odd)
        assert log.total == 0


async def test_nothing_is_read_before_anything_was_written(memory: Core) -> None:
    with pytest.raises(NotFound):
        await memory.episodes.find(GROUP, ID)
    assert await memory.episodes.select(KEY, Filters(statuses=ALL)) == []
    assert await memory.episodes.hidden(KEY) == []
    assert BASE not in memory.api.rows


async def test_listings_are_newest_first_and_whole(memory: Core) -> None:
    await memory.fill([record(f"note {i}", numbered_id(i), age_days=i % 7) for i in range(30)])
    found = await memory.episodes.select(KEY, Filters())
    assert len(found) == 30
    assert found == sorted(found, key=lambda e: (-e.timestamp.timestamp(), e.id))
    with memory.api.calls.recording() as log:
        await memory.episodes.select(KEY, Filters(tag="work"))
    assert log.total == 0  # warm


async def test_a_part_is_never_passed_off_as_all(memory: Core) -> None:
    await memory.fill([record("note", ID), record("old", "a0000001", status=Status.ARCHIVED)])
    memory.api.faults.fail = {"vector_list"}
    for statuses in (frozenset({Status.ACTIVE}), SUPERSEDED, ALL):
        with pytest.raises(StoreFailed):
            await memory.episodes.select(KEY, Filters(statuses=statuses))


async def test_no_change_in_one_scope_shows_in_another(memory: Core) -> None:  # A2, C5
    mine: list[Episode] = []
    for scope in (GROUP, OTHER):
        mine.append(await memory.say("My flight is Tuesday", scope=scope))
    await memory.say("My flight is Wednesday", MINA, "correction", scope=OTHER)
    await memory.importer.add_many(OTHER, [draft("note")])
    with pytest.raises(NotFound):
        await memory.episodes.forget(OTHER, mine[0])  # another scope's memory: nothing there to delete
    assert await memory.active() == ["My flight is Tuesday"]
    assert await memory.listed(OTHER) == ["My flight is Wednesday", "note"]
