"""The whole memory out and back, into another knowledge base with another model; the kept copy forgets too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from longterm_memory.errors import NotFound, StorageFailed
from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.scope import Isolation, Scope
from longterm_memory.transfer.backup import Backups, backup
from longterm_memory.transfer.exporting import document, to_json
from longterm_memory.transfer.importing import import_file
from playground.embedders import HashedWords
from tests.support.memory import KB, Bot, new_bot

KEYS = [f"b-01:group_{n}" for n in range(12)]
WORDS = HashedWords()


def turned(texts: list[str]) -> list[list[float]]:
    """Another model: the same length, other directions."""
    return [vector[::-1] for vector in WORDS.embed(texts)]


async def filled(bot: Bot, each: int = 6) -> str:
    """Twelve conversations and a shared space; returns the whole as one export."""
    rows = [
        {
            "user_key": key,
            "content": f"memory {n} of {key}",
            "sender_id": str(9001 + n % 2),
            "status": ("active", "archived")[n % 5 == 4],
        }
        for key in (*KEYS, "bot:b-01")
        for n in range(each)
    ]
    profiles = [
        {"type": "session", "scope_key": key, "profile": {"notes": f"notes of {key}"}} for key in KEYS
    ]
    profiles += [
        {"type": "speaker", "scope_key": key, "sender_id": "9001", "profile": {"name": "Mina"}}
        for key in KEYS
    ]
    data = json.dumps({"episodes": rows, "profiles": profiles}).encode()
    report = await import_file(bot.service, data, into=None, isolation=Isolation.SESSION)
    assert report.ok
    return await whole(bot)


async def whole(bot: Bot) -> str:
    """Everything that a freshly started plugin finds, as one export."""
    bot.restart()
    store = bot.service.episodes(await bot.service.collection())
    found = [
        e
        for key in await bot.service.spaces.user_keys()
        for e in await store.select(key, Filters(statuses=KEPT_STATUSES))
    ]
    profiles, _ = await bot.service.profiles.list_profiles()
    return to_json(document(found, profiles))


def kept_values(bot: Bot) -> dict[str, bytes]:
    return {key: value for key, value in bot.api.values.items() if key.startswith("ltm/backup/")}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("longterm_memory.transfer.backup.PART_CHARS", 4_000)
    yield


async def another_base(bot: Bot, **embedding: Any) -> None:
    """Delete the knowledge base and everything in it, and create another with another model."""
    base = await bot.service.knowledge_bases.require()
    await bot.service.knowledge_base_deleted(base.id)
    del bot.api.rows[base.id]
    for key in [k for k in bot.api.values if k.startswith("ltm/profile/")]:
        del bot.api.values[key]
    bot.api.embed = embedding.get("embed", turned)
    bot.restart()
    await bot.service.knowledge_base_created(f"{base.id}-next", {"embedding_model_uuid": "other"})


async def test_a_backup_of_everything_comes_back_into_a_base_with_another_model() -> None:
    bot = await new_bot()
    before = await filled(bot)
    bot.api.faults.fail.add("invoke_embedding")  # the model is gone already
    parts = [part async for part in backup(bot.service)]
    assert len(parts) > 3
    assert all(len(part) <= 4_000 for part in parts)
    kept = (await bot.service.backups.keep()).kept
    assert kept is not None
    assert (kept.episodes, kept.profiles, kept.unread, kept.kb_id) == (13 * 6, 24, 0, KB)
    assert kept.parts > 3
    bot.api.faults.clear()
    await another_base(bot)
    for part in parts:
        report = await import_file(bot.service, part.encode(), into=None, isolation=Isolation.SESSION)
        assert report.ok
    assert await whole(bot) == before
    restored = await bot.service.backups.restore()
    assert restored.done
    assert (restored.report.accepted, restored.report.error) == (0, None)
    await another_base(bot, embed=WORDS.embed)
    restored = await bot.service.backups.restore()
    assert (restored.report.accepted, restored.report.profiles) == (13 * 6, 24)
    assert await whole(bot) == before
    assert "memory 3 of b-01:group_5" in await bot.prompt(
        "memory 3 of group 5", "group_5", kb=[f"{KB}-next-next"]
    )


async def test_making_and_restoring_go_on_where_they_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.importer.EMBED_ROWS", 7)
    bot = await new_bot()
    before = await filled(bot)

    def tick(_done: int, _all: int) -> None:
        bot.clock.move(seconds=2)

    calls = 0
    while True:
        calls += 1
        keeping = await bot.service.backups.keep(seconds=5, progress=tick)
        bot.restart()
        if keeping.kept:
            break
        assert keeping.remaining > 0
        assert await bot.service.backups.kept() is None
    assert calls > 3
    assert (keeping.kept.episodes, keeping.kept.profiles) == (13 * 6, 24)
    await another_base(bot)
    calls, accepted = 0, 0
    while True:
        calls += 1
        restoring = await bot.service.backups.restore(seconds=5, progress=tick)
        accepted += restoring.report.accepted
        bot.restart()
        if restoring.done:
            break
    assert calls > 3
    assert accepted == 13 * 6
    assert await whole(bot) == before
    assert "ltm/backup/restoring" not in bot.api.values


async def test_the_old_backup_stays_until_the_new_one_is_whole() -> None:
    bot = await new_bot()
    await filled(bot)
    backups = bot.service.backups
    first = (await backups.keep()).kept
    await bot.remember("said later")
    bot.api.faults.fail.add("set_plugin_storage")
    bot.api.faults.let_pass["set_plugin_storage"] = 2
    with pytest.raises(StorageFailed):
        await backups.keep()
    bot.api.faults.clear()
    assert await Backups(bot.service).kept() == first
    second = (await backups.keep()).kept
    assert second is not None and first is not None
    assert second.episodes == first.episodes + 1
    assert len(kept_values(bot)) == second.parts + 1  # nothing of the first is left
    third = (await backups.keep()).kept
    assert third == second
    assert await backups.drop()
    assert kept_values(bot) == {}
    assert not await backups.drop()
    with pytest.raises(NotFound):
        await backups.restore()


async def test_what_is_forgotten_is_forgotten_in_the_kept_backup_too() -> None:
    bot = await new_bot()
    await filled(bot)
    secret = await bot.remember("the surprise party is on Friday", "group_3")
    backups = bot.service.backups
    await backups.keep()
    await bot.tool("forget", {"episode_id": secret}, "group_3")
    kept = await backups.kept()
    assert kept is not None
    assert kept.episodes == 13 * 6
    assert await _said(bot, "surprise party") == 0
    assert await _said(bot, "of b-01:group_3") == 7
    scope = Scope.of_user_key("b-01:group_3")
    assert await backups.forget_speaker(scope, "9001") == 4  # every second memory, and the profile
    assert await backups.forget_space(scope) == 4
    assert await _said(bot, "group_3") == 0
    assert (
        await backups.forget_person("9002") == 12 * 3
    )  # all memories of the others, in 11 groups and the shared
    assert await _said(bot, "9002") == 0
    with bot.api.calls.recording() as seen:
        await backups.forget_episodes("b-01:group_99", ["k7m29xqd"])
    assert seen.total == 0
    await another_base(bot)
    restored = await bot.service.backups.restore()
    assert restored.done
    assert restored.report.error is None
    assert '"9002"' not in await whole(bot)


async def _said(bot: Bot, what: str) -> int:
    """How often something stands in the kept backup."""
    storage = bot.service.backups._storage
    manifest = await storage.manifest("ltm/backup/kept")
    assert manifest is not None
    rows = [
        row
        for number in range(len(manifest.parts))
        for rows in list(json.loads(await storage.text(manifest, number)).values())[2:]
        for row in rows
    ]
    return sum(what in json.dumps(row) for row in rows)


async def test_a_damaged_backup_is_told_and_holds_up_no_forgetting() -> None:
    bot = await new_bot()
    await filled(bot)
    secret = await bot.remember("the surprise party is on Friday", "group_3")
    await bot.service.backups.keep()
    part = next(key for key in kept_values(bot) if key not in ("ltm/backup/kept",))
    bot.api.values[part] = b"damaged"
    restored = await bot.service.backups.restore()
    assert restored.report.error is not None
    assert restored.report.error.reason == "backup_unreadable"
    assert not restored.done
    for key in [k for k in kept_values(bot) if k != "ltm/backup/kept"]:
        bot.api.values[key] = b"damaged"
    assert "Deleted" in await bot.tool("forget", {"episode_id": secret}, "group_3")
    bot.api.values["ltm/backup/kept"] = b"{"
    bot.restart()
    with pytest.raises(StorageFailed, match="backup_unreadable"):
        await bot.service.backups.kept()
    other = await bot.remember("said later")
    assert "Deleted" in await bot.tool("forget", {"episode_id": other})
    assert kept_values(bot) == {}


async def test_an_unreadable_profile_is_counted_and_a_plain_backup_refuses() -> None:
    bot = await new_bot()
    await filled(bot)
    bot.api.values[f"ltm/profile/session/{KEYS[0]}"] = b"{"
    bot.restart()
    kept = (await bot.service.backups.keep()).kept
    assert kept is not None
    assert (kept.profiles, kept.unread) == (23, 1)
    with pytest.raises(StorageFailed, match="profile_unreadable"):
        _ = [part async for part in backup(bot.service)]


async def test_a_backup_that_was_begun_long_ago_or_of_another_base_is_begun_anew() -> None:
    bot = await new_bot()
    await filled(bot)

    def tick(_done: int, _all: int) -> None:
        bot.clock.move(seconds=9)

    async def begun() -> Any:
        assert (await bot.service.backups.keep(seconds=5, progress=tick)).kept is None
        return await bot.service.backups._storage.manifest("ltm/backup/making")

    first = await begun()
    assert (await begun()).generation == first.generation
    bot.clock.move(days=2)
    assert (await begun()).generation != first.generation
    one = Scope.of_user_key(KEYS[0])
    kept = (await bot.service.backups.keep([one, one])).kept
    assert kept is not None


async def test_a_damaged_manifest_does_not_hold_up_the_next_backup() -> None:
    bot = await new_bot()
    await filled(bot)
    await bot.service.backups.keep()
    for name in ("kept", "making"):
        bot.api.values[f"ltm/backup/{name}"] = b'{"schema_version": 1}'
    kept = (await bot.service.backups.keep()).kept
    assert kept is not None
    assert len(kept_values(bot)) == kept.parts + 1
    assert (await bot.service.backups.restore()).done
