"""L2: remembering, correcting, listing and forgetting episodes of a scope.

Changes of one scope happen one at a time. Whatever is reported as done was read back from the store before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from .collection import Collection
from .errors import BadArgument, NotFound
from .ids import new_id
from .logs import get_logger
from .models import CONTENT_MAX, IMPORTANCE_DEFAULT, Episode, Filters, Status
from .recall.index import ScopeIndex
from .recall.recaller import CANDIDATES, PAGE_ROWS, Recaller
from .records.envelope import Record
from .records.keys import Visibility
from .records.store import latest
from .records.vectors import Quantized, Vector
from .scope import Scope, Speaker
from .text.corrections import is_correction, topic_overlap
from .text.fold import same_text, well_formed
from .text.secrets import find_secret

__all__ = ["EpisodeDraft", "EpisodeStore", "Forgotten", "Remembered", "checked_content"]

logger = get_logger(__name__)

_WRITE_ROWS = 200
"""Rows of one import batch: embedded, written and read back together."""


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """What somebody wants remembered.

    Attributes:
        content: text as given, at most ``CONTENT_MAX`` characters.
        tags: free labels; some mark a correction (:mod:`longterm_memory.text.corrections`).
        importance: 1..5.
        timestamp: when it happened; ``None`` = now.
        source: who brought it (``agent``, ``import``…).
        sender: whose memory it is.
        id: wanted episode id (imports of our own exports); ``""`` = a new one.
        imported_id: id it had elsewhere.
        document_id: upload that brought it.
    """

    content: str
    tags: tuple[str, ...] = ()
    importance: int = IMPORTANCE_DEFAULT
    timestamp: datetime | None = None
    source: str = "agent"
    sender: Speaker = field(default_factory=Speaker)
    id: str = ""
    imported_id: str = ""
    document_id: str = ""


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


def checked_content(content: str) -> str:
    """Return content that may be stored, without space at its ends.

    Raises:
        BadArgument: ``content_empty``, ``content_too_long`` or ``content_secret``.
    """
    text = well_formed(content).strip()
    if not text:
        raise BadArgument("content_empty")
    if len(text) > CONTENT_MAX:
        raise BadArgument("content_too_long", length=len(text), limit=CONTENT_MAX)
    kind = find_secret(text)
    if kind:
        raise BadArgument("content_secret", kind=kind)
    return text


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
        """Store a memory, unless the same speaker already said exactly that; a correction replaces older versions.

        Raises:
            BadArgument: the content cannot be stored.
            EmbeddingFailed, StoreFailed, StorageFailed: nothing was stored, or it could not be verified.
        """
        content = checked_content(draft.content)
        await self._collection.prepare()
        vector = (await self._collection.embeddings.embed([content]))[0]
        async with self._collection.lock(scope.user_key):
            index = self._collection.indexes.of(scope.user_key)
            near = await self._collection.records.search(
                scope.user_key, vector, CANDIDATES, [Visibility.RECALLED]
            )
            index.read(near.records)
            same = [r for r in index.saying(content) if r.episode.sender_id == draft.sender.id]
            if same:
                return Remembered(same[0].episode, duplicate=True)
            record = self._record(scope, draft, content, vector, index)
            older = self._replaced(record, vector, index) if is_correction(draft.tags) else []
            return await self._store(index, record, older)

    def _record(
        self, scope: Scope, draft: EpisodeDraft, content: str, vector: Vector, index: ScopeIndex | None = None
    ) -> Record:
        now = self._now()
        episode_id = draft.id or new_id()
        while index is not None and not draft.id and index.has(episode_id):
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

    def _replaced(self, record: Record, vector: Vector, index: ScopeIndex) -> list[Record]:
        """Older active memories of the same speaker that a correction is about.

        They must share a good part of their topic words (names of the speaker say nothing about the topic) and be
        closer than unrelated texts; almost the same direction needs less. Merely related facts ("sister" when the
        correction is about a "brother") stay.
        """
        mine = [r for r in index.living() if r.episode.sender_id == record.episode.sender_id]
        slots = index.slots(r.episode.id for r in mine)
        calibration = self._collection.calibration
        floor = calibration.mean + calibration.spread
        found = []
        for other, cosine in zip(mine, index.cosines(vector, slots), strict=True):
            closeness = (float(cosine) - floor) / (1.0 - floor)
            overlap = topic_overlap(
                other.episode.content, record.episode.content, ignored=(record.episode.sender_name,)
            )
            if overlap >= 0.4 and closeness >= 0.2 or overlap > 0 and closeness >= 0.8:
                found.append(other)
        return found

    async def _store(self, index: ScopeIndex, record: Record, older: Sequence[Record]) -> Remembered:
        claims = tuple((old.episode.id, old.version) for old in older)
        winner = Record(
            record.episode.model_copy(update={"supersedes": claims}),
            record.version,
            record.vector,
            record.model,
        )
        hidden = [old.changed(status=Status.SUPERSEDED, superseded_by=winner.episode.id) for old in older]
        await self._collection.records.write([winner, *hidden], older)
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

    async def add_many(
        self, scope: Scope, drafts: Sequence[EpisodeDraft], said_in: Sequence[Scope] = ()
    ) -> tuple[list[Episode], int]:
        """Store drafts that are not there yet, in batches; can be repeated after a failure.

        Args:
            scope: where they go.
            drafts: checked drafts (:func:`checked_content`).
            said_in: per draft, the conversation it was said in, when that is not ``scope`` (same user key).

        Returns:
            The episodes that were stored, and how many drafts were there already (or twice among the drafts).

        Raises:
            EmbeddingFailed, StoreFailed, StorageFailed: the batches before the failure are stored.
        """
        await self._collection.prepare()
        stored: list[Episode] = []
        async with self._collection.lock(scope.user_key):
            index = await self._recaller.loaded(scope.user_key, timeout=600.0)
            seen = _Seen(
                [r.episode for r in index.living()] + [r.episode for r in await self.hidden(scope.user_key)]
            )
            places = said_in or [scope] * len(drafts)
            fresh = [(place, draft) for place, draft in zip(places, drafts, strict=True) if seen.add(draft)]
            for start in range(0, len(fresh), _WRITE_ROWS):
                batch = fresh[start : start + _WRITE_ROWS]
                vectors = await self._collection.embeddings.embed([d.content for _, d in batch])
                records = [
                    self._record(place, d, d.content, v, index)
                    for (place, d), v in zip(batch, vectors, strict=True)
                ]
                await self._collection.records.write(records)
                for record in records:
                    index.changed(record)
                stored += [r.episode for r in records]
                logger.info("import batch written: rows=%d of=%d", start + len(batch), len(fresh))
        return stored, len(drafts) - len(fresh)

    # ------------------------------------------------------------ reading

    async def find(self, scope: Scope, episode_id: str) -> Episode:
        """Return one memory of the scope, whatever its status.

        Raises:
            NotFound: ``id_unknown``; also for ids of other scopes.
            StoreFailed: the store did not answer.
        """
        if not self._collection.filled:
            raise NotFound("id_unknown", id=episode_id)
        found = await self._collection.records.find(scope.user_key, [episode_id])
        if episode_id not in found:
            raise NotFound("id_unknown", id=episode_id)
        return found[episode_id].episode

    async def hidden(self, user_key: str) -> list[Record]:
        """Return all superseded and archived memories of a scope (a full listing of them).

        Raises:
            StoreFailed: the store did not answer.
        """
        found: list[Record] = []
        offset = 0
        while self._collection.filled:
            page = await self._collection.records.page(user_key, Visibility.HIDDEN, PAGE_ROWS, offset)
            found += page.records
            offset += page.rows
            if page.last:
                break
        return latest(found)

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
        return sorted(kept, key=lambda e: (-e.timestamp.timestamp(), e.id))

    # ------------------------------------------------------------ forgetting

    async def forget(self, scope: Scope, episode: Episode) -> Forgotten:
        """Delete a memory for real; a correction takes the superseded versions of its chain and speaker with it.

        Raises:
            StoreFailed: it may still be there; nothing is reported as deleted.
        """
        async with self._collection.lock(scope.user_key):
            chain = await self._chain(scope.user_key, episode)
            await self._delete(scope.user_key, [episode.id, *chain])
        return Forgotten(episode, tuple(chain))

    async def _chain(self, user_key: str, episode: Episode) -> list[str]:
        found: list[str] = []
        claimed = [i for i, _ in episode.supersedes]
        heads = {episode.id}
        while claimed:
            older = (await self._collection.records.find(user_key, claimed)).values()
            mine = [
                r.episode
                for r in older
                if r.episode.sender_id == episode.sender_id
                and r.episode.superseded_by in heads
                and r.episode.status is Status.SUPERSEDED
                and r.episode.id not in found
            ]
            found += [e.id for e in mine]
            heads = {e.id for e in mine}
            claimed = [i for e in mine for i, _ in e.supersedes]
        return found

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
        await self._collection.records.delete(user_key, ids)
        index = self._collection.indexes.of(user_key)
        for episode_id in ids:
            index.discard(episode_id)
        logger.info("episodes deleted: count=%d", len(ids))


class _Seen:
    """What a scope already holds, so that an import adds nothing twice."""

    def __init__(self, episodes: Iterable[Episode]) -> None:
        self._ids: set[str] = set()
        self._imported: set[str] = set()
        self._said: set[tuple[str, str]] = set()
        for e in episodes:
            self._ids.add(e.id)
            self._said.add((same_text(e.content), e.sender_id))
            if e.imported_episode_id:
                self._imported.add(e.imported_episode_id)

    def add(self, draft: EpisodeDraft) -> bool:
        """Note a draft; ``False`` when it is there already."""
        said = (same_text(draft.content), draft.sender.id)
        known = (
            said in self._said
            or (bool(draft.id) and draft.id in self._ids)
            or (bool(draft.imported_id) and draft.imported_id in self._imported)
        )
        self._said.add(said)
        if draft.id:
            self._ids.add(draft.id)
        if draft.imported_id:
            self._imported.add(draft.imported_id)
        return not known
