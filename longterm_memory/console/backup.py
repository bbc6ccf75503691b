"""Backup of the whole memory, and bringing one back; the way out when an embedding model retires.

Each request works for a while and says what is left; the page sends it again until nothing is.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from ..errors import BadArgument, NotFound
from ..transfer.backup import KeptBackup
from ..transfer.importing import ImportReport, import_file
from .requests import Request, Route, spoken
from .transfer import ReportAnswer, decoded

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]

_SECONDS = 15.0
"""The page waits 30 s; one batch may take a while longer."""


class KeptAnswer(BaseModel):
    """The backup that is kept, if any.

    Attributes:
        kept: when it was made, what is in it, its size in bytes; ``None`` when there is none.
        remaining: while one is being made, the spaces that are left.
    """

    kept: KeptBackup | None
    remaining: int = 0


class PartRequest(Request):
    """A part of the kept backup, from 1."""

    part: Annotated[int, Field(ge=1)] = 1


class PartAnswer(BaseModel):
    """One part as text: a document that imports on its own, by an upload too."""

    text: str
    part: int
    parts: int


class RestoreAnswer(BaseModel):
    """What this request brought back, and how many parts are done."""

    report: ReportAnswer
    part: int
    parts: int
    done: bool


class RestoreFileRequest(Request):
    """A file whose rows say where they belong, its bytes in base64."""

    data: str
    dry_run: bool = False


class DropAnswer(BaseModel):
    """Whether there was a backup."""

    dropped: bool


async def _kept(service: MemoryService, request: Request) -> KeptAnswer:
    return KeptAnswer(kept=await service.backups.kept())


async def _make(service: MemoryService, request: Request) -> KeptAnswer:
    made = await service.backups.keep(seconds=_SECONDS)
    return KeptAnswer(kept=made.kept, remaining=made.remaining)


async def _part(service: MemoryService, request: PartRequest) -> PartAnswer:
    kept = await service.backups.kept()
    if kept is None:
        raise NotFound("backup_missing")
    if request.part > kept.parts:
        raise BadArgument("part_unknown", part=request.part, count=kept.parts)
    text = await service.backups.part(request.part)
    return PartAnswer(text=text, part=request.part, parts=kept.parts)


async def _restore(service: MemoryService, request: Request) -> RestoreAnswer:
    restoring = await service.backups.restore(seconds=_SECONDS)
    await _note(service, restoring.report)
    report = ReportAnswer.of(restoring.report, await spoken(service, request.language))
    return RestoreAnswer(**asdict(restoring) | {"report": report, "done": restoring.done})


async def _restore_file(service: MemoryService, request: RestoreFileRequest) -> ReportAnswer:
    settings = await service.settings()
    report = await import_file(
        service,
        decoded(request.data),
        into=None,
        isolation=settings.isolation,
        seconds=_SECONDS,
        dry_run=request.dry_run,
    )
    if not request.dry_run:
        await _note(service, report)
    return ReportAnswer.of(report, await spoken(service, request.language))


async def _drop(service: MemoryService, request: Request) -> DropAnswer:
    return DropAnswer(dropped=await service.backups.drop())


async def _note(service: MemoryService, report: ImportReport) -> None:
    """Write an audit entry for each place that something was brought to."""
    for place in report.places:
        counts = {"accepted": place.accepted, "profiles": place.profiles}
        await service.audit.note(place.scope, "import", "console", ("episodes", ""), counts)


ROUTES = {
    "/backup": Route(Request, _kept),
    "/backup_make": Route(Request, _make, reads=False),
    "/backup_part": Route(PartRequest, _part),
    "/backup_restore": Route(Request, _restore, reads=False),
    "/backup_drop": Route(Request, _drop, reads=False),
    "/restore_file": Route(RestoreFileRequest, _restore_file, reads=False),
}
