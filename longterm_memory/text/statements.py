"""Whether two sentences state the same fact of the same bearer, so that one can correct the other.

Every sign has a name, so that it can be weighed and explained (:class:`Likeness`). Words of the people who talk say
nothing here and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from .corrections import CHANGES, share, topic_overlap
from .facets import ATTRIBUTES, PERSONAL, beyond_facets, facets, same_holder
from .fold import fold
from .measures import is_measure, measures, without_measures
from .terms import identifiers, is_unspaced, terms

__all__ = ["Likeness", "compare", "denied", "is_version_of"]

_DENIED_SHARE = 0.75
"""How much of what a correction denies has to stand in a memory; "not a member of the chess club" is not about the
rowing club."""
_DENIED_TERMS = 3
"""Terms of a denial that count: "needs no visa for Vietnam" goes on with "for stays under 45 days"."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a memory is like a correction.

    Attributes:
        words: shared part of the topic words, 0..1.
        kind: whether both state a fact of one kind, 0..1: 1 where a person has one of it at a time (a home, a
            job), otherwise as far as they share words beside those of the kind.
        other_kind: both tell what kind of fact they are, and it is not the same.
        other_person: the memory is about somebody's relative or friend whom the correction does not mention, or
            the other way round.
        identifier: they share a ticket, a version, a flight number.
        denied: the memory says what the correction says is not so.
        denied_elsewhere: the correction says of something that it is not so, and the memory does not say it.
    """

    words: float
    kind: float
    other_kind: bool
    other_person: bool
    identifier: bool
    denied: bool
    denied_elsewhere: bool


def compare(correction: str, memory: str, ignored: Iterable[str] = ()) -> Likeness:
    """Compare a memory with what may correct it.

    Args:
        correction: the new text.
        memory: the older one.
        ignored: names of the people who talk.
    """
    names = tuple(ignored)
    new, old = facets(correction), facets(memory)
    dated = _dated(memory)
    shared = (new | _dated(correction)) & (old | dated)
    here = _denied_here(correction, memory, names)
    return Likeness(
        words=topic_overlap(memory, correction, ignored=names),
        kind=_kind(correction, memory, shared, names),
        other_kind=not shared and bool((new and old) or (new & ATTRIBUTES and dated)),
        other_person=not same_holder(memory, correction),
        identifier=any(map(_is_code, identifiers(memory) & frozenset(terms(correction)))),
        denied=here is True,
        denied_elsewhere=here is False,
    )


def _dated(text: str) -> frozenset[str]:
    """A date or time tells what kind of fact it is too."""
    found = measures(text)
    return frozenset({"when"} if found["weekday"] or found["month"] or found["clock"] else ())


def _kind(correction: str, memory: str, shared: frozenset[str], names: tuple[str, ...]) -> float:
    if not shared or shared & PERSONAL:
        return float(bool(shared))
    silent = _silent(names)
    return share(beyond_facets(memory) - silent, beyond_facets(correction) - silent)


def _denied_here(correction: str, memory: str, names: tuple[str, ...]) -> bool | None:
    """Whether a memory says what the correction denies; ``None`` when it denies nothing comparable."""
    told = frozenset(term for term in denied(correction) - _silent(names) if not is_measure(term))
    # Words of two languages are not the same words.
    comparable = frozenset(t for t in told if t.isascii() or any(map(is_unspaced, memory)))
    if not comparable:
        return None
    return len(comparable & frozenset(terms(memory))) / len(comparable) >= _DENIED_SHARE


def _is_code(identifier: str) -> bool:
    return any(ch.isalpha() for ch in identifier) and any(ch.isdigit() for ch in identifier)


def is_version_of(other: str, memory: str, correction: str, ignored: Iterable[str] = ()) -> bool:
    """Whether another memory that fits a correction states the same as the one that fits best.

    Either it has no topic of its own, and no date or number of its own where the correction names the memory by one.
    Or both hold what the correction denies, and both tell what a person has one of at a time ("works at Acme", "is an
    accountant at Acme in Ghent") or it says all that the memory says.

    Args:
        other: the other memory.
        memory: the one that fits best.
        correction: what replaces it.
        ignored: names of the people who talk.
    """
    texts = other, memory, correction, tuple(ignored)
    return _same_but_measures(*texts) or _both_denied(*texts)


def _same_but_measures(other: str, memory: str, correction: str, names: tuple[str, ...]) -> bool:
    mine, its, new = measures(other), measures(memory), measures(correction)
    if any(its[kind] & new[kind] and not mine[kind] <= new[kind] | its[kind] for kind in its):
        return False
    if facets(other) - facets(memory) - facets(correction):
        return False
    known = _topic_terms(without_measures(memory)) | _topic_terms(without_measures(correction))
    return _topic_terms(without_measures(other)) <= known | _silent(names)


def _both_denied(other: str, memory: str, correction: str, names: tuple[str, ...]) -> bool:
    gone = denied(correction) - _silent(names)
    if not gone or not gone <= frozenset(terms(other)) & frozenset(terms(memory)):
        return False
    if facets(other) & facets(memory) & facets(correction) & PERSONAL:
        return True
    subject = next((term for term in _in_order(memory) if term not in _silent(names)), "")
    return subject not in gone and _telling_terms(memory) <= _telling_terms(other)


def _silent(names: Iterable[str]) -> frozenset[str]:
    return frozenset(term for name in names for term in terms(name))


_END = r"[,;:.!?，；：。！？、]|\b(?:and|but|because|since|as|now|after|any ?more|these days)\b"
_DENIAL = re.compile(
    r"(?:\b(?:not|no(?: longer)?|instead of|rather than|cannot|\w+n['’]t|stopped|quit|left (?!on|at|in|for)|gave up"
    r"|dropped|called off)\b|不再是?|不是|不叫|不[在住去吃喝会养]|不|没有|离开|取消了?|放弃"
    rf")(?P<what>.*?)(?:$|{_END})"
)
_PARTED = re.compile(
    rf"(?:把(?P<gone>(?:(?!{_END}).){{1,20}}?)(?:卖|换|丢|扔|退|送)"
    rf"|从(?P<left>(?:(?!{_END}).){{1,20}}?)(?:换|改|搬|转|变)|对(?P<not>(?:(?!{_END}).){{1,20}}?)不)"
)
_UNDONE = re.compile(
    rf"(?:^|{_END})(?P<what>(?:(?!{_END}).)+?)(?:\b(?:is|was|are|were|got) )?(?:cancell?ed|fell through)"
)
_FUNCTION = frozenset("的了是在把被从我你他她它这那和与就也都不没去来到")


@lru_cache(maxsize=1_024)
def denied(text: str) -> frozenset[str]:
    """Return the terms of what a text says is not so (any more), as far as they do not merely tell the kind of fact:
    ``biscuit`` in "My dog is called Brisket, not Biscuit".
    """
    folded = fold(text)
    said = [
        what for p in (_DENIAL, _PARTED, _UNDONE) for m in p.finditer(folded) for what in m.groups() if what
    ]
    return frozenset(term for what in said for term in _in_order(what)[:_DENIED_TERMS])


def _in_order(text: str) -> list[str]:
    """Return the telling terms of a text beyond those of its kind, in order."""
    left = beyond_facets(text)
    return [t for t in dict.fromkeys(terms(text)) if t in left and t not in CHANGES and _telling(t)]


def _telling_terms(text: str) -> frozenset[str]:
    """Return the terms of a text without change words and without pairs that a function word is part of."""
    return frozenset(filter(_telling, terms(text))) - CHANGES


def _telling(term: str) -> bool:
    return term.isascii() or (len(term) > 1 and not _FUNCTION & set(term))


def _topic_terms(text: str) -> frozenset[str]:
    """Return the terms of a text that may be its topic: no values, and pairs of what is written without spaces."""
    return frozenset(t for t in terms(text) if not is_measure(t) and (len(t) > 1 or t.isascii())) - CHANGES
