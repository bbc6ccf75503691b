"""What an import has to do in one user key: which rows are there already, and which id each other one gets.

A row keeps the id of ours that it has. Any other row gets one that follows from its foreign id, speaker and text,
so that a second run finds what a first one wrote, and a link to a row holds whichever run wrote it.

A row is there already when its id is. A row that does not come from this very place is there as well when the
same speaker has said that already, in the store or further up in the file. Within a file the first row of an id
wins.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from .drafts import EpisodeDraft
from .errors import BadArgument, LongTermMemoryError
from .ids import derived_id, is_id
from .models import Episode, Status
from .scope import Scope
from .text.fold import same_text

__all__ = ["Arrival", "Plan", "Planned", "planned"]

_Said = tuple[str, str]
"""What was said, and by whom."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A checked row on its way in.

    Attributes:
        draft: what is stored, in ``draft.id`` an id of ours or ``""``, in ``draft.imported_id`` a foreign one.
        scope: the conversation it was said in; its user key is where it goes.
        line: where it stands in the file, 0 = in none.
        status: what it is stored as.
        created_at: when it was first stored; ``None`` = now.
        superseded_by: id, of ours or foreign, of what replaced it.
        supersedes: ids of what it replaced.
        home: whether it was exported from this very user key; then its id alone tells whether it is there.
    """

    draft: EpisodeDraft
    scope: Scope
    line: int = 0
    status: Status = Status.ACTIVE
    created_at: datetime | None = None
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    home: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """A row that is not there yet, with its id and its links as they will be stored."""

    arrival: Arrival
    id: str
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import has to do in one user key.

    Attributes:
        fresh: what will be stored, active memories first.
        skipped: how many rows are there already, or twice in the file.
        notes: (line, reason) of rows that were skipped or changed for a reason worth telling.
        ids: id of every row of the file.
    """

    fresh: tuple[Planned, ...] = ()
    skipped: int = 0
    notes: tuple[tuple[int, LongTermMemoryError], ...] = ()
    ids: frozenset[str] = frozenset()


def planned(user_key: str, arrivals: Sequence[Arrival], there: Iterable[Episode]) -> Plan:
    """Return what is to be done with rows that go to one user key.

    Args:
        user_key: where they go.
        arrivals: the rows, in the order of the file.
        there: every memory that the user key holds, whatever its status.
    """
    return _Planner(user_key, arrivals, there).plan()


class _Row(NamedTuple):
    """A row of the file, the id it has or gets, and what it says."""

    id: str
    arrival: Arrival
    words: _Said


class _Planner:
    def __init__(self, user_key: str, arrivals: Sequence[Arrival], there: Iterable[Episode]) -> None:
        self._user_key = user_key
        self._arrivals = arrivals
        self._there = {e.id: e for e in there}
        self._notes: list[tuple[int, LongTermMemoryError]] = []
        self._skipped = 0
        self._imported = {e.imported_episode_id: e.id for e in self._there.values() if e.imported_episode_id}
        self._finals: dict[str, str] = {}
        """Id in the file, of ours or foreign → id of the memory that it stands for."""

    def plan(self) -> Plan:
        """Return the plan."""
        rows = self._identified()
        ids = frozenset(row.id for row in rows)
        said = self._said_outside(ids)
        above: dict[tuple[_Said, bool], str] = {}
        fresh: list[tuple[str, Arrival]] = []
        for episode_id, arrival, words in rows:
            place = (words, arrival.status is Status.ACTIVE)
            by_id_alone = arrival.home and bool(arrival.draft.id)
            if episode_id in self._there:
                self._compare(arrival, self._there[episode_id])
                final = episode_id
            else:
                final = "" if by_id_alone else above.get(place) or said.get(words, "")
            if final:
                self._skipped += 1
                self._finals[_name(arrival)] = final
            else:
                fresh.append((episode_id, arrival))
            above.setdefault(place, final or episode_id)
        return Plan(self._linked(fresh), self._skipped, tuple(self._notes), ids)

    def _identified(self) -> list[_Row]:
        """Give every row its id; of several rows with one id the first counts."""
        own = {a.draft.id for a in self._arrivals if a.draft.id}
        taken: dict[str, str] = {}
        lines: dict[str, int] = {}
        rows: list[_Row] = []
        for arrival in self._arrivals:
            name = _name(arrival)
            if name and name in lines:
                self._skipped += 1
                self._note(arrival, BadArgument("row_id_twice", id=_shown(name), line=lines[name]))
                continue
            words = _said(arrival.draft.content, arrival.draft.sender.id)
            episode_id = arrival.draft.id or self._derived(arrival, words, own, taken)
            if name:
                lines[name] = arrival.line
                self._finals[name] = episode_id
            rows.append(_Row(episode_id, arrival, words))
        return rows

    def _derived(self, arrival: Arrival, words: _Said, own: set[str], taken: dict[str, str]) -> str:
        """Return the id of a row that has none of ours: always the same for the same row."""
        draft = arrival.draft
        parts = [self._user_key, draft.imported_id, *words, str(arrival.status is Status.ACTIVE)]
        for number in range(1_000):
            name = json.dumps([*parts, number])
            found = derived_id(name)
            there = self._there.get(found)
            theirs = there and (there.imported_episode_id, there.sender_id) != (
                draft.imported_id,
                draft.sender.id,
            )
            # Two rows that say the same share an id here; the second is then said above.
            if found not in own and taken.setdefault(found, name) == name and not theirs:
                return found
        raise AssertionError("no free id")

    def _said_outside(self, ids: frozenset[str]) -> Mapping[_Said, str]:
        """Return what the store holds that no row of the file stands for, active memories before others."""
        others = [e for e in self._there.values() if e.id not in ids]
        others.sort(key=lambda e: e.status is Status.ACTIVE)
        return {_said(e.content, e.sender_id): e.id for e in others}

    def _compare(self, arrival: Arrival, known: Episode) -> None:
        """Tell when a memory with that id is here but says something else: it is left as it is."""
        if (known.content, known.status) != (arrival.draft.content, arrival.status):
            self._note(arrival, BadArgument("row_differs", id=known.id))

    # ------------------------------------------------------------ links

    def _linked(self, fresh: Sequence[tuple[str, Arrival]]) -> tuple[Planned, ...]:
        links = {e.id: e.superseded_by for e in self._there.values() if e.superseded_by}
        for episode_id, arrival in fresh:
            if arrival.superseded_by and arrival.status is not Status.ACTIVE:
                links[episode_id] = self._final(arrival.superseded_by)
                if not links[episode_id]:
                    self._note(arrival, BadArgument("row_link_unknown", id=_shown(arrival.superseded_by)))
        circular = _closing(links)
        rows = [
            Planned(
                arrival,
                episode_id,
                "" if episode_id in circular else links.get(episode_id, ""),
                tuple(i for i in map(self._final, arrival.supersedes) if i and i != episode_id),
            )
            for episode_id, arrival in fresh
        ]
        # Active ones first: if it ends half-way, nothing is replaced by what is not there.
        return tuple(sorted(rows, key=lambda row: row.arrival.status is not Status.ACTIVE))

    def _final(self, name: str) -> str:
        """Return the id of the memory that an id in the file stands for, ``""`` when nobody knows."""
        return self._finals.get(name) or (name if is_id(name) else self._imported.get(name, ""))

    def _note(self, arrival: Arrival, reason: LongTermMemoryError) -> None:
        self._notes.append((arrival.line, reason))


def _name(arrival: Arrival) -> str:
    """Return the id that the file gives a row, ``""`` when it gives none."""
    return arrival.draft.id or arrival.draft.imported_id


def _said(content: str, sender_id: str) -> _Said:
    return same_text(content), sender_id


def _shown(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"


def _closing(links: Mapping[str, str]) -> set[str]:
    """Return the ids whose link leads back to themselves."""
    closing: set[str] = set()
    done: set[str] = set()
    for start in links:
        path: dict[str, None] = {}
        at = start
        while at in links and at not in done and at not in path:
            path[at] = None
            at = links[at]
        if at in path:
            closing.add(next(reversed(path)))
        done.update(path)
    return closing
