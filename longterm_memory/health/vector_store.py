"""The vector database, tried out with two memories of our own under two made-up scopes.

They go through the real record scheme, so what holds for them holds for everybody's: writing, listing,
searching and deleting keep to the scope that was asked for, seen by reading back. Both scopes have random
names of a shape that no conversation has. Nothing is read before something was written (on Milvus that would
fix a wrong dimension for ever), and nothing is deleted through a store that was seen to ignore filters: that
might delete everything.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from weakref import WeakKeyDictionary

import numpy as np

from ..collection import Collection
from ..errors import EmbeddingFailed, LongTermMemoryError, NotConfigured, StorageFailed, StoreFailed
from ..ids import new_id
from ..logs import get_logger
from ..models import Episode
from ..ports import FileIds, FilterDiagnostics, Host, VectorRow
from ..records.envelope import Record
from ..records.keys import Visibility, file_id
from ..records.store import Answer, RecordStore
from ..records.traits import MIXES_UP_ANSWERS, metric_of
from ..records.vectors import Quantized, Vector, unit
from .outcomes import Level
from .report import Check
from .steps import Writes, attempt, detail, to_the_end
from .timing import Budget, Watch

__all__ = ["STEPS", "USER_KEY_PREFIX", "StoreProbe"]

logger = get_logger(__name__)

USER_KEY_PREFIX = "health:"
"""Start of a made-up scope; the key of a conversation has a ``_``, that of a bot starts with ``bot:``."""

STEPS = {
    "store_write": "",
    "store_list": "store_write",
    "store_search": "store_write",
    "store_metric": "store_search",
    "store_plain_filter": "store_write",
    "store_delete": "store_list",
}
"""The checks in their order, each with the one that has to be well before it makes sense."""

_CONTENT = 'Health check: it\'s "quoted" \\ 记忆\n\t🥄'
"""Content of both memories; holds everything that some backend has to escape."""
_COSINE = 0.5
"""Cosine between the two memories: the known metrics are far apart there."""
_NEIGHBOURS = 5
_ROWS = 10
_PAUSES = (0.1, 0.2, 0.3, 0.5, 0.9)
"""Seconds between looks for an own write; SeekDB shows it to a search after 0.2 s."""
_LOOKING_SHARE = 0.6
"""Share of a step's time that is spent on looking again."""

_leftovers: WeakKeyDictionary[RecordStore, set[str]] = WeakKeyDictionary()
"""Made-up scopes of each knowledge base that may still hold rows; the next check removes them."""


class StoreProbe:
    """One trial of the vector database behind a knowledge base.

    Args:
        host: its vectors.
        collection: the knowledge base; the model has to answer if nothing was stored in it yet.
        budget: time for it.
        now: the time of the made-up memories.
    """

    def __init__(self, host: Host, collection: Collection, budget: Budget, now: datetime) -> None:
        self._host = host
        self._collection = collection
        self._records = collection.records
        self._budget = budget
        self._now = now
        self._near: Record
        self._far: Record
        self._writes = Writes()
        self._written: list[str] = []
        self._searchable = False

    async def run(self) -> list[Check]:
        """Make every check of :data:`STEPS` and clean up.

        Returns:
            These checks and ``store_cleanup``.
        """
        try:
            checks = await self._tried()
        finally:
            cleaned = await self._cleaned()
        return [*checks, cleaned]

    async def _tried(self) -> list[Check]:
        steps: dict[str, Callable[[], Awaitable[Check]]] = {
            "store_write": self._write,
            "store_list": self._list,
            "store_search": self._search,
            "store_metric": self._metric,
            "store_plain_filter": self._plain_filter,
            "store_delete": self._delete,
        }
        made: dict[str, Check] = {}
        slow = ""
        for name, needs in STEPS.items():
            before = made.get(needs)
            if before is not None and before.level is not Level.OK:
                because = before.values.get("because", needs) if before.outcome == "unchecked" else needs
                made[name] = Check.unchecked(name, str(because))
            elif self._budget.left <= 0 and slow:
                made[name] = Check.unchecked(name, slow)
            else:
                made[name] = await attempt(name, steps[name](), self._budget.step)
                slow = name if made[name].outcome == "hung" else slow
        return list(made.values())

    # ------------------------------------------------------------ the checks

    async def _write(self) -> Check:
        try:
            # The rest of the step is for our own rows.
            await self._collection.prepare(timeout=self._budget.step * 0.8)
        except LongTermMemoryError as exc:
            return _unprepared(exc)
        self._near, self._far = self._made_up()
        watch = Watch()
        try:
            for record in (self._near, self._far):
                self._written.append(record.episode.user_key)
                await self._writes.run(self._records.write([record]))
        except StoreFailed as exc:
            return self._failed_write(exc)
        return Check.of("store_write", "ok", ms=watch.ms // 2, dimension=self._near.vector.dimension)

    def _failed_write(self, exc: StoreFailed) -> Check:
        match exc.reason:
            case "write_unverified":
                return Check.of("store_write", "unverified")
            case "store_untrusted" | "store_distrusted":
                return Check.of("store_write", "foreign", count=exc.details["count"])
            case _:
                return Check.of(
                    "store_write", "refused", dimension=self._near.vector.dimension, detail=detail(exc)
                )

    async def _list(self) -> Check:
        watch = Watch()
        try:
            answers = [await self._listed(record) for record in (self._near, self._far)]
        except StoreFailed as exc:
            if exc.reason in ("store_untrusted", "store_distrusted"):
                return Check.of("store_list", "foreign", count=exc.details["count"])
            return Check.of("store_list", "failed", detail=detail(exc))
        foreign = sum(answer.foreign for answer in answers)
        if foreign:
            return Check.of("store_list", "foreign", count=foreign)
        if not self._both_in(answers):
            return Check.of("store_list", "missing")
        return Check.of("store_list", "ok", ms=watch.ms // 2)

    async def _listed(self, record: Record) -> Answer:
        cursor = self._records.cursor(record.episode.user_key, Visibility.RECALLED)
        pages = [page async for page in self._records.pages(cursor)]
        found = [one for page in pages for one in page.records]
        return Answer(found, sum(p.rows for p in pages), sum(p.foreign for p in pages))

    async def _search(self) -> Check:
        query, looking = self._near.vector.vector(), Watch()
        patience = self._budget.step * _LOOKING_SHARE * 1000
        try:
            for pause in (0.0, *_PAUSES):
                if looking.ms > patience:
                    break
                await asyncio.sleep(pause)
                waited, watch = looking.ms, Watch()
                answers = [await self._found(record, query) for record in (self._near, self._far)]
                foreign = sum(answer.foreign for answer in answers)
                if foreign:
                    return Check.of("store_search", "foreign", count=foreign)
                if self._both_in(answers):
                    self._searchable, lag = True, waited if pause else 0
                    return Check.of("store_search", "ok", ms=watch.ms // 2, visible_after_ms=lag)
        except StoreFailed as exc:
            if exc.reason in ("store_untrusted", "store_distrusted"):
                return Check.of("store_search", "foreign", count=exc.details["count"])
            return Check.of("store_search", "failed", detail=detail(exc))
        return Check.of("store_search", "blind", seconds=max(1, round(looking.ms / 1000)))

    async def _found(self, record: Record, query: Vector) -> Answer:
        return await self._records.search(record.episode.user_key, query, _NEIGHBOURS, [Visibility.RECALLED])

    def _both_in(self, answers: list[Answer]) -> bool:
        wanted = (self._near, self._far)
        return all(
            [_content(got) for got in answer.records] == [_content(record)]
            for answer, record in zip(answers, wanted, strict=True)
        )

    async def _metric(self) -> Check:
        near, far = self._near, self._far
        query = near.vector.vector()
        places = FileIds([_place(near), _place(far)])
        try:
            rows = await self._records.in_turn(
                lambda: self._host.search(self._collection.base.id, query.tolist(), _NEIGHBOURS, places)
            )
        except StoreFailed as exc:
            return Check.of("store_metric", "failed", detail=detail(exc))
        by_id = {row.id: row for row in rows}
        order = [row.id for row in rows if row.id in (near.row_id, far.row_id)]
        if order != [near.row_id, far.row_id]:
            return Check.of("store_metric", "backwards")
        cosine = float(query @ far.vector.vector())
        measured = [(1.0, by_id[near.row_id].distance), (cosine, by_id[far.row_id].distance)]
        metric, whole = metric_of(measured), "user_key" in by_id[near.row_id].metadata
        backend = replace(self._records.traits, metric=metric, whole_metadata=whole).backend
        outcome = "mixes" if backend == MIXES_UP_ANSWERS else metric
        return Check.of("store_metric", outcome, metric=metric, whole_metadata=whole, backend=backend)

    async def _plain_filter(self) -> Check:
        host = self._host
        if not isinstance(host, FilterDiagnostics):
            return Check.of("store_plain_filter", "unasked")
        diagnostics: FilterDiagnostics = host
        key = self._near.episode.user_key

        async def ask() -> list[VectorRow]:
            return await diagnostics.list_by_user_key(self._collection.base.id, key, _ROWS)

        try:
            rows = await self._records.in_turn(ask)
        except StoreFailed:
            return Check.of("store_plain_filter", "refused")
        if any(row.id != self._near.row_id for row in rows):
            return Check.of("store_plain_filter", "dropped")
        return Check.of("store_plain_filter", "held" if rows else "nothing")

    async def _delete(self) -> Check:
        near, far, watch = self._near, self._far, Watch()
        try:
            await self._records.delete(near.episode.user_key, [near.episode.id])
            ms = watch.ms
            if not await self._records.find(far.episode.user_key, [far.episode.id]):
                return Check.of("store_delete", "too_much")
            if await self._lingers():
                return Check.of("store_delete", "lingers")
        except StoreFailed as exc:
            if exc.reason == "delete_unverified":
                return Check.of("store_delete", "kept", count=exc.details["count"])
            return Check.of("store_delete", "failed", detail=detail(exc))
        return Check.of("store_delete", "ok", ms=ms)

    async def _lingers(self) -> bool:
        """Whether a search still finds what is deleted, if searching works at all."""
        if not self._searchable:
            return False
        for pause in (0.0, *_PAUSES):
            await asyncio.sleep(pause)
            if not (await self._found(self._near, self._near.vector.vector())).records:
                return False
        return True

    # ------------------------------------------------------------ made-up memories

    def _made_up(self) -> tuple[Record, Record]:
        """Return two memories of two scopes with a known cosine between them."""
        first, other = self._collection.calibration.vectors[:2]
        across = other - (other @ first) * first
        if float(np.linalg.norm(across)) < 1e-3:
            across = np.roll(first, 1) - (np.roll(first, 1) @ first) * first
        far = _COSINE * first + np.sqrt(1.0 - _COSINE**2) * unit(across)
        return self._memory(first), self._memory(unit(far))

    def _memory(self, vector: Vector) -> Record:
        episode = Episode(
            id=new_id(),
            content=_CONTENT,
            timestamp=self._now,
            created_at=self._now,
            user_key=f"{USER_KEY_PREFIX}{secrets.token_hex(16)}",
            source="health",
        )
        return Record(episode, 1, Quantized.of(vector), self._collection.base.model)

    # ------------------------------------------------------------ cleaning up

    async def _cleaned(self) -> Check:
        keys = [*self._written, *_leftovers.pop(self._records, ())]
        if not keys:
            return Check.of("store_cleanup", "ok", scopes=0)
        seconds = self._budget.cleaning
        try:
            cleaned = await to_the_end(self._erased(keys, seconds / 2), seconds)
        except Exception:
            logger.exception("health: check=store_cleanup outcome=internal")
            cleaned = None
        return cleaned or Check.of("store_cleanup", "unverified")

    async def _erased(self, keys: list[str], seconds: float) -> Check:
        """Delete every row of these scopes; what is not seen to be gone is left to the next check."""
        doubtful, left = set(keys), 0
        try:
            landed = await self._writes.landed(seconds)
            for key in keys:
                try:
                    await self._records.erase(key)
                except StoreFailed as exc:
                    left += exc.details["count"] if exc.reason == "delete_unverified" else 0  # type: ignore[operator]
                else:
                    doubtful -= {key} if landed else set()
        finally:
            if doubtful:
                _leftovers.setdefault(self._records, set()).update(doubtful)
        if left:
            return Check.of("store_cleanup", "left", count=left)
        return Check.of("store_cleanup", "unverified" if doubtful else "ok", scopes=len(keys))


def _unprepared(exc: LongTermMemoryError) -> Check:
    """Return why the first write to a knowledge base was not possible."""
    match exc:
        case EmbeddingFailed():
            return Check.unchecked("store_write", "embedding")
        case NotConfigured():
            return Check.unchecked("store_write", "knowledge_base")
        case StorageFailed():
            return Check.unchecked("store_write", "storage")
        case _:
            return Check.of("store_write", "refused", detail=detail(exc))


def _content(record: Record) -> tuple[Episode, int, bytes]:
    return record.episode, record.version, record.vector.codes.tobytes()


def _place(record: Record) -> str:
    return file_id(record.episode.user_key, record.visibility, record.episode.id)
