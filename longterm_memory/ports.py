"""What the memory needs of a host: vectors, embeddings, storage and the message being answered.

The adapters are thin. What a filter can look like is decided here: the only two shapes that every LangBot backend
honours, an equality/membership test on ``file_id`` or on ``uuid`` (docs/decisions/0001-record-scheme.md). Anything that
some backend would drop, refuse or read as "everything" cannot be written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

__all__ = [
    "CountDiagnostics",
    "Embedder",
    "FileIds",
    "FilterDiagnostics",
    "Host",
    "KeyValueStorage",
    "RerankModels",
    "RowFilter",
    "RowIds",
    "Turn",
    "VectorRecord",
    "VectorRow",
    "VectorStore",
]


def _checked(values: Sequence[str], what: str) -> tuple[str, ...]:
    found = tuple(values)
    if not found or not all(isinstance(v, str) and v and v.isascii() and v.isprintable() for v in found):
        raise ValueError(f"a filter needs at least one non-empty {what}")
    if any(ch in v for v in found for ch in "\"'\\"):
        # Milvus interpolates values into an expression; a quote would end it (and could match every row).
        raise ValueError(f"a {what} never holds quotes or backslashes")
    return found


@dataclass(frozen=True, slots=True)
class FileIds:
    """Rows whose metadata ``file_id`` is one of ``values`` (non-empty, quote-free ASCII)."""

    values: tuple[str, ...]

    def __init__(self, values: Sequence[str]) -> None:
        object.__setattr__(self, "values", _checked(values, "file_id"))


@dataclass(frozen=True, slots=True)
class RowIds:
    """Rows whose id (metadata ``uuid``) is one of ``values`` (non-empty, quote-free ASCII)."""

    values: tuple[str, ...]

    def __init__(self, values: Sequence[str]) -> None:
        object.__setattr__(self, "values", _checked(values, "row id"))


RowFilter = FileIds | RowIds


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """One row to write.

    Attributes:
        id: lowercase dashed UUID; also stands in ``metadata["uuid"]``.
        vector: finite floats, unit length.
        metadata: flat, scalars only; holds at least ``file_id``, ``uuid`` and ``text``.
        document: plain text for backends that index it; no NUL, no lone surrogates.
    """

    id: str
    vector: Sequence[float]
    metadata: Mapping[str, str | int | float | bool]
    document: str


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One row that came back. Nothing in it is trusted before the record layer has checked it.

    Attributes:
        id: row id as the backend returned it.
        metadata: what the backend kept; possibly only ``file_id``, ``uuid`` and ``text``, possibly empty.
        distance: the backend's own number (squared L2, 1 - cosine or cosine); ``None`` in listings.
    """

    id: str
    metadata: Mapping[str, Any]
    distance: float | None = None


class VectorStore(Protocol):
    """The host's vector database, one collection per knowledge base."""

    async def upsert(self, collection: str, records: Sequence[VectorRecord]) -> None:
        """Write rows (any number; the adapter splits batches)."""

    async def search(
        self, collection: str, vector: Sequence[float], k: int, where: FileIds
    ) -> list[VectorRow]:
        """Return up to ``k`` >= 1 rows, best first."""

    async def list_rows(
        self, collection: str, where: RowFilter, limit: int, offset: int = 0
    ) -> list[VectorRow]:
        """Return up to ``limit`` rows from ``offset``, in the backend's own stable order."""

    async def delete_rows(self, collection: str, where: RowFilter) -> None:
        """Delete rows. Counts reported by backends lie, so none is returned: list again to know."""


@runtime_checkable
class FilterDiagnostics(Protocol):
    """What only the health check asks, and only about keys that it made up: how a backend takes a filter that we
    never rely on.
    """

    async def list_by_user_key(self, collection: str, user_key: str, limit: int) -> list[VectorRow]:
        """Return up to ``limit`` rows that the backend gives for a plain filter on ``user_key``: possibly rows
        of anybody.
        """


@runtime_checkable
class CountDiagnostics(Protocol):
    """What an adapter noticed about counts, which we never rely on: it only tells backends apart."""

    def counts_matches(self, collection: str) -> bool | None:
        """Whether a filtered listing came with the number of matches; ``None`` before the first one."""


class Embedder(Protocol):
    """The host's embedding models."""

    async def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, unchecked, as the host gave them."""


class RerankModels(Protocol):
    """The host's rerank models."""

    async def rerank(self, model: str, query: str, documents: Sequence[str], seconds: float) -> object:
        """Return what the model says about the documents, unchecked: on every host seen a list of
        ``{"index": n, "relevance_score": x}``, best first.
        """


class KeyValueStorage(Protocol):
    """The plugin's own storage, values up to 10 MB."""

    async def get(self, key: str) -> bytes | None:
        """Return the value, ``None`` when there is no such key; any other failure raises."""

    async def set(self, key: str, value: bytes) -> None:
        """Write a value."""

    async def delete(self, key: str) -> None:
        """Delete a key; absent is fine."""

    async def keys(self) -> list[str]:
        """Return all keys of this plugin."""


class Host(VectorStore, Embedder, RerankModels, Protocol):
    """Everything that is not tied to one message."""

    @property
    def storage(self) -> KeyValueStorage:
        """The plugin's storage."""

    async def version(self) -> str:
        """Return the host's version, e.g. ``"4.11.2"``; ``""`` when it does not say."""

    async def knowledge_bases(self) -> frozenset[str] | None:
        """Return the ids of all knowledge bases of the host, ``None`` when it does not say."""


class Turn(Protocol):
    """The message being answered (a query of the host)."""

    @property
    def query_id(self) -> str:
        """Opaque id of the query; stable across the events, tools and commands of one message."""

    async def bot_uuid(self) -> str:
        """Return the uuid of the bot, ``""`` when unknown."""

    async def variables(self) -> dict[str, Any]:
        """Return all query variables."""

    async def set_variable(self, name: str, value: Any) -> None:
        """Set one query variable (JSON values only)."""

    async def send_file(self, name: str, data: bytes) -> bool:
        """Send a file beside the reply. False: it did not go out. True only says that the host took it; several
        platforms drop files without a word, so people are always told another way.
        """
