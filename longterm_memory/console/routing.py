"""From an endpoint and a body to an answer, whatever happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from ..errors import LongTermMemoryError
from ..logs import get_logger
from ..words import explain, say
from . import audit, backup, erasure, health, spaces, transfer
from .requests import Route, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES", "Problem", "answer"]

logger = get_logger(__name__)

ROUTES: dict[str, Route] = (
    spaces.ROUTES | audit.ROUTES | erasure.ROUTES | transfer.ROUTES | backup.ROUTES | health.ROUTES
)
"""Every endpoint of the page."""


class Problem(BaseModel):
    """Why there is no answer: a stable code, and a sentence for people."""

    code: str
    text: str


async def answer(service: MemoryService, endpoint: str, method: str, body: Any) -> dict[str, Any]:
    """Answer a request of the page; never raises.

    Args:
        service: the installation's memory.
        endpoint: a key of :data:`ROUTES`.
        method: ``POST``, or ``GET`` for what changes nothing.
        body: parsed JSON, ``None`` when there was none.

    Returns:
        The answer as JSON, or ``{"error": {"code", "text"}}``.
    """
    language = ""
    try:
        language = await spoken(service, body.get("language") if isinstance(body, dict) else None)
        route = ROUTES.get(endpoint)
        if route is None or method.upper() not in ("GET", "POST"):
            return _problem("unknown_endpoint", language, endpoint=endpoint[:60])
        request = route.request.model_validate({} if body is None else body)
        return (await route.run(service, request)).model_dump(mode="json")
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        return _problem("bad_request", language, detail=f"{where}: {first['msg']}")
    except LongTermMemoryError as exc:
        logger.info("console request failed: endpoint=%s reason=%s", endpoint[:60], exc.reason)
        return {"error": Problem(code=exc.reason, text=explain(language, exc)).model_dump()}
    except Exception:
        # LangBot would tell the page "Internal server error" and no more.
        logger.exception("console request failed: endpoint=%s", endpoint[:60])
        return _problem("internal", language)


def _problem(code: str, language: str, **values: object) -> dict[str, Any]:
    return {"error": Problem(code=code, text=say(language, f"console.{code}", **values)).model_dump()}
