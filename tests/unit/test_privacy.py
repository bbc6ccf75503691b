"""Opting out, and erasure: of oneself, of a person everywhere, of a whole space. Each is proven on the stored bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longterm_memory.erasure import erase_person
from longterm_memory.errors import BadArgument, Forbidden, StorageFailed, StoreFailed
from longterm_memory.models import KEPT_STATUSES, Filters, RecallQuery
from longterm_memory.policy import Actor
from longterm_memory.retrieval import retrieve
from longterm_memory.scope import Isolation, Scope, Speaker
from tests.support.memory import KB, Bot, new_bot

GROUP, TAO, PRIVATE = ("group_77001", "9001"), ("group_77001", "9002"), ("person_9002", "9002")
EVERYTHING = Filters(statuses=KEPT_STATUSES)


async def lived_in(**options: Any) -> Bot:
    """A group and a private chat, where Mina and Tao left everything that can be left."""
    bot = await new_bot(**options)
    await bot.remember("Mina is allergic to nuts", *GROUP)
    await bot.remember("Tao is allergic to cats", *TAO)
    await bot.remember("Tao says his cat is called Momo", *TAO)
    await bot.remember("Tao moved to Oslo", *TAO)
    await bot.remember("Tao moved to Bergen, not Oslo", *TAO, tags=["correction"])
    await bot.remember("Tao's secret plan is a party", *PRIVATE)
    await bot.remember("Mina thinks the other one is funny", *GROUP)
    for where, trait in ((GROUP, "vegetarian"), (TAO, "loves-cats"), (PRIVATE, "shy")):
        await bot.tool("update_profile", {"field": "traits", "action": "add", "value": trait}, *where)
    await bot.tool(
        "update_profile", {"field": "notes", "action": "add", "value": "we meet on Fridays"}, *GROUP
    )
    await bot.hear("who is allergic to cats?", *GROUP)
    await bot.hear("who is allergic to cats?", *TAO)
    return bot


def stored(bot: Bot) -> str:
    """Everything that is kept anywhere, as text."""
    rows = [[row.metadata, row.document] for row in bot.api.rows[KB].values()]
    return json.dumps(rows) + "".join(f"{k}{v.decode()}" for k, v in bot.api.values.items())


# ---------------------------------------------------------------- opting out


@pytest.mark.parametrize("restart", [False, True], ids=["at once", "after a restart"])
async def test_after_off_nothing_of_them_is_written_recalled_or_injected(restart: bool) -> None:
    bot = await lived_in()
    assert await (await bot.memory(*TAO)).privacy.opt(off=True)
    if restart:
        bot.restart()
    before = stored(bot)
    for answer in (
        await bot.tool("remember", {"content": "Tao bought a boat"}, *TAO),
        await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "sailor"}, *TAO),
        await bot.tool("update_profile", {"field": "notes", "action": "add", "value": "Tao sails"}, *TAO),
    ):
        assert "!memory on" in answer
    assert stored(bot) == before
    for where in (GROUP, TAO):
        prompt = await bot.prompt("who is allergic to cats?", *where)
        assert "allergic to cats" not in prompt
        assert "loves-cats" not in prompt
        recalled = await bot.tool(
            "recall_memory", {"query": "allergic to cats", "speaker_id": "9002"}, *where
        )
        assert "allergic to cats" not in recalled
    assert "9002" not in next(
        v.decode() for k, v in bot.api.values.items() if "snapshot/" in k and "77001" in k
    )
    # Who asks is still known as the current speaker, and everybody else is remembered as before.
    assert "9002" in await bot.prompt("hello, who am I?", *TAO)
    assert "allergic to nuts" in await bot.prompt("who is allergic to nuts?", *TAO)


async def test_after_off_the_profile_of_their_private_chat_is_not_used_either() -> None:
    bot = await lived_in()
    await bot.tool(
        "update_profile", {"field": "notes", "action": "add", "value": "saves-for-a-boat"}, *PRIVATE
    )
    await bot.tool(
        "update_profile", {"field": "notes", "action": "add", "value": "group-cooks-friday"}, *GROUP
    )
    assert "saves-for-a-boat" in await bot.prompt("hello there, what do I save for?", *PRIVATE)
    assert await (await bot.memory(*PRIVATE)).privacy.opt(off=True)
    turn = bot.turn("hello there, what do I save for?", *PRIVATE)
    assert "saves-for-a-boat" not in str(await bot.service.injector.prepare(turn))
    assert turn.values["_ltm_context"]["session_profile"]["notes"] == ""
    # Not every host says who speaks.
    for tool, given in (
        ("update_profile", {"field": "notes", "action": "add", "value": "leaks"}),
        ("remember", {"content": "The boat leaks"}),
    ):
        assert "!memory on" in await bot.tool(tool, given, PRIVATE[0], "")
    assert "saves-for-a-boat" not in await bot.prompt("hello there, what do I save for?", PRIVATE[0], "")
    for sender in (PRIVATE[1], ""):
        asked = {"session_name": PRIVATE[0], "bot_uuid": "b-01", "sender_id": sender}
        assert "saves-for-a-boat" not in str(await retrieve(bot.service, "what do I save for?", asked))
    assert "saves-for-a-boat" in await bot.command("memory profile", *PRIVATE)
    # Whoever runs the bot can still take something out of it.
    console = await bot.memory(*PRIVATE, via="console")
    await console.update_profile(
        field="notes", action="remove", values=["saves-for-a-boat"], target="session", speaker=Speaker()
    )
    assert "saves-for-a-boat" not in await bot.command("memory profile", *PRIVATE)
    # What a group keeps together is nobody's own.
    assert await (await bot.memory(*TAO)).privacy.opt(off=True)
    assert "group-cooks-friday" in await bot.prompt("what do we cook on friday?", *TAO)


async def test_what_is_kept_of_them_is_for_them_and_admins_and_can_only_be_deleted() -> None:
    bot = await lived_in(config={"memory_admins": ["9009"]})
    tao, mina, admin = [await bot.memory("group_77001", who) for who in ("9002", "9001", "9009")]
    own = next(e for e in await tao.select(Filters(sender_id="9002")) if "cats" in e.content)
    await tao.privacy.opt(off=True)
    assert own in await tao.select(Filters())
    assert own in await admin.select(Filters())
    assert own not in await mina.select(Filters())
    hits = (await mina.recall(RecallQuery(text="cats", floor=False))).hits
    assert hits
    assert all(hit.episode.sender_id != "9002" for hit in hits)
    for attempt in (admin.changes.edit(own.id, "Tao likes cats"), tao.changes.archive(own.id)):
        with pytest.raises(Forbidden, match=r"speaker_off|other_off"):
            await attempt
    assert (await tao.changes.forget(own.id)).episode == own
    assert await tao.privacy.opt(off=False)
    assert not await tao.privacy.opt(off=False)
    assert await bot.remember("Tao is back", *TAO)


async def test_under_bot_isolation_off_holds_in_every_conversation_and_survives_the_isolation() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    await bot.remember("Tao is allergic to cats", *TAO)
    await (await bot.memory(*PRIVATE)).privacy.opt(off=True)
    assert "allergic" not in await bot.prompt("who is allergic to cats?", *GROUP)
    assert "!memory on" in await bot.tool("remember", {"content": "Tao bought a boat"}, *TAO)
    bot.config["isolation"] = "session"
    assert "!memory on" in await bot.tool("remember", {"content": "Tao bought a boat"}, *PRIVATE)


async def test_who_opted_out_is_never_guessed() -> None:
    bot = await lived_in()
    await (await bot.memory(*TAO)).privacy.opt(off=True)
    key = next(k for k in bot.api.values if k.startswith("ltm/optout/"))
    bot.api.values[key] = b"{damaged"
    bot.restart()
    memory = await bot.memory(*GROUP)
    for attempt in (memory.recall(RecallQuery(text="cats")), memory.select(Filters())):
        with pytest.raises(StorageFailed):
            await attempt
    injection = await bot.hear("who is allergic to cats?", *GROUP)
    assert injection.blocks
    assert "cats" not in "".join(injection.blocks)


# ---------------------------------------------------------------- erasing


async def test_forgetme_erases_everything_of_them_here_and_nothing_else() -> None:
    bot = await lived_in()
    memory = await bot.memory(*TAO)
    offer = await memory.privacy.offer_erasure()
    assert (offer.traces.episodes, offer.traces.profiles) == (4, 1)
    with pytest.raises(BadArgument, match="code_wrong"):
        await memory.privacy.forgetme("zzzzzz")
    mina = await bot.memory(*GROUP)
    with pytest.raises(BadArgument, match="code_wrong"):
        await mina.privacy.forgetme(offer.code)
    assert len(await memory.select(Filters(sender_id="9002", statuses=KEPT_STATUSES))) == 4
    erased = await memory.privacy.forgetme(f" [{offer.code.upper()}] ")
    assert (erased.episodes, erased.profiles, erased.snapshots) == (4, 1, 1)
    with pytest.raises(BadArgument, match="code_wrong"):
        await memory.privacy.forgetme(offer.code)
    left = stored(bot)
    for word in ("allergic to cats", "Momo", "Bergen", "loves-cats"):
        assert word not in left
    for word in ("allergic to nuts", "funny", "vegetarian", "Fridays", "secret plan", "shy"):
        assert word in left
    entries = (await mina.audit_trail()).entries
    assert entries[0].operation == "erase_speaker"
    assert not any(e.about("9002") for e in entries)
    bot.restart()
    assert "cats" not in await bot.prompt("who is allergic to what?", *GROUP)


async def test_a_code_is_good_for_ten_minutes() -> None:
    bot = await lived_in()
    memory = await bot.memory(*TAO)
    offer = await memory.privacy.offer_erasure()
    bot.clock.move(minutes=11)
    with pytest.raises(BadArgument, match="code_wrong"):
        await memory.privacy.forgetme(offer.code)


async def test_an_erasure_that_cannot_be_seen_through_is_no_erasure() -> None:
    bot = await lived_in()
    memory = await bot.memory(*TAO)
    offer = await memory.privacy.offer_erasure()
    bot.api.faults.delete_nothing = True
    with pytest.raises(StoreFailed):
        await memory.privacy.forgetme(offer.code)
    bot.api.faults.delete_nothing = False
    erased = await memory.privacy.forgetme((await memory.privacy.offer_erasure()).code)
    assert erased.episodes == 4
    assert "allergic to cats" not in stored(bot)


async def test_a_tool_can_neither_opt_out_nor_erase() -> None:
    bot = await lived_in()
    privacy = (await bot.memory(*TAO, via="tool")).privacy
    for attempt in (
        privacy.opt(off=True),
        privacy.offer_erasure(),
        privacy.forgetme("x"),
        privacy.erase_space(),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_an_operator_erases_a_person_in_all_spaces_and_isolations() -> None:
    bot = await lived_in()
    bot.config["isolation"] = "bot"
    await bot.remember("Tao shares a boat", *TAO)
    await bot.remember("Mina shares a car", *GROUP)
    erased = await erase_person(bot.service, "9002")
    assert (erased.episodes, erased.profiles, erased.spaces) == (6, 2, 2)
    left = stored(bot)
    for word in ("allergic to cats", "Momo", "secret plan", "boat", "loves-cats", "shy"):
        assert word not in left
    for word in ("allergic to nuts", "funny", "a car", "vegetarian"):
        assert word in left
    bot.config["isolation"] = "session"
    for where in (GROUP, PRIVATE):
        assert not any(e.about("9002") for e in (await (await bot.memory(*where)).audit_trail()).entries)


@pytest.mark.parametrize("isolation", list(Isolation))
async def test_an_operator_erases_a_space_whole(isolation: Isolation) -> None:
    bot = await lived_in(config={"isolation": isolation.value})
    scope = Scope.of_session("group_77001", bot_uuid="b-01", isolation=isolation)
    memory = await bot.service.space(scope, Actor.of(scope, Speaker(), "console"))
    erased = await memory.privacy.erase_space()
    assert (erased.episodes, erased.profiles) == (6, 3)
    left = stored(bot)
    for word in ("allergic", "Momo", "funny", "vegetarian", "Fridays"):
        assert word not in left
    for word in ("secret plan", "shy"):
        assert word in left
    assert [e.operation for e in (await memory.audit_trail()).entries] == ["erase_space"]
