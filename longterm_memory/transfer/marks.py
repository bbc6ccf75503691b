r"""The marks of our Markdown, which text from people cannot make.

People's text is escaped the Markdown way: ``\``, ``<`` and ``[`` wherever they stand, and whatever would begin a
heading, a list, a quote or a block at the start of a line. So an unescaped ``[`` at the start of a line is ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..text.controls import printable

__all__ = ["BREAK", "SEPARATOR", "escaped", "fields", "item_lines", "joined", "pair", "unescaped"]

SEPARATOR = " · "
"""Between the fields of a line of ours."""
BREAK = "\\"
"""At the end of a line: the line break is meant."""

_EVERYWHERE = re.compile(r"[\\<\[]")
_IN_FIELDS = re.compile(r"[\\<\[\]·,()#]")
_AT_START = re.compile(r"^(\s*)([#>*+|`~=_-]|\d{1,9}(?=[.)]))")
_ESCAPED = re.compile(r"\\([^\w\s])")


def escaped(text: str) -> str:
    """Return one line of somebody's text so that it is nothing but text."""
    plain = _EVERYWHERE.sub(r"\\\g<0>", text)
    start = _AT_START.match(plain)
    if start is None:
        return plain
    # "1." becomes "1\.": a backslash before a digit would stand for itself.
    at = start.end() if start[2].isdigit() else start.start(2)
    return f"{plain[:at]}\\{plain[at:]}"


def unescaped(text: str) -> str:
    """Return the text that :func:`escaped` and :func:`joined` made safe."""
    return _ESCAPED.sub(r"\1", text)


def item_lines(text: str) -> Iterator[str]:
    """Yield the lines of a list item that holds somebody's text: every line break stays one."""
    lines = printable(text).split("\n")
    for number, line in enumerate(lines):
        more = number + 1 < len(lines) and bool(line.strip() and lines[number + 1].strip())
        if line.strip():
            yield f"{'  ' if number else '- '}{escaped(line.strip())}{BREAK if more else ''}"
        else:
            yield ""


def joined(values: Sequence[str]) -> str:
    """Return a line of ours in brackets; each value is one field, made by :func:`pair` or plain."""
    return f"[{SEPARATOR.join(values)}]"


def pair(name: str, identity: str = "") -> str:
    """Return somebody's name, and an id in parentheses, as a field of a line of ours."""
    shown = [
        _IN_FIELDS.sub(r"\\\g<0>", " ".join(printable(v, lines=False).split())) for v in (name, identity)
    ]
    return f"{shown[0]} ({shown[1]})".strip() if identity else shown[0]


def fields(line: str, separator: str = "·") -> list[str]:
    """Return the fields of a line of ours without its brackets, still escaped."""
    found, field, at = [], "", 0
    while at < len(line):
        step = 2 if line[at] == "\\" else 1
        if step == 1 and line[at] == separator:
            found.append(field.strip())
            field = ""
        else:
            field += line[at : at + step]
        at += step
    return [*found, field.strip()]
