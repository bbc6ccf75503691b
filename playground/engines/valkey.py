"""A double of a Valkey server with the search module, behind the host's own class for it.

No such server can be had from a package, so this one is written after what LangBot's class sends, which is all
it understands: every other command, option or query is refused. What a real server answers was not seen; where
its documentation leaves a choice, this one takes the less comfortable (see docs/decisions/0005-valkey.md). The
glide client's ``ft`` functions are the real ones, so what is recorded is what would go over the wire.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from glide import RequestError
from glide_shared.protobuf.command_request_pb2 import RequestType  # type: ignore[import-untyped]
from numpy.typing import NDArray

from .backends import _LOG, Backend, _service
from .native import Native

__all__ = ["NotUnderstoodError", "ValkeyDouble", "open_valkey_double"]

Reply = list[Any]

_CREATE = re.compile(
    r"ON HASH PREFIX 1 (?P<prefix>kb:\S+:) "
    r"SCHEMA vector VECTOR (?:HNSW|FLAT) 6 DIM (?P<dimension>\d+) DISTANCE_METRIC COSINE TYPE FLOAT32 "
    r"file_id TAG document TEXT"
)
_TAG = r"(?:[A-Za-z0-9_]|\\[^A-Za-z0-9_])+"
_TAGGED = rf"@file_id:\{{(?P<tags>{_TAG}(?:\|{_TAG})*)\}}"
_NEAREST = r"=>\[KNN (?P<k>\d+) @vector \$BLOB AS __vec_score\]"
_QUERY = re.compile(rf"(?:(?P<anything>\*)|{_TAGGED}){_NEAREST}|{_TAGGED.replace('tags', 'only')}")
_MATCH_ALL = "-@file_id:{__langbot_match_all_sentinel__}"
_OPTIONS = re.compile(
    r"(?P<keys>NOCONTENT )?"
    r"(?:RETURN (?P<returned>5 __vec_score AS distance document metadata_json|2 document metadata_json) )?"
    r"(?P<blob>PARAMS 2 BLOB \S+ )?LIMIT (?P<offset>\d+) (?P<count>\d+) DIALECT 2"
)
_FIELDS = frozenset({b"vector", b"metadata_json", b"file_id", b"document"})


class NotUnderstoodError(Exception):
    """The double was sent something that LangBot's class does not send."""


@dataclass(frozen=True)
class _Document:
    """A hash as an index sees it."""

    order: bytes
    tags: frozenset[str]
    vector: NDArray[np.float64]


@dataclass
class _Index:
    prefix: bytes
    dimension: int
    documents: dict[bytes, _Document] = field(default_factory=dict)

    def see(self, key: bytes, fields: Mapping[bytes, bytes] | None) -> None:
        """Take in that a hash was written, or deleted."""
        if not key.startswith(self.prefix):
            return
        self.documents.pop(key, None)
        if fields is None or len(fields.get(b"vector", b"")) != 4 * self.dimension:
            # A vector of another length: whether the rest is then indexed is not documented. Here it is lost.
            return
        vector = np.frombuffer(fields[b"vector"], dtype="<f4").astype(np.float64)
        # TAG without options: split at commas, spaces around are cut off, upper and lower case are the same.
        tags = frozenset(t.strip().lower() for t in fields.get(b"file_id", b"").decode().split(","))
        self.documents[key] = _Document(hashlib.sha256(key).digest(), tags - {""}, vector)

    def matching(self, tags: frozenset[str] | None) -> list[bytes]:
        """Return the keys with one of these tags, all for ``None``; in a stable order that is none of ours."""
        found = [(d.order, key) for key, d in self.documents.items() if tags is None or d.tags & tags]
        return [key for _, key in sorted(found)]

    def nearest(self, keys: Sequence[bytes], blob: bytes, k: int) -> list[tuple[bytes, float]]:
        """Return the ``k`` nearest of these keys and their cosine distances, nearest first."""
        if len(blob) != 4 * self.dimension:
            raise RequestError(f"query vector blob size ({len(blob)}) does not match index's expected size")
        if not keys:
            return []
        query = np.frombuffer(blob, dtype="<f4").astype(np.float64)
        rows = np.stack([self.documents[key].vector for key in keys])
        norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
        distances = 1.0 - (rows @ query) / np.where(norms == 0, 1.0, norms)
        best = np.argsort(distances, kind="stable")[:k]
        return [(keys[i], float(distances[i])) for i in best]


class ValkeyDouble:
    """Stands in for ``GlideClient``.

    Attributes:
        commands: everything that was sent, oldest first; binary vectors are shortened to ``"<vector>"``.
        hashes: the keyspace.
    """

    def __init__(self) -> None:
        self.commands: list[tuple[str, ...]] = []
        self.hashes: dict[bytes, dict[bytes, bytes]] = {}
        self._indexes: dict[str, _Index] = {}

    @property
    def queries(self) -> list[str]:
        """The query of every ``FT.SEARCH``."""
        return [command[2] for command in self.commands if command[0] == "FT.SEARCH"]

    def row(self, row_id: str) -> dict[bytes, bytes] | None:
        """Return the hash of a row, whatever collection it is in."""
        return next((h for key, h in self.hashes.items() if key.decode().endswith(f":{row_id}")), None)

    # ---------------------------------------------------------------- what the host's class calls

    async def custom_command(self, arguments: Sequence[str | bytes]) -> Any:
        """Carry out an ``FT.`` command."""
        name, *rest = arguments
        await self._sent(str(name), rest)
        match name, rest:
            case "FT.INFO", [str(index)]:
                return {b"num_docs": len(self._index(index).documents)}
            case "FT.CREATE", [str(index), *options]:
                return self._create(index, _words(options))
            case "FT.SEARCH", [str(index), str(query), *options]:
                return self._search(self._index(index), query, options)
            case "FT.DROPINDEX", [str(index)]:
                self._index(index)
                del self._indexes[index]
                return "OK"
        raise NotUnderstoodError(_words(arguments))

    async def exec(self, batch: Any, raise_on_error: bool) -> list[int]:
        """Carry out a pipeline of ``HSET``; others get their turn between its commands."""
        if batch.is_atomic or not raise_on_error:
            raise NotUnderstoodError("only pipelines that report errors")
        return [await self._hset(kind, arguments) for kind, arguments in batch.commands]

    async def delete(self, keys: Sequence[str | bytes]) -> int:
        """Delete keys."""
        await self._sent("DEL", keys)
        return sum(self._gone(_bytes(key)) for key in keys)

    async def scan(self, cursor: bytes, match: str, count: int) -> Reply:
        """Return all matching keys in one answer."""
        await self._sent("SCAN", [cursor, match, str(count)])
        if not match.endswith("*") or "*" in match[:-1]:
            raise NotUnderstoodError(f"SCAN MATCH {match}")
        return [b"0", [key for key in self.hashes if key.startswith(match[:-1].encode())]]

    async def close(self) -> None:
        """Do nothing: the data lives on, as a server's would."""

    # ---------------------------------------------------------------- commands

    async def _sent(self, name: str, arguments: Sequence[str | bytes]) -> None:
        await asyncio.sleep(0)
        self.commands.append((name, *map(_readable, arguments)))

    async def _hset(self, kind: int, arguments: Sequence[str | bytes]) -> int:
        if kind != RequestType.HSet:
            raise NotUnderstoodError(f"request {kind} in a pipeline")
        await self._sent("HSET", arguments)
        key, *pairs = map(_bytes, arguments)
        fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
        if not fields.keys() <= _FIELDS:
            raise NotUnderstoodError(f"HSET of {sorted(fields)}")
        stored = self.hashes.setdefault(key, {})
        added = len(fields.keys() - stored.keys())
        stored |= fields
        for index in self._indexes.values():
            index.see(key, stored)
        return added

    def _gone(self, key: bytes) -> bool:
        for index in self._indexes.values():
            index.see(key, None)
        return self.hashes.pop(key, None) is not None

    def _index(self, name: str) -> _Index:
        if name not in self._indexes:
            raise RequestError(f"Index with name '{name}' not found")
        return self._indexes[name]

    def _create(self, name: str, options: str) -> str:
        asked = _CREATE.fullmatch(options)
        if asked is None:
            raise NotUnderstoodError(f"FT.CREATE {options}")
        if name in self._indexes:
            raise RequestError(f"Index {name} already exists.")
        index = _Index(asked["prefix"].encode(), int(asked["dimension"]))
        for key, fields in self.hashes.items():
            index.see(key, fields)
        self._indexes[name] = index
        return "OK"

    def _search(self, index: _Index, query: str, options: Sequence[str | bytes]) -> Reply:
        how, asked = _OPTIONS.fullmatch(_words(options)), _QUERY.fullmatch(query)
        if how is None or (asked is None and query != _MATCH_ALL):
            raise NotUnderstoodError(f"FT.SEARCH {query} {_words(options)}")
        tags = _tags((asked["tags"] or asked["only"]) if asked else None)
        keys, offset, count = index.matching(tags), int(how["offset"]), int(how["count"])
        k = int(asked["k"]) if asked and asked["k"] else 0
        scored = "distance" in (how["returned"] or "")
        if bool(k) != bool(how["blob"]) or bool(k) != scored or bool(how["keys"]) == bool(how["returned"]):
            raise NotUnderstoodError(f"FT.SEARCH {query} {_words(options)}")
        found: list[tuple[bytes, float | None]] = [(key, None) for key in keys]
        if k:
            (blob,) = (option for option in options if isinstance(option, bytes))
            found = [*index.nearest(keys, blob, k)]
        page = found[offset : offset + count]
        return [len(found), {key: {} if how["keys"] else self._returned(key, d) for key, d in page}]

    def _returned(self, key: bytes, distance: float | None) -> dict[bytes, bytes]:
        stored = self.hashes[key]
        fields = {} if distance is None else {b"distance": repr(distance).encode()}
        return fields | {name: stored[name] for name in (b"document", b"metadata_json") if name in stored}


def _bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


def _readable(value: str | bytes) -> str:
    if isinstance(value, str):
        return value
    return value.decode() if value == b"0" else "<vector>"


def _words(arguments: Sequence[str | bytes]) -> str:
    return " ".join(map(_readable, arguments))


def _tags(clause: str | None) -> frozenset[str] | None:
    """Return the values of a TAG clause, with their escapes taken off; ``None`` for no clause."""
    if clause is None:
        return None
    return frozenset(re.sub(r"\\(.)", r"\1", tag).lower() for tag in re.split(r"(?<!\\)\|", clause))


@dataclass(frozen=True)
class _Counted(Native):
    """What the double itself says."""

    async def count(self, collection_id: str, file_ids: Sequence[str]) -> int:
        """Return how many hashes of a collection stand under one of these file_ids."""
        server: ValkeyDouble = self.database._client
        prefix, wanted = f"kb:{self.physical_name(collection_id)}:".encode(), {f.encode() for f in file_ids}
        rows = [fields for key, fields in server.hashes.items() if key.startswith(prefix)]
        return sum(fields.get(b"file_id") in wanted for fields in rows)

    async def versions(self) -> dict[str, str]:
        """Return the version of the client."""
        return {"valkey-glide": version("valkey-glide")}


def open_valkey_double(folder: Path) -> tuple[Backend, ValkeyDouble]:
    """Open the host's class over a server in memory, and return both.

    Args:
        folder: for what the host keeps beside the vectors.

    Raises:
        ImportError: ``valkey-glide`` or LangBot is not installed.
    """
    from langbot.pkg.api.http.context import ExecutionContext
    from langbot.pkg.vector.vdbs.valkey_search import ValkeySearchVectorDatabase

    config: dict[str, Any] = {"vdb": {"valkey_search": {}}}
    app: Any = SimpleNamespace(logger=_LOG, instance_config=SimpleNamespace(data=config))
    database: Any = ValkeySearchVectorDatabase(app)
    server = database._client = ValkeyDouble()
    context = ExecutionContext(instance_uuid="instance", workspace_uuid="workspace", placement_generation=1)
    service = _service(app, database, folder)

    def physical_name(collection_id: str) -> str:
        return str(app.vector_db_mgr.physical_collection_name(context, collection_id))

    name = "valkey-double"
    native = _Counted(name, database, physical_name)
    backend = Backend(name, service, context, 0.0, database.close, native)
    return backend, server
