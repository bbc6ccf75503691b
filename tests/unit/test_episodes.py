"""Episodes: remembered once, corrected for the right person, listed whole, and gone when forgotten."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from longterm_memory.drafts import TAGS_CHARS_MAX, TAGS_MAX, EpisodeDraft, checked_content
from longterm_memory.errors import BadArgument, LongTermMemoryError, NotFound, StoreFailed
from longterm_memory.ids import is_id
from longterm_memory.models import CONTENT_MAX, Episode, Filters, Status
from longterm_memory.recall.corrected import CORRECTED_MAX
from longterm_memory.recall.recaller import CANDIDATES, Fill
from longterm_memory.records.envelope import encode
from longterm_memory.records.keys import Visibility
from longterm_memory.scope import Isolation, Scope, Speaker
from tests.support.core import ALL, BASE, GROUP, MINA, NOW, OTHER, TAO, Core, core, numbered_id, record

DATA = Path(__file__).parent / "data"
KEY = GROUP.user_key
SUPERSEDED = frozenset({Status.SUPERSEDED})
ID = "k7m29xqd"


@pytest.fixture
async def memory() -> Core:
    return await core()


def draft(content: str, speaker: Speaker = MINA, **fields: Any) -> EpisodeDraft:
    return EpisodeDraft(content, sender=speaker, **fields)


async def everything(memory: Core) -> list[tuple[str, str]]:
    """Every memory and its status, as a new process sees them."""
    fresh = await memory.restarted()
    found = await fresh.episodes.select(KEY, Filters(statuses=ALL))
    return sorted((e.content, str(e.status)) for e in found)


async def active(memory: Core) -> list[str]:
    """Active memories; the same for this process and for a new one."""
    here = await memory.listed()
    assert here == await (await memory.restarted()).listed()
    return here


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
    assert cold.total <= 6  # the scope is looked up once per process


@pytest.mark.parametrize("size", [10, 1_500])
async def test_remembering_costs_the_same_whatever_the_size(memory: Core, size: int) -> None:
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


@pytest.mark.parametrize(
    "again",
    [
        "Rent is due on the 15",
        "Rent is due on the 15 ",
        "rent  is due on the １５.",
        "RENT IS DUE ON THE 15！",
    ],
)
async def test_saying_it_again_adds_nothing(memory: Core, again: str) -> None:  # D1
    first = await memory.say("Rent is due on the 15")
    for target in (memory, await memory.restarted()):
        outcome = await target.episodes.remember(GROUP, draft(again))
        assert outcome.duplicate
        assert outcome.episode == first
    assert await active(memory) == ["Rent is due on the 15"]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Rent is due on the 15th", "Rent is due on the 16th"),
        ("阿明喜欢香菜", "阿明不喜欢香菜"),
        ("API v1.2 ships Friday", "API v1.3 ships Friday"),
        ("Mina likes cilantro", "Mina does not like cilantro"),
        ("It is 5 degrees", "It is -5 degrees"),
    ],
)
async def test_nearly_the_same_is_another_fact(memory: Core, one: str, two: str) -> None:  # D3
    await memory.say(one)
    await memory.say(two)
    assert await active(memory) == sorted([one, two])


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Rent is due on the 15th", "Rent is due on the 16th"),
        ("阿明喜欢香菜", "阿明不喜欢香菜"),
        ("API v1.2 ships Friday", "API v1.3 ships Friday"),
    ],
)
async def test_nearly_the_same_as_a_correction_is_recorded_as_one(
    memory: Core, one: str, two: str
) -> None:  # D3
    await memory.say(one)
    await memory.say(two, MINA, "correction")
    assert await everything(memory) == sorted([(one, "superseded"), (two, "active")])


async def test_two_people_may_remember_the_same(memory: Core) -> None:
    await memory.say("My flight is Tuesday", MINA)
    await memory.say("My flight is Tuesday", TAO)
    assert await active(memory) == ["My flight is Tuesday"] * 2


async def test_the_same_said_at_once_is_stored_once(memory: Core) -> None:
    await memory.say("something before")
    outcomes = await asyncio.gather(
        *(memory.episodes.remember(GROUP, draft("Rent is due")) for _ in range(6))
    )
    assert sorted(o.duplicate for o in outcomes) == [False] + [True] * 5
    assert len({o.episode.id for o in outcomes}) == 1
    assert await active(memory) == ["Rent is due", "something before"]


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


# ------------------------------------------------------------ corrections


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mina loves cilantro", "Mina cannot stand cilantro"),
        ("My flight is Tuesday", "My flight is Wednesday"),
        ("阿明喜欢香菜", "阿明不喜欢香菜"),
        ("Mina的航班是周二", "Mina的航班是周三"),
        ("The demo server runs on port 8080", "The demo server runs on port 9090"),
    ],
)
@pytest.mark.parametrize("tag", ["Correction", "更正", "correction ", "ｃorrection", "fact-update"])
async def test_a_correction_replaces_the_old_version(
    memory: Core, old: str, new: str, tag: str
) -> None:  # E1, H3
    was = await memory.say(old)
    outcome = await memory.episodes.remember(GROUP, draft(new, tags=(tag,)))
    assert outcome.superseded == (was.id,)
    assert await active(memory) == [new]
    hidden = await memory.episodes.find(GROUP, was.id)
    assert (hidden.status, hidden.superseded_by) == (Status.SUPERSEDED, outcome.episode.id)
    assert hidden.model_copy(update={"status": Status.ACTIVE, "superseded_by": ""}) == was


async def test_a_correction_is_for_its_speaker_only(memory: Core) -> None:  # E2
    await memory.say("My flight is Tuesday", MINA)
    await memory.say("My flight is Tuesday", TAO)
    await memory.say("My flight is Wednesday", MINA, "correction")
    found = await memory.episodes.select(KEY, Filters())
    assert sorted((e.sender_id, e.content) for e in found) == [
        ("9001", "My flight is Wednesday"),
        ("9002", "My flight is Tuesday"),
    ]


@pytest.mark.parametrize(
    ("related", "correction"),
    [
        ("Mina's sister is Lan", "Mina's brother is Bo, not Bin"),
        ("Mina的姐姐叫兰", "Mina的弟弟叫波，不叫宾"),
        ("Mina plays chess on Mondays", "Mina moved to Berlin, not Bern"),
        ("Mina is allergic to nuts", "Mina's rent is due on the 16th"),
    ],
)
async def test_a_related_fact_stays(memory: Core, related: str, correction: str) -> None:  # E2
    await memory.say(related)
    await memory.say(correction, MINA, "correction")
    assert related in await active(memory)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_of_a_fact_and_a_related_one_the_correction_replaces_the_fact(language: str) -> None:  # E1, E2
    missed = wrong = 0
    for case in json.loads((DATA / "corrections.json").read_text())[language]:
        memory = await core()
        for text in (case["fact"], case["related"]):
            await memory.say(text)
        await memory.say(case["correction"], MINA, "correction")
        here = await memory.listed()
        assert case["correction"] in here
        missed += case["fact"] in here
        wrong += case["related"] not in here
    assert wrong == 0
    assert missed <= 3  # said in wholly other words ("is a vegetarian", "eats meat again")


async def test_a_correction_replaces_a_few_not_hundreds(memory: Core) -> None:
    await memory.fill([record(f"lunch note {i} of the day", numbered_id(i)) for i in range(300)])
    await memory.recaller.loaded(KEY)
    correction = draft("the lunch note of the day was wrong", tags=("correction",))
    assert len((await memory.episodes.remember(GROUP, correction)).superseded) == CORRECTED_MAX
    assert len(await active(memory)) == 301 - CORRECTED_MAX


async def test_a_correction_of_nothing_is_a_memory(memory: Core) -> None:
    outcome = await memory.episodes.remember(GROUP, draft("Rent is due", tags=("correction",)))
    assert (outcome.superseded, outcome.duplicate) == ((), False)
    assert await active(memory) == ["Rent is due"]


async def test_two_corrections_at_once_leave_one_winner(memory: Core) -> None:  # D4
    await memory.say("My flight is Tuesday")
    await asyncio.gather(
        *(
            memory.say(f"My flight is {day}", MINA, "correction")
            for day in ("Wednesday", "Thursday", "Friday")
        )
    )
    found = await memory.episodes.select(KEY, Filters(statuses=ALL))
    winners = [e for e in found if e.status is Status.ACTIVE]
    assert len(winners) == 1
    assert len(await active(memory)) == 1
    by_id = {e.id: e for e in found}
    for start in found:  # every chain leads to the winner: no cycle, no self
        seen = [start.id]
        while by_id[seen[-1]].superseded_by:
            seen.append(by_id[seen[-1]].superseded_by)
            assert len(seen) == len(set(seen))
        assert seen[-1] == winners[0].id


async def test_correcting_back_leaves_one_active_version(memory: Core) -> None:
    await memory.say("My flight is Tuesday")
    await memory.say("My flight is Wednesday", MINA, "correction")
    await memory.say("My flight is Tuesday", MINA, "correction")
    assert await active(memory) == ["My flight is Tuesday"]


async def test_a_correction_that_was_known_still_replaces_what_contradicts_it(memory: Core) -> None:
    await memory.say("My flight is Tuesday")
    await memory.say("My flight is Wednesday")
    outcome = await memory.episodes.remember(GROUP, draft("My flight is Tuesday", tags=("correction",)))
    assert not outcome.duplicate
    assert await active(memory) == ["My flight is Tuesday"]
    again = await memory.episodes.remember(GROUP, draft("My flight is Tuesday", tags=("correction",)))
    assert again.duplicate


async def test_nobody_in_a_group_corrects_nobody(memory: Core) -> None:
    """Without a sender id two people cannot be told apart, so nothing is replaced."""
    await memory.say("My flight is Tuesday", Speaker())
    await memory.say("My flight is Wednesday", Speaker(), "correction")
    assert len(await active(memory)) == 2
    private = Scope.of_session("person_9001", bot_uuid="b-01")
    await memory.say("My flight is Tuesday", Speaker(), scope=private)
    await memory.say("My flight is Wednesday", Speaker(), "correction", scope=private)
    assert await memory.listed(private) == ["My flight is Wednesday"]


async def test_a_correction_reaches_the_other_conversations_of_a_shared_bot(memory: Core) -> None:
    one, two = (Scope.of_session(s, bot_uuid="b", isolation=Isolation.BOT) for s in ("group_1", "group_2"))
    await memory.say("My flight is Tuesday", scope=one)
    stored = await memory.say("My flight is Wednesday", MINA, "correction", scope=two)
    assert await memory.listed(one) == ["My flight is Wednesday"]
    assert stored.session_name == "group_2"


async def test_a_model_that_finds_everything_alike_corrects_by_words(memory: Core) -> None:
    flat = await core(embed=lambda texts: [[1.0] + [0.0] * 383 for _ in texts])
    await flat.say("My flight is Tuesday")
    await flat.say("Mina plays chess")
    await flat.say("My flight is Wednesday", MINA, "correction")
    assert await flat.listed() == ["Mina plays chess", "My flight is Wednesday"]


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize("content", ["", "  ", "\n\t"])
async def test_empty_content_is_refused(memory: Core, content: str) -> None:
    with pytest.raises(BadArgument, match="content_empty"):
        await memory.say(content)
    assert memory.api.calls.counts["invoke_embedding"] == 0


async def test_content_has_a_limit(memory: Core) -> None:  # K5
    with pytest.raises(BadArgument, match="content_too_long") as caught:
        await memory.say("x" * (CONTENT_MAX + 1))
    assert caught.value.details == {"length": CONTENT_MAX + 1, "limit": CONTENT_MAX}
    stored = await memory.say("🌙" * CONTENT_MAX)
    assert stored.content == "🌙" * CONTENT_MAX


async def test_secrets_are_refused(memory: Core) -> None:  # L3
    with pytest.raises(BadArgument, match="content_secret"):
        await memory.say("deploy key is sk-test-FAKE0123456789abcdef")
    assert await memory.say("we have no API key in the build")


@pytest.mark.parametrize(
    "fields",
    [
        {"tags": tuple(str(i) for i in range(TAGS_MAX + 1))},
        {"tags": ("x" * (TAGS_CHARS_MAX + 1),)},
        {"sender": Speaker("x" * 501)},
        {"imported_id": "x" * 501},
        {"document_id": "x" * 501},
    ],
)
def test_labels_have_limits(fields: dict[str, Any]) -> None:  # K5
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


def test_content_is_checked_the_same_everywhere() -> None:
    assert checked_content("  rent is due \n") == "rent is due"


# ------------------------------------------------------------ finding and listing


async def test_an_id_is_found_in_its_scope_only(memory: Core) -> None:  # A5
    stored = await memory.say("Rent is due")
    assert await memory.episodes.find(GROUP, stored.id) == stored
    for scope, wanted in ((OTHER, stored.id), (GROUP, numbered_id(7))):
        with pytest.raises(NotFound, match="id_unknown"):
            await memory.episodes.find(scope, wanted)


@pytest.mark.parametrize(
    "odd", ["", "1", "0", "undefined", "episode_id", "\ud800", "K7M29XQD", "'; --", "x" * 1_000]
)
async def test_what_is_no_id_is_not_found(memory: Core, odd: str) -> None:  # M3
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


# ------------------------------------------------------------ forgetting


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


async def test_what_was_forgotten_can_be_remembered_again(memory: Core) -> None:  # C7
    first = await memory.say("Rent is due")
    await memory.episodes.forget(GROUP, first)
    second = await memory.say("Rent is due")
    assert second.id != first.id
    assert await memory.found("rent due") == ["Rent is due"]


@pytest.mark.parametrize("lies", ["lie_counts", ""])
async def test_only_what_a_read_back_shows_gone_is_reported_deleted(memory: Core, lies: str) -> None:  # C2
    stored = await memory.say("Rent is due")
    if lies:
        setattr(memory.api.faults, lies, True)
    memory.api.faults.delete_nothing = True
    with pytest.raises(StoreFailed, match="delete_unverified"):
        await memory.episodes.forget(GROUP, stored)
    assert await active(memory) == ["Rent is due"]
    memory.api.faults.delete_nothing = False
    await memory.episodes.forget(GROUP, stored)
    assert await active(memory) == []
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
    assert await everything(memory) == [("My flight is Tuesday", "active")]
    assert (await memory.episodes.forget(GROUP, second)).chain == ()


async def test_a_restored_version_is_not_taken_along(memory: Core) -> None:
    first = await memory.say("My flight is Monday")
    second = await memory.say("My flight is Tuesday", MINA, "correction")
    records = memory.collection.records
    hidden = (await records.find(KEY, [first.id]))[first.id]
    await records.write([hidden.changed(status=Status.ACTIVE, superseded_by="")], [hidden])
    assert (await memory.episodes.forget(GROUP, second)).chain == ()
    assert [c for c, _ in await everything(memory)] == ["My flight is Monday"]


async def test_chains_that_somebody_else_or_a_circle_is_part_of_stop_there(memory: Core) -> None:
    theirs = record("Tao's", "a0000001", speaker=TAO, status=Status.SUPERSEDED, superseded_by=ID)
    round_ = record("round", "b0000001", status=Status.SUPERSEDED, superseded_by=ID, supersedes=((ID, 1),))
    elsewhere = record("elsewhere", "c0000001", status=Status.SUPERSEDED, superseded_by="d0000001")
    claims = tuple((i, 1) for i in ("a0000001", "b0000001", "c0000001", "e0000001"))
    head = record("head", ID, supersedes=claims)
    await memory.fill([theirs, round_, elsewhere, head])
    forgotten = await memory.episodes.forget(GROUP, head.episode)
    assert forgotten.ids == (ID, "b0000001")
    assert [c for c, _ in await everything(memory)] == ["Tao's", "elsewhere"]


@pytest.mark.parametrize("size", [5, 1_200])
async def test_forgetting_costs_the_same_whatever_the_size(memory: Core, size: int) -> None:
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
    assert await active(memory) == ["note 3", "note 4"]
    assert len(await memory.listed(OTHER)) == 5
    assert await memory.episodes.delete_many(GROUP, []) == ()


async def test_a_scope_of_thousands_can_be_deleted(memory: Core) -> None:
    await memory.plant([record(f"note {i}", numbered_id(i)) for i in range(1_300)])
    found = await memory.episodes.select(KEY, Filters())
    with memory.api.calls.recording() as log:
        await memory.episodes.delete_many(GROUP, found)
    assert memory.row_count == 0
    assert log.total < 20
    assert await active(memory) == []


# ------------------------------------------------------------ interrupted changes

Change = Callable[[Core], Awaitable[Any]]


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
    here = await active(memory)
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
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("way", ["fail", "lose_answer", "cancel"])
@pytest.mark.parametrize("passing", [0, 1])
async def test_a_change_that_is_interrupted_anywhere_leaves_a_truth_that_can_be_repeated(
    memory: Core, monkeypatch: pytest.MonkeyPatch, change: str, call: str, way: str, passing: int
) -> None:  # P1
    monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0))
    await memory.say("Mina plays chess")
    await memory.say("My flight is Tuesday")
    await memory.recaller.loaded(KEY)
    faults = memory.api.faults
    setattr(faults, "hang" if way == "cancel" else way, {call})
    faults.let_pass = {call: passing}
    task = asyncio.ensure_future(CHANGES[change](memory))
    if way == "cancel":
        await asyncio.sleep(0.02)
        task.cancel()
    failed = True
    try:
        await task
        failed = False
    except (LongTermMemoryError, asyncio.CancelledError):
        pass
    faults.clear()
    memory.time.seconds += 120  # the breaker, if it opened
    await _consistent(memory)
    if failed:
        try:
            await CHANGES[change](memory)
        except ValueError:
            assert change == "forget"  # it was gone already
    await _consistent(memory)
    here = await active(memory)
    expected = {
        "remember": "dogs are fine" in here,
        "correct": "My flight is Wednesday" in here and "My flight is Tuesday" not in here,
        "forget": not any("flight" in c for c in here),
        "import": {f"note {i}" for i in range(5)} <= set(here),
    }
    assert expected[change]
    assert len(here) == len(set(here))


async def test_a_correction_that_died_half_way_is_finished_by_the_next_write(memory: Core) -> None:
    old = record("Mina loves cilantro", ID)
    new = record("Mina cannot stand cilantro", "a0000001", supersedes=((ID, 1),), tags=("correction",))
    hidden = old.changed(status=Status.SUPERSEDED, superseded_by="a0000001")
    for half in ([old, new, hidden], [old, new]):
        memory = await core()
        await memory.fill(half)
        await memory.say("dogs are fine")
        assert memory.row_count == 3
        assert await everything(memory) == [
            ("Mina cannot stand cilantro", "active"),
            ("Mina loves cilantro", "superseded"),
            ("dogs are fine", "active"),
        ]
        # Also once the correction is corrected, nothing old comes back.
        await memory.say("Mina tolerates cilantro", MINA, "correction")
        assert "Mina loves cilantro" not in await active(memory)


async def test_a_changed_row_of_a_crash_is_taken_over_when_it_is_looked_at(memory: Core) -> None:
    old = record("rent is due", ID)
    await memory.fill([old])
    await memory.recaller.loaded(KEY)
    await memory.host.upsert(BASE, [encode(old.changed(status=Status.ARCHIVED))])
    assert (await memory.episodes.find(GROUP, ID)).status is Status.ARCHIVED
    assert await active(memory) == []
    assert await memory.found("rent due") == []
    again = old.changed().changed(status=Status.ACTIVE, content="rent is paid")
    await memory.host.upsert(BASE, [encode(again)])
    fresh = await memory.restarted()
    await fresh.recaller.loaded(KEY)
    newest = again.changed(content="rent is overdue")
    await fresh.host.upsert(BASE, [encode(newest)])
    assert (await fresh.episodes.find(GROUP, ID)).content == "rent is overdue"
    assert await fresh.listed() == ["rent is overdue"]


async def test_locks_are_not_kept_for_ever(memory: Core) -> None:
    for i in range(20):
        await memory.say("rent", scope=Scope.of_session(f"group_{i}", bot_uuid="b"))
    assert len(memory.collection._locks) == 0
    held = memory.collection.lock("a")
    assert memory.collection.lock("a") is held


# ------------------------------------------------------------ isolation


async def test_no_change_in_one_scope_shows_in_another(memory: Core) -> None:  # A2, C5
    mine: list[Episode] = []
    for scope in (GROUP, OTHER):
        mine.append(await memory.say("My flight is Tuesday", scope=scope))
    await memory.say("My flight is Wednesday", MINA, "correction", scope=OTHER)
    await memory.importer.add_many(OTHER, [draft("note")])
    await memory.episodes.forget(OTHER, mine[0])  # another scope's memory: nothing there to delete
    assert await active(memory) == ["My flight is Tuesday"]
    assert await memory.listed(OTHER) == ["My flight is Wednesday", "note"]
