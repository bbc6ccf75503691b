"""Reading the index of a scope from the store: a page at a time beside other work, or whole."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from contextvars import Context
from enum import Enum
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import StoreFailed
from ..logs import get_logger
from ..records.keys import Visibility
from .cache import INDEX_ROWS_MAX
from .index import ScopeIndex

if TYPE_CHECKING:
    from ..collection import Collection

__all__ = ["Fill", "IndexFilling"]

logger = get_logger(__name__)

_WORDS_ROWS = 50
"""Memories whose words are taken up at a time: about 2 ms."""
_LATER_SECONDS = 120.0
"""How long an index is read on with nobody waiting for it."""


class Fill(Enum):
    """How much of a cold index a caller has time to load."""

    PAGE = "one page beside the embedding call (on the turn)"
    ALL = "everything (commands, tools, pages)"


class IndexFilling:
    """Fills indexes of one collection.

    Args:
        collection: the knowledge base in use.
        clock: seconds, monotonic, for deadlines.
    """

    working: ClassVar[set[asyncio.Task[None]]] = set()
    """What runs beside others; kept here so that it is not garbage-collected."""

    def __init__(self, collection: Collection, clock: Callable[[], float] = monotonic) -> None:
        self._collection = collection
        self._clock = clock

    def start(self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float) -> asyncio.Task[None]:
        """Start reading the index beside other calls.

        A page takes exactly one host call, made now: nobody waits for its answer on the turn, and it may
        arrive after the turn is over.
        """

        async def run() -> None:
            if fill is Fill.ALL or not index.filling.locked():
                await self._tried(user_key, index, fill, deadline)
            await read_words(index)

        return self._beside_others(run(), outliving=fill is Fill.PAGE)

    def read_words_later(self, index: ScopeIndex) -> None:
        """Take up the words of an index while others work."""
        self._beside_others(read_words(index))

    def read_on_later(self, user_key: str, index: ScopeIndex) -> None:
        """Read the rest of an index with nobody waiting for it; whoever wants a page meanwhile gets a turn."""
        deadline = self._clock() + _LATER_SECONDS

        async def run() -> None:
            async with index.reading_on:
                moving = True
                while moving and not index.complete and self._clock() < deadline:
                    before = index.cursor and index.cursor.place
                    read = await self._tried(user_key, index, Fill.PAGE, deadline)
                    moving = read and index.cursor is not None and index.cursor.place != before
                    await read_words(index)

        if not index.reading_on.locked():
            self._beside_others(run(), outliving=True)

    async def read_on(self, user_key: str, index: ScopeIndex, seconds: float) -> None:
        """Read the rest of an index as far as there is time; a failure only leaves it cold."""
        task = self.start(user_key, index, Fill.ALL, self._clock() + seconds)
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            task.cancel()

    async def arrived(self, index: ScopeIndex, seconds: float) -> None:
        """Wait until the page that is being read has arrived."""
        try:
            async with asyncio.timeout(seconds), index.filling:
                pass
        except TimeoutError:
            pass

    async def read(self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float) -> None:
        """Read on from where the index stands; one reader at a time.

        Raises:
            StoreFailed: the store did not answer; what was read is kept.
        """
        async with index.filling:
            if len(index) >= INDEX_ROWS_MAX:
                return
            records = self._collection.records
            # Hidden ones as well: a change that broke off may have left an active row of what is archived now.
            cursor = index.cursor = index.cursor or records.cursor(user_key, *Visibility)
            start = cursor.place
            async with aclosing(records.pages(cursor, index.rows, ahead=fill is Fill.ALL)) as pages:
                async for page in pages:
                    index.read(page.records)
                    late = self._clock() >= deadline or len(index) >= INDEX_ROWS_MAX
                    if (late or fill is Fill.PAGE) and cursor.place != start:
                        # At least one whole page, so that the next one gets further.
                        return

    async def _tried(self, user_key: str, index: ScopeIndex, fill: Fill, deadline: float) -> bool:
        try:
            await self.read(user_key, index, fill, deadline)
        except StoreFailed as exc:
            # The search itself will tell whoever asked; the index only stays cold.
            logger.warning("index page failed: rows=%d reason=%s", len(index), exc.reason)
            return False
        return True

    def _beside_others(
        self, work: Coroutine[Any, Any, None], *, outliving: bool = False
    ) -> asyncio.Task[None]:
        # From 4.11 on the SDK drops answers that come when the handler which asked has ended; it knows the
        # handler from the context, so what may outlive it gets an empty one.
        context = Context() if outliving else None
        task = asyncio.get_running_loop().create_task(work, context=context)
        self.working.add(task)
        task.add_done_callback(self.working.discard)
        return task


async def read_words(index: ScopeIndex) -> None:
    """Take up the words of an index bit by bit, so that nobody waits for it long."""
    left = True
    while left:
        left = index.read_words(_WORDS_ROWS)
        await asyncio.sleep(0)
