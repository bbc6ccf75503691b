"""The latest injection of each conversation, kept for whoever asks what the bot was given and why.

Which memories a snapshot shows is known in memory as well, read once per process, so that forgetting one costs the
same however many conversations share it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from weakref import WeakValueDictionary

from pydantic import ValidationError

from .errors import StorageFailed
from .models import Episode, Snapshot, Status
from .ports import KeyValueStorage
from .reach import bot_prefix
from .recent import RecentIds
from .scope import Scope
from .storage_keys import short_part
from .withdrawals import Withdrawals

__all__ = ["SNAPSHOT_PREFIX", "SnapshotStore", "snapshot_key"]

SNAPSHOT_PREFIX = "ltm/snapshot/"
_READS_AT_ONCE = 16


def snapshot_key(scope_key: str) -> str:
    """Return the storage key of a conversation's snapshot."""
    return f"{SNAPSHOT_PREFIX}{short_part(scope_key)}"


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a stored snapshot shows, or may show: (user key, id) of memories, and whose turns it is of, where; when."""

    scope_key: str = ""
    episodes: frozenset[tuple[str, str]] = frozenset()
    senders: frozenset[str] = frozenset()
    at: str = ""

    @classmethod
    def by(cls, snapshot: Snapshot) -> _Shown:
        key = _user_key(snapshot)
        shown = frozenset((key, e.id) for e in snapshot.episodes)
        return cls(snapshot.scope_key, shown, frozenset({snapshot.sender_id}), snapshot.at)

    def __or__(self, other: _Shown) -> _Shown:
        senders = self.senders | other.senders
        return _Shown(other.scope_key, self.episodes | other.episodes, senders, other.at)


_NOTHING = _Shown()


class SnapshotStore:
    """One snapshot per conversation, in plugin storage.

    Args:
        storage: the plugin's storage.
        clock: seconds, monotonic.
        withdrawals: who may not appear in it any more.
    """

    def __init__(
        self,
        storage: KeyValueStorage,
        clock: Callable[[], float] = monotonic,
        withdrawals: Withdrawals | None = None,
    ) -> None:
        self._storage = storage
        self._forgotten = RecentIds(clock)
        self._withdrawals = withdrawals or Withdrawals()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._shown: dict[str, _Shown | None] = {}
        """By storage key; ``None`` = it has to be read to know. Those of before the start are in it once all are."""
        self._all_known = False

    async def put(self, snapshot: Snapshot, *, began: int | None = None) -> None:
        """Keep the snapshot, replacing the conversation's previous one; without what was forgotten meanwhile.

        Args:
            snapshot: what was injected.
            began: when the turn began (:meth:`.withdrawals.Withdrawals.now`); nothing is kept of somebody who
                withdrew since, nor of a space that was erased. ``None`` = just now.

        Raises:
            StorageFailed: it could not be kept.
        """
        began = self._withdrawals.now() if began is None else began
        async with self._lock(snapshot_key(snapshot.scope_key)):
            keys = (snapshot.scope_key, _user_key(snapshot))
            if self._withdrawals.since(began, keys, snapshot.sender_id) is None:
                await self._keep(snapshot)

    async def get(self, scope_key: str) -> Snapshot | None:
        """Return the latest snapshot of a conversation, ``None`` when there is none.

        Raises:
            StorageFailed: storage did not answer or holds something unreadable.
        """
        return await self._read(snapshot_key(scope_key))

    async def at(self, scope_key: str) -> str:
        """Return when a conversation's latest injection was, ``""`` when there is none; read once per process.

        Raises:
            StorageFailed: as :meth:`get`.
        """
        key = snapshot_key(scope_key)
        async with self._lock(key):
            shown = self._shown.get(key)
            if shown is None:
                known = await self._read(key)
                shown = self._shown[key] = _Shown.by(known) if known else _NOTHING
            return shown.at

    # ------------------------------------------------------------ forgetting

    async def forget(self, scope: Scope, episode_ids: Iterable[str], *, found: bool = True) -> None:
        """Take forgotten memories of a scope out of every snapshot that shows them, with the blocks they are in.

        A snapshot that may show them and cannot be read is deleted.

        Args:
            scope: where they are; shared ones may have been injected in any conversation of the bot.
            episode_ids: which.
            found: whether they were there, so that a turn that recalled them may publish its snapshot only now.

        Raises:
            StorageFailed: a snapshot may still hold them.
        """
        gone = {(scope.user_key, episode_id) for episode_id in episode_ids}
        if found:
            self._forgotten.add(gone)
        for key in await self._keys(scope, lambda shown: bool(shown.episodes & gone)):
            async with self._lock(key):
                known = await self._readable(key)
                if known is not None and gone & _Shown.by(known).episodes:
                    await self._keep(_without(known, gone))

    async def changed(self, scope: Scope, before: Episode, after: Episode) -> None:
        """Take a memory as it was before a change out of every snapshot that shows it, with the blocks it is in; turns
        that recalled it before count too.

        Raises:
            StorageFailed: a snapshot may still hold it.
        """
        former = (before.user_key, before.id, before.content)
        self._forgotten.add([former])
        if after.status is Status.ACTIVE:
            self._forgotten.discard((after.user_key, after.id, after.content))
        for key in await self._keys(scope, lambda shown: former[:2] in shown.episodes):
            async with self._lock(key):
                known = await self._readable(key)
                if known is not None and former in _texts(known):
                    await self._keep(_without(known, {former[:2]}))

    async def forget_speaker(self, scope: Scope, sender_id: str) -> int:
        """Delete the snapshots of that speaker's turns in a scope, and those that cannot be read.

        Returns:
            How many there were.

        Raises:
            StorageFailed: one may still be there.
        """
        deleted = 0
        for key in await self._keys(scope, lambda shown: sender_id in shown.senders):
            async with self._lock(key):
                if await self._is_of(key, sender_id):
                    await self._delete(key)
                    deleted += 1
        return deleted

    async def is_of(self, scope_key: str, sender_id: str) -> bool:
        """Whether a conversation's snapshot is of that speaker's turn, or cannot be read, so that it may be.

        Raises:
            StorageFailed: storage did not answer.
        """
        return await self._is_of(snapshot_key(scope_key), sender_id)

    async def delete(self, scope_key: str) -> None:
        """Delete a conversation's snapshot; none is fine.

        Raises:
            StorageFailed: it may still be there.
        """
        key = snapshot_key(scope_key)
        async with self._lock(key):
            await self._delete(key)

    # ------------------------------------------------------------ which ones

    async def _keys(self, scope: Scope, meant: Callable[[_Shown], bool]) -> list[str]:
        """Return the storage keys of the snapshots of a scope that are meant, as far as is known without reading.

        Raises:
            StorageFailed: storage did not answer.
        """
        if not scope.shared:
            own = snapshot_key(scope.scope_key)
            shown = self._shown.get(own)
            return [own] if shown is None or meant(shown) else []
        await self._learn()
        of_bot = bot_prefix(scope)
        # Of a snapshot that cannot be read the key alone tells whose it is; a hashed one may be anybody's.
        unread = (f"{SNAPSHOT_PREFIX}{of_bot}", f"{SNAPSHOT_PREFIX}~")
        return [
            key
            for key, shown in self._shown.items()
            if (
                key.startswith(unread)
                if shown is None
                else shown.scope_key.startswith(of_bot) and meant(shown)
            )
        ]

    async def _learn(self) -> None:
        """Read, once per process, what the snapshots of before its start show."""
        if self._all_known:
            return
        reading = asyncio.Semaphore(_READS_AT_ONCE)

        async def read(key: str) -> None:
            async with reading, self._lock(key):
                if key in self._shown:
                    return
                try:
                    snapshot = await self._read(key)
                except StorageFailed as exc:
                    if exc.reason != "profile_unreadable":
                        raise
                    self._shown[key] = None
                else:
                    self._shown[key] = _Shown.by(snapshot) if snapshot else _NOTHING

        unknown = [k for k in await self._storage.keys() if k.startswith(SNAPSHOT_PREFIX)]
        await asyncio.gather(*(read(key) for key in unknown if key not in self._shown))
        self._all_known = True

    # ------------------------------------------------------------ one snapshot; its lock is held

    async def _read(self, key: str) -> Snapshot | None:
        raw = await self._storage.get(key)
        if raw is None:
            return None
        try:
            return Snapshot.model_validate_json(raw)
        except ValidationError as exc:
            raise StorageFailed("profile_unreadable", key=key) from exc

    async def _readable(self, key: str) -> Snapshot | None:
        """Return a snapshot; one that cannot be read is deleted."""
        try:
            return await self._read(key)
        except StorageFailed as exc:
            if exc.reason != "profile_unreadable":
                raise
            await self._delete(key)
            return None

    async def _is_of(self, key: str, sender_id: str) -> bool:
        try:
            known = await self._read(key)
        except StorageFailed as exc:
            if exc.reason != "profile_unreadable":
                raise
            return True
        return known is not None and known.sender_id == sender_id

    async def _delete(self, key: str) -> None:
        self._shown[key] = None
        await self._storage.delete(key)
        if await self._storage.get(key) is not None:
            raise StorageFailed("delete_unverified", count=1)
        self._shown[key] = _NOTHING

    async def _keep(self, snapshot: Snapshot) -> None:
        key = snapshot_key(snapshot.scope_key)
        gone = {one for one in _Shown.by(snapshot).episodes if one in self._forgotten}
        gone |= {one[:2] for one in _texts(snapshot) if one in self._forgotten}
        kept = _without(snapshot, gone)
        new, old = _Shown.by(kept), self._shown.get(key)
        # Until storage has answered it may hold the one or the other.
        self._shown[key] = None if old is None else old | new
        await self._storage.set(key, kept.model_dump_json().encode())
        self._shown[key] = new

    def _lock(self, key: str) -> asyncio.Lock:
        return self._locks.setdefault(key, asyncio.Lock())


def _user_key(snapshot: Snapshot) -> str:
    """Where the memories of a snapshot are."""
    return snapshot.user_key or snapshot.scope_key


def _texts(snapshot: Snapshot) -> set[tuple[str, str, str]]:
    """What a snapshot shows: (user key, id, text) of memories."""
    return {(_user_key(snapshot), e.id, e.content) for e in snapshot.episodes}


def _without(snapshot: Snapshot, gone: set[tuple[str, str]]) -> Snapshot:
    if not gone:
        return snapshot
    ids = {episode_id for _, episode_id in gone}
    kept = tuple(e for e in snapshot.episodes if e.id not in ids)
    blocks = tuple(b for b in snapshot.blocks if not any(i in b for i in ids))
    return snapshot.model_copy(update={"episodes": kept, "blocks": blocks})
