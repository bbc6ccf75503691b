"""Periods of the calendar in local time, and which of several is meant: the last May, the next Friday.

All times in here are without a zone, local to whoever asks; :mod:`.windows` turns them into UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Literal

__all__ = [
    "PARTS",
    "Find",
    "Mood",
    "Now",
    "Span",
    "Unit",
    "ago",
    "ahead",
    "day_of_month",
    "days_from",
    "fixed",
    "latest",
    "nth_week",
    "part",
    "quarter",
    "relative",
    "season",
    "section",
    "shift_months",
    "stretch",
    "vaguely",
    "week_of",
    "weekday",
    "weekend",
    "whole_day",
    "whole_month",
    "whole_year",
    "yearly",
]


class Unit(StrEnum):
    """What a window is on the calendar."""

    PART = "part"
    """A part of a day: a morning, an evening, the hour around a time."""
    DAY = "day"
    DAYS = "days"
    """Several days that are no calendar unit: a weekend, holidays, the first third of a month."""
    WEEK = "week"
    MONTH = "month"
    SEASON = "season"
    """A season, a quarter, the beginning, middle, end or half of a year."""
    YEAR = "year"
    RANGE = "range"
    """From one date to another, or to the end of what can be remembered: "since 2019", 5月2日之前."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open piece of local time.

    Attributes:
        exact: whether the words leave no choice. A year that we had to pick, "a few days ago", "early May" and both
            readings of 5/2/2023 are not exact.
    """

    start: datetime
    end: datetime
    unit: Unit
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Now:
    """When a question was asked, and whether it looks ahead."""

    moment: datetime
    future: bool = False

    @property
    def today(self) -> date:
        """The local date."""
        return self.moment.date()


Find = Callable[[Now, Span | None], tuple[Span, ...]]
"""Return what a phrase covers: for when it was said, and inside which period (May *of last year*) if that is said.

Raises ``ValueError`` or ``OverflowError`` when there is no such day.
"""

Mood = Literal["last", "this", "next", ""]

_NIGHT = 24
PARTS = {
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, _NIGHT + 6),
    "small hours": (0, 6),
}
"""First and last hour of the parts of a day, generously: who says "morning" rarely has the clock in mind. A night ends
on the next day."""

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""First month of the seasons, by the calendar of the northern half of the world; winter ends in the next year."""

_SECTIONS = {
    "early": (0, 10),
    "mid": (10, 20),
    "late": (20, 31),
    "first half": (0, 15),
    "second half": (15, 31),
}
"""Days of a month, from 0."""

_YEAR_SECTIONS = {
    "early": (1, 4),
    "mid": (5, 9),
    "late": (10, 13),
    "first half": (1, 7),
    "second half": (7, 13),
}
"""First month and the month after the last. "Early 2022" hardly ends in January."""


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def _month_start(year: int, month: int) -> datetime:
    """Return the first of a month; months count on, the 13th is the next January."""
    return datetime(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)


def whole_day(day: date, days: int = 1, *, exact: bool = True) -> Span:
    """Return ``days`` days from ``day`` on."""
    start = _midnight(day)
    return Span(start, start + timedelta(days=days), Unit.DAY if days == 1 else Unit.DAYS, exact)


def whole_month(year: int, month: int, *, exact: bool = True) -> Span:
    """Return a month; ``month`` may run over the ends of the year."""
    return Span(_month_start(year, month), _month_start(year, month + 1), Unit.MONTH, exact)


def whole_year(year: int, *, exact: bool = True) -> Span:
    """Return a year."""
    return Span(datetime(year, 1, 1), datetime(year + 1, 1, 1), Unit.YEAR, exact)


def week_of(day: date, weeks: int = 0) -> Span:
    """Return the week (from Monday) that is ``weeks`` after that of ``day``."""
    start = _midnight(day - timedelta(days=day.weekday()) + timedelta(weeks=weeks))
    return Span(start, start + timedelta(weeks=1), Unit.WEEK)


def quarter(year: int, number: int) -> Span:
    """Return a quarter of a year; numbers run over its ends."""
    return Span(_month_start(year, 3 * number - 2), _month_start(year, 3 * number + 1), Unit.SEASON)


def season(name: str, year: int) -> Span:
    """Return the season that begins in ``year``."""
    month = _SEASONS[name]
    return Span(_month_start(year, month), _month_start(year, month + 3), Unit.SEASON)


def shift_months(day: date, months: int) -> date:
    """Return the same day of another month, or its last day."""
    first = _month_start(day.year, day.month + months).date()
    last = (_month_start(first.year, first.month + 1) - timedelta(days=1)).day
    return first.replace(day=min(day.day, last))


def fixed(*spans: Span) -> Find:
    """Find what does not depend on when it was said."""
    return lambda _now, _frame: spans


def relative(find: Callable[[date], Span]) -> Find:
    """Find what depends on the day when it was said, and on nothing else."""
    return lambda now, _frame: (find(now.today),)


def days_from(days: int) -> Find:
    """Find yesterday, today, tomorrow: the day that is ``days`` after today."""
    return relative(lambda today: whole_day(today + timedelta(days=days)))


def latest(spans: list[Span], now: Now, mood: Mood = "") -> Span:
    """Return which one of the periods in order is meant.

    Without a word about it that is the one that began last, or, in a question that looks ahead, the next that has
    not ended. ``last`` has ended, ``next`` has not begun.

    Raises:
        ValueError: none is.
    """
    today = _midnight(now.today)
    if mood == "next":
        fitting = [span for span in spans if span.start > today]
    elif mood == "last":
        fitting = [span for span in reversed(spans) if span.end <= today]
    elif now.future:
        fitting = [span for span in spans if span.end > today]
    else:
        fitting = [span for span in reversed(spans) if span.start <= today]
    if not fitting:
        raise ValueError("no such period")
    return fitting[0]


def yearly(of: Callable[[int], Span], mood: Mood = "") -> Find:
    """Find what comes once a year: a month, a holiday, a season.

    Args:
        of: returns that of a year, raises ``ValueError`` when the year has none (29 February).
        mood: what the phrase says about which one.
    """

    def find(now: Now, frame: Span | None) -> tuple[Span, ...]:
        if frame is not None:
            span = of(frame.start.year)
            return (replace(span, exact=span.exact and frame.exact),)
        year = now.today.year
        if mood == "this":
            return (of(year),)
        spans = []
        for other in range(year - 8, year + 9):  # 8 years: from one 29 February over 1900 to the next
            try:
                spans.append(of(other))
            except ValueError:
                continue
        span = latest(spans, now, mood)
        return (span if mood else replace(span, exact=False),)

    return find


def day_of_month(number: int) -> Find:
    """Find "the 5th" of the month that is named, or else the last 5th."""

    def find(now: Now, frame: Span | None) -> tuple[Span, ...]:
        if frame is not None:
            return (replace(whole_day(frame.start.date().replace(day=number)), exact=frame.exact),)
        spans = []
        for months in range(-3, 4):
            first = shift_months(now.today.replace(day=1), months)
            try:
                spans.append(whole_day(first.replace(day=number), exact=False))
            except ValueError:
                continue
        return (latest(spans, now),)

    return find


def _of_week(day: int, days: int, mood: Mood) -> Find:
    def find(now: Now, frame: Span | None) -> tuple[Span, ...]:
        week = frame or week_of(now.today)
        spans = [
            whole_day((week.start + timedelta(weeks=weeks, days=day)).date(), days) for weeks in range(-2, 3)
        ]
        before, here, after = spans[1:4]
        if frame is not None or mood == "this":
            return (here,)
        if not mood:
            span = replace(latest(spans, now), exact=False)
            today = span.start.date() == now.today and days == 1
            # "On Monday", said on a Monday, is this one or the one before.
            return (span, replace(before, exact=False)) if today and not now.future else (span,)
        chosen = latest(spans, now, mood)
        if chosen != here or days > 1:
            return (chosen,)
        # "Last Monday", said on a Wednesday: two days ago for some, in the week before for others. So with "next".
        other = before if mood == "last" else after
        return replace(chosen, exact=False), replace(other, exact=False)

    return find


def weekday(number: int, mood: Mood = "") -> Find:
    """Find a day of the week, 0 being Monday."""
    return _of_week(number, 1, mood)


def weekend(mood: Mood = "") -> Find:
    """Find a Saturday and Sunday."""
    return _of_week(5, 2, mood)


def part(name: str) -> Find:
    """Find a part of the day that is named (of today if none is)."""
    first, last = PARTS[name]

    def find(now: Now, frame: Span | None) -> tuple[Span, ...]:
        start = frame.start if frame else _midnight(now.today)
        exact = frame is None or frame.exact
        return (Span(start + timedelta(hours=first), start + timedelta(hours=last), Unit.PART, exact),)

    return find


def section(name: str) -> Find:
    """Find the beginning, middle, end or a half of the month, year, season or week that is named."""

    def find(_now: Now, frame: Span | None) -> tuple[Span, ...]:
        if frame is None:
            raise ValueError("of what")
        if frame.unit is Unit.YEAR:
            months = _YEAR_SECTIONS[name]
            start, end = (_month_start(frame.start.year, month) for month in months)
            return (Span(start, end, Unit.SEASON, exact="half" in name and frame.exact),)
        if frame.unit is Unit.MONTH:
            first, last = _SECTIONS[name]
            start, end = frame.start + timedelta(days=first), frame.start + timedelta(days=last)
            return (Span(start, min(end, frame.end), Unit.DAYS, exact="half" in name and frame.exact),)
        third = (frame.end - frame.start) / 3
        at = {"early": 0, "first half": 0, "mid": 1}.get(name, 2)
        start = _midnight((frame.start + at * third).date())
        return (Span(start, start + timedelta(days=-(-third // timedelta(days=1))), Unit.DAYS, exact=False),)

    return find


def nth_week(number: int) -> Find:
    """Find the ``number``-th seven days of a month; 0 for its last seven."""

    def find(_now: Now, frame: Span | None) -> tuple[Span, ...]:
        if frame is None:
            raise ValueError("of what")
        start = frame.start + timedelta(weeks=number - 1) if number else frame.end - timedelta(weeks=1)
        return (Span(start, start + timedelta(weeks=1), Unit.WEEK, exact=False),)

    return find


def vaguely(first: int, last: int) -> Find:
    """Find the days from ``first`` to ``last`` (both in) as seen from today: -3, -1 is the last few days."""
    return relative(lambda day: whole_day(day + timedelta(days=first), last - first + 1, exact=False))


def ago(number: float, unit: str) -> Find:
    """Find what was ``number`` units ago (below 0: lies ahead).

    Days are counted. A week is the seven days around the day, since few count days when they say "two weeks";
    a month or year is the calendar's. Halves turn into the next smaller unit.
    """

    def find(now: Now, _frame: Span | None) -> tuple[Span, ...]:
        today = now.today
        if unit == "hour":
            at = now.moment - timedelta(hours=number)
            return (Span(at - timedelta(hours=1), at + timedelta(hours=1), Unit.PART, exact=False),)
        if unit == "day":
            return (whole_day(today - timedelta(days=int(number))),)
        if unit == "week":
            day = today - timedelta(days=int(number * 7))
            return (replace(whole_day(day - timedelta(days=3), 7, exact=False), unit=Unit.WEEK),)
        if unit == "month" and number % 1:
            day = shift_months(today, -int(number)) - timedelta(days=15)
            return (whole_day(day - timedelta(days=5), 11, exact=False),)
        months = int(number * 12) if unit == "year" else int(number)
        day = shift_months(today, -months)
        if unit == "year" and not number % 1:
            return (whole_year(day.year, exact=False),)
        return (whole_month(day.year, day.month, exact=False),)

    return find


def stretch(number: float, unit: str) -> Find:
    """Find the last ``number`` units up to today (below 0: the next ones), today included."""

    def find(now: Now, _frame: Span | None) -> tuple[Span, ...]:
        today = now.today
        if unit in ("month", "year"):
            other = shift_months(today, -int(number * (12 if unit == "year" else 1)))
        else:
            other = today - timedelta(days=int(number * (7 if unit == "week" else 1)))
        first, last = min(other, today), max(other, today)
        return (Span(_midnight(first), _midnight(last + timedelta(days=1)), Unit.RANGE, exact=False),)

    return find


def ahead(number: float, unit: str) -> Find:
    """Find what comes in ``number`` units."""
    return ago(-number, unit)
