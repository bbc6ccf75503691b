"""Reading all rows of a scope page by page while rows come and go.

Backends page by position, each in its own stable order. A row that is deleted while somebody pages moves all
later rows one place forward, so the next page would skip one of them. A :class:`Cursor` therefore hears of
every deletion before it is made and steps back as far; stepping back too far only reads a row twice. New rows
need nothing: whoever writes them knows them already. The :class:`Pager` keeps the cursors and tells them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from weakref import WeakSet

from ..errors import StoreFailed
from ..ports import FileIds
from .keys import SHARDS, Visibility, file_ids
from .rows import RowReader, Rows

__all__ = ["AS_ONE", "PAGEABLE", "PAGE_ROWS", "Cursor", "Pager", "Place", "together"]

PAGEABLE = 16_000
"""Milvus and SeekDB page no further than row 16 384 of one filter."""
AS_ONE = 4_000
"""Rows that are read of all shards as one; beyond, the shards are read one by one. Backends go through all rows before
a page again (Qdrant scrolls from the first one), so pages far back cost most, and a shard has none."""
PAGE_ROWS = 500
"""Rows of one page: about 1.5 MB of the host's 16 MiB message."""
MORE_ROWS = 1_500
"""Rows of each further page where a whole scope is read: fewer calls, each of which makes some engines go through all
rows of the collection."""
_SMALLEST_PAGE = 20
_PART_ROWS = 50
"""Rows handed out at a time: decoding them takes 2 to 4 ms."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cursor stood, and how many rows had been deleted by then."""

    shard: int | None
    offset: int
    done: bool
    removed: int


@dataclass(slots=True, weakref_slot=True, eq=False)
class Cursor:
    """How far the reading of a scope's rows has come.

    Attributes:
        user_key: the scope.
        visibilities: which of its rows.
        shards: which of its shards, ascending, at least one.
        shard: shard being read, ``None`` while all of them are paged as one.
        offset: every row before this position has been read, in the order in which the backend lists them
            now.
        done: whether every row has been read.
    """

    user_key: str
    visibilities: tuple[Visibility, ...]
    shards: tuple[int, ...] = tuple(range(SHARDS))
    shard: int | None = None
    offset: int = 0
    done: bool = False
    _removed: int = field(default=0, repr=False)
    """Rows whose deletion was ever announced."""
    _disturbed: bool = field(default=False, repr=False)
    """Whether a deletion began while the page on its way was read."""
    _late: int = field(default=0, repr=False)
    """Deletions that were on their way when that page was asked for: they may take effect after it was
    made.
    """

    @property
    def begun(self) -> bool:
        """Whether it is past the first page."""
        return self.shard is not None or self.offset > 0

    def by_shards(self, limit: int) -> bool:
        """Whether single shards are paged; goes over to them when a page of that many rows would be too many for
        one.
        """
        if self.shard is None and self.offset + limit > min(AS_ONE, PAGEABLE):
            self.shard, self.offset = self.shards[0], 0
        return self.shard is not None

    def where(self, limit: int, late: int) -> FileIds:
        """Return the filter of the next page.

        Args:
            limit: rows of that page.
            late: rows whose deletion is on its way already; it may take effect after the page was made.

        Raises:
            StoreFailed: the rows do not come to an end.
        """
        if self.offset + limit > PAGEABLE:
            # More rows than a shard ever gets from us: this store does not page as asked.
            raise StoreFailed("store_down")
        self._disturbed, self._late = False, late
        shards = self.shards if self.shard is None else (self.shard,)
        values = [file_ids(self.user_key, visibility) for visibility in self.visibilities]
        return FileIds([v[shard] for v in values for shard in shards])

    def read(self, rows: int, limit: int) -> None:
        """Move on after a page.

        Args:
            rows: rows that came back, readable or not.
            limit: rows that were asked for; fewer mean that nothing comes after them.
        """
        if self._disturbed:
            # The rows before this page may have moved under it; it is read again from where removing()
            # stepped back to.
            return
        if rows >= limit:
            self.offset = max(0, self.offset + rows - self._late)
        elif self.shard is None or self.shard == self.shards[-1]:
            self.done = True
        else:
            self.shard, self.offset = self.shards[self.shards.index(self.shard) + 1], 0

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.shard, self.offset, self.done, self._removed)

    def twin(self) -> Cursor:
        """Return another cursor at the same place, to read ahead with; it has to hear of deletions too."""
        return replace(self)

    def move_to(self, place: Place) -> None:
        """Stand where a twin stood, less what was deleted since."""
        self.shard, self.done = place.shard, place.done
        self.offset = max(0, place.offset - (self._removed - place.removed))

    def removing(self, rows: int) -> None:
        """Hear that up to so many rows of the scope are about to be deleted."""
        self.offset = max(0, self.offset - rows)
        self._removed += rows
        self._disturbed = True


class Pager:
    """Reads the pages of one collection's scopes.

    Args:
        reader: asks the store.
    """

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader
        self._cursors: WeakSet[Cursor] = WeakSet()
        self.deletions: Counter[str] = Counter()
        """Per scope, rows whose deletion is on its way."""

    def cursor(
        self, user_key: str, visibilities: tuple[Visibility, ...], shards: tuple[int, ...] = ()
    ) -> Cursor:
        """Return a cursor before the first row of a scope, or of some of its shards."""
        cursor = Cursor(user_key, visibilities, shards) if shards else Cursor(user_key, visibilities)
        self._cursors.add(cursor)
        return cursor

    @contextmanager
    def deleting(self, user_key: str, count: int) -> Iterator[None]:
        """Delete up to ``count`` rows of a scope inside the block: everybody who pages through it hears of it."""
        for cursor in self._cursors:
            if cursor.user_key == user_key:
                cursor.removing(count)
        self.deletions[user_key] += count
        try:
            yield
        finally:
            self.deletions[user_key] -= count
            self.deletions = +self.deletions

    async def page(self, cursor: Cursor, more_rows: int = 0) -> Rows:
        """Return the next page of a cursor; one too big for a message of the host is asked for in smaller ones.

        Args:
            cursor: from :meth:`cursor`.
            more_rows: rows of a page that is not the first one of a scope, if they are to be more.

        Raises:
            StoreFailed: the store did not answer even for a small page.
        """
        limit = max(PAGE_ROWS, more_rows if cursor.begun else 0)
        if cursor.by_shards(limit):
            limit = max(PAGE_ROWS, min(more_rows, PAGEABLE - cursor.offset))
        while True:
            where = cursor.where(limit, self.deletions[cursor.user_key])
            try:
                rows = await self._reader.listing(where, limit, cursor.offset)
            except StoreFailed:
                if limit <= _SMALLEST_PAGE:
                    raise
                limit = max(_SMALLEST_PAGE, limit // 5)
                continue
            cursor.read(rows.count, limit)
            return rows

    async def parts(self, cursor: Cursor, *, ahead: bool) -> AsyncGenerator[Rows, None]:
        """Yield all rows from a cursor on, in parts of pages; one reader of a cursor at a time.

        When the caller stops early (it has to close the iterator then), the cursor stands behind the last
        page of which it was given the last part.

        Args:
            cursor: from :meth:`cursor`.
            ahead: whether the next page is asked for while one is worked on.

        Raises:
            StoreFailed: the store did not answer even for a small page, or only with rows of others.
        """
        scout, fetching, more_rows = cursor.twin(), None, MORE_ROWS if ahead else 0
        self._cursors.add(scout)
        try:
            while not cursor.done:
                fetching = fetching or asyncio.ensure_future(self.page(scout, more_rows))
                rows, fetching = await fetching, None
                if rows.count and not rows.found:
                    # Rows, and none of them ours: that is no empty scope.
                    raise StoreFailed("store_untrusted", count=rows.count)
                after = scout.place
                if ahead and not after.done:
                    fetching = asyncio.ensure_future(self.page(scout, more_rows))
                *parts, last = rows.parts(_PART_ROWS)
                for part in parts:
                    await asyncio.sleep(0)
                    yield part
                cursor.move_to(after)
                yield last
        finally:
            if fetching is not None:
                fetching.cancel()
                fetching.add_done_callback(lambda task: task.cancelled() or task.exception())


def together(shards: Mapping[str, int], most: int) -> list[tuple[list[str], int]]:
    """Return shards, with how many rows each has, in groups of up to ``most`` rows or of one shard."""
    groups: list[tuple[list[str], int]] = []
    for shard, rows in shards.items():
        if groups and groups[-1][1] + rows <= most:
            groups[-1] = ([*groups[-1][0], shard], groups[-1][1] + rows)
        else:
            groups.append(([shard], rows))
    return groups
