"""mem0: ``{"results": […]}`` or a list of ``{id, memory, user_id, created_at, updated_at, metadata, categories}``.

Some of its versions say ``text`` for ``memory``. Where a memory belongs is not in such an export; an operator can
add ``user_key``, or ``bot_uuid`` and ``session_name``, to the rows or to their ``metadata``. Whatever else stands in
a row or in its metadata (``agent_id``, ``run_id``, a project …) becomes a tag ``name:value``; ``hash`` and ``score``
are made from the text and say nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .rows import RowFormat, labelled, listed

__all__ = ["MEM0"]

_OWNERS = ("user_id", "agent_id", "run_id", "app_id", "hash")
_OURS = ("user_key", "session_name", "bot_uuid", "sender_name", "importance")
"""Fields of ours that are taken from a row or its metadata when they stand there."""
_READ = (
    "id",
    "memory",
    "text",
    "user_id",
    "created_at",
    "updated_at",
    "metadata",
    "categories",
    "hash",
    "score",
)
_READ_INSIDE = ("category", "tags")


def _fits(row: Mapping[str, Any]) -> bool:
    return "memory" in row or ("text" in row and any(name in row for name in _OWNERS))


def _read(row: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    metadata = row.get("metadata")
    extra = metadata if isinstance(metadata, Mapping) else {}
    found = {name: source[name] for source in (extra, row) for name in _OURS if source.get(name) is not None}
    created, updated = row.get("created_at"), row.get("updated_at")
    others = [(name, value) for name, value in row.items() if name not in (*_READ, *_OURS)]
    if updated != created:
        others.append(("updated_at", updated))
    tags = listed(row.get("categories"), extra.get("category"), extra.get("tags"))
    tags, left_out = labelled(others, tags)
    inside = [(name, value) for name, value in extra.items() if name not in (*_READ_INSIDE, *_OURS)]
    tags, left_inside = labelled(inside, tags, "metadata.")
    if metadata is not None and not isinstance(metadata, Mapping):
        left_inside.append("metadata")
    read = {
        **found,
        "id": row.get("id"),
        "content": row.get("memory", row.get("text")),
        "tags": tags,
        "timestamp": created,
        "created_at": created,
        "sender_id": row.get("user_id"),
    }
    return read, (*left_out, *left_inside)


MEM0 = RowFormat("mem0", _fits, _read)
