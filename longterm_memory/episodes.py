"""L2: remembering, correcting, listing and forgetting episodes of a scope.

Changes of one scope happen one at a time. Whatever is reported as done was read back from the store before;
whatever may have happened half drops the scope's index, so that it is read again from the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from .collection import Collection
from .drafts import EpisodeDraft, checked_content, not_labelled_secret
from .errors import BadArgument, NotFound, StoreFailed
from .ids import is_id, new_id
from .listing import newest_first
from .logs import get_logger
from .models import KEPT_STATUSES, Episode, Filters, Status
from .recall.corrected import corrected_by
from .recall.index import ScopeIndex
from .recall.recaller import CANDIDATES, Recaller
from .records.envelope import Record
from .records.keys import Visibility
from .records.store import latest
from .records.vectors import Quantized, Vector
from .scope import Scope
from .text.corrections import is_correction

__all__ = ["EpisodeDraft", "EpisodeStore", "Forgotten", "Relatives", "Remembered", "checked_content"]

logger = get_logger(__name__)

_WARM_SECONDS = 2.0
"""Seconds that remembering waits for a page of a cold index."""
_MANY_NEAR = 500
"""Nearest memories looked at when even the 50th says nearly the same."""
_NEARLY_SAME = 0.9
"""Closeness (:meth:`Calibration.closeness`) from which that is so."""


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
    """

    newer: Episode | None = None
    older: tuple[Episode, ...] = ()


class EpisodeStore:
    """Episodes of one collection.

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

    # ------------------------------------------------------------ remembering

    async def remember(self, scope: Scope, draft: EpisodeDraft) -> Remembered:
        """Store a memory, unless the same speaker already said exactly that; a correction replaces older
        versions.

        Raises:
            BadArgument: the content cannot be stored.
            EmbeddingFailed, StoreFailed, StorageFailed: nothing was stored, or it could not be verified.
        """
        content = checked_content(draft.content)
        await self._collection.prepare()
        vectors, _ = await asyncio.gather(
            self._collection.embeddings.embed([content], stored=True),
            self._recaller.warm(scope.user_key, seconds=_WARM_SECONDS),
        )
        async with self._collection.lock(scope.user_key):
            index = self._collection.indexes.of(scope.user_key)
            await self._read_near(scope.user_key, vectors[0], index)
            await self._repair(scope.user_key, index)
            record = self._record(scope, draft, content, vectors[0], index)
            same = [r for r in index.saying(content) if r.episode.sender_id == draft.sender.id]
            older: list[Record] = []
            if is_correction(draft.tags):
                said = {r.episode.id for r in same}
                older = corrected_by(record, scope, index, self._collection.calibration, said)
            if same and not older:
                return Remembered(same[0].episode, duplicate=True)
            return await self._store(index, record, [*same, *older])

    async def _read_near(self, user_key: str, vector: Vector, index: ScopeIndex) -> None:
        """Read the memories nearest to a new one: what it may repeat or correct."""
        records, k = self._collection.records, CANDIDATES
        near = (await records.search(user_key, vector, k, [Visibility.RECALLED], index.rows)).records
        if len(near) >= k and not index.complete:
            farthest = self._collection.calibration.closeness(near[-1].vector.vector() @ vector)
            if farthest >= _NEARLY_SAME:
                # Many say this (a group of sixty with one flight); the speaker's own copy may be further
                # down.
                answer = await records.search(user_key, vector, _MANY_NEAR, [Visibility.RECALLED], index.rows)
                near = answer.records
        index.read(near)

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
        winner = record.with_claims((old.episode.id, old.version) for old in older)
        hidden = [old.changed(status=Status.SUPERSEDED, superseded_by=winner.episode.id) for old in older]
        with self._half_done_drops_index(winner.episode.user_key):
            await self._collection.write([winner, *hidden], older)
        for old in older:
            index.discard(old.episode.id)
        index.changed(winner)
        logger.info(
            "episode written: episode_id=%s content_len=%d superseded=%d",
            winner.episode.id,
            len(winner.episode.content),
            len(older),
        )
        return Remembered(winner.episode, superseded=tuple(old.episode.id for old in older))

    async def _repair(self, user_key: str, index: ScopeIndex) -> None:
        """Finish corrections that a crash interrupted: what they replaced may still have an active row."""
        leftovers = index.leftovers()
        if not leftovers:
            return
        with self._half_done_drops_index(user_key):
            current = await self._collection.records.find(user_key, [r.episode.id for r, _ in leftovers])
            for old, winner in leftovers:
                newest = current.get(old.episode.id)
                if newest is not None and newest.version == old.version:
                    hidden = old.changed(status=Status.SUPERSEDED, superseded_by=winner)
                    await self._collection.write([hidden], [old])
        for old, _ in leftovers:
            index.discard(old.episode.id)

    @contextmanager
    def _half_done_drops_index(self, user_key: str) -> Iterator[None]:
        """Drop the index when a change fails or is cancelled: nobody knows how much of it reached the
        store.
        """
        try:
            yield
        except BaseException:
            self._collection.indexes.drop(user_key)
            raise

    # ------------------------------------------------------------ reading

    async def find(self, scope: Scope, episode_id: str) -> Episode:
        """Return one memory of the scope, whatever its status.

        Raises:
            NotFound: ``id_unknown``; also for ids of other scopes.
            StoreFailed: the store did not answer.
        """
        record = await self._record_of(scope, episode_id)
        index = self._collection.indexes.of(scope.user_key)
        indexed = index.get(episode_id)
        if indexed is not None and indexed.version < record.version:
            # A change that a crash interrupted: only now its newer half was seen.
            if record.visibility is Visibility.RECALLED:
                index.read([record])
            else:
                index.discard(episode_id)
        return record.episode

    async def hidden(self, user_key: str) -> list[Record]:
        """Return all superseded and archived memories of a scope (a full listing of them).

        Raises:
            StoreFailed: the store did not answer.
        """
        if not self._collection.filled:
            return []
        return await self._collection.records.everything(user_key, Visibility.HIDDEN)

    async def select(self, user_key: str, filters: Filters) -> list[Episode]:
        """Return every memory that passes the filters, newest first.

        Raises:
            StoreFailed: the scope could not be read whole; a part is never passed off as all.
        """
        records: list[Record] = []
        if Status.ACTIVE in filters.statuses:
            records += (await self._recaller.loaded(user_key)).living()
        if filters.statuses - {Status.ACTIVE}:
            records += await self.hidden(user_key)
        kept = [r.episode for r in latest(records) if filters.keeps(r.episode)]
        return sorted(kept, key=newest_first)

    # ------------------------------------------------------------ changing

    async def set_status(self, scope: Scope, episode_id: str, status: Status) -> Episode:
        """Archive or restore a memory; every other field stays as it is, and nothing is embedded.

        Args:
            scope: where it is.
            episode_id: which.
            status: ``archived`` for an active one, ``active`` for a hidden one. A superseded memory that is
                restored is no longer superseded by anything; what replaced it stays active as well.

        Raises:
            NotFound: not in this scope.
            BadArgument: ``status_already`` or ``archive_superseded``; nothing was changed.
            StoreFailed, StorageFailed: it may be half done; what was there is still there.
        """
        async with self._collection.lock(scope.user_key):
            record = await self._record_of(scope, episode_id)
            known = record.episode.status
            if known is status:
                raise BadArgument("status_already", id=episode_id, status=status.value)
            if status is Status.ARCHIVED and known is Status.SUPERSEDED:
                raise BadArgument("archive_superseded", id=episode_id)
            fields: dict[str, object] = {"status": status}
            if status is Status.ACTIVE:
                fields["superseded_by"] = ""
            return await self._replace(record, record.changed(**fields))

    async def edit(self, scope: Scope, episode_id: str, content: str) -> Episode:
        """Give a memory another text; id, times, speaker and status stay.

        Raises:
            NotFound: not in this scope.
            BadArgument: the text cannot be stored, is the one it has (``edit_same``), or the same speaker
                already said it (``edit_duplicate``).
            EmbeddingFailed, StoreFailed, StorageFailed: what was there is still there.
        """
        text = checked_content(content)
        if not self._collection.filled:
            raise NotFound("id_unknown", id=episode_id)
        vectors, _ = await asyncio.gather(
            self._collection.embeddings.embed([text], stored=True),
            self._recaller.warm(scope.user_key, seconds=_WARM_SECONDS),
        )
        async with self._collection.lock(scope.user_key):
            record = await self._record_of(scope, episode_id)
            if record.episode.content == text:
                raise BadArgument("edit_same", id=episode_id)
            not_labelled_secret(record.episode.tags, text)
            index = self._collection.indexes.of(scope.user_key)
            await self._read_near(scope.user_key, vectors[0], index)
            for other in index.saying(text):
                if other.episode.id != episode_id and other.episode.sender_id == record.episode.sender_id:
                    raise BadArgument("edit_duplicate", id=other.episode.id)
            vector = Quantized.of(vectors[0])
            new = replace(record.changed(content=text), vector=vector, model=self._collection.base.model)
            return await self._replace(record, new)

    async def _record_of(self, scope: Scope, episode_id: str) -> Record:
        if not self._collection.filled or not is_id(episode_id):
            raise NotFound("id_unknown", id=episode_id)
        record = (await self._collection.records.find(scope.user_key, [episode_id])).get(episode_id)
        if record is None:
            raise NotFound("id_unknown", id=episode_id)
        return record

    async def _replace(self, old: Record, new: Record) -> Episode:
        """Write the next version of a memory; its scope's lock is held."""
        user_key = new.episode.user_key
        with self._half_done_drops_index(user_key):
            await self._collection.write([new], [old])
        index = self._collection.indexes.of(user_key)
        if new.visibility is Visibility.RECALLED:
            index.changed(new)
        else:
            index.discard(new.episode.id)
        logger.info(
            "episode changed: episode_id=%s status=%s content_len=%d",
            new.episode.id,
            new.episode.status,
            len(new.episode.content),
        )
        return new.episode

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
            StoreFailed: it may still be there; nothing is reported as deleted.
        """
        async with self._collection.lock(scope.user_key):
            chain = await self._chain(scope.user_key, episode)
            await self._delete(scope.user_key, [episode.id, *chain])
        return Forgotten(episode, tuple(chain))

    async def _chain(self, user_key: str, episode: Episode) -> list[str]:
        found: dict[str, Episode] = {}
        heads = {episode.id: episode}
        while claimed := [i for e in heads.values() for i, _ in e.supersedes if i != episode.id]:
            older = (await self._collection.records.find(user_key, claimed)).values()
            heads = {
                r.episode.id: r.episode
                for r in older
                if r.episode.sender_id == episode.sender_id
                and r.episode.superseded_by in heads
                and r.episode.status is Status.SUPERSEDED
                and r.episode.id not in found
            }
            found |= heads
        return list(found)

    async def erase(self, scope: Scope, chosen: Callable[[Episode], bool]) -> tuple[str, ...]:
        """Delete every memory of the scope that is chosen, whatever its status, and read the whole scope again
        to see that none is left; returns the ids.

        Raises:
            StoreFailed: ``delete_unverified`` or as :meth:`select`; some may still be there.
        """
        everything = Filters(statuses=KEPT_STATUSES)
        self._collection.indexes.drop(scope.user_key)
        found = [e for e in await self.select(scope.user_key, everything) if chosen(e)]
        deleted = await self.delete_many(scope, found)
        self._collection.indexes.drop(scope.user_key)
        left = sum(chosen(e) for e in await self.select(scope.user_key, everything))
        if left:
            raise StoreFailed("delete_unverified", count=left)
        return deleted

    async def delete_many(self, scope: Scope, episodes: Iterable[Episode]) -> tuple[str, ...]:
        """Delete these memories for real; returns their ids.

        Raises:
            StoreFailed: some may still be there; nothing is reported as deleted.
        """
        ids = [e.id for e in episodes]
        async with self._collection.lock(scope.user_key):
            await self._delete(scope.user_key, ids)
        return tuple(ids)

    async def _delete(self, user_key: str, ids: Sequence[str]) -> None:
        if not ids:
            return
        with self._half_done_drops_index(user_key):
            await self._collection.records.delete(user_key, ids)
        self._collection.indexes.of(user_key).deleted(ids)
        logger.info("episodes deleted: count=%d", len(ids))
