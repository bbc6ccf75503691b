"""How keys of plugin storage are made: our prefixes, and parts that stay short enough for a database column."""

from __future__ import annotations

import hashlib

__all__ = ["PART_MAX", "hashed_part", "short_part"]

PART_MAX = 180
"""Longest scope key that stands in a storage key as it is, in characters; the host's column holds 255."""


def hashed_part(part: str) -> str:
    """Return what stands in a storage key for a part that is too long: ``~`` stands in no scope key."""
    return "~" + hashlib.sha256(part.encode()).hexdigest()


def short_part(part: str) -> str:
    """Return a scope key as a part of a storage key: itself, or its hash when it is too long."""
    return part if len(part) <= PART_MAX else hashed_part(part)
