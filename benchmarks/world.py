"""The product's own service over a real vector database behind the host's own classes, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from longterm_memory.langbot.host import LangBotHost
from longterm_memory.service import MemoryService
from playground.engines import EngineApi, open_engine

__all__ = ["KB", "World", "open_world"]

KB = "bench-kb"


@dataclass
class World:
    """One host with the service on top.

    Attributes:
        api: the host as a plugin sees it; ``api.calls`` counts every call.
        service: the memory.
    """

    api: EngineApi
    service: MemoryService


@asynccontextmanager
async def open_world(backend: str, folder: Path, isolation: str = "session") -> AsyncIterator[World]:
    """Open a backend in an empty folder with a memory knowledge base in it."""
    async with open_engine(backend, folder) as api:
        service = MemoryService(LangBotHost(api))
        settings = {"embedding_model_uuid": "bench", "isolation": isolation}
        await service.knowledge_base_created(KB, settings)
        yield World(api, service)
