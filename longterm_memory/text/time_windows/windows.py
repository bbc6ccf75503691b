"""From a question to windows of time: what neighbouring phrases and the words around them make of a date."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from ..times import MOMENT_YEARS
from . import chinese, english, numeric
from .calendar import Now, Unit
from .conditions import Found, read
from .phrases import join, scan

__all__ = ["MAX_LENGTH", "MAX_WINDOWS", "TimeWindow", "time_windows"]

MAX_LENGTH = 2000
"""Characters that are looked at. Longer messages carry a pasted text; of those it is the first and the last half of
this, where the question stands."""

MAX_WINDOWS = 8
"""A text with more dates than this is a calendar rather than a question; the first ones count."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """A time that a question speaks of.

    Attributes:
        start: first instant, UTC.
        end: first instant after it, UTC; later than ``start``.
        unit: what it is on the calendar, from a part of a day to a range of years.
        exact: whether the words leave no choice, see :class:`.calendar.Span`.
        span: where the words stand: ``question[span[0]:span[1]]``.
    """

    start: datetime
    end: datetime
    unit: Unit
    exact: bool
    span: tuple[int, int]


_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, 0xA0: 0x20, 0x202F: 0x20}
"""Full-width signs as ASCII, one for one, so that places in the text stay the same."""

_ENGLISH = re.compile(
    r"[0-9]|day|night|morning|evening|noon|week|year|month|quarter|hour|q[1-4]|spring|summer|autumn|fall|winter|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|tomorrow|"
    r"mas|hallow|easter|thanks|valentine",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"[年月日号天周昨今明前后晚早春夏秋冬节假季期拜圣安元五六双十庆]")
_DIGITS = re.compile(r"[0-9][-/.][0-9]")
"""What no phrase does without: most messages hold none of it, and looking for that first is ten times as fast."""

_AHEAD = re.compile(
    r"\b(?:will|won['’]t|shall|upcoming|coming\s+up|going\s+to|gonna|next)\b|['’]ll\b"
    r"|\b(?:is|are|am|anything|nothing|what['’]s)\s+(?:\w+\s+)?(?:planned|scheduled|booked)\b"
    r"|\bon\s+(?:my|our|the)\s+(?:agenda|calendar|schedule)\b"
    r"|将要|将会|即将|接下来|下个|下次|未来|打算|明天|后天|有(?:什么|啥|哪些|没有|何)(?:安排|计划|日程)|的(?:日程|行程)|要(?:做|干|开|去)(?:什么|啥|哪)",
    re.ASCII,
)


def time_windows(question: str, now: datetime, zone: tzinfo) -> tuple[TimeWindow, ...]:
    """Return the windows of time that ``question`` names, in the order of its words; none if it names none.

    A date without a year is the last one, or the next one in a question that looks ahead ("what will I do in May",
    下个月). What can be read in two ways (5/2/2023, "last Monday") gives both. Weeks start on Monday. A date in a
    condition gives the condition: "before May", 国庆节以后, "2 days after 3 June"; open ends stop at the end of today,
    or at the bounds of what can be stored. Any text will do, and the time that it takes is bounded.

    Args:
        question: what somebody asks.
        now: when they ask.
        zone: where they are: which day it is there, and where days begin.

    Raises:
        ValueError: ``now`` has no zone.
    """
    if now.tzinfo is None:
        raise ValueError("a time without a zone")
    text = question.translate(_WIDE)
    half, left_out = MAX_LENGTH // 2, max(0, len(text) - MAX_LENGTH)
    if left_out:
        text = f"{text[: half - 1]}\n{text[-half:]}"
    rules = [
        rule
        for hint, some in ((_DIGITS, numeric.RULES), (_ENGLISH, english.RULES), (_CHINESE, chinese.RULES))
        if hint.search(text)
        for rule in some
    ]
    phrases = scan(text, rules)
    if not phrases:
        return ()
    try:
        local = now.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return ()
    found = read(text, join(text, phrases)[: 2 * MAX_WINDOWS], Now(local, _AHEAD.search(text) is not None))
    return _windows(found, zone, lambda at: at + left_out if left_out and at >= half else at)


def _windows(found: Iterator[Found], zone: tzinfo, place: Callable[[int], int]) -> tuple[TimeWindow, ...]:
    windows: dict[tuple[datetime, datetime], TimeWindow] = {}
    for one in found:
        for span in one.spans:
            if not (MOMENT_YEARS[0] <= span.start.year <= span.end.year <= MOMENT_YEARS[1]):
                continue
            start, end = (at.replace(tzinfo=zone).astimezone(UTC) for at in (span.start, span.end))
            if start < end:
                window = TimeWindow(start, end, span.unit, span.exact, (place(one.start), place(one.end)))
                windows.setdefault((start, end), window)
        if len(windows) >= MAX_WINDOWS:
            break
    return tuple(windows.values())[:MAX_WINDOWS]
