"""Text as the terms that lexical recall compares.

Latin words are folded, lightly stemmed and freed of function words; CJK, kana, Hangul and Thai runs become single
characters and pairs (pairs beat a segmenter for Chinese and need no dependency, see docs/how-recall-works.md);
identifiers (``PROJ-123``, ``src/store.ts``, ``getUserById``, ``v1.2.10``) stay whole, marked with ``=``, besides their parts.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["content_terms", "identifiers", "is_blank", "terms"]

_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<ident>[^\W{_UNSPACED}]+(?:[-./:#@+]+[^\W{_UNSPACED}]+)+)"
    rf"|(?P<word>[^\W{_UNSPACED}]+)"
)
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CAMEL_WORD = re.compile(r"[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+")
_ANY_WORD = re.compile(r"\w")

_STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her him his how i if in into is it"
    " its just me my no not of on or our out she should so some than that the their them then there they this to too up"
    " us very was we were what when where which who whom whose why will with would you your about after again am any"
    " because being both down during each few further here more most off once only other over own same s t ll re ve d m"
    " don doesn didn isn wasn aren won also got get did anything something tell know".split()
)
# Function characters of Chinese and kana particles: as single characters they carry no topic.
_STOP_CHARS = frozenset(
    "的了是在我你他她它们这那有和与就也都不吗呢吧啊呀嘛么什怎哪谁个把被让给对从到很请为以及或の は が を に で と も か".replace(
        " ", ""
    )
)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """A light English stemmer: plurals, -ing, -ed; never below three letters."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for suffix, keep in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", ""), ("s", "")):
        if word.endswith(suffix) and not (suffix == "s" and word.endswith(("ss", "us", "is"))):
            stem = word[: -len(suffix)] + keep
            if len(stem) < 3 or not re.search(r"[aeiouy]", stem):
                return word
            if suffix in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            return stem.rstrip("e") if len(stem) > 4 else stem
    return word.rstrip("e") if len(word) > 4 else word


def _run_terms(run: str) -> list[str]:
    singles = [ch for ch in run if ch not in _STOP_CHARS] if len(run) > 1 else [run]
    return singles + [run[i : i + 2] for i in range(len(run) - 1)]


def _identifier_terms(token: str) -> list[str]:
    folded = token.casefold()
    parts = [p for p in re.split(r"[-./:#@+_]+", folded) if p]
    return [f"={folded}", *(_stem(p) for p in parts if p not in _STOP and not p.isdigit())]


def _word_terms(token: str) -> list[str]:
    if _CAMEL_WORD.fullmatch(token):
        parts = [p.casefold() for p in _CAMEL.findall(token)]
        return [f"={token.casefold()}", *(_stem(p) for p in parts if p not in _STOP and not p.isdigit())]
    folded = token.casefold()
    if any(ch.isdigit() for ch in folded) and not folded.isdigit():
        return [f"={folded}"]
    return [] if folded in _STOP else [_stem(folded)]


def _is_identifier(token: str) -> bool:
    """``PROJ-123`` and ``src/store.ts``, not ``mother-in-law`` or ``and/or``: a digit, a dot or a path inside."""
    return any(ch.isdigit() for ch in token) or any(ch in token for ch in "./:#@")


def terms(text: str) -> list[str]:
    """Return the terms of a text, with repeats, in order of appearance."""
    found: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        kind, token = match.lastgroup, match.group()
        if kind == "run":
            found += _run_terms(token)
        elif kind == "ident" and _is_identifier(token):
            found += _identifier_terms(token)
        elif kind == "ident":
            found += [t for part in re.split(r"[-./:#@+]+", token) for t in _word_terms(part)]
        else:
            found += _word_terms(token)
    return found


def identifiers(text: str) -> frozenset[str]:
    """Return the exact identifiers of a text (terms that start with ``=``)."""
    return frozenset(t for t in terms(text) if t.startswith("="))


def content_terms(text: str) -> frozenset[str]:
    """Return the distinct terms that carry a topic: words, identifiers and pairs; single CJK characters only alone."""
    found = terms(text)
    telling = {t for t in found if len(t) > 1 or t.isascii()}
    return frozenset(telling or found)


def is_blank(text: str) -> bool:
    """Whether there is nothing to search for: empty, white space, punctuation or emoji only."""
    return _ANY_WORD.search(unicodedata.normalize("NFKC", text)) is None
