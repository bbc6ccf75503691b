"""What the scoped memory tells its fronts: plain values, no words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from .erasure import Traces
from .errors import LongTermMemoryError
from .listing import Page
from .models import AuditEntry, Episode, Profile, Status
from .policy import Actor
from .profile_records import StoredProfile
from .scope import Scope
from .settings import Settings

__all__ = ["AuditPage", "ErasureOffer", "Exported", "Overview", "ProfileView", "Stats", "most"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ProfileView:
    """Both profiles of a conversation.

    Attributes:
        session: profile of the conversation, ``None`` when it could not be read.
        speaker: profile of the current speaker, ``None`` when there is no speaker, it could not be read, or the
            speaker opted out and a model would see it.
        problems: what could not be read.
        off: whether the speaker opted out.
        off_for_bot: whether they did for all conversations with the bot.
    """

    session: Profile | None
    speaker: Profile | None
    problems: tuple[LongTermMemoryError, ...] = ()
    off: bool = False
    off_for_bot: bool = False


@dataclass(frozen=True, slots=True)
class Overview:
    """How memory stands in this conversation.

    Attributes:
        scope: the conversation and its keys.
        actor: who asks.
        settings: effective settings.
        kb_id: knowledge base in use.
        profiles: both profiles.
        active: number of active memories, ``None`` when the store could not be read.
        hidden: number of superseded and archived ones, ``None`` likewise.
        problem: why the store could not be read.
    """

    scope: Scope
    actor: Actor
    settings: Settings
    kb_id: str
    profiles: ProfileView
    active: int | None
    hidden: int | None
    problem: LongTermMemoryError | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """Numbers about the memories that the asker may see.

    Attributes:
        statuses: memories per status.
        speakers: active memories per (sender id, latest name), most first.
        tags: active memories per tag, most first.
        sources: active memories per source, most first.
        months: active memories per month (``2026-05``, UTC), oldest first.
        importances: active memories per importance 1..5.
        oldest: time of the oldest active memory, ``None`` without any.
        newest: time of the newest active memory.
        characters: length of all active contents together.
        profiles: stored profiles of this conversation: its own and its speakers'.
    """

    statuses: dict[Status, int]
    speakers: tuple[tuple[tuple[str, str], int], ...]
    tags: tuple[tuple[str, int], ...]
    sources: tuple[tuple[str, int], ...]
    months: tuple[tuple[str, int], ...]
    importances: dict[int, int]
    oldest: datetime | None
    newest: datetime | None
    characters: int
    profiles: int

    @classmethod
    def of(cls, episodes: Sequence[Episode], profiles: int) -> Stats:
        """Count memories, given newest first."""
        active = [e for e in episodes if e.status is Status.ACTIVE]
        names: dict[str, str] = {}
        for e in active:
            names.setdefault(e.sender_id, e.sender_name)
        by_sender = Counter(e.sender_id for e in active).most_common()
        months = Counter(e.timestamp.strftime("%Y-%m") for e in active)
        importances = Counter(e.importance for e in active)
        return cls(
            statuses=dict(Counter(e.status for e in episodes)),
            speakers=tuple(((sender, names[sender]), count) for sender, count in by_sender),
            tags=most(tag for e in active for tag in dict.fromkeys(e.tags)),
            sources=most(e.source for e in active),
            months=tuple(sorted(months.items())),
            importances={level: importances[level] for level in range(1, 6)},
            oldest=active[-1].timestamp if active else None,
            newest=active[0].timestamp if active else None,
            characters=sum(len(e.content) for e in active),
            profiles=profiles,
        )


def most(values: Iterable[T]) -> tuple[tuple[T, int], ...]:
    """Return each value with how often it occurs, most first."""
    return tuple(Counter(values).most_common())


@dataclass(frozen=True, slots=True)
class AuditPage(Page[AuditEntry]):
    """One page of an audit log, newest first.

    Attributes:
        unreadable: blocks of up to eight entries that could not be read and are missing.
    """

    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds.

    Attributes:
        episodes: memories, ``None`` when none were asked for.
        profiles: profiles, ``None`` likewise.
        left_out: memories of others here that the asker may not export.
        problems: profiles that could not be read and are missing.
        own_only: whether the asker may take out nothing of others.
    """

    episodes: tuple[Episode, ...] | None
    profiles: tuple[StoredProfile, ...] | None
    left_out: int = 0
    problems: tuple[LongTermMemoryError, ...] = ()
    own_only: bool = False


@dataclass(frozen=True, slots=True)
class ErasureOffer:
    """What an erasure would take, and the code that confirms it."""

    traces: Traces
    code: str
