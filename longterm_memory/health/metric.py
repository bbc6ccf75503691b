"""What a backend's ``distance`` means, recognised from distances at known cosines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["METRICS", "backend_of", "metric_of"]

METRICS: Mapping[str, Callable[[float], float]] = {
    "l2": lambda cosine: 2.0 - 2.0 * cosine,
    "cosine": lambda cosine: 1.0 - cosine,
    "similarity": lambda cosine: cosine,
}
"""Squared L2 of unit vectors (Chroma), 1 - cosine (Qdrant, SeekDB, pgvector), the cosine itself (Milvus)."""

_TOLERANCE = 0.02
"""Stores keep floats, we quantize: seen differences stay below 2e-3."""


def metric_of(measured: Sequence[tuple[float, float | None]]) -> str:
    """Return the metric by which every (cosine, distance) fits, ``"unknown"`` when there is none."""
    for name, distance_at in METRICS.items():
        fits = [d is not None and abs(distance_at(cosine) - d) <= _TOLERANCE for cosine, d in measured]
        if fits and all(fits):
            return name
    return "unknown"


def backend_of(metric: str, whole_metadata: bool) -> str:
    """Return which backend that looks like, ``""`` when none of the known ones; no call tells."""
    match metric, whole_metadata:
        case "l2", True:
            return "Chroma"
        case "cosine", True:
            return "Qdrant / SeekDB"
        case "cosine", False:
            return "pgvector"
        case "similarity", _:
            return "Milvus"
        case _:
            return ""
