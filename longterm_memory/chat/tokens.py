"""Splitting a typed line into words and options, without losing where each stood in the line.

The host hands commands over as one raw text. Width folding (NFKC) is used to *recognise* structure only:
dashes, option names, spaces. What a person wrote as content is cut out of the raw text by position, byte for
byte.

Phones and chat clients turn ``--`` into an em dash and straight quotes into curly ones, Chinese input methods
type full-width characters; all of these mean the same here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from .inert import visible

__all__ = ["Kind", "Token", "folded", "tokenize", "unquoted"]


class Kind(Enum):
    """What a token is, as far as its shape tells."""

    WORD = 1
    OPTION = 2
    """``--tag``, ``--tag=work``, ``—tag``."""
    PERHAPS_OPTION = 3
    """``-tag``: an option if there is one of that name, otherwise a word."""
    END = 4
    """``--``: everything after it is words."""
    DASH = 5
    """``—``: what a phone makes of ``--``, or simply a dash in a sentence."""


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of the line.

    Attributes:
        kind: see :class:`Kind`.
        start: where it starts in the raw text.
        end: where it ends in the raw text, exclusive.
        value: a word as it stands, without the quotes around it; of an option what stands after ``=``.
        name: folded name of an option (``include-superseded``), else ``""``.
        inline: whether the option carries its value (``--tag=work``).
        quoted: whether the value stood in quotes.
        unclosed: whether the value starts with a quote that never closes.
    """

    kind: Kind
    start: int
    end: int
    value: str = ""
    name: str = ""
    inline: bool = False
    quoted: bool = False
    unclosed: bool = False


_HYPHENS = "\\-\u2010\u2011\u2212\ufe63\uff0d"
_DASHES = "\u2012\u2013\u2014\u2015\u2500\u2501\u2e3a\u2e3b\ufe58"
_INVISIBLE = "[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*"
_NAME = "[A-Za-z\uff21-\uff3a\uff41-\uff5a][A-Za-z\uff21-\uff3a\uff41-\uff5a_\uff3f" + _HYPHENS + "]*"
_OPTION = re.compile(
    rf"{_INVISIBLE}(?P<dashes>[{_HYPHENS}{_DASHES}]+)(?P<name>{_NAME})(?P<equals>[=:\uff1d\uff1a\ufe66])?(?=(?P<more>\S)?)"
)
_UNNAMED = re.compile(rf"{_INVISIBLE}[{_HYPHENS}]{{2,}}[^\s{_HYPHENS}{_DASHES}]")
_TWO_HYPHENS = re.compile(rf"{_INVISIBLE}[{_HYPHENS}]{{2}}")
_ONE_DASH = re.compile(rf"[{_DASHES}]{{1,2}}")
_BLACK = re.compile(r"\S+")

_DOUBLE = '"\u201c\u201d\u201e\u201f\uff02'
_SINGLE = "'\u2018\u2019\u201a\u201b\uff07"
_CLOSERS = {ch: _DOUBLE for ch in _DOUBLE} | {ch: _SINGLE for ch in _SINGLE} | {"「": "」", "『": "』"}
_QUOTES = {opener: re.compile(rf"[{closers}](?=\s|\Z)") for opener, closers in _CLOSERS.items()}
"""Opening quote → what closes it; curly quotes come in any direction from a phone."""


def folded(text: str) -> str:
    """Return ``text`` as it is compared for structure: one width, one case, nothing invisible."""
    return visible(unicodedata.normalize("NFKC", text)).casefold().strip()


def _closing(text: str, start: int, open_ends: set[str]) -> int:
    """Return where the quote opened at ``start`` closes, ``-1`` when it does not.

    A quote closes at its counterpart before white space or the end: ``"don't"``, ``"5"-screw"`` stay whole.

    Args:
        text: the line.
        start: position of the opening quote.
        open_ends: quotes that close nowhere in the rest of the line; looked at and added to, so that a line
            full of them takes one search for each kind.
    """
    quote = text[start]
    match = _QUOTES[quote].search(text, start + 1) if quote not in open_ends else None
    if match is None:
        open_ends.add(quote)
        return -1
    return match.start()


def unquoted(text: str) -> str:
    """Return ``text`` without the quotes around it when all of it is one quoted piece, else as it is."""
    if text and text[0] in _QUOTES and _closing(text, 0, set()) == len(text) - 1 > 0:
        return text[1:-1]
    return text


def _piece(text: str, start: int, open_ends: set[str]) -> tuple[int, str, bool, bool]:
    """Read one value at ``start``: where it ends, its content, whether quoted, whether a quote stays open."""
    opens = start < len(text) and text[start] in _QUOTES
    close = _closing(text, start, open_ends) if opens else -1
    if close > 0:
        return close + 1, text[start + 1 : close], True, False
    black = _BLACK.match(text, start)
    end = black.end() if black else start
    return end, text[start:end], False, opens


def _token(text: str, start: int, open_ends: set[str]) -> Token:
    match = _OPTION.match(text, start)
    if match and (match["equals"] or not match["more"]):
        at, value, quoted, unclosed = match.end(), "", False, False
        if match["equals"]:
            at, value, quoted, unclosed = _piece(text, at, open_ends)
        dashes = match["dashes"]
        sure = len(dashes) > 1 or re.match(f"[{_DASHES}]", dashes) is not None
        name = re.sub(f"[_{_HYPHENS}]", "-", unicodedata.normalize("NFKC", match["name"])).casefold()
        kind = Kind.OPTION if sure else Kind.PERHAPS_OPTION
        return Token(kind, start, at, value, name, bool(match["equals"]), quoted, unclosed)
    end, value, quoted, unclosed = _piece(text, start, open_ends)
    kind = Kind.WORD
    if not quoted:
        if _UNNAMED.match(value):
            return Token(Kind.OPTION, start, end, "", folded(value).lstrip("-"))
        if _TWO_HYPHENS.fullmatch(value):
            kind = Kind.END
        elif _ONE_DASH.fullmatch(value):
            kind = Kind.DASH
    return Token(kind, start, end, value, quoted=quoted, unclosed=unclosed)


def tokenize(text: str) -> Iterator[Token]:
    """Split ``text``, lazily. Never raises; a quote that stays open is an ordinary character."""
    start, open_ends = 0, set[str]()
    while (match := _BLACK.search(text, start)) is not None:
        token = _token(text, match.start(), open_ends)
        yield token
        start = token.end
