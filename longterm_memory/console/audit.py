"""The log of changes of a space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from ..models import AuditEntry
from .requests import Route, SpaceRequest

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]


class AuditRequest(SpaceRequest):
    """Which entries to show, newest first.

    Attributes:
        before: only entries with a lower number: ``after`` of the page before; 0 for the first page.
        size: entries on a page, 1..200.
        operation: only these, ``""`` for all.
        sender_id: only changes made by that sender, ``""`` for all.
    """

    before: Annotated[int, Field(ge=0)] = 0
    size: Annotated[int, Field(ge=1, le=200)] = 50
    operation: str = ""
    sender_id: str = ""


class AuditAnswer(BaseModel):
    """A page of entries; ``total`` counts those that pass from here on, ``after`` leads to the next page."""

    entries: list[AuditEntry]
    total: int
    after: int


class AuditExportAnswer(BaseModel):
    """Everything that is kept of a space's log, newest first."""

    entries: list[AuditEntry]


async def _audit(service: MemoryService, request: AuditRequest) -> AuditAnswer:
    memory = await request.memory(service)
    page = await memory.audit(
        1, request.size, before=request.before, operation=request.operation, sender_id=request.sender_id
    )
    after = page.items[-1].number if page.items else 0
    return AuditAnswer(entries=list(page.items), total=page.total, after=after)


async def _export(service: MemoryService, request: SpaceRequest) -> AuditExportAnswer:
    return AuditExportAnswer(entries=await (await request.memory(service)).audit_entries())


ROUTES = {"/audit": Route(AuditRequest, _audit), "/audit_export": Route(SpaceRequest, _export)}
