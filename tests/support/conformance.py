"""Verbs of the memory in one line each, and the note of how a check went, for tests of all engines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, RecallQuery
from longterm_memory.ports import FileIds
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.envelope import Record
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.scope import Speaker
from longterm_memory.scoped import ScopedMemory
from playground.compatibility_facts import CHECKS
from tests.support.memory import Bot, RealTime
from tests.support.real_engines import Engine

MINA, TAO = Speaker("9001", "Mina"), Speaker("9002", "Tao")
EVERYTHING = Filters(statuses=KEPT_STATUSES)


@dataclass
class Outcomes:
    """What was found out about one engine.

    Attributes:
        versions: what was run.
        checks: by name: ``holds``, ``fails``, or what is there instead.
        measured: values by check, for whoever reads the file; they differ from run to run.
    """

    versions: dict[str, str] = field(default_factory=dict)
    checks: dict[str, str] = field(default_factory=dict)
    measured: dict[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every check was run."""
        return self.checks.keys() == CHECKS.keys()

    def note(self, check: str, outcome: str) -> None:
        """Note the outcome of a test; the worst of a check's tests counts."""
        if self.checks.get(check) != "fails" and (outcome != "holds" or check not in self.checks):
            self.checks[check] = outcome

    def as_json(self) -> dict[str, Any]:
        """What is committed of it."""
        return {"versions": self.versions, "checks": {name: self.checks[name] for name in CHECKS}}


async def new_bot(engine: Engine, collection: str = "", **config: Any) -> Bot:
    """An installation whose knowledge base was just created; Mina is a memory admin."""
    config = {"memory_admins": "9001", **config}
    return await Bot(engine.api, config, kb=collection or engine.collection, clock=RealTime()).create()


async def restarted(bot: Bot, *where: str, **more: Any) -> ScopedMemory:
    """A conversation for a process that has just started, once searches see what was written."""
    await bot.api.settle()
    bot.restart()
    return await bot.memory(*where, **more)


async def say(memory: ScopedMemory, text: str, who: Speaker = MINA, **more: Any) -> Episode:
    """Remember something."""
    return (await memory.remember(EpisodeDraft(text, sender=who, **more))).episode


async def ask(memory: ScopedMemory, text: str, fill: Fill = Fill.ALL, **filters: Any) -> list[str]:
    """What is recalled."""
    query = RecallQuery(text=text, k=20, filters=Filters(**filters))
    return [hit.episode.content for hit in (await memory.recall(query, fill=fill)).hits]


async def record_of(bot: Bot, memory: ScopedMemory, episode_id: str) -> Record:
    """How a memory is stored."""
    records = (await bot.service.collection()).records
    return (await records.find(memory.scope.user_key, [episode_id]))[episode_id]


def places(memory: ScopedMemory, *visibilities: Visibility) -> FileIds:
    """Where the rows of a scope are."""
    return FileIds([f for v in visibilities or Visibility for f in file_ids(memory.scope.user_key, v)])


async def native(bot: Bot, memory: ScopedMemory, *visibilities: Visibility) -> int:
    """The engine's own count of a scope's rows, asked past the host's classes."""
    count: int = await bot.api.backend.count(bot.kb, places(memory, *visibilities).values)  # type: ignore[attr-defined]
    return count
