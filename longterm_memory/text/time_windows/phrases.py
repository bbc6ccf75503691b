"""Phrases that name a time, and what neighbours make of one another: 去年 + 5月, "the evening of" + "7 July"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .calendar import Find, Now, Span, Unit

__all__ = ["Meaning", "Phrase", "Rule", "join", "rules", "scan"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a phrase says.

    Attributes:
        unit: what it names.
        find: when that is.
        within: which units it is a piece of without saying of which one: "May" is one of some year.
        alone: whether it still means something when nothing says of which one ("the evening" does not).
        relative: whether it depends on when it was said, and on nothing else.
        weekday: whether it is but a day of the week, which may only comment on a date: Monday, May 1.
        leads: whether the period it is a piece of has to follow: "early" in "last year, early May".
    """

    unit: Unit
    find: Find
    within: frozenset[Unit] = frozenset()
    alone: bool = True
    relative: bool = False
    weekday: bool = False
    leads: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """A meaning with its place in the text (``text[start:end]``)."""

    start: int
    end: int
    meaning: Meaning

    def spans(self, now: Now, frame: Span | None = None) -> tuple[Span, ...]:
        """Return what it covers, nothing when there is no such day (30 February) or it lies out of all calendars."""
        try:
            return self.meaning.find(now, frame)
        except (ValueError, OverflowError):
            return ()


Read = Callable[[re.Match[str]], Meaning | None]
"""What a match of a rule means."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what its matches mean: ``None`` or a ``ValueError`` for "nothing".

    ``read`` gets the match; ``match.string`` is there to look around in.
    """

    pattern: re.Pattern[str]
    read: Read


def rules(written: Iterable[tuple[str, Read]], before: str = "") -> tuple[Rule, ...]:
    """Return rules from patterns and their readers.

    Args:
        written: the pattern and what reads its matches, for each.
        before: what all patterns begin with.
    """
    flags = re.ASCII | re.IGNORECASE
    return tuple(Rule(re.compile(before + pattern, flags), read) for pattern, read in written)


def _matches(text: str, among: Iterable[Rule]) -> Iterator[Phrase]:
    for rule in among:
        for match in rule.pattern.finditer(text):
            try:
                meaning = rule.read(match)
            except (ValueError, OverflowError):
                continue
            if meaning is not None:
                yield Phrase(match.start(), match.end(), meaning)


def scan(text: str, among: Iterable[Rule]) -> list[Phrase]:
    """Return what these rules find, in the order of the text; of overlapping finds the first, then the longest."""
    found: list[Phrase] = []
    for phrase in sorted(_matches(text, among), key=lambda phrase: (phrase.start, -phrase.end)):
        if not found or phrase.start >= found[-1].end:
            found.append(phrase)
    return found


_GLUE = re.compile(
    r"[\s,，、(（]*(?:(?:of|in|on|during|at|for)\s+)?(?:the\s+)?|['’]s\s+|\s*(?:的?[这那当]天)?[的在]?\s*",
    re.IGNORECASE | re.ASCII,
)
_COMMENT = re.compile(r"[\s,，、(（]*(?:on\s+)?(?:the\s+)?[）)]?", re.IGNORECASE | re.ASCII)
_LONGEST_GAP = 16


def join(text: str, phrases: Sequence[Phrase]) -> list[Phrase]:
    """Put phrases together that are pieces of their neighbours, until none are left."""
    led: list[Phrase] = []
    for phrase in reversed(
        phrases
    ):  # "early" + "May" first, so that "last year, early May" is no early last year
        if led and phrase.meaning.leads and _is_piece(text, phrase, led[-1], gap=(phrase, led[-1])):
            phrase = _piece(phrase, led.pop())
        led.append(phrase)
    joined: list[Phrase] = []
    for phrase in reversed(led):
        while joined and (both := _joined(text, joined[-1], phrase)):
            joined.pop()
            phrase = both
        joined.append(phrase)
    return joined


def _joined(text: str, left: Phrase, right: Phrase) -> Phrase | None:
    if _is_piece(text, left, right, gap=(left, right)):
        return _piece(left, right)
    if not right.meaning.leads and _is_piece(text, right, left, gap=(left, right)):
        return _piece(right, left)
    between = text[left.end : right.start]
    if len(between) <= _LONGEST_GAP and _COMMENT.fullmatch(between):
        if left.meaning.weekday and _is_date(right):
            return replace(right, start=left.start)
        if right.meaning.weekday and _is_date(left):
            return replace(left, end=right.end)
    return None


def _is_date(phrase: Phrase) -> bool:
    meaning = phrase.meaning
    return meaning.unit is Unit.DAY and not meaning.weekday and not meaning.relative


def _is_piece(text: str, piece: Phrase, whole: Phrase, gap: tuple[Phrase, Phrase]) -> bool:
    between = text[gap[0].end : gap[1].start]
    return (
        whole.meaning.unit in piece.meaning.within
        and len(between) <= _LONGEST_GAP
        and _GLUE.fullmatch(between) is not None
    )


def _piece(piece: Phrase, whole: Phrase) -> Phrase:
    """Return the phrase that both make; what it still leaves open is what ``whole`` does."""

    def find(now: Now, frame: Span | None) -> tuple[Span, ...]:
        return tuple(
            span for period in whole.meaning.find(now, frame) for span in piece.meaning.find(now, period)
        )

    return Phrase(
        min(piece.start, whole.start),
        max(piece.end, whole.end),
        Meaning(
            piece.meaning.unit,
            find,
            whole.meaning.within,
            alone=whole.meaning.alone,
            relative=whole.meaning.relative,
        ),
    )
