"""The English words for times as patterns, and what they count."""

from __future__ import annotations

import re
from typing import cast

from .calendar import Mood
from .numbers import english_number

__all__ = [
    "BEFORE_WORD",
    "DAY",
    "MONTH",
    "MOOD",
    "NUMBER",
    "ORDINAL",
    "SOME",
    "UNIT",
    "YEAR",
    "lead",
    "mood_of",
    "nth",
    "number_of",
]

BEFORE_WORD = r"(?<![A-Za-z0-9_])"
MONTH = (
    r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|"
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)(?![a-z])"
)
DAY = r"(?P<day>[0-9]{1,2})(?P<th>st|nd|rd|th)?(?![0-9A-Za-z]|[:.][0-9])"
YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?![0-9A-Za-z]|[-/:.][0-9])"
MOOD = r"(?P<mood>this\s+past|this\s+coming|last|past|previous|this|next|coming|upcoming)\s+"
_ORDINALS = ("last", "first", "second", "third", "fourth", "fifth")
ORDINAL = r"(?P<nth>first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|last)"
NUMBER = (
    r"(?P<number>[0-9]{1,4}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+|quite\s+a\s+)?few|several|half\s+an?|an?|one|two|three|"
    r"four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|"
    r"twenty|thirty|forty|fifty)"
)
UNIT = r"(?P<unit>hour|day|week|fortnight|month|year)s?(?![a-z])"

SOME = {"day": (1, 7), "week": (7, 5), "month": (30, 5), "year": (365, 5)}
"""Days of a unit, and how many of them "a few" are at most."""

_REPEATED = re.compile(
    r"\b(?:every|each|most|any|some|per|all)\s+(?:other\s+|single\s+|second\s+)?$", re.IGNORECASE
)


def lead(match: re.Match[str], length: int = 24) -> str:
    """Return what stands before a match."""
    return match.string[max(0, match.start() - length) : match.start()]


def mood_of(match: re.Match[str]) -> Mood:
    """Return which one is meant.

    Raises:
        ValueError: every one of them is: "every Monday".
    """
    if _REPEATED.search(lead(match)):
        raise ValueError("repeated")
    word = " ".join((match["mood"] or match.groupdict().get("mood2") or "").lower().split())
    moods = {"past": "last", "previous": "last", "this past": "last", "this coming": "next"} | {
        "coming": "next",
        "upcoming": "next",
    }
    return cast(Mood, moods.get(word, word))


def nth(word: str) -> int:
    """Return the number of a match of :data:`ORDINAL`, 0 for the last."""
    return int(word[0]) if word[0].isdecimal() else _ORDINALS.index(word.lower())


def number_of(match: re.Match[str]) -> float | None:
    """Return the number in a match of :data:`NUMBER`, ``None`` for "a few"."""
    words = match["number"].lower().split()
    if words[-1] in ("few", "several"):
        return None
    if "couple" in words:
        return 2
    return 0.5 if words[0] == "half" else english_number(words[-1])
