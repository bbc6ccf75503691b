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
    """A page of entries; ``total`` counts those that pass from here on, ``after`` leads to the next page (0 = there
    is none), ``unreadable`` counts damaged blocks of up to eight entries.
    """

    entries: list[AuditEntry]
    total: int
    after: int
    unreadable: int


class AuditExportAnswer(BaseModel):
    """Everything that can be read of a space's log, newest first; ``unreadable`` as in a page."""

    entries: list[AuditEntry]
    unreadable: int


async def _audit(service: MemoryService, request: AuditRequest) -> AuditAnswer:
    memory = await request.memory(service)
    page = await memory.audit(
        1, request.size, before=request.before, operation=request.operation, sender_id=request.sender_id
    )
    after = page.items[-1].number if page.left else 0
    return AuditAnswer(entries=list(page.items), total=page.total, after=after, unreadable=page.unreadable)


async def _export(service: MemoryService, request: SpaceRequest) -> AuditExportAnswer:
    trail = await (await request.memory(service)).audit_trail()
    return AuditExportAnswer(entries=trail.entries, unreadable=trail.unreadable)


ROUTES = {"/audit": Route(AuditRequest, _audit), "/audit_export": Route(SpaceRequest, _export)}
