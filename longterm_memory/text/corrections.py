"""Which tags say that a memory corrects an older one, and whether two texts are about the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from .fold import fold
from .measures import is_value
from .terms import is_unspaced, terms

__all__ = ["CHANGES", "CORRECTION_TAGS", "is_correction", "share", "topic_overlap"]

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
CHANGES = frozenset(
    terms(
        "now new longer instead actually again change correct anymore cannot really one day still mr mrs ms dr"
    )
) | frozenset(
    ("现在", "已经", "其实", "不是", "没有", "改成", "改到", "换成", "一个", *"现已经其实不没又换成改新")
)
"""Terms that say that something changed, or nothing at all."""


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
    return share(frozenset(terms(first)) - silent, frozenset(terms(second)) - silent)


def share(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the same for terms (:func:`longterm_memory.text.terms.terms`) of two texts."""
    one, two = first - CHANGES, second - CHANGES
    return (_shared(_pairs(one), _pairs(two)) + _shared(_characters(one), _characters(two))) / 2


def _pairs(found: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in found if len(t) > 1 or t.isascii()) or found


def _characters(found: frozenset[str]) -> frozenset[str]:
    return frozenset(t for t in found if len(t) == 1 or not is_unspaced(t)) or found


def _shared(one: frozenset[str], two: frozenset[str]) -> float:
    smaller = min(sum(map(_weight, one)), sum(map(_weight, two)))
    return sum(map(_weight, one & two)) / smaller if smaller else 0.0


def _weight(term: str) -> float:
    return _VALUE_WEIGHT if is_value(term) else 1.0
