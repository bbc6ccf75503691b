"""Names of rows: the opaque ``file_id`` a scope is filtered by, and the row id of one version of one episode.

``file_id`` is the only metadata field by which every backend can filter, so it carries the scope: a hash of
the user key, the visibility and a shard number. Milvus cannot page past 16 384 rows of one filter, so a scope
is spread over ``SHARDS`` file_ids by its episode ids: 16 x 8 000 = 128 000 memories before one shard is full.
The number is fixed, so nothing has to be remembered to find a row; ``$in`` with 16 values costs no more than
equality (measured on Chroma: 7.9 against 8.9 ms at 1 000 rows, 34 against 31 ms at 10 000).

The row id is derived from user key, episode id and version, so an id shown to a person leads to its rows in
one call and never to those of another scope, and a row whose id does not fit its content is not ours.
"""

from __future__ import annotations

import hashlib
import uuid
from enum import StrEnum
from functools import lru_cache

__all__ = [
    "MARK",
    "SHARDS",
    "VERSION_SLOTS",
    "Visibility",
    "file_id",
    "file_ids",
    "grave_id",
    "places",
    "row_id",
    "row_ids",
    "shard_of",
]

MARK = "ltm-sentinel"
"""``file_id`` of the row that every knowledge base holds from its first use on."""
SHARDS = 16
VERSION_SLOTS = 64
"""Versions of an episode use row ids round robin; the row of 64 versions ago is long deleted."""

_NAMESPACE = uuid.UUID("8f3b6c1e-52a4-5d0e-9c7a-1d6f0b2e4a93")


class Visibility(StrEnum):
    """Which set of file_ids a record lives under."""

    RECALLED = "r"
    """Active memories: what recall searches."""

    HIDDEN = "h"
    """Superseded and archived ones: kept, listed on demand, never searched by default."""


@lru_cache(maxsize=4096)
def _file_ids(user_key: str, visibility: Visibility) -> tuple[str, ...]:
    return tuple(
        hashlib.sha256(f"ltm1|{visibility}|{shard}|{user_key}".encode()).hexdigest()[:48]
        for shard in range(SHARDS)
    )


def file_ids(user_key: str, visibility: Visibility) -> tuple[str, ...]:
    """Return all ``file_id`` values (48 lowercase hex digits each) of a scope's records of one visibility."""
    return _file_ids(user_key, visibility)


def file_id(user_key: str, visibility: Visibility, episode_id: str) -> str:
    """Return the ``file_id`` under which that episode is stored."""
    return _file_ids(user_key, visibility)[shard_of(episode_id)]


def shard_of(episode_id: str) -> int:
    """Return the number of the shard (0 .. ``SHARDS`` - 1) that an episode lives in."""
    return hashlib.sha256(episode_id.encode()).digest()[0] % SHARDS


def grave_id(user_key: str) -> str:
    """Return the ``file_id`` under which emptied rows of a scope wait to be deleted: ``t`` and 47 hex digits.

    Only stores that cannot delete by row id ever see it (:mod:`.single_rows`). It is one for a whole scope, so that
    the next deletion also takes what a crash left there.
    """
    return "t" + hashlib.sha256(f"ltm1|t|{user_key}".encode()).hexdigest()[:47]


def places(user_key: str) -> tuple[str, ...]:
    """Return every ``file_id`` that rows of a scope can have, those of a shard side by side, the grave last."""
    shards = zip(*(file_ids(user_key, visibility) for visibility in Visibility), strict=True)
    return (*(place for shard in shards for place in shard), grave_id(user_key))


def row_id(user_key: str, episode_id: str, version: int) -> str:
    """Return the row id (lowercase dashed UUID) of one version (>= 1) of an episode."""
    # uuid.uuid5(_NAMESPACE, name) without its ceremony: this runs for every row that is read.
    name = f"{user_key}|{episode_id}|{version % VERSION_SLOTS}"
    digest = hashlib.sha1(_NAMESPACE.bytes + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def row_ids(user_key: str, episode_id: str) -> tuple[str, ...]:
    """Return every row id that an episode can have, whatever its version."""
    return tuple(row_id(user_key, episode_id, version) for version in range(VERSION_SLOTS))
