"""Noticing what a vector database leaves out of its answers.

Its index is a graph over everybody's rows; a filter only drops what is met on the way. So fewer rows may come back
than there are (pgvector with an HNSW index), or farther ones than the nearest (Chroma and SeekDB in a large
collection). What is loaded of a scope shows both, and answers for it: the records carry their vectors.
"""

from __future__ import annotations

from logging import INFO, WARNING

from ..logs import get_logger
from ..records.rows import StoreHealth
from ..records.store import Answer
from ..records.vectors import Vector
from .index import ScopeIndex

__all__ = ["Losses"]

logger = get_logger(__name__)

_ALIKE = 5e-3
"""Difference of two cosines that says nothing: stores may keep vectors at half precision."""


class Losses:
    """Counts and logs what searches of one collection left out.

    Args:
        health: where it is counted.
    """

    def __init__(self, health: StoreHealth) -> None:
        self._health = health

    def fewer(self, answer: Answer, expected: int, index: ScopeIndex, *, changing: bool = False) -> bool:
        """Tell whether a search brought fewer rows than it should have.

        Args:
            answer: what it brought.
            expected: rows that are there, at most as many as were asked for.
            index: what is loaded of the scope.
            changing: whether somebody else changed the scope meanwhile: a row may be gone, and the index hear of it
                only when that was read back. It is not counted then.
        """
        if answer.rows >= expected:
            return False
        if changing:
            return True
        self._note(
            index, "search returned fewer rows than the scope has: rows=%d expected=%d", answer.rows, expected
        )
        return True

    def farther(self, answer: Answer, vector: Vector, index: ScopeIndex) -> bool:
        """Tell whether a loaded memory is nearer than half of what a search brought, and not among it.

        At the far end every approximate search mixes things up, which costs nothing.

        Args:
            answer: what it brought: as many rows as were asked for.
            vector: unit vector of the question.
            index: what is loaded of the scope.
        """
        if not answer.records:
            return False
        brought = {record.episode.id for record in answer.records}
        missed = index.nearest(vector, 1, lambda slot: index.at(slot).episode.id not in brought)
        if not missed.size:
            return False
        # The best comes first everywhere.
        halfway = answer.records[len(answer.records) // 2].vector
        if halfway.dimension != len(vector):
            return False
        middle = float(halfway.vector() @ vector)
        nearer = float(index.cosines(vector, missed)[0])
        if nearer <= middle + _ALIKE:
            return False
        self._note(
            index,
            "search left out nearer rows: rows=%d middle=%.3f left_out=%.3f",
            answer.rows,
            middle,
            nearer,
        )
        return True

    def _note(self, index: ScopeIndex, what: str, *values: object) -> None:
        self._health.short_answers += 1
        # Complete, the index makes up for it.
        level = INFO if index.complete else WARNING
        logger.log(level, f"{what} known=%d complete=%s", *values, index.met, index.complete)
