"""Qdrant's engine without its server (``qdrant-edge-py``) behind the host's Qdrant class.

Only the client methods that the host calls exist here.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import qdrant_edge
from qdrant_client import models


class EdgeClient:
    """Stands in for ``AsyncQdrantClient``.

    Args:
        folder: one shard per collection is kept below it; those that are there are opened.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        found = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
        self._shards: dict[str, Any] = {path.name: qdrant_edge.EdgeShard.load(str(path)) for path in found}

    async def collection_exists(self, collection_name: str) -> bool:
        """Whether the collection exists."""
        return collection_name in self._shards

    async def create_collection(self, collection_name: str, vectors_config: models.VectorParams) -> None:
        """Create a collection with cosine distance."""
        if collection_name in self._shards:
            raise ValueError(f"Collection {collection_name} already exists")
        path = self._folder / collection_name
        path.mkdir(parents=True)
        vectors = qdrant_edge.EdgeVectorParams(size=vectors_config.size, distance=qdrant_edge.Distance.Cosine)
        config = qdrant_edge.EdgeConfig(vectors={"": vectors})
        self._shards[collection_name] = qdrant_edge.EdgeShard.create(str(path), config)

    async def upsert(self, collection_name: str, points: list[models.PointStruct]) -> None:
        """Write points."""
        converted = [
            qdrant_edge.Point(point.id, {"": cast("list[float]", point.vector)}, point.payload)
            for point in points
        ]
        await self._update(collection_name, qdrant_edge.UpdateOperation.upsert_points(converted))

    async def delete(self, collection_name: str, points_selector: models.Filter) -> None:
        """Delete points by filter."""
        operation = qdrant_edge.UpdateOperation.delete_points_by_filter(_filter(points_selector))
        await self._update(collection_name, operation)

    async def _update(self, collection_name: str, operation: Any) -> None:
        await asyncio.to_thread(self._shards[collection_name].update, operation)

    async def query_points(
        self,
        collection_name: str,
        query: list[float],
        limit: int,
        with_payload: bool,
        query_filter: models.Filter | None = None,
    ) -> SimpleNamespace:
        """Search by vector."""
        request = qdrant_edge.QueryRequest(
            limit=limit,
            query=qdrant_edge.Query.Nearest(query),
            with_payload=with_payload,
            with_vector=False,
            filter=_filter(query_filter),
        )
        return SimpleNamespace(points=await asyncio.to_thread(self._shards[collection_name].query, request))

    async def scroll(
        self,
        collection_name: str,
        limit: int,
        with_payload: bool,
        with_vectors: bool,
        scroll_filter: models.Filter | None = None,
        offset: Any = None,
    ) -> Any:
        """Return one page of points and the id of the next page."""
        request = qdrant_edge.ScrollRequest(
            limit=limit,
            offset=offset,
            filter=_filter(scroll_filter),
            with_payload=with_payload,
            with_vector=with_vectors,
        )
        return await asyncio.to_thread(self._shards[collection_name].scroll, request)

    async def retrieve(
        self, collection_name: str, ids: list[Any], with_payload: bool, with_vectors: bool
    ) -> Any:
        """Return points by id."""
        return await asyncio.to_thread(
            self._shards[collection_name].retrieve, ids, with_payload, with_vectors
        )

    async def count(
        self, collection_name: str, count_filter: models.Filter | None = None, exact: bool = True
    ) -> SimpleNamespace:
        """Count points."""
        request = qdrant_edge.CountRequest(exact=exact, filter=_filter(count_filter))
        return SimpleNamespace(count=await asyncio.to_thread(self._shards[collection_name].count, request))

    async def close(self) -> None:
        """Drop the shards; that writes them out."""
        self._shards.clear()


def _filter(given: models.Filter | None) -> Any:
    if given is None:
        return None
    must = [_condition(c) for c in given.must or []]
    must_not = [_condition(c) for c in given.must_not or []]
    return qdrant_edge.Filter(must=must or None, must_not=must_not or None)


def _condition(given: Any) -> Any:
    kinds: dict[str, Any] = {}
    if given.match is not None:
        kinds["match"] = (
            qdrant_edge.MatchValue(given.match.value)
            if isinstance(given.match, models.MatchValue)
            else qdrant_edge.MatchAny(given.match.any)
        )
    if given.range is not None:
        bounds = given.range
        kinds["range"] = qdrant_edge.RangeFloat(gt=bounds.gt, gte=bounds.gte, lt=bounds.lt, lte=bounds.lte)
    return qdrant_edge.FieldCondition(given.key, **kinds)
