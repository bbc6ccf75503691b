"""How large an answer may be, and how lists of memories are made to fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar

__all__ = ["ANSWER_BYTES", "LIST_BYTES", "Listed", "fitting", "size_of"]

ANSWER_BYTES = 1_000_000
"""Longest answer in bytes, as LangBot sends it: JSON in ASCII."""
LIST_BYTES = 700_000
"""Share of it for the memories of a list; ids, names and what they can be narrowed by take the rest."""
_LENGTHS = (4_000, 2_000, 1_000, 500, 200)
"""To how many characters the texts of a list are cut, one after the other until it fits."""


def size_of(found: Any) -> int:
    """Return the size of an answer in bytes."""
    return len(json.dumps(found))


class Listed(Protocol):
    """A memory in a list."""

    @property
    def size(self) -> int:
        """About how many bytes it takes."""

    def shortened(self, length: int) -> Self:
        """Return it with at most so many characters of text."""


T = TypeVar("T", bound=Listed)


def fitting(episodes: Sequence[T], most: int = LIST_BYTES) -> list[T]:
    """Return memories for a list: whole as long as they all fit, else all of them cut to the same length."""
    shown = list(episodes)
    for length in _LENGTHS:
        if sum(e.size for e in shown) <= most:
            break
        shown = [e.shortened(length) for e in episodes]
    return shown
