"""The first word with a vector store, and the sign of life behind an empty answer.

Every knowledge base holds one row of ours from its first use on, the *mark*. Before anything else is asked, it is
listed and searched for: that tells which database answers, and whether it can bear calls side by side. Later on it
gives "nothing" its meaning: some of the host's classes answer with nothing when their collection or their connection
is gone, so without the mark nothing can be said about the rest.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic

from ..errors import StoreFailed
from ..logs import get_logger
from ..ports import CountDiagnostics, FileIds, VectorRecord, VectorRow, VectorStore
from .keys import MARK
from .lane import Lane
from .traits import MIXES_UP_ANSWERS, StoreTraits
from .vectors import Vector

__all__ = ["Contact", "Mark", "mark_row"]

logger = get_logger(__name__)

_ALIVE_SECONDS = 60.0
"""How long after an answer with rows "nothing" is believed."""
_MARKS = 20
"""Marks looked at: there is one, or a few after times when it was not found."""
_MEETING_SECONDS = 2.0
_AGAIN_SECONDS = 30.0
"""How long a store may take to be met, and when it is tried again."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a knowledge base's mark looks like.

    Attributes:
        vector: of the row.
        other: another unit vector, not too near, to search with.
    """

    vector: Vector
    other: Vector


def mark_row(vector: Vector, collection: str) -> VectorRecord:
    """Return a new mark of a knowledge base with that unit vector."""
    row = str(uuid.uuid4())
    text = json.dumps({"sentinel": True, "knowledge_base": collection})
    fields = {"file_id": MARK, "uuid": row, "user_key": "", "text": text}
    return VectorRecord(row, vector.tolist(), fields, "-")


class Contact:
    """What is known about the store behind one knowledge base.

    Args:
        vectors: the host's vector database.
        collection: id of the knowledge base.
        mark: of the knowledge base, asked for when it is needed; ``None``: there is none, the store is taken as it is.
        clock: seconds, monotonic.

    Attributes:
        lane: how calls reach the store.
        found_empty: how often nothing was there any more of what had been stored.
    """

    def __init__(
        self,
        vectors: VectorStore,
        collection: str,
        mark: Callable[[], Mark] | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.lane = Lane()
        self.found_empty = 0
        self._vectors = vectors
        self._counts = vectors if isinstance(vectors, CountDiagnostics) else None
        self._collection = collection
        self._mark = mark
        self._clock = clock
        self._traits = StoreTraits()
        self._meeting = asyncio.Lock()
        self._met = mark is None
        self._again_at = self._alive_until = -inf
        if mark is None:
            self.lane.free()

    @property
    def traits(self) -> StoreTraits:
        """What was seen of the store so far."""
        if self._counts is not None:
            self._traits.counts_matches = self._counts.counts_matches(self._collection)
        return self._traits

    def saw_rows(self) -> None:
        """Hear that rows that were asked for came back: the store is there."""
        self._alive_until = self._clock() + _ALIVE_SECONDS

    def choose_lane(self) -> None:
        """Let calls run side by side where the store is known to bear it."""
        backend = self.traits.backend
        if backend == MIXES_UP_ANSWERS:
            self.lane.narrow()
        elif backend and (self.traits.metric != "cosine" or self.traits.counts_matches is not None):
            self.lane.free()

    async def meet(self) -> None:
        """Before the first question of all: look which store it is.

        A store that does not answer that stays unknown for a while: calls then go one at a time, and whoever asks
        hears from the store itself.

        Raises:
            StoreFailed: ``store_lost``.
        """
        if self._met or self._mark is None:
            return
        async with self._meeting:
            if self._met or self._clock() < self._again_at:
                return
            self._again_at = self._clock() + _AGAIN_SECONDS
            try:
                async with asyncio.timeout(_MEETING_SECONDS):
                    await self._looked_at()
            except TimeoutError:
                logger.warning("vector store not met: reason=timeout")
                return
            except StoreFailed as exc:
                if exc.reason == "store_lost":
                    raise
                logger.warning("vector store not met: reason=%s", exc.reason)
                return
            self.choose_lane()
            self._met = True
            logger.info("vector store met: looks_like=%s", self.traits.backend.replace(" ", "") or "unknown")

    async def _looked_at(self) -> None:
        try:
            found = await self._looked_up()
        except StoreFailed:
            # Milvus Lite 3 serves no reads after a restart until LangBot's class has written something.
            await self._put()
            found = await self._looked_up()
        if not found:
            # A store may show a row to a listing before a search finds it.
            await self.sign_of_life()
        elif self.lane.alone and not self.lane.caught:
            # Its distances leave two; whether listings are counted tells them apart.
            marks = await self._marks()
            if not any(map(_names_one, marks)):
                # A mark of a former version; where answers are mixed up only one with a name is believed.
                await self._put()

    async def _looked_up(self) -> bool:
        """Search for the mark; returns whether it was found."""
        assert self._mark is not None  # noqa: S101 - asked by meet()
        mark, where = self._mark(), FileIds([MARK])
        rows = await self.lane.run(
            lambda: self._vectors.search(self._collection, mark.other.tolist(), 1, where)
        )
        marks = [(float(mark.other @ mark.vector), r) for r in rows if r.metadata.get("file_id") == MARK]
        self._traits.see(marks)
        self.choose_lane()
        if marks:
            self.saw_rows()
        return bool(marks)

    async def sign_of_life(self) -> None:
        """See that the store still has what it was given, so that "nothing" means nothing.

        A database that was emptied or exchanged takes a new mark; a broken connection does not show it afterwards.
        Where answers are mixed up it gets none: LangBot's class may have taken another knowledge base's collection
        for this one, and what is written now would land there.

        Raises:
            StoreFailed: ``store_lost`` when the mark is not there and a new one does not show up.
        """
        if self._mark is None or (self._clock() < self._alive_until and not self.lane.caught):
            return
        if not await self._marked():
            if self.lane.caught:
                raise StoreFailed("store_lost")
            try:
                await self._put()
                there = await self._marked()
            except StoreFailed as exc:
                raise StoreFailed("store_lost") from exc
            if not there:
                raise StoreFailed("store_lost")
            self.found_empty += 1
            logger.error("vector store was found empty: what was stored in it before is not there any more")
        self.saw_rows()

    async def _put(self) -> None:
        assert self._mark is not None  # noqa: S101 - asked by the callers
        row = mark_row(self._mark().vector, self._collection)
        await self.lane.run(lambda: self._vectors.upsert(self._collection, [row]))

    async def in_place(self) -> None:
        """Where answers are mixed up, see that calls reach this knowledge base's collection and not another one.

        Raises:
            StoreFailed: ``store_lost``.
        """
        if self._mark is None or not self.lane.caught:
            return
        rows = await self._marks()
        # Rows that are no marks say nothing about the place; they are counted where they are in the way.
        if not any(map(self._is_mark, rows)) and all(row.metadata.get("file_id") == MARK for row in rows):
            raise StoreFailed("store_lost")

    async def _marked(self) -> bool:
        return any(map(self._is_mark, await self._marks()))

    async def _marks(self) -> list[VectorRow]:
        where = FileIds([MARK])
        return await self.lane.run(lambda: self._vectors.list_rows(self._collection, where, _MARKS))

    def _is_mark(self, row: VectorRow) -> bool:
        """Whether a row is this knowledge base's mark. One whose metadata is dropped counts; so do marks of former
        versions, which name none, where nothing is mixed up.
        """
        if "file_id" not in row.metadata:
            return True
        right = json.dumps(self._collection) in str(row.metadata.get("text"))
        return row.metadata["file_id"] == MARK and (right if _names_one(row) else not self.lane.caught)


def _names_one(row: VectorRow) -> bool:
    """Whether a mark says whose it is."""
    return "knowledge_base" in str(row.metadata.get("text"))
