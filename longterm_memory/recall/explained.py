"""A score as the parts that add up to it."""

from __future__ import annotations

from collections.abc import Iterator

from ..models import Score
from ..settings import Settings

__all__ = ["BOOSTS", "parts_of"]

BOOSTS = (
    *("exact", "date", "context", "talk", "substance", "asks"),
    *("recency", "importance", "speaker", "named", "tag", "correction", "rerank"),
)
"""The additive parts of a score beside meaning and words, in the order shown."""


def parts_of(score: Score, settings: Settings) -> Iterator[tuple[str, float]]:
    """Yield the parts of a score by name: ``meaning``, ``words``, and the :data:`BOOSTS`."""
    yield "meaning", score.vector * settings.vector_weight_effective
    yield "words", score.lexical * settings.lexical_weight
    for name in BOOSTS:
        yield name, score.boosts.get(name, 0.0)
