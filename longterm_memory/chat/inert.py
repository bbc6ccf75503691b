"""Other people's text inside a line of ours, and text as it is compared for structure."""

from __future__ import annotations

import unicodedata

from ..injection.fences import neutralize
from ..text.controls import printable

__all__ = ["one_line", "shown", "visible"]

_SHOWN = 40
"""Longest piece of somebody's input that an error sentence repeats, in characters."""


def visible(text: str) -> str:
    """Return ``text`` without what cannot be seen: direction marks, joiners, zero-width spaces."""
    return "".join(ch for ch in text if unicodedata.category(ch) not in {"Cf", "Cs"})


def one_line(text: str, limit: int) -> str:
    """Return ``text`` as one harmless line of at most ``limit`` characters, cut with ``…``.

    Nothing that somebody wrote can start a line of its own, reorder or hide what stands beside it, or close
    the fence of a prompt that the line ends up in.
    """
    line = " ".join(neutralize(printable(text, lines=False)).split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"


def shown(value: object) -> str:
    """Return somebody's input for repeating it in an error sentence: one short line in quotes."""
    return f'"{one_line(str(value), _SHOWN)}"'
