"""A host in memory that refuses whatever any real vector database refuses, and returns as little as the
poorest.

What a real one was seen to do is pinned in ``tests/engines``; where engines differ, the strictest rule is
in force here. So code that passes on this double cannot have relied on the kindness of one engine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from playground.engines.faults import Faults
from playground.engines.wire import HostError, HostTimeoutError, PluginApi

__all__ = ["Faults", "HostError", "HostTimeoutError", "RefusedError", "StrictHost"]

Metric = Literal["l2", "cosine", "similarity"]
UserKeyFilter = Literal["refused", "held", "dropped"]

_ROW_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TEXT_BYTES = 65_535  # Milvus' VARCHAR
_KEY_CHARS = 255  # pgvector's and Milvus' file_id column
_WINDOW = 16_384  # Milvus and SeekDB
_BATCH = 5_000  # Chroma: about 5 400
_PGVECTOR_DIMENSIONS = frozenset({384, 512, 768, 1024, 1536, 3072})


class RefusedError(Exception):
    """Some real backend would fail on this, or do something else than asked."""


@dataclass
class _Row:
    id: str
    vector: np.ndarray[Any, np.dtype[np.float64]]
    metadata: dict[str, Any]
    document: str


class StrictHost(PluginApi):
    """The double. Rows live in ``rows[collection][id]``, plugin storage in ``values``.

    Args:
        metric: what ``distance`` means: ``"l2"`` (Chroma, squared), ``"cosine"`` (1 - cosine: Qdrant, SeekDB,
            pgvector) or ``"similarity"`` (Milvus). Order is always best first.
        rich: metadata comes back whole, as on Chroma, Qdrant and SeekDB; otherwise only ``text``,
            ``file_id`` and ``uuid``, as on Milvus and pgvector.
        counts: a listing comes with the number of matches, as on Qdrant, pgvector and Milvus (the default but for
            ``"l2"``); otherwise with -1, as on Chroma and SeekDB.
        any_dimension: accept vectors of lengths that pgvector has no column for.
        user_key_filter: what a listing by ``user_key`` gives, which only the health check may ask for: an error,
            the rows (``"held"``: Chroma, Qdrant, SeekDB), or everybody's (``"dropped"``: pgvector, Milvus).
        **options: see :class:`playground.engines.wire.PluginApi` (``embed``, ``version``, ``latency``).
    """

    def __init__(
        self,
        *,
        metric: Metric = "cosine",
        rich: bool = False,
        counts: bool | None = None,
        any_dimension: bool = False,
        user_key_filter: UserKeyFilter = "refused",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.metric = metric
        self.user_key_filter = user_key_filter
        self.rich = rich
        self.counts = metric != "l2" if counts is None else counts
        self.any_dimension = any_dimension
        self.rows: dict[str, dict[str, _Row]] = {}
        self._dimensions: dict[str, int] = {}

    # ---------------------------------------------------------------- writing

    async def _upsert(
        self,
        collection_id: str,
        vectors: list[list[float]],
        ids: list[str],
        metadata: list[dict[str, Any]] | None,
        documents: list[str] | None,
    ) -> None:
        _name(collection_id)
        _require(metadata is not None and documents is not None, "metadata and documents are needed")
        assert metadata is not None
        assert documents is not None
        lengths = {len(vectors), len(ids), len(metadata), len(documents)}
        _require(len(lengths) == 1, "vectors, ids, metadata and documents differ in number")
        _require(0 < len(ids) <= _BATCH, f"a batch holds 1..{_BATCH} rows")
        _require(len(set(ids)) == len(ids), "the same id twice in a batch")
        known = self.rows.get(collection_id, {})
        dimension = self._dimensions.get(collection_id, len(vectors[0]) if vectors else 0)
        _require(
            self.any_dimension or dimension in _PGVECTOR_DIMENSIONS, f"no column for {dimension} dimensions"
        )
        fresh: dict[str, _Row] = {}
        for row_id, vector, fields, document in zip(ids, vectors, metadata, documents, strict=True):
            _require(
                isinstance(row_id, str) and _ROW_ID.fullmatch(row_id) is not None,
                "an id is a lowercase dashed UUID",
            )
            # Milvus inserts a second row under the id, Chroma merges the metadata, SeekDB under 4.10 fails.
            _require(row_id not in known, "an id is written once; a new version needs a new id")
            _metadata(fields, row_id)
            _string(document, "document")
            fresh[row_id] = _Row(row_id, _vector(vector, dimension), dict(fields), document)
        self.rows.setdefault(collection_id, {}).update(fresh)
        self._dimensions[collection_id] = dimension

    # ---------------------------------------------------------------- reading

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
        _require(search_type == "vector", "only vector search works everywhere")
        _require(not query_text and vector_weight is None, "only vector search works everywhere")
        _require(type(top_k) is int and 1 <= top_k <= _WINDOW, f"top_k must be 1..{_WINDOW}")
        rows = self._matching(collection_id, filters)
        query = _vector(query_vector, self._dimensions[collection_id])
        if not rows:
            return []
        cosines = np.stack([row.vector for row in rows]) @ query
        best = np.argsort(-cosines, kind="stable")[:top_k]
        return [
            {
                "id": rows[i].id,
                "distance": self._distance(float(cosines[i])),
                "metadata": self._given_back(rows[i]),
            }
            for i in best
        ]

    def _distance(self, cosine: float) -> float:
        match self.metric:
            case "l2":
                return 2.0 - 2.0 * cosine
            case "cosine":
                return 1.0 - cosine
            case "similarity":
                return cosine

    async def _list(
        self, collection_id: str, filters: dict[str, Any] | None, limit: int, offset: int
    ) -> tuple[list[dict[str, Any]], int]:
        _require(type(limit) is int and type(offset) is int, "limit and offset are integers")
        _require(limit >= 1 and offset >= 0, "limit must be positive, offset not negative")
        _require(offset + limit <= _WINDOW, f"offset + limit must not exceed {_WINDOW}")
        matching = self._matching(collection_id, filters)
        page = matching[offset : offset + limit]
        items = [
            {
                "id": row.id,
                "document": row.document if self.rich else row.metadata["text"],
                "metadata": self._given_back(row),
            }
            for row in page
        ]
        return items, len(matching) if self.counts else -1

    def _matching(self, collection_id: str, filters: dict[str, Any] | None) -> list[_Row]:
        """Rows that match, ordered by id as on Qdrant, pgvector and Milvus."""
        if self.user_key_filter != "refused" and filters and list(filters) == ["user_key"]:
            everybody = [row for _, row in sorted(self._written(collection_id).items())]
            if self.user_key_filter == "dropped":
                return everybody
            return [row for row in everybody if row.metadata.get("user_key") == filters["user_key"]]
        key, values = _filter(filters)
        rows = self._written(collection_id)
        if self.faults.ignore_filters:
            return [rows[i] for i in sorted(rows)]
        return [rows[i] for i in sorted(rows) if rows[i].metadata[key] in values]

    def _written(self, collection_id: str) -> dict[str, _Row]:
        _name(collection_id)
        # Milvus would now create the collection with 1536 dimensions and refuse everything else from then on.
        _require(collection_id in self.rows, "a collection is written before it is read")
        return self.rows[collection_id]

    def _given_back(self, row: _Row) -> dict[str, Any]:
        if self.rich:
            return row.metadata | {"_langbot_workspace_uuid": "workspace"}
        return {key: row.metadata[key] for key in ("text", "file_id", "uuid")}

    # ---------------------------------------------------------------- deleting

    async def _delete(
        self, collection_id: str, file_ids: list[str] | None, filters: dict[str, Any] | None
    ) -> int:
        _require((file_ids is None) != (filters is None), "delete by file_ids or by filters, not both")
        if file_ids is not None:
            _require(isinstance(file_ids, list), "file_ids is a list")
            key, values = "file_id", _values(file_ids)
        else:
            key, values = _filter(filters)
        rows = self._written(collection_id)
        for row_id in [row.id for row in rows.values() if row.metadata[key] in values]:
            del rows[row_id]
        return len(file_ids) if file_ids is not None else 0

    # ---------------------------------------------------------------- embeddings

    async def _embed(self, model: str, texts: list[str]) -> list[list[float]]:
        _require(bool(model) and isinstance(model, str), "an embedding model is named")
        _require(bool(texts) and all(isinstance(t, str) and t.strip() for t in texts), "blank text")
        return await super()._embed(model, texts)


def _require(condition: bool, why: str) -> None:
    if not condition:
        raise RefusedError(why)


def _name(collection_id: str) -> None:
    _require(isinstance(collection_id, str) and bool(collection_id.strip()), "a collection has a name")


def _string(value: object, what: str) -> None:
    _require(isinstance(value, str), f"{what} is text")
    assert isinstance(value, str)
    _require("\x00" not in value, f"NUL in {what}")
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise RefusedError(f"lone surrogate in {what}") from exc


def _metadata(fields: object, row_id: str) -> None:
    _require(isinstance(fields, dict), "metadata is an object")
    assert isinstance(fields, dict)
    for key in ("text", "file_id", "uuid"):
        _require(isinstance(fields.get(key), str), f"metadata needs {key}, as text")
    _require(fields["uuid"] == row_id, "uuid and id must be the same")
    _require(len(fields["text"].encode("utf-8", "surrogatepass")) < _TEXT_BYTES, "text is too long")
    _values([fields["file_id"]])
    for key, value in fields.items():
        _require(not key.startswith("_langbot_"), "that key is the host's")
        _string(key, "a metadata key")
        if isinstance(value, str):
            _string(value, f"metadata {key}")
        else:
            _require(isinstance(value, (bool, int, float)), f"metadata {key} is no scalar")
            _require(math.isfinite(value) and abs(value) < 2**63, f"metadata {key} is out of range")


def _vector(given: object, dimension: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    _require(isinstance(given, list) and len(given) == dimension, f"a vector has {dimension} numbers here")
    assert isinstance(given, list)
    _require(all(type(x) in (int, float) and math.isfinite(x) for x in given), "a vector is finite numbers")
    vector = np.asarray(given, dtype=np.float64)
    _require(abs(float(np.linalg.norm(vector)) - 1.0) <= 1e-3, "a vector has unit length")
    return vector


def _filter(filters: object) -> tuple[str, frozenset[str]]:
    _require(isinstance(filters, dict) and len(filters) == 1, "a filter has exactly one key")
    assert isinstance(filters, dict)
    key, condition = next(iter(filters.items()))
    _require(key in ("file_id", "uuid"), "only file_id and uuid can be filtered by everywhere")
    if isinstance(condition, dict):
        _require(list(condition) == ["$in"] and isinstance(condition["$in"], list), "only $in and equality")
        return key, _values(condition["$in"])
    return key, _values([condition])


def _values(values: Iterable[object]) -> frozenset[str]:
    found = list(values)
    _require(bool(found), "an empty list of values")
    for value in found:
        _require(isinstance(value, str) and bool(value.strip()), "an empty value, or none that is text")
        assert isinstance(value, str)
        _require(len(value) <= _KEY_CHARS, f"a key longer than {_KEY_CHARS}")
        _require(value == value.strip(), "a key with spaces around it")
        _require(value.isascii() and value.isprintable(), "a key beyond printable ASCII")
        _require(not set(value) & set("\"'\\"), "a quote or backslash would end Milvus' expression")
    return frozenset(v for v in found if isinstance(v, str))
