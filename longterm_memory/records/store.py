"""Reading and writing records so that what was said to be done is done, and nobody sees another scope.

Nothing the backend answers is believed: every row is decoded against the asked scope and dropped when it does
not fit; every write and delete is read back. A change writes the new row, sees that it is there, and only
then deletes the old one; readers keep the highest version, and whoever meets leftovers of a crash removes
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TypeVar

from ..errors import StoreFailed
from ..logs import get_logger
from ..ports import FileIds, VectorRecord, VectorRow, VectorStore
from .again import settled
from .contact import Contact, Mark
from .envelope import Record, decode, encode
from .keys import Visibility, file_id, file_ids, places, row_ids
from .paging import AS_ONE, PAGE_ROWS, PAGEABLE, Cursor, Pager, together
from .rows import RowReader, Rows, StoreHealth
from .single_rows import Owners, SingleRows, trusted
from .traits import StoreTraits
from .trust import Trust
from .unsettled import Erasing
from .vectors import Vector

__all__ = ["PAGE_ROWS", "Answer", "RecordStore", "latest"]

logger = get_logger(__name__)

_ALL = 1_000_000
"""More rows than a scope has."""
_FEW = 40
"""Up to so many episodes are looked up by their row ids; for more it is cheaper to page through the scope."""
_NOTHING: Mapping[str, Record] = {}
_NO_ROWS: Mapping[str, VectorRecord] = {}

_T = TypeVar("_T")


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
        clock: seconds, monotonic.
        dimension: of its vectors.
        mark: of the knowledge base (:mod:`.contact`).
    """

    def __init__(
        self,
        vectors: VectorStore,
        collection: str,
        clock: Callable[[], float] = monotonic,
        *,
        dimension: Callable[[], int],
        mark: Callable[[], Mark] | None = None,
    ) -> None:
        self.health = StoreHealth()
        self.trust = Trust(clock)
        self.contact = Contact(vectors, collection, mark, clock)
        self._vectors = vectors
        self._collection = collection
        self._reader = RowReader(vectors, collection, self.health, self.trust, self.contact)
        self._pager = Pager(self._reader)
        self._single = SingleRows(vectors, collection, self._reader, self._pager, dimension)

    async def in_turn(self, call: Callable[[], Awaitable[_T]]) -> _T:
        """Make a call of the caller's own to the store (health does), as careful as ours: alone once the store
        was caught mixing up answers.
        """
        return await self._reader.one_at_a_time(call)

    @property
    def traits(self) -> StoreTraits:
        """What was seen of the store so far."""
        traits = self.contact.traits
        traits.finds_by_id = self._reader.finds_by_id
        return traits

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
        rows = await self._reader.search(vector, k, where)
        answer = self._decoded(rows, user_key, known)
        if not self.contact.traits.metric:
            by_row = {record.row_id: record for record in answer.records}
            self.contact.traits.see(
                [(float(vector @ by_row[r.id].vector.vector()), r) for r in rows.found if r.id in by_row]
            )
            self.contact.choose_lane()
        return answer

    def cursor(self, user_key: str, *visibilities: Visibility) -> Cursor:
        """Return a cursor before the first row of a scope."""
        return self._pager.cursor(user_key, visibilities)

    async def pages(
        self, cursor: Cursor, known: Mapping[str, Record] = _NOTHING, *, ahead: bool = True
    ) -> AsyncGenerator[Answer, None]:
        """Yield all records from a cursor on, in parts of pages; one reader of a cursor at a time.

        When the caller stops early (it has to close the iterator then), the cursor stands behind the last
        page that it was given whole. Between the parts others get their turn: decoding a page takes a while.
        A page too big for one message of the host is asked for in smaller ones.

        Args:
            cursor: from :meth:`cursor`.
            known: records of the scope by row id that need not be decoded again.
            ahead: whether the next page is asked for while one is worked on.

        Raises:
            StoreFailed: the store did not answer even for a small page.
        """
        async with aclosing(self._pager.parts(cursor, ahead=ahead)) as parts:
            async for part in parts:
                yield self._decoded(part, cursor.user_key, known)

    async def everything(self, user_key: str, visibility: Visibility) -> list[Record]:
        """Return the current records of a scope of one visibility: a full listing.

        Raises:
            StoreFailed: the store did not answer.
        """
        async with aclosing(self.pages(self.cursor(user_key, visibility))) as pages:
            return latest([record async for page in pages for record in page.records])

    async def find(self, user_key: str, episode_ids: Sequence[str]) -> dict[str, Record]:
        """Return the current record of each of these episodes that exists in the scope.

        Leftovers of an interrupted change (older versions) are removed on the way.

        Raises:
            StoreFailed: the store did not answer, or answered with rows that were not asked for.
        """
        rows = await self._single.read(user_key, _owners(user_key, episode_ids))
        answer = self._decoded(rows, user_key)
        if answer.unreadable and not answer.records:
            # There is something under these ids; "not found" would be wrong.
            raise StoreFailed("store_untrusted", count=len(answer.unreadable))
        records = answer.records
        current = {r.episode.id: r for r in latest(records) if r.episode.id in episode_ids}
        kept = {r.row_id for r in current.values()}
        stale = {r.row_id: r.episode.id for r in records if r.row_id not in kept}
        if stale:
            try:
                await self._single.drop(user_key, stale)
                logger.info("episode repaired: stale_rows=%d", len(stale))
            except StoreFailed:
                # What was asked for is found; the leftovers do no harm until the next one tries.
                logger.warning("episode not repaired: stale_rows=%d", len(stale))
        return current

    def _decoded(self, rows: Rows, user_key: str, known: Mapping[str, Record] = _NOTHING) -> Answer:
        records: list[Record] = []
        unreadable: list[str] = []
        for row in rows.found:
            record = known.get(row.id) or decode(row, user_key)
            if record is None:
                unreadable.append(row.id)
            else:
                records.append(record)
        if unreadable:
            self.health.unreadable_rows += len(unreadable)
            logger.warning("rows dropped: unreadable=%d of=%d", len(unreadable), rows.count)
        return Answer(records, rows.count, rows.foreign, tuple(unreadable))

    # ------------------------------------------------------------ writes

    async def write(
        self,
        new: Sequence[Record],
        replaced: Sequence[Record] = (),
        encoded: Mapping[str, VectorRecord] = _NO_ROWS,
        read_back: int = _ALL,
    ) -> None:
        """Write records of one scope, see that they are there, then remove the versions they replace.

        Args:
            new: what is written.
            replaced: what goes then.
            encoded: rows of new records that were made before, by row id.
            read_back: how many of the new rows are read back; for imports, which :meth:`holds` ends.

        Raises:
            StoreFailed: ``write_unverified`` when a new row is not there afterwards (the old ones then stay),
                ``delete_unverified`` when an old one still is; ``store_down`` or ``store_untrusted`` when the
                store did not answer usably; ``too_large``.
        """
        user_key = new[0].episode.user_key
        sent = [encoded.get(record.row_id) or encode(record) for record in new]
        await self.contact.in_place()
        await self._reader.one_at_a_time(lambda: self._vectors.upsert(self._collection, sent))
        await self._verify_written(new, _spread(sent, read_back))
        await self.contact.in_place()
        old = {r.row_id: r.episode.id for r in replaced}
        if old:

            async def left() -> Owners:
                return {row.id: old[row.id] for row in (await self._single.read(user_key, old)).found}

            self._verify_gone(await self._single.delete(user_key, old, left))

    async def holds(self, user_key: str, visibility: Visibility, episode_ids: Collection[str]) -> bool:
        """Whether the store lists at least as many rows of a scope as these episodes need.

        One call, or for more than can be paged through one for some shards each. Rows of unfinished changes count too.

        Raises:
            StoreFailed: the store did not answer, or answered with rows that were not asked for.
        """
        shards = Counter(file_id(user_key, visibility, i) for i in episode_ids)
        for where, count in together(shards, PAGEABLE if len(episode_ids) <= PAGEABLE else AS_ONE):
            if not trusted(await self._reader.listing(FileIds(where), 1, count - 1)).found:
                return False
        return True

    async def delete(self, user_key: str, episode_ids: Sequence[str]) -> None:
        """Delete every row of these episodes and read back that none is left.

        Raises:
            StoreFailed: as :meth:`rows_of` (nothing is deleted then) and :meth:`remove`.
        """
        await self.remove(user_key, await self.rows_of(user_key, episode_ids))

    async def remove(self, user_key: str, there: Mapping[str, Sequence[str]]) -> None:
        """Delete the rows that :meth:`rows_of` returned and read back that their episodes have none left.

        Raises:
            StoreFailed: ``delete_unverified`` with the count that the store still shows, or ``store_down``.
        """
        if there:

            async def left() -> Owners:
                return _flat(await self.rows_of(user_key, list(there)))

            self._verify_gone(await self._single.delete(user_key, _flat(there), left))

    async def erase(self, user_key: str, watched: Erasing | None = None) -> None:
        """Delete every row of a scope by where it lives, readable or not, and read back that none is left.

        Args:
            user_key: the scope.
            watched: entered around the calls that delete. One that is given up may still take effect later, and then
                takes along what was written meanwhile (:meth:`.unsettled.Unsettled.erasing`).

        Raises:
            StoreFailed: ``delete_unverified``, ``store_down`` or ``store_untrusted``.
        """
        where = places(user_key)
        # The host goes through these one by one and has 30 s for a call: a shard each where there are many rows.
        at_once = len(Visibility) if len(await self.left(user_key)) >= PAGE_ROWS else len(where)
        with watched or nullcontext(), self._pager.deleting(user_key, _ALL):
            for start in range(0, len(where), at_once):
                part = FileIds(where[start : start + at_once])
                await self._reader.one_at_a_time(partial(self._vectors.delete_rows, self._collection, part))
        self._verify_gone(await settled(lambda: self.left(user_key), _nothing))

    async def left(self, user_key: str) -> list[VectorRow]:
        """Return rows of a scope, whatever they are: none, or up to a page of them.

        Raises:
            StoreFailed: the store did not answer, or answered with rows that were not asked for.
        """
        return trusted(await self._reader.listing(FileIds(places(user_key)), PAGE_ROWS)).found

    async def _verify_written(self, new: Sequence[Record], sent: Sequence[VectorRecord]) -> None:
        user_key, owner = new[0].episode.user_key, {r.row_id: r.episode.id for r in new}

        async def all_there() -> bool:
            rows = await self._single.read(user_key, {s.id: owner[s.id] for s in sent})
            kept = {row.id: row.metadata for row in rows.found}
            return all(
                kept.get(record.id, {}).get(name) == record.metadata[name]
                for record in sent
                for name in ("text", "file_id")
            )

        if not await settled(all_there, bool):
            raise StoreFailed("write_unverified")

    def _verify_gone(self, left: Collection[object]) -> None:
        if left:
            self.health.unverified_deletes += len(left)
            raise StoreFailed("delete_unverified", count=len(left))

    async def rows_of(self, user_key: str, episode_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the ids of the rows of these episodes, readable or not, by episode; none for what is not there.

        Raises:
            StoreFailed: the store did not answer, or ``store_untrusted`` when it lists rows that were not asked
                for.
        """
        found: dict[str, list[str]] = {}
        if len(episode_ids) <= _FEW:
            owner = _owners(user_key, episode_ids)
            for row in (await self._single.read(user_key, owner)).found:
                found.setdefault(owner[row.id], []).append(row.id)
            return found
        ids = frozenset(episode_ids)
        unreadable: set[str] = set()
        async with aclosing(self.pages(self.cursor(user_key, *Visibility))) as pages:
            async for page in pages:
                if page.foreign:
                    raise StoreFailed("store_untrusted", count=page.foreign)
                for record in page.records:
                    if record.episode.id in ids:
                        found.setdefault(record.episode.id, []).append(record.row_id)
                unreadable.update(page.unreadable)
        if unreadable:
            owner = _owners(user_key, ids)
            for row_id in sorted(unreadable & owner.keys()):
                found.setdefault(owner[row_id], []).append(row_id)
        return {episode_id: list(dict.fromkeys(rows)) for episode_id, rows in found.items()}


def _nothing(left: Collection[object]) -> bool:
    return not left


def _spread(sent: Sequence[VectorRecord], most: int) -> Sequence[VectorRecord]:
    """Return up to about ``most`` of the rows: the longest and others evenly from the first to the last."""
    if len(sent) <= most:
        return sent
    step = (len(sent) - 1) / (most - 1)
    chosen = {round(n * step) for n in range(most)}
    chosen.add(max(range(len(sent)), key=lambda n: len(str(sent[n].metadata["text"]))))
    return [sent[n] for n in sorted(chosen)]


def _owners(user_key: str, episode_ids: Iterable[str]) -> dict[str, str]:
    """Return every row id that these episodes can have, with the episode of each."""
    return {row: i for i in episode_ids for row in row_ids(user_key, i)}


def _flat(rows: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return rows by episode as episodes by row."""
    return {row: i for i, found in rows.items() for row in found}
