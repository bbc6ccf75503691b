r"""Reading one value of a tool call, whatever shape a model gave it.

Models send ``"3"`` for 3, ``"[\"a\"]"`` for a list, ``"null"`` for nothing, ``{"text": "hi"}`` for a text.
What is clear is taken as meant. What is not raises a :class:`BadArgument` that names the parameter and what
is expected.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from ..errors import BadArgument
from ..models import KEPT_STATUSES, Status
from ..scope import clean_id
from ..text.fold import fold, well_formed
from .statuses import STATUS_NAMES, STATUS_WORDS

__all__ = [
    "absent",
    "choice",
    "count",
    "expected_choice",
    "importance",
    "number",
    "person",
    "statuses",
    "tags",
    "text",
    "texts",
]

Word = TypeVar("Word", bound=str)

_NOTHING = {"", "null", "none", "undefined", "nil"}
_TEXT_KEYS = ("text", "content", "value")
_ALL = {"all", "any", "*", "全部", "所有"}
_DEEPEST = 4
_LONGEST_NUMBER = 40
_IMPORTANCE = {
    1: ("low", "lowest", "minor", "trivial", "低", "最低", "不重要"),
    2: ("normal", "default", "regular", "一般", "普通", "正常"),
    3: ("medium", "mid", "moderate", "middle", "中", "中等"),
    4: ("high", "important", "major", "高", "重要", "较高"),
    5: (
        "critical",
        "highest",
        "very high",
        "urgent",
        "max",
        "maximum",
        "最高",
        "极高",
        "关键",
        "紧急",
        "非常重要",
    ),
}
_IMPORTANCE_WORDS = {word: level for level, words in _IMPORTANCE.items() for word in words}
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})(e[+-]?\d{1,3})?")
_SEPARATORS = re.compile("[,\uff0c\u3001;\uff1b\n]")


def absent(value: object) -> bool:
    """Whether a value means "not given": null, blank, or the word null itself."""
    return value is None or (isinstance(value, str) and fold(value) in _NOTHING)


def text(value: object, parameter: str) -> str:
    """Read a text; returned as it stands, ``""`` for nothing.

    Accepts a text, a number, an object with a ``text`` (``content``, ``value``) and lists of these (joined by
    lines).

    Raises:
        BadArgument: ``expected_text``.
    """
    return "\n".join(_texts(value, parameter, 0))


def texts(value: object, parameter: str) -> tuple[str, ...]:
    """Read one or several texts: what :func:`text` accepts, each item of a list on its own.

    Raises:
        BadArgument: ``expected_text``.
    """
    if isinstance(value, str) and value.strip().startswith("["):
        parsed = _json(value)
        value = parsed if isinstance(parsed, list) else value
    return tuple(_texts(value, parameter, 0))


def _texts(value: object, parameter: str, depth: int) -> list[str]:
    if absent(value):
        return []
    if isinstance(value, str):
        return [well_formed(value)]
    if (plain := _number_text(value)) is not None:
        return [plain]
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return [item for part in value for item in _texts(part, parameter, depth + 1)]
    if depth < _DEEPEST and isinstance(value, Mapping):
        for key in _TEXT_KEYS:
            if key in value:
                return _texts(value[key], parameter, depth + 1)
    raise BadArgument("expected_text", parameter=parameter)


def _number_text(value: object) -> str | None:
    found = number(value) if isinstance(value, (int, float)) else None
    if found is None:
        return None
    return str(int(found)) if found.is_integer() and abs(found) < 1e15 else str(value)[:_LONGEST_NUMBER]


def tags(value: object, parameter: str = "tags") -> tuple[str, ...]:
    """Read labels: a list, a JSON list as text, a text with commas (of any script), or a numbered object.

    An item of a real list may hold commas. Blank ones and repetitions (whatever case and width) are left out.

    Raises:
        BadArgument: ``expected_tags``.
    """
    unique: dict[str, str] = {}
    for tag in _tags(value, parameter, 0):
        tag = " ".join(well_formed(tag).split())
        if not absent(tag):
            unique.setdefault(fold(tag), tag)
    return tuple(unique.values())


def _tags(value: object, parameter: str, depth: int) -> list[str]:
    if absent(value):
        return []
    if isinstance(value, str):
        return _tags_of_text(value, parameter, depth)
    if (plain := _number_text(value)) is not None:
        return [plain]
    if isinstance(value, Mapping):
        keys = list(value)
        if keys == ["tags"] or keys == ["tag"] or all(isinstance(k, int) or str(k).isdecimal() for k in keys):
            value = list(value.values())
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        # Inside a list nothing is split: a label may hold a comma.
        return [
            tag
            for item in value
            for tag in ([item] if isinstance(item, str) else _tags(item, parameter, depth + 1))
        ]
    raise BadArgument("expected_tags", parameter=parameter)


def _tags_of_text(value: str, parameter: str, depth: int) -> list[str]:
    bare = value.strip()
    if bare[:1] in "[{" and depth < _DEEPEST:
        parsed = _json(bare)
        if parsed is not None:
            return _tags(parsed, parameter, depth + 1)
        bare = bare.strip("[]")  # a Python list as text: ['a', 'b']
        return [part.strip().strip("'\"") for part in _SEPARATORS.split(bare)]
    return _SEPARATORS.split(bare)


def _json(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def number(value: object) -> float | None:
    """Read a finite number, also from a text of any width; ``None`` when it is none (booleans are none)."""
    if isinstance(value, str):
        folded = fold(value)
        value = float(folded) if _NUMBER.fullmatch(folded) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:  # an integer beyond any use
        return None
    return found if math.isfinite(found) else None


def importance(value: object, parameter: str, *, clamp: bool) -> tuple[int | None, bool]:
    """Read an importance of 1..5: a number, a fraction of 1 (scaled), ``"4/5"``, a word (English, Chinese).

    Args:
        value: what was sent.
        parameter: its name, for the sentence.
        clamp: whether a number outside the range is taken as its nearest end, instead of being refused.

    Returns:
        The importance, ``None`` when none was given; and whether it was moved into the range.

    Raises:
        BadArgument: ``expected_importance``.
    """
    value = _only(value)
    if absent(value):
        return None, False
    if isinstance(value, str):
        word = fold(value).removesuffix("/5").strip()
        if word in _IMPORTANCE_WORDS:
            return _IMPORTANCE_WORDS[word], False
        value = word
    found = number(value)
    if found is None:
        raise BadArgument("expected_importance", parameter=parameter)
    if 0 < found < 1:
        return 1 + math.floor(found * 4 + 0.5), False
    level = min(max(math.floor(found + 0.5), 1), 5)
    moved = not 0.5 <= found < 5.5
    if moved and not clamp:
        raise BadArgument("expected_importance", parameter=parameter)
    return level, moved


def count(value: object, parameter: str, *, default: int, highest: int) -> int:
    """Read how many results are wanted, 1..``highest``.

    More means ``highest``; nothing, 0 and less mean ``default`` (models send 0 and -1 for "no limit of
    mine").

    Raises:
        BadArgument: ``expected_count``.
    """
    value = _only(value)
    if absent(value):
        return default
    if isinstance(value, str) and fold(value) in _ALL | {"max", "maximum"}:
        return highest
    found = number(value)
    if found is None:
        raise BadArgument("expected_count", parameter=parameter, low=1, high=highest)
    return default if found < 1 else math.floor(min(found, highest))


def person(value: object, parameter: str) -> str:
    """Read a speaker id or name; ``""`` when blank: a blank filter is no filter.

    Raises:
        BadArgument: ``expected_text`` for anything that is no single text or number; it never becomes "no
            filter".
    """
    value = _only(value)
    if absent(value):
        return ""
    if isinstance(value, str):
        value = well_formed(value).strip()
    elif isinstance(value, float):
        # Beyond 2**53 a float no longer says which integer was meant.
        value = int(value) if value.is_integer() and abs(value) < 2**53 else None
    elif isinstance(value, int) and abs(value) >= 10**_LONGEST_NUMBER:
        value = None
    found = clean_id(value)
    if not found:
        raise BadArgument("expected_text", parameter=parameter)
    return found


def statuses(value: object, parameter: str) -> frozenset[Status]:
    """Read one or several statuses; none given means active ones only, ``all`` all that are kept.

    Raises:
        BadArgument: ``expected_choice``.
    """
    words = [fold(word) for word in tags(value, parameter)]
    if any(word in _ALL for word in words):
        return KEPT_STATUSES
    if not all(word in STATUS_WORDS for word in words):
        raise expected_choice(parameter, STATUS_NAMES)
    return frozenset(STATUS_WORDS[word] for word in words) or frozenset({Status.ACTIVE})


def choice(value: object, parameter: str, meanings: Mapping[str, Word], names: Iterable[str]) -> Word | None:
    """Read one word of a closed list; ``None`` when none was given.

    Args:
        value: what was sent.
        parameter: its name, for the sentence.
        meanings: folded word → what it means; synonyms included.
        names: the words that the sentence lists.

    Raises:
        BadArgument: ``expected_choice``.
    """
    value = _only(value)
    if absent(value):
        return None
    word = fold(value) if isinstance(value, str) else None
    if word is None or word not in meanings:
        raise expected_choice(parameter, names)
    return meanings[word]


def expected_choice(parameter: str, names: Iterable[str]) -> BadArgument:
    """Return the error that lists what ``parameter`` can be."""
    return BadArgument("expected_choice", parameter=parameter, choices=", ".join(names))


def _only(value: object) -> object:
    """Return the one item of a list that has just one; anything else as it is."""
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
