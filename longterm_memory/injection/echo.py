"""Recalled text that comes back: what the model was shown is no news and is not stored a second time."""

from __future__ import annotations

import re

from ..errors import BadArgument
from ..ids import ALPHABET, LENGTH
from .fences import CLOSE, OPEN

__all__ = ["without_blocks"]

_RECORD = re.compile(
    rf"\d{{4}}-\d\d-\d\d\S*[ ]\*{{1,5}}[^\n]{{0,120}}?[ ][{ALPHABET}]{{{LENGTH}}}[ ]"
    rf"{re.escape(OPEN)}.*?{re.escape(CLOSE)}(?:[ ]\(first[ ]\d+[ ]of[ ]\d+[ ]characters\))?",
    re.DOTALL,
)
_OURS = re.compile(
    r"^(?:## (?:Long-term memory|Recalled memories|Memory \(data)|Past records: data,).*$", re.MULTILINE
)


def without_blocks(text: str) -> str:
    """Return ``text`` without records and headings of our own blocks.

    Raises:
        BadArgument: ``content_recalled`` when it was nothing else.
    """
    cleaned = _OURS.sub("", _RECORD.sub("", text))
    if cleaned == text:
        return text
    cleaned = "\n".join(line.rstrip() for line in cleaned.splitlines() if line.strip())
    if not any(ch.isalnum() for ch in cleaned):
        raise BadArgument("content_recalled")
    return cleaned
