"""mem0: ``{"results": […]}`` or a list of ``{id, memory, user_id, created_at, updated_at, metadata, categories}``.

Some of its versions say ``text`` for ``memory``. Where a memory belongs is not in such an export; an operator can
add ``user_key``, or ``bot_uuid`` and ``session_name``, to the rows or to their ``metadata``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .rows import RowFormat

__all__ = ["MEM0"]

_OWNERS = ("user_id", "agent_id", "run_id", "app_id", "hash")
_OURS = ("user_key", "session_name", "bot_uuid", "sender_name", "importance")
"""Fields of ours that are taken from a row or its metadata when they stand there."""


def _fits(row: Mapping[str, Any]) -> bool:
    return "memory" in row or ("text" in row and any(name in row for name in _OWNERS))


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = row.get("metadata")
    extra = metadata if isinstance(metadata, Mapping) else {}
    found = {name: source[name] for source in (extra, row) for name in _OURS if source.get(name) is not None}
    created = row.get("created_at")
    return {
        **found,
        "id": row.get("id"),
        "content": row.get("memory", row.get("text")),
        "tags": _tags(row.get("categories"), extra.get("category"), extra.get("tags")),
        "timestamp": created,
        "created_at": created,
        "sender_id": row.get("user_id"),
    }


def _tags(*values: object) -> list[Any]:
    found: list[Any] = []
    for value in values:
        found += value if isinstance(value, list) else [] if value is None else [value]
    return found


MEM0 = RowFormat("mem0", _fits, _read)
