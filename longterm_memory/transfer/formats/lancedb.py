"""memory-lancedb-pro of OpenClaw: ``{"memories": [{id, text, category, scope, importance, timestamp, metadata}]}``.

Its importance runs from 0 to 1, its timestamp counts milliseconds, and its metadata may be JSON inside a text. Its
scopes (``global``, ``agent:…``, ``user:…``) are no conversations; ``user:…`` names the speaker, others but
``global`` are kept as a tag. Short values of the metadata become tags ``name:value``; the ``vector`` is made anew.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from .rows import RowFormat, labelled, listed

__all__ = ["LANCEDB"]

_OURS = ("user_key", "session_name", "bot_uuid", "sender_id", "sender_name")
_READ = (
    "id",
    "text",
    "vector",
    "category",
    "scope",
    "importance",
    "timestamp",
    "metadata",
    "_distance",
    "score",
)


def _read(row: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    extra = _metadata(row.get("metadata"))
    found = {name: source[name] for source in (extra, row) for name in _OURS if source.get(name) is not None}
    scope = row.get("scope")
    tags = listed(row.get("category"), extra.get("tags"))
    if isinstance(scope, str) and scope.startswith("user:"):
        found.setdefault("sender_id", scope.removeprefix("user:"))
    elif isinstance(scope, str) and scope not in ("", "global"):
        tags.append(scope)
    others = [(name, value) for name, value in row.items() if name not in (*_READ, *_OURS)]
    tags, left_out = labelled(others, tags)
    inside = [(name, value) for name, value in extra.items() if name not in ("tags", *_OURS)]
    tags, left_inside = labelled(inside, tags, "metadata.")
    if row.get("metadata") not in (None, "", {}) and not extra:
        left_inside.append("metadata")
    read = {
        **found,
        "id": row.get("id"),
        "content": row.get("text"),
        "tags": tags,
        "importance": _importance(row.get("importance")),
        "timestamp": row.get("timestamp"),
        "created_at": row.get("timestamp"),
    }
    return read, (*left_out, *left_inside)


def _importance(value: object) -> object:
    """Put 0..1 on our scale of 1..5; anything else is judged as it stands."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return value
    return 1 + math.floor(value * 4 + 0.5)


def _metadata(value: object) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


LANCEDB = RowFormat("memory-lancedb", lambda row: "text" in row, _read)
