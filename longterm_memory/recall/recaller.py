"""The one recall behind automatic injection, the tool, the command, the engine and the console.

One embedding call and one vector search per question, whatever the size of the scope, and another search where a
scope turns out to be large and is not loaded. The index of the scope
joins in with candidates of its own as far as it is loaded, by words and by vector; while it is cold, a page of
it is read beside the embedding call, so a busy conversation warms up by itself, and commands and tools load it
whole. What a vector database loses under a filter (:mod:`.losses`) is therefore missed only while a large scope
is cold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from time import monotonic, time

import numpy as np

from ..collection import Collection
from ..errors import StoreFailed
from ..models import RecallQuery, RecallResult, Status
from ..records.envelope import Record, visibility_of
from ..records.keys import Visibility
from ..records.store import PAGE_ROWS, Answer
from ..records.vectors import Vector
from ..settings import Settings
from ..text.terms import identifiers, is_blank, terms
from .cache import INDEX_ROWS_MAX
from .filling import Fill, IndexFilling
from .index import ScopeIndex
from .lexicon import Slots
from .losses import Losses
from .ranking import rank
from .repair import look_again
from .reranking import Order, Reranking

__all__ = ["CANDIDATES", "PAGE_ROWS", "Candidates", "Fill", "Recaller"]

CANDIDATES = 50
"""Nearest rows asked of the vector store; more when ``k`` is large."""
LEXICAL_CANDIDATES = 50
"""Best lexical matches of the index that join them."""
_NARROWED = 4
"""How many times more rows are asked for when filters will drop some."""
_DEEP = 400
"""Rows asked of the vector store for a large scope that is not loaded: indexes search as wide as they are asked to. Of
100 questions to 20 000 memories among 50 000 on Chroma, 100 rows missed everything near for three, 200 for one, 400
for none; the search took 1.0, 1.1 and 1.5 times as long."""
_PAGE_SECONDS = 1.0
"""How long a short answer waits for the page of the index that tells whether there is more."""
_PAGE_DUE_SECONDS = 0.1
"""How long any other answer waits for the first page: with it, a small scope is complete."""
_FILL_SHARE = 0.8
"""Share of the caller's time that loading the index may take; the rest is for the search."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a question is compared with.

    Attributes:
        query: the question, with everybody excluded whose memories must not come back.
        vector: its unit vector.
        index: holds the memories.
        foreign: rows of other scopes in the store's answer.
        complete: whether no memory of the scope can have been missed.
        embedded: when the question's vector was there, on the recaller's clock.
    """

    query: RecallQuery
    vector: Vector
    index: ScopeIndex
    foreign: int
    complete: bool
    embedded: float = 0.0

    def wanted(self, slot: int) -> bool:
        """Whether the memory at a slot may be an answer."""
        record, query = self.index.at(slot), self.query
        return (
            record.episode.id not in query.exclude
            and record.episode.sender_id not in query.exclude_senders
            and not self.index.superseded(record)
            and query.filters.keeps(record.episode)
        )

    @property
    def slots(self) -> Slots:
        """The slots of all memories that may be an answer."""
        return np.array([s for s in self.index.all_slots().tolist() if self.wanted(s)], dtype=np.int64)


class Recaller:
    """Answers recall queries in one collection.

    Args:
        collection: the knowledge base in use.
        wall: epoch seconds, for ages.
        clock: seconds, monotonic, for deadlines.
        reranking: asks the rerank model that is set, if any.
    """

    def __init__(
        self,
        collection: Collection,
        wall: Callable[[], float] = time,
        clock: Callable[[], float] = monotonic,
        reranking: Reranking | None = None,
    ) -> None:
        self._collection = collection
        self._wall = wall
        self._clock = clock
        self._reranking = reranking
        self.filling = IndexFilling(collection, clock)
        self._losses = Losses(collection.records.health)

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
        started = self._clock()
        deadline = started + timeout
        found = await self.candidates(
            user_key, query, fill=fill, timeout=timeout, vector=vector, without=without
        )
        searched = self._clock()
        k = query.k if self._reranking is None else self._reranking.wanted(query.k, settings)
        ranked = rank(
            found.index,
            found.query.model_copy(update={"k": k}),
            found.vector,
            wanted=found.wanted,
            calibration=self._collection.calibration,
            settings=settings,
            now=self._wall(),
        )
        ranking = self._clock()
        order = Order(ranked.hits)
        if self._reranking is not None:
            order = await self._reranking.order(query.text, ranked.hits, settings, deadline - ranking)
        spent = {
            "embedding": found.embedded - started,
            "search": searched - found.embedded,
            "ranking": ranking - searched,
        }
        if order.reranked or order.failed is not None:
            spent["rerank"] = self._clock() - ranking
        return RecallResult(
            hits=order.hits[: query.k],
            considered=ranked.considered,
            below_floor=ranked.below_floor,
            answered=ranked.answered,
            complete=found.complete,
            foreign_rows=found.foreign,
            reranked=order.reranked,
            rerank_failed=order.failed,
            spent=spent,
        )

    async def candidates(
        self,
        user_key: str,
        query: RecallQuery,
        *,
        fill: Fill = Fill.ALL,
        timeout: float = 25.0,  # noqa: ASYNC109 - shared out over several calls
        vector: Vector | None = None,
        without: Callable[[], Awaitable[frozenset[str]]] | None = None,
    ) -> Candidates:
        """Return what :meth:`recall` chooses from, for a question that is not blank; arguments and errors as there."""
        deadline = self._clock() + timeout
        if not self._collection.filled:
            await self._collection.prepare(timeout=timeout)
        index = self._collection.indexes.of(user_key)
        first = index.cursor is None
        filling = self.filling.start(user_key, index, fill, self._clock() + timeout * _FILL_SHARE)
        # The index is read beside these calls, so a slow store cannot use up their time.
        left = max(0.05, deadline - self._clock())
        asked, hidden, _ = await asyncio.gather(
            self._asked(query, vector, left),
            _nobody() if without is None else without(),
            look_again(self._collection, user_key, left / 2),
        )
        embedded = self._clock()
        query = query.model_copy(update={"exclude_senders": query.exclude_senders | hidden})
        if fill is Fill.ALL:
            try:
                await asyncio.wait({filling}, timeout=max(0.0, deadline - self._clock()))
            finally:
                filling.cancel()
        if query.filters.statuses == {Status.ACTIVE}:
            found = await self._active(user_key, query, index, asked, filling if first else None)
        else:
            found = await self._of_any_status(user_key, query, index, asked, fill)
        return replace(found, embedded=embedded)

    async def _asked(self, query: RecallQuery, vector: Vector | None, seconds: float) -> Vector:
        if vector is not None:
            return vector
        return await self._collection.embeddings.question(query.text, timeout=seconds)

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
            await self.filling.read(user_key, index, Fill.ALL, self._clock() + timeout)
            self.filling.read_words_later(index)
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
            task = self.filling.start(user_key, index, Fill.PAGE, self._clock() + seconds)
            await asyncio.wait({task}, timeout=seconds)

    # ------------------------------------------------------------ searching

    async def nearest(
        self,
        user_key: str,
        vector: Vector,
        k: int,
        index: ScopeIndex,
        *,
        first_page: asyncio.Task[None] | None = None,
        patience: float = 0.0,
        beside: bool = False,
    ) -> Answer:
        """Return records near to a vector: ``k`` active ones as far as there are, and while the index is not complete
        hidden ones among them, which tell it what a broken-off change left active.

        Args:
            user_key: the scope.
            vector: unit vector to be near to.
            k: how many.
            index: the scope's index; what the store leaves out of its answer is in there as far as it is loaded.
            first_page: reads the first of the index, when nothing of it was loaded before.
            patience: seconds to go on loading it when the store left something out.
            beside: whether others may change the scope meanwhile; else the caller holds its lock.

        Raises:
            StoreFailed: the store did not answer.
        """
        records, changes = self._collection.records, self._collection.lock(user_key)
        changing = beside and changes.locked()
        if index.complete:
            there = len(index)
            answer = await records.search(user_key, vector, k, [Visibility.RECALLED], index.rows)
            # What was forgotten meanwhile cannot come, what was remembered need not.
            changing |= beside and changes.locked()
            self._losses.fewer(answer, min(k, there, len(index)), index, changing=changing)
            return answer
        # A page, or part of one, that is more than the answer would hold: the scope is large.
        asked = max(2 * k, _DEEP) if index.met > 2 * k else 2 * k
        answer = await records.search(user_key, vector, asked, [*Visibility], index.rows)
        if answer.rows < asked:
            # Either the scope has no more, which the page on its way tells, or the store left something out.
            await self.filling.arrived(index, max(patience, _PAGE_SECONDS))
            changing |= beside and changes.locked()
            lost = self._losses.fewer(answer, min(asked, index.met), index, changing=changing)
        else:
            if first_page is not None:
                # Asked for before the question was embedded, so it is mostly there, and a small scope complete.
                await asyncio.wait({first_page}, timeout=_PAGE_DUE_SECONDS)
            lost = self._losses.farther(answer, vector, index)
            if not index.complete and asked < _DEEP and (lost or index.met > 2 * k):
                # The page came later than the answer: the scope is large after all.
                answer = await records.search(user_key, vector, _DEEP, [*Visibility], index.rows)
        if lost and not index.complete and patience:
            await self.filling.read_on(user_key, index, patience)
        elif lost and not index.complete:
            self.filling.read_on_later(user_key, index)
        return answer

    async def _active(
        self,
        user_key: str,
        query: RecallQuery,
        index: ScopeIndex,
        vector: Vector,
        first_page: asyncio.Task[None] | None,
    ) -> Candidates:
        answer = await self.nearest(
            user_key, vector, _wanted_rows(query), index, first_page=first_page, beside=True
        )
        _refuse_foreign(answer)
        index.read(answer.records)
        return Candidates(query, vector, index, answer.foreign, index.complete)

    async def _of_any_status(
        self, user_key: str, query: RecallQuery, index: ScopeIndex, vector: Vector, fill: Fill
    ) -> Candidates:
        """Search among memories of which only the active ones are indexed."""
        records = self._collection.records
        places = {visibility_of(status) for status in query.filters.statuses}
        if not index.complete:
            places.update(Visibility)
        k, changes = _wanted_rows(query), self._collection.lock(user_key)

        def there() -> int:
            return index.met if len(places) > 1 else index.met - len(index)

        before, changing = there(), changes.locked()
        answer = await records.search(user_key, vector, k, sorted(places), index.rows)
        _refuse_foreign(answer)
        changing |= changes.locked()
        short = self._losses.fewer(answer, min(k, before, there()), index, changing=changing)
        more = fill is Fill.ALL and (short or answer.rows >= k)
        hidden = await records.everything(user_key, Visibility.HIDDEN) if more else []
        complete = index.complete and (more or (answer.rows < k and not short))
        beside = self._beside(index, [*answer.records, *hidden], query, vector)
        return Candidates(query, vector, beside, answer.foreign, complete)

    def _beside(
        self, index: ScopeIndex, found: Iterable[Record], query: RecallQuery, vector: Vector
    ) -> ScopeIndex:
        """Return an index for one question about memories that are not indexed: superseded and archived
        ones.
        """
        beside = ScopeIndex(self._clock)
        for record in found:
            if not index.was_deleted(record.episode.id) and not index.outdated(record):
                beside.put(record)
        if Status.ACTIVE in query.filters.statuses:
            asked = Candidates(query, vector, index, 0, index.complete)
            words = [slot for slot in self._lexically_best(asked).tolist() if asked.wanted(slot)]
            for slot in dict.fromkeys([*words, *self._nearest(asked).tolist()]):
                beside.put(index.at(slot))
        return beside

    def _nearest(self, asked: Candidates) -> Slots:
        """Return the nearest memories by their own vectors, as many as the store is asked for without filters."""
        count = max(CANDIDATES, 4 * asked.query.k)
        return asked.index.nearest(asked.vector, count, asked.wanted)

    @staticmethod
    def _lexically_best(asked: Candidates) -> Slots:
        words = asked.index.lexical(terms(asked.query.text))
        count = min(LEXICAL_CANDIDATES, len(words))
        best = np.argpartition(-words, count - 1)[:count] if count else np.zeros(0, dtype=np.int64)
        exact = asked.index.holding(identifiers(asked.query.text))[-LEXICAL_CANDIDATES:]
        found: Slots = np.concatenate([best[words[best] > 0], exact])
        return found


def _wanted_rows(query: RecallQuery) -> int:
    narrowed = query.filters.narrows or query.exclude_senders
    return max(CANDIDATES, 4 * query.k) * (_NARROWED if narrowed else 1)


def _refuse_foreign(answer: Answer) -> None:
    if answer.foreign and not answer.records:
        # Nothing but other scopes' rows, twice: the filter does not hold here, so "nothing found" would
        # be a guess.
        raise StoreFailed("store_untrusted", count=answer.foreign)


async def _nobody() -> frozenset[str]:
    return frozenset()
