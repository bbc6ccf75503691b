"""Which vector database stands behind the host, told by how it behaves: no call says so.

Ordinary answers are enough. A record carries its own vector, so the true cosine is known and the ``distance`` that
came with it tells the metric; the fields that came back tell whether metadata is kept whole; the adapter knows
whether filtered listings come with a true total.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..ports import VectorRow

__all__ = ["METRICS", "MIXES_UP_ANSWERS", "StoreTraits", "metric_of"]

METRICS: Mapping[str, Callable[[float], float]] = {
    "l2": lambda cosine: 2.0 - 2.0 * cosine,
    "cosine": lambda cosine: 1.0 - cosine,
    "similarity": lambda cosine: cosine,
}
"""Squared L2 of unit vectors (Chroma), 1 - cosine (Qdrant, SeekDB, pgvector, Valkey), the cosine itself (Milvus)."""

MIXES_UP_ANSWERS = "SeekDB"
"""LangBot's class for it shares one connection without a lock: parallel calls get each other's rows, hang, or end
the host's process (measured; docs/decisions/0001)."""

_POOREST = frozenset({"text", "file_id", "uuid"})
"""Metadata that comes back from everywhere."""
_TOLERANCE = 0.02
"""Stores keep floats, we quantize: seen differences stay below 2e-3."""


def metric_of(measured: Sequence[tuple[float, float | None]]) -> str:
    """Return the metric by which every (cosine, distance) fits, ``"unknown"`` when there is none."""
    return next(iter(_fitting(measured)), "unknown")


def _fitting(measured: Sequence[tuple[float, float | None]]) -> list[str]:
    """Return every metric that fits all of these; at some cosines (1, .5, .67) two give the same distance."""
    if not measured:
        return []
    return [
        name
        for name, at in METRICS.items()
        if all(d is not None and abs(at(cosine) - d) <= _TOLERANCE for cosine, d in measured)
    ]


@dataclass(slots=True)
class StoreTraits:
    """What was seen of the store behind one knowledge base.

    Attributes:
        metric: a key of :data:`METRICS`, ``""`` before an answer told, ``"unknown"`` when none fits.
        whole_metadata: whether all metadata comes back, or only what Milvus and pgvector keep.
        counts_matches: whether a filtered listing comes with the number of matches; ``None``: not seen yet.
        finds_by_id: whether a filter on row ids is kept to.
    """

    metric: str = ""
    whole_metadata: bool = False
    counts_matches: bool | None = None
    finds_by_id: bool = True

    @property
    def backend(self) -> str:
        """Which of LangBot's backends behaves like that, ``""`` when none or not known yet."""
        match self.metric, self.whole_metadata:
            case "l2", True:
                return "Chroma"
            case "cosine", _ if self.counts_matches is False:
                return "SeekDB"
            case "cosine", True if not self.finds_by_id:
                return "Valkey"
            case "cosine", True:
                return "Qdrant" if self.counts_matches else "Qdrant / SeekDB"
            case "cosine", False:
                return "pgvector"
            case "similarity", _:
                return "Milvus"
            case _:
                return ""

    @property
    def may_index_places_alone(self) -> bool:
        """Whether this can be Valkey, the one backend that does not filter by row ids."""
        return self.metric in ("", "cosine", "unknown") and self.backend not in ("SeekDB", "pgvector")

    def see(self, found: Sequence[tuple[float, VectorRow]]) -> None:
        """Look at rows of a search until they told the metric.

        Args:
            found: rows of ours, each with its true cosine.
        """
        if self.metric or not found:
            return
        fitting = _fitting([(cosine, row.distance) for cosine, row in found])
        if len(fitting) <= 1:
            self.metric = fitting[0] if fitting else "unknown"
            self.whole_metadata = all(set(row.metadata) - _POOREST for _, row in found)
