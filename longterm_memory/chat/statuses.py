"""The words for an episode's status that people and models use."""

from __future__ import annotations

from ..models import Status

__all__ = ["STATUS_NAMES", "STATUS_WORDS"]

STATUS_NAMES = ("active", "superseded", "archived")
"""The words that sentences list."""

STATUS_WORDS: dict[str, Status] = {name: Status(name) for name in STATUS_NAMES} | {
    "有效": Status.ACTIVE,
    "已取代": Status.SUPERSEDED,
    "已归档": Status.ARCHIVED,
}
"""Folded word → status."""
