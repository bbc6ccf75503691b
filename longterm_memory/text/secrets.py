"""Finding secrets in text, so that none gets stored or logged.

Two kinds of rules, each a row of a table in :mod:`.secret_rules`:

- **Shapes** need no context: a PEM header, the prefixes that services give their keys (``sk-…``, ``ghp_…``,
  ``AKIA…``), a JWT, ``Bearer …``, credentials in a URL.
- **Statements** name a secret and give its value: "password: hunter2", "the API key is …", "验证码 482913".
  The value has to look like one. After a colon or an equals sign an ordinary word will do ("password:
  sunshine"), after "is" only at the end of its clause ("my password is sunshine", not "the password is
  sunshine yellow"), and right behind the label only a mix of letters and digits ("wifi password hunter2"). A
  Chinese word as the value is never a finding: 阿明的口令是向日葵 is a sentence about Aming.

Left alone on purpose: talk about secrets ("the password was changed", "we have no API key in the build"),
placeholders (``<your-key>``, ``****``), and numbers that nobody calls a code: hashes, order numbers, phone
numbers, dates, versions. Full-width letters count as plain ones and invisible characters do not count. It is
a net for accidents, not a vault: a secret that nothing around it gives away (a bare random string) passes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from .secret_rules import KINDS, PLACEHOLDER, RULES

__all__ = ["KINDS", "find_secret", "redact"]


def find_secret(text: str) -> str | None:
    """Return the kind of the first secret in ``text`` (one of :data:`KINDS`), ``None`` when there is none."""
    found = min(_spans(text), default=None)
    return found[2] if found else None


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` with every secret replaced by ``[<kind> removed]``, and the kinds in order of
    appearance.

    Text without secrets comes back as it is. What comes back holds nothing that :func:`find_secret` finds.
    """
    out: list[str] = []
    kinds: list[str] = []
    end = 0
    for start, stop, kind in sorted(_spans(text), key=lambda span: (span[0], -span[1])):
        if start >= end:
            out += text[end:start], f"[{kind} removed]"
            kinds.append(kind)
        end = max(end, stop)
    return "".join(out) + text[end:], tuple(kinds)


def _spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of every finding, in positions of ``text``."""
    plain, where = _plain(text)
    for rule in RULES:
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
