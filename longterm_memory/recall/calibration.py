"""What "unrelated" means for an embedding model, measured once when a knowledge base is first used.

Models differ widely: two unrelated sentences have a cosine near 0 under one and near 0.8 under another, so a
constant threshold cannot work. A fixed set of sentences about unlike things, in English and Chinese, is
embedded once; their similarities to each other and to the question tell where "unrelated" ends. The first
sentence doubles as a canary: when the service no longer gives the same vector for it, the model behind the
name was changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records.vectors import Quantized, Vector

__all__ = ["CANARY", "SENTENCES", "Calibration"]

SENTENCES = (
    "The ferry to the northern island leaves at dawn.",
    "He repaired the old radio with a borrowed screwdriver.",
    "Interest rates were raised by a quarter of a percent.",
    "My cousin plays the cello in a small orchestra.",
    "Boil the lentils with cumin for twenty minutes.",
    "The server returned an error after the update.",
    "昨天下雨，院子里的桂花落了一地。",
    "这台打印机需要更换墨盒。",
    "她报名参加了周末的陶艺课。",
    "公司下个月搬到新的办公楼。",
    "球队在最后一分钟扳平了比分。",
    "医生建议他少喝咖啡多运动。",
)
"""Unlike topics on purpose; never shown to anybody and never stored as memories."""

CANARY = SENTENCES[0]
_SAME_MODEL = 0.97
"""Lowest cosine between two embeddings of the canary by one model (services round and batch differently)."""


_FLOOR_MAX = 0.95
"""A model that finds everything alike still has to leave room above "unrelated"."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Reference vectors of one embedding model.

    Attributes:
        vectors: unit vectors of the sentences as they were stored, shape (sentences, dimension).
        mean: mean cosine of two unrelated sentences.
        spread: standard deviation of that cosine.
    """

    vectors: NDArray[np.float32]
    mean: float
    spread: float

    @classmethod
    def of(cls, vectors: Sequence[Vector]) -> Calibration:
        """Measure a model from its unit vectors of :data:`SENTENCES`, in order."""
        matrix = np.stack([Quantized.of(v).vector() for v in vectors])
        cosines = (matrix @ matrix.T)[np.triu_indices(len(matrix), 1)]
        return cls(matrix, float(cosines.mean()), float(cosines.std()))

    @property
    def dimension(self) -> int:
        """Dimension of the model's vectors."""
        return int(self.vectors.shape[1])

    def same_model(self, canary: Vector) -> bool:
        """Whether a fresh unit vector of :data:`CANARY` comes from the measured model."""
        if canary.shape != (self.dimension,):
            return False
        return float(self.vectors[0] @ canary) >= _SAME_MODEL

    @property
    def floor(self) -> float:
        """The cosine up to which two texts count as unrelated: one deviation above the mean of unrelated
        ones.
        """
        return min(self.mean + self.spread, _FLOOR_MAX)

    def closeness(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return how close texts are: 0 at :attr:`floor` (negative below), 1 for the same direction."""
        return ((cosines - self.floor) / (1.0 - self.floor)).astype(np.float32)

    def baseline(self, query: Vector) -> float:
        """Return the cosine up to which texts count as unrelated to this query.

        The floor, or the query's own closeness to unrelated sentences when that is higher (a short or vague
        question is close to everything).
        """
        own = np.sort(self.vectors @ query)[-3:].mean()
        return min(max(self.floor, float(own)), _FLOOR_MAX)

    def dump(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "mean": self.mean,
            "spread": self.spread,
            "vectors": [Quantized.of(v).encode() for v in self.vectors],
        }

    @classmethod
    def load(cls, data: dict[str, Any]) -> Calibration:
        """Read back what :meth:`dump` gave.

        Raises:
            KeyError, TypeError, ValueError: not such data.
        """
        vectors = [Quantized.decode(str(codes)).vector() for codes in data["vectors"]]
        return cls(np.stack(vectors), _finite(data["mean"]), _finite(data["spread"]))


def _finite(value: object) -> float:
    number = float(value)  # type: ignore[arg-type]
    if not np.isfinite(number):
        raise ValueError("not a finite number")
    return number
