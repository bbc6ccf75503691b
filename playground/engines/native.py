"""What an engine itself says, asked below the host's classes: proofs do not lean on what they prove."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, cast

PACKAGES = {
    "chroma": ("chromadb",),
    "seekdb": ("pyseekdb", "pylibseekdb"),
    "qdrant": ("qdrant-client",),
    "qdrant-edge": ("qdrant-edge-py", "qdrant-client"),
    "pgvector": ("asyncpg", "psycopg"),
    "milvus": ("milvus-lite", "pymilvus"),
}
"""The packages whose versions matter, by backend."""


@dataclass(frozen=True)
class Native:
    """The engine behind an opened backend.

    Attributes:
        name: the backend.
        database: the host's object for it, for the client inside.
        physical_name: what the host calls a collection in the engine, by the id of its knowledge base.
    """

    name: str
    database: Any
    physical_name: Callable[[str], str]

    async def count(self, collection_id: str, file_ids: Sequence[str]) -> int:
        """Return how many rows with one of these file_ids there are, stale versions included."""
        collection, wanted = self.physical_name(collection_id), list(file_ids)
        match self.name:
            case "chroma":
                return await asyncio.to_thread(_chroma, self.database.client, collection, wanted)
            case "seekdb":
                return await asyncio.to_thread(_seekdb, self.database.client, collection, wanted)
            case "qdrant" | "qdrant-edge":
                return await _qdrant(self.database.client, collection, wanted)
            case "pgvector":
                return await asyncio.to_thread(_pgvector, self.database.engine, collection_id, wanted)
            case "milvus" | "milvus-3":
                return await asyncio.to_thread(_milvus, self.database.client, collection, wanted)
        raise ValueError(f"no native count for {self.name!r}")

    async def versions(self) -> dict[str, str]:
        """Return the versions of the engine and of the packages that matter, by name."""
        found = {package: version(package) for package in PACKAGES[self.name.removesuffix("-3")]}
        if self.name == "pgvector":
            found |= await asyncio.to_thread(_postgres_versions, self.database.engine)
        return found


def _chroma(client: Any, collection: str, file_ids: list[str]) -> int:
    if collection not in {found.name for found in client.list_collections()}:
        return 0
    found = client.get_collection(collection).get(where={"file_id": {"$in": file_ids}}, include=[])
    return len(found["ids"])


def _seekdb(client: Any, collection: str, file_ids: list[str]) -> int:
    from pyseekdb.client.meta_info import CollectionNames

    if not client.has_collection(collection):
        return 0
    opened = client.get_collection(collection, embedding_function=None)
    table = CollectionNames.table_name_v2(opened.id) if opened.id else CollectionNames.table_name(collection)
    asked = ", ".join("'" + file_id.replace("\\", "\\\\").replace("'", "''") + "'" for file_id in file_ids)
    cursor = client._server.get_raw_connection().cursor()
    try:
        cursor.execute(
            f"SELECT COUNT(*) FROM `{table}`"  # noqa: S608 - the engine's cursor takes no parameters
            f" WHERE JSON_UNQUOTE(JSON_EXTRACT(metadata, '$.file_id')) IN ({asked})"
        )
        return int(cursor.fetchall()[0][0])
    finally:
        cursor.close()


async def _qdrant(client: Any, collection: str, file_ids: list[str]) -> int:
    from qdrant_client import models

    if not await client.collection_exists(collection):
        return 0
    condition = models.FieldCondition(key="file_id", match=models.MatchAny(any=file_ids))
    found = await client.count(collection, count_filter=models.Filter(must=[condition]), exact=True)
    return int(found.count)


def _pgvector(engine: Any, knowledge_base: str, file_ids: list[str]) -> int:
    from langbot.pkg.vector.vdbs.pgvector_db import PgVectorEntry
    from sqlalchemy import text

    statement = text(
        f"SELECT count(*) FROM {PgVectorEntry.__tablename__}"  # noqa: S608 - the host's own table
        " WHERE knowledge_base_uuid = :base AND file_id = ANY(:file_ids)"
    )
    with engine.connect() as connection:
        found = connection.execute(statement, {"base": knowledge_base, "file_ids": file_ids})
        return int(found.scalar_one())


def _postgres_versions(engine: Any) -> dict[str, str]:
    from sqlalchemy import text

    with engine.connect() as connection:
        server = connection.execute(text("SHOW server_version")).scalar_one()
        extension = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
        return {
            "PostgreSQL": str(server),
            "pgvector": str(connection.execute(text(extension)).scalar_one()),
        }


def _milvus(client: Any, collection: str, file_ids: list[str]) -> int:
    if not client.has_collection(collection):
        return 0
    # Counted is what is loaded; whether it was is the host's doing, and must look the same afterwards.
    loaded = "Loaded" in str(client.get_load_state(collection)["state"])
    if not loaded:
        client.load_collection(collection)
    found = client.query(collection, filter=f"file_id in {json.dumps(file_ids)}", output_fields=["count(*)"])
    if not loaded:
        client.release_collection(collection)
    return int(cast("list[dict[str, Any]]", found)[0]["count(*)"])
