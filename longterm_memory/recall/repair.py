"""Looking again at memories whose last change broke off, before their scope is read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..errors import StoreFailed
from ..logs import get_logger

if TYPE_CHECKING:
    from ..collection import Collection

__all__ = ["look_again"]

logger = get_logger(__name__)

_AT_A_TIME = 7
"""Memories looked at before one read: their row ids fit into one listing."""


async def look_again(collection: Collection, user_key: str, seconds: float) -> None:
    """Read what a change that broke off left of a few memories, and remove what is not the newest of it.

    Nothing is asked of the store unless a change of this process failed. A failure only leaves it for the next
    reader; readers keep to the newest version that they see.

    Args:
        collection: the knowledge base.
        user_key: the scope.
        seconds: how long to wait for it.
    """
    due = collection.unsettled.due(user_key, _AT_A_TIME)
    if not due:
        return
    try:
        async with asyncio.timeout(seconds):
            if due.gone:
                await collection.records.delete(user_key, due.gone)
            found = await collection.records.find(user_key, due.kept) if due.kept else {}
    except (StoreFailed, TimeoutError):
        logger.warning("episodes not looked at again: count=%d", len(due.kept) + len(due.gone))
        return
    collection.indexes.of(user_key).read(found.values())
    collection.unsettled.looked_at(user_key, (*due.kept, *due.gone))
