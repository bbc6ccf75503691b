"""What the plugin's side of a host looks like, whatever stands behind it.

:class:`PluginApi` has the methods of the SDK's ``LangBotAPIProxy`` that the plugin uses and adds what the
connection between plugin and host adds: everything goes through JSON, a message has a size limit, 128 calls
may be on their way, failures arrive as text. Calls are counted, faults can be switched on. Storage and
embeddings live here; vectors come from a subclass.
"""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from ..embedders import HashedWords
from .calls import CallLog
from .faults import STORAGE_CALLS, Faults

MESSAGE_BYTES = 16 * 1024 * 1024
CALLS_AT_ONCE = 128
VALUE_BYTES = 10 * 1024 * 1024
RERANK_DOCUMENTS = 64
LOOP_TURNS = 5
"""Turns of the event loop that every call takes, so that calls started together overlap."""

Embed = Callable[[list[str]], "list[list[float]] | Awaitable[list[list[float]]]"]
Rerank = Callable[[str, list[str]], "list[dict[str, Any]] | Awaitable[list[dict[str, Any]]]"]


class HostError(Exception):
    """A call failed on the host; the text is all that crosses the connection."""


class HostTimeoutError(HostError):
    """No answer came in time; whether the call took effect is unknown."""


class PluginApi(ABC):
    """A host as one plugin sees it.

    Args:
        embed: turns texts into vectors, sync or async; hashed words in 384 dimensions by default.
        version: what the host calls itself.
        latency: seconds that every call takes at least.
    """

    def __init__(self, *, embed: Embed | None = None, version: str = "4.11.2", latency: float = 0.0) -> None:
        self.embed: Embed = embed or HashedWords().embed
        self.version = version
        self.latency = latency
        self.calls = CallLog()
        self.faults = Faults()
        self.rerank: Rerank | None = None
        """Scores documents for a question; ``None``: the host has no rerank model."""
        self.values: dict[str, bytes] = {}
        """Plugin storage."""
        self.bases: dict[str, str] | None = None
        """Knowledge bases of the host: uuid → name; ``None``: asking for them fails."""

    # ---------------------------------------------------------------- vectors

    async def vector_upsert(
        self,
        collection_id: str,
        vectors: list[list[float]],
        ids: list[str],
        metadata: list[dict[str, Any]] | None = None,
        documents: list[str] | None = None,
    ) -> None:
        """Write rows."""
        arguments = {"vectors": vectors, "ids": ids, "metadata": metadata, "documents": documents}
        await self._call("vector_upsert", {"collection_id": collection_id, **arguments}, self._upsert)

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
        """Return rows by similarity."""
        arguments = {"query_vector": query_vector, "top_k": top_k, "filters": filters}
        how = {"search_type": search_type, "query_text": query_text, "vector_weight": vector_weight}

        async def run(**given: Any) -> Any:
            return self.faults.rows(await self._search(**given))

        found: list[dict[str, Any]] = await self._call(
            "vector_search", {"collection_id": collection_id, **arguments, **how}, run
        )
        return found

    async def vector_list(
        self, collection_id: str, filters: dict[str, Any] | None = None, limit: int = 20, offset: int = 0
    ) -> dict[str, Any]:
        """Return a page of rows."""
        arguments = {"collection_id": collection_id, "filters": filters, "limit": limit, "offset": offset}

        async def run(**given: Any) -> Any:
            items, total = await self._list(**given)
            return {"items": self.faults.rows(items), "total": 4_711 if self.faults.lie_counts else total}

        found: dict[str, Any] = await self._call("vector_list", arguments, run)
        return found

    async def vector_delete(
        self, collection_id: str, file_ids: list[str] | None = None, filters: dict[str, Any] | None = None
    ) -> int:
        """Delete rows."""
        arguments = {"collection_id": collection_id, "file_ids": file_ids, "filters": filters}

        async def run(**given: Any) -> int:
            deleted = 0 if self.faults.delete_nothing else await self._delete(**given)
            return 4_711 if self.faults.lie_counts else deleted

        found: int = await self._call("vector_delete", arguments, run)
        return found

    @abstractmethod
    async def _upsert(
        self,
        collection_id: str,
        vectors: list[list[float]],
        ids: list[str],
        metadata: list[dict[str, Any]] | None,
        documents: list[str] | None,
    ) -> None: ...

    @abstractmethod
    async def _search(
        self,
        collection_id: str,
        query_vector: list[float],
        top_k: int,
        filters: dict[str, Any] | None,
        search_type: str,
        query_text: str,
        vector_weight: float | None,
    ) -> list[dict[str, Any]]: ...

    @abstractmethod
    async def _list(
        self, collection_id: str, filters: dict[str, Any] | None, limit: int, offset: int
    ) -> tuple[list[dict[str, Any]], int]: ...

    @abstractmethod
    async def _delete(
        self, collection_id: str, file_ids: list[str] | None, filters: dict[str, Any] | None
    ) -> int: ...

    # ---------------------------------------------------------------- embeddings, version

    async def invoke_embedding(self, embedding_model_uuid: str, texts: list[str]) -> list[list[float]]:
        """Return one vector per text."""

        async def run(embedding_model_uuid: str, texts: list[str]) -> Any:
            return self.faults.vectors(await self._embed(embedding_model_uuid, texts))

        arguments = {"embedding_model_uuid": embedding_model_uuid, "texts": texts}
        found: list[list[float]] = await self._call("invoke_embedding", arguments, run)
        return found

    async def _embed(self, model: str, texts: list[str]) -> list[list[float]]:
        vectors = self.embed(texts)
        return await vectors if inspect.isawaitable(vectors) else vectors

    async def invoke_rerank(
        self,
        rerank_model_uuid: str,
        query: str,
        documents: list[str],
        top_k: int | None = None,
        extra_args: dict[str, Any] | None = None,
        timeout: float = 60.0,  # noqa: ASYNC109 - the SDK's
    ) -> list[dict[str, Any]]:
        """Return the scores of a rerank model, best first; of more than 64 documents the host sends the first 64."""

        async def run(rerank_model_uuid: str, query: str, documents: list[str], top_k: int | None) -> Any:
            if self.rerank is None:
                raise HostError(f"ActionCallError: Rerank model with {rerank_model_uuid=} not found")
            answer = self.rerank(query, documents[:RERANK_DOCUMENTS])
            answer = await answer if inspect.isawaitable(answer) else answer
            return sorted(answer, key=lambda one: -one.get("relevance_score", 0))[:top_k]

        given = {"rerank_model_uuid": rerank_model_uuid, "query": query, "documents": documents}
        found: list[dict[str, Any]] = await self._call("invoke_rerank", {**given, "top_k": top_k}, run)
        return found

    async def get_langbot_version(self) -> str:
        """Return the host's version."""

        async def run() -> str:
            return self.version

        found: str = await self._call("get_langbot_version", {}, run)
        return found

    async def list_knowledge_bases(self) -> list[dict[str, Any]]:
        """Return the host's knowledge bases."""

        async def run() -> list[dict[str, Any]]:
            if self.bases is None:
                raise HostError("ActionCallError: knowledge bases are not available")
            return [{"uuid": uuid, "name": name, "description": ""} for uuid, name in self.bases.items()]

        found: list[dict[str, Any]] = await self._call("list_knowledge_bases", {}, run)
        return found

    # ---------------------------------------------------------------- storage

    async def get_plugin_storage(self, key: str) -> bytes:
        """Return a value."""

        async def run(key: str) -> str:
            if key in self.faults.storage_corrupt:
                return base64.b64encode(self.faults.storage_corrupt[key]).decode()
            if key not in self.values:
                raise HostError(f"ActionCallError: Storage with key {key} not found")
            return base64.b64encode(self.values[key]).decode()

        return base64.b64decode(await self._call("get_plugin_storage", {"key": key}, run))

    async def set_plugin_storage(self, key: str, value: bytes) -> None:
        """Write a value of at most 10 MB."""

        async def run(key: str, value_base64: str) -> None:
            data = base64.b64decode(value_base64)
            if len(value_base64) > 4 * ((VALUE_BYTES + 2) // 3) + 4:
                raise HostError(f"ActionCallError: Binary storage value exceeds the {VALUE_BYTES}-byte limit")
            if len(data) > VALUE_BYTES:
                raise HostError(
                    f"ActionCallError: Binary storage value exceeds limit ({len(data)} > {VALUE_BYTES} bytes)"
                )
            if self.faults.storage_full:
                raise HostError("OperationalError: (sqlite3.OperationalError) database or disk is full")
            self.values[key] = data

        encoded = base64.b64encode(value).decode("utf-8")
        await self._call("set_plugin_storage", {"key": key, "value_base64": encoded}, run)

    async def delete_plugin_storage(self, key: str) -> None:
        """Delete a key."""

        async def run(key: str) -> None:
            self.values.pop(key, None)

        await self._call("delete_plugin_storage", {"key": key}, run)

    async def get_plugin_storage_keys(self) -> list[str]:
        """Return all keys."""

        async def run() -> list[str]:
            return list(self.values)

        found: list[str] = await self._call("get_plugin_storage_keys", {}, run)
        return found

    # ---------------------------------------------------------------- the connection

    async def _call(self, name: str, arguments: dict[str, Any], run: Callable[..., Awaitable[Any]]) -> Any:
        sent = _through_json(arguments)
        with self.calls.call(name):
            busy = self.calls.running > CALLS_AT_ONCE
            for _ in range(LOOP_TURNS):
                await asyncio.sleep(0)
            await asyncio.sleep(self.latency + self.faults.slow.get(name, 0.0))
            if busy:
                raise HostError(f"Runtime connection is busy (max {CALLS_AT_ONCE} concurrent actions)")
            due = self.faults.due(name)
            if due:
                await self._refuse(name)
            try:
                answer = await run(**sent)
            except HostError:
                raise
            except Exception as exc:
                raise HostError(_failure(name, sent, exc)) from exc
            if due and name in self.faults.lose_answer:
                raise HostTimeoutError(f"Action {name} call timed out")
            return _through_json(answer)

    async def _refuse(self, name: str) -> None:
        if name in self.faults.hang:
            await asyncio.Event().wait()
        if name in self.faults.fail:
            raise self.faults.error or HostError(f"ActionCallError: {name} failed (switched on by a test)")
        if self.faults.storage_down and name in STORAGE_CALLS:
            raise HostError("ActionCallError: (sqlite3.OperationalError) unable to open database file")

    async def settle(self) -> None:
        """Wait until a vector search sees what was written before; here it does at once."""
        return

    async def close(self) -> None:
        """Release whatever stands behind; nothing does here."""
        return

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _through_json(value: Any) -> Any:
    text = json.dumps(value)
    if len(text) > MESSAGE_BYTES:
        raise HostError(f"ValueError: Runtime message exceeds {MESSAGE_BYTES} byte limit")
    return json.loads(text)


def _failure(name: str, arguments: dict[str, Any], exc: Exception) -> str:
    """Return the text that the host makes of an exception."""
    if name.startswith("vector_"):
        place = f"[collection_id={arguments.get('collection_id')}]"
        return f"ActionCallError: [VectorStoreError/{type(exc).__name__}] {place} {exc}"
    if name == "invoke_embedding":
        place = f"[embedding_model_uuid={arguments.get('embedding_model_uuid')}]"
        return f"ActionCallError: [EmbeddingError/{type(exc).__name__}] {place} {exc}"
    return f"ActionCallError: {type(exc).__name__}: {exc}"
