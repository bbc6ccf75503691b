"""Asking the vector store for rows, and believing none that was not asked for.

A row that comes back from a place that was not asked for belongs to somebody else, or the store mixed up the
answers of parallel calls, as one known backend does. It is dropped and counted, from then on one call at a
time is made (:mod:`.lane`), and the question is asked again. A store that keeps answering like that is not asked any
more (:mod:`.trust`).

"Nothing" is not believed either without a sign of life: some of the host's classes answer with nothing when their
collection or connection is gone. Every knowledge base holds one row of ours from its first use on; when that row is
not listed any more, nothing can be said about the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TypeVar

from ..errors import StoreFailed
from ..logs import get_logger
from ..ports import FileIds, RowFilter, RowIds, VectorRow, VectorStore
from .keys import MARK
from .lane import Lane
from .trust import Trust
from .vectors import Vector

__all__ = ["RowReader", "Rows", "StoreHealth"]

logger = get_logger(__name__)

_TRIES = 3
"""How often a question is asked whose answer holds foreign rows."""

_ALIVE_SECONDS = 60.0
"""How long after an answer with rows "nothing" is believed."""

_T = TypeVar("_T")


@dataclass(slots=True)
class StoreHealth:
    """What the store was caught doing since the start; shown by health."""

    foreign_rows: int = 0
    unreadable_rows: int = 0
    unverified_deletes: int = 0
    found_empty: int = 0
    """How often nothing was there any more of what had been stored."""
    short_answers: int = 0
    """Searches that left out rows which are there and were asked for."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of one answer.

    Attributes:
        found: those that come from where they were asked for, in the backend's order.
        count: how many rows came back, whatever they were.
    """

    found: list[VectorRow]
    count: int

    @property
    def foreign(self) -> int:
        """How many rows came from elsewhere."""
        return self.count - len(self.found)

    def parts(self, size: int) -> Iterator[Rows]:
        """Cut it into parts of at most ``size`` rows, at least one; foreign rows are counted in the first."""
        foreign = self.foreign
        for start in range(0, max(1, len(self.found)), size):
            found = self.found[start : start + size]
            yield Rows(found, len(found) + foreign)
            foreign = 0


class RowReader:
    """Reads rows of one collection.

    Args:
        vectors: the host's vector database.
        collection: id of the knowledge base.
        health: where foreign rows are counted.
        trust: whether it is asked at all.
        mark: writes the row of ours that every knowledge base holds; ``None``: "nothing" is believed.
        clock: seconds, monotonic.

    Attributes:
        finds_by_id: whether the store keeps to a filter on row ids, as far as it was seen.
        lane: how calls reach the store.
    """

    def __init__(
        self,
        vectors: VectorStore,
        collection: str,
        health: StoreHealth,
        trust: Trust | None = None,
        mark: Callable[[], Awaitable[None]] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.finds_by_id = True
        self.lane = Lane()
        self._vectors = vectors
        self._collection = collection
        self._health = health
        self._trust = trust or Trust(clock)
        self._mark = mark
        self._clock = clock
        self._alive_until = -inf

    async def search(self, vector: Vector, k: int, where: FileIds) -> Rows:
        """Return up to ``k`` rows, nearest first.

        Raises:
            StoreFailed: the store did not answer, or is not asked any more.
        """
        query = vector.tolist()
        return await self._asked(lambda: self._vectors.search(self._collection, query, k, where), where)

    async def listing(self, where: RowFilter, limit: int, offset: int = 0) -> Rows:
        """Return up to ``limit`` rows from ``offset``.

        Raises:
            StoreFailed: the store did not answer, or is not asked any more.
        """
        return await self._asked(
            lambda: self._vectors.list_rows(self._collection, where, limit, offset), where
        )

    async def write(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call that writes or deletes.

        Raises:
            StoreFailed: the store did not answer.
        """
        return await self.lane.run(call)

    async def _asked(self, call: Callable[[], Awaitable[list[VectorRow]]], where: RowFilter) -> Rows:
        self._trust.check(self._health.foreign_rows)
        by_id, alone, dropped = isinstance(where, RowIds), False, 0
        asked = frozenset(where.values)
        for _ in range(_TRIES):
            alone = self.lane.alone
            rows = await self.lane.run(call)
            found = [row for row in rows if (row.id if by_id else row.metadata.get("file_id")) in asked]
            answer = Rows(found, len(rows))
            if not answer.foreign:
                break
            logger.warning("rows dropped: foreign=%d of=%d", answer.foreign, answer.count)
            dropped += answer.foreign
            if not by_id:
                self.lane.narrow()
        if not (by_id and answer.foreign):
            # Whoever does not filter by row ids gives everybody's rows on purpose.
            self._health.foreign_rows += dropped
        self._judge(answer, by_id=by_id, alone=alone)
        if answer.found:
            self._alive_until = self._clock() + _ALIVE_SECONDS
        elif not answer.count:
            await self._sign_of_life()
        return answer

    def _judge(self, answer: Rows, *, by_id: bool, alone: bool) -> None:
        """Learn from the last of the answers to a question."""
        if by_id:
            # A store may index file_ids alone; whether it keeps to *them* is what decides about trust.
            self.finds_by_id = self.finds_by_id and not (answer.foreign and alone)
        elif not answer.foreign:
            self._trust.kept()
        elif alone:
            self._trust.broken()

    # ------------------------------------------------------------ nothing, or gone

    async def _sign_of_life(self) -> None:
        """See that the store still has what it was given, so that "nothing" means nothing.

        Raises:
            StoreFailed: ``store_lost`` when not even the row of ours is there and none can be put there.
        """
        if self._mark is None or (self._clock() < self._alive_until and not self.lane.caught):
            return
        if not await self._marked():
            # A database that was emptied or exchanged takes a new one; a broken connection does not show it.
            try:
                await self.lane.run(self._mark)
                there = await self._marked()
            except StoreFailed as exc:
                raise StoreFailed("store_lost") from exc
            if not there:
                raise StoreFailed("store_lost")
            self._health.found_empty += 1
            logger.error("vector store was found empty: what was stored in it before is not there any more")
        self._alive_until = self._clock() + _ALIVE_SECONDS

    async def _marked(self) -> bool:
        where = FileIds([MARK])
        rows = await self.lane.run(lambda: self._vectors.list_rows(self._collection, where, 1))
        return any(row.metadata.get("file_id") == MARK for row in rows)
