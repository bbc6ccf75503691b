"""Paging through a list that changes: page n goes on where page n-1 ended, so nothing is shown twice or skipped.

Memories and audit entries come newest first. Between two pages some are added and some deleted, which moves all
places; so the last one of each page is noted, per viewer and filter, and the next page begins behind it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar

from .models import Episode

__all__ = ["PAGE_SIZE", "Listings", "Page", "newest_first"]

PAGE_SIZE = 10
"""Items on one page of a listing."""
_MARK_SECONDS = 1_800.0
"""How long somebody may take between two pages before places count again."""
_VIEWERS_MAX = 500

_Mark = tuple[float, str]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list.

    Attributes:
        items: what is on it.
        total: how many the whole list has now.
        page: number of the page, from 1.
        pages: how many pages there are, at least 1.
        left: how many come after it.
    """

    items: tuple[T, ...]
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
    """Page number to the sort key of its last item."""


class Listings:
    """Where everybody is in the lists they page through.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._viewers: OrderedDict[Hashable, _Viewer] = OrderedDict()

    def page(
        self,
        viewer: Hashable,
        items: Sequence[T],
        number: int,
        size: int = PAGE_SIZE,
        *,
        key: Callable[[T], _Mark],
    ) -> Page[T]:
        """Return one page.

        Args:
            viewer: who lists what; page 1 starts a new walk.
            items: the whole list as it is now, sorted by ``key``.
            number: wanted page, from 1; one beyond the last is the last one.
            size: items on a page.
            key: sort key; no two items share one, and no item ever changes its own.

        Returns:
            The page; an empty one when all that came after the page seen last was deleted meanwhile.
        """
        walk = self._walk(viewer, number)
        start = self._start(walk, items, number, size, key)
        if start >= len(items) and number - 1 not in walk.ends:
            number = max(1, -(-len(items) // size))
            start = (number - 1) * size
        shown = tuple(items[start : start + size])
        if shown:
            walk.ends[number] = key(shown[-1])
        left = max(0, len(items) - start - len(shown))
        return Page(shown, len(items), number, number + -(-left // size), left)

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
    def _start(walk: _Viewer, items: Sequence[T], number: int, size: int, key: Callable[[T], _Mark]) -> int:
        before = max((page for page in walk.ends if page < number), default=0)
        if not before:
            return (max(1, number) - 1) * size
        behind = bisect_right(items, walk.ends[before], key=key)
        return behind + (number - 1 - before) * size
