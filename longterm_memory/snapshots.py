"""The latest injection of each conversation, kept for whoever asks what the bot was given and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from time import monotonic
from weakref import WeakValueDictionary

from pydantic import ValidationError

from .errors import StorageFailed
from .models import Snapshot
from .ports import KeyValueStorage
from .recent import RecentIds
from .storage_keys import short_part

__all__ = ["SNAPSHOT_PREFIX", "SnapshotStore", "snapshot_key"]

SNAPSHOT_PREFIX = "ltm/snapshot/"


def snapshot_key(scope_key: str) -> str:
    """Return the storage key of a conversation's snapshot."""
    return f"{SNAPSHOT_PREFIX}{short_part(scope_key)}"


class SnapshotStore:
    """One snapshot per conversation, in plugin storage.

    Args:
        storage: the plugin's storage.
        clock: seconds, monotonic.
    """

    def __init__(self, storage: KeyValueStorage, clock: Callable[[], float] = monotonic) -> None:
        self._storage = storage
        self._forgotten = RecentIds(clock)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def put(self, snapshot: Snapshot) -> None:
        """Keep the snapshot, replacing the conversation's previous one; without what was forgotten meanwhile.

        Raises:
            StorageFailed: it could not be kept.
        """
        async with self._lock(snapshot.scope_key):
            await self._keep(snapshot)

    async def get(self, scope_key: str) -> Snapshot | None:
        """Return the latest snapshot of a conversation, ``None`` when there is none.

        Raises:
            StorageFailed: storage did not answer or holds something unreadable.
        """
        raw = await self._storage.get(snapshot_key(scope_key))
        if raw is None:
            return None
        try:
            return Snapshot.model_validate_json(raw)
        except ValidationError as exc:
            raise StorageFailed("profile_unreadable", key=snapshot_key(scope_key)) from exc

    async def forget(self, scope_key: str, episode_ids: Iterable[str]) -> None:
        """Take forgotten memories out of a conversation's snapshot, blocks that showed them included.

        Raises:
            StorageFailed: the snapshot may still hold them.
        """
        gone = set(episode_ids)
        # A turn that recalled them before they were deleted may publish its snapshot only now.
        self._forgotten.add(gone)
        async with self._lock(scope_key):
            try:
                known = await self.get(scope_key)
            except StorageFailed as exc:
                if exc.reason != "profile_unreadable":
                    raise
                await self._delete(scope_key)
                return
            if known is not None and gone & {e.id for e in known.episodes}:
                await self._keep(_without(known, gone))

    async def forget_speaker(self, scope_key: str, sender_id: str) -> bool:
        """Delete a conversation's snapshot if it is of that speaker's turn, or cannot be read.

        Returns:
            Whether there was such a snapshot.

        Raises:
            StorageFailed: it may still be there.
        """
        # A turn of theirs that is going on may publish its snapshot only now.
        self._forgotten.add([_turn_of(scope_key, sender_id)])
        async with self._lock(scope_key):
            theirs = await self.is_of(scope_key, sender_id)
            if theirs:
                await self._delete(scope_key)
            return theirs

    async def is_of(self, scope_key: str, sender_id: str) -> bool:
        """Whether a conversation's snapshot is of that speaker's turn, or cannot be read, so that it may be.

        Raises:
            StorageFailed: storage did not answer.
        """
        try:
            known = await self.get(scope_key)
        except StorageFailed as exc:
            if exc.reason != "profile_unreadable":
                raise
            return True
        return known is not None and known.sender_id == sender_id

    async def delete(self, scope_key: str) -> None:
        """Delete a conversation's snapshot; none is fine.

        Raises:
            StorageFailed: it may still be there.
        """
        async with self._lock(scope_key):
            await self._delete(scope_key)

    async def _delete(self, scope_key: str) -> None:
        await self._storage.delete(snapshot_key(scope_key))
        if await self._storage.get(snapshot_key(scope_key)) is not None:
            raise StorageFailed("delete_unverified", count=1)

    async def _keep(self, snapshot: Snapshot) -> None:
        if _turn_of(snapshot.scope_key, snapshot.sender_id) in self._forgotten:
            return
        gone = {e.id for e in snapshot.episodes if e.id in self._forgotten}
        data = _without(snapshot, gone).model_dump_json().encode()
        await self._storage.set(snapshot_key(snapshot.scope_key), data)

    def _lock(self, scope_key: str) -> asyncio.Lock:
        return self._locks.setdefault(scope_key, asyncio.Lock())


def _turn_of(scope_key: str, sender_id: str) -> str:
    return f"{scope_key}/{sender_id}"


def _without(snapshot: Snapshot, gone: set[str]) -> Snapshot:
    if not gone:
        return snapshot
    kept = tuple(e for e in snapshot.episodes if e.id not in gone)
    blocks = tuple(b for b in snapshot.blocks if not any(i in b for i in gone))
    return snapshot.model_copy(update={"episodes": kept, "blocks": blocks})
