"""From an endpoint and a body to an answer, whatever happens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from ..errors import LongTermMemoryError
from ..logs import get_logger
from ..words import FALLBACK, explain, load, say
from . import (
    audit,
    backup,
    changes,
    diagnostics,
    episodes,
    erasure,
    health,
    injection,
    profiles,
    spaces,
    transfer,
)
from .bounds import ANSWER_BYTES, size_of
from .requests import Route, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES", "Problem", "answer"]

logger = get_logger(__name__)

ROUTES: dict[str, Route] = (
    spaces.ROUTES
    | profiles.ROUTES
    | episodes.ROUTES
    | changes.ROUTES
    | injection.ROUTES
    | audit.ROUTES
    | transfer.ROUTES
    | erasure.ROUTES
    | backup.ROUTES
    | health.ROUTES
    | diagnostics.ROUTES
)
"""Every endpoint of the page."""
_SECONDS = 26.0
"""After how long a request that only reads is given up; the page waits 30 s."""


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
        async with asyncio.timeout(_SECONDS if route.reads else None) as limit:
            found = (await route.run(service, request)).model_dump(mode="json")
        if size_of(found) > ANSWER_BYTES:
            logger.warning("console answer too large: endpoint=%s bytes=%d", endpoint[:60], size_of(found))
            return _problem("too_large", language)
        return found
    except ValidationError as exc:
        return _problem("bad_request", language, detail=_detail(exc, language))
    except TimeoutError:
        if not limit.expired():
            logger.exception("console request failed: endpoint=%s", endpoint[:60])
            return _problem("internal", language)
        logger.warning("console request too slow: endpoint=%s", endpoint[:60])
        return _problem("too_slow", language, seconds=round(_SECONDS))
    except LongTermMemoryError as exc:
        logger.info("console request failed: endpoint=%s reason=%s", endpoint[:60], exc.reason)
        return {"error": Problem(code=exc.reason, text=explain(language, exc)).model_dump()}
    except Exception:
        # LangBot would tell the page "Internal server error" and no more.
        logger.exception("console request failed: endpoint=%s", endpoint[:60])
        return _problem("internal", language)


def _detail(exc: ValidationError, language: str) -> str:
    """Return what is wrong with the first value that does not fit, and where."""
    first = exc.errors()[0]
    where = ".".join(str(part)[:60] for part in first["loc"]) or "body"
    key = f"console.value_{first['type']}"
    if key not in load(FALLBACK):
        key = next((f"console.value_{kind}" for kind in _KINDS if first["type"].startswith(kind)), "")
    what = say(language, key or "console.value_other", **first.get("ctx", {}))
    return f"{where}: {what}"


_KINDS = ("int", "string", "bool", "list", "dict", "model")
"""How pydantic's names of wrong types begin."""


def _problem(code: str, language: str, **values: object) -> dict[str, Any]:
    return {"error": Problem(code=code, text=say(language, f"console.{code}", **values)).model_dump()}
