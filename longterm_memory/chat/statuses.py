"""The words for an episode's status that people and models use."""

from __future__ import annotations

from ..models import Status

__all__ = ["KEPT_STATUSES", "STATUS_NAMES", "STATUS_WORDS"]

KEPT_STATUSES = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED})
"""Every status that a kept memory can have. ``deleted`` is none of them: what is deleted is gone."""

STATUS_NAMES = ("active", "superseded", "archived")
"""The words that sentences list."""

STATUS_WORDS: dict[str, Status] = {name: Status(name) for name in STATUS_NAMES} | {
    "有效": Status.ACTIVE,
    "已取代": Status.SUPERSEDED,
    "已归档": Status.ARCHIVED,
}
"""Folded word → status."""
