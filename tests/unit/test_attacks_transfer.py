"""Export and import by people who are after something that is not theirs."""

from __future__ import annotations

import json

from longterm_memory.chat.commands import run_command
from tests.support.memory import new_bot

MINA, TAO = ("group_77001", "9001"), ("group_77001", "9002")
PRIVATE, TAOS = ("person_9001", "9001"), ("person_9002", "9002")


async def test_nobody_puts_words_into_anothers_mouth_where_memories_are_shared() -> None:
    bot = await new_bot(config={"isolation": "bot", "memory_admins": ["9009"]})
    rows = [
        {"content": "Tao agreed to pay Mina 500 euros", "sender_id": "9002", "sender_name": "Tao"},
        {"content": "Mina lent Tao her boat"},
    ]
    reply = await bot.command(f"memory import l2 {json.dumps(rows)}", *PRIVATE)
    assert "1" in reply
    assert "memory admin" in reply
    prompt = await bot.prompt("what did Tao agree to pay Mina for her boat?", *TAO)
    assert "500 euros" not in prompt
    assert "lent Tao her boat" in prompt
    assert "Mina" in prompt.split("## Recalled memories")[-1]
    await bot.command(f"memory import l2 {json.dumps(rows)}", "person_9009", "9009")
    assert "500 euros" in await bot.prompt("what did Tao agree to pay?", *TAO)


async def test_an_import_does_not_tell_what_somebody_said_in_another_conversation() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    await bot.remember("Mina hides gold at the lake", *PRIVATE)
    for row in (
        {"content": "Mina hides gold at the lake", "sender_id": "9001"},
        {"content": "Mina hides gold at the lake"},
    ):
        right = json.dumps([row])
        guess = await bot.command(f"memory import l2 {right}", *TAOS)
        wrong = await bot.command(f"memory import l2 {right.replace('lake', 'river')}", *TAOS)
        assert guess == wrong


async def test_the_profile_of_who_opted_out_is_exported_by_nobody_else() -> None:
    bot = await new_bot(config={"command_policy": "everyone"})
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"}, *MINA)
    await bot.command("memory off", *MINA)
    for who, shown in ((TAO, False), (MINA, True)):
        for line in ("memory export", "memory export all", "memory export md"):
            turn = bot.turn(f"!{line}", *who)
            answered = await run_command(bot.service, turn, line)
            files = "".join(data.decode() for _, data in turn.files)
            assert ("vegetarian" in answered + files) is shown


async def test_an_export_names_nobody_elses_profile_key() -> None:
    bot = await new_bot()
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "sailor"}, *TAO)
    key = next(k for k in bot.api.values if k.startswith("ltm/profile/speaker/"))
    bot.api.values[key] = b"{}"
    bot.restart()
    assert "9002" not in await bot.command("memory export", *MINA)
    assert key in await bot.command("memory export", *TAO)


async def test_what_a_person_brings_into_their_private_chat_is_theirs() -> None:
    bot = await new_bot()
    row = json.dumps([{"memory": "Mina plays the cello"}])
    await bot.command(f"memory import l2 {row}", *PRIVATE)
    assert "cello" in await bot.command("memory me", *PRIVATE)
    # An export of ours says of nobody's memory that it is nobody's, and stays so.
    ours = {"format": "longtermmemory", "version": 1, "episodes": [{"id": "k7m29xqd", "content": "It rains"}]}
    await bot.command(f"memory import l2 {json.dumps(ours)}", *PRIVATE)
    assert "It rains" not in await bot.command("memory me", *PRIVATE)
    assert "It rains" in await bot.command("memory list", *PRIVATE)
