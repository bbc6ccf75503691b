"""A space's memories out and in. The page's frame forbids downloads, so exports come as text in parts."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from ..errors import BadArgument
from ..transfer.exporting import document, escaped, parts
from ..transfer.importing import ImportReport, Rejected
from ..transfer.transfer import ExportKind
from ..words import explain
from .requests import Route, SpaceRequest, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES", "ReportAnswer", "decoded"]

_PART_BYTES = 900_000
"""Longest part, as LangBot sends it (:func:`~longterm_memory.transfer.exporting.escaped`)."""
_IMPORT_SECONDS = 18.0
"""The page waits 30 s; what is left after this is done by the next request."""
_ROWS_TOLD = 200
"""Most rows that are named one by one."""


class ExportRequest(SpaceRequest):
    """What to export: ``profiles``, ``episodes`` or ``all``, and which part of it, from 1."""

    what: ExportKind = "all"
    part: Annotated[int, Field(ge=1)] = 1


class ExportAnswer(BaseModel):
    """One part, a document that imports on its own; ``unread`` counts profiles that could not be read."""

    text: str
    part: int
    parts: int
    episodes: int
    profiles: int
    unread: int


class ImportRequest(SpaceRequest):
    """A file to take into the space.

    Attributes:
        data: the file's bytes in base64.
        profiles: whether profiles in it are taken in too.
        dry_run: only judge the rows (a preview).
    """

    data: str
    profiles: bool = True
    dry_run: bool = False


class RowAnswer(BaseModel):
    """A row of the file, and what is to be said about it."""

    line: int
    text: str


class ReportAnswer(BaseModel):
    """What became of an import; while ``remaining`` is not 0, the same request again goes on.

    ``rejected`` and ``notes`` name at most 200 rows; ``rejected_total`` counts all of them.
    """

    accepted: int
    skipped: int
    rejected_total: int
    rejected: list[RowAnswer]
    notes: list[RowAnswer]
    profiles: int
    ignored_profiles: int
    remaining: int
    format: str
    stopped: str
    """Why it stopped, ``""`` when it did not."""

    @classmethod
    def of(cls, report: ImportReport, language: str) -> ReportAnswer:
        """Put a report into words."""

        def told(rows: Sequence[Rejected]) -> list[RowAnswer]:
            return [RowAnswer(line=r.line, text=explain(language, r.reason)) for r in rows[:_ROWS_TOLD]]

        return cls(
            accepted=report.accepted,
            skipped=report.skipped,
            rejected_total=len(report.rejected),
            rejected=told(report.rejected),
            notes=told(report.notes),
            profiles=report.profiles,
            ignored_profiles=report.ignored_profiles,
            remaining=report.remaining,
            format=report.format,
            stopped=explain(language, report.error) if report.error else "",
        )


def decoded(data: str) -> bytes:
    """Return the bytes of a file that the page sent.

    Raises:
        BadArgument: ``file_unreadable`` when it is no base64.
    """
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise BadArgument("file_unreadable", detail="not_base64") from exc


async def _export(service: MemoryService, request: ExportRequest) -> ExportAnswer:
    exported = await (await request.memory(service)).transfer.export(request.what)

    def made() -> list[str]:
        return parts(document(exported.episodes, exported.profiles), _PART_BYTES, escaped)

    # Thousands of memories take a second or so; the turns of others go on meanwhile.
    found = await asyncio.to_thread(made)
    if request.part > len(found):
        raise BadArgument("part_unknown", part=request.part, count=len(found))
    return ExportAnswer(
        text=found[request.part - 1],
        part=request.part,
        parts=len(found),
        episodes=len(exported.episodes or ()),
        profiles=len(exported.profiles or ()),
        unread=len(exported.problems),
    )


async def _import(service: MemoryService, request: ImportRequest) -> ReportAnswer:
    memory = await request.memory(service)
    report = await memory.transfer.import_file(
        decoded(request.data),
        profiles=request.profiles,
        dry_run=request.dry_run,
        seconds=_IMPORT_SECONDS,
    )
    return ReportAnswer.of(report, await spoken(service, request.language))


ROUTES = {"/export": Route(ExportRequest, _export), "/import": Route(ImportRequest, _import, reads=False)}
