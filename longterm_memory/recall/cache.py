"""Indexes of many scopes in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from weakref import WeakValueDictionary

from .index import ScopeIndex

__all__ = ["INDEX_ROWS_MAX", "IndexCache"]

INDEX_ROWS_MAX = 120_000
"""Rows kept over all scopes, least recently used scopes go first; about 2 KB a row at 384 dimensions, a byte
more for each further one."""


class IndexCache:
    """Indexes of many scopes, bounded by their total rows.

    There is never more than one index of a scope: one that was dropped while somebody still works with it is
    found again, so that nobody fills or reads a copy that later changes pass by.

    Args:
        rows_max: rows over all scopes before the least recently used scope is dropped.
        clock: seconds, monotonic.
    """

    def __init__(self, rows_max: int = INDEX_ROWS_MAX, clock: Callable[[], float] = monotonic) -> None:
        self._rows_max = rows_max
        self._clock = clock
        self._kept: OrderedDict[str, ScopeIndex] = OrderedDict()
        self._alive: WeakValueDictionary[str, ScopeIndex] = WeakValueDictionary()

    def of(self, user_key: str) -> ScopeIndex:
        """Return the index of a scope, a new empty one when there is none."""
        index = self._alive.get(user_key)
        if index is None:
            index = self._alive[user_key] = ScopeIndex(self._clock)
        self._kept[user_key] = index
        self._kept.move_to_end(user_key)
        rows = sum(i.weight for i in self._kept.values())
        while rows > self._rows_max and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            rows -= dropped.weight
        return index

    def drop(self, user_key: str) -> None:
        """Forget a scope's index for good: what it holds may differ from the store. The next one starts
        empty.
        """
        self._kept.pop(user_key, None)
        self._alive.pop(user_key, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._kept.clear()
        self._alive.clear()
