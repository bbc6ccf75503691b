"""From signals to an order, with the reason for every place in it.

``total = vector_weight * meaning + lexical_weight * words + parts``. Both legs are fused by value, not by rank: a weak
leg then cannot push a strong one down. What is relevant at all is decided on another scale (:mod:`.signals`).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..models import Episode, Hit, RecallQuery, Score
from ..records.vectors import Vector
from ..settings import Settings
from ..text.corrections import is_correction
from ..text.fold import fold
from ..text.gist import gist
from .calibration import Calibration
from .index import ScopeIndex
from .lexicon import Slots
from .question import Question
from .signals import Signals
from .weights import WEIGHTS, Weights

__all__ = ["WEIGHTS", "Ranked", "rank"]


@dataclass(frozen=True, slots=True)
class Ranked:
    """What ranking gives back.

    Attributes:
        hits: best first, at most ``k``, nothing said twice.
        considered: how many memories were compared.
        below_floor: how many of them were left out as not relevant.
        answered: 0..1, how likely the question is answered here at all.
    """

    hits: tuple[Hit, ...]
    considered: int
    below_floor: int
    answered: float = 0.0


def rank(
    index: ScopeIndex,
    query: RecallQuery,
    vector: Vector,
    *,
    wanted: Callable[[int], bool],
    calibration: Calibration,
    settings: Settings,
    now: float,
    weights: Weights = WEIGHTS,
) -> Ranked:
    """Order the memories of an index for a question.

    Args:
        index: the scope's index.
        query: the question and ``k``.
        vector: unit vector of the question.
        wanted: whether the memory at a slot may be returned (filters).
        calibration: what unrelated means for the model.
        settings: weights, half-life, floor, zone.
        now: epoch seconds.
        weights: what each signal is worth.
    """
    if not len(index):
        return Ranked((), 0, 0)
    question = Question.of(query, index, now, settings.zone)
    alive = index.columns.alive[: len(index.columns)]
    eligible = alive.copy()
    if query.narrows:
        # What may not be returned says nothing about whether there is an answer.
        eligible[alive] = [wanted(slot) for slot in np.flatnonzero(alive).tolist()]
    signals = Signals.of(index, question, vector, calibration, settings, now, weights, eligible=eligible)
    relevance, floor = signals.relevance, settings.relevance_floor
    answered = relevance.question >= (floor / 2 if query.searched else floor)
    relevant = (relevance.memories >= floor) & answered
    places = np.flatnonzero(alive & relevant) if query.floor else np.flatnonzero(alive)
    total = signals.total(settings)

    def hit(slot: int) -> Hit:
        episode = index.at(slot).episode
        parts = {name: float(part[slot]) for name, part in signals.parts.items()} | _looked_at(
            episode, question, weights
        )
        score = Score(
            float(total[slot]) + parts["tag"] + parts["correction"],
            vector=float(signals.meaning[slot]),
            cosine=float(signals.cosine[slot]),
            lexical=float(signals.words[slot]),
            relevance=float(relevance.memories[slot]),
            boosts={name: value for name, value in parts.items() if value},
        )
        return Hit(episode, score, bool(relevant[slot]))

    hits = _best(hit, total, places, query.k, wanted, weights.tag + weights.correction)
    below = int((alive & ~relevant).sum()) if query.floor else 0
    return Ranked(hits, int(alive.sum()), below, relevance.question)


def _best(
    hit: Callable[[int], Hit],
    total: np.ndarray,
    places: Slots,
    k: int,
    wanted: Callable[[int], bool],
    reach: float,
) -> tuple[Hit, ...]:
    """Return the best ``k`` hits, nothing said twice by the same speaker.

    Args:
        hit: makes the hit of a slot.
        total: per slot, its score without what only looking at the memory tells.
        places: slots that may be returned as far as relevance goes.
        k: how many.
        wanted: whether a slot's memory may be returned.
        reach: the most that looking can add; what is further down than that below the top k is not looked at.
    """
    best: dict[tuple[object, str], Hit] = {}
    firsts: list[float] = []
    for slot in _descending(total, places, k):
        if len(firsts) >= k and float(total[slot]) + reach < firsts[-k]:
            break
        if not wanted(slot):
            continue
        found = hit(slot)
        said = gist(found.episode.content), found.episode.sender_id or found.episode.sender_name
        if said not in best:
            insort(firsts, found.score.total)
        if said not in best or _order(found) < _order(best[said]):
            best[said] = found
    return tuple(sorted(best.values(), key=_order)[:k])


def _descending(total: np.ndarray, places: Slots, k: int) -> Iterable[int]:
    """Return slots by falling score, sorted only as far as they are likely to be looked at."""
    first = min(len(places), 8 * k + 64)
    if first < len(places):
        top = places[np.argpartition(-total[places], first)[:first]]
        yield from top[np.argsort(-total[top], kind="stable")].tolist()
        places = np.setdiff1d(places, top, assume_unique=True)
    yield from places[np.argsort(-total[places], kind="stable")].tolist()


def _order(hit: Hit) -> tuple[float, float, str]:
    return -hit.score.total, -hit.episode.timestamp.timestamp(), hit.episode.id


def _looked_at(episode: Episode, question: Question, weights: Weights) -> dict[str, float]:
    named = any(f and f in question.folded for f in map(fold, episode.tags))
    return {
        "tag": weights.tag if named else 0.0,
        "correction": weights.correction if is_correction(episode.tags) else 0.0,
    }
