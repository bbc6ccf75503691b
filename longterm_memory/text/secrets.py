"""Finding secrets in text, so that none gets stored or logged.

Two kinds of rules, each a row of a table:

- **Shapes** (:mod:`.secret_shapes`) need no context: a PEM header, the prefixes that services give their keys
  (``sk-…``, ``ghp_…``, ``AKIA…``), a JWT, ``Bearer …``, credentials in a URL.
- **Statements** (:mod:`.secret_rules`) name a secret and give its value: "password: hunter2", "the API key is
  …", "验证码 482913". The value has to look like one. After a colon or an equals sign an ordinary word will do
  ("password: sunshine"), after "is" only at the end of its clause ("my password is sunshine", not "the password
  is sunshine yellow"), and right behind the label only a mix of letters and digits ("wifi password hunter2"). A
  Chinese word alone is never a finding: 阿明的口令是向日葵 is a sentence about Aming.

What is stored in pieces is read in pieces: a label in one and the value in the next ("wifi password:",
"hunter2x") is a finding too (:func:`find_across`, :func:`find_labelled`).

Left alone on purpose: talk about secrets ("the password was changed", "we have no API key in the build"),
placeholders (``<your-key>``, ``****``, names and calls in source code), and numbers that nobody calls a code:
hashes, order numbers, phone numbers, dates, versions. Full-width letters count as plain ones and invisible
characters do not count. It is a net for accidents, not a vault: a secret that nothing around it gives away (a
bare random string) passes. How often it is right is measured by a test and written down in
docs/decisions/0003-secret-detection.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from .secret_rules import KINDS, LABELLED, SHAPE_RULES, STATEMENT_RULES
from .secret_values import PLACEHOLDER

__all__ = ["KINDS", "find_across", "find_labelled", "find_secret", "redact"]

_SENTENCE = re.compile(r"\S+(?:\s+\S+){3,}|(?:[^\u4e00-\u9fff]*[\u4e00-\u9fff]){5,}[\s\S]*")
"""A text of four words or five Chinese characters: more than the bare value of a secret, or its bare name."""


def find_secret(text: str) -> str | None:
    """Return the kind of the first secret in ``text`` (one of :data:`KINDS`), ``None`` when there is none."""
    found = min(_spans(text), default=None)
    return found[2] if found else None


def find_across(pieces: Iterable[str]) -> str | None:
    """Return the kind of the first secret that two neighbours give away together and neither does alone.

    One of the two has to be short, a bare name ("wifi password:") or a bare value ("hunter2x"); whole sentences
    that happen to follow each other are no pieces of one.

    Args:
        pieces: texts that are kept, and shown, one below the other.
    """
    for one, other in pairwise(pieces):
        if _SENTENCE.fullmatch(one.strip()) and _SENTENCE.fullmatch(other.strip()):
            continue
        kind = find_secret(f"{one}\n{other}")
        if kind and not find_secret(one) and not find_secret(other):
            return kind
    return None


def find_labelled(labels: Iterable[str], text: str) -> str | None:
    """Return the kind of secret that labels make of a text which is no more than a value, ``None`` if none do.

    The value may have a name of its own before it: the tag "password" with "home wifi: hunter2x".

    Args:
        labels: tags, or the key of a fact.
        text: what they are put on.
    """
    values = {text.strip(), re.split(r":\s|：", text)[-1].strip()}
    bare = [value for value in values if value and not _SENTENCE.fullmatch(value)]
    for label in labels:
        for value in bare:
            kind = find_secret(f"{label.rstrip(' :：')}: {value}")
            if kind:
                return kind
    return None


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` with every secret replaced by ``[<kind> removed]``, and the kinds in order of appearance.

    Text without secrets comes back as it is. What comes back holds nothing that :func:`find_secret` finds.
    """
    out: list[str] = []
    kinds: list[str] = []
    end = 0
    for start, stop, kind in sorted(_spans(text), key=lambda span: (span[0], -span[1])):
        if start >= end:
            out += text[end:start], f"[{kind.replace('_', ' ')} removed]"
            kinds.append(kind)
        end = max(end, stop)
    return "".join(out) + text[end:], tuple(kinds)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of every finding, in positions of ``text``."""
    plain, where = _plain(text)
    rules = (*SHAPE_RULES, *STATEMENT_RULES) if LABELLED.search(plain) else SHAPE_RULES
    for rule in rules:
        for match in rule.pattern.finditer(plain):
            group = "v" if "v" in rule.pattern.groupindex else 0
            value = match[group].rstrip(".,;:!?)，。；：！？）、")
            if value and rule.looks(value) and not PLACEHOLDER.fullmatch(value):
                start = match.start(group)
                yield where[start], where[start + len(value) - 1] + 1, rule.kind


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """Return the text as it reads (ASCII for full-width, nothing invisible) and the characters' positions."""
    if text.isascii():
        return text, range(len(text))
    kept = [i for i, ch in enumerate(text) if unicodedata.category(ch) != "Cf"]
    return "".join(_narrow(text[i]) for i in kept), kept


def _narrow(ch: str) -> str:
    return chr(ord(ch) - 0xFEE0) if "！" <= ch <= "～" else " " if ch == "\u3000" else ch
