"""Whether a question is answered here at all, and which memories may be part of the answer.

Ranking always has a best memory, also for a question about something nobody ever mentioned. What "nothing" looks like
differs by embedding model, by language and by what is stored, so it is learned from these:

- *closeness* is measured against what the model gives for unlike sentences and for this question
  (:mod:`.calibration`, measured anew for every knowledge base and model);
- a word of the question weighs what it weighs in this scope (its inverse document frequency), and a name that is
  unknown here speaks against an answer;
- the best of many memories is better by chance than the best of few, so a large scope must bring more.

These are added up as log odds that the question is answered, from the best that any memory has of each. Below the floor
nothing is. Above it, a memory is part of the answer when enough speaks for it, or for what was said beside it, against
the best one. The coefficients began as a logistic regression over real questions (their answer among the best three)
against questions of other people's stores: LoCoMo (English), MemoryBank and MADial (Chinese), each as a whole and cut
to 200, 60, 20 and 5 memories, with two models. They were then rounded, and those for length, size, script and known
names set by hand so that 95 of 100 real questions are kept; docs/how-recall-works.md has the figures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .lexicon import Scores
from .timeline import Timeline

__all__ = ["HEAVIEST", "SINGLE", "Evidence", "Relevance"]

HEAVIEST = 16
"""A question's words are compared with at most so many of the heaviest: a long message is about more than one thing."""

SINGLE = 0.5
"""Weight of a single CJK character: many are shared by chance."""
_CLOSE, _SHARE = 17.0, 18.0
"""Per unit of closeness and of the share of words, each times its setting (one half unless changed)."""
_EXACT = 12.0
"""Per unit of the ranking's own boost for identifiers: whoever asks for PROJ-123 is answered by what names it."""
_DATED = 0.3
"""A memory lies in the time that the question names."""
_DATED_SELF = 3.0
"""The same once more for that memory itself: whoever asks about a day means what happened on it."""
_ONLY_DATED = 12.0
"""The same if nothing else is asked: "what happened last Wednesday?" is answered by whatever did."""
_STRANGER = -3.2
"""Every name in the question is unknown here."""
_ACQUAINTED = 1.5
"""Somebody who speaks here is named in the question."""
_LONG, _LONG_FROM = 0.45, 25
"""Per natural logarithm of its terms against so many, if there are more: the more a message is about, the less close it
is to any one memory."""
_UNSPACED, _LONG_UNSPACED = -1.1, 0.22
"""Scripts without spaces: pairs of characters meet by chance more often than words do; and what is added there to
:data:`_LONG`."""
_SIZE, _SIZE_MIDDLE, _SIZE_LEAST, _SIZE_MOST = -0.45, 50, 5, 2_000
"""Per natural logarithm of the memories in the scope, against so many; measured from 5 to 700."""
_NONE = -3.85
"""Log odds of a question that nothing speaks for."""
_PART = 0.3
"""A memory belongs to the answer from so much of what speaks for the best one."""
_LEAST = 0.5
"""However little speaks for the best one, this much log odds have to speak for a memory."""
_BESIDE = 1.0
"""What stands beside close memories in a talk needs no words of its own: it gets this share of what speaks for them,
the more the longer the talk."""
_STEPS = (1, -1, 2, -2)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known about a question before any memory is looked at.

    Attributes:
        terms: how many terms it has.
        strangers: share (0..1) of the names in it that are unknown here.
        acquainted: whether it names somebody who speaks here.
        unspaced: share (0..1) of its characters from scripts without spaces.
        memories: how many are in the scope; those that say the same count as one.
        only_dated: whether it asks for nothing but a time.
    """

    terms: int
    strangers: float
    acquainted: bool
    unspaced: float
    memories: int
    only_dated: bool = False

    @property
    def odds(self) -> float:
        """Log odds that any memory answers it, before closeness and words."""
        size = min(max(self.memories, _SIZE_LEAST), _SIZE_MOST)
        return float(
            _NONE
            + _STRANGER * self.strangers
            + _ACQUAINTED * self.acquainted
            + (_LONG + _LONG_UNSPACED * self.unspaced) * max(0.0, np.log(max(self.terms, 1) / _LONG_FROM))
            + _UNSPACED * self.unspaced
            + _SIZE * np.log(size / _SIZE_MIDDLE)
        )


@dataclass(frozen=True, slots=True)
class Relevance:
    """What is held against the floor.

    Attributes:
        question: 0..1, how likely the scope answers it.
        memories: per slot 0..1, how likely each memory belongs to the answer.
    """

    question: float
    memories: Scores

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        *,
        close: Scores,
        share: Scores,
        dated: Scores,
        exact: Scores,
        timeline: Timeline,
        by_meaning: float,
        by_words: float,
    ) -> Relevance:
        """Weigh what speaks for an answer.

        Args:
            evidence: of the question.
            close: per living slot, closeness, at most 1; 0 for unrelated.
            share: per slot, share of the words, 0..1.
            dated: per slot, how well it fits the time in the question, 0..1.
            exact: per slot, boost for exact matches.
            timeline: which memories stand beside each other in a talk.
            by_meaning: weight of closeness.
            by_words: weight of words; both are 1 together.
        """
        on_time = _ONLY_DATED if evidence.only_dated else _DATED
        parts = (by_meaning * _CLOSE * close, by_words * _SHARE * share, on_time * dated, _EXACT * exact)
        best = sum(float(part.max(initial=0.0)) for part in parts)
        own = sum(parts, _DATED_SELF * dated)
        beside = np.max([timeline.beside(own, steps) for steps in _STEPS], axis=0, initial=0.0)
        reached = np.maximum(own, _BESIDE * beside)
        needed = max(_PART * float(reached.max(initial=0.0)), _LEAST)
        each = (reached - needed).astype(np.float64)
        return cls(float(_likely(np.array(evidence.odds + best))), _likely(each).astype(np.float32))


def _likely(odds: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1.0 / (1.0 + np.exp(-odds))
    return found
