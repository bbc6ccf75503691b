"""Which term stands in which memory how often, and how well a question's terms are covered (BM25).

Memories are known by their slot in :class:`~longterm_memory.recall.index.ScopeIndex`. Removing one only
lowers the counts; its entries go when the index is compacted, since looking for them in every posting would
cost more.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..text.terms import is_unspaced, shorter

__all__ = ["SINGLE", "Lexicon", "Scores", "Slots"]

_WORDS, _PAIRS = (0.6, 0.4), (1.2, 0.75)
"""BM25's saturation k1 and influence of length b. For words below the usual 1.2 and 0.75, since memories are short
(Anserini's setting for passages is 0.82 and 0.68); characters and pairs of unspaced scripts meet by chance the more
often the longer a text is, so for them the usual ones.
"""
SINGLE = 0.8
"""Weight of a single CJK character against a word or pair; on its own it says a little less."""

_BARE = "~"
"""Before what an accented word of a memory is without its accents, or an identifier in short. It stands beside the
word, adds nothing to the memory's length, and is looked for by what is as short: má and mà are found by ma and not by
one another, src/store.ts and lib/store.ts by store.ts."""
_UNLIKE = 0.85
"""What a word counts that has accents, or is whole, on one side only."""
_TIMES_BITS = 8
_TIMES_MAX = (1 << _TIMES_BITS) - 1
"""More repetitions of a term in one memory count as this many; BM25 has long saturated."""

Slots = NDArray[np.int64]
Scores = NDArray[np.float32]


def _bare(counted: Mapping[str, int]) -> Counter[str]:
    """Return the terms of a memory that people also type shorter, as they do."""
    found: Counter[str] = Counter()
    for term, times in counted.items():
        if not term.isascii() or term.startswith("="):
            for form in shorter(term):
                found[_BARE + form] += times
    return found


def _alike(counted: Mapping[str, int]) -> int:
    return hash(frozenset(counted.items()))


class Lexicon:
    """Postings of one scope."""

    def __init__(self) -> None:
        self._postings: dict[str, array[int]] = {}
        """Per term, slot and number of times in one number: ``slot << 8 | times``."""
        self._removed: Counter[str] = Counter()
        """In how many removed memories a term still stands."""
        self._alike: Counter[int] = Counter()
        """How many memories have the same terms, by hash. They count as one where it matters how rare a word is: a
        fact that many told is no less telling."""
        self._repeated: Counter[str] = Counter()
        """In how many memories a term stands that say what one more says."""
        self._memories = 0
        self._length = 0
        self._lengths = array("f")

    def add(self, slot: int, counted: Mapping[str, int]) -> None:
        """Add a memory: how often each term stands in it. Slots come in order."""
        postings, place = self._postings, slot << _TIMES_BITS
        bare = _bare(counted)
        for term, times in itertools.chain(counted.items(), bare.items()):
            entry = place | (times if times < _TIMES_MAX else _TIMES_MAX)
            posting = postings.get(term)
            if posting is None:
                postings[term] = array("q", (entry,))
            else:
                posting.append(entry)
        length = sum(counted.values())
        self._lengths.append(length)
        self._length += length
        self._memories += 1
        alike = _alike(counted)
        self._alike[alike] += 1
        if self._alike[alike] > 1:
            self._repeated.update([*counted, *bare])

    def skip(self) -> None:
        """Leave the next slot without a memory."""
        self._lengths.append(0)

    def remove(self, counted: Mapping[str, int]) -> None:
        """Count a memory out again; its slot still occurs in :meth:`scores` and :meth:`holding`."""
        terms, alike = [*counted, *_bare(counted)], _alike(counted)
        self._removed.update(terms)
        self._length -= sum(counted.values())
        self._memories -= 1
        self._alike[alike] -= 1
        if self._alike[alike]:
            self._repeated.subtract(terms)
        else:
            del self._alike[alike]

    def compact(self, moved: NDArray[np.int32]) -> None:
        """Renumber slots.

        Args:
            moved: new slot per old one, -1 for removed memories; the order stays.
        """
        postings: dict[str, array[int]] = {}
        for term, posting in self._postings.items():
            entries = np.frombuffer(posting, dtype=np.int64)
            slots = moved[entries >> _TIMES_BITS]
            kept = slots >= 0
            if kept.any():
                entries = (slots[kept].astype(np.int64) << _TIMES_BITS) | (entries[kept] & _TIMES_MAX)
                postings[term] = array("q", entries.tobytes())
        self._postings = postings
        self._removed = Counter()
        self._lengths = array("f", np.frombuffer(self._lengths, dtype=np.float32)[moved >= 0].tobytes())

    def lengths(self) -> Scores:
        """Return the number of terms of each slot's memory."""
        found: Scores = np.frombuffer(self._lengths, dtype=np.float32).copy()
        return found

    def seen(self, term: str) -> int:
        """Return in how many memories a term stands, with accents or without; those that say the same count as one."""
        found = sum(
            len(self._postings[key]) - self._removed.get(key, 0) - self._repeated.get(key, 0)
            for key, _ in self._written(term)
        )
        return min(found, self.distinct)

    @property
    def distinct(self) -> int:
        """How many memories there are; those that say the same count as one."""
        return len(self._alike)

    def _written(self, term: str) -> list[tuple[str, float]]:
        """Return under what a term stands in memories, as it is and where only they or only the question has accents,
        each with what it counts.
        """
        keys = [(term, 1.0), (_BARE + term, _UNLIKE), *((form, _UNLIKE) for form in shorter(term))]
        return [key for key in keys if key[0] in self._postings]

    def idf(self, term: str) -> float:
        """Return the inverse document frequency (BM25+, never negative) of a term in this scope."""
        seen = self.seen(term)
        return math.log(1.0 + (self.distinct - seen + 0.5) / (seen + 0.5))

    def holding(self, term: str) -> Slots:
        """Return the slots whose memory holds a term, as it is or shorter on one side (removed ones may be among
        them).
        """
        entries = [np.frombuffer(self._postings[key], dtype=np.int64) for key, _ in self._written(term)]
        return np.concatenate(entries) >> _TIMES_BITS if entries else np.zeros(0, dtype=np.int64)

    def scores(self, query: Iterable[str], heaviest: int | None = None, single: float = SINGLE) -> Scores:
        """Return, per slot, the share (0..1) of the query's term weight that each memory holds (BM25,
        normalized).

        Args:
            query: terms of the question (:func:`longterm_memory.text.terms.terms`); what a long message says again and
                again weighs more, by the logarithm.
            heaviest: the share is of the weight of the so many heaviest of them; ``None``: of all.
            single: weight of a single CJK character, 0..1.
        """
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        weights = {
            term: self.idf(term)
            * (single if len(term) == 1 and not term.isascii() else 1.0)
            * (1.0 + math.log(times))
            for term, times in Counter(query).items()
        }
        total = sum(sorted(weights.values(), reverse=True)[:heaviest])
        if not self._memories or total <= 0:
            return scores
        lengths = np.frombuffer(self._lengths, dtype=np.float32)
        average = max(1.0, self._length / self._memories)
        for term, weight in sorted(weights.items()):
            k1, b = _PAIRS if is_unspaced(term) else _WORDS
            written = self._written(term)
            best = scores if len(written) < 2 else np.zeros_like(scores)
            for key, counted in written:
                entries = np.frombuffer(self._postings[key], dtype=np.int64)
                slots, counts = entries >> _TIMES_BITS, (entries & _TIMES_MAX).astype(np.float32)
                norm = k1 * (1.0 - b + b * lengths[slots] / average)
                found = counted * weight * counts * (k1 + 1.0) / (counts + norm)
                if best is scores:
                    scores[slots] += found
                else:
                    best[slots] = np.maximum(best[slots], found)
            if best is not scores:
                scores += best
        # A memory of average length that holds every term once scores the sum of the weights: that is a full
        # share.
        shares: Scores = np.minimum(scores / total, 1.0).astype(np.float32)
        return shares
