"""From signals to an order, with the reason for every place in it.

``total = vector_weight * meaning + lexical_weight * words + parts``. Both legs are fused by value, not by rank: a weak
leg then cannot push a strong one down. What is relevant at all is decided on another scale (:mod:`.signals`).
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

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

__all__ = ["WEIGHTS", "Ranked", "copies_last", "rank"]


_Text = tuple[str, ...]
"""What is left of a text of which only its sense counts (:func:`longterm_memory.text.gist.gist`)."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """What ranking gives back.

    Attributes:
        hits: best first, at most ``k``, nothing said twice by one person.
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

    slots = (slot for slot in _descending(total, places, query.k) if wanted(slot))
    hits = _best(index, query, slots, total, hit, weights.tag + weights.correction)
    below = int((alive & ~relevant).sum()) if query.floor else 0
    return Ranked(hits, int(alive.sum()), below, relevance.question)


def _best(
    index: ScopeIndex,
    query: RecallQuery,
    slots: Iterable[int],
    total: np.ndarray,
    hit: Callable[[int], Hit],
    reach: float,
) -> tuple[Hit, ...]:
    """Return the best ``k`` hits, nothing said twice by the same speaker.

    Args:
        index: the memories.
        query: how many, and whether the same words by several speakers take one place.
        slots: which may be returned, by falling ``total``.
        total: per slot, its score without what only looking at the memory tells.
        hit: makes the hit of a slot.
        reach: the most that looking can add; what is further down than that below the top k is not looked at.
    """
    k, spread = query.k, query.spread
    best: dict[tuple[_Text, str], Hit] = {}
    times: Counter[_Text] = Counter()
    firsts: list[float] = []
    gist_of = cache(gist)
    for slot in slots:
        if len(firsts) >= k and float(total[slot]) + reach < firsts[-k]:
            break
        episode = index.at(slot).episode
        said = gist_of(episode.content), episode.sender_id or episode.sender_name
        if spread and times[said[0]] >= k and not episode.is_from(query.speaker_id):
            continue  # of one text there are enough; thousands may say the same
        found = hit(slot)
        if said not in best:
            times[said[0]] += 1
            if times[said[0]] == 1 or not spread:
                insort(firsts, found.score.total)
        if said not in best or _order(found) < _order(best[said]):
            best[said] = found
    hits = sorted(best.values(), key=_order)
    return (copies_last(hits, query.speaker_id) if spread else tuple(hits))[:k]


def copies_last(hits: Sequence[Hit], speaker_id: str) -> tuple[Hit, ...]:
    """Return hits in their order, but those that say what one before them says behind all others, so that many who say
    one thing do not take the places of everything else.

    Args:
        hits: best first.
        speaker_id: who asks: of copies theirs comes first, since "what do I like?" is not answered by somebody else.
    """
    alike: dict[_Text, list[Hit]] = {}
    for hit in hits:
        alike.setdefault(gist(hit.episode.content), []).append(hit)
    for copies in alike.values():
        copies.sort(key=lambda hit: not hit.episode.is_from(speaker_id))
    firsts = [copies[0] for copies in alike.values()]
    chosen = {hit.episode.id for hit in firsts}
    return (*firsts, *(hit for hit in hits if hit.episode.id not in chosen))


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
