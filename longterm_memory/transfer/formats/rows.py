"""What a reader of a file hands on: rows as they stand in it, none of them judged yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...drafts import TAGS_CHARS_MAX, TAGS_MAX
from ...errors import LongTermMemoryError

__all__ = ["Parsed", "RawRow", "RowFormat", "labelled", "listed"]

_LABEL_MAX = 80
"""Longest value of a foreign field, in characters, that becomes a tag; a longer one is a text of its own."""


class RawRow(NamedTuple):
    """One row of a file.

    Attributes:
        line: its line in a file that is read by lines, else its number, from 1.
        value: what stands there, in our field names if its format was recognized.
        problem: why it cannot be used, when the reader could tell.
        left_out: names of the fields that say something for which a memory has no place.
    """

    line: int
    value: object
    problem: LongTermMemoryError | None = None
    left_out: tuple[str, ...] = ()


class RowFormat(NamedTuple):
    """How one product writes a memory down.

    Attributes:
        name: for the log.
        fits: whether an object looks like one of its memories.
        read: puts such an object into our field names, and names what it could not put anywhere.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], tuple[dict[str, Any], tuple[str, ...]]]


@dataclass(slots=True)
class Parsed:
    """What a file holds.

    Attributes:
        format: name of the format, for the log.
        exact: whether it is an export of ours, whose values are taken as they stand.
        episodes: rows that are episodes, or nothing that is known.
        profiles: rows that are profiles.
        passed_over: lines that hold something else, a profile in a Markdown export for instance.
        left_out: names of lists beside the memories, with how much is in them, that are nothing known here.
    """

    format: str = "plain"
    exact: bool = False
    episodes: list[RawRow] = field(default_factory=list)
    profiles: list[RawRow] = field(default_factory=list)
    passed_over: list[RawRow] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def listed(*values: object) -> list[Any]:
    """Return values as one list: lists are joined, what is not there is left out."""
    found: list[Any] = []
    for value in values:
        found += value if isinstance(value, list) else [] if value is None else [value]
    return found


def labelled(
    fields: Iterable[tuple[str, object]], tags: list[Any], inside: str = ""
) -> tuple[list[Any], list[str]]:
    """Put fields that a memory does not have into its tags, as ``name:value``, as far as they are short and fit.

    Args:
        fields: names and values; what is null, blank, empty or false says nothing.
        tags: the tags that the memory has anyway.
        inside: what the fields stand in, for naming the ones that are left out, ``"metadata."`` for instance.

    Returns:
        All tags, and the names of the fields that found no room there.
    """
    found, left_out = list(tags), []
    used = sum(len(str(tag)) for tag in found)
    for name, value in fields:
        if value is None or value is False or value in ("", [], {}):
            continue
        labels = [_label(name, item) for item in (value if isinstance(value, list) else [value])]
        size = sum(map(len, labels))
        if all(labels) and len(found) + len(labels) <= TAGS_MAX and used + size <= TAGS_CHARS_MAX:
            found += labels
            used += size
        else:
            left_out.append(f"{inside}{name}")
    return found, left_out


def _label(name: str, value: object) -> str:
    """Return a value with its name, ``""`` for one that is no label."""
    if not isinstance(value, (str, int, float)) or "\n" in str(value):
        return ""
    text = str(value).strip() if not isinstance(value, bool) else str(value).lower()
    return f"{name}:{text}" if text and len(name) + len(text) < _LABEL_MAX else ""
