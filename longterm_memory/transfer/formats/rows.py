"""What a reader of a file hands on: rows as they stand in it, none of them judged yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...errors import LongTermMemoryError

__all__ = ["Parsed", "RawRow", "RowFormat"]


class RawRow(NamedTuple):
    """One row of a file.

    Attributes:
        line: its line in a file that is read by lines, else its number, from 1.
        value: what stands there, in our field names if its format was recognized.
        problem: why it cannot be used, when the reader could tell.
    """

    line: int
    value: object
    problem: LongTermMemoryError | None = None


class RowFormat(NamedTuple):
    """How one product writes a memory down.

    Attributes:
        name: for the log.
        fits: whether an object looks like one of its memories.
        read: puts such an object into our field names.
    """

    name: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any]], dict[str, Any]]


@dataclass(slots=True)
class Parsed:
    """What a file holds.

    Attributes:
        format: name of the format, for the log.
        exact: whether it is an export of ours, whose values are taken as they stand.
        episodes: rows that are episodes, or nothing that is known.
        profiles: rows that are profiles.
        passed_over: lines that hold something else, a profile in a Markdown export for instance.
    """

    format: str = "plain"
    exact: bool = False
    episodes: list[RawRow] = field(default_factory=list)
    profiles: list[RawRow] = field(default_factory=list)
    passed_over: list[RawRow] = field(default_factory=list)
