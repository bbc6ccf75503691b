"""Many at once, many with the same words, and rows that came twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from longterm_memory.errors import NotFound
from longterm_memory.models import Filters, RecallQuery, Status
from longterm_memory.records.envelope import encode
from longterm_memory.scoped import ScopedMemory
from playground.compatibility_facts import Difference
from tests.support.conformance import EVERYTHING, MINA, TAO, ask, native, new_bot, record_of, restarted, say
from tests.support.memory import Bot
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine

GROUPS = [f"group_7700{n}" for n in range(5)]


@pytest.mark.check("parallel")
async def test_fifty_writers_and_fifty_readers_at_once(
    engine: Engine, differs: Callable[[str], Difference | None]
) -> None:
    # The one class that must not be called in parallel has its calls queued here.
    assert engine.api.serial == bool(differs("parallel"))
    # Nothing was written when they begin, so the first writers make the collection as well.
    engine.api.faults.fail = {"invoke_embedding"}
    bot = await new_bot(engine)
    engine.api.faults.clear()
    bot.restart()
    memories = [await bot.memory(group) for group in GROUPS]

    async def write(n: int) -> None:
        await say(memories[n % 5], f"item {n} of {GROUPS[n % 5]}")

    async def read(n: int) -> None:
        memory, group = memories[n % 5], GROUPS[n % 5]
        if n % 2:
            found = [e.content for e in await memory.select(EVERYTHING)]
        else:
            found = await ask(memory, f"item {n} of {group}")
        assert all(content.endswith(group) for content in found)

    await asyncio.gather(*(job(n) for n in range(50) for job in (write, read)))
    await bot.api.settle()
    bot.restart()
    for number, group in enumerate(GROUPS):
        memory = await bot.memory(group)
        expected = {f"item {n} of {group}" for n in range(number, 50, 5)}
        assert {e.content for e in await memory.select(EVERYTHING)} == expected
        assert set(await ask(memory, "item of")) <= expected
        assert await native(bot, memory) == 10
    assert (await bot.service.collection()).records.health.foreign_rows == 0


@pytest.mark.check("isolation")
@pytest.mark.parametrize("isolation", ["session", "bot"])
async def test_five_hundred_recalls_in_spaces_with_identical_texts(engine: Engine, isolation: str) -> None:
    bot = await new_bot(engine, isolation=isolation)
    # Two groups of one bot, or one group of two bots.
    spaces = (
        [("group_77001", "b-01"), ("group_77002", "b-01")]
        if isolation == "session"
        else [("group_77001", "b-01"), ("group_77001", "b-02")]
    )

    async def opened() -> list[ScopedMemory]:
        return [await bot.memory(group, bot=uuid, via="tool") for group, uuid in spaces]

    ids: list[set[str]] = []
    for memory in await opened():
        said = [
            await say(memory, f"flight {n} leaves at gate {n % 7}", (MINA, TAO)[n % 2]) for n in range(40)
        ]
        ids.append({e.id for e in said})
    assert not ids[0] & ids[1]
    await bot.api.settle()

    async def recall(memories: list[ScopedMemory], n: int) -> None:
        own = n % 2
        memory, mine, theirs = memories[own], sorted(ids[own]), sorted(ids[1 - own])
        if n % 5 == 4:
            assert (await memory.show(mine[n % 40])).id == mine[n % 40]
            with pytest.raises(NotFound):
                await memory.show(theirs[n % 40])
            return
        sender = ("9001", "9002")[n // 2 % 2] if n % 5 == 3 else ""
        query = RecallQuery(
            text=f"flight {n % 40} gate", k=10, filters=Filters(sender_id=sender), floor=False
        )
        result = await memory.recall(query)
        assert result.hits
        assert {hit.episode.id for hit in result.hits} <= ids[own]
        assert {hit.episode.user_key for hit in result.hits} == {memory.scope.user_key}
        assert not sender or {hit.episode.sender_id for hit in result.hits} == {sender}

    for start in range(0, 500, 50):
        bot.restart()
        memories = await opened()
        await asyncio.gather(*(recall(memories, n) for n in range(start, start + 50)))
        assert (await bot.service.collection()).records.health.foreign_rows == 0


async def everything(bot: Bot, memory: ScopedMemory, query: str) -> dict[str, list[str]]:
    """The contents that each way of reading shows."""
    listed = await memory.select(EVERYTHING)
    exported = await memory.transfer.export("episodes")
    return {
        "list": [e.content for e in listed],
        "show": [(await memory.show(e.id)).content for e in listed],
        "recall": await ask(memory, query),
        "export": [e.content for e in exported.episodes or ()],
        "page": [e.content for e in (await memory.page(EVERYTHING)).items],
    }


@pytest.mark.check("stale")
async def test_a_row_that_was_written_twice_shows_once(bot: Bot, engine: Engine) -> None:
    memory = await bot.memory()
    engine.api.faults.lose_answer = {"vector_upsert"}
    engine.api.faults.let_pass = {"vector_upsert": 0}
    episode = await say(memory, "the rent is due on the 15th")
    engine.api.faults.clear()
    # Whoever asks again after a lost answer sends the same row once more.
    record = await record_of(bot, memory, episode.id)
    await engine.host.upsert(bot.kb, [encode(record)])
    await engine.host.upsert(bot.kb, [encode(record)])
    for seen in (memory, await restarted(bot)):
        for way, contents in (await everything(bot, seen, "rent due")).items():
            assert contents == [episode.content], way
    edited = await memory.changes.edit(episode.id, "the rent is due on the 16th")
    for seen in (memory, await restarted(bot)):
        for way, contents in (await everything(bot, seen, "rent due")).items():
            assert contents == [edited.content], way
    assert await native(bot, memory) == 1
    await memory.changes.forget(episode.id)
    for seen in (memory, await restarted(bot)):
        assert not any((await everything(bot, seen, "rent due")).values())
    assert await native(bot, memory) == 0


@pytest.mark.check("stale")
async def test_a_row_id_that_comes_round_again_shows_the_new_version(bot: Bot) -> None:
    memory = await bot.memory()
    episode = await say(memory, "the rent is due on the 15th")
    first = await record_of(bot, memory, episode.id)
    await memory.changes.edit(episode.id, "the rent is due on the 16th")
    second = await record_of(bot, memory, episode.id)
    newest = second.changed(content="the rent is due on the 17th").at_version(first.version + 64)
    assert newest.row_id == first.row_id
    await (await bot.service.collection()).write([newest], [second])
    seen = await restarted(bot)
    for way, contents in (await everything(bot, seen, "rent due")).items():
        assert contents == ["the rent is due on the 17th"], way
    assert await native(bot, seen) == 1


@pytest.mark.check("stale")
async def test_what_a_crash_left_is_read_right_and_repaired(bot: Bot, engine: Engine) -> None:
    memory = await bot.memory()
    episode = await say(memory, "the rent is due on the 15th")
    record = await record_of(bot, memory, episode.id)
    edited = record.changed(content="the rent is due on the 16th")
    # It died before the old row went.
    await engine.host.upsert(bot.kb, [encode(edited)])
    seen = await restarted(bot)
    for way, contents in (await everything(bot, seen, "rent due")).items():
        assert contents == ["the rent is due on the 16th"], way
    assert await native(bot, seen) == 1
    await engine.host.upsert(bot.kb, [encode(edited.changed(status=Status.ARCHIVED))])
    seen = await restarted(bot)
    assert await ask(seen, "rent due") == []
    assert [e.status for e in await seen.select(EVERYTHING)] == [Status.ARCHIVED]
    await seen.changes.forget(episode.id)
    assert await native(bot, seen) == 0
