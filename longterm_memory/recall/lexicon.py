"""Which term stands in which memory how often, and how well a question's terms are covered (BM25).

Memories are known by their slot in :class:`~longterm_memory.recall.index.ScopeIndex`. Removing one only
lowers the counts; its entries go when the index is compacted, since looking for them in every posting would
cost more.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lexicon", "Scores", "Slots"]

_K1, _B = 0.9, 0.4
"""BM25 for short texts: saturation and length influence below the usual 1.2 and 0.75 (as Anserini does for
passages).
"""
_SINGLE = 0.5
"""Weight of a single CJK character against a word or pair; on its own it says little."""

Slots = NDArray[np.int64]
Scores = NDArray[np.float32]


class Lexicon:
    """Postings of one scope."""

    def __init__(self) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._seen_in: Counter[str] = Counter()
        self._memories = 0
        self._length = 0
        self._lengths = array("f")

    def add(self, slot: int, counted: Mapping[str, int]) -> None:
        """Add a memory: how often each term stands in it. Slots come in order."""
        for term, times in counted.items():
            slots, counts = self._postings.setdefault(term, (array("i"), array("i")))
            slots.append(slot)
            counts.append(times)
        self._seen_in.update(counted.keys())
        length = sum(counted.values())
        self._lengths.append(length)
        self._length += length
        self._memories += 1

    def remove(self, counted: Mapping[str, int]) -> None:
        """Count a memory out again; its slot still occurs in :meth:`scores` and :meth:`holding`."""
        self._seen_in.subtract(counted.keys())
        self._length -= sum(counted.values())
        self._memories -= 1

    def compact(self, moved: NDArray[np.int32]) -> None:
        """Renumber slots.

        Args:
            moved: new slot per old one, -1 for removed memories; the order stays.
        """
        postings: dict[str, tuple[array[int], array[int]]] = {}
        for term, (slots, counts) in self._postings.items():
            new = moved[np.frombuffer(slots, dtype=np.int32)]
            kept = new >= 0
            if kept.any():
                postings[term] = (
                    array("i", new[kept].tobytes()),
                    array("i", np.frombuffer(counts, dtype=np.int32)[kept].tobytes()),
                )
        self._postings = postings
        self._seen_in = Counter({term: len(slots) for term, (slots, _) in postings.items()})
        self._lengths = array("f", np.frombuffer(self._lengths, dtype=np.float32)[moved >= 0].tobytes())

    def idf(self, term: str) -> float:
        """Return the inverse document frequency (BM25+, never negative) of a term in this scope."""
        seen = self._seen_in.get(term, 0)
        return math.log(1.0 + (self._memories - seen + 0.5) / (seen + 0.5))

    def holding(self, term: str) -> Slots:
        """Return the slots whose memory holds a term (removed ones may be among them)."""
        posting = self._postings.get(term)
        return np.array(posting[0] if posting else (), dtype=np.int64)

    def scores(self, query: Iterable[str]) -> Scores:
        """Return, per slot, the share (0..1) of the query's term weight that each memory holds (BM25,
        normalized).

        Args:
            query: terms of the question (:func:`longterm_memory.text.terms.terms`).
        """
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        weights = {t: self.idf(t) * (_SINGLE if len(t) == 1 and not t.isascii() else 1.0) for t in set(query)}
        total = sum(weights.values())
        if not self._memories or total <= 0:
            return scores
        lengths = np.frombuffer(self._lengths, dtype=np.float32)
        average = max(1.0, self._length / self._memories)
        for term, weight in sorted(weights.items()):
            posting = self._postings.get(term)
            if posting is None:
                continue
            slots = np.frombuffer(posting[0], dtype=np.int32)
            counts = np.frombuffer(posting[1], dtype=np.int32).astype(np.float32)
            norm = _K1 * (1.0 - _B + _B * lengths[slots] / average)
            scores[slots] += weight * counts * (_K1 + 1.0) / (counts + norm)
        # A memory of average length that holds every term once scores the sum of the weights: that is a full
        # share.
        shares: Scores = np.minimum(scores / total, 1.0).astype(np.float32)
        return shares
