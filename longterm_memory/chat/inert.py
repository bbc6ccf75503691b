"""Other people's text inside a line of ours, and text as it is compared for structure."""

from __future__ import annotations

import json
import re
import unicodedata

from ..injection.fences import neutralize
from ..text.controls import printable

__all__ = ["inert_json", "inert_lines", "one_line", "shown", "visible"]

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


_NO_LETTERS = "\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
_UNSAFE = re.compile(f"[<>{_NO_LETTERS}\U000e0000-\U000e007f]")
_MARKUP = re.compile(r"""\\.|[*`~&]|\](?=\()|(?<!\w)_|_(?!\w)""")
"""What a chat that renders Markdown takes out of JSON, and the escapes of JSON, some of which it takes for its own."""


def inert_json(text: str) -> str:
    r"""Return JSON for a chat: what hides, reorders or closes something in it, or is markup, becomes ``\u`` escapes,
    so that it still says the very same to whoever reads it as JSON, also when it is copied as Markdown shows it.
    """
    plain = _MARKUP.sub(_escaped, text)
    return _UNSAFE.sub(lambda m: json.dumps(m[0])[1:-1] if m[0] > "\x7f" else f"\\u{ord(m[0]):04x}", plain)


def _escaped(markup: re.Match[str]) -> str:
    found = markup[0]
    if found in ('\\"', "\\\\") or len(found) == 1:
        return f"\\u{ord(found[-1]):04x}"
    return found


def inert_lines(text: str) -> str:
    """Return a text of ours with several lines, such as Markdown, so that nothing that people wrote in it hides,
    reorders or closes something.
    """
    shown = {"<": "‹", ">": "›"}
    return _UNSAFE.sub(lambda m: shown.get(m[0], ""), text)


def shown(value: object) -> str:
    """Return somebody's input for repeating it in an error sentence: one short line in quotes."""
    return f'"{one_line(str(value), _SHOWN)}"'
