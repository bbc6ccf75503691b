"""The latest injection of each conversation, kept for whoever asks what the bot was given and why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from pydantic import ValidationError

from .errors import StorageFailed
from .models import Snapshot
from .ports import KeyValueStorage

__all__ = ["SnapshotStore", "snapshot_key"]


def snapshot_key(scope_key: str) -> str:
    """Return the storage key of a conversation's snapshot; long keys are hashed (``~`` never stands in a scope key)."""
    name = scope_key if len(scope_key) <= 180 else "~" + hashlib.sha256(scope_key.encode()).hexdigest()
    return f"ltm/snapshot/{name}"


class SnapshotStore:
    """One snapshot per conversation, in plugin storage."""

    def __init__(self, storage: KeyValueStorage) -> None:
        self._storage = storage

    async def put(self, snapshot: Snapshot) -> None:
        """Keep the snapshot, replacing the conversation's previous one.

        Raises:
            StorageFailed: it could not be kept.
        """
        await self._storage.set(snapshot_key(snapshot.scope_key), snapshot.model_dump_json().encode())

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
        try:
            known = await self.get(scope_key)
        except StorageFailed as exc:
            if exc.reason != "profile_unreadable":
                raise
            await self._storage.delete(snapshot_key(scope_key))
            return
        if known is None or not gone & {e.id for e in known.episodes}:
            return
        kept = tuple(e for e in known.episodes if e.id not in gone)
        blocks = tuple(b for b in known.blocks if not any(i in b for i in gone))
        await self.put(known.model_copy(update={"episodes": kept, "blocks": blocks}))
