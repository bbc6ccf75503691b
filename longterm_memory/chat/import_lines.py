"""What an import did, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .voice import Voice

if TYPE_CHECKING:
    from ..transfer.importing import ImportReport, Rejected

__all__ = ["imported"]

_NAMED = 8
"""Most rows that are named with their reason; the rest is counted."""


def imported(voice: Voice, report: ImportReport) -> str:
    """Return what became of an import from chat."""
    lines = []
    if report.error is not None:
        lines.append(voice.explain(report.error))
    if report.error is None or report.accepted or report.skipped or report.rejected:
        lines.append(
            voice.say(
                "import_done",
                accepted=voice.memories(report.accepted),
                skipped=report.skipped,
                rejected=len(report.rejected),
            )
        )
    lines += _rows(voice, voice.say("import_rejected"), report.rejected)
    lines += _rows(voice, voice.say("import_notes"), report.notes)
    if report.ignored_profiles:
        lines.append(voice.say("import_ignored", count=report.ignored_profiles))
    if report.remaining:
        lines.append(voice.say("import_remaining", count=report.remaining))
    return "\n".join(lines)


def _rows(voice: Voice, title: str, rows: Sequence[Rejected]) -> list[str]:
    lines = [title] if rows else []
    for row in rows[:_NAMED]:
        reason = voice.explain(row.reason)
        profile = row.kind == "profile"
        lines.append(
            voice.say("import_row_profile" if profile else "import_row", line=row.line, reason=reason)
        )
    if len(rows) > _NAMED:
        lines.append(voice.say("import_rows_more", count=len(rows) - _NAMED))
    return lines
