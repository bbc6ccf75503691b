"""Writing and deleting memories of a scope so that what is said about it is true, whatever breaks off on the way.

All of it happens under the lock of the scope. When a call to the store fails after a change began, the store is asked
once more what became of it: a change that was made counts as made, one that was not fails as the call did, and where
nobody can tell, the error says that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from .collection import Collection
from .errors import LongTermMemoryError, StoreFailed
from .logs import get_logger
from .models import Episode, Status
from .recall.index import ScopeIndex
from .records.envelope import Record
from .records.keys import Visibility

__all__ = ["UNKNOWN_REASONS", "EpisodeWriter", "left_active"]

logger = get_logger(__name__)

_ASKED_SECONDS = 8.0
"""How long is waited to hear what became of a change; people wait for it."""
_NOT_BEGUN = ("too_large", "erasure_unsettled")
"""Failures of a write that come before anything is sent."""
UNKNOWN_REASONS = ("change_unknown", "delete_unknown")
"""Reasons of a failure after which the change may have been made."""

_Claim = tuple[str, int, str]
"""Id and version of what a correction replaced, and the id of the correction."""


def left_active(record: Record | None, version: int) -> bool:
    """Whether a claimed version is still active: the correction broke off."""
    return record is not None and record.version == version and record.episode.status is Status.ACTIVE


class EpisodeWriter:
    """Changes rows of one collection and keeps its indexes up to date.

    Args:
        collection: the knowledge base in use.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    # ------------------------------------------------------------ the next version of a record

    def next(self, record: Record, **fields: object) -> Record:
        """Return the next version of a record with some episode fields changed; never one that may still land from
        a write that was given up.
        """
        changed = record.changed(**fields)
        beyond = self._collection.unsettled.version(changed.episode.user_key, changed.episode.id) + 1
        return changed.at_version(max(changed.version, beyond))

    def hidden(self, record: Record, **fields: object) -> Record:
        """Return the next version of a record that will not be active.

        A correction lets go of what it replaced (version 0 is nobody's): an index never sees its claims again, and
        they must not hide a memory that was imported anew when it comes back. So :meth:`finish` it before.
        """
        links = tuple((episode_id, 0) for episode_id, _ in record.episode.supersedes)
        return self.next(record, supersedes=links, **fields)

    # ------------------------------------------------------------ writing

    async def write(self, new: Sequence[Record], replaced: Sequence[Record]) -> None:
        """Write records, the first of which decides whether it was done, and remove the versions that they replace.

        Raises:
            StoreFailed: the change was not made; ``change_unknown`` when it may have been.
            StorageFailed: nothing was written.
        """
        user_key = new[0].episode.user_key
        try:
            await self._collection.write(new, replaced)
        except StoreFailed as exc:
            if exc.reason in _NOT_BEGUN:
                raise
            self._collection.unsettled.attempted(new)
            try:
                await self._asked_again(new[0], exc)
            except BaseException:
                self._collection.indexes.drop(user_key)
                raise
        except LongTermMemoryError:
            raise
        except BaseException:
            # Cancelled: nobody knows how much of it reached the store.
            self._collection.unsettled.attempted(new)
            self._collection.indexes.drop(user_key)
            raise
        index = self._collection.indexes.of(user_key)
        for record in reversed(new):
            if record.visibility is Visibility.RECALLED:
                index.changed(record)
            else:
                index.hidden(record)

    async def _asked_again(self, record: Record, why: StoreFailed) -> None:
        """Return if the store has that record, after a call that failed.

        Raises:
            StoreFailed: ``why`` when it has none or an older one, ``change_unknown`` when that cannot be told.
        """
        episode_id = record.episode.id
        try:
            async with asyncio.timeout(_ASKED_SECONDS):
                found = await self._collection.records.find(record.episode.user_key, [episode_id])
        except (StoreFailed, TimeoutError):
            raise StoreFailed("change_unknown", id=episode_id) from why
        if episode_id not in found or found[episode_id].version < record.version:
            raise why
        logger.warning(
            "change was made though a call failed: episode_id=%s reason=%s", episode_id, why.reason
        )

    # ------------------------------------------------------------ corrections that broke off

    async def repair(self, user_key: str, index: ScopeIndex) -> None:
        """Finish the changes that an index knows to have been interrupted.

        Raises:
            StoreFailed, StorageFailed: what corrections replaced is still active, and hidden by their claims.
        """
        twice = index.met_twice()
        if twice:
            await self._collection.records.find(user_key, twice)
        leftovers = index.leftovers()
        if leftovers:
            claims = [(old.episode.id, old.version, winner) for old, winner in leftovers]
            await self._hide_claimed(user_key, claims)

    async def finish(self, user_key: str, episodes: Iterable[Episode]) -> None:
        """Finish corrections before they are changed or deleted: what they replaced may still have an active row,
        and only they say that it does not count.

        Raises:
            StoreFailed, StorageFailed: nothing else was done.
        """
        claims = [(i, version, e.id) for e in episodes for i, version in e.supersedes if version]
        if claims:
            await self._hide_claimed(user_key, claims)

    async def _hide_claimed(self, user_key: str, claims: Sequence[_Claim]) -> None:
        levels: list[tuple[Sequence[_Claim], dict[str, Record]]] = []
        seen: set[str] = set()
        while claims := [claim for claim in claims if claim[0] not in seen]:
            seen.update(i for i, _, _ in claims)
            current = await self._collection.records.find(user_key, [i for i, _, _ in claims])
            levels.append((claims, current))
            open_ = [current[i].episode for i, version, _ in claims if left_active(current.get(i), version)]
            claims = [(i, version, e.id) for e in open_ for i, version in e.supersedes if version]
        # What was replaced first goes first, so that whatever breaks off leaves each claim where it is seen.
        for claims, current in reversed(levels):
            for episode_id, version, winner in claims:
                await self._hide(user_key, current.get(episode_id), episode_id, version, winner)

    async def _hide(
        self, user_key: str, old: Record | None, episode_id: str, version: int, winner: str
    ) -> None:
        if old is not None and left_active(old, version):
            await self.write([self.hidden(old, status=Status.SUPERSEDED, superseded_by=winner)], [old])
            return
        index = self._collection.indexes.of(user_key)
        if old is None:
            index.discard(episode_id)
        elif old.visibility is Visibility.HIDDEN:
            index.hidden(old)
        elif old.version > version:
            # It was restored since.
            index.changed(old)

    # ------------------------------------------------------------ deleting

    async def delete(self, user_key: str, episode_ids: Sequence[str], *, many: bool = False) -> list[str]:
        """Delete every row of these episodes; returns the ids of those that were there.

        Args:
            user_key: the scope.
            episode_ids: what goes; the first is what was asked for.
            many: whether they were asked for together.

        Raises:
            StoreFailed: they are still there; ``change_unknown`` or (``many``) ``delete_unknown`` when some may be
                gone.
        """
        if not episode_ids:
            return []
        there = await self._collection.records.rows_of(user_key, episode_ids)
        try:
            await self._collection.records.remove(user_key, there)
        except StoreFailed as exc:
            unknown = (
                StoreFailed("delete_unknown", count=len(there))
                if many
                else StoreFailed("change_unknown", id=episode_ids[0])
            )
            try:
                await self._gone_after_all(user_key, list(there), exc, unknown)
            except BaseException:
                self._collection.indexes.drop(user_key)
                raise
        except BaseException:
            self._collection.indexes.drop(user_key)
            raise
        self._collection.indexes.of(user_key).deleted(episode_ids)
        self._collection.unsettled.deleted(user_key, episode_ids)
        found = [i for i in episode_ids if i in there]
        logger.info("episodes deleted: count=%d", len(found))
        return found

    async def _gone_after_all(
        self, user_key: str, episode_ids: Sequence[str], why: StoreFailed, unknown: StoreFailed
    ) -> None:
        try:
            async with asyncio.timeout(_ASKED_SECONDS):
                left = await self._collection.records.rows_of(user_key, episode_ids)
        except (StoreFailed, TimeoutError):
            raise unknown from why
        if left:
            raise why if len(left) == len(episode_ids) else unknown
        logger.warning("episodes are gone though a call failed: count=%d", len(episode_ids))

    async def erase(self, user_key: str, episode_ids: Sequence[str]) -> None:
        """Delete every row of a scope, whatever it is.

        Args:
            user_key: the scope.
            episode_ids: the memories that are known to be in it.

        Raises:
            StoreFailed: they are still there; ``delete_unknown`` when some may be gone.
        """
        records, erasing = self._collection.records, self._collection.unsettled.erasing(user_key)
        try:
            await records.erase(user_key, erasing)
        except StoreFailed as exc:
            if not erasing.begun or not await self._seen_empty(user_key):
                self._collection.indexes.drop(user_key)
                if not erasing.begun or exc.reason == "delete_unverified":
                    raise
                raise StoreFailed("delete_unknown", count=len(episode_ids)) from exc
            logger.warning("scope is empty though a call failed: reason=%s", exc.reason)
        except BaseException:
            self._collection.indexes.drop(user_key)
            raise
        self._collection.indexes.of(user_key).deleted(episode_ids)
        self._collection.unsettled.erased(user_key)
        logger.info("scope erased: count=%d", len(episode_ids))

    async def _seen_empty(self, user_key: str) -> bool:
        try:
            async with asyncio.timeout(_ASKED_SECONDS):
                return not await self._collection.records.left(user_key)
        except (StoreFailed, TimeoutError):
            return False
