"""Asking the vector store for rows, and believing none that was not asked for.

A row that comes back from a place that was not asked for belongs to somebody else, or the store mixed up the
answers of parallel calls, as one known backend does. It is dropped and counted, from then on one call at a
time is made, and the question is asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..logs import get_logger
from ..ports import FileIds, RowFilter, VectorRow, VectorStore
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
    """

    def __init__(self, vectors: VectorStore, collection: str, health: StoreHealth) -> None:
        self._vectors = vectors
        self._collection = collection
        self._health = health
        self._serial: asyncio.Lock | None = None

    async def search(self, vector: Vector, k: int, where: FileIds) -> Rows:
        """Return up to ``k`` rows, nearest first.

        Raises:
            StoreFailed: the store did not answer.
        """
        query = vector.tolist()
        return await self._asked(lambda: self._vectors.search(self._collection, query, k, where), where)

    async def listing(self, where: RowFilter, limit: int, offset: int = 0) -> Rows:
        """Return up to ``limit`` rows from ``offset``.

        Raises:
            StoreFailed: the store did not answer.
        """
        return await self._asked(
            lambda: self._vectors.list_rows(self._collection, where, limit, offset), where
        )

    async def one_at_a_time(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call to the store: alone once it was caught mixing up answers."""
        if self._serial is None:
            return await call()
        async with self._serial:
            return await call()

    async def _asked(self, call: Callable[[], Awaitable[list[VectorRow]]], where: RowFilter) -> Rows:
        asked = frozenset(where.values)
        for _ in range(_TRIES):
            rows = await self.one_at_a_time(call)
            if isinstance(where, FileIds):
                found = [row for row in rows if row.metadata.get("file_id") in asked]
            else:
                found = [row for row in rows if row.id in asked]
            answer = Rows(found, len(rows))
            if not answer.foreign:
                break
            self._health.foreign_rows += answer.foreign
            logger.warning("rows dropped: foreign=%d of=%d", answer.foreign, answer.count)
            self._serial = self._serial or asyncio.Lock()
        return answer
