"""What ranking looks at besides words and vectors, a number per memory: when, who, how important, which talk.

Slots are positions of memories in :class:`~longterm_memory.recall.index.ScopeIndex`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..models import NOTED
from ..records.envelope import Record
from ..text.accents import plain_forms
from ..text.fold import fold
from .timeline import Timeline

__all__ = ["FIRST", "Columns", "Speaker"]

FIRST = 64
"""Rows that the arrays of a new index have room for."""
_COLUMNS = ("alive", "time", "created", "importance", "place", "speaker", "asks", "noted")
_QUESTION_MARKS = ("?", "？", "؟")

Speaker = tuple[str, str]
"""Folded name and sender id; either may be empty."""

_folded_name = lru_cache(maxsize=4_096)(fold)


class Columns:
    """Arrays with a row per slot; only the first ``len(self)`` rows mean anything.

    Attributes:
        alive: whether the slot holds a memory.
        time: when it happened, epoch seconds.
        created: when it was stored, epoch seconds.
        importance: 1..5.
        place: number of the conversation it was said in.
        speaker: number of who said it, see :meth:`speakers_named`.
        asks: whether it is a question, which rarely answers one.
        noted: whether the bot noted it as a fact, so that it is no line of a talk.
    """

    alive: NDArray[np.bool_]
    time: NDArray[np.float64]
    created: NDArray[np.float64]
    importance: NDArray[np.float32]
    place: NDArray[np.int32]
    speaker: NDArray[np.int32]
    asks: NDArray[np.bool_]
    noted: NDArray[np.bool_]

    def __init__(self) -> None:
        self.alive = np.zeros(FIRST, dtype=bool)
        self.time = np.zeros(FIRST, dtype=np.float64)
        self.created = np.zeros(FIRST, dtype=np.float64)
        self.importance = np.zeros(FIRST, dtype=np.float32)
        self.place = np.zeros(FIRST, dtype=np.int32)
        self.speaker = np.zeros(FIRST, dtype=np.int32)
        self.asks = np.zeros(FIRST, dtype=bool)
        self.noted = np.zeros(FIRST, dtype=bool)
        self._count = 0
        self._places: dict[str, int] = {}
        self._speakers: dict[Speaker, int] = {}
        self._timeline: Timeline | None = None

    def __len__(self) -> int:
        return self._count

    def add(self, record: Record) -> int:
        """Take up a memory; returns its slot."""
        slot, episode = self._count, record.episode
        if slot == len(self.time):
            for name in _COLUMNS:
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.zeros_like(old)]))
        who = _folded_name(episode.sender_name), episode.sender_id
        self.alive[slot], self.time[slot] = True, episode.timestamp.timestamp()
        self.created[slot], self.importance[slot] = episode.created_at.timestamp(), episode.importance
        self.place[slot] = self._places.setdefault(episode.session_name, len(self._places))
        self.speaker[slot] = self._speakers.setdefault(who, len(self._speakers))
        self.asks[slot] = episode.content.rstrip().endswith(_QUESTION_MARKS)
        self.noted[slot] = episode.source == NOTED
        self._count, self._timeline = slot + 1, None
        return slot

    def take_out(self, slot: int) -> None:
        """Leave a slot without a memory."""
        self.alive[slot], self._timeline = False, None

    def compact(self) -> NDArray[np.bool_]:
        """Close the gaps; returns which of the old slots were kept, in order."""
        living = self.alive[: self._count].copy()
        count = int(living.sum())
        for name in _COLUMNS:
            old = getattr(self, name)
            new = np.zeros(max(FIRST, count), dtype=old.dtype)
            new[:count] = old[: len(living)][living]
            setattr(self, name, new)
        self._count, self._timeline = count, None
        return living

    @property
    def timeline(self) -> Timeline:
        """The living memories in the order in which they were said; made when it is asked for after a change."""
        if self._timeline is None:
            self._timeline = Timeline.of(
                *(
                    getattr(self, name)[: self._count]
                    for name in ("alive", "time", "created", "place", "noted")
                )
            )
        return self._timeline

    def speakers_named(self, text: str) -> dict[int, str]:
        """Return the speakers of living memories whose name stands in a text: their folded names by number. Either may
        be written without accents.
        """
        folded = fold(text)
        texts = (folded, *plain_forms(folded))

        def stands(name: str) -> bool:
            return any(_stands_in(name, one) for one in texts) or any(
                _stands_in(form, folded) for form in plain_forms(name)
            )

        return {number: name for (name, _), number in self._living() if name and stands(name)}

    def speakers_with_id(self, sender_id: str) -> list[int]:
        """Return the numbers of the speakers with that sender id, none for an empty one."""
        return [number for (_, ident), number in self._speakers.items() if ident and ident == sender_id]

    def _living(self) -> list[tuple[Speaker, int]]:
        here = set(np.unique(self.speaker[: self._count][self.alive[: self._count]]).tolist())
        return [(speaker, number) for speaker, number in self._speakers.items() if number in here]


def _stands_in(name: str, text: str) -> bool:
    """Whether a folded name stands in a folded text; a Latin one as a word of its own ("Al" is not in
    "also").
    """
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not name.isascii() or not (before.isalnum() or after.isalnum() or "_" in before + after):
            return True
        at = text.find(name, at + 1)
    return False
