"""Memories in the order in which they were said, cut into talks.

What was said next to a memory helps to find it: an answer seldom repeats the words of its question. That holds within
one talk only, so memories are neighbours when they come from the same conversation and lie less than an hour apart.
Memories dated by the day alone (midnight UTC) are no neighbours: nobody knows what came between them. And it holds
for a talk that was written down line by line. What the bot noted with its tool speaks for itself and has no neighbours;
of imported memories nobody knows which they are, so the more lines a talk has, the more its neighbours count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .lexicon import Scores

__all__ = ["GAP_SECONDS", "Timeline"]

GAP_SECONDS = 3_600.0
"""Longest silence within a talk."""
_DAY = 86_400.0
_WHOLE = 9
"""Lines from which on a talk counts as written down whole."""
_BEST = 3
"""A talk is as good as the mean of its so many best memories."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The order of the living memories.

    Attributes:
        order: their slots, in the order in which they were said.
        talk: per position in ``order``, the number of its talk, ascending.
        sizes: how many memories each talk has.
    """

    order: NDArray[np.int64]
    talk: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        alive: NDArray[np.bool_],
        time: NDArray[np.float64],
        created: NDArray[np.float64],
        place: NDArray[np.int32],
        noted: NDArray[np.bool_],
    ) -> Timeline:
        """Sort memories by conversation, time and the order in which they were stored.

        Args:
            alive: per slot, whether it holds a memory.
            time: epoch seconds when it happened.
            created: epoch seconds when it was stored.
            place: number of its conversation.
            noted: whether it is a fact that the bot noted.
        """
        slots = np.flatnonzero(alive)
        order = slots[np.lexsort((created[slots], time[slots], noted[slots], place[slots]))]
        if len(order) < 2:
            return cls(order, np.zeros(len(order), dtype=np.int64), np.ones(len(order), dtype=np.int64))
        when, where = time[order], place[order]
        apart = (np.diff(when) > GAP_SECONDS) | (np.diff(where) != 0) | (when[1:] % _DAY == 0)
        apart |= noted[order[1:]] | noted[order[:-1]]
        talk = np.concatenate([[0], np.cumsum(apart)]).astype(np.int64)
        return cls(order, talk, np.bincount(talk))

    @property
    def weight(self) -> Scores:
        """How much the neighbours of each talk count, 0 for a single memory .. 1 for a talk written down whole."""
        found: Scores = np.minimum((self.sizes - 1) / (_WHOLE - 1), 1.0).astype(np.float32)
        return found

    def beside(self, values: Scores, steps: int) -> Scores:
        """Return, per slot, the value of the memory said ``steps`` before it (after it when negative) in the same
        talk, weighted by :attr:`weight`; 0 where there is none.

        Args:
            values: per slot.
            steps: how far, not 0.
        """
        found = np.zeros_like(values)
        if abs(steps) < len(self.order):
            here = self.order[steps:] if steps > 0 else self.order[:steps]
            there = self.order[:-steps] if steps > 0 else self.order[-steps:]
            talk_here = self.talk[steps:] if steps > 0 else self.talk[:steps]
            talk_there = self.talk[:-steps] if steps > 0 else self.talk[-steps:]
            same = talk_here == talk_there
            found[here[same]] = values[there[same]] * self.weight[talk_here[same]]
        return found

    def support(self, values: Scores) -> Scores:
        """Return, per slot, how good its talk is against the best memory, weighted by :attr:`weight`, 0..1.

        Args:
            values: per slot, not negative.
        """
        found = np.zeros_like(values)
        if not len(self.order):
            return found
        sizes = self.sizes
        ranked = np.lexsort((-values[self.order], self.talk))
        place = np.arange(len(ranked)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        best = np.where(place < _BEST, values[self.order[ranked]], 0.0)
        means = np.add.reduceat(best, np.cumsum(sizes) - sizes) / np.minimum(sizes, _BEST)
        top = float(values[self.order].max())
        if top > 0:
            found[self.order] = (means / top * self.weight)[self.talk]
        return found
