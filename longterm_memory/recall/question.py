"""A question, with everything worked out once that ranking needs to know about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from ..models import RecallQuery
from ..text.accents import plain_forms
from ..text.fold import fold
from ..text.terms import content_terms, identifiers, is_unspaced, terms, unaccented
from ..text.time_windows import TimeWindow, time_windows
from .index import ScopeIndex
from .relevance import Evidence

__all__ = ["Question"]

_ASKING_CHARACTERS = frozenset("什甚么麼哪谁誰怎吗嗎呢几幾啥咋")
_ASKING = frozenset(
    "名字 字是 它的 的名 多久 多少 多大 多长 多高 多远 时候 是否 为何 如何 何时 何地 何处".split()  # noqa: SIM905
)
"""What makes a sentence a question and says nothing about its topic, as English stop words do. A pair with such a
character is no word, whatever stands beside it: 停哪, 是几, 么的.
"""
_NAME = re.compile(r"(?<=[\w,;'’] )[A-Z][a-z]+\b")
"""A capitalised word that does not begin a sentence."""
_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        text: as it was asked.
        folded: its text, folded.
        terms: all its terms.
        topic: its terms without the names of speakers, who are told by who said a memory.
        telling: its terms without dates, which stand in the time of a memory, and without what only asks.
        dated: the same with dates, if it names any: what is noted of the future names its day itself.
        evidence: how likely an answer is before any memory is looked at.
        identifiers: exact identifiers such as ``=proj-123``.
        only_identifiers: whether it asks for these and nothing else.
        named: numbers of the speakers whose name stands in it.
        asker: numbers of the speakers that are whoever asks.
        windows: times that it names.
    """

    text: str
    folded: str
    terms: tuple[str, ...]
    topic: tuple[str, ...]
    telling: tuple[str, ...]
    dated: tuple[str, ...]
    evidence: Evidence
    identifiers: frozenset[str]
    only_identifiers: bool
    named: tuple[int, ...]
    asker: tuple[int, ...]
    windows: tuple[TimeWindow, ...]

    @classmethod
    def of(cls, query: RecallQuery, index: ScopeIndex, now: float, zone: tzinfo) -> Question:
        """Work out a question.

        Args:
            query: as it was asked.
            index: what is known in the scope.
            now: epoch seconds.
            zone: where "yesterday" begins at midnight.
        """
        text = query.text
        found, exact = terms(text), identifiers(text)
        columns = index.columns
        named = columns.speakers_named(text)
        speakers = frozenset(named.values())
        names = {form for name in speakers for term in terms(name) for form in (term, *unaccented(term))}
        # Parts of an identifier ("proj" of PROJ-123) come from it, so they make no question of their own.
        own = {term for identifier in exact for term in terms(identifier[1:])}
        rest = content_terms(text) - exact - own
        windows = time_windows(text, datetime.fromtimestamp(now, UTC), zone)
        undated = _without(text, windows)
        return cls(
            text=text,
            folded=fold(text),
            terms=tuple(found),
            topic=tuple(term for term in found if names.isdisjoint((term, *unaccented(term))))
            or tuple(found),
            telling=_telling(undated),
            dated=_telling(text) if windows else (),
            evidence=Evidence(
                terms=len(set(found)),
                strangers=_strangers(undated, index, speakers),
                acquainted=bool(speakers),
                unspaced=_unspaced(text),
                memories=index.distinct,
            ),
            identifiers=exact,
            only_identifiers=bool(exact) and all(any(t in identifier for identifier in exact) for t in rest),
            named=tuple(named),
            asker=tuple(columns.speakers_with_id(query.speaker_id)),
            windows=windows,
        )


def _telling(text: str) -> tuple[str, ...]:
    return tuple(term for term in dict.fromkeys(terms(text)) if not _asks(term))


def _asks(term: str) -> bool:
    return term in _ASKING or (len(term) < 3 and not _ASKING_CHARACTERS.isdisjoint(term))


def _without(text: str, windows: tuple[TimeWindow, ...]) -> str:
    """Return a question without the words that name times."""
    for start, end in sorted((window.span for window in windows), reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


def _strangers(text: str, index: ScopeIndex, speakers: frozenset[str]) -> float:
    """Return the share of the capitalised names in a question that neither a memory nor a speaker's name holds."""
    names = _NAME.findall(text)
    if not names or 2 * len(names) > len(_WORD.findall(text)):
        # A Text Written Like a Title names nobody.
        return 0.0
    known = sum(
        any(name.casefold() in form for speaker in speakers for form in (speaker, *plain_forms(speaker)))
        or all(map(index.knows, terms(name)))
        for name in names
    )
    return 1.0 - known / len(names)


def _unspaced(text: str) -> float:
    """Return the share of the letters of scripts without spaces."""
    letters = [ch for ch in text if ch.isalnum()]
    return sum(map(is_unspaced, letters)) / len(letters) if letters else 0.0
