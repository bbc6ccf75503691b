"""Bringing many memories in at once: what is there already is told first (:mod:`.import_plan`), then the rest is
embedded and written in batches. An import can be repeated after any interruption.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import NamedTuple

from .collection import Collection
from .drafts import EpisodeDraft
from .errors import BadArgument, EmbeddingFailed, LongTermMemoryError, StoreFailed
from .import_plan import Arrival, Plan, Planned, planned
from .logs import get_logger
from .models import Episode, Status
from .ports import VectorRecord
from .recall.index import ScopeIndex
from .recall.recaller import Recaller
from .records.envelope import Record, encode
from .records.keys import Visibility
from .records.store import latest
from .records.vectors import Quantized, Vector
from .scope import Scope

__all__ = ["EpisodeImporter", "Written"]

logger = get_logger(__name__)

EMBED_ROWS = 99
"""Texts of one embedding call: with the canary 100, what the host takes at once."""
WRITE_ROWS = 5 * EMBED_ROWS
"""Rows written and read back together."""
READ_BACK = 24
"""Rows of a batch of active memories that are read back word for word; at the end their number is."""
EMBED_SECONDS = 70.0
"""Seconds to wait for one call: the host itself gives up after 60."""
PAUSES = (1.0, 61.0, 61.0)
"""Seconds before a call that failed is made again, two of them longer than the breaker holds; then the import stops."""
RATE_SECONDS = 100.0
"""Seconds to wait, in pauses, for a service that takes no more requests: well beyond what a limit per minute takes."""
REFUSED_MAX = 20
"""Texts that the service refuses by themselves before the import stops."""
_LOAD_SECONDS = 600.0
"""Seconds that reading a whole scope may take."""
_PREPARED_ROWS = 50
"""Rows made before others get their turn: a few milliseconds."""
_PROBE = "ok"
"""A text that no embedding service refuses."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one batch: stored memories, rows said by somebody meanwhile, (line, reason) of refused ones."""

    stored: tuple[Episode, ...] = ()
    skipped: int = 0
    refused: tuple[tuple[int, LongTermMemoryError], ...] = ()

    @property
    def rows(self) -> int:
        """Rows that are done with."""
        return len(self.stored) + self.skipped + len(self.refused)


class _Prepared(NamedTuple):
    """A row with its record, or why there can be none, and the record as it is sent."""

    row: Planned
    record: Record | LongTermMemoryError
    encoded: VectorRecord | None = None


class EpisodeImporter:
    """Imports into one collection.

    Args:
        collection: the knowledge base in use.
        recaller: loads indexes of scopes.
        now: current time, UTC.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        collection: Collection,
        recaller: Recaller,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._collection = collection
        self._recaller = recaller
        self._now = now
        self._clock = clock

    async def add_many(
        self, scope: Scope, drafts: Sequence[EpisodeDraft], said_in: Sequence[Scope] = ()
    ) -> tuple[list[Episode], int]:
        """Store drafts that are not there yet; can be repeated after a failure.

        Args:
            scope: where they go.
            drafts: checked drafts (:func:`~longterm_memory.drafts.checked_content`).
            said_in: per draft, the conversation it was said in, when that is not ``scope`` (same user key).

        Returns:
            The episodes that were stored, and how many drafts were there already (or twice among the drafts).

        Raises:
            EmbeddingFailed, StoreFailed, StorageFailed: the batches before the failure are stored.
        """
        await self.prepare()
        arrivals = [
            Arrival(draft, place)
            for draft, place in zip(drafts, said_in or [scope] * len(drafts), strict=True)
        ]
        stored: list[Episode] = []
        async with self.turn(scope.user_key):
            plan = await self.plan(scope.user_key, arrivals)
            async with aclosing(self.write(scope.user_key, plan)) as batches:
                async for batch in batches:
                    stored += batch.stored
        return stored, len(drafts) - len(stored)

    async def prepare(self) -> None:
        """Make the knowledge base ready for a first write.

        Raises:
            EmbeddingFailed, StoreFailed, StorageFailed, NotConfigured: nothing can be written.
        """
        await self._collection.prepare()

    def turn(self, user_key: str) -> asyncio.Lock:
        """Return the lock under which a user key is planned and written, so that no two imports plan the same.

        Others may remember and forget there meanwhile.
        """
        # No user key holds a "|".
        return self._collection.lock(f"import|{user_key}")

    # ------------------------------------------------------------ planning

    async def plan(self, user_key: str, arrivals: Sequence[Arrival]) -> Plan:
        """Tell which rows are there already, and give the others their ids; nothing is written.

        Raises:
            StoreFailed: the scope could not be read whole.
        """
        there: list[Record] = []
        if self._collection.filled:
            # Reading the index first also brings rows of a crash that a correction has replaced: they are there.
            index = await self._recaller.loaded(user_key, timeout=_LOAD_SECONDS)
            there = [*index.rows.values()]
            there += await self._collection.records.everything(user_key, Visibility.HIDDEN)
        return planned(user_key, arrivals, [r.episode for r in latest(there)])

    # ------------------------------------------------------------ writing

    async def write(
        self,
        user_key: str,
        plan: Plan,
        *,
        until: float | None = None,
        check: Callable[[Arrival], None] = lambda _: None,
    ) -> AsyncGenerator[Written, None]:
        """Embed and write what a plan has to store, and yield what became of each batch.

        Args:
            user_key: where it goes; the caller holds its :meth:`turn`.
            plan: what to do; :meth:`prepare` came before.
            until: time on the clock after which no batch is begun and no call waited for again.
            check: asked about each row right before it is written; raises when it may not be any more.

        Raises:
            EmbeddingFailed, StoreFailed, StorageFailed: the batches before are stored.
        """
        rows = WRITE_ROWS if until is None else EMBED_ROWS
        batches = [plan.fresh[start : start + rows] for start in range(0, len(plan.fresh), rows)]
        done = 0
        async with aclosing(self._prepared(user_key, batches, until)) as prepared:
            async for batch in prepared:
                async with self._collection.lock(user_key):
                    written = await self._add(user_key, batch, plan.ids, check)
                    done += written.rows
                    if done == len(plan.fresh):
                        await self._count(user_key)
                logger.info("import batch written: rows=%d of=%d", done, len(plan.fresh))
                yield written

    async def _count(self, user_key: str) -> None:
        """See that the store has as many active memories as we know of: of a batch only some are read back.

        The lock of the scope is held.
        """
        index = self._collection.indexes.of(user_key)
        known = [record.episode.id for record in index.rows.values()]
        if not await self._collection.records.holds(user_key, Visibility.RECALLED, known):
            # The next import reads what is really there.
            self._collection.indexes.drop(user_key)
            raise StoreFailed("write_unverified")

    async def _prepared(
        self, user_key: str, batches: Sequence[Sequence[Planned]], until: float | None
    ) -> AsyncGenerator[list[_Prepared], None]:
        """Yield batches ready to be written; the next one is made ready while one is written."""
        ahead: asyncio.Task[list[_Prepared]] | None = None
        service = _Service(self._collection, self._clock, until)
        try:
            for number, batch in enumerate(batches):
                if number and service.late:
                    return
                prepared = await (ahead or self._prepare(user_key, batch, service))
                ahead = None
                if number + 1 < len(batches) and not service.late:
                    ahead = asyncio.ensure_future(self._prepare(user_key, batches[number + 1], service))
                yield prepared
        finally:
            if ahead is not None:
                ahead.cancel()
                ahead.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _prepare(self, user_key: str, batch: Sequence[Planned], service: _Service) -> list[_Prepared]:
        """Embed a batch and make its rows."""
        vectors = await service.embed([row.arrival.draft.content for row in batch])
        found: list[_Prepared] = []
        for number, (row, vector) in enumerate(zip(batch, vectors, strict=True)):
            if not number % _PREPARED_ROWS:
                await asyncio.sleep(0)
            if isinstance(vector, LongTermMemoryError):
                found.append(_Prepared(row, vector))
                continue
            quantized, model = Quantized.of(vector), self._collection.base.model
            record = Record(self._episode(user_key, row), 1, quantized, model)
            try:
                found.append(_Prepared(row, record, encode(record)))
            except StoreFailed as exc:
                # Keys or names of absurd length: that row's fault, not the store's.
                found.append(_Prepared(row, exc))
        return found

    async def _add(
        self,
        user_key: str,
        batch: Sequence[_Prepared],
        ids: frozenset[str],
        check: Callable[[Arrival], None],
    ) -> Written:
        """Write a batch; the lock of the scope is held."""
        index = self._collection.indexes.of(user_key)
        claimed = index.claimed_versions()
        records: list[Record] = []
        refused: list[tuple[int, LongTermMemoryError]] = []
        for one in batch:
            if isinstance(one.record, LongTermMemoryError):
                refused.append((one.row.arrival.line, one.record))
            elif (why := _refusal(check, one.row.arrival)) is not None:
                refused.append((one.row.arrival.line, why))
            elif not _said_meanwhile(one.row, index, ids):
                # A memory that was corrected, forgotten and comes back: not the version that is replaced.
                # Nor one that may still land from a write that was given up.
                taken = max(
                    claimed.get(one.row.id, 0), self._collection.unsettled.version(user_key, one.row.id)
                )
                records.append(one.record.at_version(taken + 1))
        if records:
            try:
                made = {one.encoded.id: one.encoded for one in batch if one.encoded}
                # Active memories come first; those behind them are read back one and all.
                active = all(record.visibility is Visibility.RECALLED for record in records)
                few = READ_BACK if active else len(records)
                await self._collection.write(records, encoded=made, read_back=few)
            except BaseException:
                # Nobody knows how much of it reached the store.
                self._collection.indexes.drop(user_key)
                raise
        for record in records:
            if record.visibility is Visibility.RECALLED:
                index.changed(record)
        return Written(
            tuple(r.episode for r in records), len(batch) - len(records) - len(refused), tuple(refused)
        )

    def _episode(self, user_key: str, row: Planned) -> Episode:
        arrival, draft, scope = row.arrival, row.arrival.draft, row.arrival.scope
        # Rows of one talk often bear one time; what was said after what is told by their order in the file.
        now = self._now() + timedelta(microseconds=arrival.line)
        return Episode(
            id=row.id,
            content=draft.content,
            tags=draft.tags,
            importance=draft.importance,
            timestamp=draft.timestamp or arrival.created_at or now,
            created_at=arrival.created_at or now,
            user_key=user_key,
            sender_id=draft.sender.id,
            sender_name=draft.sender.name,
            bot_uuid=scope.bot_uuid,
            session_name=scope.session_name,
            source=draft.source,
            status=arrival.status,
            superseded_by=row.superseded_by,
            # Version 0 is nobody's: what it replaced may be active again, and a claim would hide that.
            supersedes=tuple((episode_id, 0) for episode_id in row.supersedes),
            document_id=draft.document_id,
            imported_episode_id=draft.imported_id,
        )


def _refusal(check: Callable[[Arrival], None], arrival: Arrival) -> LongTermMemoryError | None:
    try:
        check(arrival)
    except LongTermMemoryError as exc:
        return exc
    return None


def _said_meanwhile(row: Planned, index: ScopeIndex, ids: frozenset[str]) -> bool:
    """Whether somebody remembered that since the import was planned."""
    if index.has(row.id):
        return True
    if row.arrival.home or row.arrival.status is not Status.ACTIVE:
        return False
    sender, said = row.arrival.draft.sender.id, index.saying(row.arrival.draft.content)
    return any(r.episode.sender_id == sender and r.episode.id not in ids for r in said)


class _Service:
    """The embedding service during one import: patient, but not without end.

    Args:
        collection: the knowledge base.
        clock: seconds, monotonic.
        until: time on the clock after which nothing is waited for.
    """

    def __init__(self, collection: Collection, clock: Callable[[], float], until: float | None) -> None:
        self._embeddings = collection.embeddings
        self._clock = clock
        self._until = until
        self._refused = 0

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self._until is not None and self._clock() >= self._until

    async def embed(self, texts: Sequence[str]) -> list[Vector | LongTermMemoryError]:
        """Return a vector for each text, or why the service will not take that one.

        Raises:
            EmbeddingFailed: the service does not answer, whatever the text.
        """
        found: list[Vector | LongTermMemoryError] = []
        for start in range(0, len(texts), EMBED_ROWS):
            found += await self._some(texts[start : start + EMBED_ROWS])
        return found

    async def _some(self, texts: Sequence[str]) -> list[Vector | LongTermMemoryError]:
        for pause in (*PAUSES, None):
            try:
                return [*await self._call(texts)]
            except EmbeddingFailed as exc:
                if exc.reason in ("embedding_busy", "model_changed"):
                    raise
                if exc.reason != "embedding_pause" and await self._answers():
                    return await self._halves(texts, exc)
                if (
                    exc.reason == "embedding_unusable"
                    or pause is None
                    or (self._until is not None and self._clock() + pause >= self._until)
                ):
                    raise
                logger.warning("import waits: reason=%s seconds=%d", exc.reason, pause)
                await asyncio.sleep(pause)
        raise AssertionError("unreachable")

    async def _call(self, texts: Sequence[str]) -> list[Vector]:
        left = RATE_SECONDS if self._until is None else self._until - self._clock()
        patience = min(RATE_SECONDS, max(0.0, left))
        return await self._embeddings.embed(texts, timeout=EMBED_SECONDS, stored=True, patience=patience)

    async def _answers(self) -> bool:
        """Whether the service takes a text of ours: then it was the others that it refused."""
        try:
            await self._call([_PROBE])
        except EmbeddingFailed as exc:
            if exc.reason == "embedding_busy":
                raise
            return False
        return True

    async def _halves(self, texts: Sequence[str], why: EmbeddingFailed) -> list[Vector | LongTermMemoryError]:
        """Embed texts of which the service refuses some (too long for the model, say)."""
        if len(texts) == 1:
            self._refused += 1
            if self._refused > REFUSED_MAX:
                raise why
            return [BadArgument("row_not_embedded")]
        found: list[Vector | LongTermMemoryError] = []
        half = len(texts) // 2
        for part in (texts[:half], texts[half:]):
            found += await self._some(part)
        return found
