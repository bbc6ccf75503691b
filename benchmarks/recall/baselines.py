"""Rankings to compare with, over the same memories and vectors: what a simpler design would find."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from longterm_memory.text.terms import terms

__all__ = ["BASELINES", "Corpus"]

_DAY = 86_400.0
_K1, _B = 1.2, 0.75
"""The usual BM25 constants (Robertson & Zaragoza 2009)."""

Scores = NDArray[np.float64]


class Corpus:
    """Memories of one space.

    Args:
        texts: distinct texts.
        vectors: their unit vectors, shape (texts, dimension).
        times: epoch seconds per text.
    """

    def __init__(self, texts: Sequence[str], vectors: NDArray[np.float32], times: Sequence[float]) -> None:
        self.texts = list(texts)
        self.vectors = vectors
        self.times = np.asarray(times, dtype=np.float64)
        self._counts = [Counter(terms(text)) for text in texts]
        self._lengths = np.array([sum(counted.values()) for counted in self._counts], dtype=np.float64)
        self._places: dict[str, list[int]] = {}
        for at, counted in enumerate(self._counts):
            for term in counted:
                self._places.setdefault(term, []).append(at)

    def cosine(self, query: NDArray[np.float32]) -> Scores:
        """Return the cosine of every text with a question."""
        found: Scores = (self.vectors @ query).astype(np.float64)
        return found

    def bm25(self, question: str) -> Scores:
        """Return BM25 of every text for a question."""
        scores = np.zeros(len(self.texts))
        average = max(1.0, float(self._lengths.mean()))
        for term in set(terms(question)):
            places = self._places.get(term, [])
            weight = math.log(1 + (len(self.texts) - len(places) + 0.5) / (len(places) + 0.5))
            for at in places:
                times = self._counts[at][term]
                scores[at] += (
                    weight * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * self._lengths[at] / average))
                )
        return scores


def _scaled(scores: Scores) -> Scores:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros_like(scores)


def _decay(corpus: Corpus, question: str, query: NDArray[np.float32], now: float) -> Scores:
    age = np.maximum(now - corpus.times, 0.0) / _DAY
    found: Scores = corpus.cosine(query) * 0.5 ** (age / 30.0)
    return found


Baseline = Callable[[Corpus, str, NDArray[np.float32], float], Scores]

BASELINES: Mapping[str, Baseline] = {
    "decay": _decay,
    "vector": lambda corpus, _question, query, _now: corpus.cosine(query),
    "bm25": lambda corpus, question, _query, _now: corpus.bm25(question),
    "fusion": lambda corpus, question, query, _now: (
        0.5 * _scaled(corpus.cosine(query)) + 0.5 * _scaled(corpus.bm25(question))
    ),
}
"""Similarity halved every 30 days; similarity; BM25; half of each, scaled to 0..1 per question."""
