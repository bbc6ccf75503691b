r"""Making text from people harmless inside a prompt, without making it unreadable.

Everything a person wrote stands between ``<<`` and ``>>`` in our blocks. :func:`neutralize` takes away what
could end that, open a tag, start a heading or pass for one of our own lines, and nothing else: ordinary text
comes out byte-equal.

=====================================  =============================================================
in the text                            becomes
=====================================  =============================================================
``<`` before a letter, ``/ ! ? |``     ``‹`` (also full-width and small forms): no tag, no ``<|role|>``
runs of ``<`` or of ``>``              ``‹‹``, ``››``: no fence
``#`` and a space at a line's start    ``\#``: no heading; rulers (``---``, ``===``) likewise
``current speaker:`` and our other     ``current speaker -``
line openers
``[INST]``, ``[/INST]``                ``(INST)``, ``(/INST)``
control characters, bidi controls,     nothing; line breaks of every kind become ``\n``
zero-width and tag characters
=====================================  =============================================================

``a < b``, ``->``, ``<3``, ``#tag``, joined emoji and the joiners of Persian or Hindi stay as they are.
"""

from __future__ import annotations

import re

from ..text.controls import printable

__all__ = [
    "CLOSE",
    "OPEN",
    "OPENERS",
    "fence",
    "inline",
    "label_id",
    "label_name",
    "neutralize",
]

OPEN, CLOSE = "<<", ">>"
"""The fence: two tokens in all with the GPT-4 tokenizer, and neither half can stand in neutralized text."""

OPENERS = (
    "current speaker",
    "memory policy",
    "profile of this conversation",
    "profile of the current speaker",
)
"""How our own lines begin; nobody else's text may, in front of a colon."""

_LT, _GT = "<＜﹤", ">＞﹥"
# The flags of England, Scotland and Wales are a black flag and their codes in invisible letters.
_FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f"
_INVISIBLE = re.compile(
    rf"(?P<flag>{_FLAG})"
    r"|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    r"\u3164\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    r"\U000e01f0-\U000e0fff]"
    # a joiner joins two characters of a script or an emoji that needs it; anywhere else it hides something
    rf"|(?<![^\x00-\x7f{_LT}{_GT}])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f{_LT}{_GT}\u200c\u200d])"
    # more than one variation selector on a character carries data, not a look
    r"|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_RUN = re.compile(rf"[{_LT}]{{2,}}|[{_GT}]{{2,}}")
_TAG = re.compile(rf"[{_LT}](?=[^\W\d_]|\s*[/／]|[!！?？|｜_$%\\])")
_HEADING = re.compile(rf"^(?P<lead>[ \t\u00a0\u3000{_GT}]*)(?=[#＃]{{1,6}}(?:\s|$))", re.MULTILINE)
_RULER = re.compile(
    r"^(?P<lead>[ \t]*)(?=(?:(?:- ?){3,}|(?:= ?){2,}|(?:\* ?){3,}|(?:_ ?){3,}|~{3,})[ \t]*$)", re.MULTILINE
)


def _any_width(word: str) -> str:
    """Return a pattern for a word in letters of either width."""
    return "".join(r"[\s_-]+" if ch == " " else f"[{ch}{chr(ord(ch) + 0xFEE0)}]" for ch in word)


_OURS = re.compile(rf"\b(?P<opener>{'|'.join(map(_any_width, OPENERS))})\s*[:：=＝]", re.IGNORECASE)
_INST = re.compile(r"\[(/?INST)\]", re.IGNORECASE)
_NOT_IN_NAME = re.compile(r"[^\w\s.'’·\-\u200c\u200d\ufe0f\U0001f000-\U0001faff\u2600-\u27bf]|_{2,}")
_NOT_IN_ID = re.compile(r"[\s<>＜＞﹤﹥()（）\[\]{}\"'`,，;；*#]")


def neutralize(text: str) -> str:
    """Return ``text`` so that it cannot close a fence, open a tag, start a heading or forge a line of ours.

    Ordinary text comes back byte-equal; applying it twice changes nothing more.

    Args:
        text: any text from people, several lines allowed.
    """
    plain, before = printable(text), ""
    while plain != before:  # what is left of a removed character decides about the next one
        plain, before = _INVISIBLE.sub(lambda m: m["flag"] or "", plain), plain
    plain = _RUN.sub(lambda m: ("‹" if m[0][0] in _LT else "›") * len(m[0]), plain)
    plain = _INST.sub(r"(\1)", _TAG.sub("‹", plain))
    plain = _RULER.sub(r"\g<lead>\\", _HEADING.sub(r"\g<lead>\\", plain))
    return _OURS.sub(r"\g<opener> -", plain)


def fence(text: str) -> str:
    """Return ``text`` neutralized between ``<<`` and ``>>``; lines after the first are indented."""
    body = neutralize(text).strip("\n").replace("\n", "\n  ")
    if body[:1] in _LT and body:
        body = f"‹{body[1:]}"
    if body[-1:] in _GT and body:
        body = f"{body[:-1]}›"
    return f"{OPEN}{body}{CLOSE}"


def inline(text: str, limit: int = 120) -> str:
    """Return ``text`` fenced on one line and cut to ``limit`` characters, for sentences that quote people."""
    line = " ".join(printable(text, lines=False).split())
    return fence(line if len(line) <= limit else f"{line[: limit - 1]}…")


def label_name(name: str, limit: int = 40) -> str:
    """Return a display name fit for standing outside a fence: letters, digits, emoji and ``. ' - ·`` on one
    line.

    Args:
        name: any name; may come out empty.
        limit: most characters, the cut shown by ``…``.
    """
    line = " ".join(_NOT_IN_NAME.sub(" ", neutralize(printable(name, lines=False))).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def label_id(ident: str, limit: int = 64) -> str:
    """Return a platform id fit for standing outside a fence: any space, bracket, quote or comma is ``?``."""
    line = _NOT_IN_ID.sub("?", neutralize(printable(ident, lines=False)))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
