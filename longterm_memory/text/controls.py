"""Characters that do something instead of standing for something."""

from __future__ import annotations

import re

__all__ = ["printable"]

_BREAKS = re.compile(r"\r\n|[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")
_LONE = re.compile(r"[\ud800-\udfff]")


def printable(text: str, *, lines: bool = True) -> str:
    r"""Return ``text`` without control characters.

    Every kind of line break becomes ``\n``, lone surrogates (which no storage takes) become U+FFFD, NUL,
    escape and the like go. Tabs and everything visible stay.

    Args:
        text: any text.
        lines: ``False`` makes one line of it: runs of line breaks and tabs become one space.
    """
    plain = _LONE.sub("\ufffd", _CONTROLS.sub("", _BREAKS.sub("\n", text)))
    return plain if lines else re.sub(r"[\n\t]+", " ", plain)
