"""The latest injection of each conversation, kept for whoever asks what the bot was given and why."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from time import monotonic
from weakref import WeakValueDictionary

from pydantic import ValidationError

from .errors import StorageFailed
from .models import Snapshot
from .ports import KeyValueStorage
from .recent import RecentIds

__all__ = ["SnapshotStore", "snapshot_key"]


def snapshot_key(scope_key: str) -> str:
    """Return the storage key of a conversation's snapshot; long keys are hashed (``~`` never stands in a
    scope key).
    """
    name = scope_key if len(scope_key) <= 180 else "~" + hashlib.sha256(scope_key.encode()).hexdigest()
    return f"ltm/snapshot/{name}"


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
                await self._storage.delete(snapshot_key(scope_key))
                return
            if known is not None and gone & {e.id for e in known.episodes}:
                await self._keep(_without(known, gone))

    async def _keep(self, snapshot: Snapshot) -> None:
        gone = {e.id for e in snapshot.episodes if e.id in self._forgotten}
        data = _without(snapshot, gone).model_dump_json().encode()
        await self._storage.set(snapshot_key(snapshot.scope_key), data)

    def _lock(self, scope_key: str) -> asyncio.Lock:
        return self._locks.setdefault(scope_key, asyncio.Lock())


def _without(snapshot: Snapshot, gone: set[str]) -> Snapshot:
    if not gone:
        return snapshot
    kept = tuple(e for e in snapshot.episodes if e.id not in gone)
    blocks = tuple(b for b in snapshot.blocks if not any(i in b for i in gone))
    return snapshot.model_copy(update={"episodes": kept, "blocks": blocks})
