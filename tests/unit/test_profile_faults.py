"""Profiles under load and faults: parallel and cancelled updates, storage that fails, damaged records (P1, P3)."""

from __future__ import annotations

import asyncio
import json

import pytest

from longterm_memory.errors import StorageFailed
from longterm_memory.models import ProfileChange
from longterm_memory.profile_records import StoredProfile
from longterm_memory.profiles import Limits, ProfileStore
from longterm_memory.scope import Speaker
from tests.support.memory_storage import MemoryStorage
from tests.support.profiles import GROUP, MINA, MINAS_KEY, TAO, add, new_store


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def store(storage: MemoryStorage) -> ProfileStore:
    return new_store(storage)


# ------------------------------------------------------------ many at once


async def test_p1_parallel_updates_of_one_profile_all_survive(
    store: ProfileStore, storage: MemoryStorage
) -> None:
    storage.slow = 0.002
    await asyncio.gather(*(add(store, f"trait {n}", limits=Limits(traits=60)) for n in range(50)))
    assert sorted((await store.speaker(GROUP, MINA)).traits) == sorted(f"trait {n}" for n in range(50))
    again = await new_store(MemoryStorage(storage.values)).speaker(GROUP, MINA)
    assert len(again.traits) == 50
    assert store._locks == {}


async def test_updates_of_different_profiles_do_not_wait_for_each_other(
    store: ProfileStore, storage: MemoryStorage
) -> None:
    storage.slow = 0.05
    start = asyncio.get_running_loop().time()
    await asyncio.gather(*(add(store, "x", speaker=Speaker(str(n))) for n in range(30)))
    assert asyncio.get_running_loop().time() - start < 30 * 0.05


async def test_p1_a_cancelled_update_loses_nothing_and_blocks_nobody() -> None:
    """``late``: the host carries out what it got, whether or not somebody still waits for it."""
    for moment in ("before it began", "waiting", "get", "set"):
        for late in (False, True):
            storage = MemoryStorage()
            store = new_store(storage)
            await add(store, "first")
            store.forget_cache()
            storage.calls.clear()
            storage.slow, storage.late = 0.02, late
            tasks = [asyncio.create_task(add(store, f"trait {n}")) for n in range(10)]
            victim = 5 if moment == "waiting" else 0
            while moment != "before it began" and moment.replace("waiting", "get") not in storage.calls:
                await asyncio.sleep(0)
            tasks[victim].cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert [n for n, result in enumerate(results) if isinstance(result, BaseException)] == [victim]
            assert isinstance(results[victim], asyncio.CancelledError)
            await add(store, "last")
            await asyncio.sleep(0.05)
            traits = (await store.speaker(GROUP, MINA)).traits
            survivors = [f"trait {n}" for n in range(10) if n != victim]
            assert [t for t in traits if t != f"trait {victim}"] == ["first", *survivors, "last"]
            # cancelled while it was being written, it was written
            assert (f"trait {victim}" in traits) == (moment == "set"), (moment, late)
            store.forget_cache()
            assert (await store.speaker(GROUP, MINA)).traits == traits
            assert store._locks == {}


async def test_a_cancelled_write_that_never_ends_blocks_the_next_for_a_moment_only(
    storage: MemoryStorage,
) -> None:
    store = new_store(storage, settle_seconds=0.05)
    await add(store, "first")
    storage.slow = 3_600
    stuck = asyncio.create_task(add(store, "stuck"))
    await asyncio.sleep(0.01)
    stuck.cancel()
    await asyncio.sleep(0)
    storage.slow = 0
    async with asyncio.timeout(2):
        await add(store, "next")
    assert (await store.speaker(GROUP, MINA)).traits == ("first", "next")
    with pytest.raises(asyncio.CancelledError):
        await stuck


async def test_cancelled_twice_it_still_lets_go(storage: MemoryStorage) -> None:
    store = new_store(storage, settle_seconds=60)
    storage.slow = 3_600
    stuck = asyncio.create_task(store.change(GROUP, MINA, lambda p: ProfileChange(p, "speaker", "unchanged")))
    await asyncio.sleep(0)
    stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    storage.slow = 0
    await add(store, "first")
    storage.slow = 3_600
    stuck = asyncio.create_task(add(store, "stuck"))
    for _ in range(2):
        await asyncio.sleep(0.01)
        stuck.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stuck
    storage.slow = 0
    async with asyncio.timeout(2):
        await add(store, "next")
    assert store._locks == {}


# ------------------------------------------------------------ faults


async def test_a_failed_write_changes_nothing(store: ProfileStore, storage: MemoryStorage) -> None:
    await add(store, "a")
    for fault in ("down", "full"):
        setattr(storage, fault, True)
        with pytest.raises(StorageFailed):
            await add(store, "b")
        setattr(storage, fault, False)
        assert (await store.speaker(GROUP, MINA)).traits == ("a",)
    await add(store, "c")
    assert (await store.speaker(GROUP, MINA)).traits == ("a", "c")
    # While it is down, profiles in memory still answer.
    storage.down = True
    assert (await store.speaker(GROUP, MINA)).traits == ("a", "c")
    with pytest.raises(StorageFailed) as caught:
        await store.session(GROUP)
    assert caught.value.reason == "storage_down"


GOOD = StoredProfile.empty(GROUP, MINA).dump()
ELSEWHERE = StoredProfile.empty(GROUP, TAO).dump()
BROKEN = (
    *(b"", b"not json", GOOD[:-3], b"[]", b"\xff\xfe\x00", b"[" * 100_000, b"{}", ELSEWHERE),
    GOOD.replace(b'"schema_version":1', b'"schema_version":2'),
    GOOD.replace(b'"schema_version":1', b'"schema_version":"x"'),
    GOOD.replace(b'"profile":{}', b'"profile":{"traits":5}'),
    GOOD.replace(b'"profile":{}', b'"profile":null'),
    GOOD.replace(b'"target":"speaker"', b'"target":"session"'),
    GOOD.replace(b'"target":"speaker"', b'"target":"both"'),
)


async def test_p3_an_unreadable_profile_fails_alone_and_is_never_overwritten() -> None:
    for raw in BROKEN:
        storage = MemoryStorage()
        store = new_store(storage)
        await add(store, "a", speaker=TAO)
        storage.values[MINAS_KEY] = raw
        for attempt in (store.speaker(GROUP, MINA), add(store, "x"), add(store, "x", action="remove")):
            with pytest.raises(StorageFailed) as caught:
                await attempt
            assert (caught.value.reason, caught.value.details) == ("profile_unreadable", {"key": MINAS_KEY})
        assert storage.values[MINAS_KEY] == raw
        assert (await store.session(GROUP)).empty
        assert (await store.speaker(GROUP, TAO)).traits == ("a",)
        found, failed = await store.list_profiles(GROUP)
        assert [stored.sender_id for stored in found] == ["9002"]
        assert [problem.details["key"] for problem in failed] == [MINAS_KEY]
        # somebody has to ask for it
        assert await store.delete(GROUP, MINA) is True
        assert (await add(store, "x")).profile.traits == ("x",)


async def test_a_profile_is_read_again_once_it_was_mended_by_hand_or_comes_from_a_later_version(
    store: ProfileStore, storage: MemoryStorage
) -> None:
    await add(store, "a")
    store.forget_cache()
    storage.corrupt = True
    with pytest.raises(StorageFailed):
        await store.speaker(GROUP, MINA)
    storage.corrupt = False
    assert (await store.speaker(GROUP, MINA)).traits == ("a",)
    later = json.loads(GOOD) | {"colour": "red", "profile": {"name": "Mina", "mood": 1}}
    storage.values[MINAS_KEY] = json.dumps(later).encode()
    store.forget_cache()
    assert (await store.speaker(GROUP, MINA)).name == "Mina"
