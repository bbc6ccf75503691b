"""L2: remembering, correcting, listing and forgetting episodes of a scope.

Changes of one scope happen one at a time. Whatever is reported as done was read back from the store before
(:mod:`.episode_writing`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from .collection import Collection
from .drafts import EpisodeDraft, checked_content
from .episode_changes import WARM_SECONDS, EpisodeChanges, read_near, record_of
from .episode_writing import EpisodeWriter, left_active
from .errors import NotFound, StoreFailed
from .ids import is_id, new_id
from .listing import newest_first
from .logs import get_logger
from .models import KEPT_STATUSES, Episode, Filters, Status
from .recall.corrected import corrected_by
from .recall.index import ScopeIndex
from .recall.recaller import Recaller
from .records.envelope import Record
from .records.keys import Visibility
from .records.store import latest
from .records.vectors import Quantized, Vector
from .scope import Scope
from .text.corrections import is_correction
from .withdrawals import Check, unchecked

__all__ = ["EpisodeDraft", "EpisodeStore", "Forgotten", "Relatives", "Remembered", "checked_content"]

logger = get_logger(__name__)

_ERASING_SECONDS = 150.0
"""How long reading a scope anew may take while it is erased; a large one takes long on a slow store."""
_AT_ONCE = 40
"""Memories that are looked up with one call."""
_MANY = 2_000
"""From so many memories on a list is made beside the event loop."""
_ERASING_PASSES = 3
"""How often what is chosen is deleted: a correction that broke off shows what it replaced only when it is gone
itself.
"""


@dataclass(frozen=True, slots=True)
class Remembered:
    """Outcome of a remember.

    Attributes:
        episode: the memory as stored, or the one that already said the same.
        duplicate: whether it was there before and nothing was written.
        superseded: ids of the older versions that it replaced.
    """

    episode: Episode
    duplicate: bool = False
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Outcome of a forget: the memory, and the superseded versions of its chain that went with it."""

    episode: Episode
    chain: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Everything that was deleted."""
        return (self.episode.id, *self.chain)


@dataclass(frozen=True, slots=True)
class Relatives:
    """The other versions of a memory.

    Attributes:
        newer: what replaced it, ``None`` when nothing did or that is gone.
        older: what it replaced, as far as it is still there.
        withheld: ids of those that are there and may not be shown to whoever asks.
    """

    newer: Episode | None = None
    older: tuple[Episode, ...] = ()
    withheld: frozenset[str] = frozenset()


class EpisodeStore:
    """Episodes of one collection.

    Attributes:
        changes: archive, restore, edit.

    Args:
        collection: the knowledge base in use.
        recaller: loads indexes of scopes.
        now: current time, UTC.
    """

    def __init__(
        self,
        collection: Collection,
        recaller: Recaller,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._collection = collection
        self._recaller = recaller
        self._now = now
        self._writer = EpisodeWriter(collection)
        self.changes = EpisodeChanges(collection, recaller, self._writer)

    # ------------------------------------------------------------ remembering

    async def remember(self, scope: Scope, draft: EpisodeDraft, check: Check = unchecked) -> Remembered:
        """Store a memory, unless the same speaker already said exactly that; a correction replaces older
        versions.

        Args:
            scope: where it goes.
            draft: what is stored.
            check: asked right before the write.

        Raises:
            BadArgument: the content cannot be stored.
            Forbidden: the check refuses.
            EmbeddingFailed, StoreFailed, StorageFailed: nothing was stored, or it could not be verified.
        """
        content = checked_content(draft.content)
        await self._collection.prepare()
        vectors, _ = await asyncio.gather(
            self._collection.embeddings.embed([content], stored=True),
            self._recaller.warm(scope.user_key, seconds=WARM_SECONDS),
        )
        async with self._collection.lock(scope.user_key):
            index = self._collection.indexes.of(scope.user_key)
            await read_near(self._collection, self._recaller, scope.user_key, vectors[0], index)
            await self._writer.repair(scope.user_key, index)
            record = self._record(scope, draft, content, vectors[0], index)
            same = [r for r in index.saying(content) if r.episode.sender_id == draft.sender.id]
            older: list[Record] = []
            if is_correction(draft.tags):
                said = {r.episode.id for r in same}
                older = corrected_by(record, scope, index, self._collection.calibration, said)
            if same and not older:
                return Remembered(same[0].episode, duplicate=True)
            check()
            return await self._store(index, record, [*same, *older])

    def _record(
        self, scope: Scope, draft: EpisodeDraft, content: str, vector: Vector, index: ScopeIndex
    ) -> Record:
        now = self._now()
        episode_id = draft.id or new_id()
        while not draft.id and index.has(episode_id):
            episode_id = new_id()
        episode = Episode(
            id=episode_id,
            content=content,
            tags=draft.tags,
            importance=draft.importance,
            timestamp=draft.timestamp or now,
            created_at=now,
            user_key=scope.user_key,
            sender_id=draft.sender.id,
            sender_name=draft.sender.name,
            bot_uuid=scope.bot_uuid,
            session_name=scope.session_name,
            source=draft.source,
            document_id=draft.document_id,
            imported_episode_id=draft.imported_id,
        )
        return Record(episode, 1, Quantized.of(vector), self._collection.base.model)

    async def _store(self, index: ScopeIndex, record: Record, older: Sequence[Record]) -> Remembered:
        user_key = record.episode.user_key
        if not index.complete:
            # Those that are corrections themselves may have broken off where the index was not read yet.
            await self._writer.finish(user_key, [old.episode for old in older])
        winner = record.with_claims((old.episode.id, old.version) for old in older)
        hidden = [
            self._writer.hidden(old, status=Status.SUPERSEDED, superseded_by=winner.episode.id)
            for old in older
        ]
        await self._writer.write([winner, *hidden], older)
        logger.info(
            "episode written: episode_id=%s content_len=%d superseded=%d",
            winner.episode.id,
            len(winner.episode.content),
            len(older),
        )
        return Remembered(winner.episode, superseded=tuple(old.episode.id for old in older))

    # ------------------------------------------------------------ reading

    async def find(self, scope: Scope, episode_id: str) -> Episode:
        """Return one memory of the scope, whatever its status.

        Raises:
            NotFound: ``id_unknown``; also for ids of other scopes.
            StoreFailed: the store did not answer.
        """
        record = await record_of(self._collection, scope.user_key, episode_id)
        # A change that broke off: perhaps only now its newer half was seen.
        self._collection.indexes.of(scope.user_key).read([record])
        return record.episode

    async def find_all(self, scope: Scope, episode_ids: Iterable[str]) -> list[Episode]:
        """Return those of these memories that are in the scope, whatever their status, in few calls.

        Raises:
            StoreFailed: the store did not answer.
        """
        user_key, found = scope.user_key, list[Episode]()
        wanted = [i for i in dict.fromkeys(episode_ids) if is_id(i)] if self._collection.filled else []
        for start in range(0, len(wanted), _AT_ONCE):
            records = await self._collection.records.find(user_key, wanted[start : start + _AT_ONCE])
            self._collection.indexes.of(user_key).read(records.values())
            found += [
                r.episode for i, r in records.items() if not self._collection.unsettled.is_gone(user_key, i)
            ]
        order = {episode_id: place for place, episode_id in enumerate(wanted)}
        return sorted(found, key=lambda e: order[e.id])

    async def hidden(self, user_key: str) -> list[Record]:
        """Return all superseded and archived memories of a scope (a full listing of them).

        Raises:
            StoreFailed: the store did not answer.
        """
        if not self._collection.filled:
            return []
        return await self._collection.records.everything(user_key, Visibility.HIDDEN)

    async def select(
        self,
        user_key: str,
        filters: Filters,
        *,
        timeout: float = 25.0,  # noqa: ASYNC109 - a page on its way is not cut off
    ) -> list[Episode]:
        """Return every memory that passes the filters, newest first.

        Raises:
            StoreFailed: the scope could not be read whole in that many seconds; a part is never passed off as all.
        """
        index = await self._recaller.loaded(user_key, timeout=timeout)
        records = index.living() if Status.ACTIVE in filters.statuses else []
        if filters.statuses - {Status.ACTIVE}:
            records += [r for r in await self.hidden(user_key) if not index.outdated(r)]

        def kept() -> list[Episode]:
            return sorted((r.episode for r in latest(records) if filters.keeps(r.episode)), key=newest_first)

        # Tens of thousands take a while; the turns of others go on meanwhile.
        return await asyncio.to_thread(kept) if len(records) > _MANY else kept()

    async def count(self, user_key: str, *, timeout: float = 25.0) -> int:  # noqa: ASYNC109 - as select
        """Return how many active memories a scope has; costs nothing while its index is loaded.

        Raises:
            StoreFailed: as :meth:`select`.
        """
        return len((await self._recaller.loaded(user_key, timeout=timeout)).living())

    async def related(self, scope: Scope, episode: Episode) -> Relatives:
        """Return what replaced a memory, and what it replaced, as far as that is still there.

        Raises:
            StoreFailed: the store did not answer.
        """
        older = [i for i, _ in episode.supersedes]
        newer = [episode.superseded_by] if is_id(episode.superseded_by) else []
        if not older and not newer:
            return Relatives()
        found = await self._collection.records.find(scope.user_key, [*newer, *older])
        episodes = {i: found[i].episode for i in (*newer, *older) if i in found}
        return Relatives(
            next((episodes[i] for i in newer if i in episodes), None),
            tuple(episodes[i] for i in older if i in episodes),
        )

    # ------------------------------------------------------------ forgetting

    async def forget(self, scope: Scope, episode: Episode) -> Forgotten:
        """Delete a memory for real; a correction takes the superseded versions of its chain and speaker with
        it.

        Raises:
            NotFound: it was not there any more.
            StoreFailed: it may still be there; nothing is reported as deleted. ``change_unknown``: it may be gone.
        """
        async with self._collection.lock(scope.user_key):
            chain = [e.id for e in await self.chain(scope, episode)]
            there = await self._writer.delete(scope.user_key, [episode.id, *chain])
        if episode.id not in there:
            raise NotFound("id_unknown", id=episode.id)
        return Forgotten(episode, tuple(chain))

    async def chain(self, scope: Scope, episode: Episode) -> list[Episode]:
        """Return the superseded versions of a memory's chain by the same speaker: what goes when it is forgotten.

        Raises:
            StoreFailed: the store did not answer.
        """
        user_key, found = scope.user_key, dict[str, Episode]()
        heads = {episode.id: episode}
        while claimed := {
            i: version for e in heads.values() for i, version in e.supersedes if i != episode.id
        }:
            older = (await self._collection.records.find(user_key, list(claimed))).values()
            heads = {
                r.episode.id: r.episode
                for r in older
                if r.episode.sender_id == episode.sender_id
                and r.episode.id not in found
                and (_replaced_by(r.episode, heads) or left_active(r, claimed[r.episode.id]))
            }
            found |= heads
        return list(found.values())

    async def erase(self, scope: Scope, chosen: Callable[[Episode], bool]) -> tuple[str, ...]:
        """Delete every memory of the scope that is chosen, whatever its status, and read the whole scope again
        to see that none is left; returns the ids.

        Raises:
            StoreFailed: ``delete_unverified`` or as :meth:`select`; some may still be there.
        """
        user_key, deleted = scope.user_key, list[str]()
        for left in reversed(range(_ERASING_PASSES + 1)):
            async with self._collection.lock(user_key):
                # Under the lock: what is being stored would go into the index that is dropped.
                self._collection.indexes.drop(user_key)
            # What is read of a dropped index is lost when time is over, so there has to be enough for all of it.
            everything = await self.select(
                user_key, Filters(statuses=KEPT_STATUSES), timeout=_ERASING_SECONDS
            )
            found = [e for e in everything if chosen(e)]
            if not found:
                break
            if not left:
                raise StoreFailed("delete_unverified", count=len(found))
            deleted += await self.delete_many(scope, found)
        return tuple(deleted)

    async def erase_whole(self, scope: Scope) -> tuple[str, ...]:
        """Delete the whole scope by where it lives, and look that none of it is left; returns the ids of its memories.

        Raises:
            StoreFailed: ``delete_unverified`` or as :meth:`select`; ``delete_unknown``: some may be gone.
        """
        user_key = scope.user_key
        async with self._collection.lock(user_key):
            if not self._collection.filled:
                return ()
            # Should it break off, what corrections replaced stays replaced.
            index = await self._recaller.loaded(user_key, timeout=_ERASING_SECONDS)
            await self._writer.repair(user_key, index)
            found = await self.select(user_key, Filters(statuses=KEPT_STATUSES), timeout=_ERASING_SECONDS)
            ids = tuple(e.id for e in found)
            await self._writer.erase(user_key, ids)
        return ids

    async def delete_many(self, scope: Scope, episodes: Iterable[Episode]) -> tuple[str, ...]:
        """Delete these memories for real; returns the ids of those that were still there.

        Raises:
            StoreFailed: some may still be there; nothing is reported as deleted. ``delete_unknown``: some may be
                gone.
        """
        user_key, chosen = scope.user_key, list(episodes)
        async with self._collection.lock(user_key):
            if any(e.supersedes for e in chosen):
                # What they replaced stays replaced, also where that broke off.
                await self._writer.repair(user_key, await self._recaller.loaded(user_key))
            return tuple(await self._writer.delete(user_key, [e.id for e in chosen], many=True))


def _replaced_by(episode: Episode, winners: Mapping[str, Episode]) -> bool:
    return episode.status is Status.SUPERSEDED and episode.superseded_by in winners
