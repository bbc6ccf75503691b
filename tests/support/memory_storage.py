"""Plugin storage in memory, with the faults that the real one has."""

from __future__ import annotations

import asyncio

from longterm_memory.errors import StorageFailed

__all__ = ["MemoryStorage"]


class MemoryStorage:
    """Key-value storage as :class:`longterm_memory.ports.KeyValueStorage` describes it.

    Attributes:
        values: what is stored; a test may put anything there.
        down: every call fails.
        full: writes fail, reads work.
        corrupt: reads give bytes that are no JSON.
        slow: seconds that each call takes; the effect comes at their end.
        late: a cancelled write still lands, ``slow`` seconds later, as a host that got the request would do.
        calls: names of the calls made, in order.
    """

    def __init__(self, values: dict[str, bytes] | None = None) -> None:
        self.values: dict[str, bytes] = values if values is not None else {}
        self.down = False
        self.full = False
        self.corrupt = False
        self.slow = 0.0
        self.late = False
        self.calls: list[str] = []
        self._landing: set[asyncio.Task[None]] = set()

    async def get(self, key: str) -> bytes | None:
        await self._call("get")
        value = self.values.get(key)
        return b'{"schema_version": 1, "prof' if self.corrupt and value is not None else value

    async def set(self, key: str, value: bytes) -> None:
        assert isinstance(value, bytes)
        assert len(key) <= 255
        if self.late:
            task = asyncio.create_task(self._land(key, value))
            self._landing.add(task)
            task.add_done_callback(self._landing.discard)
            await asyncio.shield(task)
            return
        await self._call("set")
        self._put(key, value)

    async def delete(self, key: str) -> None:
        await self._call("delete")
        self.values.pop(key, None)

    async def keys(self) -> list[str]:
        await self._call("keys")
        return list(self.values)

    async def _land(self, key: str, value: bytes) -> None:
        await self._call("set")
        self._put(key, value)

    def _put(self, key: str, value: bytes) -> None:
        if self.full:
            raise StorageFailed("too_large", length=len(value), limit=0)
        self.values[key] = value

    async def _call(self, name: str) -> None:
        self.calls.append(name)
        await asyncio.sleep(self.slow)
        if self.down:
            raise StorageFailed("storage_down")
