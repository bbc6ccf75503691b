"""Text as the terms that lexical recall compares.

Latin words are folded, lightly stemmed and freed of function words; CJK, kana, Hangul and Thai runs become
single characters and pairs (pairs beat a segmenter for Chinese and need no dependency, see
docs/how-recall-works.md); identifiers (``PROJ-123``, ``src/store.ts``, ``getUserById``, ``v1.2.10``) stay
whole, marked with ``=``, besides their parts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from .accents import plain_forms

__all__ = ["content_terms", "identifiers", "is_blank", "is_unspaced", "shorter", "terms", "unaccented"]

_UNSPACED = (
    "\u0e00-\u0eff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that put no spaces between words: Thai, Lao, Khmer, Han, kana, bopomofo, Hangul."""
_JOINERS = "-./:#@+"
_MARKS = "".join(
    ch
    for ch in map(chr, range(0x300, 0x1AB0))
    if unicodedata.category(ch) in ("Mn", "Mc") and not re.match(rf"[{_UNSPACED}]", ch)
)
"""Vowels and other signs within words, of Devanagari for one, that are no letters to a regular expression."""
_WORD = rf"[^\W{_UNSPACED}]+(?:[{_MARKS}]+[^\W{_UNSPACED}]*)*"
_TOKEN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)|[^\W\d_{_UNSPACED}](?:\+\+|\#)(?!\w)|{_WORD}(?:[{_JOINERS}]+{_WORD})*"
)
_PLAIN_TOKEN = re.compile(rf"[A-Za-z](?:\+\+|\#)(?!\w)|[A-Za-z0-9_]+(?:[{_JOINERS}]+[A-Za-z0-9_]+)*")
"""The same for plain ASCII, several times as fast."""
_JOINED = re.compile(rf"[{_JOINERS}]")
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")
_SPLIT = re.compile(rf"[{_JOINERS}_]+")
_POINTS = [chr(c) for c in (*range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2, 0x640, *range(0x64B, 0x660), 0x670)]
"""Hebrew and Arabic points: most people leave them out."""
_ALIKE = str.maketrans(dict.fromkeys("‐‑‒–—−", "-") | dict.fromkeys(_POINTS, "") | {"İ": "I"})
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CAMEL = re.compile(r"[A-Z]*[a-z]+(?:[A-Z]+[a-z]*|\d+)+|[A-Z]{2,}[a-z]+")
_MEASURE = re.compile(
    r"(?P<number>\d+)(?:(?P<ordinal>st|nd|rd|th)|am|pm|h|hrs?|min|mins|s|ms|d|w|y|yrs?|k?g|k?m|cm|mm|ml|l|k|x|[kmgt]b)"
)
_VERSION = re.compile(r"v(\d+(?:[.-]\w+)+)")
_PLACE = re.compile(r"(?P<scheme>\w+:/+)?(?P<path>.*?)(?P<line>(?::\d+)+)?")
_TAILS_MAX = 6
"""So many ends of a path may stand for it."""
_ANY_WORD = re.compile(rf"[^\W_]|[{_UNSPACED}]")

_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by can could did do does for from had has have he her him his how"
        " i if in into is it its just me my no not of on or our out she should so some than that the their"
        " them then there they this to too up us very was we were what when where which who whom whose why"
        " will with would you your about after again am any because being both down during each few"
        " further here more most off once only other over own same s t ll re ve d m don doesn didn isn"
        " wasn aren won also got get anything something tell know",
    )
)
# Function characters of Chinese and kana particles: as single characters they carry no topic.
_STOP_CHARS = frozenset(
    "的了是在我你他她它们这那有和与就也都不吗呢吧啊呀嘛么什怎哪谁个把被让给对从到很请为以及或のはがをにでともか"
)


def _stem(word: str) -> str:
    """A light English stemmer: plurals, -ing, -ed, a final e; never below three letters."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    stem = word
    for suffix, keep in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(suffix) and not (suffix == "s" and word.endswith(("ss", "us", "is"))):
            stem = word[: -len(suffix)] + keep
            if len(stem) < 3 or not re.search(r"[aeiouy]", stem):
                return word
            if suffix in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            break
    if len(stem) > 3:
        stem = stem.removesuffix("e")
    return stem[:-1] + "y" if stem.endswith("i") and len(stem) > 3 else stem


def _run_terms(run: str) -> list[str]:
    singles = [ch for ch in run if ch not in _STOP_CHARS] if len(run) > 1 else [run]
    return singles + [run[i : i + 2] for i in range(len(run) - 1)]


def _part_terms(parts: Iterable[str]) -> list[str]:
    """Terms of what an identifier is made of; short numbers say nothing on their own."""
    folded = (part.casefold() for part in parts)
    return [_stem(p) for p in folded if p and p not in _STOP and not (p.isdigit() and len(p) < 3)]


def _joined_terms(token: str) -> tuple[str, ...]:
    """``PROJ-123`` and ``src/store.ts`` are identifiers; ``mother-in-law``, ``and/or`` and ``e.g`` are
    words.
    """
    parts = _SPLIT.split(token)
    telling = any(len(p) > 1 and p.casefold() not in _STOP for p in parts)
    if any(ch.isdigit() for ch in token) or (telling and any(ch in token for ch in "./:#@")):
        return (f"={token.casefold()}", *_part_terms(parts))
    if not telling:
        # An abbreviation such as "u.s": as a whole it is a word, its letters are none.
        return (token.casefold(),) if all(len(p) == 1 for p in parts) else ()
    return tuple(t for part in parts for t in _word_terms(part))


def _word_terms(token: str) -> tuple[str, ...]:
    token = token.strip("_")
    folded = token.casefold()
    if not token or folded in _STOP:
        return ()
    if "_" in token:
        return (f"={folded}", *_part_terms(token.split("_")))
    if _CAMEL.fullmatch(token):
        humps = _HUMP.findall(token)
        # getUserById and LongTermMemory name one thing; YouTube and iPhone are words that people also write
        # small.
        exact = len(humps) > 2 or (len(humps) == 2 and len(humps[0]) > 1 and humps[0].islower())
        return (*([f"={folded}"] if exact else []), _stem(folded), *_part_terms(humps))
    measure = _MEASURE.fullmatch(folded)
    if measure:
        return (measure["number"] if measure["ordinal"] else folded,)
    if any(ch.isdigit() for ch in folded) and not folded.isdigit():
        return (f"={folded}",)
    return (_stem(folded),)


@lru_cache(maxsize=65_536)
def _token_terms(token: str) -> tuple[str, ...]:
    """Terms of a token of a script with spaces: a word, an identifier, ``c++``."""
    if token.isalnum():
        return _word_terms(token)
    if token.endswith(("#", "++")):
        return (f"={token.casefold()}",)
    return _joined_terms(token) if _JOINED.search(token) else _word_terms(token)


def terms(text: str) -> list[str]:
    """Return the terms of a text, with repeats, in order of appearance."""
    found: list[str] = []
    if text.isascii():
        for token in _PLAIN_TOKEN.findall(text):
            found += _token_terms(token)
        return found
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).translate(_ALIKE)):
        token = match.group()
        found += _run_terms(token) if match.lastgroup == "run" else _token_terms(token)
    return found


@lru_cache(maxsize=65_536)
def unaccented(term: str) -> tuple[str, ...]:
    """Return the terms that a term is where it was typed without accents: ``cafe`` of ``café``, ``muller`` and
    ``mueller`` of ``müller``; none of a term that has none, and of identifiers.
    """
    return () if term.isascii() or term.startswith("=") else tuple(map(_stem, plain_forms(term)))


@lru_cache(maxsize=65_536)
def shorter(term: str) -> tuple[str, ...]:
    """Return the terms that people also type for a term, leaving out accents (:func:`unaccented`), the v of a version,
    the folders of a file, what stands around a path: ``=1.2`` of ``=v1.2``, ``=store.ts`` of ``=src/store.ts:42``.
    """
    if not term.startswith("="):
        return unaccented(term)
    if version := _VERSION.fullmatch(term[1:]):
        return (f"={version[1]}",)
    if "/" not in term and ":" not in term:
        return ()
    place = _PLACE.fullmatch(term[1:])
    parts = (place["path"] if place else term[1:]).split("/")
    ends = ["/".join(parts[at:]) for at in {0, *range(max(0, len(parts) - _TAILS_MAX), len(parts))}]
    if place and place["scheme"]:
        ends.append(parts[0])
    named = (f"={end}" for end in dict.fromkeys(ends) if f"={end}" != term)
    return tuple(end for end in named if end in _token_terms(end[1:]))


def identifiers(text: str) -> frozenset[str]:
    """Return the exact identifiers of a text (terms that start with ``=``)."""
    return frozenset(t for t in terms(text) if t.startswith("="))


def content_terms(text: str) -> frozenset[str]:
    """Return the distinct terms that carry a topic: words, identifiers and pairs; single CJK characters only
    alone.
    """
    found = terms(text)
    telling = {t for t in found if len(t) > 1 or t.isascii()}
    return frozenset(telling or found)


def is_unspaced(term: str) -> bool:
    """Whether a term comes from a script without spaces."""
    return _UNSPACED_RUN.fullmatch(term) is not None


def is_blank(text: str) -> bool:
    """Whether there is nothing to search for: empty, white space, punctuation or emoji only."""
    return _ANY_WORD.search(unicodedata.normalize("NFKC", text)) is None
