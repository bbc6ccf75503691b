"""The host's vectors, embeddings and storage behind the ports, over the SDK's ``LangBotAPIProxy``.

The adapter only translates: filters, batches and pages of a size that one message and every backend can take,
answers into rows, exceptions into ours. It believes nothing it hears; checking rows is the record layer's
work.

Before the first write of a collection, reads are not safe everywhere: Milvus creates the collection with 1536
dimensions when it is read and then refuses vectors of any other length for ever; a search on pgvector raises
because no dimension is chosen yet. Chroma, Qdrant and SeekDB answer with nothing. So callers write first
and read afterwards; a failing read arrives as :class:`~longterm_memory.errors.StoreFailed` like any other.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, Protocol, TypeVar

from ..errors import EmbeddingFailed, LongTermMemoryError, RerankFailed, StorageFailed, StoreFailed
from ..ports import FileIds, KeyValueStorage, RowFilter, RowIds, VectorRecord, VectorRow
from .refusals import embedding_failure
from .rows import batches, filters, rows

__all__ = ["LIST_WINDOW", "VALUE_MAX", "HostApi", "LangBotHost"]

PAGE_ROWS = 1_500
"""Rows asked for per list call: 2 to 8 MB of a message of at most 16."""
LIST_WINDOW = 16_384
"""Milvus and SeekDB refuse ``offset + limit`` or ``k`` beyond this."""
DELETE_VALUES = 500
"""Row ids per delete; all backends took 5 000, SeekDB then needs seconds."""
EMBED_TEXTS = 100
"""Texts per embedding call: 100 answers of 3 072 floats stay well below one message."""
VALUE_MAX = 10 * 1024 * 1024
"""Largest storage value in bytes under the host's default settings."""
BUSY_PAUSES = (0.05, 0.2, 0.8)
"""Seconds to wait before repeating a call that the connection refused: it carries 128 at a time."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
# Inside the class "list" is the method.
_Rows = list[VectorRow]
_Vectors = list[list[float]]


class HostApi(Protocol):
    """What is used of the SDK's ``LangBotAPIProxy`` (0.5.8 and 0.7.16 alike)."""

    async def get_langbot_version(self) -> str:
        """Return the host's version."""

    async def list_knowledge_bases(self) -> list[dict[str, Any]]:
        """Return all knowledge bases, each with its ``uuid``."""

    async def invoke_embedding(self, embedding_model_uuid: str, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""

    async def invoke_rerank(
        self,
        rerank_model_uuid: str,
        query: str,
        documents: list[str],
        top_k: int | None = None,
        extra_args: dict[str, Any] | None = None,
        timeout: float = 60.0,  # noqa: ASYNC109 - the SDK's
    ) -> list[dict[str, Any]]:
        """Return ``{"index", "relevance_score"}`` of documents, best first; of more than 64 only the first 64."""

    async def vector_upsert(
        self,
        collection_id: str,
        vectors: list[list[float]],
        ids: list[str],
        metadata: list[dict[str, Any]] | None = None,
        documents: list[str] | None = None,
    ) -> None:
        """Write rows."""

    async def vector_search(
        self,
        collection_id: str,
        query_vector: list[float],
        top_k: int = 5,
        filters: dict[str, Any] | None = None,
        search_type: str = "vector",
        query_text: str = "",
        vector_weight: float | None = None,
    ) -> list[dict[str, Any]]:
        """Return rows by similarity, best first."""

    async def vector_list(
        self, collection_id: str, filters: dict[str, Any] | None = None, limit: int = 20, offset: int = 0
    ) -> dict[str, Any]:
        """Return a page of rows: ``{"items": […], "total": n}``."""

    async def vector_delete(
        self, collection_id: str, file_ids: list[str] | None = None, filters: dict[str, Any] | None = None
    ) -> int:
        """Delete rows; the returned count means nothing."""

    async def get_plugin_storage(self, key: str) -> bytes:
        """Return a value; a missing key is an error."""

    async def set_plugin_storage(self, key: str, value: bytes) -> None:
        """Write a value."""

    async def delete_plugin_storage(self, key: str) -> None:
        """Delete a key; a missing one is fine."""

    async def get_plugin_storage_keys(self) -> list[str]:
        """Return all keys."""


class LangBotHost:
    """A host, as :class:`longterm_memory.ports.Host` describes it.

    Args:
        api: the plugin object, or anything else with its methods.
    """

    def __init__(self, api: HostApi) -> None:
        self._api = api
        self._storage = _Storage(api)
        self._version = ""
        self._counted: dict[str, bool] = {}
        self._delete_values = DELETE_VALUES

    @property
    def storage(self) -> KeyValueStorage:
        """The plugin's storage."""
        return self._storage

    async def version(self) -> str:
        """Return the host's version, ``""`` when it does not say."""
        if not self._version:
            try:
                self._version = str(await _patient(self._api.get_langbot_version) or "")
            except Exception:
                # Nothing depends on it that could not work without: the caller then goes by what it can see.
                return ""
        return self._version

    async def knowledge_bases(self) -> frozenset[str] | None:
        """Return the ids of all knowledge bases of the host, ``None`` when it does not say."""
        try:
            found = await _patient(self._api.list_knowledge_bases)
            return frozenset(str(base["uuid"]) for base in found)
        except Exception:
            # "Unknown" is an answer that callers have to be ready for, an error here would stop what works.
            return None

    async def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, unchecked, as the host gave them.

        Args:
            model: uuid of the embedding model.
            texts: any number; more than 100 go in several calls, one after the other.

        Raises:
            EmbeddingFailed: ``embedding_down`` when the host fails or times out; ``embedding_busy`` and
                ``embedding_refused`` when the service has a reason (:mod:`.refusals`); ``embedding_unusable`` when
                one of several calls answered with another number of vectors.
        """
        if len(texts) <= EMBED_TEXTS:
            return await self._embed(model, list(texts))
        vectors: list[list[float]] = []
        for start in range(0, len(texts), EMBED_TEXTS):
            batch = list(texts[start : start + EMBED_TEXTS])
            answer = await self._embed(model, batch)
            if not isinstance(answer, (list, tuple)) or len(answer) != len(batch):
                got = len(answer) if isinstance(answer, (list, tuple)) else 0
                raise EmbeddingFailed(
                    "embedding_unusable", detail="vectors_count", got=got, wanted=len(batch)
                )
            vectors.extend(answer)
        return vectors

    async def _embed(self, model: str, texts: list[str]) -> _Vectors:
        try:
            return await _patient(self._api.invoke_embedding, model, texts)
        except Exception as exc:
            raise embedding_failure(exc) from exc

    async def rerank(self, model: str, query: str, documents: Sequence[str], seconds: float) -> object:
        """Return what a rerank model says about documents, unchecked.

        Args:
            model: uuid of the rerank model.
            query: what the documents are compared with.
            documents: at most 64; the host drops the others.
            seconds: how long the host may take.

        Raises:
            RerankFailed: ``rerank_missing`` when this host cannot do it, ``rerank_down`` when it failed.
        """
        if not hasattr(self._api, "invoke_rerank"):
            raise RerankFailed("rerank_missing")
        with _failing_as(RerankFailed, "rerank_down"):
            call = self._api.invoke_rerank
            return await _patient(call, model, query, list(documents), timeout=seconds)

    async def upsert(self, collection: str, records: Sequence[VectorRecord]) -> None:
        """Write rows, in as many calls as their number and size need.

        Raises:
            StoreFailed: ``store_down``; rows of earlier calls may have been written. ``dimension_refused`` when the
                backend has no place for vectors of that length.
        """
        for batch in batches(records):
            vectors = [_floats(record.vector) for record in batch]
            ids = [record.id for record in batch]
            metadata = [dict(record.metadata) for record in batch]
            documents = [record.document for record in batch]
            try:
                await _patient(self._api.vector_upsert, collection, vectors, ids, metadata, documents)
            except Exception as exc:
                if "dimension" in str(exc).lower():
                    # pgvector has columns for six lengths; trying again later will not help.
                    raise StoreFailed("dimension_refused", dimension=len(vectors[0])) from exc
                raise StoreFailed("store_down") from exc

    async def search(self, collection: str, vector: Sequence[float], k: int, where: FileIds) -> _Rows:
        """Return up to ``k`` rows, best first; fewer when their texts would not fit into one message.

        Args:
            collection: id of the knowledge base.
            vector: finite floats, unit length.
            k: 1..16 384.
            where: the file_ids to search in.

        Raises:
            ValueError: ``k`` is out of range.
            StoreFailed: ``store_down``.
        """
        if not 1 <= k <= LIST_WINDOW:
            raise ValueError(f"k must be 1..{LIST_WINDOW}, not {k}")
        query, only = [float(x) for x in vector], filters(where)
        while True:
            try:
                with _failing_as(StoreFailed, "store_down"):
                    return rows(await _patient(self._api.vector_search, collection, query, k, only))[:k]
            except StoreFailed as exc:
                if k == 1 or not _too_large(exc.__cause__):
                    raise
                k //= 2

    async def list_rows(self, collection: str, where: RowFilter, limit: int, offset: int = 0) -> _Rows:
        """Return up to ``limit`` rows from ``offset``, in the backend's own stable order.

        Args:
            collection: id of the knowledge base.
            where: the rows to list.
            limit: at least 1; more than 1 500 are fetched page by page.
            offset: rows to skip; ``offset + limit`` is at most 16 384, a bound of Milvus.

        Raises:
            ValueError: ``limit`` or ``offset`` is out of range.
            StoreFailed: ``store_down``.
        """
        if limit < 1 or offset < 0 or offset + limit > LIST_WINDOW:
            raise ValueError(f"limit and offset must lie within {LIST_WINDOW} rows, not {offset} + {limit}")
        found: _Rows = []
        page = PAGE_ROWS
        while len(found) < limit:
            ask = min(page, limit - len(found))
            try:
                got = await self._page(collection, where, ask, offset + len(found))
            except StoreFailed as exc:
                if ask == 1 or not _too_large(exc.__cause__):
                    raise
                page = ask // 2
                continue
            found += got
            if len(got) < ask:
                break
        return found[:limit]

    async def _page(self, collection: str, where: RowFilter, limit: int, offset: int) -> _Rows:
        with _failing_as(StoreFailed, "store_down"):
            answer = await _patient(self._api.vector_list, collection, filters(where), limit, offset)
            self._counted[collection] = _counts(answer)
            return rows(answer)

    def counts_matches(self, collection: str) -> bool | None:
        """Whether the last listing came with a number of matches (Chroma and SeekDB say -1); ``None`` before it."""
        return self._counted.get(collection)

    async def list_by_user_key(self, collection: str, user_key: str, limit: int) -> _Rows:
        """Return what the backend gives for a plain filter on ``user_key``; for the health check alone.

        Raises:
            StoreFailed: ``store_down``; some backends refuse the filter.
        """
        with _failing_as(StoreFailed, "store_down"):
            return rows(await _patient(self._api.vector_list, collection, {"user_key": user_key}, limit, 0))

    async def delete_rows(self, collection: str, where: RowFilter) -> None:
        """Delete rows: file_ids by the host's own parameter, row ids by filter, never both in one call.

        Counts that come back mean nothing (most backends say 0, the host says ``len(file_ids)`` whatever
        happened), so only a listing tells what is gone.

        Raises:
            StoreFailed: ``store_down``; some of the rows may be gone.
        """
        if isinstance(where, FileIds):
            with _failing_as(StoreFailed, "store_down"):
                await _patient(self._api.vector_delete, collection, file_ids=list(where.values))
            return
        left = where.values
        while left:
            some, left = left[: self._delete_values], left[self._delete_values :]
            try:
                with _failing_as(StoreFailed, "store_down"):
                    await _patient(self._api.vector_delete, collection, filters=filters(RowIds(some)))
            except StoreFailed as exc:
                # SeekDB compares every row with every id, and gives up after 10 s.
                if len(some) == 1 or "query timeout" not in str(exc.__cause__):
                    raise
                self._delete_values, left = len(some) // 2, (*some, *left)


class _Storage:
    """Plugin storage as :class:`longterm_memory.ports.KeyValueStorage` describes it."""

    def __init__(self, api: HostApi) -> None:
        self._api = api

    async def get(self, key: str) -> bytes | None:
        try:
            return bytes(await _patient(self._api.get_plugin_storage, key))
        except Exception as exc:
            if _missing(exc, key):
                return None
            raise StorageFailed("storage_down") from exc

    async def set(self, key: str, value: bytes) -> None:
        if len(value) > VALUE_MAX:
            # The host refuses it anyway, and beyond 12 MB the connection would refuse the message.
            raise StorageFailed("too_large", length=len(value), limit=VALUE_MAX)
        try:
            await _patient(self._api.set_plugin_storage, key, value)
        except Exception as exc:
            limit = _value_limit(exc)
            if limit is not None:
                raise StorageFailed("too_large", length=len(value), limit=limit) from exc
            raise StorageFailed("storage_down") from exc

    async def delete(self, key: str) -> None:
        try:
            await _patient(self._api.delete_plugin_storage, key)
        except Exception as exc:
            if not _missing(exc, key):
                raise StorageFailed("storage_down") from exc

    async def keys(self) -> list[str]:
        with _failing_as(StorageFailed, "storage_down"):
            return [str(key) for key in await _patient(self._api.get_plugin_storage_keys)]


def _counts(answer: object) -> bool:
    """Whether a listing came with a number of matches."""
    total = (
        answer.get("total")
        if isinstance(answer, dict)
        else answer[-1]
        if isinstance(answer, (list, tuple))
        else None
    )
    return isinstance(total, int) and total >= 0


def _floats(vector: Sequence[float]) -> list[float]:
    """Return a vector as JSON can take it; what a numpy array made a list of needs no second look."""
    if isinstance(vector, list) and type(vector[0]) is float:
        return vector
    return [float(x) for x in vector]


async def _patient(call: Callable[_P, Awaitable[_T]], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Make a call, and again after a pause when the connection was too busy to take it."""
    for pause in BUSY_PAUSES:
        try:
            return await call(*args, **kwargs)
        except Exception as exc:
            if "Runtime connection is busy" not in str(exc):
                raise
            await asyncio.sleep(pause)
    return await call(*args, **kwargs)


@contextmanager
def _failing_as(error: type[LongTermMemoryError], reason: str) -> Iterator[None]:
    """Turn whatever the host raises into ours, with the original as cause; cancellation passes."""
    try:
        yield
    except Exception as exc:
        raise error(reason) from exc


def _too_large(exc: BaseException | None) -> bool:
    """Whether the answer did not fit into one message of the SDK (16 MiB)."""
    return exc is not None and "byte limit" in str(exc) and "message exceeds" in str(exc)


def _missing(exc: Exception, key: str) -> bool:
    return f"Storage with key {key} not found" in str(exc)


def _value_limit(exc: Exception) -> int | None:
    """Return the limit in bytes when the host refused a storage value for its size."""
    match = re.search(r"value exceeds .*?(\d+)[- ]byte(?:s\)| limit)", str(exc))
    return int(match[1]) if match else None
