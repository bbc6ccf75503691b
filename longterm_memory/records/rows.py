"""Asking the vector store for rows, and believing none that was not asked for.

A row that comes back from a place that was not asked for belongs to somebody else, or the store mixed up the
answers of parallel calls, as one known backend does. It is dropped and counted, from then on one call at a
time is made (:mod:`.lane`), and the question is asked again. A store that keeps answering like that is not asked any
more (:mod:`.trust`). "Nothing" is not believed either without a sign of life (:mod:`.contact`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..logs import get_logger
from ..ports import FileIds, RowFilter, RowIds, VectorRow, VectorStore
from .contact import Contact
from .trust import Trust
from .vectors import Vector

__all__ = ["RowReader", "Rows", "StoreHealth"]

logger = get_logger(__name__)

_TRIES = 3
"""How often a question is asked whose answer holds foreign rows."""

_T = TypeVar("_T")


@dataclass(slots=True)
class StoreHealth:
    """What the store was caught doing since the start; shown by health."""

    foreign_rows: int = 0
    unreadable_rows: int = 0
    unverified_deletes: int = 0
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
        contact: which store it is, and whether it is there.

    Attributes:
        finds_by_id: whether the store keeps to a filter on row ids, as far as it was seen.
    """

    def __init__(
        self,
        vectors: VectorStore,
        collection: str,
        health: StoreHealth,
        trust: Trust | None = None,
        contact: Contact | None = None,
    ) -> None:
        self.finds_by_id = True
        self._vectors = vectors
        self._collection = collection
        self._health = health
        self._trust = trust or Trust()
        self._contact = contact or Contact(vectors, collection)
        self._lane = self._contact.lane

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

    async def one_at_a_time(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make another call to the store when it is its turn.

        Raises:
            StoreFailed: the store did not answer.
        """
        return await self._lane.run(call)

    async def _asked(self, call: Callable[[], Awaitable[list[VectorRow]]], where: RowFilter) -> Rows:
        self._trust.check(self._health.foreign_rows)
        await self._contact.meet()
        by_id, alone, dropped = isinstance(where, RowIds), False, 0
        asked = frozenset(where.values)
        for attempt in range(_TRIES):
            alone = self._lane.alone
            rows = await self._lane.run(call)
            found = [row for row in rows if (row.id if by_id else row.metadata.get("file_id")) in asked]
            answer = Rows(found, len(rows))
            if not answer.foreign and not self._again(answer, attempt):
                break
            if answer.foreign:
                logger.warning("rows dropped: foreign=%d of=%d", answer.foreign, answer.count)
                dropped += answer.foreign
                if not by_id:
                    self._lane.narrow()
        if dropped and not (by_id and answer.foreign):
            # Whoever does not filter by row ids gives everybody's rows on purpose, every time.
            self._health.foreign_rows += dropped
            self._lane.narrow()
        self._judge(answer, by_id=by_id, alone=alone)
        if answer.found:
            self._contact.saw_rows()
        elif not answer.count:
            await self._contact.sign_of_life()
        return answer

    def _again(self, answer: Rows, attempt: int) -> bool:
        """Whether nothing may have come only because the answer was somebody else's: where answers are mixed up, one
        "nothing" is not believed.
        """
        return not answer.count and not attempt and self._lane.caught

    def _judge(self, answer: Rows, *, by_id: bool, alone: bool) -> None:
        """Learn from the last of the answers to a question."""
        if by_id:
            # A store may index file_ids alone; whether it keeps to *them* is what decides about trust.
            if answer.foreign and self._contact.traits.may_index_places_alone:
                self.finds_by_id = False
        elif not answer.foreign:
            self._trust.kept()
        elif alone:
            self._trust.broken()
