"""How calls reach the vector store: side by side, or one after the other.

One of LangBot's backends mixes up the answers of calls that run side by side. Which one stands behind the host is seen
from answers, so calls queue until that is known; for a store that was caught, or is known to mix up, they queue for
good, and there a call that its caller gave up keeps its place until the store is done with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["HOLD_SECONDS", "Lane"]

HOLD_SECONDS = 35.0
"""Longest time that a call which nobody waits for keeps others waiting; the host itself gives up after 30 to 60 s."""

_T = TypeVar("_T")


class Lane:
    """The way to the store behind one knowledge base."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._free = False
        self._caught = False

    @property
    def alone(self) -> bool:
        """Whether a call that starts now runs alone."""
        return not self._free

    @property
    def caught(self) -> bool:
        """Whether calls go one at a time for good."""
        return self._caught

    def free(self) -> None:
        """Let calls run side by side: the store is one that can do that."""
        self._free = not self._caught

    def narrow(self) -> None:
        """Make one call at a time from now on, for good."""
        self._caught, self._free = True, False

    async def run(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call when it is its turn."""
        if self._free:
            return await call()
        if not self._caught:
            async with self._lock:
                return await call()
        await self._lock.acquire()
        place = _Place(self._lock)
        task = asyncio.ensure_future(_whole(call))
        task.add_done_callback(place.ended)
        return await asyncio.shield(task)


class _Place:
    """A call's place in the queue: given back when the call ends, or when it has taken too long."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock = lock
        self._taken = True
        self._late = asyncio.get_running_loop().call_later(HOLD_SECONDS, self._give_back)

    def ended(self, task: asyncio.Task[Any]) -> None:
        """Hear that the call has ended."""
        self._late.cancel()
        self._give_back()
        if not task.cancelled():
            # Whoever gave the call up does not ask for its outcome any more.
            task.exception()

    def _give_back(self) -> None:
        if self._taken:
            self._taken = False
            self._lock.release()


def _whole(call: Callable[[], Awaitable[_T]]) -> Coroutine[Any, Any, _T]:
    async def run() -> _T:
        return await call()

    return run()
