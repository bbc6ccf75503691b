"""The optional last word of a rerank model of the host on the order of the best memories.

Only memories that recall has found, checked and held against its own floor are sent. The model orders those; what it
was not asked about, or says nothing about, stays behind them in our order. Nothing depends on it: whatever goes wrong,
our order holds and the explanation says why. Hosts stretch the scores of one answer to 0..1, so they tell an order
and nothing about relevance.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from time import monotonic

from ..embeddings import Breaker
from ..errors import RerankFailed
from ..logs import get_logger
from ..models import Hit
from ..ports import RerankModels
from ..settings import Settings
from ..text.times import day

__all__ = ["DOCUMENT_CHARS", "Order", "Reranking"]

logger = get_logger(__name__)

DOCUMENT_CHARS = 2_000
"""Longest part of a memory, and of a question, that is sent: rerank models read a few hundred to a few thousand tokens,
and some services refuse longer ones."""
_LEAST_SECONDS = 0.05
"""With less time left the model is not asked."""
_HOST_SECONDS = 1.0
"""How much longer the host may take than we wait, so that it is told apart what was late and what failed."""


@dataclass(frozen=True, slots=True)
class Order:
    """Hits in their final order.

    Attributes:
        hits: all hits that were given, best first; their totals fall.
        reranked: how many of them the model placed.
        failed: why it placed none though it should have.
    """

    hits: tuple[Hit, ...]
    reranked: int = 0
    failed: RerankFailed | None = None


class Reranking:
    """Asks the rerank model that is set; after two failures in a row it is left alone for a minute.

    Args:
        models: the host.
        clock: seconds, monotonic.
    """

    def __init__(self, models: RerankModels, clock: Callable[[], float] = monotonic) -> None:
        self._models = models
        self._clock = clock
        self._breakers: dict[str, Breaker] = {}

    @staticmethod
    def wanted(k: int, settings: Settings) -> int:
        """Return how many hits ranking has to give so that the best ``k`` can be chosen among the candidates."""
        return max(k, settings.rerank_candidates) if settings.rerank_model_uuid else k

    async def order(self, query: str, hits: tuple[Hit, ...], settings: Settings, seconds: float) -> Order:
        """Return hits as the model orders them, or as they are.

        Args:
            query: the question.
            hits: best first.
            settings: which model, how many candidates, how long it may take.
            seconds: what is left of the caller's time.
        """
        if not settings.rerank_model_uuid:
            return Order(hits)
        asked = [place for place, hit in enumerate(hits[: settings.rerank_candidates]) if hit.relevant]
        if len(asked) < 2:
            return Order(hits)
        started = self._clock()
        try:
            documents = [_document(hits[place], settings) for place in asked]
            scores = await self._asked(query[:DOCUMENT_CHARS], documents, settings, seconds)
        except RerankFailed as exc:
            ms = round((self._clock() - started) * 1000)
            logger.warning("rerank failed: reason=%s candidates=%d ms=%d", exc.reason, len(asked), ms)
            return Order(hits, failed=exc)
        logger.debug("rerank completed: candidates=%d scored=%d", len(asked), len(scores))
        return Order(_placed(hits, {asked[n]: score for n, score in scores.items()}), len(scores))

    async def _asked(
        self, query: str, documents: Sequence[str], settings: Settings, left: float
    ) -> dict[int, float]:
        model, most = settings.rerank_model_uuid, settings.rerank_deadline_seconds
        breaker = self._breakers.setdefault(model, Breaker(self._clock))
        pause = breaker.seconds_left()
        if pause > 0:
            raise RerankFailed("rerank_pause", seconds=max(1, round(pause)))
        seconds = min(most, left)
        if seconds < _LEAST_SECONDS:
            raise RerankFailed("rerank_no_time")
        try:
            async with asyncio.timeout(seconds):
                answer = await self._models.rerank(model, query, documents, seconds + _HOST_SECONDS)
            scores = _scores(answer, len(documents))
        except TimeoutError as exc:
            if seconds == most:
                # With less than its time it could not show whether it is too slow.
                breaker.failed()
            raise RerankFailed("rerank_late", seconds=f"{seconds:.2g}") from exc
        except RerankFailed:
            breaker.failed()
            raise
        breaker.succeeded()
        return scores


def _document(hit: Hit, settings: Settings) -> str:
    """Return a memory as the model reads it: questions ask who said something, and when."""
    episode = hit.episode
    head = f"[{day(episode.timestamp, settings.zone)}] "
    if episode.sender_name:
        head += f"{episode.sender_name}: "
    return (head + episode.content)[:DOCUMENT_CHARS]


def _scores(answer: object, documents: int) -> dict[int, float]:
    """Return the score of each document that has one.

    Raises:
        RerankFailed: ``rerank_unusable``.
    """
    if not isinstance(answer, (list, tuple)) or not 0 < len(answer) <= documents:
        got = len(answer) if isinstance(answer, (list, tuple)) else 0
        raise RerankFailed("rerank_unusable", detail="scores_count", got=got, wanted=documents)
    scores: dict[int, float] = {}
    for one in answer:
        index = one.get("index") if isinstance(one, Mapping) else None
        score = one.get("relevance_score") if isinstance(one, Mapping) else None
        if type(index) is not int or not 0 <= index < documents or index in scores:
            raise RerankFailed("rerank_unusable", detail="wrong_numbers")
        number = _number(score)
        if number is None:
            raise RerankFailed("rerank_unusable", detail="not_finite")
        scores[index] = number
    return scores


def _number(score: object) -> float | None:
    """Return a score as a finite number; ``None`` for anything else, also an integer beyond all floats."""
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        return None
    try:
        number = float(score)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _placed(hits: Sequence[Hit], scores: Mapping[int, float]) -> tuple[Hit, ...]:
    """Order hits: those with a score first, by it, then the others as they were.

    A place keeps its total, so totals go on falling and stay on our scale; what a memory gained or lost with its
    place is its part ``rerank``.
    """
    first = sorted(scores, key=lambda place: (-scores[place], place))
    order = first + [place for place in range(len(hits)) if place not in scores]
    placed: list[Hit] = []
    for there, place in zip(hits, order, strict=True):
        hit = hits[place]
        total, before = there.score.total, hit.score
        boosts = before.boosts | ({"rerank": total - before.total} if total != before.total else {})
        score = replace(before, total=total, boosts=boosts, rerank=scores.get(place))
        placed.append(replace(hit, score=score))
    return tuple(placed)
