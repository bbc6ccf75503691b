"""The health check, for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ..health import check_health
from .requests import Request, Route, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]

_SECONDS = 20.0
"""The page waits 30 s."""


class HealthAnswer(BaseModel):
    """The worst level (``ok``, ``warn``, ``error``), and each check with its sentence and remedy."""

    level: str
    checks: list[dict[str, Any]]


async def _health(service: MemoryService, request: Request) -> HealthAnswer:
    report = await check_health(service, seconds=_SECONDS)
    return HealthAnswer.model_validate(report.public(await spoken(service, request.language)))


ROUTES = {"/health": Route(Request, _health)}
