"""The shapes of this plugin: its own exports, and plain lists of objects with the same field names.

The published plugin of this kind writes such lists too: ``id, content, tags, importance, timestamp, user_key,
sender_id, sender_name, source, status, superseded_by``, and ``{"profiles": [{type, scope_key, sender_id?,
profile}]}``. Its keys name ids as they are, where ours escape them: :func:`~..rows.row_scope` reads both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import BadArgument
from ...models import Episode
from .rows import RowFormat

__all__ = ["FORMAT", "PLAIN", "VERSION", "check_version", "is_profile"]

FORMAT, VERSION = "longtermmemory", 1
"""How an export of ours names itself, and the version of its shape."""


def check_version(document: Mapping[str, Any]) -> bool:
    """Whether a document is an export of ours.

    Raises:
        BadArgument: ``file_newer`` when it was written by a plugin that knows more than this one, ``file_unreadable``
            when it does not say by which.
    """
    if document.get("format") != FORMAT:
        return False
    version = document.get("version")
    if type(version) is not int:
        raise BadArgument("file_unreadable", detail="version_not_whole")
    if version > VERSION:
        raise BadArgument("file_newer", version=str(version)[:20], known=VERSION)
    return True


def is_profile(row: object) -> bool:
    """Whether an object is a profile and not an episode."""
    return isinstance(row, Mapping) and "profile" in row and "content" not in row


_READ = frozenset(Episode.model_fields) | {"episode_id", "scope_key"}
"""What a memory has; ``scope_key`` follows from the others, and an upload is its own document."""
_NOTHING: tuple[object, ...] = (None, "", [], {}, False)


def _read(row: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    return dict(row), tuple(name for name in row if name not in _READ and row[name] not in _NOTHING)


PLAIN = RowFormat(FORMAT, lambda row: "content" in row, _read)
