"""The first word with a store, the sign of life behind "nothing", and calls that queue where they must."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest

from longterm_memory.health import Level
from longterm_memory.records.contact import Contact
from longterm_memory.records.keys import MARK
from longterm_memory.records.lane import Lane
from tests.support.health import check, outcomes
from tests.support.memory import KB, Bot, new_bot
from tests.support.strict_host import StrictHost


class Dead(StrictHost):
    """What was seen of SeekDB after a race: no error, but nothing is there any more and nothing arrives."""

    dead = False

    async def _search(self, **given: Any) -> list[dict[str, Any]]:
        return [] if self.dead else await super()._search(**given)

    async def _list(self, **given: Any) -> tuple[list[dict[str, Any]], int]:
        return ([], 0) if self.dead else await super()._list(**given)

    async def _upsert(self, **given: Any) -> None:
        if not self.dead:
            await super()._upsert(**given)


async def test_a_connection_that_died_in_silence_is_not_told_as_nothing() -> None:
    api = Dead()
    bot = await Bot(api).create()
    await bot.remember("the rent is due on Friday")
    api.dead = True
    for restarted in (False, True):
        if restarted:
            bot.restart()
        else:
            bot.clock.move(minutes=2)
            bot.restart_indexes()
        for said in (
            await bot.command("memory search rent"),
            await bot.tool("recall_memory", {"query": "rent"}),
        ):
            assert "shows nothing of this memory" in said
        assert "Friday" not in await bot.prompt("when is the rent due?")
    assert (await check(bot)).level is Level.ERROR
    api.dead = False
    assert "due on Friday" in await bot.command("memory search rent")


async def test_a_database_that_was_emptied_takes_new_memories_and_health_says_so() -> None:
    bot = await new_bot()
    await bot.remember("the rent is due on Friday")
    bot.api.rows[KB].clear()
    bot.restart()
    assert "Friday" not in await bot.command("memory search rent")
    await bot.remember("the rent is due on Monday")
    assert "due on Monday" in await bot.command("memory search rent")
    report = await check(bot)
    assert outcomes(report)["store_rows"] == "emptied"
    assert report.level is Level.WARN


async def test_nothing_costs_no_more_calls_while_the_store_was_heard_of_a_moment_ago() -> None:
    bot = await new_bot()
    await bot.remember("the rent is due on Friday")
    await bot.command("memory search rent", "group_77002")
    with bot.api.calls.recording() as soon:
        await bot.command("memory search rent", "group_77003")
    bot.clock.move(minutes=2)
    with bot.api.calls.recording() as later:
        await bot.command("memory search rent", "group_77004")
    assert later.counts["vector_list"] == soon.counts["vector_list"] + 1


async def test_a_new_process_asks_one_at_a_time_until_it_knows_the_store() -> None:
    for counts, most in ((False, 1), (True, 4)):
        bot = await new_bot(rich=True, counts=counts)
        for n in range(4):
            await bot.remember(f"the rent of flat {n} is due on Friday", f"group_{n}")
        bot.restart()
        bot.api.latency = 0.002
        running = highest = 0
        search = bot.api._search

        async def watched(*args: Any, search: Any = search, **named: Any) -> Any:
            nonlocal running, highest
            running += 1
            highest = max(highest, running)
            await asyncio.sleep(0.005)
            found = await search(*args, **named)
            running -= 1
            return found

        bot.api._search = watched  # type: ignore[method-assign]
        found = await asyncio.gather(*(bot.prompt("when is the rent due?", f"group_{n}") for n in range(4)))
        assert all(f"flat {n} is" in text for n, text in enumerate(found))
        assert highest == most


async def test_a_store_that_cannot_be_searched_is_still_listed_and_forgotten_from() -> None:
    bot = await new_bot()
    told = await bot.remember("the rent is due on Friday")
    bot.restart()
    bot.api.faults.fail = {"vector_search"}
    assert "due on Friday" in await bot.command("memory list")
    assert "eleted" in await bot.command(f"memory forget {told}")


async def test_a_store_that_serves_no_reads_before_a_write_is_written_to_first() -> None:
    """Milvus Lite 3 after a restart."""

    class Asleep(StrictHost):
        awake = True

        async def _search(self, **given: Any) -> list[dict[str, Any]]:
            assert self.awake, "collection is released; call load() before search"
            return await super()._search(**given)

        async def _list(self, **given: Any) -> tuple[list[dict[str, Any]], int]:
            assert self.awake, "collection is released; call load() before query"
            return await super()._list(**given)

        async def _upsert(self, **given: Any) -> None:
            await super()._upsert(**given)
            self.awake = True

    api = Asleep()
    bot = await Bot(api).create()
    await bot.remember("the rent is due on Friday")
    bot.restart()
    api.awake = False
    assert "due on Friday" in await bot.prompt("when is the rent due?")


async def test_a_call_that_was_given_up_keeps_its_place_where_calls_queue_for_good() -> None:
    for caught in (True, False):
        lane, ends, order = Lane(), asyncio.Event(), []
        if caught:
            lane.narrow()

        async def slow(ends: asyncio.Event = ends, order: list[str] = order) -> None:
            await ends.wait()
            order.append("slow")

        async def quick(order: list[str] = order) -> None:
            order.append("quick")

        given_up = asyncio.ensure_future(lane.run(slow))
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(given_up, 0.01)
        second = asyncio.ensure_future(lane.run(quick))
        await asyncio.sleep(0.01)
        ends.set()
        await second
        assert order == (["slow", "quick"] if caught else ["quick"])


async def test_a_store_without_a_mark_is_taken_as_it_is() -> None:
    api = StrictHost()
    contact = Contact(api, KB)  # type: ignore[arg-type]
    await contact.meet()
    await contact.sign_of_life()
    assert not contact.lane.alone
    assert api.calls.total == 0


async def test_memories_never_go_into_the_collection_of_another_knowledge_base() -> None:
    """Seen of SeekDB after a race: LangBot's class takes another knowledge base's collection for ours, until a
    restart."""

    class Confused(StrictHost):
        astray = False

        def _place(self, given: dict[str, Any]) -> dict[str, Any]:
            return given | {"collection_id": "documents"} if self.astray else given

        async def _search(self, **given: Any) -> list[dict[str, Any]]:
            return await super()._search(**self._place(given))

        async def _list(self, **given: Any) -> tuple[list[dict[str, Any]], int]:
            return await super()._list(**self._place(given))

        async def _upsert(self, **given: Any) -> None:
            await super()._upsert(**self._place(given))

        async def _delete(self, **given: Any) -> int:
            return await super()._delete(**self._place(given))

    api = Confused(rich=True, counts=False)
    bot = await Bot(api).create()
    told = await bot.remember("the rent is due on Friday")
    other = {"file_id": "x", "uuid": str(UUID(int=1)), "text": "{}"}
    await api.vector_upsert("documents", [[1.0] + [0.0] * 383], [str(UUID(int=1))], [other], ["-"])
    api.astray = True
    for restarted in (False, True):
        bot.restart_indexes()
        for line in ("memory search rent", f"memory forget {told}", "memory list"):
            assert "shows nothing of this memory" in await bot.command(line), line
        assert "shows nothing" in await bot.tool("remember", {"content": "Mina plays chess"})
        assert len(api.rows["documents"]) == 1
        if not restarted:
            # A new process meets a store that it does not know yet.
            api.astray = False
            bot.restart()
            await bot.command("memory list")
            api.astray = True
    api.astray = False
    assert "due on Friday" in await bot.command("memory search rent")


async def test_a_mark_of_a_former_version_is_followed_by_one_with_a_name() -> None:
    api = StrictHost(rich=True, counts=False)
    bot = await Bot(api).create()
    for row in api.rows[KB].values():
        row.metadata["text"] = '{"sentinel": true}'
    bot.restart()
    await bot.remember("the rent is due on Friday")
    assert "due on Friday" in await bot.command("memory search rent")
    marks = [row for row in api.rows[KB].values() if row.metadata["file_id"] == MARK]
    assert sorted("knowledge_base" in row.metadata["text"] for row in marks) == [False, True]
