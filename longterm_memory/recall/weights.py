"""Every weight of the ranking, with what it was chosen by.

Units are those of the final score, whose two legs, meaning and words, reach 1 together. The weights were set by hand in
round numbers and then tried one by one on the halves of the data sets that are for tuning, with both models
(docs/how-recall-works.md: how to change one and read what it costs). What each is
worth there stands in that page.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["WEIGHTS", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What is added to meaning and words."""

    before: tuple[float, ...] = (0.4, 0.18)
    """Share of the score of what was said one and two steps before in the same talk: an answer seldom repeats the
    words of its question."""
    after: tuple[float, ...] = (0.27, 0.12)
    """The same for what was said after it."""
    talk: float = 0.3
    """How much its talk as a whole is about the question."""
    date: float = 0.65
    """It happened at the time that the question names."""
    named: float = 0.15
    """Said by somebody whose name stands in the question."""
    speaker: float = 0.03
    """Said by whoever asks."""
    substance: float = 0.3
    """How much it says: 0 for a word, all for 40 terms and more, by the logarithm. "Wow, great!" answers nothing."""
    asks: float = -0.2
    """It is a question itself; the less the more it says beside that."""
    recency: float = 0.05
    """At age 0, half of it after ``recency_half_life_days``, never negative. Added, not multiplied: a factor would bury
    everything older than a fortnight."""
    importance: float = 0.02
    """For each level above the default 2 (level 1 loses as much): -0.02 .. +0.06."""
    tag: float = 0.04
    """A tag of the memory stands in the question."""
    correction: float = 0.02
    """It corrects something."""
    exact: float = 0.5
    """An exact identifier of the question stands in it; also lifts it over the floor."""
    literal: float = 0.5
    """It says literally what is asked: whoever repeats a memory means that one and not its neighbours."""
    episode_id: float = 1.0
    """The question holds the memory's own id."""


WEIGHTS = Weights()
