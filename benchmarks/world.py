"""The product's own service over a real vector database behind the host's own classes, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longterm_memory.langbot.host import LangBotHost
from longterm_memory.service import MemoryService
from playground.engines import Backend, EngineApi, open_engine
from playground.engines.process import ProcessBackend

__all__ = ["KB", "World", "open_world"]

KB = "bench-kb"


@dataclass
class World:
    """One host with the service on top.

    Attributes:
        api: the host as a plugin sees it; ``api.calls`` counts every call.
        service: the memory.
        backend: what stands behind the host, ``None`` for a double.
    """

    api: EngineApi
    service: MemoryService
    backend: Backend | None = None

    def fresh_service(self) -> MemoryService:
        """Return a service that has nothing in memory, as after a restart of the plugin."""
        return MemoryService(LangBotHost(self.api))

    @property
    def alive(self) -> bool:
        """Whether the backend runs; without a process of its own it does."""
        return not isinstance(self.backend, ProcessBackend) or self.backend.alive

    async def restart(self) -> None:
        """Start the backend's own process again on the same files, as whoever runs the host would."""
        if isinstance(self.backend, ProcessBackend):
            await asyncio.to_thread(self.backend.restart)


@asynccontextmanager
async def open_world(
    backend: str, folder: Path, isolation: str = "session", **options: Any
) -> AsyncIterator[World]:
    """Open a backend in an empty folder with a memory knowledge base in it.

    Args:
        backend: which.
        folder: for its files.
        isolation: of the knowledge base.
        **options: of :func:`playground.engines.open_engine`.
    """
    async with open_engine(backend, folder, **options) as api:
        service = MemoryService(LangBotHost(api))
        settings = {"embedding_model_uuid": "bench", "isolation": isolation}
        await service.knowledge_base_created(KB, settings)
        yield World(api, service, api.backend)
