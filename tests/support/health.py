"""The health check on the strict double, and hosts that misbehave in ways that only it looks for."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from longterm_memory.chat.health_lines import health_lines
from longterm_memory.chat.voice import Voice
from longterm_memory.health import HealthReport, Level, check_health, surroundings
from longterm_memory.health.vector_store import STEPS, USER_KEY_PREFIX
from longterm_memory.settings import LANGUAGES
from tests.support.memory import Bot
from tests.support.strict_host import StrictHost

MODEL = ("embedding", "embedding_model", "embedding_pause")
STORE = (*STEPS, "store_cleanup", "store_rows", "store_answers")


def outcomes(report: HealthReport) -> dict[str, str]:
    return {check.name: check.outcome for check in report.checks}


def wrong(report: HealthReport) -> dict[str, str]:
    """What is not fine, without what could not be checked because of it."""
    found = outcomes(report)
    return {
        c.name: found[c.name] for c in report.checks if c.level is not Level.OK and c.outcome != "unchecked"
    }


def made_up(bot: Bot) -> list[str]:
    """Rows and storage keys of health checks."""
    rows = [i for kb in bot.api.rows.values() for i, r in kb.items() if USER_KEY_PREFIX in str(r.metadata)]
    return rows + [key for key in bot.api.values if key.startswith(surroundings.STORAGE_PREFIX)]


async def check(bot: Bot, seconds: float = 20.0) -> HealthReport:
    """Run the check; whatever it finds, it has words for it."""
    report = await check_health(bot.service, seconds=seconds)
    for language in LANGUAGES:
        for one in json.loads(json.dumps(report.public(language)))["checks"]:
            assert one["title"], one
            assert one["text"], one
            assert bool(one["remedy"]) is (one["level"] != "ok"), one
        assert len("\n".join(health_lines(Voice(language), report))) <= Voice().limit
    return report


async def failing(bot: Bot, seconds: float = 20.0) -> dict[str, str]:
    return wrong(await check(bot, seconds))


class Keeping(StrictHost):
    """Reports deletes of storage values and does not make them."""

    async def delete_plugin_storage(self, key: str) -> None:
        return


class Blind(StrictHost):
    async def _search(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        await super()._search(*args, **kwargs)
        return []


class Lagging(StrictHost):
    """Shows its writes to a search a little later, as SeekDB does."""

    searches = 0

    async def _search(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        self.searches += 1
        found = await super()._search(*args, **kwargs)
        return found if self.searches > 3 else []


class Leaking(StrictHost):
    """Forgets the filter of searches, not of listings."""

    async def _search(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        self.faults.ignore_filters = True
        try:
            return await super()._search(*args, **kwargs)
        finally:
            self.faults.ignore_filters = False


class Loose(StrictHost):
    """Keeps to ids and forgets the other filter of listings."""

    async def _list(self, collection_id: str, filters: Any, limit: int, offset: int) -> Any:
        self.faults.ignore_filters = "file_id" in filters
        try:
            return await super()._list(collection_id, filters, limit, offset)
        finally:
            self.faults.ignore_filters = False


class Sightless(StrictHost):
    """Lists rows by their ids only."""

    async def _list(self, collection_id: str, filters: Any, limit: int, offset: int) -> Any:
        items, total = await super()._list(collection_id, filters, limit, offset)
        return ([] if "file_id" in filters else items), total


class Backwards(StrictHost):
    async def _search(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        return (await super()._search(*args, **kwargs))[::-1]


class Unheard(StrictHost):
    """Distances that mean nothing known."""

    def _distance(self, cosine: float) -> float:
        return 7.0 - cosine


class Greedy(StrictHost):
    """A delete takes the whole collection."""

    async def _delete(self, collection_id: str, *args: Any, **kwargs: Any) -> int:
        self.rows[collection_id].clear()
        return 1


class Haunted(StrictHost):
    """What was deleted is still found by a search, as in an index that lags for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.ghosts: dict[str, Any] = {}

    async def _upsert(self, collection_id: str, *args: Any, **kwargs: Any) -> None:
        await super()._upsert(collection_id, *args, **kwargs)
        self.ghosts |= self.rows[collection_id]

    async def _search(self, collection_id: str, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        there, self.rows[collection_id] = self.rows[collection_id], self.ghosts
        try:
            return await super()._search(collection_id, *args, **kwargs)
        finally:
            self.rows[collection_id] = there


class Thorough(StrictHost):
    """Carries out what it was asked for even when nobody waits for the answer any more, as a host does."""

    async def _call(self, name: str, *args: Any) -> Any:
        return await asyncio.shield(asyncio.ensure_future(super()._call(name, *args)))
