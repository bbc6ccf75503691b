"""Reaching single rows of a scope: by their ids, or by the place they live in.

Every backend but one filters by row ids, so an id leads to its row in one call. LangBot's class for Valkey
indexes ``file_id`` alone and drops any other condition: a listing by row ids answers with rows of everybody, and
a delete by row ids deletes nothing. Where that is found out (:attr:`.rows.RowReader.finds_by_id`), a row is
looked for in the shard of its episode, and deleted by being emptied and moved to a place of its own, which is
then deleted whole. See docs/decisions/0005-valkey.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from ..errors import StoreFailed
from ..logs import get_logger
from ..ports import FileIds, RowFilter, RowIds, VectorRecord, VectorStore
from .again import settled
from .envelope import emptied
from .keys import Visibility, grave_id, shard_of
from .paging import PAGE_ROWS, Pager
from .rows import RowReader, Rows

__all__ = ["Owners", "SingleRows", "trusted"]

logger = get_logger(__name__)

Owners = Mapping[str, str]
"""Rows by id, each with the id of the episode that it belongs to (or would, if it is there)."""

_READ_ROWS = 500
"""Row ids asked for in one listing."""
_DELETE_ROWS = 400
"""Rows deleted in one call: fewer than a page holds, so that whoever pages meanwhile gets ahead."""
_NOBODY: Owners = {}


def trusted(rows: Rows) -> Rows:
    """Return rows of a store that gave none that was not asked for.

    Raises:
        StoreFailed: ``store_untrusted``: it may hold what it did not list, and must not be asked to delete.
    """
    if rows.foreign:
        raise StoreFailed("store_untrusted", count=rows.foreign)
    return rows


class _Way(Protocol):
    async def read(self, user_key: str, owners: Owners) -> Rows:
        """Return those of the rows that are there."""

    async def delete(self, user_key: str, owners: Owners) -> Owners:
        """Delete rows; return those already seen to be left."""


class SingleRows:
    """Single rows of one collection.

    Args:
        vectors: the host's vector database.
        collection: id of the knowledge base.
        reader: asks the store.
        pager: reads shards, and lets those who page know of deletions.
        dimension: of the collection's vectors; asked for only where rows are deleted by place.
    """

    def __init__(
        self,
        vectors: VectorStore,
        collection: str,
        reader: RowReader,
        pager: Pager,
        dimension: Callable[[], int],
    ) -> None:
        self._reader = reader
        store = _Store(vectors, collection, reader, pager)
        self._by_id = _ById(store)
        self._by_place = _ByPlace(store, dimension)

    @property
    def _way(self) -> _Way:
        return self._by_id if self._reader.finds_by_id else self._by_place

    async def read(self, user_key: str, owners: Owners) -> Rows:
        """Return those of the rows that are there: one call for up to 500, or by place a page of their shards for
        every 500 rows in them.

        Raises:
            StoreFailed: the store did not answer; ``store_untrusted`` for one that keeps neither to row ids nor
                to ``file_id``.
        """
        if self._reader.finds_by_id:
            rows = await self._by_id.read(user_key, owners)
            if not rows.foreign or self._reader.finds_by_id:
                return trusted(rows)
            logger.info("rows by place: the vector store does not filter by row ids")
            try:
                return await self._by_place.read(user_key, owners)
            except StoreFailed:
                # It keeps to nothing at the moment, so nothing was learned about row ids.
                self._reader.finds_by_id = True
                raise
        return await self._by_place.read(user_key, owners)

    async def drop(self, user_key: str, owners: Owners) -> None:
        """Delete rows without a look at what is left.

        Raises:
            StoreFailed: the store did not answer.
        """
        await self._way.delete(user_key, owners)

    async def delete(self, user_key: str, owners: Owners, left: Callable[[], Awaitable[Owners]]) -> Owners:
        """Delete rows and return those that are still there.

        Args:
            user_key: the scope.
            owners: the rows.
            left: reads back which rows are still there that should not be; asked again for some seconds when
                there are any (:mod:`.again`).

        Raises:
            StoreFailed: the store did not answer, or not usably.
        """
        unsure = self._reader.finds_by_id
        unburied = await self._way.delete(user_key, owners)

        async def look() -> Owners:
            nonlocal unsure, unburied
            still = await left()
            if still and unsure:
                # The first question by row ids may be this one, and a delete by ids that the store drops says
                # nothing.
                unsure = False
                await self.read(user_key, still)
                if not self._reader.finds_by_id:
                    unburied = await self._by_place.delete(user_key, still)
                    still = await left()
            return still

        seen = await settled(look, _nothing)
        return {**seen, **unburied}


@dataclass(frozen=True, slots=True)
class _Store:
    """The collection, as both ways reach it."""

    vectors: VectorStore
    collection: str
    reader: RowReader
    pager: Pager

    async def upsert(self, records: Sequence[VectorRecord]) -> None:
        await self.reader.one_at_a_time(lambda: self.vectors.upsert(self.collection, records))

    async def delete(self, where: RowFilter) -> None:
        await self.reader.one_at_a_time(lambda: self.vectors.delete_rows(self.collection, where))


class _ById:
    """The store filters by row ids."""

    def __init__(self, store: _Store) -> None:
        self._store = store

    async def read(self, user_key: str, owners: Owners) -> Rows:
        """Return what comes back for these ids, foreign rows counted."""
        found, count = [], 0
        for ids in _batches(owners, _READ_ROWS):
            rows = await self._store.reader.listing(RowIds(ids), len(ids))
            found += rows.found
            count += rows.count
            if rows.foreign:
                break
        return Rows(found, count)

    async def delete(self, user_key: str, owners: Owners) -> Owners:
        """Delete these ids."""
        for ids in _batches(owners, _DELETE_ROWS):
            with self._store.pager.deleting(user_key, len(ids)):
                await self._store.delete(RowIds(ids))
        return _NOBODY


class _ByPlace:
    """The store filters by ``file_id`` alone."""

    def __init__(self, store: _Store, dimension: Callable[[], int]) -> None:
        self._store = store
        self._dimension = dimension
        self._burying: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def read(self, user_key: str, owners: Owners) -> Rows:
        """Return the rows that the shards of these episodes hold, whichever visibility they have.

        Costs a listing of those shards: on average a sixteenth of the scope for one episode.
        """
        found = {}
        shards = tuple(sorted({shard_of(episode_id) for episode_id in owners.values()}))
        cursor = self._store.pager.cursor(user_key, tuple(Visibility), shards)
        while owners and not cursor.done:
            page = trusted(await self._store.pager.page(cursor))
            found.update({row.id: row for row in page.found if row.id in owners})
        return Rows(list(found.values()), len(found))

    async def delete(self, user_key: str, owners: Owners) -> Owners:
        """Empty the rows and move them to the scope's grave, and delete that whole.

        Whatever breaks off in between leaves empty rows that no reader ever meets; the next deletion in the scope
        takes them along. Buried one at a time, so that no late delete meets a row that was written anew.
        """
        grave, dimension = FileIds([grave_id(user_key)]), self._dimension()
        async with self._burying.setdefault(user_key, asyncio.Lock()):
            for ids in _batches(owners, _DELETE_ROWS):
                with self._store.pager.deleting(user_key, len(ids)):
                    await self._store.upsert([emptied(row, grave.values[0], dimension) for row in ids])
                    await self._store.delete(grave)

            async def unburied() -> Owners:
                rows = trusted(await self._store.reader.listing(grave, PAGE_ROWS)).found
                return {row.id: owners[row.id] for row in rows if row.id in owners}

            return await settled(unburied, _nothing)


def _nothing(rows: Owners) -> bool:
    return not rows


def _batches(owners: Owners, size: int) -> Iterator[list[str]]:
    ids = list(owners)
    for start in range(0, len(ids), size):
        yield ids[start : start + size]
