"""The one recall behind automatic injection, the tool, the command, the engine and the console.

One embedding call and one vector search per question, whatever the size of the scope. The lexical index of
the scope joins in with candidates of its own as far as it is loaded; while it is cold, a page of it is read
beside the embedding call, so a busy conversation warms up by itself, and commands and tools load it whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing
from contextvars import Context
from enum import Enum
from time import monotonic, time
from typing import Any, ClassVar

import numpy as np

from ..collection import Collection
from ..errors import StoreFailed
from ..logs import get_logger
from ..models import RecallQuery, RecallResult, Status
from ..records.envelope import Record, visibility_of
from ..records.keys import Visibility
from ..records.store import PAGE_ROWS, Answer
from ..records.vectors import Vector
from ..settings import Settings
from ..text.terms import identifiers, is_blank, terms
from .cache import INDEX_ROWS_MAX
from .index import ScopeIndex
from .lexicon import Scores, Slots
from .ranking import rank
from .repair import look_again

__all__ = ["CANDIDATES", "PAGE_ROWS", "Fill", "Recaller"]

logger = get_logger(__name__)

CANDIDATES = 50
"""Nearest rows asked of the vector store; more when ``k`` is large."""
LEXICAL_CANDIDATES = 50
"""Best lexical matches of the index that join them."""
_NARROWED = 4
"""How many times more rows are asked for when filters will drop some."""
_WORDS_ROWS = 50
"""Memories whose words are taken up at a time: about 2 ms."""
_FILL_SHARE = 0.8
"""Share of the caller's time that loading the index may take; the rest is for the search."""


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

    _working: ClassVar[set[asyncio.Task[None]]] = set()
    """Keeps what runs beside others from being garbage-collected."""

    def __init__(
        self, collection: Collection, wall: Callable[[], float] = time, clock: Callable[[], float] = monotonic
    ) -> None:
        self._collection = collection
        self._wall = wall
        self._clock = clock

    async def recall(
        self,
        user_key: str,
        query: RecallQuery,
        settings: Settings,
        *,
        fill: Fill = Fill.ALL,
        timeout: float = 25.0,  # noqa: ASYNC109 - shared out over several calls
        vector: Vector | None = None,
        without: Callable[[], Awaitable[frozenset[str]]] | None = None,
    ) -> RecallResult:
        """Return the memories of a scope that answer the question.

        Args:
            user_key: the scope.
            query: question, filters, how many.
            settings: weights, half-life, floor.
            fill: how much of a cold index may be loaded now.
            timeout: seconds for the whole call.
            vector: unit vector of the question when the caller has it already.
            without: tells, beside the embedding call, whose memories must not come back.

        Raises:
            EmbeddingFailed, StoreFailed: the search failed; that is not "no memories".
            StorageFailed: ``without`` could not tell.
        """
        if is_blank(query.text):
            return RecallResult(skipped="blank")
        deadline = self._clock() + timeout
        if not self._collection.filled:
            await self._collection.prepare(timeout=timeout)
        index = self._collection.indexes.of(user_key)
        filling = self._start_filling(user_key, index, fill, self._clock() + timeout * _FILL_SHARE)
        # The index is read beside these calls, so a slow store cannot use up their time.
        left = max(0.05, deadline - self._clock())
        asked, hidden, _ = await asyncio.gather(
            self._asked(query, vector, left),
            _nobody() if without is None else without(),
            look_again(self._collection, user_key, left / 2),
        )
        query = query.model_copy(update={"exclude_senders": query.exclude_senders | hidden})
        if fill is Fill.ALL:
            try:
                await asyncio.wait({filling}, timeout=max(0.0, deadline - self._clock()))
            finally:
                filling.cancel()
        return await self._search(user_key, query, settings, index, asked, fill)

    async def _asked(self, query: RecallQuery, vector: Vector | None, seconds: float) -> Vector:
        if vector is not None:
            return vector
        return (await self._collection.embeddings.embed([query.text], timeout=seconds))[0]

    async def loaded(
        self,
        user_key: str,
        *,
        timeout: float = 25.0,  # noqa: ASYNC109 - a page on its way is not cut off
    ) -> ScopeIndex:
        """Return the scope's index, complete: every active memory is in it.

        Raises:
            StoreFailed: it could not be read whole: ``still_reading`` when time was over, ``scope_too_large``
                beyond ``INDEX_ROWS_MAX``, or the store failed.
        """
        if self._collection.filled:
            await look_again(self._collection, user_key, timeout / 2)
        index = self._collection.indexes.of(user_key)
        if self._collection.filled and not index.complete:
            await self._fill(user_key, index, Fill.ALL, self._clock() + timeout)
            self._beside_others(_read_words(index))
            if not index.complete and len(index) >= INDEX_ROWS_MAX:
                raise StoreFailed("scope_too_large", limit=INDEX_ROWS_MAX)
            if not index.complete:
                # What was read is kept, so the next one gets further.
                raise StoreFailed("still_reading", count=len(index))
        return index

    async def warm(self, user_key: str, *, seconds: float) -> None:
        """Read one page of a cold index; a failure only leaves it cold.

        Args:
            user_key: the scope.
            seconds: how long to wait for it; it may arrive later.
        """
        index = self._collection.indexes.of(user_key)
        if self._collection.filled and not index.complete:
            task = self._start_filling(user_key, index, Fill.PAGE, self._clock() + seconds)
            await asyncio.wait({task}, timeout=seconds)

    # ------------------------------------------------------------ searching

    async def nearest(self, user_key: str, vector: Vector, k: int, index: ScopeIndex) -> Answer:
        """Return records near to a vector: ``k`` active ones as far as there are, and while the index is not complete
        hidden ones among them, which tell it what a broken-off change left active.

        Raises:
            StoreFailed: the store did not answer.
        """
        records = self._collection.records
        if index.complete:
            return await records.search(user_key, vector, k, [Visibility.RECALLED], index.rows)
        return await records.search(user_key, vector, 2 * k, [*Visibility], index.rows)

    async def _search(
        self,
        user_key: str,
        query: RecallQuery,
        settings: Settings,
        index: ScopeIndex,
        vector: Vector,
        fill: Fill,
    ) -> RecallResult:
        filters = query.filters
        narrowed = filters.narrows or query.exclude_senders
        wanted = max(CANDIDATES, 4 * query.k) * (_NARROWED if narrowed else 1)
        records = self._collection.records
        active = filters.statuses == {Status.ACTIVE}
        if active:
            answer = await self.nearest(user_key, vector, wanted, index)
        else:
            places = {visibility_of(status) for status in filters.statuses}
            if not index.complete:
                places.update(Visibility)
            answer = await records.search(user_key, vector, wanted, sorted(places), index.rows)
        if answer.foreign and not answer.records:
            # Nothing but other scopes' rows, twice: the filter does not hold here, so "nothing found" would
            # be a guess.
            raise StoreFailed("store_untrusted", count=answer.foreign)
        if not active:
            more = fill is Fill.ALL and answer.rows >= wanted
            hidden = await records.everything(user_key, Visibility.HIDDEN) if more else []
            index = self._beside(index, [*answer.records, *hidden], query)
        else:
            index.read(answer.records)
        words = index.lexical(terms(query.text))
        slots = self._candidates(index, answer, words, query)
        ranked = rank(
            index,
            slots,
            query,
            vector,
            words[slots],
            calibration=self._collection.calibration,
            settings=settings,
            now=self._wall(),
        )
        return RecallResult(
            hits=ranked.hits,
            considered=len(slots),
            below_floor=ranked.below_floor,
            complete=index.complete,
            foreign_rows=answer.foreign,
        )

    def _beside(self, index: ScopeIndex, found: Iterable[Record], query: RecallQuery) -> ScopeIndex:
        """Return an index for one question about memories that are not indexed: superseded and archived
        ones.
        """
        beside = ScopeIndex(self._clock)
        for record in found:
            if not index.was_deleted(record.episode.id) and not index.outdated(record):
                beside.put(record)
        if Status.ACTIVE in query.filters.statuses:
            for slot in self._lexically_best(index, index.lexical(terms(query.text)), query):
                beside.put(index.at(int(slot)))
        return beside

    def _candidates(self, index: ScopeIndex, answer: Answer, words: Scores, query: RecallQuery) -> Slots:
        if query.filters.narrows and index.complete:
            # Exact: no match can be missed, however far down it would rank without the filters.
            slots = index.all_slots()
        else:
            nearest = index.slots(r.episode.id for r in answer.records)
            slots = np.concatenate([nearest, self._lexically_best(index, words, query)])
        kept = [slot for slot in dict.fromkeys(slots.tolist()) if self._wanted(index, slot, query)]
        return np.array(kept, dtype=np.int64)

    @staticmethod
    def _lexically_best(index: ScopeIndex, words: Scores, query: RecallQuery) -> Slots:
        count = min(LEXICAL_CANDIDATES, len(words))
        best = np.argpartition(-words, count - 1)[:count] if count else np.zeros(0, dtype=np.int64)
        exact = index.holding(identifiers(query.text))[-LEXICAL_CANDIDATES:]
        found: Slots = np.concatenate([best[words[best] > 0], exact])
        return found

    @staticmethod
    def _wanted(index: ScopeIndex, slot: int, query: RecallQuery) -> bool:
        record = index.at(slot)
        return (
            record.episode.id not in query.exclude
            and record.episode.sender_id not in query.exclude_senders
            and not index.superseded(record)
            and query.filters.keeps(record.episode)
        )

    # ------------------------------------------------------------ filling the index

    def _start_filling(
        self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float
    ) -> asyncio.Task[None]:
        """Start reading the index beside other calls.

        A page takes exactly one host call, made now: nobody waits for its answer on the turn, and it may
        arrive after the turn is over.
        """

        async def run() -> None:
            if fill is Fill.ALL or not index.filling.locked():
                try:
                    await self._fill(user_key, index, fill, deadline)
                except StoreFailed as exc:
                    # The search itself will tell whoever asked; the index only stays cold.
                    logger.warning("index page failed: rows=%d reason=%s", len(index), exc.reason)
            await _read_words(index)

        return self._beside_others(run(), outliving=fill is Fill.PAGE)

    def _beside_others(
        self, work: Coroutine[Any, Any, None], *, outliving: bool = False
    ) -> asyncio.Task[None]:
        # From 4.11 on the SDK drops answers that come when the handler which asked has ended; it knows the
        # handler from the context, so what may outlive it gets an empty one.
        context = Context() if outliving else None
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return task

    async def _fill(self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float) -> None:
        async with index.filling:
            if len(index) >= INDEX_ROWS_MAX:
                return
            records = self._collection.records
            # Hidden ones as well: a change that broke off may have left an active row of what is archived now.
            cursor = index.cursor = index.cursor or records.cursor(user_key, *Visibility)
            start = cursor.place
            async with aclosing(records.pages(cursor, index.rows, ahead=fill is Fill.ALL)) as pages:
                async for page in pages:
                    index.read(page.records)
                    late = self._clock() >= deadline or len(index) >= INDEX_ROWS_MAX
                    if (late or fill is Fill.PAGE) and cursor.place != start:
                        # At least one whole page, so that the next one gets further.
                        return


async def _nobody() -> frozenset[str]:
    return frozenset()


async def _read_words(index: ScopeIndex) -> None:
    """Take up the words of an index bit by bit, so that nobody waits for it long."""
    left = True
    while left:
        left = index.read_words(_WORDS_ROWS)
        await asyncio.sleep(0)
