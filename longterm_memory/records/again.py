"""Looking again at what a store may only show a little later.

What was written is read back at once, and most stores show it at once. A Milvus server answers reads that are up to
five seconds old (its default consistency is "bounded", and LangBot's class asks for no other), and the nodes of a
cluster may differ for a moment. So before something is called not done, it is looked at a few times.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["READ_AGAIN", "settled"]

READ_AGAIN = (0.1, 0.3, 0.8, 1.8, 3.0)
"""Seconds before each further look, 6 in all; nothing waits where the first look is right."""

_T = TypeVar("_T")


async def settled(look: Callable[[], Awaitable[_T]], right: Callable[[_T], bool]) -> _T:
    """Look until it is right or the time is over; returns what was seen last.

    Args:
        look: reads back.
        right: whether that is what it should be.

    Raises:
        StoreFailed: as ``look``.
    """
    seen = await look()
    for pause in READ_AGAIN:
        if right(seen):
            break
        await asyncio.sleep(pause)
        seen = await look()
    return seen
