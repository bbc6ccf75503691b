"""Which tags say that a memory corrects an older one, and whether two texts are about the same thing."""

from __future__ import annotations

from collections.abc import Iterable

from .fold import fold
from .terms import content_terms

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


def is_correction(tags: Iterable[str]) -> bool:
    """Whether any tag marks a correction, whatever its case, width, spaces or dashes."""
    return any(
        "-".join(fold(tag).replace("_", "-").replace("-", " ").split()) in CORRECTION_TAGS for tag in tags
    )


def topic_overlap(first: str, second: str, *, ignored: Iterable[str] = ()) -> float:
    """Return how much of the shorter text's topic words the other one shares, 0..1.

    Args:
        first: a text.
        second: another.
        ignored: texts whose words say nothing about the topic here (names of the people who talk).
    """
    silent = frozenset(term for text in ignored for term in content_terms(text))
    one, two = content_terms(first) - silent, content_terms(second) - silent
    smaller = min(len(one), len(two))
    return len(one & two) / smaller if smaller else 0.0
