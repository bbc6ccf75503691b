"""English phrases that name a time as seen from now: "last week", "yesterday evening", "a couple of weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from .calendar import (
    Find,
    Now,
    Span,
    Unit,
    ago,
    ahead,
    days_from,
    part,
    quarter,
    relative,
    section,
    stretch,
    vaguely,
    week_of,
    weekday,
    weekend,
    whole_day,
    whole_month,
    whole_year,
)
from .english_calendar import RULES as CALENDAR_RULES
from .english_words import BEFORE_WORD, MOOD, NUMBER, SOME, UNIT, lead, mood_of, number_of
from .phrases import Meaning, rules

__all__ = ["RULES"]

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PAST = re.compile(r"\b(?:did|was|were|had|has|have|took|ago)\b", re.IGNORECASE)


def _shifted(unit: str, by: int) -> tuple[Unit, Find]:
    """Return the week, month, quarter or year that is ``by`` after the current one."""
    if unit == "week":
        return Unit.WEEK, relative(lambda today: week_of(today, by))
    if unit == "month":
        return Unit.MONTH, relative(lambda today: whole_month(today.year, today.month + by))
    if unit == "quarter":
        return Unit.SEASON, relative(lambda today: quarter(today.year, (today.month + 2) // 3 + by))
    return Unit.YEAR, relative(lambda today: whole_year(today.year + by))


def _period(match: re.Match[str]) -> Meaning:
    word, mood = match["unit"].lower(), mood_of(match)
    if mood == "last" and word != "quarter" and (match["the"] or match["mood"].lower() == "past"):
        return Meaning(
            Unit.RANGE, stretch(1, word), relative=True
        )  # "the last week" ends today, "last week" does not
    unit, find = _shifted(word, {"last": -1, "this": 0, "next": 1}[mood])
    return Meaning(unit, find, relative=True)


def _before_last(match: re.Match[str]) -> Meaning:
    word = match["unit"].lower()
    if word == "night":
        return Meaning(Unit.PART, _part_of_day("night", -2), relative=True)
    unit, find = _shifted(word, -2)
    return Meaning(unit, find, relative=True)


def _so_far(match: re.Match[str]) -> Meaning:
    """Earlier or later this week, month or year."""
    _, whole = _shifted(match["unit"].lower(), 0)

    def find(now: Now, frame: Span | None) -> tuple[Span, ...]:
        (period,) = whole(now, frame)
        today = whole_day(now.today)
        if match["side"].lower() == "later":
            return (Span(today.start, period.end, Unit.RANGE, exact=False),)
        return (Span(period.start, today.end, Unit.RANGE, exact=False),)

    return Meaning(Unit.RANGE, find, relative=True)


_SECTION_WORDS = {"beginning": "early", "start": "early", "middle": "mid", "end": "late"}
_SECTION = r"(?P<section>early|mid|late|(?:beginning|start|middle|end|(?:first|second)\s+half)(?=\s+of\b))"


def _section_name(match: re.Match[str]) -> str:
    word = " ".join(match["section"].lower().split())
    return _SECTION_WORDS.get(word, word)


def _section(match: re.Match[str]) -> Meaning:
    units = frozenset({Unit.MONTH, Unit.YEAR, Unit.SEASON, Unit.WEEK})
    return Meaning(Unit.DAYS, section(_section_name(match)), units, alone=False, leads=True)


def _section_of_this(match: re.Match[str]) -> Meaning:
    _, whole = _shifted(match["unit"].lower(), 0)
    piece = section(_section_name(match))
    return Meaning(Unit.DAYS, lambda now, _frame: piece(now, whole(now, None)[0]), relative=True)


def _weekday(match: re.Match[str]) -> Meaning | None:
    word, mood = match["weekday"], mood_of(match)
    short = word.lower() not in _WEEKDAYS
    if short and not mood and not (word[0].isupper() and lead(match).lower().endswith("on ")):
        return None  # the sun, she sat, they wed
    if short and mood == "this" and word[0].islower():
        return None
    number = next(at for at, name in enumerate(_WEEKDAYS) if name.startswith(word.lower()[:3]))
    within = frozenset() if mood else frozenset({Unit.WEEK})
    return Meaning(Unit.DAY, weekday(number, mood), within, relative=True, weekday=not mood)


def _weekend(match: re.Match[str]) -> Meaning:
    mood = mood_of(match)
    within = frozenset() if mood else frozenset({Unit.WEEK})
    return Meaning(Unit.DAYS, weekend(mood), within, relative=True)


def _part(match: re.Match[str]) -> Meaning:
    return Meaning(Unit.PART, part(match["part"].lower()), frozenset({Unit.DAY}), alone=False)


def _part_of_day(name: str, days: int) -> Find:
    find = part(name)
    return lambda now, _frame: find(now, whole_day(now.today + timedelta(days=days)))


def _part_of_today(match: re.Match[str]) -> Meaning:
    words = match[0].lower().split()
    if words[0] == "tonight":
        return Meaning(Unit.PART, _part_of_day("night", 0), relative=True)
    return Meaning(Unit.PART, _part_of_day(words[-1], -1 if words[0] == "last" else 0), relative=True)


def _day(days: int) -> Callable[[re.Match[str]], Meaning]:
    return lambda _match: Meaning(Unit.DAY, days_from(days), relative=True)


def _ago(match: re.Match[str]) -> Meaning | None:
    number, unit = number_of(match), match["unit"].lower()
    if unit == "fortnight":
        number, unit = None if number is None else number * 2, "week"
    unit_kind = Unit.DAY if unit == "day" else Unit.DAYS
    if number is None or (number == 2 and "couple" in match["number"].lower()):
        if unit not in SOME:
            return None
        days, most = SOME[unit]
        first, last = (-most, -2) if number is None else (-3, -1)
        return Meaning(Unit.DAYS, vaguely(first * days, last * days), relative=True)
    if match["half"] or match["half2"]:
        number += 0.5
    return Meaning(unit_kind, ago(number, unit), relative=True)


def _nights_ago(match: re.Match[str]) -> Meaning | None:
    number = number_of(match)
    return Meaning(Unit.PART, _part_of_day("night", -int(number)), relative=True) if number else None


def _recent(match: re.Match[str]) -> Meaning | None:
    number, unit = number_of(match), match["unit"].lower()
    if unit == "hour":
        return None
    if unit == "fortnight":
        number, unit = (number or 1) * 2, "week"
    if number is None:
        number = SOME[unit][1]
    sign = -1 if match["mood"].lower() in ("next", "coming") else 1
    return Meaning(Unit.RANGE, stretch(sign * number, unit), relative=True)


def _in_a_while(match: re.Match[str]) -> Meaning | None:
    number, unit = number_of(match), match["unit"].lower().replace("fortnight", "week")
    length = match["in"] and (_PAST.search(match.string) or (number == 1 and unit == "day"))
    if number is None or unit == "hour" or length:
        return None  # "what did I do in two days" is a length, and so is the day in which Rome was not built
    return Meaning(Unit.DAY if unit == "day" else Unit.DAYS, ahead(number, unit), relative=True)


_RULES = rules(
    (
        (r"(?:the\s+)?day\s+before\s+yesterday(?![a-z])", _day(-2)),
        (r"(?:the\s+)?day\s+after\s+tomorrow(?![a-z])", _day(2)),
        (r"yesterday(?:['’]s)?(?![a-z])", _day(-1)),
        (r"today(?:['’]s)?(?![a-z])", _day(0)),
        (r"tomorrow(?:['’]s)?(?![a-z])", _day(1)),
        (r"the\s+other\s+day(?![a-z])", lambda _: Meaning(Unit.DAYS, vaguely(-10, -1), relative=True)),
        (r"(?:tonight|last\s+night|this\s+(?:morning|afternoon|evening))(?:['’]s)?(?![a-z])", _part_of_today),
        (r"(?:the\s+)?(?P<unit>night|week|month|year)\s+before\s+last(?![a-z])", _before_last),
        (r"(?:the\s+)?(?:early\s+|late\s+)?(?P<part>morning|afternoon|evening|night)(?![a-z])", _part),
        (rf"(?:{MOOD})?(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
         r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b)(?:['’]s)?(?![a-z])", _weekday),
        (rf"(?:{MOOD}|(?:over|during|on|at|for|of)\s+the\s+(?:{MOOD.replace('mood>', 'mood2>')})?)weekend"
         r"(?:['’]s)?(?![a-z])", _weekend),
        (r"(?P<the>the\s+)?(?P<mood>this\s+past|last|past|previous|this|next|coming)\s+"
         r"(?P<unit>week|month|quarter|year)(?:['’]s)?(?![a-z])", _period),
        (r"(?P<side>earlier|later)\s+(?:in\s+)?(?:this|the)\s+(?P<unit>week|month|year)(?![a-z])", _so_far),
        (rf"(?:the\s+)?{_SECTION}(?:-|(?![a-z]))", _section),
        (rf"(?:the\s+)?{_SECTION}\s+of\s+(?:the|this)\s+(?P<unit>week|month|year)(?![a-z])", _section_of_this),
        (rf"{NUMBER}\s+(?:(?P<half>and\s+a\s+half)\s+)?{UNIT}\s+(?P<half2>and\s+a\s+half\s+)?ago(?![a-z])", _ago),
        (rf"{NUMBER}\s+nights?\s+ago(?![a-z])", _nights_ago),
        (rf"(?:the\s+)?(?P<mood>last|past|previous|next|coming)\s+{NUMBER}\s+{UNIT}", _recent),
        (rf"(?:(?P<in>in)\s+)?{NUMBER}\s+{UNIT}(?(in)|\s+from\s+(?:now|today)(?![a-z]))", _in_a_while),
    ),
    before=BEFORE_WORD,
)  # fmt: skip

RULES = CALENDAR_RULES + _RULES
