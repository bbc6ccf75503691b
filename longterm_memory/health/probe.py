"""The health check as a whole: what runs beside what, in how much time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from ..collection import Collection
from ..conversation import Conversation
from ..logs import get_logger
from . import installation, surroundings
from .model import embedding
from .outcomes import Level
from .report import Check, HealthReport
from .steps import attempt
from .timing import Budget, Watch
from .vector_store import STEPS, StoreProbe

if TYPE_CHECKING:
    from ..records.store import RecordStore
    from ..service import MemoryService

__all__ = ["check_health"]

logger = get_logger(__name__)

_MODEL = ("embedding", "embedding_model", "embedding_pause")
_STORE = (*STEPS, "store_cleanup", "store_rows", "store_answers")


async def check_health(
    service: MemoryService, conversation: Conversation | None = None, *, seconds: float = 20.0
) -> HealthReport:
    """Try out everything that the memory needs, and say what is wrong and what to do.

    Nothing of a conversation is read or changed, and turns that run meanwhile are not held up. What the check
    writes (one storage value, two memories under made-up keys) is gone afterwards; when that cannot be seen,
    the report says so.

    Args:
        service: the installation's memory.
        conversation: of the message that asks; ``None`` for the console, which belongs to no pipeline.
        seconds: time for everything; what does not answer in it is an error in the report.

    Returns:
        The report. Failures are in it; nothing is raised.
    """
    watch = Watch()
    report = HealthReport.of(await _Examination(service, conversation, Budget.of(seconds)).run())
    for check in report.checks:
        if check.level is Level.ERROR:
            logger.warning(
                "health: check=%s outcome=%s detail=%s",
                check.name,
                check.outcome,
                check.values.get("detail", ""),
            )
    wrong = [f"{c.name}:{c.outcome}" for c in report.checks if c.level is not Level.OK]
    logger.info(
        "health: level=%s checks=%d not_ok=%s ms=%d",
        report.level,
        len(report.checks),
        ",".join(wrong),
        watch.ms,
    )
    return report


class _Examination:
    """One run of the health check."""

    def __init__(self, service: MemoryService, conversation: Conversation | None, budget: Budget) -> None:
        self._service = service
        self._host = service.host
        self._conversation = conversation
        self._budget = budget
        self._checks: list[Check] = []

    async def run(self) -> list[Check]:
        """Make all checks, those that do not need each other side by side."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._one("storage", surroundings.storage(self._host.storage, self._budget)))
            group.create_task(self._one("host", surroundings.host(self._host)))
            group.create_task(self._one("packages", surroundings.packages()))
            group.create_task(self._one("contents", installation.contents(self._host)))
            group.create_task(self._memory())
        refused = installation.refusal(self._service.knowledge_bases.last_refusal)
        self._checks += [refused] if refused else []
        self._checks.append(Check.of("install_order", "note"))
        return self._checks

    async def _one(self, name: str, check: Awaitable[Check]) -> Check:
        made = await attempt(name, check, self._budget.left)
        self._checks.append(made)
        return made

    async def _several(self, names: Sequence[str], checks: Awaitable[list[Check]]) -> list[Check]:
        try:
            made = await checks
        except Exception as exc:
            logger.exception("health: check=%s outcome=internal", names[0])
            made = [Check.of(name, "internal", kind=type(exc).__name__) for name in names]
        self._checks += made
        return made

    async def _memory(self) -> None:
        """Look at the knowledge base, and at what needs one."""
        known = await self._one("knowledge_base", installation.knowledge_base(self._service))
        # Read a moment ago, so this makes no call.
        base = await self._service.knowledge_bases.get() if known.outcome in installation.KNOWN else None
        settings, configured = installation.settings(self._service, base)
        usable = base if known.level is Level.OK else None
        self._checks += [configured, installation.pipeline(self._conversation, usable)]
        if usable is None:
            self._skip((*_MODEL, *_STORE), "knowledge_base")
            return
        collection = await self._service.collection()
        deadline = settings.recall_deadline_seconds
        if collection.filled:
            # A group, because gather() would not wait for the cleaning up of one when the other is cancelled.
            async with asyncio.TaskGroup() as group:
                group.create_task(self._model(collection, self._budget.left, deadline))
                group.create_task(self._vectors(collection))
            return
        # The first write needs the model.
        if await self._model(collection, self._budget.left / 2, deadline) is Level.ERROR:
            self._skip(_STORE, "embedding")
        else:
            await self._vectors(collection)

    async def _model(self, collection: Collection, seconds: float, deadline: float) -> Level:
        made = await self._several(_MODEL, embedding(self._host, collection, seconds, deadline))
        return made[0].level

    async def _vectors(self, collection: Collection) -> None:
        # What was not asked any more is asked now; whether it goes on like that is what the checks find out.
        collection.records.trust.try_again()
        probe = StoreProbe(self._host, collection, self._budget, self._service.now())
        await self._several((*STEPS, "store_cleanup"), probe.run())
        self._checks += [_rows_seen(collection.records), _answers_seen(collection.records)]

    def _skip(self, names: Sequence[str], because: str) -> None:
        self._checks += [Check.unchecked(name, because) for name in names]


def _rows_seen(records: RecordStore) -> Check:
    """Return what the store was caught doing since the start; the worst comes first."""
    seen = records.health
    counts = {
        "foreign": seen.foreign_rows,
        "unreadable": seen.unreadable_rows,
        "unverified_deletes": seen.unverified_deletes,
        "found_empty": records.contact.found_empty,
    }
    if records.trust.lost:
        return Check.of("store_rows", "off", **counts)
    if records.contact.found_empty:
        return Check.of("store_rows", "emptied", **counts)
    return Check.of("store_rows", "seen" if any(counts.values()) else "ok", **counts)


def _answers_seen(records: RecordStore) -> Check:
    """Return how often a search left out what it should have found (:mod:`..recall.losses`)."""
    short = records.health.short_answers
    return Check.of("store_answers", "short" if short else "ok", count=short)
