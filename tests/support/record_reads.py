"""Reading records of the double, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from longterm_memory.records.envelope import Record
from longterm_memory.records.keys import Visibility
from longterm_memory.records.vectors import Vector, unit
from playground.embedders import HashedWords
from tests.support.core import GROUP, Core

__all__ = ["ID", "KEY", "RECALLED", "contents", "embedded", "listed", "search"]

KEY = GROUP.user_key
RECALLED = [Visibility.RECALLED]
ID = "k7m29xqd"


def embedded(text: str) -> Vector:
    return unit(HashedWords().embed([text])[0])


def contents(records: Sequence[Record]) -> list[str]:
    return sorted(r.episode.content for r in records)


async def search(memory: Core, text: str = "x", k: int = 50) -> list[str]:
    answer = await memory.collection.records.search(KEY, embedded(text), k, RECALLED)
    return contents(answer.records)


async def listed(memory: Core, key: str = KEY, visibility: Visibility = Visibility.RECALLED) -> list[str]:
    return contents(await memory.collection.records.everything(key, visibility))
