"""Everything that an installation remembers, as rows of exports: the profiles, then one user key after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import StorageFailed
from ..models import KEPT_STATUSES, Filters
from ..scope import Scope
from .backup_storage import Row
from .exporting import episode_row, profile_row

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["rows_of", "user_keys"]

_PROFILES = "profiles"
"""Stands for all profiles among the user keys; no user key is called so."""


async def user_keys(service: MemoryService, spaces: Iterable[Scope] | None) -> list[str]:
    """Return the keys that :func:`rows_of` takes: that of all profiles, and each user key once.

    Args:
        service: the installation's memory.
        spaces: whose memories; ``None`` = every user key that was ever written to.

    Raises:
        StorageFailed: they could not be listed.
    """
    keys = await service.spaces.user_keys() if spaces is None else [scope.user_key for scope in spaces]
    return [_PROFILES, *dict.fromkeys(keys)]


async def rows_of(service: MemoryService, key: str) -> tuple[Iterable[Row], list[StorageFailed]]:
    """Return the rows of a user key, or of all profiles, and why some could not be read.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: they could not be read.
    """
    if key == _PROFILES:
        found, unread = await service.profiles.list_profiles()
        return (("profiles", profile_row(stored)) for stored in found), unread
    store = service.episodes(await service.collection())
    episodes = await store.select(key, Filters(statuses=KEPT_STATUSES))
    episodes.sort(key=lambda e: (e.timestamp, e.id))
    return (("episodes", episode_row(episode)) for episode in episodes), []
