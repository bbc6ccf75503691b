"""Markdown, such as a ``MEMORY.md``: each bullet is a memory, and so is each paragraph; headings are its tags.

Nested bullets and continuation lines belong to their bullet. A date in a heading, or at the start of a bullet, is
when it happened; a box before a bullet becomes the tag ``done`` or ``to do``. A single heading of the first level
is the title of the file and no tag. In our own exports the line in brackets under a bullet says the rest, and the
sections of profiles are passed over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ...chat.statuses import STATUS_WORDS
from ...errors import BadArgument
from ...ids import is_id
from ...text.fold import fold
from ...text.times import parse_moment
from ..marks import fields, unescaped
from .rows import Parsed, RawRow

__all__ = ["is_markdown", "read_markdown"]

_MARK_MAX = 10_000
"""Longest line, in characters, that is looked at for being more than text; the patterns may go over it often."""
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<text>.*?)[ \t]*#*[ \t]*")
_BULLET = re.compile(
    r"(?P<indent>[ \t]*)(?:[-*+•]|\d{1,9}[.)])(?:[ \t]+(?:\[(?P<done>[ xX])\][ \t]+)?(?P<text>.*))?"
)
_RULE = re.compile(r" {0,3}([-*_=])[ \t]*(?:\1[ \t]*){2,}")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t:|-]+\|[ \t:|-]*")
_OURS = re.compile(r"\s*\[(?P<line>(?:profile|[a-z][0-9a-z]{7}) · .*)\]\s*")
_SPEAKER = re.compile(r"(?P<name>(?:\\.|[^\\()])*?)\s*(?:\((?P<id>(?:\\.|[^\\()])+)\))?")
_IMPORTANCE = re.compile(r"([1-5])/5")
_MARKUP = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = r"(?P<name>[a-z]{3})[a-z]*\.?"
_DATES = (
    re.compile(r"(?P<iso>\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?!\d)|\d{4}年\d{1,2}月(?:\d{1,2}日)?)"),
    re.compile(rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})\b", re.IGNORECASE),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? {_MONTH},? (?P<year>\d{{4}})\b", re.IGNORECASE),
)
_LEADING = re.compile(
    r"[*_\[(`]*(\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)(?!\d)"
)


def is_markdown(text: str) -> bool:
    """Whether a text has a heading or a bullet anywhere."""
    return any(
        _BULLET.fullmatch(line) or (len(line) <= _MARK_MAX and _HEADING.fullmatch(line))
        for line in text.split("\n")
    )


@dataclass(slots=True)
class _Block:
    """A bullet or a paragraph while it is read."""

    line: int
    path: tuple[tuple[int, str], ...]
    indent: int = -1
    """Of a bullet; -1 for a paragraph."""
    lines: list[str] = field(default_factory=list)
    """What was read, each piece with what separates it from the one before."""
    ours: str = ""
    """The line in brackets of an export of ours."""
    done: str = ""
    """The mark in its box: ``x`` for done, a space for open; ``""`` when it has none."""
    verbatim: bool = False
    """Whether the next line stands on a line of its own."""

    @property
    def text(self) -> str:
        """What it says."""
        return "".join(self.lines)

    def add(self, text: str, blanks: int = 0) -> None:
        """Add a line after so many blank ones; line breaks that only wrap the text become spaces."""
        last = self.lines[-1] if self.lines else ""
        # An odd number of them: the others are pairs that stand for themselves.
        hard = not self.verbatim and (len(last) - len(last.rstrip("\\"))) % 2 == 1
        if hard:
            self.lines[-1] = last[:-1]
        if not self.lines:
            self.lines.append(text)
        elif hard or blanks or self.verbatim or text.startswith(("- ", "|")):
            self.lines.append("\n" * (blanks + 1) + text)
        else:
            wide = last[-1:] > "\u2e7f" or text[:1] > "\u2e7f"
            self.lines.append(text if wide else f" {text}")


class _Reader:
    """Cuts a text into blocks."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self.profiles: list[int] = []
        self._path: tuple[tuple[int, str], ...] = ()
        self._block: _Block | None = None
        self._blanks = 0
        self._fenced = False
        self._skipped_to = 0
        """Level of the heading that ends a section which is passed over; 0 = none is."""

    def read(self, text: str) -> None:
        """Read a whole text."""
        for number, line in enumerate(_without_preamble(text), 1):
            line = line.rstrip("\r")
            if self._fenced or _FENCE.match(line):
                self._code(number, line)
            elif heading := _HEADING.fullmatch(line) if len(line) <= _MARK_MAX else None:
                self._head(len(heading["marks"]), heading["text"])
            elif not self._skipped_to:
                self._plain(number, line.expandtabs(4))
        self._close()

    def _head(self, level: int, text: str) -> None:
        self._close()
        if level <= self._skipped_to:
            self._skipped_to = 0
        self._path = (*(h for h in self._path if h[0] < level), (level, text))

    def _code(self, number: int, line: str) -> None:
        fence = bool(_FENCE.match(line))
        if not self._skipped_to:
            if not self._fenced:
                self._part(line)
            self._into(number, line.strip() if fence else line, verbatim=True)
        self._fenced ^= fence

    def _plain(self, number: int, line: str) -> None:
        bullet, short = _BULLET.fullmatch(line), len(line) <= _MARK_MAX
        ours = _OURS.fullmatch(line) if short else None
        if not line.strip():
            self._blanks += 1
        elif ours:
            self._mark(number, ours["line"])
        elif short and _TABLE_RULE.fullmatch(line):
            return
        elif short and _RULE.fullmatch(line):
            self._underlined(line)
        elif bullet:
            self._bullet(number, len(bullet["indent"]), bullet["text"] or "", (bullet["done"] or "").lower())
        else:
            self._part(line)
            self._into(number, line.strip().removeprefix(">").strip())

    def _part(self, line: str) -> None:
        """End a block before a line that does not belong to it: after a blank one, only what is indented does."""
        indent = len(line) - len(line.lstrip())
        if self._block and self._blanks and (self._block.indent < 0 or indent < 2):
            self._close()

    def _mark(self, number: int, line: str) -> None:
        """Take a line of ours: it ends a memory, or says that a profile follows."""
        if line.startswith("profile"):
            self._close()
            self.profiles.append(number)
            self._skipped_to = self._path[-1][0] if self._path else 1
        elif self._block:
            self._block.ours = line
            self._close()

    def _underlined(self, line: str) -> None:
        """A line of signs makes a heading of the one line above it, or separates."""
        block, apart = self._block, bool(self._blanks)
        self._close()
        if block and block.indent < 0 and not apart and len(block.lines) == 1:
            self.blocks.pop()
            self._head(1 if line.strip()[0] == "=" else 2, block.text)

    def _bullet(self, number: int, indent: int, text: str, done: str) -> None:
        parent = self._block
        if parent and 0 <= parent.indent <= indent - 2:
            parent.add(f"- [{done}] {text.strip()}" if done else f"- {text.strip()}", 0)
            self._blanks = 0
            return
        self._close()
        self._block = _Block(number, self._path, indent, [text.strip()], done=done)

    def _into(self, number: int, text: str, *, verbatim: bool = False) -> None:
        self._block = self._block or _Block(number, self._path)
        self._block.verbatim = self._block.verbatim or verbatim
        self._block.add(text, self._blanks)
        self._block.verbatim = verbatim
        self._blanks = 0

    def _close(self) -> None:
        if self._block and self._block.text.strip():
            self.blocks.append(self._block)
        self._block, self._blanks = None, 0


def read_markdown(text: str) -> Parsed:
    """Return the memories of a Markdown text."""
    reader = _Reader()
    reader.read(text)
    titles = {h for block in reader.blocks for h in block.path if h[0] == 1}
    title = titles if len(titles) == 1 else set()
    parsed = Parsed("markdown")
    parsed.episodes = [
        RawRow(b.line, _row(b, [h[1] for h in b.path if h not in title])) for b in reader.blocks
    ]
    parsed.passed_over = [RawRow(n, None, BadArgument("profile_in_markdown")) for n in reader.profiles]
    return parsed


def _row(block: _Block, headings: list[str]) -> dict[str, Any]:
    if block.ours:
        return _ours(block)
    dated = [_dated(heading) for heading in headings]
    leading = _LEADING.match(block.text)
    moments = [moment for moment, _ in dated if moment]
    said = _moment(leading[1]) if leading else None
    row: dict[str, Any] = {"content": block.text, "tags": [tag for _, tag in dated if tag]}
    if block.done:
        row["tags"].append("done" if block.done == "x" else "to do")
    if said or moments:
        row["timestamp"] = said or moments[-1]
    return row


def _ours(block: _Block) -> dict[str, Any]:
    """Read a memory of an export of ours: what stands in brackets says it all."""
    first, when, *others = fields(block.ours)
    row: dict[str, Any] = {"content": unescaped(block.text), "timestamp": when}
    if is_id(first):
        row["id"] = first
    for value in others:
        importance, speaker = _IMPORTANCE.fullmatch(value), _SPEAKER.fullmatch(value)
        if importance:
            row["importance"] = int(importance[1])
        elif value.startswith("#"):
            row["tags"] = [unescaped(tag.removeprefix("#")) for tag in fields(value, ",")]
        elif fold(value) in STATUS_WORDS:
            row["status"] = STATUS_WORDS[fold(value)]
        elif speaker:
            row["sender_name"] = unescaped(speaker["name"])
            row["sender_id"] = unescaped(speaker["id"] or "")
    return row


def _dated(heading: str) -> tuple[datetime | None, str]:
    """Return the date in a heading, and what else stands there."""
    plain = _MARKUP.sub("", heading).strip()
    for pattern in _DATES:
        match = pattern.search(plain)
        moment = _moment(_iso(match)) if match else None
        if match and moment:
            rest = f"{plain[: match.start()]} {plain[match.end() :]}"
            return moment, " ".join(rest.split()).strip(" -:,–—()[]·|")
    return None, plain


def _iso(match: re.Match[str]) -> str:
    found = match.groupdict()
    if found.get("iso"):
        return str(found["iso"])
    name = str(found["name"]).lower()
    month = _MONTHS.index(name) + 1 if name in _MONTHS else 0
    return f"{found['year']}-{month}-{found['day']}"


def _moment(text: str) -> datetime | None:
    try:
        return parse_moment(text)
    except BadArgument:
        return None


def _without_preamble(text: str) -> list[str]:
    """Return the lines, those of a front matter and of comments blanked so that the numbers stay."""
    lines = _without_comments(text).split("\n")
    if lines[0].strip() == "---" and "---" in (line.strip() for line in lines[1:50]):
        end = next(i for i, line in enumerate(lines[1:], 1) if line.strip() == "---")
        lines[: end + 1] = [""] * (end + 1)
    return lines


def _without_comments(text: str) -> str:
    """Blank what stands in HTML comments; a backslash before one makes it text."""
    found, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        if text[start - 1 : start] == "\\":
            found.append(text[at : start + 4])
            at = start + 4
            continue
        found += text[at:start], "\n" * text.count("\n", start, end)
        at = end + 3
    return "".join([*found, text[at:]])
