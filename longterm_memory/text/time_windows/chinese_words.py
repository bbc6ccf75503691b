"""The Chinese words for counted times as patterns, and what they count."""

from __future__ import annotations

import re

from .numbers import chinese_number

__all__ = ["NUMBER", "SOME", "UNIT", "count", "follows", "repeated", "unit_of"]

NUMBER = r"(?P<number>[0-9]{1,4}|[一二三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九半]|好?几)"
UNIT = r"(?P<unit>天|日|个?小时|个?钟头|周|个?星期|个?礼拜|个?半?月|年)(?!级|龄|代|薪|租|饼|光|亮|经|票)"

_UNITS = {"天": "day", "日": "day", "小时": "hour", "钟头": "hour", "周": "week", "星期": "week"} | {
    "礼拜": "week",
    "月": "month",
    "年": "year",
}

SOME = {"day": (1, 7), "week": (7, 5), "month": (30, 5), "year": (365, 5)}
"""Days of a unit, and how many of them 几 (a few) are at most."""

_REPEATED = re.compile(r"(?:每(?:逢|年|个?月|个?周|个?星期|个?礼拜|天|日|个)?|逢|各|年年|历年)的?$")


def unit_of(word: str) -> str:
    """Return the unit that a match of :data:`UNIT` spells, as :func:`.calendar.ago` takes it."""
    return _UNITS[word.removeprefix("个").removeprefix("半")]


def count(word: str) -> float | None:
    """Return the number that a match of :data:`NUMBER` spells, ``None`` for 几 (a few)."""
    return None if word.endswith("几") else chinese_number(word)


def repeated(match: re.Match[str]) -> bool:
    """Return whether every one of them is meant: 每年5月."""
    return _REPEATED.search(match.string[max(0, match.start() - 6) : match.start()]) is not None


def follows(match: re.Match[str], length: int = 8) -> str:
    """Return what stands behind a match."""
    return match.string[match.end() : match.end() + length]
