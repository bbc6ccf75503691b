"""Attacks on changes of memories: broken off, late, twice at once, and what they leave behind."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

from longterm_memory.drafts import Revision
from longterm_memory.models import Episode, Status
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.retrieval import retrieve
from tests.support.core import GROUP, MINA, Core, core, draft, record
from tests.support.kept import forgetme, stored
from tests.support.memory import Bot, new_bot
from tests.support.strict_host import StrictHost

G, T, PRIVATE = ("group_77001", "9001"), ("group_77001", "9002"), ("person_9001", "9001")


class Overwriting(StrictHost):
    """Like Chroma and Qdrant: a row that is written again is replaced."""

    async def _upsert(self, **given: Any) -> None:
        for row_id in given["ids"]:
            self.rows.get(given["collection_id"], {}).pop(row_id, None)
        await super()._upsert(**given)


async def test_a_write_that_was_given_up_and_lands_late_does_not_undo_a_later_edit() -> None:
    bot = await Bot(Overwriting()).create()
    boat = await bot.remember("Mina has a red boat", *G)
    real, late = bot.api.vector_upsert, list[Callable[[], Any]]()

    async def upsert(*args: Any, **kwargs: Any) -> None:
        late.append(lambda: real(*args, **kwargs))
        raise TimeoutError("Action vector_upsert call timed out")

    bot.api.vector_upsert = upsert  # type: ignore[method-assign]
    assert "Changed" not in await bot.command(f"memory edit {boat} Mina has a blue boat", *G)
    bot.api.vector_upsert = real  # type: ignore[method-assign]
    assert "Changed" in await bot.command(f"memory edit {boat} Mina has a green boat", *G)
    await late[0]()
    assert "green" in await bot.command(f"memory show {boat}", *G)


async def test_an_erasure_that_fails_hides_no_memory_that_is_being_stored() -> None:
    bot = await new_bot()
    await bot.remember("Mina is allergic to nuts", *G)
    confirm = await forgetme(bot, *G)
    hidden = file_ids((await bot.memory(*G)).scope.user_key, Visibility.HIDDEN)[0]
    real, asked = bot.api.vector_list, 0

    async def listing(collection: str, filters: Any = None, limit: int = 20, offset: int = 0) -> Any:
        nonlocal asked
        asked += hidden in str(filters)
        if asked > 1 and hidden in str(filters):
            raise RuntimeError("down")
        return await real(collection, filters, limit, offset)

    bot.api.faults.slow = {"vector_upsert": 0.2}
    storing = asyncio.create_task(bot.tool("remember", {"content": "Tao bought a boat"}, *T))
    await asyncio.sleep(0.1)
    bot.api.vector_list = listing  # type: ignore[method-assign]
    assert "Erased" not in await confirm()
    bot.api.vector_list = real  # type: ignore[method-assign]
    assert "Stored" in await storing
    assert "boat" in await bot.command("memory list", *T)


async def test_archiving_a_correction_does_not_bring_back_what_it_replaced() -> None:
    bot = await new_bot()
    await bot.remember("Mina moved to Oslo city", *G)
    bot.api.faults.fail = {"vector_delete"}
    await bot.tool("remember", {"content": "Mina moved to Bergen city, not Oslo", "tags": ["correction"]}, *G)
    bot.api.faults.clear()
    bot.restart()
    bergen = re.findall(r"^\[(\w+)\].*Bergen", await bot.command("memory list", *G), re.MULTILINE)[0]
    assert "Archived" in await bot.command(f"memory archive {bergen}", *G)
    bot.restart()
    assert "Oslo" not in await bot.command("memory list", *G)
    assert "Oslo city" not in await bot.prompt("where did Mina move to?", *G)


async def test_list_injection_and_show_agree_after_a_change_broke_off() -> None:
    for verb in ("archive", "restore"):
        bot = await new_bot()
        boat = await bot.remember("Mina has a red boat", *G)
        if verb == "restore":
            await bot.command(f"memory archive {boat}", *G)
        bot.api.faults.fail = {"vector_delete"}
        await bot.command(f"memory {verb} {boat}", *G)
        bot.api.faults.clear()
        bot.restart()
        lists = [boat in await bot.command(f"memory {name}", *G) for name in ("list", "archived")]
        active = "active" in (await bot.command(f"memory show {boat}", *G)).splitlines()[0]
        assert lists == [active, not active], verb


async def test_a_change_that_was_made_is_not_said_to_be_impossible_and_is_audited() -> None:
    for verb, done in (("edit {} Mina eats everything", "everything"), ("archive {}", "archived")):
        bot = await new_bot()
        nuts = await bot.remember("Mina is allergic to nuts", *G)
        bot.api.faults.fail = {"vector_delete"}
        said = await bot.command("memory " + verb.format(nuts), *G)
        bot.api.faults.clear()
        assert done in await bot.command(f"memory show {nuts}", *G)
        assert "can't be searched or changed" not in said
        operations = [e.operation for e in (await (await bot.memory(*G)).audit_trail()).entries]
        assert operations.count(verb.split()[0]) == 1


async def test_of_two_deletions_at_once_one_deleted_it() -> None:
    for line in ("memory forget {}", "memory delete --tag work"):
        bot = await new_bot()
        boat = await bot.remember("Mina has a red boat", *G, tags=["work"])
        said = await asyncio.gather(*(bot.command(line.format(boat), *G) for _ in range(2)))
        assert sum("Deleted" in one for one in said) == 1
        operations = [e.operation for e in (await (await bot.memory(*G)).audit_trail()).entries]
        assert operations == [line.split()[1], "remember"]


async def test_the_former_text_of_an_edited_memory_is_in_no_record_of_a_prompt() -> None:
    bot = await new_bot()
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    await bot.hear("who is allergic to nuts?", *G)
    assert "not kept" in await bot.command(f"memory edit {nuts} Mina is fine with all food", *G)
    assert "nuts" not in stored(bot, "ltm/snapshot/")
    asked = {"session_name": "group_77001", "bot_uuid": "b-01", "sender_id": "9001"}
    found = await retrieve(bot.service, "who is allergic to nuts?", asked)
    assert not [entry for entry in found.entries if "to nuts" in entry.text]


async def test_what_may_not_be_shown_is_not_said_to_be_gone() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    await bot.remember("Mina moved to Oslo city", *PRIVATE)
    bergen = await bot.remember("Mina moved to Bergen city, not Oslo", *G, tags=["correction"])
    assert "not here any more" not in await bot.command(f"memory show {bergen}", *G)


async def test_restoring_does_not_make_a_second_copy_of_what_was_said_again() -> None:
    bot = await new_bot()
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    await bot.command(f"memory archive {nuts}", *G)
    await bot.remember("Mina is allergic to nuts", *G)
    await bot.command(f"memory restore {nuts}", *G)
    assert (await bot.command("memory list", *G)).count("allergic to nuts") == 1


async def test_a_write_that_lands_after_its_memory_was_forgotten_or_archived_changes_nothing() -> None:
    for line in ("memory forget {}", "memory archive {}"):
        bot = await Bot(Overwriting()).create()
        boat = await bot.remember("Mina has a red boat", *G)
        real, late = bot.api.vector_upsert, list[Callable[[], Any]]()

        async def upsert(*args: Any, **kwargs: Any) -> None:
            late.append(lambda: real(*args, **kwargs))  # noqa: B023
            raise TimeoutError("Action vector_upsert call timed out")

        bot.api.vector_upsert = upsert  # type: ignore[method-assign]
        await bot.command(f"memory edit {boat} Mina has a blue boat", *G)
        bot.api.vector_upsert = real  # type: ignore[method-assign]
        said = await bot.command(line.format(boat), *G)
        assert "Deleted" in said or "Archived" in said
        await late[0]()
        for _ in range(3):
            assert "boat" not in await bot.command("memory list", *G)
            assert "boat" not in await bot.prompt("which boat has Mina?", *G)
            assert "blue" not in await bot.command(f"memory show {boat}", *G)
            bot.clock.move(seconds=250)
        assert "blue" not in stored(bot)


CORRECTION_BROKE_OFF = "Mina moved to Oslo city", "Mina moved to Bergen city, not Oslo"


async def broken_correction() -> tuple[Core, Episode, Episode]:
    """A correction of which only the new memory reached the store."""
    memory, (oslo, bergen) = await core(), CORRECTION_BROKE_OFF
    old = record(oslo, "k7m29xqd")
    new = record(bergen, "a0000001", supersedes=(("k7m29xqd", 1),), tags=("correction",))
    await memory.fill([old, new])
    return memory, old.episode, new.episode


async def test_whatever_happens_to_a_correction_that_broke_off_what_it_replaced_stays_replaced() -> None:
    oslo, bergen = CORRECTION_BROKE_OFF
    for what in ("archive", "edit", "forget", "delete", "correct"):
        memory, _, new = await broken_correction()
        changes = memory.episodes.changes
        match what:
            case "archive":
                await changes.set_status(GROUP, new.id, Status.ARCHIVED)
            case "edit":
                await changes.edit(GROUP, new.id, Revision("Mina lives in Bergen city"))
            case "forget":
                assert len((await memory.episodes.forget(GROUP, new)).chain) == 1
            case "delete":
                await memory.episodes.delete_many(GROUP, [new])
            case _:
                await memory.say("Mina moved to Bergen village, not city", MINA, "correction")
        assert oslo not in await memory.active(), what
        held = dict(await memory.everything())
        assert held.get(oslo) == (None if what == "forget" else "superseded"), what
        if what == "archive":
            fresh = await memory.restarted()
            await fresh.episodes.changes.set_status(GROUP, new.id, Status.ACTIVE)
            assert await fresh.active() == [bergen]


async def test_a_restored_correction_does_not_hide_what_was_imported_anew() -> None:
    memory = await core()
    old = await memory.say("Mina moved to Oslo city")
    new = await memory.say("Mina moved to Bergen city, not Oslo", MINA, "correction")
    await memory.episodes.changes.set_status(GROUP, new.id, Status.ARCHIVED)
    await memory.episodes.forget(GROUP, await memory.episodes.find(GROUP, old.id))
    fresh = await memory.restarted()
    await fresh.importer.add_many(GROUP, [draft(old.content, id=old.id)])
    await fresh.episodes.changes.set_status(GROUP, new.id, Status.ACTIVE)
    assert await fresh.active() == sorted([old.content, new.content])


async def test_every_person_of_a_broken_off_correction_can_be_erased() -> None:
    memory, _, _ = await broken_correction()
    await memory.episodes.erase(GROUP, lambda e: e.is_from("9001"))
    assert memory.row_count == 0


async def test_a_change_of_which_nobody_knows_is_said_and_audited_as_that() -> None:
    lines = ("archive {}", "restore {}", "forget {}", "delete --tag work", "edit {} Mina sold her boat")
    for line in lines:
        verb, bot = line.split()[0], await new_bot()
        boat = await bot.remember("Mina has a red boat", *G, tags=["work"])
        if verb == "restore":
            await bot.command(f"memory archive {boat}", *G)
        await bot.command("memory list", *G)
        writes, real = asyncio.Event(), (bot.api.vector_upsert, bot.api.vector_delete, bot.api.vector_list)

        def after(call: Callable[..., Any], *, reading: bool) -> Callable[..., Any]:
            async def called(*args: Any, **kwargs: Any) -> Any:
                if reading and writes.is_set():  # noqa: B023
                    raise RuntimeError("down")
                if not reading:
                    writes.set()  # noqa: B023
                return await call(*args, **kwargs)

            return called

        bot.api.vector_upsert = after(real[0], reading=False)  # type: ignore[method-assign]
        bot.api.vector_delete = after(real[1], reading=False)  # type: ignore[method-assign]
        bot.api.vector_list = after(real[2], reading=True)  # type: ignore[method-assign]
        said = await bot.command("memory " + line.format(boat), *G)
        bot.api.vector_upsert, bot.api.vector_delete, bot.api.vector_list = real  # type: ignore[method-assign]
        assert "may be" in said or "may have been" in said, said
        newest = ((await (await bot.memory(*G)).audit_trail()).entries)[0]
        assert (newest.operation, newest.summary["outcome"]) == (verb, "unknown")
        assert "not certain that it was done" in (await bot.command("memory audit", *G)).splitlines()[1]
        # What is listed and what is shown agree, before and after a restart.
        for _ in range(2):
            shown = await bot.command(f"memory show {boat}", *G)
            listed = await bot.command("memory list", *G)
            assert (boat in listed) == ("active" in shown.splitlines()[0]), verb
            assert ("red" in listed) == ("red" in shown and boat in listed), verb
            bot.restart()


async def test_what_was_archived_and_is_back_may_be_handed_out_at_once() -> None:
    bot = await new_bot(config={"episode_placement": "retrieval"})
    nuts = await bot.remember("Mina is allergic to nuts", *G)
    asked = {"session_name": "group_77001", "bot_uuid": "b-01", "sender_id": "9001"}
    for verb, found in (("archive", False), ("restore", True)):
        await bot.hear("who is allergic to nuts?", *G)
        await bot.command(f"memory {verb} {nuts}", *G)
        if verb == "restore":
            await bot.hear("who is allergic to nuts?", *G)
        entries = (await retrieve(bot.service, "who is allergic to nuts?", asked)).entries
        assert any("to nuts" in entry.text for entry in entries) == found, verb
        assert ("to nuts" in stored(bot, "ltm/snapshot/")) == found, verb
