"""LangBot's own vector databases, in this process or one of their own, with the face that a plugin sees.

async with open_engine("chroma", folder) as api:
    host = LangBotHost(api)
    await host.upsert("kb", records)
    with api.calls.recording() as seen:
        rows = await host.search("kb", vector, 10, FileIds([file_id]))
    assert seen.total == seen.rounds() == 1
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

from .backends import BACKENDS, Backend, Postgres, open_backend
from .calls import Call, CallLog
from .faults import Faults
from .wire import Embed, HostError, HostTimeoutError, PluginApi

__all__ = [
    "BACKENDS",
    "Backend",
    "Call",
    "CallLog",
    "Embed",
    "EngineApi",
    "Faults",
    "HostError",
    "HostTimeoutError",
    "PluginApi",
    "Postgres",
    "open_backend",
    "open_engine",
]


class EngineApi(PluginApi):
    """A plugin's view of a host that runs one of the real backends.

    Args:
        backend: the opened backend.
        serial: let one vector call at a time reach the backend. The host's SeekDB class mixes up the
            answers of parallel calls, or takes the process down; tests that are not about that switch it
            on.
        owned: close the backend together with this object.
        **options: see :class:`PluginApi`.
    """

    def __init__(self, backend: Backend, *, serial: bool = False, owned: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.backend = backend
        self.serial = serial
        self._lock: AbstractAsyncContextManager[Any] = asyncio.Lock() if serial else nullcontext()
        self._owned = owned

    async def settle(self) -> None:
        """Wait until a vector search sees what was written before."""
        await asyncio.sleep(self.backend.settle_seconds)

    async def close(self) -> None:
        """Release the backend, if it is this object's own."""
        if self._owned:
            await self.backend.close()

    async def _upsert(
        self,
        collection_id: str,
        vectors: list[list[float]],
        ids: list[str],
        metadata: list[dict[str, Any]] | None,
        documents: list[str] | None,
    ) -> None:
        await self._serve("vector_upsert", collection_id, vectors, ids, metadata, documents)

    async def _search(
        self,
        collection_id: str,
        query_vector: list[float],
        top_k: int,
        filters: dict[str, Any] | None,
        search_type: str,
        query_text: str,
        vector_weight: float | None,
    ) -> list[dict[str, Any]]:
        where = None if self.faults.ignore_filters else filters
        how = (search_type, query_text, vector_weight)
        found: list[dict[str, Any]] = await self._serve(
            "vector_search", collection_id, query_vector, top_k, where, *how
        )
        return found

    async def _list(
        self, collection_id: str, filters: dict[str, Any] | None, limit: int, offset: int
    ) -> tuple[list[dict[str, Any]], int]:
        where = None if self.faults.ignore_filters else filters
        items, total = await self._serve("vector_list", collection_id, where, limit, offset)
        return items, total

    async def _delete(
        self, collection_id: str, file_ids: list[str] | None, filters: dict[str, Any] | None
    ) -> int:
        return int(await self._serve("vector_delete", collection_id, file_ids, filters))

    async def _serve(self, name: str, *arguments: Any) -> Any:
        async with self._lock:
            return await getattr(self.backend.service, name)(self.backend.context, *arguments)


def open_engine(
    name: str,
    folder: Path | str,
    *,
    postgres: Postgres | str | None = None,
    serial: bool | None = None,
    process: bool = False,
    **options: Any,
) -> EngineApi:
    """Open a backend and return the plugin's view of it; ``close()`` or ``async with`` releases everything.

    Args:
        name: one of :data:`BACKENDS`.
        folder: where the backend keeps its files.
        postgres: for ``pgvector``, a server to share, or its address; without it one is started and stopped.
        serial: one vector call at a time; by default for ``seekdb`` only.
        process: open it in a process of its own, which may crash or be killed (see ``process.py``).
        **options: ``embed``, ``version``, ``latency`` of :class:`PluginApi`.

    Raises:
        ValueError: for an unknown name.
        ImportError: when the backend's packages are not installed.
    """
    backend = open_backend(name, Path(folder), postgres=postgres, process=process)
    return EngineApi(backend, serial=name == "seekdb" if serial is None else serial, **options)
