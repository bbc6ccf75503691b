"""Ids of memories that were forgotten a moment ago, for whoever still holds them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from time import monotonic

__all__ = ["RECENT_SECONDS", "RecentIds"]

RECENT_SECONDS = 60.0
"""Longer than any turn holds what it recalled before it publishes it."""


class RecentIds:
    """A set of ids, each of which drops out after :data:`RECENT_SECONDS`.

    An episode's id is only unique in its scope, so its user key belongs to it.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._since: OrderedDict[Hashable, float] = OrderedDict()

    def __contains__(self, episode_id: object) -> bool:
        self._drop_old()
        return episode_id in self._since

    def __len__(self) -> int:
        self._drop_old()
        return len(self._since)

    def add(self, episode_ids: Iterable[Hashable]) -> None:
        """Note ids."""
        self._drop_old()
        for episode_id in episode_ids:
            self._since[episode_id] = self._clock()
            self._since.move_to_end(episode_id)

    def discard(self, episode_id: Hashable) -> None:
        """Let go of an id."""
        self._since.pop(episode_id, None)

    def _drop_old(self) -> None:
        due = self._clock() - RECENT_SECONDS
        while self._since and next(iter(self._since.values())) <= due:
            self._since.popitem(last=False)
