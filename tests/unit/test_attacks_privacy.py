"""Attacks on opting out, erasure and forgetting: what is late, unreadable, many or elsewhere must not undo them."""

from __future__ import annotations

import asyncio
import json

from longterm_memory.console import answer
from longterm_memory.erasure import erase_person
from longterm_memory.errors import LongTermMemoryError, StorageFailed
from longterm_memory.retrieval import retrieve
from longterm_memory.scope import Speaker
from tests.support.kept import forgetme, stored
from tests.support.memory import Bot, new_bot

G, T, PRIVATE = ("group_77001", "9001"), ("group_77001", "9002"), ("person_9001", "9001")
ELSEWHERE = ("group_77002", "9001")


def slot(bot: Bot, prefix: str) -> str:
    """The first key of plugin storage with a prefix."""
    return min(key for key in bot.api.values if key.startswith(prefix))


# ---------------------------------------------------------------- opting out


async def test_an_answer_that_comes_late_does_not_undo_an_opt_out() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    bot.restart()
    storage, late = bot.service.opt_outs._storage, asyncio.Event()
    real = storage.get

    async def get(key: str) -> bytes | None:
        value = await real(key)
        if key.startswith("ltm/optout") and not late.is_set():
            late.set()
            await asyncio.sleep(0.05)
        return value

    storage.get = get  # type: ignore[method-assign]
    turn = asyncio.create_task(bot.prompt("who is allergic?", *T))
    await late.wait()
    assert "switched memory off" in await bot.command("memory off", *G)
    await turn
    assert "!memory on" in await bot.tool("remember", {"content": "Mina bought a boat"}, *G)


async def test_off_for_the_whole_bot_stays_off_when_the_isolation_changes() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    assert "all conversations" in await bot.command("memory off", *G)
    bot.config["isolation"] = "session"
    bot.restart()
    for where in (G, ELSEWHERE):
        assert "!memory on" in await bot.tool("remember", {"content": "Mina bought a boat"}, *where)


async def test_on_for_the_whole_bot_is_on_where_it_was_switched_off_too() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    await bot.command("memory off", *G)
    assert "on for you again" in await bot.command("memory on", *ELSEWHERE)
    assert "Stored" in await bot.tool("remember", {"content": "Mina bought a boat"}, *G)


async def test_what_is_on_its_way_when_somebody_opts_out_is_not_stored() -> None:
    bot = await new_bot(config={"memory_admins": ["9002"]})
    await bot.remember("Tao likes cats", *T)
    row = json.dumps([{"content": "Mina bought a boat", "sender_id": "9001"}])
    bot.api.faults.slow = {"invoke_embedding": 0.05}
    on_the_way = [
        asyncio.create_task(bot.tool("remember", {"content": "Mina sold a boat"}, *G)),
        asyncio.create_task(bot.command(f"memory import l2 {row}", *T)),
    ]
    await asyncio.sleep(0.02)
    assert "switched memory off" in await bot.command("memory off", *G)
    await asyncio.gather(*on_the_way)
    assert "boat" not in stored(bot)


async def test_on_in_one_conversation_leaves_the_others_off_and_says_so() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    await bot.command("memory off", *G)
    bot.config["isolation"] = "session"
    assert "all conversations" in await bot.command("memory me", *ELSEWHERE)
    assert "in the others it stays off" in await bot.command("memory on", *ELSEWHERE)
    bot.restart()
    for where, answered in ((ELSEWHERE, "Stored"), (G, "!memory on")):
        assert answered in await bot.tool("remember", {"content": "Mina bought a boat"}, *where)
    bot.config["isolation"] = "bot"
    await bot.command("memory off", *G)
    bot.config["isolation"] = "session"
    bot.restart()
    assert "!memory on" in await bot.tool("remember", {"content": "Mina bought a car"}, *ELSEWHERE)


async def test_a_memory_of_who_opted_out_is_answered_like_one_that_never_was() -> None:
    bot = await new_bot()
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    await bot.command("memory off", *G)
    for verb in ("show {}", "edit {} Mina eats everything", "archive {}", "restore {}", "forget {}"):
        told, unknown = [await bot.command("memory " + verb.format(i), *T) for i in (nuts, "k7m29xqd")]
        assert told.replace(nuts, "k7m29xqd") == unknown, verb
    assert "allergic to nuts" in await bot.command(f"memory show {nuts}", *G)


# ---------------------------------------------------------------- erasure


async def test_what_is_on_its_way_when_somebody_is_erased_does_not_come_back() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    confirm = await forgetme(bot, *G)
    bot.api.faults.slow = {"invoke_embedding": 0.3}
    on_the_way = asyncio.create_task(bot.tool("remember", {"content": "Mina bought a boat"}, *G))
    await asyncio.sleep(0.05)
    assert "Erased" in await confirm()
    await on_the_way
    assert "boat" not in stored(bot)
    assert "Mina" not in stored(bot, "ltm/audit/")


async def test_a_profile_that_changes_during_an_erasure_is_erased_or_said_to_stay() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    confirm = await forgetme(bot, *G)
    bot.api.faults.slow = {"vector_list": 0.03}
    erasing = asyncio.create_task(confirm())
    await asyncio.sleep(0.02)
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "sailor"}, *G)
    assert "Erased" not in await erasing or "sailor" not in stored(bot)


async def test_forgetme_in_a_private_chat_takes_or_names_the_profile_of_that_chat() -> None:
    bot = await new_bot()
    note = {"field": "notes", "action": "add", "value": "has diabetes"}
    await bot.tool("update_profile", note, *PRIVATE)
    erased = await (await forgetme(bot, *PRIVATE))()
    assert "diabetes" not in stored(bot) or "profile of this conversation" in erased


async def test_an_erasure_goes_on_at_its_next_try_after_storage_failed() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    confirm = await forgetme(bot, *G)
    bot.api.faults.fail = {"set_plugin_storage"}
    assert "Erased" not in await confirm()
    bot.api.faults.clear()
    assert "Erased" in await (await forgetme(bot, *G))()


async def test_an_erasure_is_not_done_while_a_block_of_the_audit_cannot_be_read() -> None:
    bot = await new_bot()
    for number in range(12):
        await bot.remember(f"Mina saw bird {number} on street {number * 7}", *G)
    key = slot(bot, "ltm/audit/")
    bot.api.values[key] = bot.api.values[key].replace(b'"schema_version":1', b'"schema_version":9')
    bot.restart()
    answered = await (await forgetme(bot, *G))()
    assert "Erased" not in answered or "Mina" not in stored(bot, "ltm/audit/")


async def test_an_audit_block_that_cannot_be_read_is_not_overwritten() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    key = slot(bot, "ltm/audit/")
    bot.api.values[key] = newer = bot.api.values[key].replace(b'"schema_version":1', b'"schema_version":9')
    bot.restart()
    await bot.remember("Mina likes cats", *G)
    assert bot.api.values[key] == newer


async def test_a_person_is_erased_in_more_spaces_than_a_list_shows() -> None:
    bot = await new_bot()
    for number in range(505):
        scope = (await bot.memory(f"group_{'x' * 300}{number}", "9001")).scope
        await bot.service.profiles.update(
            scope, Speaker("9001"), field="traits", action="add", values=["sailor"]
        )
    await erase_person(bot.service, "9001")
    assert "sailor" not in stored(bot)


async def test_a_space_that_cannot_be_told_makes_the_erasure_of_a_person_fail() -> None:
    bot = await new_bot()
    where = (f"group_{'x' * 300}", "9001")
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "sailor"}, *where)
    for key, value in list(bot.api.values.items()):
        if "/audit/" in key:
            del bot.api.values[key]
        elif "/profile/" in key:
            bot.api.values[key] = value.replace(b'"schema_version":1', b'"schema_version":9')
    bot.restart()
    await bot.command("memory list", *G)
    try:
        await erase_person(bot.service, "9001")
    except LongTermMemoryError:
        return
    assert "sailor" not in stored(bot)


async def test_a_turn_that_is_going_on_does_not_bring_an_erased_space_back() -> None:
    bot = await new_bot()
    await bot.tool("update_profile", {"field": "notes", "action": "add", "value": "we meet on Fridays"}, *G)
    await bot.remember("Mina is allergic to nuts", *G)
    space = (await bot.memory(*G)).scope.space_id
    code = (await answer(bot.service, "/erase_space", "POST", {"space_id": space}))["code"]
    bot.api.faults.slow = {"vector_search": 0.2}
    turn = asyncio.create_task(bot.hear("who is allergic to nuts?", *G))
    await asyncio.sleep(0.05)
    assert (await answer(bot.service, "/erase_space", "POST", {"space_id": space, "code": code}))["erased"]
    await turn
    assert "Fridays" not in stored(bot)


async def test_erased_memories_do_not_come_back_with_another_isolation() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    bot.config["isolation"] = "bot"
    bot.restart()
    assert "Erased" in await (await forgetme(bot, *G))()
    bot.config["isolation"] = "session"
    bot.restart()
    assert "allergic to nuts" not in await bot.prompt("who is allergic to nuts?", *T)


async def test_what_was_said_here_into_a_shared_memory_is_erased_here_too() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    await bot.remember("Mina is allergic to nuts", *G)
    await bot.remember("Mina likes cats", *ELSEWHERE)
    bot.config["isolation"] = "session"
    assert "Erased" in await (await forgetme(bot, *G))()
    assert "nuts" not in stored(bot)
    assert "cats" in stored(bot)


async def test_a_backup_of_a_newer_version_is_neither_dropped_nor_said_to_be_clean() -> None:
    bot = await new_bot()
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    await bot.service.backups.keep()
    kept = bot.api.values["ltm/backup/kept"] = bot.api.values["ltm/backup/kept"].replace(
        b'"schema_version":1', b'"schema_version":9'
    )
    assert "newer version" in await bot.command(f"memory forget {nuts}", *G)
    assert bot.api.values["ltm/backup/kept"] == kept
    assert nuts in await bot.command("memory list", *G)
    assert await bot.service.backups.drop()
    assert "Deleted" in await bot.command(f"memory forget {nuts}", *G)


async def test_a_forgotten_memory_leaves_no_old_part_of_a_backup_behind() -> None:
    bot = await new_bot()
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    await bot.remember("Mina likes cats", *G)
    await bot.service.backups.keep()
    bot.api.faults.fail = {"delete_plugin_storage"}
    assert "Deleted" not in await bot.command(f"memory forget {nuts}", *G)
    bot.api.faults.clear()
    assert "Deleted" in await bot.command(f"memory forget {nuts}", *G)
    assert "allergic" not in stored(bot)


# ---------------------------------------------------------------- what is forgotten, and the log of it


async def test_nobody_keeps_a_memory_of_another_conversation_out_of_its_prompts() -> None:
    bot = await new_bot(config={"episode_placement": "retrieval"})
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    asked = {"session_name": "group_77001", "bot_uuid": "b-01", "sender_id": "9001"}
    assert "Not found" in await bot.command(f"memory forget {nuts}", "group_77002", "9002")
    await bot.hear("who is allergic to nuts?", *G)
    found = await retrieve(bot.service, "who is allergic to nuts?", asked)
    assert nuts in [entry.id for entry in found.entries]


async def test_forgetting_one_memory_costs_the_same_however_many_conversations_share_it() -> None:
    costs = []
    for conversations in (2, 40):
        bot = await new_bot(config={"isolation": "bot"})
        for number in range(conversations):
            await bot.hear(f"what about number {number}?", f"group_{number}", "9001")
        nuts = await bot.remember("Mina is allergic to nuts", *G)
        with bot.api.calls.recording() as calls:
            assert "Deleted" in await bot.command(f"memory forget {nuts}", *G)
        costs.append(sum(calls.counts.values()))
    assert costs[0] == costs[1]


async def test_an_audit_entry_survives_storage_that_cannot_be_read_just_then() -> None:
    bot = await new_bot()
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    bot.restart()
    memory = await bot.memory(*G)
    await memory.show(nuts)
    await (await bot.service.collection()).spaces.note(memory.scope.user_key)
    real = bot.service.audit._storage.get

    async def get(key: str) -> bytes | None:
        if key.startswith("ltm/audit/"):
            raise StorageFailed("storage_down")
        return await real(key)

    bot.service.audit._storage.get = get  # type: ignore[method-assign]
    await memory.changes.archive(nuts)
    bot.service.audit._storage.get = real  # type: ignore[method-assign]
    await memory.changes.restore(nuts)
    assert [e.operation for e in (await memory.audit_trail()).entries] == ["restore", "archive", "remember"]
