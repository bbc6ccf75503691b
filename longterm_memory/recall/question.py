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
_RELATIVE = frozenset(
    terms(
        "today tonight yesterday tomorrow ago last next past day days week weeks weekend month months year years"
        " 今天 今日 今晚 今早 昨天 昨日 昨晚 明天 明日 明晚 后天 後天 前天 大前天 大后天"
        " 去年 今年 明年 前年 天前 天后 天後"
        " 上周 下周 本周 这周 上週 下週 本週 這週 上个月 下个月 上個月 下個月 星期 周末 週末"
    )
)
"""What names a time as seen from now. In a memory it is seen from another day, so it says nothing."""
_HAPPENING = re.compile(
    r"\b(?:happen(?:ed|ing|s)?|plan(?:s|ned)?|scheduled?|events?|going|talk(?:ed)?|discuss(?:ed)?|sa(?:y|id)|remember)\b"
    "|发生|發生|安排|计划|計劃|日程|行程|事情|记得|記得|[事做干幹聊说說讲講过過有没沒要会會我你他她们們咱了的都也还還]",
    re.IGNORECASE,
)
"""What asks for anything that was or will be: "what happened", "有什么安排"."""
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
        beside = _telling(_HAPPENING.sub(" ", undated))
        return cls(
            text=text,
            folded=fold(text),
            terms=tuple(found),
            topic=tuple(term for term in found if names.isdisjoint((term, *unaccented(term))))
            or tuple(found),
            # Whoever searches for such a word means it; 什么 is a word like any other then.
            telling=_telling(undated) or (tuple(dict.fromkeys(found)) if query.searched else ()),
            dated=tuple(term for term in _telling(text) if term not in _RELATIVE) if windows else (),
            evidence=Evidence(
                terms=len(set(found)),
                strangers=_strangers(undated, index, speakers),
                acquainted=bool(speakers),
                unspaced=_unspaced(text),
                memories=index.distinct,
                only_dated=bool(windows)
                and all(not names.isdisjoint((term, *unaccented(term))) for term in beside),
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
