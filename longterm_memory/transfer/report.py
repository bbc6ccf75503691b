"""What became of an import, for whoever asked for it and for the log."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ..errors import LongTermMemoryError
from ..logs import get_logger
from ..scope import Scope
from .rows import Rejected

__all__ = ["ImportReport", "Place", "log_report"]

logger = get_logger(__name__)

_LOGGED = 50
"""Rejected rows that get a log line each, and as many that were taken otherwise than they stand."""
_NAME = re.compile(r"(?:^|, )([A-Za-z][\w.]{0,40}) \(\d+\)(?=, |$)", re.ASCII)
"""A name of a field as programs write them; whatever else a file calls a field is not repeated in the log."""


@dataclass(slots=True)
class Place:
    """What an import wrote to one place.

    Attributes:
        scope: the conversation, or the first of several that share a user key.
        accepted: memories stored.
        profiles: profiles written.
    """

    scope: Scope
    accepted: int = 0
    profiles: int = 0


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of an import.

    Attributes:
        accepted: memories stored (in a dry run: that would be).
        skipped: rows that were there already, stand twice in the file, or say that they were deleted.
        rejected: rows and profiles that were not taken, with line and reason.
        profiles: profiles written (in a dry run: that would be).
        ignored_profiles: profiles that brought nothing new, or were not asked for.
        remaining: rows not reached in the time given; repeating goes on with them.
        error: why it stopped, or why the file could not be read at all; ``None`` when it went through.
        notes: rows that were skipped, or taken otherwise than they stand, for a reason worth telling.
        format: name of the format found.
        places: per place, memories stored and profiles written.
    """

    accepted: int = 0
    skipped: int = 0
    rejected: tuple[Rejected, ...] = ()
    profiles: int = 0
    ignored_profiles: int = 0
    remaining: int = 0
    error: LongTermMemoryError | None = None
    notes: tuple[Rejected, ...] = ()
    format: str = ""
    places: tuple[Place, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the file was taken in (single rows may have been rejected, some may remain)."""
        taken = self.accepted + self.skipped + self.profiles + self.ignored_profiles + self.remaining
        return self.error is None and taken > 0


def log_report(report: ImportReport, document_id: str) -> None:
    """Say in the log what became of an import: rows by number and reason, never what stands in them.

    Args:
        report: what became of it.
        document_id: the upload that brought it, ``""`` for none.
    """
    for row in report.rejected[:_LOGGED]:
        logger.warning(
            "import row rejected: document_id=%s kind=%s line=%d reason=%s",
            document_id,
            row.kind,
            row.line,
            row.reason.reason,
        )
    for row in report.notes[:_LOGGED]:
        logger.warning(
            "import row noted: document_id=%s kind=%s line=%d reason=%s fields=%s",
            document_id,
            row.kind,
            row.line,
            row.reason.reason,
            ",".join(_NAME.findall(str(row.reason.details.get("fields", "")))),
        )
    counts = (report.accepted, report.skipped, report.profiles, report.remaining)
    rejected = dict(Counter(row.reason.reason for row in report.rejected))
    if report.error is not None:
        logger.warning(
            "import stopped: document_id=%s accepted=%d skipped=%d profiles=%d remaining=%d rejected=%s reason=%s",
            document_id,
            *counts,
            rejected,
            report.error.reason,
        )
    else:
        logger.info(
            "import finished: document_id=%s accepted=%d skipped=%d profiles=%d remaining=%d rejected=%s",
            document_id,
            *counts,
            rejected,
        )
