"""Weekdays, months, times and numbers: mostly the value of a fact, seldom what it is about."""

from __future__ import annotations

import re
from functools import lru_cache

from .fold import fold
from .terms import terms

__all__ = ["is_measure", "is_value", "measures", "without_measures"]

_VALUES = frozenset(
    terms(
        "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
        " september october november december am pm noon midnight"
    )
) | frozenset("一二三四五六七八九十百两周月日号点")
"""Terms that are mostly the value of a fact, not what it is about."""
_HAN_DIGITS = "零〇一二两三四五六七八九十百千万"
_HAN_NUMBER = rf"(?<![周期拜])[{_HAN_DIGITS}]{{1,8}}"
_MEASURES = {
    "weekday": re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)[一二三四五六日天]"),
    "month": re.compile(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b"
        rf"|(?:\d{{1,2}}|{_HAN_NUMBER})月"
    ),
    "clock": re.compile(rf"\b\d{{1,2}}:\d\d\b|\b\d{{1,2}} ?[ap]m\b|(?:\d{{1,2}}|{_HAN_NUMBER})点"),
    "number": re.compile(rf"\d+(?:[.,:]\d+)*(?!\d|月)|{_HAN_NUMBER}(?!月)"),
}


@lru_cache(maxsize=1_024)
def measures(text: str) -> dict[str, frozenset[str]]:
    """Return the weekdays, months, times and numbers of a text, by kind; a time is a number too."""
    folded = fold(text)
    return {kind: frozenset(pattern.findall(folded)) for kind, pattern in _MEASURES.items()}


def without_measures(text: str) -> str:
    """Return a text, folded, without its weekdays, months and numbers."""
    folded = fold(text)
    for pattern in _MEASURES.values():
        folded = pattern.sub(" ", folded)
    return folded


def is_value(term: str) -> bool:
    """Whether a term is a weekday, a month, a number or part of one."""
    return term in _VALUES or any(ch.isdigit() for ch in term)


def is_measure(term: str) -> bool:
    """The same, also for a number written out with what it counts (``九点``)."""
    return is_value(term) or term[0] in _HAN_DIGITS
