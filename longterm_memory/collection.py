"""One knowledge base in use: its model, its records, its indexes and the locks of its scopes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from .embeddings import Embeddings
from .errors import StoreFailed
from .knowledge_base import KnowledgeBase, KnowledgeBaseRegistry
from .logs import get_logger
from .ports import Host
from .recall.cache import IndexCache
from .recall.calibration import SENTENCES, Calibration
from .records.contact import Mark, mark_row
from .records.envelope import Record
from .records.store import RecordStore
from .records.unsettled import Unsettled
from .spaces import SpaceRegistry

__all__ = ["Collection"]

logger = get_logger(__name__)


class Collection:
    """Everything that belongs to one knowledge base.

    Args:
        host: vectors, embeddings and storage.
        base: which knowledge base.
        registry: where its calibration is kept.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        host: Host,
        base: KnowledgeBase,
        registry: KnowledgeBaseRegistry,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.base = base
        self.embeddings = Embeddings(host, base.model, base.calibration, clock)
        self.records = RecordStore(
            host, base.id, clock, dimension=lambda: self.calibration.dimension, mark=self._mark
        )
        self.indexes = IndexCache(clock=clock)
        self.unsettled = Unsettled(clock)
        self.spaces = SpaceRegistry(host.storage)
        self._host = host
        self._registry = registry
        self._preparing = asyncio.Lock()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def filled(self) -> bool:
        """Whether anything was ever written; before that the vector store is not read."""
        return self.base.calibration is not None

    @property
    def calibration(self) -> Calibration:
        """Reference vectors of the model; only after :meth:`prepare`."""
        if self.base.calibration is None:
            raise RuntimeError("the collection is not prepared")
        return self.base.calibration

    def lock(self, user_key: str) -> asyncio.Lock:
        """Return the lock under which a scope's memories are changed."""
        return self._locks.setdefault(user_key, asyncio.Lock())

    async def write(self, new: Sequence[Record], replaced: Sequence[Record] = (), **how: Any) -> None:
        """Write records of one scope as :meth:`RecordStore.write` does; the scope is noted before, so that a
        backup finds it.

        Raises:
            StoreFailed: as there, or ``erasure_unsettled``: nothing was written.
            StorageFailed: the scope could not be noted; nothing was written.
        """
        self.unsettled.check(new[0].episode.user_key)
        await self.spaces.note(new[0].episode.user_key)
        await self.records.write(new, replaced, **how)
        self.unsettled.written(new)

    async def prepare(self, *, timeout: float = 45.0) -> None:  # noqa: ASYNC109 - passed on
        """Make the first write: measure the model and put one row of ours, so that later reads are safe
        everywhere.

        Args:
            timeout: seconds to wait for the model.

        Raises:
            EmbeddingFailed: the model did not answer.
            StoreFailed: the store refused the row (a dimension it does not support, say).
            NotConfigured: the knowledge base was deleted meanwhile.
            StorageFailed: the calibration could not be kept.
        """
        async with self._preparing:
            if self.filled:
                return
            vectors = await self.embeddings.embed(SENTENCES, timeout=timeout)
            await self._host.upsert(self.base.id, [mark_row(vectors[0], self.base.id)])
            calibration = Calibration.of(vectors)
            self.base = await self._registry.calibrated(self.base, calibration)
            self.embeddings.calibration = calibration
            # Now rather than on the first turn; whoever reads first tries again if it failed.
            with suppress(StoreFailed):
                await self.records.contact.meet()
            logger.info("knowledge base prepared: kb_id=%s dimension=%d", self.base.id, calibration.dimension)

    def _mark(self) -> Mark:
        return Mark(*self.calibration.vectors[:2])
