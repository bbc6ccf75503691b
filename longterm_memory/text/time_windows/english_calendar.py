"""English dates of the calendar: "May 5th, 2023", "in July", "the summer of 2021", "Christmas", "since 2019".

Many of the words mean other things as well (May, march, fall, second): those count only where something next to them
says that a date is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta

from . import holidays
from .calendar import (
    Span,
    Unit,
    day_of_month,
    fixed,
    nth_week,
    quarter,
    relative,
    season,
    whole_day,
    whole_month,
    whole_year,
    yearly,
)
from .english_words import BEFORE_WORD, DAY, MONTH, MOOD, ORDINAL, YEAR, lead, mood_of, nth
from .phrases import Meaning, rules

__all__ = ["RULES"]

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NAMES = frozenset({"march", "april", "may", "june", "august"})
"""Months that are also names or other words."""

_IN_YEAR = frozenset({Unit.YEAR})

_MONTH_LEAD = re.compile(
    r"(?:\b(?:in|of|since|during|until|till|by|before|after|early|mid|late|around|between|from|through|throughout|and|to|"
    r"last|this|next)|[0-9](?:st|nd|rd|th)?|\bmid-|[-–—~,])\s*(?:the\s+)?$",
    re.IGNORECASE,
)
_AND = re.compile(r"\b(?:and|to|through|until|till)\s+$|(?<!\bmid)[-–—~,]\s*$", re.IGNORECASE)
_MONTH_BEFORE = re.compile(rf"{MONTH}(?:\s+[0-9]{{1,2}}(?:st|nd|rd|th)?)?\s*$", re.IGNORECASE)
_LAST_YEAR = re.compile(r"\s+(?:of\s+)?(?:last|this|next)\s+year", re.IGNORECASE)
_SEASON_LEAD = re.compile(
    r"\b(?:in|during|over|throughout|for|since|until|early|mid|late|that|before|after)[\s-]+(?:the\s+)?$",
    re.IGNORECASE,
)
_YEAR_LEAD = re.compile(
    r"\b(?:in|since|during|until|till|by|before|after|year|early|mid|late|from|throughout|around|beginning\s+of|"
    r"start\s+of|middle\s+of|end\s+of|half\s+of|of\s+year|back\s+in)[\s-]+$",
    re.IGNORECASE,
)
_NO_YEAR = re.compile(
    r"\s*(?:%|\$|€|(?:steps?|words?|met(?:er|re)s?|m|km|miles?|dollars?|euros?|yuan|people|pieces?|times|ways?|points?|"
    r"characters?|lines?|tokens?|minutes?|hours?|days?|years?|pages?|calories|kcal|users?|items?|square)\b)",
    re.IGNORECASE,
)
_DAY_LEAD = re.compile(r"\b(?:on|since|before|after|until|till|by|from|between|and|of)\s+$", re.IGNORECASE)
_NO_NOUN = re.compile(
    r"\s*(?:$|[?.!,;:)]|\b(?:of\s+(?:last|this|next|the)|and|but|or|to|did|do|was|were|when|what|who|where|i|we|you|he|"
    r"she|they|at|in|with|as|that)\b)",
    re.IGNORECASE,
)
_NO_HOLIDAY = re.compile(
    r"\s+(?:trees?|carols?|cards?|songs?|movies?|sweaters?|lights|cookies|island)\b", re.IGNORECASE
)
_WISH = re.compile(r"\b(?:happy|merry)\s+$", re.IGNORECASE)


def _yearly(match: re.Match[str], unit: Unit, of: Callable[[int], Span]) -> Meaning:
    """Return what comes once a year, of the year that stands in the match, if one does."""
    if match["year"]:
        return Meaning(unit, fixed(of(int(match["year"]))))
    mood = mood_of(match) if "mood" in match.re.groupindex else ""
    return Meaning(unit, yearly(of, mood), frozenset() if mood else _IN_YEAR, relative=bool(mood))


def _month_number(match: re.Match[str]) -> int:
    name = match["month"].lower()[:3]
    return next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(name))


def _means_a_month(match: re.Match[str]) -> bool:
    """Return whether a month without day and year is one: "in May", "last June", not "may I", "the last march"."""
    word, before = match["month"].lower(), lead(match)
    follows = match.string[match.end() : match.end() + 24].lower()
    if word in _NAMES and follows.startswith(("'s ", "’s ")):
        return False
    if match["mood"]:
        return match["mood"].lower() == "this" or not before.lower().endswith("the ")
    if word in _MONTHS and word not in _NAMES:
        return True
    if _LAST_YEAR.match(follows):
        return True
    listed = _AND.search(before)
    if listed:
        return _MONTH_BEFORE.search(before[: listed.start()]) is not None
    return _MONTH_LEAD.search(before) is not None


def _month_alone(match: re.Match[str]) -> Meaning | None:
    if not match["year"] and not _means_a_month(match):
        return None
    number = _month_number(match)
    return _yearly(match, Unit.MONTH, lambda year: whole_month(year, number))


def _month_day(match: re.Match[str]) -> Meaning | None:
    number, day = _month_number(match), int(match["day"])
    date(2024, number, day)
    if match["month"] in ("may", "march") and not (match["th"] or match["year"]):
        # "you may 2 …" and "3 may be" are no dates
        after = match.string[match.end() : match.end() + 2].strip()
        if match.start("day") < match.start("month") or not (
            _DAY_LEAD.search(lead(match)) or after in ("", "?", ".", ",", "!")
        ):
            return None
    return _yearly(match, Unit.DAY, lambda year: whole_day(date(year, number, day)))


def _ordinal_day(match: re.Match[str]) -> Meaning:
    number, day = _month_number(match), nth(match["nth"])
    if not day:
        return _yearly(
            match,
            Unit.DAY,
            lambda year: whole_day(whole_month(year, number).end.date() - timedelta(days=1)),
        )
    return _yearly(match, Unit.DAY, lambda year: whole_day(date(year, number, day)))


def _between(match: re.Match[str]) -> bool:
    return lead(match).lower().endswith("between ")


def _days_of_month(match: re.Match[str]) -> Meaning | None:
    number, first, last = _month_number(match), int(match["first"]), int(match["last"])
    date(2024, number, last)
    if first >= last or (match["to"].strip().lower() == "and" and not _between(match)):
        return None
    return _yearly(match, Unit.DAYS, lambda year: whole_day(date(year, number, first), last - first + 1))


def _the_day(match: re.Match[str]) -> Meaning | None:
    number = int(match["day"])
    date(2024, 1, number)
    ends = match.end()
    if not _DAY_LEAD.search(lead(match)) or not _NO_NOUN.match(match.string[ends : ends + 24]):
        return None
    return Meaning(Unit.DAY, day_of_month(number), frozenset({Unit.MONTH}))


def _year(match: re.Match[str]) -> Meaning | None:
    if not _YEAR_LEAD.search(lead(match)) or _NO_YEAR.match(match.string[match.end() : match.end() + 16]):
        return None
    return Meaning(Unit.YEAR, fixed(whole_year(int(match["year"]))))


def _years(match: re.Match[str]) -> Meaning | None:
    first, last = int(match["year"]), int(match["last"])
    if first >= last or (match["to"].strip().lower() == "and" and not _between(match)):
        return None
    return Meaning(Unit.RANGE, fixed(Span(datetime(first, 1, 1), datetime(last + 1, 1, 1), Unit.RANGE)))


def _decade(match: re.Match[str]) -> Meaning:
    century, ten = match["century"], int(match["ten"]) * 10
    year = int(century or (19 if ten >= 30 else 20)) * 100 + ten
    return Meaning(Unit.RANGE, fixed(Span(datetime(year, 1, 1), datetime(year + 10, 1, 1), Unit.RANGE)))


def _nth_week(match: re.Match[str]) -> Meaning:
    number = nth(match["nth"])
    return Meaning(Unit.WEEK, nth_week(number), frozenset({Unit.MONTH}), alone=False, leads=True)


def _season(match: re.Match[str]) -> Meaning | None:
    name = match["season"].lower().replace("fall", "autumn")
    said = match["mood"] or match["year"] or _SEASON_LEAD.search(lead(match))
    if not said and not _LAST_YEAR.match(match.string, match.end()):
        return None
    if name == "winter" and match["mood"] == "this":
        return Meaning(
            Unit.SEASON, relative(lambda today: season(name, today.year - (today.month < 6))), relative=True
        )
    return _yearly(match, Unit.SEASON, lambda year: season(name, year))


def _quarter(match: re.Match[str]) -> Meaning:
    number = int(match["q"]) if match["q"] else nth(match["nth"])
    if not 1 <= number <= 4 or not (match["q"] or match["year"] or "year" in match.string):
        raise ValueError(number)  # a game has quarters too
    return _yearly(match, Unit.SEASON, lambda year: quarter(year, number))


_HOLIDAYS = tuple(holidays.ENGLISH.values())
_HOLIDAY = "|".join(f"(?P<h{at}>{pattern})" for at, pattern in enumerate(holidays.ENGLISH))


def _holiday(match: re.Match[str]) -> Meaning | None:
    if _WISH.search(lead(match)) or _NO_HOLIDAY.match(match.string[match.end() : match.end() + 12]):
        return None
    of = next(of for at, of in enumerate(_HOLIDAYS) if match[f"h{at}"])
    return _yearly(match, Unit.DAY, of)


_OF_YEAR = rf"(?:,?\s*(?:of\s+|in\s+)?{YEAR})?"
_TO = r"(?P<to>\s*[-–—~]\s*|\s+(?:to|through|till|until|and)\s+)(?:the\s+)?"

RULES = rules(
    (
        (rf"{MONTH}\s+(?:the\s+)?{DAY}{_OF_YEAR}", _month_day),
        (rf"(?:the\s+)?{DAY}\s+(?:of\s+)?{MONTH}{_OF_YEAR}", _month_day),
        (rf"(?:the\s+)?{ORDINAL}(?:\s+day)?\s+of\s+{MONTH}{_OF_YEAR}", _ordinal_day),
        (rf"{MONTH}\s+(?P<first>[0-9]{{1,2}})(?:st|nd|rd|th)?{_TO}(?P<last>[0-9]{{1,2}})(?:st|nd|rd|th)?"
         rf"(?![0-9A-Za-z]|\s*(?:of\s+)?{MONTH.replace('month>', 'other>')}){_OF_YEAR}", _days_of_month),
        (rf"(?:the\s+)?(?P<first>[0-9]{{1,2}})(?:st|nd|rd|th)?{_TO}(?P<last>[0-9]{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?"
         rf"{MONTH}{_OF_YEAR}", _days_of_month),
        (r"the\s+(?P<day>[0-9]{1,2})(?:st|nd|rd|th)(?![0-9A-Za-z-])", _the_day),
        (rf"(?:the\s+)?{ORDINAL}\s+week(?=\s+(?:of|in)\b)", _nth_week),
        (rf"(?:{MOOD})?{MONTH}{_OF_YEAR}", _month_alone),
        (rf"(?:{MOOD})?(?P<season>spring|summer|autumn|fall|winter)(?:['’]s)?(?![a-z]){_OF_YEAR}", _season),
        (rf"(?:q(?P<q>[1-4])|{ORDINAL}\s+quarter)(?![a-z0-9]){_OF_YEAR}", _quarter),
        (YEAR, _year),
        (rf"{YEAR.replace('[-/:.][0-9]', '[/:.][0-9]')}{_TO}"
         r"(?P<last>(?:19|20)[0-9]{2})(?![0-9A-Za-z]|[-/:.][0-9])", _years),
        (r"the\s+(?P<century>19|20)?(?P<ten>[0-9])0['’]?s(?![a-z])", _decade),
        (rf"(?:{MOOD})?(?:{_HOLIDAY})(?![a-z0-9]){_OF_YEAR}", _holiday),
    ),
    before=BEFORE_WORD,
)  # fmt: skip
