"""Making one check so that whatever happens becomes its outcome, and writing so that nothing is left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from ..logs import get_logger
from ..text.controls import printable
from ..text.secrets import redact
from .report import Check

__all__ = ["Writes", "attempt", "detail", "to_the_end"]

logger = get_logger(__name__)

_DETAIL = 200
"""Longest part of a host's error text that is kept, in characters."""

_T = TypeVar("_T")
_RUNNING: set[asyncio.Task[Any]] = set()
"""Tasks that go on alone; the event loop itself holds tasks only weakly."""


async def attempt(name: str, check: Awaitable[Check], seconds: float) -> Check:
    """Make a check; too long a wait and a mistake of ours are outcomes as well.

    Args:
        name: of the check.
        check: to be made.
        seconds: how long it may take.
    """
    try:
        async with asyncio.timeout(seconds):
            return await check
    except TimeoutError:
        return Check.of(name, "hung", seconds=max(1, round(seconds)))
    except Exception as exc:
        logger.exception("health: check=%s outcome=internal", name)
        return Check.of(name, "internal", kind=type(exc).__name__)


def detail(error: BaseException) -> str:
    """Return what the host said, short, in one line and without secrets; our calls hold nobody's messages."""
    said = redact(" ".join(printable(str(error.__cause__ or error), lines=False).split()))[0]
    return said if len(said) <= _DETAIL else said[: _DETAIL - 1] + "…"


async def to_the_end(work: Coroutine[Any, Any, _T], seconds: float) -> _T | None:
    """Do something to its end even if the caller is cancelled meanwhile: the cancellation takes effect after it.

    A host may serve no more calls once its handler has ended, so the work is not left to itself; only a second
    cancellation, or the end of the time, does that.

    Returns:
        Its result, ``None`` when it did not come to an end in time.
    """
    task = asyncio.create_task(work)
    _RUNNING.add(task)
    task.add_done_callback(_RUNNING.discard)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=seconds)
        raise
    if not done:
        task.cancel()
        return None
    return task.result()


class Writes:
    """Writes that are let run on when their caller has to stop: the host may still carry them out, and what
    they write can only be removed after that.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, write: Coroutine[Any, Any, None]) -> None:
        """Write; a cancelled caller leaves the write on its way."""
        task = asyncio.create_task(write)
        self._tasks.add(task)
        # Whoever is cancelled does not ask for its outcome any more.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(task)

    async def landed(self, seconds: float) -> bool:
        """Wait for all writes to end; returns whether they did. Others are given up and may still land."""
        if not self._tasks:
            return True
        _, late = await asyncio.wait(self._tasks, timeout=seconds)
        for task in late:
            task.cancel()
        return not late
