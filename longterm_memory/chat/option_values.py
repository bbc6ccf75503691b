"""Reading the value of one ``!memory`` option. Every failure is an error; none becomes "not given"."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from ..errors import BadArgument
from ..models import KEPT_STATUSES, Status
from ..text.times import parse_bound
from .inert import shown
from .statuses import STATUS_WORDS
from .tokens import Kind, Token, folded, tokenize
from .verbs import OPTIONS, Option, OptionKind, Verb

__all__ = ["has_no_clock", "is_clock", "is_option", "page_number", "raw_value", "read_value"]

_COMMAS = re.compile("[,\uff0c\u3001]")
_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?(z|utc|[+-]\d\d:?\d\d)?")
_DATE = re.compile(r"[^\s:tT]+")
_BLANKS = "\u2800\u115f\u1160"
"""Letters, as Unicode sees it, that show nothing: the blanks of Braille and Hangul (NFKC forms)."""


def is_option(token: Token) -> bool:
    """Whether a token is an option; with one hyphen only (``-tag``), if there is one of that name."""
    return token.kind is Kind.OPTION or (token.kind is Kind.PERHAPS_OPTION and token.name in OPTIONS)


def is_clock(token: Token) -> bool:
    """Whether a word is a time of day: ``--before 2026-05-01 10:00`` has its value in two words."""
    return token.kind is Kind.WORD and not token.quoted and _CLOCK.fullmatch(folded(token.value)) is not None


def has_no_clock(text: str) -> bool:
    """Whether the text of a time is a date alone."""
    return _DATE.fullmatch(folded(text)) is not None


def raw_value(option: Option, token: Token | None, line: str) -> str:
    """Return the text of an option's value, ``token`` being what carries it.

    Raises:
        BadArgument: there is none, it is blank, its quote stays open, or it looks like another option.
    """
    label = f"--{option.name}"
    if token is not None and not token.quoted and _looks_like_option(token):
        given = shown(token.value if token.inline else line[token.start : token.end])
        raise BadArgument("option_value_option", option=label, value=given)
    if token is None or _is_nothing(token):
        raise BadArgument("option_value_missing", option=label, example=f"{label} {option.example}")
    if token.unclosed:
        raise BadArgument("option_quote_open", option=label)
    return token.value


def _is_nothing(token: Token) -> bool:
    content = folded(token.value).strip(_BLANKS)
    return not content or (content == "=" and not token.quoted)


def _looks_like_option(token: Token) -> bool:
    if token.inline:  # --tag=--status
        inner = next(tokenize(token.value), None)
        return inner is not None and not inner.inline and _looks_like_option(inner)
    return token.kind in (Kind.END, Kind.DASH) or is_option(token)


def read_value(option: Option, text: str, *, quoted: bool, verb: Verb) -> object:
    """Return the value of an option as its kind wants it.

    Raises:
        BadArgument: it cannot be used.
    """
    label = f"--{option.name}"
    if option.kind is OptionKind.PAGE:
        return page_number(text, verb)
    if option.kind is OptionKind.PART:
        if not (number := _number(text)):
            raise BadArgument("option_part", option=label, value=shown(text))
        return number
    if option.kind is OptionKind.STATUS:
        return _statuses(text, label, verb)
    if option.kind is OptionKind.IMPORTANCE:
        return _importance(text, label)
    if option.kind is OptionKind.TIME:
        return _time(text, option.name, verb)
    if option.name == "source":
        return folded(text)
    return text.strip() if quoted else _plain_number(text)


def page_number(word: str, verb: Verb) -> int:
    """Return a page number, 1 to 999999.

    Raises:
        BadArgument: ``page_number``.
    """
    number = _number(word)
    if not number:
        raise BadArgument("page_number", verb=verb.value, value=shown(word))
    return number


def _number(word: str) -> int:
    """Return a whole number from 1 to 999999, 0 for anything else."""
    digits = folded(word)
    return int(digits) if re.fullmatch("[0-9]{1,6}", digits) else 0


def _plain_number(word: str) -> str:
    """Return full-width digits as plain ones (an input method's doing), anything else as it was typed."""
    plain = unicodedata.normalize("NFKC", word)
    return plain if plain.isascii() and plain.isdigit() else word


def _statuses(value: str, label: str, verb: Verb) -> frozenset[Status]:
    words = [folded(word) for word in _COMMAS.split(value)]
    if words == ["all"] and verb is not Verb.DELETE:
        return KEPT_STATUSES
    if not all(word in STATUS_WORDS for word in words):
        raise BadArgument("option_status", option=label, value=shown(value))
    return frozenset(STATUS_WORDS[word] for word in words)


def _importance(value: str, label: str) -> int:
    digits = folded(value)
    if digits not in {"1", "2", "3", "4", "5"}:
        raise BadArgument("option_importance", option=label, value=shown(value))
    return int(digits)


def _time(value: str, name: str, verb: Verb) -> datetime:
    # A bare date covers its whole day, so "--before" reaches its end. Except where it is about deleting: the
    # day that is named is then kept, because one day too few can be repaired.
    end = name == "before" and verb is not Verb.DELETE
    try:
        return parse_bound(value, parameter=f"--{name}", end=end)
    except BadArgument as exc:
        raise BadArgument("expected_time", parameter=f"--{name}") from exc
