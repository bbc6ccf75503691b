"""From candidates to an order, with the reason for every place in it.

``total = vector_weight * vector + lexical_weight * lexical + boosts``. Both scores lie in 0..1 and are fused by value,
not by rank: a weak leg then cannot push a strong one down. Boosts are small and additive, so the one relevant memory from
a year ago beats today's small talk; multiplying by decay would bury everything older than a fortnight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..models import Episode, Hit, RecallQuery, Score
from ..records.envelope import Record
from ..records.vectors import Vector
from ..settings import Settings
from ..text.corrections import is_correction
from ..text.fold import fold, same_text
from ..text.terms import content_terms, identifiers
from .calibration import Calibration
from .index import ScopeIndex, Slots

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
        parts = {
            p
            for e in exact
            for p in content_terms(e[1:].replace("/", " ").replace(".", " ").replace("-", " "))
        }
        rest = content_terms(query.text) - exact - parts
        camel = all(any(term in e for e in exact) for term in rest)
        return cls(fold(query.text), exact, bool(exact) and camel, query.speaker_id, index.named(query.text))


def rank(
    index: ScopeIndex,
    slots: Slots,
    query: RecallQuery,
    query_vector: Vector,
    lexical: np.ndarray,
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
        lexical: lexical score per slot of ``index``, 0..1.
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
    words = lexical[slots]
    if settings.lexical_weight == 0:
        words = np.zeros_like(words)
    exact = (
        _exact(index, slots, question)
        if settings.exact_match_boost
        else np.zeros(len(slots), dtype=np.float32)
    )
    relevance = settings.vector_weight_effective * vector + settings.lexical_weight * words + exact
    if question.only_identifiers and settings.exact_match_boost:
        relevance = np.where(exact > 0, relevance, 0.0)
    age = np.maximum(now - index.times(slots), 0.0) / _SECONDS_A_DAY
    recency = WEIGHTS.recency * 0.5 ** (age / settings.recency_half_life_days)
    importance = WEIGHTS.importance * (index.importances(slots) - 2.0)
    order = np.argsort(-(relevance + recency + importance), kind="stable")
    relevant = relevance >= settings.relevance_floor if query.floor else np.ones(len(slots), dtype=bool)
    scored: list[Hit] = []
    # The remaining boosts differ by at most this much, so nothing further down can still reach the top k.
    reach = WEIGHTS.speaker + WEIGHTS.named + WEIGHTS.tag + WEIGHTS.correction
    totals = (relevance + recency + importance)[order]
    distinct: dict[tuple[str, str], float] = {}
    for place, at in enumerate(order):
        if not relevant[at]:
            continue
        if (
            len(distinct) >= query.k
            and totals[place] + reach < sorted(distinct.values(), reverse=True)[query.k - 1]
        ):
            break
        record = index.records[int(slots[at])]
        boosts = {
            "recency": float(recency[at]),
            "importance": float(importance[at]),
            "exact": float(exact[at]),
            **_boosts(record, question),
        }
        total = float(relevance[at] - exact[at]) + sum(boosts.values())
        said = _said(record.episode)
        distinct[said] = max(total, distinct.get(said, total))
        score = Score(
            total,
            float(vector[at]),
            float(cosine[at]),
            float(words[at]),
            {k: v for k, v in boosts.items() if v},
        )
        scored.append(Hit(record.episode, score))
    scored.sort(key=lambda hit: (-hit.score.total, -hit.episode.timestamp.timestamp(), hit.episode.id))
    return Ranked(_distinct(scored, query.k), int((~relevant).sum()))


def _exact(index: ScopeIndex, slots: Slots, question: _Question) -> np.ndarray:
    found = np.zeros(len(slots), dtype=np.float32)
    ids = set(question.folded.replace("[", " ").replace("]", " ").split())
    for at, slot in enumerate(slots):
        if question.identifiers & index.terms_of(int(slot)):
            found[at] = WEIGHTS.exact
        if index.records[int(slot)].episode.id in ids:
            found[at] = WEIGHTS.episode_id
    return found


def _boosts(record: Record, question: _Question) -> dict[str, float]:
    episode = record.episode
    return {
        "speaker": WEIGHTS.speaker if episode.is_from(question.speaker_id) else 0.0,
        "named": WEIGHTS.named if episode.sender_id in question.named else 0.0,
        "tag": WEIGHTS.tag if any(f and f in question.folded for f in map(fold, episode.tags)) else 0.0,
        "correction": WEIGHTS.correction if is_correction(episode.tags) else 0.0,
    }


def _said(episode: Episode) -> tuple[str, str]:
    return same_text(episode.content), episode.sender_id


def _distinct(hits: Sequence[Hit], k: int) -> tuple[Hit, ...]:
    """Drop what says literally the same as a better hit by the same speaker."""
    seen: set[tuple[str, str]] = set()
    kept: list[Hit] = []
    for hit in hits:
        said = _said(hit.episode)
        if said not in seen:
            seen.add(said)
            kept.append(hit)
        if len(kept) == k:
            break
    return tuple(kept)
