"""From candidates to an order, with the reason for every place in it.

``total = vector_weight * vector + lexical_weight * lexical + boosts``. Both scores lie in 0..1 and are fused
by value, not by rank: a weak leg then cannot push a strong one down. Boosts are small and additive, so the
one relevant memory from a year ago beats today's small talk; multiplying by decay would bury everything older
than a fortnight.
"""

from __future__ import annotations

import re
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..models import Episode, Hit, RecallQuery, Score
from ..records.vectors import Vector
from ..settings import Settings
from ..text.corrections import is_correction
from ..text.fold import fold, same_text
from ..text.terms import content_terms, identifiers, terms
from .calibration import Calibration
from .index import ScopeIndex
from .lexicon import Scores, Slots

__all__ = ["WEIGHTS", "Ranked", "Weights", "rank"]


@dataclass(frozen=True, slots=True)
class Weights:
    """The additive boosts, in units of the final score (whose two main parts together reach 1)."""

    recency: float = 0.06
    """At age 0, half of it after ``recency_half_life_days``, never negative."""
    importance: float = 0.02
    """For each level above the default 2 (level 1 loses as much): -0.02 .. +0.06."""
    speaker: float = 0.03
    """The memory is from whoever asks."""
    named: float = 0.05
    """The memory is from somebody whose name stands in the question."""
    tag: float = 0.04
    """A tag of the memory stands in the question."""
    exact: float = 0.25
    """An exact identifier of the question stands in the memory; also lifts it over the floor."""
    episode_id: float = 1.0
    """The question holds the memory's own id."""
    correction: float = 0.02
    """The memory corrects something."""


WEIGHTS = Weights()
_SECONDS_A_DAY = 86_400.0
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """What ranking gives back.

    Attributes:
        hits: best first, at most ``k``, nothing said twice.
        below_floor: candidates left out as not relevant.
    """

    hits: tuple[Hit, ...]
    below_floor: int


@dataclass(frozen=True, slots=True)
class _Question:
    """What the boosts need to know about the question, worked out once."""

    folded: str
    identifiers: frozenset[str]
    only_identifiers: bool
    speaker_id: str
    named: frozenset[str]

    @classmethod
    def of(cls, query: RecallQuery, index: ScopeIndex) -> _Question:
        exact = identifiers(query.text)
        # Parts of an identifier ("proj" of PROJ-123) come from it, so they make no question of their own.
        own = {term for identifier in exact for term in terms(identifier[1:])}
        rest = content_terms(query.text) - exact - own
        only = bool(exact) and all(any(term in identifier for identifier in exact) for term in rest)
        return cls(fold(query.text), exact, only, query.speaker_id, index.named(query.text))


def rank(
    index: ScopeIndex,
    slots: Slots,
    query: RecallQuery,
    query_vector: Vector,
    words: Scores,
    *,
    calibration: Calibration,
    settings: Settings,
    now: float,
) -> Ranked:
    """Order candidates.

    Args:
        index: the scope's index that holds them.
        slots: candidate slots.
        query: the question with filters (applied before, not here) and ``k``.
        query_vector: unit vector of the question.
        words: lexical score per candidate, 0..1.
        calibration: what unrelated means for the model.
        settings: weights, half-life, floor.
        now: epoch seconds.
    """
    if not slots.size:
        return Ranked((), 0)
    question = _Question.of(query, index)
    cosine = index.cosines(query_vector, slots)
    base = calibration.baseline(query_vector)
    vector = np.clip((cosine - base) / (1.0 - base), 0.0, 1.0)
    lexical = words if settings.lexical_weight else np.zeros_like(words)
    exact = _exact(index, slots, question, settings)
    if question.only_identifiers and settings.exact_match_boost:
        # Who asks for PROJ-123 and nothing else does not mean PROJ-124, however close.
        vector, lexical = (np.where(exact > 0, part, 0.0) for part in (vector, lexical))
    relevance = settings.vector_weight_effective * vector + settings.lexical_weight * lexical + exact
    age = np.maximum(now - index.times(slots), 0.0) / _SECONDS_A_DAY
    recency = WEIGHTS.recency * 0.5 ** (age / settings.recency_half_life_days)
    importance = WEIGHTS.importance * (index.importances(slots) - 2.0)
    relevant = relevance >= settings.relevance_floor
    wanted = relevant if query.floor else np.ones(len(slots), dtype=bool)
    columns = {"vector": vector, "cosine": cosine, "lexical": lexical}
    parts = {"recency": recency, "importance": importance, "exact": exact}

    def hit(at: int) -> Hit:
        episode = index.at(int(slots[at])).episode
        boosts = {name: float(part[at]) for name, part in parts.items()} | _boosts(episode, question)
        total = float(relevance[at] - exact[at]) + sum(boosts.values())
        score = Score(
            total,
            **{name: float(column[at]) for name, column in columns.items()},
            boosts={name: value for name, value in boosts.items() if value},
        )
        return Hit(episode, score, bool(relevant[at]))

    hits = _best(hit, relevance + recency + importance, np.flatnonzero(wanted), query.k)
    return Ranked(hits, int((~wanted).sum()))


def _best(hit: Callable[[int], Hit], certain: np.ndarray, places: Slots, k: int) -> tuple[Hit, ...]:
    """Return the best ``k`` hits, nothing said twice by the same speaker.

    Args:
        hit: makes the hit of a place.
        certain: per place, its total without the boosts that only looking at the memory tells.
        places: those that are relevant.
        k: how many.
    """
    # Those boosts add at most this much, so nothing further down can still reach the top k.
    reach = WEIGHTS.speaker + WEIGHTS.named + WEIGHTS.tag + WEIGHTS.correction
    best: dict[tuple[str, str], Hit] = {}
    firsts: list[float] = []
    for at in places[np.argsort(-certain[places], kind="stable")]:
        if len(firsts) >= k and float(certain[at]) + reach < firsts[-k]:
            break
        found = hit(int(at))
        said = same_text(found.episode.content), found.episode.sender_id
        if said not in best:
            insort(firsts, found.score.total)
        if said not in best or _order(found) < _order(best[said]):
            best[said] = found
    return tuple(sorted(best.values(), key=_order)[:k])


def _order(hit: Hit) -> tuple[float, float, str]:
    return -hit.score.total, -hit.episode.timestamp.timestamp(), hit.episode.id


def _exact(index: ScopeIndex, slots: Slots, question: _Question, settings: Settings) -> Scores:
    found = np.zeros(len(slots), dtype=np.float32)
    if settings.exact_match_boost:
        found[np.isin(slots, index.holding(question.identifiers))] = WEIGHTS.exact
        ids = index.slots(_WORD.findall(question.folded))
        found[np.isin(slots, ids)] = WEIGHTS.episode_id
    return found


def _boosts(episode: Episode, question: _Question) -> dict[str, float]:
    return {
        "speaker": WEIGHTS.speaker if episode.is_from(question.speaker_id) else 0.0,
        "named": WEIGHTS.named if episode.sender_id in question.named else 0.0,
        "tag": WEIGHTS.tag if any(f and f in question.folded for f in map(fold, episode.tags)) else 0.0,
        "correction": WEIGHTS.correction if is_correction(episode.tags) else 0.0,
    }
