"""The log of changes: bounded, equally cheap at any age, complete, and without content."""

from __future__ import annotations

import asyncio

import pytest

from longterm_memory.audit import BLOCK_ENTRIES, BLOCKS, AuditLog
from longterm_memory.errors import StorageFailed
from longterm_memory.models import AuditEntry
from tests.support.memory import Bot, new_bot
from tests.support.memory_storage import MemoryStorage

KEPT = BLOCKS * BLOCK_ENTRIES
HERE = "b-01:group_77001"


def entry(number: int = 0, *, scope_key: str = HERE, sender: str = "9001") -> AuditEntry:
    return AuditEntry(
        operation="remember",
        via="tool",
        scope_key=scope_key,
        user_key=scope_key,
        sender_id=sender,
        sender_name="Mina",
        target_type="episode",
        target_id="k7m29xqd",
        query_id="5f0c1d0e-8a4e-4a6e-9a39-2f8f6a4c1d11",
        summary={"content_len": 40 + number % 7, "tags": 2, "importance": 3, "superseded": 0},
    )


async def written(log: AuditLog, storage: MemoryStorage) -> tuple[int, int]:
    """Calls and bytes that one append costs."""
    sizes: list[int] = []
    plain = storage.set

    async def counted(key: str, value: bytes) -> None:
        sizes.append(len(key) + len(value))
        await plain(key, value)

    storage.set, before = counted, len(storage.calls)  # type: ignore[method-assign]
    await log.append(entry())
    storage.set = plain  # type: ignore[method-assign]
    return len(storage.calls) - before, sum(sizes)


async def test_an_append_costs_the_same_at_any_age() -> None:
    storage = MemoryStorage()
    log = AuditLog(storage)
    costs = {}
    for number in range(1, 10_002):
        if number in (10, 1_000, 10_000, 10_001):
            costs[number] = await written(log, storage)
        else:
            await log.append(entry(number))
    calls = {c for c, _ in costs.values()}
    sizes = [s for _, s in costs.values()]
    assert calls == {1}
    assert max(sizes) <= 1.1 * min(sizes)
    entries = await log.entries(HERE)
    assert [e.number for e in entries[:3]] == [10_001, 10_000, 9_999]
    assert KEPT - BLOCK_ENTRIES < len(entries) <= KEPT
    assert len(storage.values) == BLOCKS


async def test_a_restart_goes_on_where_it_was() -> None:
    storage = MemoryStorage()
    for length in (1, 7, 8, 9, 300, KEPT, KEPT + 1, KEPT + 77):
        storage.values.clear()
        log = AuditLog(storage)
        for _ in range(length):
            await log.append(entry())
        storage.calls.clear()
        log = AuditLog(storage)
        await log.append(entry())
        assert len(storage.calls) <= 9
        numbers = [e.number for e in await AuditLog(storage).entries(HERE)]
        assert numbers == sorted(numbers, reverse=True)
        assert numbers[0] == length + 1


async def test_conversations_have_logs_of_their_own_however_long_their_keys() -> None:
    storage = MemoryStorage()
    log = AuditLog(storage)
    keys = [HERE, f"{HERE}1", "b-01:group_" + "7" * 300, "b-01:group_" + "7" * 299 + "8"]
    await asyncio.gather(*(log.append(entry(scope_key=key)) for key in keys for _ in range(10)))
    for key in keys:
        found = await AuditLog(storage).entries(key)
        assert [e.number for e in found] == list(range(10, 0, -1))
        assert {e.scope_key for e in found} == {key}


async def test_what_storage_did_not_take_is_written_with_the_next_entry() -> None:
    storage = MemoryStorage()
    log = AuditLog(storage)
    await log.append(entry())
    storage.full = True
    for _ in range(BLOCK_ENTRIES + 2):
        await log.append(entry())
    assert log.unsaved
    storage.full = False
    await log.append(entry())
    assert not log.unsaved
    assert len(await AuditLog(storage).entries(HERE)) == BLOCK_ENTRIES + 4


async def test_a_damaged_block_costs_its_own_entries_only() -> None:
    storage = MemoryStorage()
    log = AuditLog(storage)
    for _ in range(4 * BLOCK_ENTRIES):
        await log.append(entry())
    damaged = sorted(storage.values)[1]
    storage.values[damaged] = b"{no json"
    log = AuditLog(storage)
    await log.append(entry())
    numbers = [e.number for e in await log.entries(HERE)]
    assert numbers[0] == 4 * BLOCK_ENTRIES + 1
    assert len(numbers) == 3 * BLOCK_ENTRIES + 1


async def test_a_person_can_be_taken_out() -> None:
    storage = MemoryStorage()
    log = AuditLog(storage)
    for number in range(30):
        await log.append(entry(sender="9001" if number % 3 else "9002"))
    assert await log.remove_person(HERE, "9001") == 20
    assert b"9001" not in b"".join(storage.values.values())
    found = await AuditLog(storage).entries(HERE)
    assert len(found) == 30
    assert sum(e.sender_id == "9002" for e in found) == 10
    await log.append(entry(sender="9002"))
    assert (await log.entries(HERE))[0].number == 31
    await log.erase(HERE)
    assert await log.entries(HERE) == []
    storage.down = True
    try:
        await log.remove_person(HERE, "9002")
    except StorageFailed as exc:
        assert exc.reason == "storage_down"
    else:
        raise AssertionError("a log that cannot be read is not empty")


async def test_unreadable_blocks_are_passed_over_and_damaged_ones_go_with_a_person() -> None:
    storage = MemoryStorage()
    log = AuditLog(storage)
    for _ in range(3 * BLOCK_ENTRIES):
        await log.append(entry())
    damaged, newer, _ = sorted(storage.values)
    storage.values[damaged] = b"{no json"
    theirs = storage.values[newer] = storage.values[newer].replace(
        b'"schema_version":1', b'"schema_version":2'
    )
    for _ in range(2):
        log = AuditLog(storage)
        for _ in range(KEPT):
            await log.append(entry(sender="9002"))
        assert (storage.values[damaged], storage.values[newer]) == (b"{no json", theirs)
        assert len(await log.entries(HERE)) == KEPT - 2 * BLOCK_ENTRIES
    with pytest.raises(StorageFailed, match="audit_newer"):
        await log.remove_person(HERE, "9001")
    assert (storage.values.get(damaged), storage.values[newer]) == (None, theirs)


async def test_what_waits_for_storage_is_taken_out_with_a_person_too() -> None:
    storage = MemoryStorage()
    await AuditLog(storage).append(entry())
    storage.down = True
    log = AuditLog(storage)
    await log.append(entry())
    assert log.unsaved
    storage.down = False
    assert await log.remove_person(HERE, "9001") == 2
    await log.append(entry(sender="9002"))
    assert b"9001" not in b"".join(storage.values.values())
    assert [e.number for e in await AuditLog(storage).entries(HERE)] == [3, 2, 1]


# ---------------------------------------------------------------- through the fronts


async def changes(bot: Bot, since: int = 0) -> list[AuditEntry]:
    entries = await bot.service.audit.entries(HERE)
    return [e for e in reversed(entries) if e.number > since]


async def test_every_change_writes_one_entry_whatever_the_front_and_never_content() -> None:
    bot = await new_bot(config={"command_policy": "everyone"})
    episode = await bot.remember("Mina's dentist is on Friday", tags=["health"])
    await bot.remember("Mina's dentist is on Friday")  # known already: no change
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    command = await bot.memory("group_77001", "9002")
    await command.changes.edit(episode, "Mina's dentist is on Saturday")
    await command.changes.archive(episode)
    await command.changes.restore(episode)
    await command.changes.forget(episode)
    other = await bot.remember("The dentist moved")
    console = await bot.memory(via="console")
    await console.changes.delete_chosen([other, "k7m29xqd"])
    await command.privacy.opt(off=True)
    await command.privacy.opt(off=True)
    await command.privacy.opt(off=False)
    found = await changes(bot)
    assert [(e.operation, e.via, e.sender_id) for e in found] == [
        ("remember", "tool", "9001"),
        ("update_profile", "tool", "9001"),
        ("edit", "command", "9002"),
        ("archive", "command", "9002"),
        ("restore", "command", "9002"),
        ("forget", "command", "9002"),
        ("remember", "tool", "9001"),
        ("delete", "console", "9001"),
        ("opt_out", "command", "9002"),
        ("opt_in", "command", "9002"),
    ]
    for e in found:
        assert e.audit_id
        assert e.at.endswith("Z")
        assert e.query_id
        assert e.user_key == HERE
    stored = b"".join(v for k, v in bot.api.values.items() if k.startswith("ltm/audit/"))
    for word in (b"dentist", b"Friday", b"vegetarian", b"health"):
        assert word not in stored


async def test_what_fails_or_is_refused_leaves_no_entry() -> None:
    bot = await new_bot()
    episode = await bot.remember("Mina's dentist is on Friday")
    since = (await changes(bot))[-1].number
    await bot.command(f"memory forget {episode}", "group_77001", "9002")
    await bot.command("memory forget k7m29xqd")
    await bot.tool("remember", {"content": "deploy key is sk-test-FAKE0123456789abcdef"})
    bot.api.faults.fail.add("vector_upsert")
    await bot.tool("remember", {"content": "The offsite is in Oslo"})
    assert await changes(bot, since) == []


async def test_pages_of_the_log_go_on_while_it_grows() -> None:
    bot = await new_bot()
    for number in range(15):
        await bot.remember(f"fact number {number} about city {number}")
    memory = await bot.memory()
    shown = [e.number for e in (await memory.audit(1)).items]
    await bot.remember("a newer fact")
    second = await (await bot.memory()).audit(2)
    assert shown + [e.number for e in second.items] == list(range(15, 0, -1))
    assert (second.total, second.left) == (16, 0)
