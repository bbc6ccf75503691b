"""Which tags say that a memory corrects an older one, and whether two texts are about the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from .fold import fold
from .terms import is_unspaced, terms

__all__ = ["CORRECTION_TAGS", "is_correction", "topic_overlap"]

CORRECTION_TAGS = frozenset(
    {
        "correction",
        "corrected",
        "fact-update",
        "clarification",
        "profile-update",
        "preference-change",
        "更正",
        "纠正",
        "修正",
        "订正",
        "事实更新",
        "澄清",
        "偏好变更",
        "偏好变化",
        "资料更新",
        "档案更新",
    }
)
"""Folded, with ``-`` between words."""

_VALUE_WEIGHT = 0.3
_VALUES = frozenset(
    terms(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
        " september october november december am pm noon midnight"
    )
) | frozenset("一二三四五六七八九十百两周月日号点")
"""Terms that are mostly the value of a fact, not what it is about."""


def is_correction(tags: Iterable[str]) -> bool:
    """Whether any tag marks a correction, whatever its case, width, spaces or dashes."""
    return any(
        "-".join(fold(tag).replace("_", "-").replace("-", " ").split()) in CORRECTION_TAGS for tag in tags
    )


def topic_overlap(first: str, second: str, *, ignored: Iterable[str] = ()) -> float:
    """Return how much of the shorter text's topic words the other one shares, 0..1.

    Days, months and numbers count less: they are what gets corrected, and unrelated facts share them by
    chance. Scripts without spaces are compared by pairs and by single characters, and the mean counts: pairs
    alone miss a word whose neighbours changed, characters alone find too much.

    Args:
        first: a text.
        second: another.
        ignored: texts whose words say nothing about the topic here (names of the people who talk).
    """
    silent = frozenset(term for text in ignored for term in terms(text))
    one, two = frozenset(terms(first)) - silent, frozenset(terms(second)) - silent
    return (_shared(_pairs(one), _pairs(two)) + _shared(_characters(one), _characters(two))) / 2


def _pairs(found: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in found if len(t) > 1 or t.isascii()) or found


def _characters(found: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in found if len(t) == 1 or not is_unspaced(t)) or found


def _shared(one: frozenset[str], two: frozenset[str]) -> float:
    smaller = min(sum(map(_weight, one)), sum(map(_weight, two)))
    return sum(map(_weight, one & two)) / smaller if smaller else 0.0


def _weight(term: str) -> float:
    return _VALUE_WEIGHT if term in _VALUES or any(ch.isdigit() for ch in term) else 1.0
