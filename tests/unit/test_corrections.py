"""Corrections: the old version goes, of the right person and the right fact, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from longterm_memory.models import Filters, Status
from longterm_memory.recall.corrected import CORRECTED_MAX
from longterm_memory.scope import Isolation, Scope, Speaker
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
