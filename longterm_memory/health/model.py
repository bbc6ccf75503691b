"""The embedding model: whether it answers usably, and whether it is the one that the memories were stored with.

The model itself is asked, not the service's own way to it, which may be pausing after failures: a health check
is what people run after they mended something. A good answer ends the pause; a bad one does not lengthen it.
"""

from __future__ import annotations

from ..collection import Collection
from ..errors import EmbeddingFailed
from ..ports import Embedder
from ..recall.calibration import CANARY
from ..records.vectors import Vector, unit
from .report import Check
from .steps import attempt, detail
from .timing import Watch

__all__ = ["embedding"]

_TEXTS = (CANARY, "How many spoons fit into a drawer? 抽屉里放得下几把勺子？")
"""What is embedded; the canary tells the model, the other one has to come out different."""
_ALIKE = 0.9999
"""From this cosine on two different texts count as having come out the same."""


async def embedding(
    embedder: Embedder, collection: Collection, seconds: float, deadline: float
) -> list[Check]:
    """Ask the model for vectors of two texts.

    Args:
        embedder: the host.
        collection: the knowledge base in use.
        seconds: how long the model may take.
        deadline: seconds that a turn waits for recall.

    Returns:
        The checks ``embedding``, ``embedding_model`` and ``embedding_pause``.
    """
    vectors: list[Vector] = []
    breaker = collection.embeddings.breaker
    paused = breaker.seconds_left()
    works = await attempt("embedding", _asked(embedder, collection.base.model, vectors, deadline), seconds)
    if not vectors:
        pause = Check.of("embedding_pause", "open", seconds=round(paused)) if paused else _closed()
        return [works, Check.unchecked("embedding_model", "embedding"), pause]
    breaker.succeeded()
    same = _compared(collection, vectors[0])
    if same.outcome not in ("same", "first"):
        # The next turn is not to believe a check that it made before.
        collection.embeddings.forget_verification()
    return [works, same, Check.of("embedding_pause", "ended") if paused else _closed()]


def _closed() -> Check:
    return Check.of("embedding_pause", "closed")


async def _asked(embedder: Embedder, model: str, vectors: list[Vector], deadline: float) -> Check:
    """Fill in the unit vectors of an answer that can be used."""
    watch = Watch()
    try:
        answer: object = await embedder.embed(model, _TEXTS)
    except EmbeddingFailed as exc:
        return Check.of("embedding", "down", model=model, detail=detail(exc))
    ms = watch.ms
    got = len(answer) if isinstance(answer, (list, tuple)) else 0
    if not isinstance(answer, (list, tuple)) or got != len(_TEXTS):
        return Check.of("embedding", "count", model=model, got=got, wanted=len(_TEXTS))
    try:
        found = [unit(vector) for vector in answer]
    except (TypeError, ValueError):
        return Check.of("embedding", "not_numbers", model=model)
    if len({vector.shape for vector in found}) > 1:
        lengths = ", ".join(str(vector.shape[0]) for vector in found)
        return Check.of("embedding", "lengths", model=model, lengths=lengths)
    vectors += found
    if float(found[0] @ found[1]) >= _ALIKE:
        return Check.of("embedding", "alike", model=model)
    measured = {"model": model, "dimension": int(found[0].shape[0]), "ms": ms}
    if ms > deadline * 1000:
        return Check.of("embedding", "slow", **measured, deadline=f"{deadline:g}")
    return Check.of("embedding", "ok", **measured)


def _compared(collection: Collection, canary: Vector) -> Check:
    known, dimension = collection.base.calibration, int(canary.shape[0])
    if known is None:
        return Check.of("embedding_model", "first", dimension=dimension)
    if known.dimension != dimension:
        return Check.of("embedding_model", "dimension", before=known.dimension, now=dimension)
    return Check.of("embedding_model", "same" if known.same_model(canary) else "changed", dimension=dimension)
