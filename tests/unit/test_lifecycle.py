"""Archive, restore, edit: every other field stays, the id stays, one row stays, and nothing is lost on the way."""

from __future__ import annotations

import contextlib

import pytest

from longterm_memory.errors import BadArgument, Forbidden, NotFound, StoreFailed
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, RecallQuery, Status
from longterm_memory.scoped import ScopedMemory
from tests.support.memory import KB, Bot, new_bot

EVERYTHING = Filters(statuses=KEPT_STATUSES)


def same_but(episode: Episode, **changed: object) -> Episode:
    return episode.model_copy(update=changed)


async def one(bot: Bot) -> tuple[ScopedMemory, Episode]:
    episode_id = await bot.remember(
        "Mina's dentist is on Friday", tags=["health, teeth"], importance=4, event_time="2026-05-01"
    )
    memory = await bot.memory()
    return memory, await memory.show(episode_id)


async def found(memory: ScopedMemory, text: str) -> list[str]:
    return [e.id for e in (await memory.recall(RecallQuery(text=text))).episodes()]


@pytest.fixture(params=[False, True], ids=["warm", "restarted"])
async def again(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def test_archive_and_restore_change_the_status_and_nothing_else(again: bool) -> None:
    bot = await new_bot()
    memory, before = await one(bot)
    with bot.api.calls.recording() as calls:
        archived = await memory.changes.archive(before.id)
    assert calls.counts["invoke_embedding"] == 0
    assert archived == same_but(before, status=Status.ARCHIVED)
    if again:
        bot.restart()
        memory = await bot.memory()
    assert await memory.show(before.id) == archived
    assert await found(memory, "dentist on Friday") == []
    assert "Friday" not in await bot.prompt("when is the dentist?")
    assert (await memory.page(Filters(statuses=frozenset({Status.ARCHIVED})))).items == (archived,)
    assert await memory.changes.restore(before.id) == before
    assert await found(memory, "dentist on Friday") == [before.id]


async def test_an_edit_keeps_all_but_the_text_and_is_found_by_the_new_one(again: bool) -> None:
    bot = await new_bot()
    memory, before = await one(bot)
    changed = await memory.changes.edit(before.id, "  Mina's flight leaves on Sunday ")
    assert changed == same_but(before, content="Mina's flight leaves on Sunday")
    if again:
        bot.restart()
        memory = await bot.memory()
    assert await memory.show(before.id) == changed
    assert await found(memory, "flight on Sunday") == [before.id]
    assert await found(memory, "dentist") == []
    assert len(bot.api.rows[KB]) == 2  # with the row that every collection begins with


async def test_archive_restore_edit_forget_shrinks_the_collection_by_one() -> None:
    bot = await new_bot()
    memory, episode = await one(bot)
    await bot.remember("The offsite is in Oslo")
    rows = len(bot.api.rows[KB])
    await memory.changes.archive(episode.id)
    await memory.changes.restore(episode.id)
    await memory.changes.edit(episode.id, "Mina's dentist is on Monday")
    assert len(bot.api.rows[KB]) == rows
    assert (await memory.changes.forget(episode.id)).ids == (episode.id,)
    assert len(bot.api.rows[KB]) == rows - 1


async def test_a_superseded_memory_comes_back_with_its_importance() -> None:
    bot = await new_bot()
    old_id = await bot.remember("Mina loves cilantro", importance=5)
    new_id = await bot.remember("Mina cannot stand cilantro", tags=["correction"])
    memory = await bot.memory()
    old = await memory.show(old_id)
    assert (old.status, old.superseded_by, old.importance) == (Status.SUPERSEDED, new_id, 5)
    assert (await memory.related(old)).newer == await memory.show(new_id)
    assert (await memory.related(await memory.show(new_id))).older == (old,)
    with pytest.raises(BadArgument, match="archive_superseded"):
        await memory.changes.archive(old_id)
    restored = await memory.changes.restore(old_id)
    assert restored == same_but(old, status=Status.ACTIVE, superseded_by="")
    bot.restart()
    memory = await bot.memory()
    assert {e.id for e in await memory.select(Filters())} == {old_id, new_id}
    # Its chain is cut: forgetting the correction leaves what was restored.
    assert (await memory.changes.forget(new_id)).chain == ()
    assert [e.id for e in await memory.select(EVERYTHING)] == [old_id]


async def test_what_cannot_be_done_changes_nothing() -> None:
    bot = await new_bot()
    memory, episode = await one(bot)
    other = await bot.remember("The offsite is in Oslo")
    with pytest.raises(BadArgument, match="status_already"):
        await memory.changes.restore(episode.id)
    for text, reason in (
        (episode.content, "edit_same"),
        ("the offsite is in  oslo", "edit_duplicate"),
        ("x" * 8_001, "content_too_long"),
        (" ", "content_empty"),
        ("my password is hunter2x!", "content_secret"),
    ):
        with pytest.raises(BadArgument, match=reason):
            await memory.changes.edit(episode.id, text)
    for operation in (memory.changes.archive, memory.changes.restore):
        with pytest.raises(NotFound):
            await operation("k7m29xqd")
    elsewhere = await bot.memory("group_77002")
    with pytest.raises(NotFound):
        await elsewhere.changes.edit(episode.id, "stolen")
    tao = await bot.memory("group_77001", "9002")
    for attempt in (
        tao.changes.archive(episode.id),
        tao.changes.edit(episode.id, "hers"),
        tao.changes.restore(episode.id),
    ):
        with pytest.raises(Forbidden, match="forbidden_change_other"):
            await attempt
    assert await memory.show(episode.id) == episode
    assert {e.id for e in await memory.select(Filters())} == {episode.id, other}


async def test_a_store_that_fails_half_way_loses_nothing() -> None:
    bot = await new_bot()
    memory, episode = await one(bot)
    for fault in ("vector_upsert", "vector_delete"):
        bot.api.faults.fail.add(fault)
        # Without the delete the change was made all the same.
        with contextlib.nullcontext() if fault == "vector_delete" else pytest.raises(StoreFailed):
            await memory.changes.edit(episode.id, f"Mina's dentist is on Monday {fault}")
        bot.api.faults.fail.clear()
        content = (await memory.show(episode.id)).content
        assert content.endswith("Monday vector_delete" if fault == "vector_delete" else "Friday")
        bot.restart()
        memory = await bot.memory()
        assert [e.content for e in await memory.select(Filters())] == [content]
    assert (await memory.changes.forget(episode.id)).ids == (episode.id,)
    assert len(bot.api.rows[KB]) == 1
