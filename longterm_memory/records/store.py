"""Reading and writing records so that what was said to be done is done, and nobody sees another scope.

Nothing the backend answers is believed: every row is decoded against the asked scope and dropped when it does
not fit; every write and delete is read back. A change writes the new row, sees that it is there, and only
then deletes the old one; readers keep the highest version, and whoever meets leftovers of a crash removes
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakSet

from ..errors import StoreFailed
from ..logs import get_logger
from ..ports import FileIds, RowFilter, RowIds, VectorRow, VectorStore
from .envelope import Record, decode, encode
from .keys import Visibility, file_ids, row_ids
from .paging import Cursor
from .vectors import Vector

__all__ = ["PAGE_ROWS", "Answer", "RecordStore", "StoreHealth", "latest"]

logger = get_logger(__name__)

PAGE_ROWS = 500
"""Rows of one page: about 1.5 MB of the host's 16 MiB message."""
_SMALLEST_PAGE = 20
_READ_BACK = 500
"""Row ids asked for in one listing."""
_FEW = 40
"""Up to so many episodes are looked up by their row ids; for more it is cheaper to page through the scope."""
_TRIES = 3
"""How often an answer with foreign rows is asked for."""

_T = TypeVar("_T")
_NOTHING: Mapping[str, Record] = {}


@dataclass(slots=True)
class StoreHealth:
    """What the store was caught doing since the start; shown by health."""

    foreign_rows: int = 0
    unreadable_rows: int = 0
    unverified_deletes: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """Checked records of one read.

    Attributes:
        records: decodable records of the asked scope, in the backend's order; several versions may occur.
        rows: how many rows the backend returned, whatever they were.
        foreign: how many of them belonged to another scope or could not be told.
        unreadable: ids of rows of the scope that hold no readable record.
    """

    records: list[Record] = field(default_factory=list)
    rows: int = 0
    foreign: int = 0
    unreadable: tuple[str, ...] = ()


def latest(records: Iterable[Record]) -> list[Record]:
    """Return the highest version of each episode, in order of first appearance."""
    found: dict[str, Record] = {}
    for record in records:
        known = found.get(record.episode.id)
        if known is None or record.version > known.version:
            found[record.episode.id] = record
    return list(found.values())


class RecordStore:
    """Records of one knowledge base.

    Args:
        vectors: the host's vector database.
        collection: id of the knowledge base.
    """

    def __init__(self, vectors: VectorStore, collection: str) -> None:
        self.health = StoreHealth()
        self._vectors = vectors
        self._collection = collection
        self._serial: asyncio.Lock | None = None
        self._cursors: WeakSet[Cursor] = WeakSet()

    # ------------------------------------------------------------ reads

    async def search(
        self,
        user_key: str,
        vector: Vector,
        k: int,
        visibilities: Sequence[Visibility],
        known: Mapping[str, Record] = _NOTHING,
    ) -> Answer:
        """Return up to ``k`` records of the scope, nearest first.

        Args:
            user_key: the scope.
            vector: unit vector to be near to.
            k: how many.
            visibilities: where to look.
            known: records of the scope by row id that need not be decoded again.

        Raises:
            StoreFailed: the store did not answer.
        """
        where = FileIds([f for v in visibilities for f in file_ids(user_key, v)])
        query = vector.tolist()
        return await self._read(
            user_key, lambda: self._vectors.search(self._collection, query, k, where), where, known
        )

    def cursor(self, user_key: str, visibility: Visibility) -> Cursor:
        """Return a cursor before the first row of a scope."""
        cursor = Cursor(user_key, visibility)
        self._cursors.add(cursor)
        return cursor

    async def next_page(self, cursor: Cursor, known: Mapping[str, Record] = _NOTHING) -> Answer:
        """Return the next page and move the cursor on; one reader of a cursor at a time.

        A page too big for one message of the host is asked for in smaller ones.

        Args:
            cursor: from :meth:`cursor`.
            known: records of the scope by row id that need not be decoded again.

        Raises:
            StoreFailed: the store did not answer even for a small page.
        """
        limit = PAGE_ROWS
        while True:
            where = cursor.where(limit)
            try:
                answer = await self._read(
                    cursor.user_key, self._listing(where, limit, cursor.offset), where, known
                )
            except StoreFailed:
                if limit <= _SMALLEST_PAGE:
                    raise
                limit = max(_SMALLEST_PAGE, limit // 5)
                continue
            cursor.read(answer.rows, limit)
            return answer

    async def everything(self, user_key: str, visibility: Visibility) -> list[Record]:
        """Return the current records of a scope of one visibility: a full listing.

        Raises:
            StoreFailed: the store did not answer.
        """
        return latest([r async for page in self.pages(user_key, visibility) for r in page.records])

    async def pages(self, user_key: str, visibility: Visibility) -> AsyncIterator[Answer]:
        """Yield every page of a scope's rows of one visibility.

        Raises:
            StoreFailed: the store did not answer.
        """
        cursor = self.cursor(user_key, visibility)
        while not cursor.done:
            yield await self.next_page(cursor)

    async def find(self, user_key: str, episode_ids: Sequence[str]) -> dict[str, Record]:
        """Return the current record of each of these episodes that exists in the scope.

        Leftovers of an interrupted change (older versions) are removed on the way.

        Raises:
            StoreFailed: the store did not answer.
        """
        records = await self._rows_of(user_key, [r for i in episode_ids for r in row_ids(user_key, i)])
        current = {r.episode.id: r for r in latest(records) if r.episode.id in episode_ids}
        kept = {r.row_id for r in current.values()}
        stale = [r.row_id for r in records if r.row_id not in kept]
        if stale:
            try:
                await self._delete_rows(user_key, stale)
                logger.info("episode repaired: stale_rows=%d", len(stale))
            except StoreFailed:
                # What was asked for is found; the leftovers do no harm until the next one tries.
                logger.warning("episode not repaired: stale_rows=%d", len(stale))
        return current

    async def _rows_of(self, user_key: str, wanted: Sequence[str]) -> list[Record]:
        found: list[Record] = []
        for start in range(0, len(wanted), _READ_BACK):
            asked = RowIds(wanted[start : start + _READ_BACK])
            answer = await self._read(user_key, self._listing(asked, len(asked.values)), asked)
            if answer.foreign:
                # A store that does not keep to row ids may hold what it did not list, and must not be asked
                # to delete.
                raise StoreFailed("store_untrusted", count=answer.foreign)
            found += answer.records
        return found

    async def _read(
        self,
        user_key: str,
        call: Callable[[], Awaitable[list[VectorRow]]],
        where: RowFilter,
        known: Mapping[str, Record] = _NOTHING,
    ) -> Answer:
        for _ in range(_TRIES - 1):
            answer = self._checked(await self._one_at_a_time(call), user_key, where, known)
            if not answer.foreign:
                return answer
            # One known backend mixes up parallel answers: from now on one call at a time, and ask again.
            self._serial = self._serial or asyncio.Lock()
        return self._checked(await self._one_at_a_time(call), user_key, where, known)

    async def _one_at_a_time(self, call: Callable[[], Awaitable[_T]]) -> _T:
        if self._serial is None:
            return await call()
        async with self._serial:
            return await call()

    def _listing(
        self, where: RowFilter, limit: int, offset: int = 0
    ) -> Callable[[], Awaitable[list[VectorRow]]]:
        return lambda: self._vectors.list_rows(self._collection, where, limit, offset)

    def _checked(
        self, rows: list[VectorRow], user_key: str, where: RowFilter, known: Mapping[str, Record]
    ) -> Answer:
        asked = frozenset(where.values)
        records: list[Record] = []
        unreadable: list[str] = []
        foreign = 0
        for row in rows:
            place = row.metadata.get("file_id") if isinstance(where, FileIds) else row.id
            if place not in asked:
                foreign += 1
                continue
            record = known.get(row.id) or decode(row, user_key)
            if record is None:
                unreadable.append(row.id)
            else:
                records.append(record)
        if foreign or unreadable:
            self.health.foreign_rows += foreign
            self.health.unreadable_rows += len(unreadable)
            logger.warning(
                "rows dropped: foreign=%d unreadable=%d of=%d", foreign, len(unreadable), len(rows)
            )
        return Answer(records, len(rows), foreign, tuple(unreadable))

    # ------------------------------------------------------------ writes

    async def write(self, new: Sequence[Record], replaced: Sequence[Record] = ()) -> None:
        """Write records of one scope, see that they are there, then remove the versions they replace.

        Raises:
            StoreFailed: ``write_unverified`` when a new row is not there afterwards (the old ones then stay),
                ``delete_unverified`` when an old one still is; ``store_down`` or ``store_untrusted`` when the
                store did not answer usably; ``too_large``.
        """
        user_key = new[0].episode.user_key
        rows = [encode(record) for record in new]
        await self._one_at_a_time(lambda: self._vectors.upsert(self._collection, rows))
        seen = {r.row_id for r in await self._rows_of(user_key, [row.id for row in rows])}
        if not all(row.id in seen for row in rows):
            raise StoreFailed("write_unverified")
        old = [r.row_id for r in replaced]
        if old:
            await self._delete_rows(user_key, old)
            self._verify_gone(await self._listed(old))

    async def delete(self, user_key: str, episode_ids: Sequence[str]) -> None:
        """Delete every row of these episodes and read back that none is left.

        Raises:
            StoreFailed: ``delete_unverified`` with the count that the store still shows, ``store_down``, or
                ``store_untrusted`` when it lists rows that were not asked for (nothing is deleted then).
        """
        there = await self._existing_rows(user_key, episode_ids)
        if there:
            await self._delete_rows(user_key, there)
            self._verify_gone(await self._existing_rows(user_key, episode_ids))

    async def erase(self, user_key: str) -> None:
        """Delete every record of a scope, hidden ones too, and read back that none is left.

        Raises:
            StoreFailed: ``delete_unverified``, ``store_down`` or ``store_untrusted``.
        """
        where = FileIds([f for v in Visibility for f in file_ids(user_key, v)])
        await self._raw(where, PAGE_ROWS)
        await self._one_at_a_time(lambda: self._vectors.delete_rows(self._collection, where))
        self._verify_gone(await self._raw(where, PAGE_ROWS))

    def _verify_gone(self, left: Sequence[str]) -> None:
        if left:
            self.health.unverified_deletes += len(left)
            raise StoreFailed("delete_unverified", count=len(left))

    async def _delete_rows(self, user_key: str, rows: Sequence[str]) -> None:
        where = RowIds(rows)
        readers = [c for c in self._cursors if c.user_key == user_key]
        for cursor in readers:
            cursor.removing(len(rows))
        try:
            await self._one_at_a_time(lambda: self._vectors.delete_rows(self._collection, where))
        finally:
            for cursor in readers:
                cursor.removed(len(rows))

    async def _raw(self, where: RowFilter, limit: int) -> list[str]:
        """Return the ids of the first rows that the store lists under a filter, readable or not."""
        foreign = 0
        for _ in range(_TRIES):
            rows = await self._one_at_a_time(self._listing(where, limit))
            places = [row.metadata.get("file_id") if isinstance(where, FileIds) else row.id for row in rows]
            foreign = sum(place not in where.values for place in places)
            if not foreign:
                return [row.id for row in rows]
            self.health.foreign_rows += foreign
            self._serial = self._serial or asyncio.Lock()
        raise StoreFailed("store_untrusted", count=foreign)

    async def _listed(self, rows: Sequence[str]) -> list[str]:
        """Return which of these rows the store lists, readable or not."""
        found: list[str] = []
        for start in range(0, len(rows), _READ_BACK):
            some = RowIds(rows[start : start + _READ_BACK])
            found += await self._raw(some, len(some.values))
        return found

    async def _existing_rows(self, user_key: str, episode_ids: Sequence[str]) -> list[str]:
        """Rows of these episodes, readable or not: what has to be gone after a delete."""
        if len(episode_ids) <= _FEW:
            return await self._listed([r for i in episode_ids for r in row_ids(user_key, i)])
        ids = frozenset(episode_ids)
        found: list[str] = []
        unreadable: set[str] = set()
        for visibility in Visibility:
            async for page in self.pages(user_key, visibility):
                if page.foreign:
                    raise StoreFailed("store_untrusted", count=page.foreign)
                found += [r.row_id for r in page.records if r.episode.id in ids]
                unreadable.update(page.unreadable)
        if unreadable:
            found += sorted(unreadable & {r for i in ids for r in row_ids(user_key, i)})
        return list(dict.fromkeys(found))
