"""Every verb about memories, on every engine: what was said to be done was done, and nothing else was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.errors import NotFound
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, Status
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.keys import Visibility
from playground.compatibility_facts import Difference
from tests.support.conformance import (
    EVERYTHING,
    MINA,
    TAO,
    Outcomes,
    ask,
    native,
    places,
    record_of,
    restarted,
    say,
)
from tests.support.memory import Bot
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine

MAY, JUNE = datetime(2025, 5, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)


@pytest.mark.check("write")
async def test_what_is_remembered_is_kept_field_by_field(bot: Bot) -> None:
    memory = await bot.memory()
    more = {"tags": ("work", "旅行"), "importance": 4, "timestamp": MAY, "source": "agent"}
    written = [await say(memory, "Mina plays chess"), await say(memory, "Tao lives in Oslo", TAO, **more)]
    for seen in (memory, await restarted(bot)):
        for episode in written:
            assert await seen.show(episode.id) == episode
        assert await native(bot, seen) == 2
    # Said again it is there already.
    again = await (await bot.memory()).remember(EpisodeDraft("Mina plays chess ", sender=MINA))
    assert (again.duplicate, again.episode.id) == (True, written[0].id)
    assert await native(bot, memory) == 2


@pytest.mark.check("recall")
async def test_it_is_recalled_at_once_and_after_a_restart(
    bot: Bot, engine: Engine, outcomes: Outcomes, differs: Callable[[str], Difference | None]
) -> None:
    memory = await bot.memory()
    for n in range(20):
        await say(memory, f"Invoice {n} went to customer {n * 7}")
    await say(memory, "Mina is allergic to peanuts")
    began = monotonic()
    assert await ask(memory, "peanuts allergic") == ["Mina is allergic to peanuts"]
    # What the engine itself needs until it finds that row.
    vector = (await bot.service.host.embed("m", ["Mina is allergic to peanuts"]))[0]
    where = places(memory)
    while not any(
        "peanuts" in str(row.metadata) for row in await engine.host.search(bot.kb, vector, 3, where)
    ):
        assert differs("recall"), "a search sees what was written before"
        assert monotonic() - began < 30
    outcomes.measured["recall"] = f"the engine's search sees a write after {monotonic() - began:.1f} s"
    for fill in Fill:
        memory = await restarted(bot)
        assert (await ask(memory, "peanuts allergic", fill))[0] == "Mina is allergic to peanuts"
        assert "Mina is allergic to peanuts" in await bot.prompt("who is allergic to peanuts?")
        assert await ask(memory, "zebra quantum waterfall", fill) == []


@pytest.mark.check("filters")
async def test_filters_hold_warm_and_cold(bot: Bot) -> None:
    memory = await bot.memory()
    nuts = await say(memory, "allergic to nuts", importance=5, timestamp=MAY, tags=("food",))
    cats = await say(memory, "allergic to cats", TAO, importance=1, timestamp=JUNE, source="import")
    dust = await say(memory, "allergic to dust", timestamp=JUNE, tags=("home",))
    await memory.changes.archive(dust.id)
    expected: list[tuple[dict[str, object], set[Episode]]] = [
        ({"sender_id": "9002"}, {cats}),
        ({"sender_name": "mina"}, {nuts}),
        ({"time_after": JUNE}, {cats}),
        ({"time_before": JUNE}, {nuts}),
        ({"importance_min": 4}, {nuts}),
        ({"source": "import"}, {cats}),
        ({"tag": "Food"}, {nuts}),
        ({"tag": "home"}, set()),
        ({"statuses": frozenset({Status.ARCHIVED})}, {dust}),
        ({"statuses": KEPT_STATUSES, "sender_id": "9001"}, {nuts, dust}),
        ({}, {nuts, cats}),
    ]
    await bot.api.settle()
    for fill in Fill:
        for filters, wanted in expected:
            bot.restart()
            for seen in (await bot.memory(), memory):
                contents = {episode.content for episode in wanted}
                assert set(await ask(seen, "allergic", fill, **filters)) == contents, (fill, filters)
                listed = await seen.select(Filters(**filters))  # type: ignore[arg-type]
                assert {episode.content for episode in listed} == contents, (fill, filters)
    answer = await bot.tool("recall_memory", {"query": "allergic", "speaker_name": "Tao"})
    assert ("cats" in answer, "nuts" in answer) == (True, False)


@pytest.mark.check("list")
async def test_lists_come_newest_first_with_real_totals(bot: Bot) -> None:
    memory = await bot.memory()
    episodes = [
        await say(memory, f"note {n}", timestamp=MAY + timedelta(days=n % 7, hours=n)) for n in range(23)
    ]
    await memory.changes.archive(episodes[3].id)
    newest = sorted((e for e in episodes if e is not episodes[3]), key=lambda e: e.timestamp, reverse=True)
    for seen in (memory, await restarted(bot)):
        pages = [await seen.page(Filters(), number) for number in (1, 2, 3)]
        assert [(p.total, len(p.items)) for p in pages] == [(22, 10), (22, 10), (22, 2)]
        assert [e.id for p in pages for e in p.items] == [e.id for e in newest]
        archived = await seen.page(Filters(statuses=frozenset({Status.ARCHIVED})))
        assert [e.id for e in archived.items] == [episodes[3].id]
        stats = await seen.stats()
        assert sum(stats.statuses.values()) == 23
    assert "22" in (await bot.command("memory list 3")).splitlines()[0]


@pytest.mark.check("status")
async def test_archive_and_restore_change_nothing_else(bot: Bot) -> None:
    memory = await bot.memory()
    episode = await say(
        memory, "The offsite is in Porto", importance=5, tags=("trip",), timestamp=MAY, source="import"
    )
    await say(memory, "Tao plays the cello", TAO)
    before = await record_of(bot, memory, episode.id)
    with bot.api.calls.recording() as calls:
        archived = await memory.changes.archive(episode.id)
        assert archived == episode.model_copy(update={"status": Status.ARCHIVED})
        hidden = await record_of(bot, memory, episode.id)
        counts = [await native(bot, memory, visibility) for visibility in Visibility]
        assert counts == [1, 1]
        assert [e.id for e in await memory.select(Filters(statuses=frozenset({Status.ARCHIVED})))] == [
            episode.id
        ]
        restored = await memory.changes.restore(episode.id)
    assert calls.counts["invoke_embedding"] == 0
    assert restored == episode
    memory = await restarted(bot)
    after = await record_of(bot, memory, episode.id)
    for record in (hidden, after):
        assert record.episode.model_copy(update={"status": Status.ACTIVE}) == before.episode
        assert record.vector.codes.tobytes() == before.vector.codes.tobytes()
        assert record.model == before.model
    assert await ask(memory, "where is the offsite") == [episode.content]
    assert await native(bot, memory) == 2


@pytest.mark.check("correction")
async def test_a_correction_replaces_and_forgetting_it_takes_the_chain(bot: Bot) -> None:
    memory = await bot.memory()
    old = await say(memory, "Mina loves cilantro")
    other = await say(memory, "Mina's sister is Lan")
    new = await say(memory, "Mina cannot stand cilantro", tags=("correction",))
    for seen in (memory, await restarted(bot)):
        assert await ask(seen, "cilantro") == [new.content]
        superseded = await seen.show(old.id)
        assert (superseded.status, superseded.superseded_by) == (Status.SUPERSEDED, new.id)
        assert superseded.content == old.content
        assert await native(bot, seen) == 3
    forgotten = await memory.changes.forget(new.id)
    assert forgotten.chain == (old.id,)
    assert await native(bot, memory) == 1
    for seen in (memory, await restarted(bot)):
        assert await ask(seen, "cilantro") == []
        assert [e.id for e in await seen.select(EVERYTHING)] == [other.id]


@pytest.mark.check("edit")
async def test_an_edit_changes_the_text_alone(bot: Bot) -> None:
    memory = await bot.memory()
    episode = await say(memory, "The rent is due on the 15th", importance=5, tags=("flat",), timestamp=MAY)
    edited = await memory.changes.edit(episode.id, "Rent goes out on the last Friday")
    assert edited == episode.model_copy(update={"content": "Rent goes out on the last Friday"})
    for seen in (memory, await restarted(bot)):
        assert await seen.show(episode.id) == edited
        assert await ask(seen, "last Friday") == [edited.content]
        assert await ask(seen, "15th") == []
        assert [e.content for e in await seen.select(EVERYTHING)] == [edited.content]
        assert await native(bot, seen) == 1


@pytest.mark.check("forget")
async def test_what_is_forgotten_is_absent_from_every_read(bot: Bot) -> None:
    memory = await bot.memory()
    kept = await say(memory, "Mina's bike is red")
    episode = await say(memory, "Mina's locker is number 12")
    await memory.changes.archive(episode.id)
    await memory.changes.restore(episode.id)
    await memory.changes.edit(episode.id, "Mina's locker is number 14")
    assert await native(bot, memory) == 2
    await bot.api.settle()
    await bot.prompt("which locker is Mina's?")
    assert episode.id in await bot.command(f"memory forget {episode.id}")
    assert await native(bot, memory) == 1
    for seen in (memory, await restarted(bot)):
        with pytest.raises(NotFound):
            await seen.show(episode.id)
        assert await ask(seen, "locker number") == []
        assert [e.id for e in await seen.select(EVERYTHING)] == [kept.id]
        exported = await seen.transfer.export("all")
        assert [e.id for e in exported.episodes or ()] == [kept.id]
        for reply in (
            await bot.command("memory list --all-statuses"),
            await bot.command("memory export l2"),
            await bot.tool("recall_memory", {"query": "locker"}),
            await bot.prompt("which locker is Mina's?"),
        ):
            assert "locker is" not in reply
    # Remembered anew it is another memory.
    again = await say(memory, "Mina's locker is number 14")
    assert again.id != episode.id
    assert await ask(await restarted(bot), "locker") == [again.content]


@pytest.mark.check("bulk_delete")
async def test_a_bulk_delete_counts_what_it_deleted(bot: Bot) -> None:
    memory = await bot.memory()
    for n in range(5):
        await say(memory, f"item {n}", tags=("work",) if n < 3 else ("home",))
    elsewhere = await bot.memory("group_77002")
    await say(elsewhere, "item 0", tags=("work",))
    reply = await bot.command("memory delete --tag work")
    assert "3" in reply, reply
    for seen in (memory, await restarted(bot)):
        assert {e.content for e in await seen.select(EVERYTHING)} == {"item 3", "item 4"}
        assert await native(bot, seen) == 2
    assert await native(bot, elsewhere) == 1
    again = await bot.command("memory delete --tag work")
    assert "3" not in again, again


@pytest.mark.check("erase")
async def test_an_erased_scope_is_gone_by_the_engine_s_own_count(bot: Bot) -> None:
    groups = ("group_77001", "group_77002")
    for place in groups:
        memory = await bot.memory(place)
        for n in range(6):
            episode = await say(memory, f"plan {n} of the trip")
            if n > 3:
                await memory.changes.archive(episode.id)
    here, there = [await bot.memory(place) for place in groups]
    untouched = await there.select(EVERYTHING)
    assert [await native(bot, memory) for memory in (here, there)] == [6, 6]
    erased = await (await bot.memory(groups[0], via="console")).privacy.erase_space()
    assert erased.episodes == 6
    here, there = await restarted(bot, groups[0]), await bot.memory(groups[1])
    assert [await native(bot, memory) for memory in (here, there)] == [0, 6]
    assert await here.select(EVERYTHING) == []
    assert await ask(here, "trip plan") == []
    assert await there.select(EVERYTHING) == untouched
