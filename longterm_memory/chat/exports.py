"""``export`` and ``audit export``: what the service gives out, made ready for a chat."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..transfer.exporting import document, parts, to_markdown
from .audit_lines import audit_rows
from .delivery import FILE_CHARS, PART_CHARS, Package, Part, pieces
from .inert import inert_json, inert_lines
from .voice import Voice

if TYPE_CHECKING:
    from datetime import datetime

    from ..audit import AuditTrail
    from ..views import Exported
    from .command_line import CommandLine

__all__ = ["audit_package", "export_package"]

_AUDIT_HEAD = '{"format":"longtermmemory-audit","version":1,"entries":[\n'
_AUDIT_TAIL = "\n]}\n"
_RECORDS = ("episodes", "profiles")
_LINE = 800
"""Longest line of Markdown in a reply, in characters."""


def export_package(voice: Voice, found: Exported, line: CommandLine, now: datetime) -> Package:
    """Return an export as JSON, or as Markdown for ``md``.

    Args:
        voice: how to write it.
        found: what may be taken out.
        line: what was typed.
        now: the current time, for the name of the file.
    """
    if line.choice == "md":
        text = to_markdown(found.episodes, found.profiles, language=voice.language, zone=voice.zone)
        files = _cut(text.splitlines(keepends=True), "", FILE_CHARS)
        # Behind ">", like all lines of people that are not inside one of ours.
        lines = [f"> {piece}" for line in inert_lines(text).splitlines() for piece in _broken(line)]
        made = [Part(block) for block in _cut(lines, "\n")]
    else:
        data = document(found.episodes, found.profiles)
        files = parts(data, FILE_CHARS)
        made = [part for piece in _whole_documents(data, PART_CHARS) for part in pieces(piece)]
    held = []
    if found.episodes is not None:
        held.append(voice.memories(len(found.episodes)))
    if found.profiles is not None:
        held.append(voice.profiles(len(found.profiles)))
    return Package(
        files=_named(voice, line.choice or "profiles", now, files, "md" if line.choice == "md" else "json"),
        parts=made,
        holds=voice.listed(held),
        again=_again(voice, line),
        notes=_notes(voice, found),
        copied=line.choice != "md",
    )


def audit_package(voice: Voice, trail: AuditTrail, line: CommandLine, now: datetime) -> Package:
    """Return the log of changes as JSON.

    Args:
        voice: how to write it.
        trail: the log.
        line: what was typed.
        now: the current time, for the name of the file.
    """
    rows = audit_rows(trail.entries)
    room = PART_CHARS - len(_AUDIT_HEAD) - len(_AUDIT_TAIL)
    made = [Part(f"{_AUDIT_HEAD}{block}{_AUDIT_TAIL}") for block in _cut(map(inert_json, rows), ",\n", room)]
    return Package(
        files=_named(voice, "audit", now, [_AUDIT_HEAD + ",\n".join(rows) + _AUDIT_TAIL], "json"),
        parts=made,
        holds=voice.say("export_entries", count=len(trail.entries)),
        notes=[voice.say("audit_unreadable", count=8 * trail.unreadable)] if trail.unreadable else (),
        again=_again(voice, line),
    )


def _named(
    voice: Voice, what: str, now: datetime, texts: Sequence[str], ending: str
) -> list[tuple[str, str]]:
    """Return texts with names for their files, numbered when there are several."""
    stem = f"memory-{what}-{voice.date(now)}"
    if len(texts) == 1:
        return [(f"{stem}.{ending}", texts[0])]
    return [(f"{stem}-{number}.{ending}", text) for number, text in enumerate(texts, 1)]


def _again(voice: Voice, line: CommandLine) -> str:
    if line.options - {"part"}:
        return voice.say("export_again_filtered") + " --part "
    words = [voice.command, str(line.verb), line.choice]
    return " ".join(word for word in words if word) + " --part "


def _notes(voice: Voice, found: Exported) -> list[str]:
    notes = []
    if found.own_only:
        notes.append(voice.say("export_own_only"))
        if found.left_out:
            notes.append(voice.say("export_left_out", count=voice.memories(found.left_out)))
    return notes + [voice.say("export_unread", problem=voice.explain(p)) for p in found.problems]


def _whole_documents(data: Mapping[str, object], limit: int) -> Iterator[str]:
    """Yield a document as harmless texts, each a document of its own that fits into a reply; a single record
    that is longer comes as one longer text.
    """
    for text in parts(data, limit):
        shown = inert_json(text).rstrip("\n")
        held = json.loads(text) if len(shown) > PART_CHARS else {}
        if sum(len(held.get(name, ())) for name in _RECORDS) > 1:
            # Escapes made it too long for a reply.
            yield from _whole_documents(held, limit // 2)
        else:
            yield shown


def _broken(line: str) -> list[str]:
    """Return a line in pieces that fit into a reply."""
    return [line[start : start + _LINE] for start in range(0, max(len(line), 1), _LINE)]


def _cut(lines: Iterable[str], between: str, limit: int = PART_CHARS) -> list[str]:
    """Return lines put together into texts of at most ``limit`` characters; there is always one."""
    found: list[str] = []
    for line in lines:
        if found and len(found[-1]) + len(between) + len(line) <= limit:
            found[-1] += between + line
        else:
            found.append(line)
    return found or [""]
