"""Why memories rank where they do, in numbers that anybody can add up."""

from __future__ import annotations

from collections.abc import Iterator

from ..models import Hit, RecallResult
from ..recall.explained import BOOSTS
from ..recall.weights import WEIGHTS
from ..settings import Settings
from .episode_lines import episode_line
from .voice import Voice

__all__ = ["PARTS", "WHY_HITS", "why"]

WHY_HITS = 7
"""Memories that are explained."""

PARTS = BOOSTS
"""The additive parts of a score in the order shown; each has a sentence ``why_<part>``."""


def why(voice: Voice, result: RecallResult, settings: Settings, *, here: str = "") -> str:
    """Return how the best memories got their scores.

    Args:
        voice: how to write it.
        result: of a recall without a floor.
        settings: weights, floor, half-life.
        here: session name of this conversation.
    """
    if result.skipped:
        return voice.say("search_blank")
    if not result.hits:
        return voice.say("why_nothing")
    lines = [voice.say("why_head", count=voice.memories(len(result.hits)), considered=result.considered)]
    for hit in result.hits:
        lines.append(episode_line(voice, hit.episode, here=here, score=hit.score.total, limit=80))
        lines += [f"    {line}" for line in _explained(voice, hit, settings)]
    lines.append(voice.say("why_legend" if settings.lexical_weight else "why_legend_vector"))
    answered, floor = _number(result.answered), _number(settings.relevance_floor)
    lines.append(voice.say("why_floor", floor=floor, answered=answered))
    if result.answered < settings.relevance_floor:
        lines.append(voice.say("why_no_answer", floor=floor, answered=answered))
    days = f"{settings.recency_half_life_days:g}"
    lines.append(voice.say("why_recency_rule", most=_number(WEIGHTS.recency), days=days))
    if result.reranked:
        lines.append(voice.say("why_reranked", count=voice.memories(result.reranked)))
    if result.rerank_failed is not None:
        lines.append(voice.say("why_not_reranked", reason=voice.explain(result.rerank_failed)))
    lines.append(voice.say("why_index_complete" if result.complete else "why_index_partial"))
    return "\n".join(lines)


def _explained(voice: Voice, hit: Hit, settings: Settings) -> Iterator[str]:
    yield voice.say("why_sum", sum=_sum(voice, hit, settings), total=_number(hit.score.total))
    if hit.score.rerank is not None:
        yield voice.say("why_rerank_score", score=f"{hit.score.rerank:.3g}")
    if hit.score.relevance < settings.relevance_floor:
        relevance, floor = _number(hit.score.relevance), _number(settings.relevance_floor)
        yield voice.say("why_below", relevance=relevance, floor=floor)


def _sum(voice: Voice, hit: Hit, settings: Settings) -> str:
    score = hit.score
    weight = f"{settings.vector_weight_effective:g}"
    text = voice.say("why_meaning", value=_number(score.vector), weight=weight)
    if settings.lexical_weight:
        weight = f"{settings.lexical_weight:g}"
        text += " + " + voice.say("why_words", value=_number(score.lexical), weight=weight)
    for part in PARTS:
        value = score.boosts.get(part, 0.0)
        if abs(value) >= 0.005:
            sign = "+" if value > 0 else "-"
            text += f" {sign} " + voice.say(f"why_{part}", value=_number(abs(value)))
    return text


def _number(value: float) -> str:
    return f"{value:.2f}"
