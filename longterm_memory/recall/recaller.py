"""The one recall behind automatic injection, the tool, the command, the engine and the console.

One embedding call and one vector search per question, whatever the size of the scope. The lexical index of the scope
joins in with candidates of its own as far as it is loaded; while it is cold, a page of it is read beside the embedding
call, so a busy conversation warms up by itself, and commands and tools load it whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum
from time import monotonic, time
from typing import ClassVar

import numpy as np

from ..collection import Collection
from ..errors import StoreFailed
from ..logs import get_logger
from ..models import RecallQuery, RecallResult, Status
from ..records.envelope import visibility_of
from ..records.keys import SHARDS, Visibility
from ..records.vectors import Vector
from ..settings import Settings
from ..text.terms import is_blank, terms
from .index import INDEX_ROWS_MAX, ScopeIndex, Slots
from .ranking import Ranked, rank

__all__ = ["Fill", "Recaller"]

logger = get_logger(__name__)

CANDIDATES = 50
"""Nearest rows asked of the vector store; more when ``k`` is large."""
LEXICAL_CANDIDATES = 50
"""Best lexical matches of the index that join them."""
PAGE_ROWS = 500
"""Rows of one page of the index: about 1.5 MB of the host's 16 MiB message."""
EXACT_ROWS = 5_000
"""Scopes up to this size are scored whole when filters narrow the question, so no match can be missed."""
_PAGEABLE = 16_000
"""Milvus pages no further than row 16 384 of one filter; beyond, the shards are read one by one."""

class Fill(Enum):
    """How much of a cold index a caller has time to load."""

    PAGE = "one page beside the embedding call (on the turn)"
    ALL = "everything (commands, tools, pages)"


class Recaller:
    """Answers recall queries in one collection.

    Args:
        collection: the knowledge base in use.
        wall: epoch seconds, for ages.
        clock: seconds, monotonic, for deadlines.
    """

    def __init__(
        self, collection: Collection, wall: Callable[[], float] = time, clock: Callable[[], float] = monotonic
    ) -> None:
        self._collection = collection
        self._wall = wall
        self._clock = clock

    _filling: ClassVar[set[asyncio.Task[None]]] = set()
    """Keeps running page reads from being garbage-collected."""

    async def recall(
        self,
        user_key: str,
        query: RecallQuery,
        settings: Settings,
        *,
        fill: Fill = Fill.ALL,
        timeout: float = 25.0,
        vector: Vector | None = None,
    ) -> RecallResult:
        """Return the memories of a scope that answer the question.

        Args:
            user_key: the scope.
            query: question, filters, how many.
            settings: weights, half-life, floor.
            fill: how much of a cold index may be loaded now.
            timeout: seconds for the whole call.
            vector: unit vector of the question when the caller has it already.

        Raises:
            EmbeddingFailed, StoreFailed: the search failed; that is not "no memories".
        """
        if is_blank(query.text):
            return RecallResult(skipped="blank")
        deadline = self._clock() + timeout
        if not self._collection.filled:
            await self._collection.prepare()
        index = self._collection.indexes.of(user_key)
        filling = self._start_filling(user_key, index, fill, deadline)
        if fill is Fill.ALL:
            await filling
        if vector is None:
            left = max(0.05, deadline - self._clock())
            vector = (await self._collection.embeddings.embed([query.text], timeout=left))[0]
        return await self._search(user_key, query, settings, index, vector)

    def _start_filling(
        self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float
    ) -> asyncio.Task[None]:
        """Start reading the index beside the embedding call.

        A page takes exactly one host call, made now: nobody waits for its answer, and it may arrive after the turn is
        over (a call *started* after its handler ended would be refused by the host, an answer is not).
        """
        task = asyncio.ensure_future(self._fill(user_key, index, fill, deadline))
        self._filling.add(task)
        task.add_done_callback(self._filling.discard)
        return task

    async def loaded(self, user_key: str, *, timeout: float = 25.0) -> ScopeIndex:
        """Return the scope's index, complete: every active memory is in it.

        Raises:
            StoreFailed: it could not be read whole in time.
        """
        index = self._collection.indexes.of(user_key)
        if self._collection.filled and not index.complete:
            await self._fill(user_key, index, Fill.ALL, self._clock() + timeout, strict=True)
            if not index.complete:
                raise StoreFailed("store_down")
        return index

    async def _search(
        self, user_key: str, query: RecallQuery, settings: Settings, index: ScopeIndex, vector: Vector
    ) -> RecallResult:
        filters = query.filters
        visibilities = sorted({visibility_of(status) for status in filters.statuses}, reverse=True)
        wanted = max(CANDIDATES, 4 * query.k) * (4 if filters.narrows else 1)
        answer = await self._collection.records.search(user_key, vector, wanted, visibilities)
        if answer.foreign and not answer.records:
            # Nothing but other scopes' rows, twice: the filter does not hold here, so "nothing found" would be a guess.
            raise StoreFailed("store_untrusted", count=answer.foreign)
        if filters.statuses != {Status.ACTIVE}:
            # Hidden memories are not indexed; the rows that came back are scored by themselves.
            index = ScopeIndex()
        index.read(answer.records)
        question = terms(query.text)
        words = index.lexical(question)
        slots = self._candidates(index, [r.episode.id for r in answer.records], words, query)
        ranked = self._ranked(index, slots, query, vector, words, settings)
        return RecallResult(
            hits=ranked.hits,
            considered=len(slots),
            below_floor=ranked.below_floor,
            complete=index.complete,
            foreign_rows=answer.foreign,
        )

    @staticmethod
    def _candidates(index: ScopeIndex, nearest: list[str], words: np.ndarray, query: RecallQuery) -> Slots:
        if query.filters.narrows and index.complete and len(index) <= EXACT_ROWS:
            slots = index.slots(r.episode.id for r in index.living())
        else:
            count = min(LEXICAL_CANDIDATES, len(words))
            best = np.argpartition(-words, count - 1)[:count] if count else np.zeros(0, dtype=np.int64)
            lexical = [index.records[int(s)].episode.id for s in best if words[int(s)] > 0]
            slots = index.slots([*nearest, *lexical])
        plain = not query.filters.narrows
        kept = [
            int(s)
            for s in slots
            if (plain or query.filters.keeps(index.records[int(s)].episode))
            and not index.superseded(index.records[int(s)])
            and index.records[int(s)].episode.id not in query.exclude
        ]
        return np.array(kept, dtype=np.int64)

    def _ranked(
        self,
        index: ScopeIndex,
        slots: Slots,
        query: RecallQuery,
        vector: Vector,
        words: np.ndarray,
        settings: Settings,
    ) -> Ranked:
        return rank(
            index,
            slots,
            query,
            vector,
            words,
            calibration=self._collection.calibration,
            settings=settings,
            now=self._wall(),
        )

    # ------------------------------------------------------------ filling the index

    async def _fill(
        self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float, *, strict: bool = False
    ) -> None:
        if fill is Fill.PAGE and index.filling.locked():
            return
        async with index.filling:
            while not index.complete and self._clock() < deadline and len(index.records) < INDEX_ROWS_MAX:
                try:
                    await self._read_page(user_key, index)
                except Exception:
                    if strict:
                        raise
                    # The search itself will tell whoever asked; the index only stays cold.
                    logger.warning("index page failed: rows=%d", len(index))
                    return
                if fill is Fill.PAGE:
                    return

    async def _read_page(self, user_key: str, index: ScopeIndex) -> None:
        page = await self._collection.records.page(
            user_key, Visibility.RECALLED, PAGE_ROWS, index.scanned, shard=index.shard
        )
        index.read(page.records)
        index.scanned += page.rows
        if page.last and index.shard in (None, SHARDS - 1):
            index.complete = True
        elif page.last:
            index.shard, index.scanned = (index.shard or 0) + 1, 0
        elif index.shard is None and index.scanned + PAGE_ROWS > _PAGEABLE:
            index.shard, index.scanned = 0, 0
