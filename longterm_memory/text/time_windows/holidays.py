"""Holidays that people date their memories by, where a rule says which day that is (none of the lunar calendar)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from .calendar import Span, whole_day

__all__ = ["CHINESE", "ENGLISH", "Holiday"]

Holiday = Callable[[int], Span]
"""Returns the holiday of a year."""


def _on(month: int, day: int, days: int = 1) -> Holiday:
    return lambda year: whole_day(date(year, month, day), days)


def _nth(month: int, weekday: int, number: int) -> Holiday:
    """Return the ``number``-th such weekday of a month; 0 is the last."""

    def of(year: int) -> Span:
        if number:
            first = date(year, month, 1)
            return whole_day(first + timedelta(days=(weekday - first.weekday()) % 7, weeks=number - 1))
        last = date(year, month + 1, 1) - timedelta(days=1)
        return whole_day(last - timedelta(days=(last.weekday() - weekday) % 7))

    return of


def _easter(year: int) -> Span:
    """Return Easter Sunday (Gregorian computus of Butcher, 1876)."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return whole_day(date(year, month, day + 1))


def _clear_and_bright(year: int) -> Span:
    """Return the three days around 4 or 5 April on which 清明 falls."""
    return whole_day(date(year, 4, 4), 3, exact=False)


ENGLISH: dict[str, Holiday] = {
    r"christmas\s+eve": _on(12, 24),
    r"(?:christmas|xmas|x-mas)(?:\s+day)?": _on(12, 25),
    r"boxing\s+day": _on(12, 26),
    r"new\s+years?['’]?s?\s+eve": _on(12, 31),
    r"new\s+years?['’]?s?(?:\s+day)?": _on(1, 1),
    r"(?:st\.?\s+)?valentine['’]?s?(?:\s+day)?": _on(2, 14),
    r"(?:st\.?\s+|saint\s+)patrick['’]?s?\s+day": _on(3, 17),
    r"april\s+fools?['’]?s?(?:\s+day)?": _on(4, 1),
    r"(?:fourth|4th)\s+of\s+july|independence\s+day": _on(7, 4),
    r"halloween": _on(10, 31),
    r"thanksgiving(?:\s+day)?": _nth(11, 3, 4),
    r"black\s+friday": lambda year: whole_day(_nth(11, 3, 4)(year).start.date() + timedelta(days=1)),
    r"mother['’]?s['’]?\s+day": _nth(5, 6, 2),
    r"father['’]?s['’]?\s+day": _nth(6, 6, 3),
    r"memorial\s+day": _nth(5, 0, 0),
    r"labou?r\s+day": _nth(9, 0, 1),
    r"good\s+friday": lambda year: whole_day(_easter(year).start.date() - timedelta(days=2)),
    r"easter(?:\s+sunday)?": _easter,
}

CHINESE: dict[str, Holiday] = {
    r"元旦节?": _on(1, 1),
    r"情人节": _on(2, 14),
    r"(?:三八)?妇女节|三八节": _on(3, 8),
    r"植树节": _on(3, 12),
    r"愚人节": _on(4, 1),
    r"清明节?": _clear_and_bright,
    r"五一(?:劳动)?节?|劳动节": _on(5, 1, 5),
    r"五四(?:青年)?节|青年节": _on(5, 4),
    r"母亲节": _nth(5, 6, 2),
    r"六一(?:儿童)?节?|儿童节": _on(6, 1),
    r"父亲节": _nth(6, 6, 3),
    r"教师节": _on(9, 10),
    r"国庆节?|十一(?=长假|假期|黄金周|期间)": _on(10, 1, 7),
    r"万圣节": _on(10, 31),
    r"双十一|双11": _on(11, 11),
    r"感恩节": _nth(11, 3, 4),
    r"双十二|双12": _on(12, 12),
    r"平安夜": _on(12, 24),
    r"圣诞节?": _on(12, 25),
    r"跨年": _on(12, 31),
}
