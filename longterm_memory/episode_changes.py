"""Changing one memory: archive, restore, edit. Its id, times and speaker stay."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from .collection import Collection
from .drafts import Revision, checked_content
from .episode_writing import EpisodeWriter
from .errors import BadArgument, NotFound
from .ids import is_id
from .logs import get_logger
from .models import Episode, Status
from .recall.index import ScopeIndex
from .recall.recaller import CANDIDATES, Recaller
from .records.envelope import Record
from .records.vectors import Quantized, Vector
from .scope import Scope
from .withdrawals import Check, unchecked

__all__ = ["WARM_SECONDS", "Changed", "EpisodeChanges", "read_near", "record_of"]

logger = get_logger(__name__)

WARM_SECONDS = 2.0
"""Seconds that a change waits for a page of a cold index."""
_MANY_NEAR = 500
"""Nearest memories looked at when even the 50th says nearly the same."""
_LEFT_OUT_SECONDS = 8.0
"""Seconds that a change goes on reading the scope when the store left out of its answer what is there."""
_NEARLY_SAME = 0.9
"""Closeness (:meth:`Calibration.closeness`) from which that is so."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Outcome of a change: the memory as it was and as it is."""

    before: Episode
    episode: Episode


async def record_of(collection: Collection, user_key: str, episode_id: str) -> Record:
    """Return the current record of a memory.

    Raises:
        NotFound: ``id_unknown``; also for ids of other scopes.
        StoreFailed: the store did not answer.
    """
    if not collection.filled or not is_id(episode_id):
        raise NotFound("id_unknown", id=episode_id)
    record = (await collection.records.find(user_key, [episode_id])).get(episode_id)
    # What was deleted and is there again is a late row of a write that was given up before; it goes when no more
    # can come.
    if record is None or collection.unsettled.is_gone(user_key, episode_id):
        raise NotFound("id_unknown", id=episode_id)
    return record


async def read_near(
    collection: Collection, recaller: Recaller, user_key: str, vector: Vector, index: ScopeIndex
) -> None:
    """Read the memories nearest to a new text: what it may repeat or correct.

    Raises:
        StoreFailed: the store did not answer.
    """
    k = CANDIDATES
    near = (await recaller.nearest(user_key, vector, k, index, patience=_LEFT_OUT_SECONDS)).records
    if len(near) >= k and not index.complete:
        farthest = collection.calibration.closeness(near[-1].vector.vector() @ vector)
        if farthest >= _NEARLY_SAME:
            # Many say this (a group of sixty with one flight); the speaker's own copy may be further
            # down.
            near = (await recaller.nearest(user_key, vector, _MANY_NEAR, index)).records
    index.read(near)


class EpisodeChanges:
    """Changes single memories of one collection.

    Args:
        collection: the knowledge base in use.
        recaller: loads indexes of scopes.
        writer: writes them.
    """

    def __init__(self, collection: Collection, recaller: Recaller, writer: EpisodeWriter) -> None:
        self._collection = collection
        self._recaller = recaller
        self._writer = writer

    async def set_status(
        self, scope: Scope, episode_id: str, status: Status, check: Check = unchecked
    ) -> Changed:
        """Archive or restore a memory; every other field stays as it is, and nothing is embedded.

        Args:
            scope: where it is.
            episode_id: which.
            status: ``archived`` for an active one, ``active`` for a hidden one. A superseded memory that is
                restored is no longer superseded by anything; what replaced it stays active as well.
            check: asked right before the write.

        Raises:
            NotFound: not in this scope.
            Forbidden: the check refuses.
            BadArgument: ``status_already``, ``archive_superseded``, or ``edit_duplicate`` when the same speaker
                has an active memory that says the same; nothing was changed.
            StoreFailed, StorageFailed: nothing was changed, or (``change_unknown``) nobody can tell.
        """
        async with self._collection.lock(scope.user_key):
            record = await record_of(self._collection, scope.user_key, episode_id)
            known = record.episode.status
            if known is status:
                raise BadArgument("status_already", id=episode_id, status=status.value)
            if status is Status.ARCHIVED and known is Status.SUPERSEDED:
                raise BadArgument("archive_superseded", id=episode_id)
            if status is not Status.ACTIVE:
                check()
                await self._writer.finish(scope.user_key, [record.episode])
                return await self._replace(record, self._writer.hidden(record, status=status))
            await self._refuse_second(scope, record.episode, record.vector.vector(), record.model)
            check()
            await self._writer.finish(scope.user_key, [record.episode])
            return await self._replace(record, self._writer.next(record, status=status, superseded_by=""))

    async def edit(
        self, scope: Scope, episode_id: str, revision: Revision, check: Check = unchecked
    ) -> Changed:
        """Give a memory another text, tags, importance or time; id, speaker and status stay. Only another text is
        embedded.

        Args:
            scope: where it is.
            episode_id: which.
            revision: what changes.
            check: asked right before the write.

        Raises:
            NotFound: not in this scope.
            BadArgument: a value cannot be stored, all of them are what it has (``edit_same``), or the same speaker
                already said that text (``edit_duplicate``).
            EmbeddingFailed, StoreFailed, StorageFailed: nothing was changed, or (``change_unknown``) nobody can
                tell.
        """
        texts = [] if revision.content is None else [checked_content(revision.content)]
        if not self._collection.filled:
            raise NotFound("id_unknown", id=episode_id)
        vectors: list[Vector] = []
        if texts:
            vectors, _ = await asyncio.gather(
                self._collection.embeddings.embed(texts, stored=True),
                self._recaller.warm(scope.user_key, seconds=WARM_SECONDS),
            )
        async with self._collection.lock(scope.user_key):
            record = await record_of(self._collection, scope.user_key, episode_id)
            fields = revision.of(record.episode)
            model = self._collection.base.model
            if "content" in fields:
                said = record.episode.model_copy(update=fields)
                await self._refuse_second(scope, said, vectors[0], model)
            check()
            await self._writer.finish(scope.user_key, [record.episode])
            new = self._writer.next(record, **fields)
            if "content" in fields:
                new = replace(new, vector=Quantized.of(vectors[0]), model=model)
            return await self._replace(record, new)

    async def _refuse_second(self, scope: Scope, episode: Episode, vector: Vector, model: str) -> None:
        """Refuse a text that another active memory of the same speaker has.

        Raises:
            BadArgument: ``edit_duplicate``.
            StoreFailed: the store did not answer.
        """
        index = self._collection.indexes.of(scope.user_key)
        if model == self._collection.base.model:
            await read_near(self._collection, self._recaller, scope.user_key, vector, index)
        for other in index.saying(episode.content):
            if other.episode.id != episode.id and other.episode.sender_id == episode.sender_id:
                raise BadArgument("edit_duplicate", id=other.episode.id)

    async def _replace(self, old: Record, new: Record) -> Changed:
        """Write the next version of a memory; its scope's lock is held."""
        await self._writer.write([new], [old])
        logger.info(
            "episode changed: episode_id=%s status=%s content_len=%d",
            new.episode.id,
            new.episode.status,
            len(new.episode.content),
        )
        return Changed(old.episode, new.episode)
