"""Calls that some real vector database refuses or answers wrongly, and which one does what.

Each shape is run on the real backends (does it still go wrong there?) and on the strict double (does it
refuse?).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from longterm_memory.ports import VectorRecord
from playground.engines import PluginApi
from tests.support.rows import Columns, at_cosine, file_id, row, row_id, rows, with_metadata

Outcome = Literal["raises", "wrong"]

A, B = file_id("a"), file_id("b")
KEPT = [*rows("a", 3), *rows("b", 2)]
"""What every shape finds in the collection."""

Run = Callable[[PluginApi, str], Awaitable[object]]


@dataclass(frozen=True)
class Shape:
    """One kind of call.

    Attributes:
        name: what is special about it.
        run: makes the call and returns something to compare.
        right: what ``run`` returns where the call does what it says.
        goes_wrong: which backends raise, and which return something else; a flavour (``milvus-3``) does what its
            backend does, unless it stands here itself.
        fresh: whether the collection must never have been written.
        reads: whether it leaves the collection as it was.
    """

    name: str
    run: Run
    right: object = None
    goes_wrong: dict[str, Outcome | None] = field(default_factory=dict)
    fresh: bool = False
    reads: bool = False

    def outcome(self, engine: str) -> Outcome | None:
        """Return what this call comes to on an engine, ``None`` where it does what it says."""
        return self.goes_wrong.get(engine, self.goes_wrong.get(engine.partition("-")[0]))


async def put(api: PluginApi, collection: str, *records: VectorRecord) -> None:
    """Write rows past our adapter."""
    columns = Columns.of(*records)
    await api.vector_upsert(collection, columns.vectors, columns.ids, columns.metadata, columns.documents)


async def left(api: PluginApi, collection: str) -> set[str]:
    """Return the ids of what is in the collection, under either scope."""
    answer = await api.vector_list(collection, {"file_id": {"$in": [A, B]}}, 100, 0)
    return {item["id"] for item in answer["items"]}


def _names(answer: Any) -> set[str]:
    items = answer["items"] if isinstance(answer, dict) else answer
    return {item["id"] for item in items}


def _listing(filters: Any, limit: int = 100, offset: int = 0) -> Run:
    async def run(api: PluginApi, collection: str) -> object:
        return _names(await api.vector_list(collection, filters, limit, offset))

    return run


def _search(top_k: int = 10, vector: list[float] | None = None, **how: Any) -> Run:
    async def run(api: PluginApi, collection: str) -> object:
        query = at_cosine(1.0) if vector is None else vector
        return _names(await api.vector_search(collection, query, top_k, {"file_id": A}, **how))

    return run


def _delete(file_ids: list[str] | None = None, filters: Any = None) -> Run:
    async def run(api: PluginApi, collection: str) -> object:
        await api.vector_delete(collection, file_ids, filters)
        return await left(api, collection)

    return run


def _write(*records: VectorRecord) -> Run:
    """Write rows, and return what is then stored under their scope, as far as every backend returns it."""

    async def run(api: PluginApi, collection: str) -> object:
        await put(api, collection, *records)
        answer = await api.vector_list(collection, {"file_id": file_id("new")}, 100, 0)
        return {item["id"]: item["metadata"].get("text") for item in answer["items"]}

    return run


def _stored(*records: VectorRecord) -> dict[str, object]:
    return {record.id: record.metadata["text"] for record in records}


async def _again(api: PluginApi, collection: str) -> object:
    """Write a row, write it again into another scope, and look where it is."""
    await put(api, collection, row("new", "0"))
    await put(api, collection, with_metadata(row("new", "0"), file_id=A, user_key=None))
    old = await api.vector_list(collection, {"file_id": file_id("new")}, 100, 0)
    new = await api.vector_list(collection, {"file_id": A}, 100, 0)
    (item,) = [i for i in new["items"] if i["id"] == row("new", "0").id]
    return len(old["items"]), item["metadata"].get("user_key")


async def _kept_values(api: PluginApi, collection: str) -> object:
    """Write a list as metadata and return what came back for it."""
    await put(api, collection, with_metadata(row("new", "0"), tags=["a", "b"]))
    answer = await api.vector_list(collection, {"file_id": file_id("new")}, 1, 0)
    return answer["items"][0]["metadata"].get("tags", ["a", "b"])


async def _distances(api: PluginApi, collection: str) -> object:
    """Search for a vector of length two; angles stay the same, so distances should."""
    query = at_cosine(0.5)
    first = await api.vector_search(collection, query, 5, {"file_id": A})
    double = await api.vector_search(collection, [2 * x for x in query], 5, {"file_id": A})
    return [abs(a["distance"] - b["distance"]) < 1e-3 for a, b in zip(first, double, strict=True)]


async def _zero(api: PluginApi, collection: str) -> object:
    """Store a zero vector and return whether its distance is a number."""
    await put(api, collection, replace(row("new", "0"), vector=[0.0] * 384))
    await api.settle()
    answer = await api.vector_search(collection, at_cosine(1.0), 5, {"file_id": file_id("new")})
    return [item["distance"] == item["distance"] for item in answer]


async def _read_first(api: PluginApi, collection: str) -> object:
    """Search in a collection before anything was written, then write."""
    await api.vector_search(collection, at_cosine(1.0), 5, {"file_id": A})
    await put(api, collection, *KEPT)
    return await left(api, collection)


async def _list_first(api: PluginApi, collection: str) -> object:
    """List a collection before anything was written, then write."""
    await api.vector_list(collection, {"file_id": A}, 5, 0)
    await put(api, collection, *KEPT)
    return await left(api, collection)


async def _delete_first(api: PluginApi, collection: str) -> object:
    """Delete from a collection before anything was written, then write."""
    await api.vector_delete(collection, filters={"uuid": row_id("unknown")})
    await put(api, collection, *KEPT)
    return await left(api, collection)


_ALL: dict[str, Outcome | None] = dict.fromkeys(
    ("chroma", "seekdb", "qdrant", "pgvector", "milvus"), "raises"
)
_A = {record.id for record in KEPT[:3]}
_EVERYTHING = {record.id for record in KEPT}
_NEW = row("new", "0")
_INJECTION = 'zz" or file_id != "zz'
_SHORT = replace(_NEW, id="ltm-1", metadata={**_NEW.metadata, "uuid": "ltm-1"})
_UPPER = replace(_NEW, id=_NEW.id.upper(), metadata={**_NEW.metadata, "uuid": _NEW.id.upper()})
_NUL = with_metadata(_NEW, text="a\x00b")
_SURROGATE = with_metadata(_NEW, text="a\ud800b")

SHAPES = (
    Shape(
        "filter by our own field",
        _listing({"user_key": "a"}),
        _A,
        {"pgvector": "wrong", "milvus": "wrong"},
        reads=True,
    ),
    Shape(
        "filter by two keys",
        _listing({"file_id": A, "uuid": KEPT[0].id}),
        {KEPT[0].id},
        {"chroma": "raises"},
        reads=True,
    ),
    Shape(
        "filter with $and",
        _listing({"$and": [{"file_id": A}, {"uuid": KEPT[0].id}]}),
        {KEPT[0].id},
        {"qdrant": "raises", "pgvector": "wrong", "milvus": "wrong"},
        reads=True,
    ),
    Shape(
        "filter by a range",
        _listing({"importance": {"$gte": 5}}),
        set(),
        {"pgvector": "wrong", "milvus": "wrong"},
        reads=True,
    ),
    Shape(
        "filter with an empty $in",
        _listing({"file_id": {"$in": []}}),
        set(),
        {"chroma": "raises", "milvus": "raises", "milvus-3": None},
        reads=True,
    ),
    Shape(
        "filter with an unknown operator",
        _listing({"file_id": {"$is": A}}),
        goes_wrong=_ALL | {"seekdb": "wrong"},
        reads=True,
    ),
    Shape(
        "limit 0", _listing({"file_id": A}, 0), set(), {"pgvector": "raises", "milvus": "wrong"}, reads=True
    ),
    Shape(
        "offset beyond the window",
        _listing({"file_id": A}, 10, 16_380),
        set(),
        {"milvus": "raises", "milvus-3": None},
        reads=True,
    ),
    Shape("top_k 0", _search(0), set(), _ALL | {"qdrant-edge": None}, reads=True),
    Shape(
        "top_k beyond the window",
        _search(16_385),
        _A,
        {"seekdb": "raises", "milvus": "raises", "milvus-3": None},
        reads=True,
    ),
    Shape("query of another dimension", _search(5, [1.0, 0.0]), goes_wrong=_ALL, reads=True),
    Shape(
        "full-text search",
        _search(search_type="full_text", query_text="no such word"),
        set(),
        {"qdrant": "wrong", "pgvector": "raises", "milvus": "wrong"},
        reads=True,
    ),
    Shape("vectors of another length than one", _distances, [True] * 3, {"chroma": "wrong"}, reads=True),
    Shape(
        "delete with an empty condition",
        _delete(None, {"file_id": {}}),
        _EVERYTHING,
        {"chroma": "raises", "seekdb": "wrong", "qdrant": "wrong"},
    ),
    Shape(
        "delete by a field of our own beside file_id",
        _delete(None, {"file_id": A, "episode_id": "none"}),
        _EVERYTHING,
        {"chroma": "raises", "pgvector": "wrong", "milvus": "wrong"},
    ),
    Shape(
        "delete by file_ids and filters",
        _delete([A], {"uuid": KEPT[0].id}),
        _EVERYTHING - {KEPT[0].id},
        dict.fromkeys(_ALL, "wrong"),
    ),
    Shape("delete with a quote in the file_id", _delete([_INJECTION]), _EVERYTHING, {"milvus": "wrong"}),
    Shape("an id that is no UUID", _write(_SHORT), _stored(_SHORT), {"qdrant": "raises"}),
    Shape("an id in upper case", _write(_UPPER), _stored(_UPPER), {"qdrant": "wrong"}),
    # SeekDB under LangBot 4.10 refuses this and the next one too; its class there inserts instead of
    # upserting.
    Shape(
        "the same id twice in a batch",
        _write(_NEW, _NEW),
        _stored(_NEW),
        {"chroma": "raises", "pgvector": "raises"},
    ),
    Shape("an id that exists", _again, (0, None), {"chroma": "wrong", "milvus": "wrong", "milvus-3": None}),
    Shape("no file_id", _write(with_metadata(_NEW, file_id=None)), {}, {"milvus": "raises"}),
    Shape(
        "no text",
        _write(with_metadata(_NEW, text=None)),
        {_NEW.id: None},
        {"pgvector": "wrong", "milvus": "raises"},
    ),
    Shape(
        "an object in the metadata",
        _write(with_metadata(_NEW, extra={"a": 1})),
        _stored(_NEW),
        {"chroma": "raises"},
    ),
    Shape("a list in the metadata", _kept_values, ["a", "b"], {"seekdb": "wrong"}),
    Shape("NUL in a text", _write(_NUL), _stored(_NUL), {"pgvector": "raises"}),
    Shape(
        "a lone surrogate in a text",
        _write(_SURROGATE),
        _stored(_SURROGATE),
        {
            "chroma": "raises",
            "seekdb": "raises",
            "pgvector": "raises",
            "milvus": "raises",
            "qdrant-edge": "raises",
        },
    ),
    Shape(
        "a file_id of 300 characters",
        _write(with_metadata(_NEW, file_id="a" * 300)),
        {},
        {"pgvector": "raises", "milvus-3": "raises"},
    ),
    Shape("a vector of another dimension", _write(replace(_NEW, vector=[1.0, 0.0])), goes_wrong=_ALL),
    Shape(
        "a dimension pgvector has no index for",
        _write(replace(_NEW, vector=[1.0] + [0.0] * 99)),
        _stored(_NEW),
        {"pgvector": "raises"},
        fresh=True,
    ),
    Shape(
        "NaN in a vector",
        _write(replace(_NEW, vector=[float("nan")] + [0.0] * 383)),
        _stored(_NEW),
        {"chroma": "raises", "qdrant": "raises", "pgvector": "raises", "qdrant-edge": None},
    ),
    Shape("a zero vector", _zero, [True], {"seekdb": "wrong", "pgvector": "wrong"}),
    Shape(
        "a search before the first write",
        _read_first,
        _EVERYTHING,
        {"pgvector": "raises", "milvus": "raises"},
        fresh=True,
    ),
    Shape("a list before the first write", _list_first, _EVERYTHING, {"milvus": "raises"}, fresh=True),
    Shape("a delete before the first write", _delete_first, _EVERYTHING, {"milvus": "raises"}, fresh=True),
    # Milvus' server refuses it by its schema as milvus-lite 3 does.
    Shape(
        "a text beyond Milvus' field",
        _write(with_metadata(_NEW, text="x" * 65_536)),
        {_NEW.id: "x" * 65_536},
        {"milvus-3": "raises"},
    ),
)
