"""Paging through a list that changes: page n goes on where page n-1 ended, so nothing is shown twice or skipped.

Memories come newest first. Between two pages some are added and some deleted, which moves all places; so the
last memory of each page is noted, per viewer and filter, and the next page begins behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from time import monotonic

from .models import Episode

__all__ = ["PAGE_SIZE", "EpisodePage", "Listings", "newest_first"]

PAGE_SIZE = 10
"""Memories on one page of a listing."""
_MARK_SECONDS = 1_800.0
"""How long somebody may take between two pages before places count again."""
_VIEWERS_MAX = 500

_Mark = tuple[float, str]


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """One page of a listing, newest first.

    Attributes:
        episodes: what is on it.
        total: how many memories pass the filters now.
        page: number of the page, from 1.
        pages: how many pages there are, at least 1.
        left: how many memories come after it.
    """

    episodes: tuple[Episode, ...]
    total: int
    page: int
    pages: int
    left: int = 0


def newest_first(episode: Episode) -> _Mark:
    """Sort key of listings: by timestamp, newest first; equal times by id."""
    return -episode.timestamp.timestamp(), episode.id


@dataclass(slots=True)
class _Viewer:
    seen: float
    ends: dict[int, _Mark] = field(default_factory=dict)
    """Page number to the sort key of its last memory."""


class Listings:
    """Where everybody is in the lists they page through.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._viewers: OrderedDict[Hashable, _Viewer] = OrderedDict()

    def page(
        self, viewer: Hashable, episodes: Sequence[Episode], number: int, size: int = PAGE_SIZE
    ) -> EpisodePage:
        """Return one page.

        Args:
            viewer: who lists what; page 1 starts a new walk.
            episodes: everything that passes, sorted by :func:`newest_first`.
            number: wanted page, from 1; one beyond the last is the last one.
            size: memories on a page.

        Returns:
            The page; an empty one when all that came after the page seen last was deleted meanwhile.
        """
        walk = self._walk(viewer, number)
        start = self._start(walk, episodes, number, size)
        if start >= len(episodes) and number - 1 not in walk.ends:
            number = max(1, -(-len(episodes) // size))
            start = (number - 1) * size
        shown = tuple(episodes[start : start + size])
        if shown:
            walk.ends[number] = newest_first(shown[-1])
        left = max(0, len(episodes) - start - len(shown))
        return EpisodePage(shown, len(episodes), number, number + -(-left // size), left)

    def _walk(self, viewer: Hashable, number: int) -> _Viewer:
        known = self._viewers.pop(viewer, None)
        if number <= 1 or known is None or self._clock() - known.seen > _MARK_SECONDS:
            known = _Viewer(self._clock())
        known.seen = self._clock()
        self._viewers[viewer] = known
        while len(self._viewers) > _VIEWERS_MAX:
            self._viewers.popitem(last=False)
        return known

    @staticmethod
    def _start(walk: _Viewer, episodes: Sequence[Episode], number: int, size: int) -> int:
        before = max((page for page in walk.ends if page < number), default=0)
        if not before:
            return (max(1, number) - 1) * size
        behind = bisect_right(episodes, walk.ends[before], key=newest_first)
        return behind + (number - 1 - before) * size
