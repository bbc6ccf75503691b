"""What speaks for each memory of a scope, as one array per signal with a row per slot.

Two scales are kept apart. For the *order*, meaning and words are stretched over what this question finds: 1 is the
best of the scope, 0 what is unrelated. For *relevance* (:mod:`.relevance`), which the floor is held against, they are
absolute: how much closer than unrelated texts, and which share of the question's words. On the first scale there is
always a best one; on the second there may be none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..records.vectors import Vector
from ..settings import Settings
from ..text.time_windows import Unit
from .calibration import Calibration
from .index import ScopeIndex
from .lexicon import Scores
from .question import Question
from .relevance import HEAVIEST, SINGLE, Relevance
from .weights import WEIGHTS, Weights

__all__ = ["Signals"]

_DAY = 86_400.0
_LEAST_SPAN = 0.02
"""Least distance between unrelated and best, so that noise is not blown up."""
_BELOW = -0.3
"""How far below "unrelated" meaning may go."""
_FULL = 40.0
"""Terms from which on a memory says as much as one can."""
_AFTERWARDS_DAYS = 14.0
"""People tell things for some days afterwards: such memories count for the window, less by and by."""
_AFTERWARDS = 0.4
"""What the first day afterwards is worth against the window itself."""
_VAGUE = {Unit.YEAR: 0.45, Unit.RANGE: 0.3, Unit.SEASON: 0.7}
"""Windows that hold much say less."""
_RECENT_DAYS, _OF_LATE = 2.0, 0.15
"""Today and yesterday are mostly said in passing ("I'm tired today"), so they say little about what is asked."""
_TO_THE_POINT = 40
"""Terms up to which a question asks about the times in it; longer messages name them in passing."""
_INEXACT = 0.7
"""What a window is worth whose words leave a choice."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Arrays with a row per slot.

    Attributes:
        cosine: true cosine with the question.
        meaning: similarity stretched over this question, -0.3..1.
        words: share of the question's word weight against the best memory's, 0..1.
        relevance: whether the question is answered here, and what belongs to the answer.
        parts: weighted additive parts of the score by name.
    """

    cosine: Scores
    meaning: Scores
    words: Scores
    relevance: Relevance
    parts: dict[str, Scores]

    @classmethod
    def of(
        cls,
        index: ScopeIndex,
        question: Question,
        vector: Vector,
        calibration: Calibration,
        settings: Settings,
        now: float,
        weights: Weights = WEIGHTS,
        *,
        eligible: NDArray[np.bool_] | None = None,
    ) -> Signals:
        """Measure every memory of an index against a question.

        Args:
            index: the scope's index.
            question: what is asked.
            vector: its unit vector.
            calibration: what unrelated means for the model.
            settings: weights of meaning and words, half-life.
            now: epoch seconds.
            weights: what each of them is worth.
            eligible: per slot, whether it may be part of an answer; all living ones unless given.
        """
        columns = index.columns
        alive = columns.alive[: len(columns)]
        exact = _exact(index, question, settings, weights)
        cosine = index.all_cosines(vector)
        close, meaning = _close(cosine, vector, calibration), _stretched(cosine, alive, vector, calibration)
        share = _share(index, question) if settings.lexical_weight else np.zeros_like(cosine)
        words = _against_best(index.lexical(question.topic)) if settings.lexical_weight else share
        if question.only_identifiers and settings.exact_match_boost:
            # Who asks for PROJ-123 and nothing else does not mean PROJ-124, however close.
            close, meaning, share, words = (
                np.where(exact > 0, a, 0.0) for a in (close, meaning, share, words)
            )
        able = alive if eligible is None else eligible
        in_passing = min(1.0, _TO_THE_POINT / max(1, question.evidence.terms))
        dated = _dated(columns.time[: len(columns)], question, now) * np.float32(in_passing)
        by_meaning, by_words = settings.vector_weight_effective, settings.lexical_weight
        legs = by_meaning * meaning + by_words * words
        return cls(
            cosine=cosine,
            meaning=meaning,
            words=words,
            relevance=Relevance.of(
                question.evidence,
                close=np.where(able, close, 0.0),
                share=np.where(able, share, 0.0),
                dated=np.where(able, dated, 0.0),
                exact=np.where(able, exact, 0.0),
                timeline=columns.timeline,
                by_meaning=by_meaning,
                by_words=by_words,
            ),
            parts={
                "exact": exact,
                "context": _context(index, np.maximum(legs, 0.0), weights),
                "talk": weights.talk
                * columns.timeline.support(words if by_words else np.maximum(meaning, 0.0)),
                "date": weights.date * dated,
                "named": weights.named * _among(columns.speaker[: len(columns)], question.named),
                "speaker": weights.speaker * _among(columns.speaker[: len(columns)], question.asker),
                "substance": weights.substance
                * np.minimum(np.log1p(index.word_counts()) / np.log(_FULL), 1.0),
                "asks": weights.asks
                * columns.asks[: len(columns)]
                * np.minimum(_FULL / np.maximum(index.word_counts(), 1.0), 1.0),
                "recency": weights.recency * _recent(columns.time[: len(columns)], settings, now),
                "importance": weights.importance * (columns.importance[: len(columns)] - 2.0),
            },
        )

    def total(self, settings: Settings) -> Scores:
        """Return the score of every slot, but for what only looking at the memory tells."""
        legs = settings.vector_weight_effective * self.meaning + settings.lexical_weight * self.words
        found: Scores = sum(self.parts.values(), legs).astype(np.float32)
        return found


def _close(cosine: Scores, vector: Vector, calibration: Calibration) -> Scores:
    base = calibration.baseline(vector)
    found: Scores = np.clip((cosine - base) / (1.0 - base), 0.0, 1.0).astype(np.float32)
    return found


def _stretched(cosine: Scores, alive: NDArray[np.bool_], vector: Vector, calibration: Calibration) -> Scores:
    """Return cosines with 0 for the question's mean cosine with unlike sentences and 1 for the best memory."""
    low = float((calibration.vectors @ vector).mean()) if calibration.dimension == len(vector) else 0.0
    high = float(cosine[alive].max()) if alive.any() else low
    found: Scores = np.clip((cosine - low) / max(high - low, _LEAST_SPAN), _BELOW, 1.0)
    return found


def _share(index: ScopeIndex, question: Question) -> Scores:
    """Return the share of the question's words, with or without its dates, whichever is more."""
    share = index.lexical(question.telling, HEAVIEST, SINGLE)
    if question.dated:
        share = np.maximum(share, index.lexical(question.dated, HEAVIEST, SINGLE))
    return share


def _against_best(scores: Scores) -> Scores:
    best = float(scores.max()) if len(scores) else 0.0
    return scores / best if best > 0 else scores


def _context(index: ScopeIndex, legs: Scores, weights: Weights) -> Scores:
    """Return what the memories said just before and after each one add to it."""
    timeline = index.columns.timeline
    found = np.zeros_like(legs)
    for sign, nearer in ((1, weights.before), (-1, weights.after)):
        for steps, weight in enumerate(nearer, start=1):
            found += weight * timeline.beside(legs, sign * steps)
    return found


def _dated(times: NDArray[np.float64], question: Question, now: float) -> Scores:
    """Return how well each time fits a time that the question names, 0..1."""
    found = np.zeros(len(times), dtype=np.float32)
    for window in question.windows:
        start, end = window.start.timestamp(), window.end.timestamp()
        if window.unit is Unit.PART:
            # Memories dated by the day stand at midnight.
            start, end = start // _DAY * _DAY, -(-end // _DAY) * _DAY
        if question.evidence.only_dated and not question.named:
            # Nothing else tells what was on that day from what was told of it afterwards.
            found = np.maximum(found, ((times >= start) & (times < end)).astype(np.float32))
            continue
        worth = _VAGUE.get(window.unit, 1.0) * (1.0 if window.exact else _INEXACT)
        if end > now - _RECENT_DAYS * _DAY:
            worth *= _OF_LATE
        late = (times - end) / _DAY
        after = np.where(
            (late >= 0) & (late < _AFTERWARDS_DAYS), _AFTERWARDS * (1.0 - late / _AFTERWARDS_DAYS), 0.0
        )
        fits = np.where((times >= start) & (times < end), 1.0, after)
        found = np.maximum(found, (worth * fits).astype(np.float32))
    return found


def _among(numbers: NDArray[np.int32], wanted: tuple[int, ...]) -> Scores:
    found: Scores = (
        np.isin(numbers, wanted).astype(np.float32) if wanted else np.zeros(len(numbers), np.float32)
    )
    return found


def _recent(times: NDArray[np.float64], settings: Settings, now: float) -> Scores:
    age = np.maximum(now - times, 0.0) / _DAY
    found: Scores = (0.5 ** (age / settings.recency_half_life_days)).astype(np.float32)
    return found


def _exact(index: ScopeIndex, question: Question, settings: Settings, weights: Weights) -> Scores:
    found = np.zeros(len(index.columns), dtype=np.float32)
    if settings.exact_match_boost:
        found[index.holding(question.identifiers)] = weights.exact
        found[index.slots(_words_of(question.folded))] = weights.episode_id
    found[index.slots(record.episode.id for record in index.saying(question.text))] += weights.literal
    return found


def _words_of(folded: str) -> list[str]:
    return "".join(ch if ch.isascii() and ch.isalnum() else " " for ch in folded).split()
