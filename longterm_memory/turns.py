"""What was already handed to the model in the turn of a speaker, so that it sees each memory once.

The host's ``retrieve`` carries no query id, only bot, session and speaker. So the listener notes what it
injected under these three, and whoever asks the engine within the turn (a runner's own retrieval, another
plugin's tool) gets its matches minus those. Process memory only; a lost note costs a repeated line, nothing
more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from .models import Episode, Hit, Status
from .recent import RecentIds
from .scope import Scope, Speaker
from .text.fold import fold

__all__ = ["AGENT_WINDOW_SECONDS", "RESERVE", "TURN_WINDOW_SECONDS", "TurnNote", "TurnWindow"]

RESERVE = 5
"""Memories recalled beyond those in the prompt, so that the runner's own retrieval costs no second
embedding call; it asks for five unless told otherwise."""

TURN_WINDOW_SECONDS = 300.0
"""How long a turn may take at most; the next message of the speaker ends it earlier."""
AGENT_WINDOW_SECONDS = 20.0
"""For bots without listener events: retrievals this close together count as one turn."""
_NOTES_MAX = 5_000


@dataclass(slots=True)
class TurnNote:
    """One turn of a speaker.

    Attributes:
        query_id: the host's id of the message; ``""`` when no listener ran (agent-bound bots).
        text: the message, folded.
        started: monotonic seconds.
        shown: ids of the memories that the model has got.
        waiting: memories recalled by the listener for whoever asks with the message itself, as runners do;
            ``None`` when no listener ran.
        once: whether they are handed out a single time, because they are in the prompt nowhere else.
    """

    query_id: str
    text: str
    started: float
    shown: set[str] = field(default_factory=set)
    waiting: tuple[Hit, ...] | None = None
    once: bool = False


class TurnWindow:
    """Notes of the current turns.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._notes: OrderedDict[tuple[str, str, str], TurnNote] = OrderedDict()
        self._forgotten = RecentIds(clock)

    @staticmethod
    def _key(scope: Scope, speaker: Speaker) -> tuple[str, str, str]:
        # The space, not only the conversation: a turn that began under another isolation is not this one.
        return scope.space_id, scope.user_key, speaker.id

    def begin(
        self,
        scope: Scope,
        speaker: Speaker,
        *,
        query_id: str,
        text: str,
        shown: Iterable[str] = (),
        waiting: tuple[Hit, ...] | None = None,
        once: bool = False,
    ) -> TurnNote:
        """Note a new turn; it replaces the speaker's previous one."""
        if waiting:
            # Recalled before it was forgotten: not handed out after.
            gone = self._forgotten
            waiting = tuple(hit for hit in waiting if _id(hit) not in gone and _text(hit.episode) not in gone)
        note = TurnNote(query_id, fold(text), self._clock(), set(shown), waiting, once)
        key = self._key(scope, speaker)
        self._notes[key] = note
        self._notes.move_to_end(key)
        while len(self._notes) > _NOTES_MAX:
            self._notes.popitem(last=False)
        return note

    def current(self, scope: Scope, speaker: Speaker) -> TurnNote | None:
        """Return the turn that is going on, ``None`` when there is none (any more)."""
        note = self._notes.get(self._key(scope, speaker))
        if note is None:
            return None
        window = TURN_WINDOW_SECONDS if note.query_id else AGENT_WINDOW_SECONDS
        return note if self._clock() - note.started <= window else None

    @staticmethod
    def take_waiting(note: TurnNote, query: str, k: int) -> tuple[Hit, ...] | None:
        """Return what waits for whoever asks with the message itself, ``None`` when that takes a search.

        Args:
            note: the turn.
            query: what is asked.
            k: how many memories are wanted.
        """
        if note.waiting is None or fold(query) != note.text:
            return None
        if note.once:
            waiting, note.waiting = note.waiting, ()
            note.shown.update(hit.episode.id for hit in waiting)
            return waiting
        # A full reserve may not be all there is.
        return None if k > len(note.waiting) >= RESERVE else note.waiting[:k]

    def end(self, scope: Scope, speaker: Speaker | None = None) -> None:
        """Drop what is noted of a speaker's turn, or of all turns of a space."""
        if speaker is not None:
            self._notes.pop(self._key(scope, speaker), None)
            return
        for key in [k for k in self._notes if k[0] == scope.space_id]:
            del self._notes[key]

    def forget(self, user_key: str, episode_ids: Iterable[str]) -> None:
        """Make sure that a forgotten memory of a user key waits nowhere."""
        gone = {(user_key, episode_id) for episode_id in episode_ids}
        self._forgotten.add(gone)
        for note in self._notes.values():
            if note.waiting:
                note.waiting = tuple(hit for hit in note.waiting if _id(hit) not in gone)

    def changed(self, before: Episode, after: Episode) -> None:
        """Make sure that a memory waits nowhere as it was before a change; as it is now, it may.

        A turn that recalled it before counts too.
        """
        self._forgotten.add([_text(before)])
        if after.status is Status.ACTIVE:
            self._forgotten.discard(_text(after))
        for note in self._notes.values():
            if note.waiting:
                note.waiting = tuple(hit for hit in note.waiting if _text(hit.episode) not in self._forgotten)


def _text(episode: Episode) -> tuple[str, str, str]:
    """What names one text of a memory."""
    return episode.user_key, episode.id, episode.content


def _id(hit: Hit) -> tuple[str, str]:
    """What names a memory among those of all scopes."""
    return hit.episode.user_key, hit.episode.id
