"""The shape of a Markdown document, for comparing translations: everything that does not depend on the language."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Final

_FENCE: Final = re.compile(r"^(`{3,})(\w*)\s*$")
_HEADING: Final = re.compile(r"^(#+) (.+)$")
_ITEM: Final = re.compile(r"^\s*(?:[-*]|\d+\.) ")
_IMAGE: Final = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
_LINK: Final = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"`([^`]+)`")
_MARKER: Final = re.compile(r"^<!-- .* -->$")
_COMMENT: Final = re.compile(r"\s*#.*$")
_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass
class Section:
    """What stands below one heading, up to the next."""

    heading: str
    level: int
    """Number of ``#``; 0 for what stands before the first heading."""
    kinds: list[str] = field(default_factory=list)
    """Paragraphs, lists with their number of items, tables with rows and columns, code blocks and markers, in order."""
    code: set[str] = field(default_factory=set)
    """What stands in backticks."""
    rows: list[frozenset[str]] = field(default_factory=list)
    """What stands in backticks, table row by table row."""
    blocks: list[str] = field(default_factory=list)
    """Code blocks, without their comments."""
    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    numbers: set[str] = field(default_factory=set)
    """Numbers outside code blocks."""


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading: lower case, without punctuation, blanks as hyphens.

    Vowel signs and tone marks of Thai and others stay: GitHub counts them as letters, ``\\w`` does not.
    """
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    kept = (c for c in text if c in "-_ " or c.isalnum() or unicodedata.category(c).startswith("M"))
    return "".join(kept).replace(" ", "-")


def sections(document: str) -> list[Section]:
    """Return the sections of a document, the part before the first heading included."""
    found = [Section("", 0)]
    lines = iter([*document.splitlines(), ""])
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            _take(found[-1], paragraph)
            paragraph.clear()

    for line in lines:
        if fence := _FENCE.match(line):
            close()
            inside = []
            for code in lines:
                if code.strip() == fence[1]:
                    break
                inside.append(_COMMENT.sub("", code))
            found[-1].kinds.append(f"code {fence[2]}".strip())
            found[-1].blocks.append("\n".join(inside))
        elif heading := _HEADING.match(line):
            close()
            found.append(Section(heading[2].strip(), len(heading[1])))
        elif _MARKER.match(line):
            close()
            found[-1].kinds.append(line)
        elif not line.strip():
            close()
        else:
            paragraph.append(line)
    close()
    return found


def _take(section: Section, lines: list[str]) -> None:
    """Add what belongs together, without a blank line in it, to a section."""
    text = "\n".join(lines)
    section.links += _LINK.findall(text)
    section.images += _IMAGE.findall(text)
    section.code.update(_CODE.findall(text))
    section.numbers.update(_NUMBER.findall(re.sub(r"\]\([^)]*\)", "]", text)))
    if lines[0].startswith("|"):
        section.kinds.append(f"table {len(lines)} x {lines[1].count('|') - 1}")
        section.rows += [frozenset(_CODE.findall(line)) for line in lines]
    elif _ITEM.match(lines[0]):
        section.kinds.append(f"list {sum(bool(_ITEM.match(line)) for line in lines)}")
    else:
        section.kinds.append("paragraph")
