"""Dates in digits, as both languages write them: 2023-05-02, 2023/5/2, 5/2/2023."""

from __future__ import annotations

import re
from datetime import date

from .calendar import Find, Span, Unit, fixed, whole_day, whole_month, yearly
from .numbers import chinese_year
from .phrases import Meaning, rules

__all__ = ["RULES"]

_BEFORE = r"(?<![0-9A-Za-z_./:\\-])"
_AFTER = r"(?![0-9A-Za-z_/\\-]|\.[0-9])"


def _year_first(match: re.Match[str]) -> Meaning:
    day = date(*(int(match[part]) for part in ("y", "m", "d")))
    return Meaning(Unit.DAY, fixed(whole_day(day)))


def _month(match: re.Match[str]) -> Meaning:
    return Meaning(Unit.MONTH, fixed(whole_month(int(match["y"]), int(match["m"]))))


def _both_orders(first: int, second: int, year: int) -> tuple[Span, ...]:
    """Return the day, or both days when either number can be the month: 5/2 is 2 May to some, 5 February to others."""
    if first > 12 or first == second:
        return (whole_day(date(year, second, first)),)
    if second > 12:
        return (whole_day(date(year, first, second)),)
    return (
        whole_day(date(year, first, second), exact=False),
        whole_day(date(year, second, first), exact=False),
    )


def _year_last(match: re.Match[str]) -> Meaning:
    first, second, year = int(match["a"]), int(match["b"]), chinese_year(match["y"])
    if match["sign"] == ".":  # dots are for those who put the day first
        return Meaning(Unit.DAY, fixed(whole_day(date(year, second, first))))
    return Meaning(Unit.DAY, fixed(*_both_orders(first, second, year)))


def _no_year(match: re.Match[str]) -> Meaning:
    first, second = int(match["a"]), int(match["b"])
    _both_orders(first, second, 2024)  # raises when there is no such day in any year
    finds: list[Find] = [
        yearly(lambda year, at=at: _both_orders(first, second, year)[at])  # type: ignore[misc]
        for at in range(len(_both_orders(first, second, 2024)))
    ]
    return Meaning(
        Unit.DAY,
        lambda now, frame: tuple(span for find in finds for span in find(now, frame)),
        frozenset({Unit.YEAR}),
    )


RULES = rules(
    (
        (
            _BEFORE + r"(?P<y>[12][0-9]{3})(?P<sign>[-/.])(?P<m>[0-9]{1,2})(?P=sign)(?P<d>[0-9]{1,2})"
            r"(?![0-9/\\-]|\.[0-9]|[A-SU-Za-su-z_])",
            _year_first,
        ),
        (_BEFORE + r"(?P<y>(?:19|20)[0-9]{2})[-/](?P<m>0[1-9]|1[0-2])" + _AFTER, _month),
        (
            _BEFORE
            + r"(?P<a>[0-9]{1,2})(?P<sign>[-/.])(?P<b>[0-9]{1,2})(?P=sign)(?P<y>(?:19|20)[0-9]{2})"
            + _AFTER,
            _year_last,
        ),
        (_BEFORE + r"(?P<a>[0-9]{1,2})(?P<sign>/)(?P<b>[0-9]{1,2})/(?P<y>[0-9]{2})" + _AFTER, _year_last),
        (
            r"(?:(?<=\bon )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )|(?<=\buntil )|(?<=\bby )|(?<=在))"
            r"(?P<a>[0-9]{1,2})/(?P<b>[0-9]{1,2})" + _AFTER,
            _no_year,
        ),
    )
)
