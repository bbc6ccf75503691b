"""What the words around a date make of it: from … to …, before, since, "2 days after", 之前, 以来, 后的第三天."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial

from ..times import MOMENT_YEARS
from .calendar import (
    Now,
    Span,
    Unit,
    ago,
    ahead,
    part,
    shift_months,
    week_of,
    whole_day,
    whole_month,
    whole_year,
)
from .chinese_words import NUMBER as CHINESE_NUMBER
from .chinese_words import UNIT as CHINESE_UNIT
from .chinese_words import count, unit_of
from .english_words import NUMBER, UNIT, number_of
from .phrases import Phrase

__all__ = ["Found", "read"]

FIRST = datetime(MOMENT_YEARS[0], 1, 1)
"""Where "before …" begins: nothing older is stored."""

_AFTER_THE_FUTURE = timedelta(days=366)
"""Where "after …" ends for a date that lies ahead."""

_AROUND = timedelta(days=3)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Found:
    """What a piece of the text (``text[start:end]``) says, in local time."""

    start: int
    end: int
    spans: tuple[Span, ...]


_TO = re.compile(
    r"\s*(?:[-–—~到至]|直到)\s*|\s+(?:to|until|till|through|and)\s+(?:the\s+)?|\s*[和与跟]\s*", re.IGNORECASE
)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$", re.IGNORECASE)
_AMONG = re.compile(r"\s*(?:这段)?(?:之间|中间|期间)")

_SAID_ON = re.compile(
    r"\s*,?\s*(?:(?:as\s+)?(?:was\s+)?(?:mentioned|stated|said|discussed|described|shared|told)\s+(?:on|in)|"
    r"(?P<side>on|from|of|before|prior\s+to|after|following))\s+(?:the\s+)?",
    re.IGNORECASE,
)

_COUNTED = re.compile(
    rf"(?:(?<![A-Za-z0-9]){NUMBER}\s+{UNIT}|"
    r"\bthe\s+(?:very\s+)?(?P<one>day|week|weekend|month|year|night|evening|morning|afternoon))\s+"
    r"(?P<side>before|prior\s+to|leading\s+up\s+to|after|following|of)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:(?P<before>before|prior\s+to|earlier\s+than)|(?P<until>until|till|by|up\s+to|as\s+of|no\s+later\s+than)|"
    r"(?P<after>after|later\s+than|following)|(?P<since>since|starting(?:\s+from)?)|(?P<around>around|circa))"
    r"\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_COUNTED_BEHIND = re.compile(
    rf"\s*的?(?:(?:之|以)?(?P<side>前|后)的?(?P<nth>第)?{CHINESE_NUMBER}{CHINESE_UNIT}|"
    rf"{CHINESE_NUMBER.replace('number>', 'number2>')}{CHINESE_UNIT.replace('unit>', 'unit2>')}"
    r"(?:之|以)?(?P<side2>前|后)|"
    r"(?P<next>第二天|次日))"
)
_BOUND_BEHIND = re.compile(
    r"\s*的?(?:(?P<around>前后|左右)|(?P<before>(?:之|以)前|前(?![往面提夕台线进途辈任半言景世女男期]))|"
    r"(?P<after>(?:之|以)后|后(?![悔面来勤台期续果备代辈半]))|(?P<since>以来|至今|起(?![床来飞名码初点草])|开始))"
)
_UP_TO_NOW = re.compile(
    r"\s*(?:一直)?[到至](?:现在|目前|如今)|\s+(?:to|up\s+to|until|till)\s+(?:now|date|the\s+present)(?![A-Za-z])",
    re.IGNORECASE,
)
_UNTIL_BEHIND = re.compile(r"\s*(?:为止|为限)")
_FROM = re.compile(r"(?:自从|自|从|打)\s*$")
_UNTIL = re.compile(r"(?:截至|截止到?|直到)\s*$")


def read(text: str, phrases: Sequence[Phrase], now: Now) -> Iterator[Found]:
    """Return what the phrases say together with the words around them."""
    left = [phrase for phrase in phrases if phrase.meaning.alone]
    at = 0
    while at < len(left):
        phrase, follower = left[at], left[at + 1] if at + 1 < len(left) else None
        both = follower and (_range(text, phrase, follower, now) or _seen_from(text, phrase, follower, now))
        if both:
            yield both
            at += 2
            continue
        found = _single(text, phrase, now)
        yield found
        at += 1
        while at < len(left) and left[at].start < found.end:  # the 三天后 of 5月2日三天后
            at += 1


def _single(text: str, phrase: Phrase, now: Now) -> Found:
    """Return what one phrase says with the words before and behind it."""
    before = text[max(0, phrase.start - 48) : phrase.start]
    behind = text[phrase.end : phrase.end + 24]
    make: Callable[[Span], Span]
    start = end = 0
    if match := _COUNTED.search(before):
        make, start = partial(_counted, match=match), len(match[0])
    elif match := _COUNTED_BEHIND.match(behind):
        make, end = partial(_counted_behind, match=match), match.end()
    elif match := _BOUND.search(before):
        make, start = partial(_bounded, word=match.lastgroup or "", now=now), len(match[0])
    elif bound := _bound_behind(before, behind):
        word, start, end = bound
        make = partial(_bounded, word=word, now=now)
    else:
        return Found(phrase.start, phrase.end, phrase.spans(now))
    spans = []
    for span in phrase.spans(now):
        try:
            made = make(span)
            spans.append(replace(made, exact=made.exact and span.exact))
        except (ValueError, OverflowError):  # out of the calendar
            continue
    return Found(phrase.start - start, phrase.end + end, tuple(spans))


def _bound_behind(before: str, behind: str) -> tuple[str, int, int] | None:
    """Return what the words behind a date make of it, and how much text that takes before and behind it."""
    opened, bound = _FROM.search(before), _BOUND_BEHIND.match(behind)
    start = len(opened[0]) if opened else 0
    if up_to_now := _UP_TO_NOW.match(behind):
        return "since", start, up_to_now.end()
    if bound and (opened or not bound[0].endswith(("起", "开始"))):
        return bound.lastgroup or "", start, bound.end()
    until, ended = _UNTIL.search(before), _UNTIL_BEHIND.match(behind)
    if until or ended:
        return "until", len(until[0]) if until else 0, ended.end() if ended else 0
    return None


def _bounded(span: Span, word: str, now: Now) -> Span:
    """Return an open-ended span: ``before``, ``until``, ``after``, ``since`` or ``around`` the given one."""
    if word == "before":
        return Span(FIRST, span.start, Unit.RANGE, exact=False)
    if word == "until":
        return Span(FIRST, span.end, Unit.RANGE, exact=False)
    if word == "around":
        return Span(span.start - _AROUND, span.end + _AROUND, Unit.RANGE, exact=False)
    start = span.start if word == "since" else span.end
    end = whole_day(now.today).end
    if start >= end:
        end = start + _AFTER_THE_FUTURE
    return Span(start, end, Unit.RANGE, exact=False)


def _counted(span: Span, match: re.Match[str]) -> Span:
    """Return "the week before", "two days after" the span."""
    side = match["side"].lower()
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    if match["one"]:
        return _next_to(span, match["one"].lower(), side)
    number, unit = number_of(match), match["unit"].lower()
    if side == "of":
        raise ValueError(side)
    if number is None:
        number, unit = (5, unit) if unit != "fortnight" else (10, "week")
        return _stretch(span, -number if side != "after" and side != "following" else number, unit)
    if unit == "fortnight":
        number, unit = number * 2, "week"
    return _away(first, last, number, unit, later=side in ("after", "following"))


def _away(first: date, last: date, number: float, unit: str, *, later: bool) -> Span:
    """Return the day (or the week, month …) that is ``number`` units from a date's first or last day."""
    find = ahead(number, unit) if later else ago(number, unit)
    return find(Now(datetime.combine(last if later else first, time())), None)[0]


def _stretch(span: Span, number: float, unit: str) -> Span:
    """Return the ``number`` units after the span (below 0: before it)."""
    edge = span.end if number > 0 else span.start
    if unit in ("month", "year"):
        day = shift_months(edge.date(), int(number * (12 if unit == "year" else 1)))
        other = datetime.combine(day, time())
    else:
        other = edge + timedelta(days=number * 7 if unit == "week" else number)
    return Span(min(edge, other), max(edge, other), Unit.RANGE, exact=False)


def _next_to(span: Span, unit: str, side: str) -> Span:
    """Return the day, week, weekend, month, year or part of a day before, after or of the span."""
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    step = {"of": 0, "after": 1, "following": 1}.get(side, -1)
    day = first if step <= 0 else last
    if unit in ("night", "evening", "morning", "afternoon"):
        return part(unit)(Now(span.start), whole_day(day + step * _DAY))[0]
    if unit == "day":
        return whole_day(day + step * _DAY) if step else span
    if unit == "weekend":
        return whole_day(_saturday(first, last, step), 2)
    if step:
        return _stretch(span, step, unit)
    if unit == "week":
        return week_of(day)
    return whole_month(day.year, day.month) if unit == "month" else whole_year(day.year)


def _saturday(first: date, last: date, step: int) -> date:
    """Return the Saturday of the weekend before, of or after a date's first and last day."""
    if step > 0:
        return last + ((4 - last.weekday()) % 7 + 1) * _DAY
    if step == 0:
        return week_of(first).start.date() + 5 * _DAY
    days = (first.weekday() - 5) % 7
    return first - (days if days >= 2 else days + 7) * _DAY


def _counted_behind(span: Span, match: re.Match[str]) -> Span:
    """Return 前两天, 后的第三天, 三天后 of the span."""
    first, last = span.start.date(), (span.end - timedelta(microseconds=1)).date()
    if match["next"]:
        return whole_day(last + _DAY)
    behind = match["number"] is None
    unit = unit_of(match["unit2"] if behind else match["unit"])
    number = count(match["number2"] if behind else match["number"])
    later = (match["side2"] if behind else match["side"]) == "后"
    if number is None or unit == "hour":
        return _stretch(span, 5 if later else -5, "day" if unit == "hour" else unit)
    if behind or match["nth"] or (number == 1 and unit == "day"):
        return _away(first, last, number, unit, later=later)
    return _stretch(span, number if later else -number, unit)


def _range(text: str, left: Phrase, right: Phrase, now: Now) -> Found | None:
    """Return "from … to …", if the two phrases are its ends."""
    to = _TO.fullmatch(text, left.end, right.start)
    if to is None:
        return None
    start = left.start
    between = _BETWEEN.search(text, max(0, start - 16), start)
    if to[0].strip().lower() == "and" and not between:
        return None
    if to[0].strip() in ("和", "与", "跟") and not _AMONG.match(text, right.end):
        return None
    ends = _ends(left, right, now)
    if ends is None or ends[0].start >= ends[1].end:
        return None
    span = Span(ends[0].start, ends[1].end, Unit.RANGE, ends[0].exact and ends[1].exact)
    return Found(between.start() if between else start, right.end, (span,))


def _ends(left: Phrase, right: Phrase, now: Now) -> tuple[Span, Span] | None:
    """Return both ends of a range. What one leaves open (a year, a month) the other one tells."""
    months, weeks = Unit.MONTH in right.meaning.within, Unit.WEEK in right.meaning.within
    last = right.spans(now)
    if months or (not left.meaning.within and right.meaning.within):
        first = left.spans(now)
        if not first:
            return None
        year, month = first[0].start.year, first[0].start.month
        if months:
            last = right.spans(now, whole_month(year, month))
        elif weeks:
            last = right.spans(now, week_of(first[0].start.date()))
        elif Unit.YEAR in right.meaning.within:
            last = right.spans(now, whole_year(year))
            if last and last[0].end <= first[0].start:
                last = right.spans(now, whole_year(year + 1))
        return (first[0], last[0]) if last else None
    if not last:
        return None
    then = Now(last[0].start)
    first = left.spans(then) if left.meaning.within else left.spans(now)
    if left.meaning.within and not right.meaning.within and not right.meaning.relative:
        first = tuple(replace(span, exact=last[0].exact) for span in first)
    return (first[0], last[0]) if first else None


def _seen_from(text: str, left: Phrase, right: Phrase, now: Now) -> Found | None:
    """Return "last Friday, as mentioned on 23 January": relative words beside the date that they are relative to.

    The date itself counts too, unless the words say that it is another day: "the Sunday before 25 October".
    """
    said = _SAID_ON.fullmatch(text, left.end, right.start)
    if said is None or not left.meaning.relative or right.meaning.relative:
        return None
    dates = right.spans(now)
    if not dates:
        return None
    date_, side = dates[0], (said["side"] or "").lower()
    if side in ("after", "following"):
        then = Now(date_.end - _DAY, future=True)
        spans = tuple(span for span in left.spans(then) if span.start >= date_.end)
    elif side == "of" and Unit.WEEK in left.meaning.within:
        spans = left.spans(now, week_of(date_.start.date()))
    else:
        spans = tuple(span for span in left.spans(Now(date_.start)) if span.start <= date_.start)
        if side in ("before", "prior to"):
            spans = tuple(span for span in spans if span.end <= date_.start)
    both = side in ("", "on")
    return Found(left.start, right.end, (*spans[:1], *dates) if both else spans[:1]) if spans else None
