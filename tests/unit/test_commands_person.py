"""What people do about themselves by command, and what they are told: off, on, forgetme, me, help."""

from __future__ import annotations

import json
import re

import pytest

from longterm_memory.chat.command_line import CommandLine
from longterm_memory.chat.help_lines import ACTIONS, help_text
from longterm_memory.chat.verbs import AVAILABLE, Verb
from longterm_memory.chat.voice import REPLY_MAX, Voice
from longterm_memory.errors import Forbidden
from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.policy import Action, Actor, allows
from longterm_memory.scope import Scope, Speaker
from tests.support.memory import KB, Bot, new_bot

GROUP, TAO, PRIVATE = ("group_77001", "9001"), ("group_77001", "9002"), ("person_9001", "9001")


async def lived_in(**options: object) -> Bot:
    bot = await new_bot(**options)  # type: ignore[arg-type]
    await bot.remember("Mina loves cilantro", *GROUP)
    await bot.remember("Mina cannot stand cilantro", *GROUP, tags=["correction"])
    await bot.remember("Tao says that Mina sings", *TAO)
    await bot.remember("Mina's dentist is called Bo", *PRIVATE)
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "left-handed"}, *GROUP)
    await bot.hear("what does Mina think of cilantro?", *GROUP)
    return bot


def stored(bot: Bot) -> str:
    """Everything that is kept anywhere, as text."""
    rows = [[row.metadata, row.document] for row in bot.api.rows[KB].values()]
    return json.dumps(rows) + "".join(f"{k}{v.decode()}" for k, v in bot.api.values.items())


async def test_why_a_value_is_a_former_one_is_said_in_the_readers_language() -> None:
    bot = await new_bot(config={"language": "ja_JP"})
    for value in ("tea", "coffee"):
        fact = {"field": "preferences", "action": "set", "value": value, "fact_key": "drink"}
        await bot.tool("update_profile", fact)
    profile = await bot.command("memory profile")
    assert re.search(r"以前：tea（\d{4}-\d\d-\d\d、置き換え）", profile), profile


# ---------------------------------------------------------------- off and on


async def test_off_says_what_it_means_wherever_one_looks() -> None:
    bot = await lived_in()
    reply = await bot.command("memory off")
    meaning = "nothing you say is remembered"
    assert meaning in reply
    assert "in this conversation" in reply
    for line in ("off", "me", ""):
        assert meaning in await bot.command(f"memory {line}"), line
        assert "!memory on" in await bot.command(f"memory {line}"), line
    assert (await bot.command("memory off")).startswith("Nothing changed")
    assert meaning not in await bot.command("memory", *TAO)
    # What is kept is still shown to themselves, and to nobody else.
    assert "left-handed" in await bot.command("memory me")
    assert "cilantro" in await bot.command("memory me")
    assert "cilantro" not in await bot.command("memory list", *TAO)
    assert "on for you again" in await bot.command("memory on")
    assert "already" in await bot.command("memory on")
    assert "cilantro" in await bot.command("memory list", *TAO)


async def test_off_under_shared_memory_says_that_it_holds_everywhere() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    assert "all conversations with this bot" in await bot.command("memory off")
    assert "switched memory off" in await bot.command("memory", "group_77002")


async def test_tools_and_commands_tell_whoever_is_off_and_how_to_switch_on() -> None:
    """With the prefix that commands have here, in sentences of errors too."""
    bot = await lived_in(config={"command_prefixes": "#"})
    one = await bot.remember("Mina's rent is due on the 15th")
    await bot.command("memory off")
    answers = [
        await bot.tool("remember", {"content": "Mina bought a boat"}),
        await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "sailor"}),
        await bot.command(f"memory archive {one}"),
        await bot.command(f"memory edit {one} another"),
    ]
    for answer in answers:
        assert "#memory on" in answer
        assert "!" not in answer
    recalled = await bot.tool("recall_memory", {"query": "what about cilantro?"})
    assert "switched memory off" in recalled
    assert "stand cilantro" not in recalled
    assert "switched memory off" not in await bot.tool("recall_memory", {"query": "cilantro"}, *TAO)
    assert "Deleted" in await bot.command(f"memory forget {one}"), "what is kept can still be taken away"


# ---------------------------------------------------------------- forgetme


async def test_forgetme_says_what_would_go_and_what_stays_and_then_what_went() -> None:
    bot = await lived_in()
    before = stored(bot)
    offer = await bot.command("memory forgetme")
    assert stored(bot) == before
    for told in (
        "2 memories",
        "your profile",
        "(entries: 3)",
        "others said about you",
        "in its monitoring",
        "within 10 minutes",
    ):
        assert told in offer
    line = offer.splitlines()[-1].split("!memory ")[1]
    assert re.fullmatch("forgetme [0-9a-z]{6}", line)
    for wrong in ("forgetme 000000", "forgetme yes", f"{line} now"):
        assert "2 memories" not in await bot.command(f"memory {wrong}")
        assert stored(bot) == before
    assert "wrong" in await bot.command(f"memory {line}", *TAO), "a code is for whoever asked"
    assert "wrong" in await bot.command(f"memory {line}", *PRIVATE), "and for where it was asked"
    report = await bot.command(f"memory [{line}]".replace("[forgetme ", "forgetme ["))
    for told in ("2 memories", "your profile", "records: 1", "others said about you", "!memory off"):
        assert told in report
    everything = stored(bot)
    assert "loves cilantro" not in everything
    assert "stand cilantro" not in everything
    assert "left-handed" not in everything
    assert "Tao says that Mina sings" in everything
    assert "dentist" in everything, "another conversation's"
    assert "wrong" in await bot.command(f"memory {line}"), "a code is good once"
    again = await bot.command("memory forgetme")
    assert "0 memories" in again
    assert "no profile" in again


async def test_forgetme_under_shared_memory_reaches_all_conversations_and_says_so() -> None:
    bot = await lived_in(config={"isolation": "bot"})
    offer = await bot.command("memory forgetme")
    assert "3 memories of what you said in any conversation" in offer
    await bot.command(offer.splitlines()[-1].split("!")[1])
    assert "dentist" not in stored(bot)


async def test_a_code_is_void_after_ten_minutes_and_nobody_has_one_without_a_name() -> None:
    bot = await lived_in()
    line = (await bot.command("memory forgetme")).splitlines()[-1].split("!")[1]
    bot.clock.move(minutes=11)
    assert "older than ten minutes" in await bot.command(line)
    assert "cilantro" in await bot.command("memory me")
    for verb in ("forgetme", "off", "on", "me"):
        assert "who is speaking" in await bot.command(f"memory {verb}", "group_77001", "")


async def test_after_forgetme_while_off_nothing_new_is_promised() -> None:
    bot = await lived_in()
    await bot.command("memory off")
    line = (await bot.command("memory forgetme")).splitlines()[-1].split("!")[1]
    assert "can be remembered again" not in await bot.command(line)
    assert "switched memory off" in await bot.command("memory")


# ---------------------------------------------------------------- restarts, isolation, damage


async def test_a_new_process_answers_every_line_alike() -> None:
    """P3: on the same storage; one damaged profile stops only itself."""
    bot = await lived_in()
    lines = ["", "me", "profile", "list --all-statuses", "superseded", "audit", "stats", "export all"]
    before = [await bot.command(f"memory {line}") for line in lines]
    bot.restart()
    assert [await bot.command(f"memory {line}") for line in lines] == before
    key = bot.service.profiles.key(Scope("b-01", "group", "77001"), Speaker("9001"))
    bot.api.values[key] = b"{broken"
    bot.restart()
    for line in ("profile", "me", "", "export"):
        reply = await bot.command(f"memory {line}")
        assert "damaged" in reply or "can't be read" in reply, line
    assert bot.api.values[key] == b"{broken"
    assert "cilantro" in await bot.command("memory list")
    assert "damaged" not in await bot.command("memory profile", *TAO)


async def test_isolation_there_and_back_loses_nothing_and_the_overview_names_the_key() -> None:
    """P5: session → bot → session with data in each."""
    bot = await lived_in()
    session = await bot.command("memory list --all-statuses")
    assert "user_key b-01:group_77001" in await bot.command("memory")
    bot.config["isolation"] = "bot"
    assert "user_key bot:b-01" in (overview := await bot.command("memory"))
    assert "isolation: bot" in overview
    assert "cilantro" not in await bot.command("memory list --all-statuses")
    await bot.remember("Mina's flat is in Bergen", *GROUP)
    assert "Bergen" in await bot.command("memory list")
    assert "left-handed" in await bot.command("memory profile"), "profiles stay in their conversation"
    bot.config["isolation"] = "session"
    assert await bot.command("memory list --all-statuses") == session
    assert "Bergen" not in session
    bot.config["isolation"] = "bot"
    assert "Bergen" in await bot.command("memory list")


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("mode", ["owner_or_admin", "everyone", "admin"])
def test_help_says_who_may_as_the_policy_decides(mode: str) -> None:
    voice = Voice()
    group, mina = Scope("b-01", "group", "77001"), Speaker("9001", "Mina")
    member = Actor.of(group, mina, "command")
    at_home = Actor.of(Scope("b-01", "person", "9001"), mina, "command")
    for verb in AVAILABLE:
        own, *rest = ACTIONS.get(verb, (Action.READ,))
        text = help_text(voice, CommandLine(Verb.HELP, topic=verb), mode)  # type: ignore[arg-type]
        who = next(line for line in text.splitlines() if line.startswith("Who may"))
        for action in (own, *rest):
            in_group, in_private = (allows(action, actor, mode) for actor in (member, at_home))  # type: ignore[arg-type]
            if in_group:
                assert "everybody" in who, verb
            elif in_private:
                assert "in a private chat its person, in a group a memory admin" in who, verb
            else:
                assert "a memory admin" in who, verb
        if all(allows(action, member, mode) for action in (own, *rest)):  # type: ignore[arg-type]
            assert "admin" not in who, verb


async def test_help_is_one_message_and_a_wrong_word_gets_it_with_a_suggestion() -> None:
    for language in ("en_US", "zh_Hans"):
        bot = await new_bot(config={"language": language})
        reply = await bot.command("memory exprot l2")
        assert "!memory export" in reply.splitlines()[1]
        for line in ("help", "exprot", "help nonsense", *(f"help {verb}" for verb in AVAILABLE if verb)):
            assert len(await bot.command(f"memory {line}")) <= REPLY_MAX
    for verb in AVAILABLE:
        assert f"!memory {verb}".strip() in reply


async def test_refusals_of_state_do_not_point_to_help_on_typing() -> None:
    bot = await new_bot()
    one = await bot.remember("Mina sings")
    assert "help" not in await bot.command(f"memory restore {one}")
    assert "!memory help delete" in await bot.command("memory delete")
    memory = await bot.memory(*TAO)
    with pytest.raises(Forbidden):
        await memory.changes.delete(Filters(sender_id="9001", statuses=KEPT_STATUSES))
