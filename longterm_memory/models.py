"""The typed records that every layer passes on: episodes, profiles, recall queries and results, snapshots.

Nothing here knows a host, a store or a language. Times are timezone-aware ``datetime`` in UTC inside, ISO-8601 with
``Z`` outside (:mod:`longterm_memory.text.times`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from .errors import LongTermMemoryError

__all__ = [
    "CONTENT_MAX",
    "IMPORTANCE_DEFAULT",
    "KEPT_STATUSES",
    "NOTED",
    "AuditEntry",
    "Episode",
    "Filters",
    "Hit",
    "Profile",
    "ProfileChange",
    "RecallQuery",
    "RecallResult",
    "Score",
    "Slot",
    "SlotValue",
    "Snapshot",
    "SnapshotEpisode",
    "Status",
]

CONTENT_MAX = 8_000
"""Longest content of an episode, in characters; longer is refused with the count."""

IMPORTANCE_DEFAULT = 2


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Status(StrEnum):
    """Where an episode is in its life. Only ``active`` is recalled by default."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    DELETED = "deleted"


KEPT_STATUSES = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.ARCHIVED})
"""Every status that a kept memory can have; what is deleted is gone."""


NOTED = "agent"
"""Source of what the bot noted with its tool, against "import" and whatever files say."""


class Episode(_Frozen):
    """One L2 memory, as people and other modules see it.

    ``timestamp`` is when it was stored or, if given, when it happened; ``created_at`` always when it was stored.
    """

    id: str
    content: Annotated[str, Field(min_length=1, max_length=CONTENT_MAX)]
    tags: tuple[str, ...] = ()
    importance: Annotated[int, Field(ge=1, le=5)] = IMPORTANCE_DEFAULT
    timestamp: datetime
    created_at: datetime
    user_key: str
    sender_id: str = ""
    sender_name: str = ""
    bot_uuid: str = ""
    session_name: str = ""
    source: str = NOTED
    status: Status = Status.ACTIVE
    superseded_by: str = ""
    supersedes: tuple[tuple[str, int], ...] = ()
    """For a correction: (episode id, record version) of what it replaced; the version tells a crash from a restore."""
    document_id: str = ""
    imported_episode_id: str = ""

    def is_from(self, sender_id: str) -> bool:
        """Whether that (known) sender is the speaker of this memory."""
        return bool(sender_id) and self.sender_id == sender_id


# ---------------------------------------------------------------- L1


class SlotValue(_Frozen):
    """A former value of a slot."""

    value: str
    updated_at: str = ""
    reason: str = ""


class Slot(_Frozen):
    """A keyed fact: exactly one current value, at most eight former ones (newest first)."""

    value: str
    updated_at: str = ""
    history: tuple[SlotValue, ...] = ()
    confidence: float | None = None


class Profile(_Frozen):
    """An L1 profile. ``traits`` and ``preferences`` are all current values in order, keyed and free-form alike."""

    name: str = ""
    traits: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    notes: str = ""
    updated_at: str = ""
    trait_slots: dict[str, Slot] = Field(default_factory=dict)
    preference_slots: dict[str, Slot] = Field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to inject."""
        return not (self.name or self.traits or self.preferences or self.notes)

    def public(self) -> dict[str, object]:
        """The five plain fields of exports, ``_ltm_context`` and the console."""
        return {
            "name": self.name,
            "traits": list(self.traits),
            "preferences": list(self.preferences),
            "notes": self.notes,
            "updated_at": self.updated_at,
        }


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """What an ``update_profile`` did.

    Attributes:
        profile: the profile as it now stands.
        target: ``"session"`` or ``"speaker"``.
        outcome: a key of the words files (``profile.<outcome>``): ``set``, ``added``, ``removed``, ``unchanged``,
            ``no_match``, ``added_dropped``…
        details: values for that sentence.
        written: whether the stored profile was changed.
    """

    profile: Profile
    target: str
    outcome: str
    details: dict[str, object] = field(default_factory=dict)
    written: bool = False


# ---------------------------------------------------------------- recall


class Filters(_Frozen):
    """Which episodes may come back; every field narrows, none can widen the scope.

    ``time_after``/``time_before`` are inclusive/exclusive bounds on ``timestamp``.
    """

    sender_id: str = ""
    sender_name: str = ""
    time_after: datetime | None = None
    time_before: datetime | None = None
    importance_min: int = 1
    source: str = ""
    tag: str = ""
    session_name: str = ""
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})

    def keeps(self, episode: Episode) -> bool:
        """Whether the episode passes every filter. Names and tags compare folded (case, width, spaces)."""
        from .text.fold import fold

        return (
            episode.status in self.statuses
            and (not self.sender_id or episode.sender_id == self.sender_id)
            and (not self.sender_name or fold(episode.sender_name) == fold(self.sender_name))
            and (self.time_after is None or episode.timestamp >= self.time_after)
            and (self.time_before is None or episode.timestamp < self.time_before)
            and episode.importance >= self.importance_min
            and (not self.source or episode.source == self.source)
            and (not self.session_name or episode.session_name == self.session_name)
            and (not self.tag or fold(self.tag) in {fold(t) for t in episode.tags})
        )

    @property
    def narrows(self) -> bool:
        """Whether anything beyond the default ``active`` is asked for."""
        return self != Filters()


class RecallQuery(_Frozen):
    """One question to the memory; goes through every layer unchanged."""

    text: str
    k: Annotated[int, Field(ge=1, le=100)] = 5
    filters: Filters = Filters()
    speaker_id: str = ""
    """Who asks; their own memories rank a little higher."""
    floor: bool = True
    """Whether results below the relevance floor are left out."""
    searched: bool = False
    """Whether somebody searches on purpose, who sees and judges what comes: an answer need be half as likely."""
    exclude: frozenset[str] = frozenset()
    """Episode ids not to return (already shown)."""
    exclude_senders: frozenset[str] = frozenset()
    """Senders whose memories must not come back (people who opted out)."""

    @property
    def narrows(self) -> bool:
        """Whether some active memories of the scope must not come back."""
        return self.filters.narrows or bool(self.exclude or self.exclude_senders)


@dataclass(frozen=True, slots=True)
class Score:
    """Why a memory ranked where it did. All parts are in the units of ``total`` unless said otherwise.

    Attributes:
        total: final score; higher is better.
        vector: similarity on the scale of this question: 0 = like unrelated text, 1 = the best memory of the scope.
        cosine: true cosine similarity, -1..1.
        lexical: share of the query's term weight that the memory holds against the best memory's, 0..1.
        relevance: 0..1, how likely it belongs to the answer; held against the floor.
        boosts: named additive parts (``recency``, ``importance``, ``speaker``, ``exact``, ``correction``, …);
            ``rerank`` is what a memory gained or lost by the place that the rerank model gave it.
        rerank: what the rerank model said, on that model's scale; ``None`` when it was not asked about this one.
    """

    total: float
    vector: float = 0.0
    cosine: float = 0.0
    lexical: float = 0.0
    relevance: float = 0.0
    boosts: dict[str, float] = field(default_factory=dict)
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled episode, its score, and whether it reaches the relevance floor (else it came only because no
    floor was asked for).
    """

    episode: Episode
    score: Score
    relevant: bool = True


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What a recall found.

    Attributes:
        hits: best first, at most ``k``, no near-duplicates.
        considered: how many candidates were scored.
        below_floor: how many candidates were left out as not relevant.
        answered: 0..1, how likely anything here answers the question; below the floor nothing is returned.
        complete: whether the lexical index of the scope was complete (warm).
        skipped: reason key when nothing was searched on purpose (``blank``, ``greeting``, ``no_scope``), else ``""``.
        foreign_rows: rows of other scopes that the backend returned and we dropped.
        reranked: how many hits stand where the rerank model put them; 0 when none was asked.
        rerank_failed: why a rerank model that is set did not count.
        spent: seconds that its steps took one after the other: ``embedding``, ``search``, ``ranking``, ``rerank``.
    """

    hits: tuple[Hit, ...] = ()
    considered: int = 0
    below_floor: int = 0
    answered: float = 0.0
    complete: bool = False
    skipped: str = ""
    foreign_rows: int = 0
    reranked: int = 0
    rerank_failed: LongTermMemoryError | None = None
    spent: Mapping[str, float] = field(default_factory=dict)

    def episodes(self) -> Iterable[Episode]:
        """The recalled episodes, best first."""
        return (hit.episode for hit in self.hits)


# ---------------------------------------------------------------- audit


class AuditEntry(_Frozen):
    """One change, told without content.

    ``summary`` holds field names, counts and lengths. ``number`` counts the entries of a conversation from 1.
    """

    audit_id: str = ""
    number: int = 0
    at: str = ""
    operation: str
    """``remember``, ``update_profile``, ``forget``, ``delete``, ``edit``, ``archive``, ``restore``, ``import``,
    ``opt_out``, ``opt_in``, ``erase_speaker``, ``erase_space``…, whatever the front end."""
    via: str = ""
    """``tool``, ``command``, ``console`` or ``upload``."""
    scope_key: str
    user_key: str = ""
    sender_id: str = ""
    sender_name: str = ""
    target_type: str = ""
    """``episode``, ``episodes``, ``profile``, ``speaker``, ``space`` or ``document``."""
    target_id: str = ""
    query_id: str = ""
    summary: dict[str, int | str] = Field(default_factory=dict)

    def about(self, sender_id: str) -> bool:
        """Whether that person did it or is its target."""
        return bool(sender_id) and (
            self.sender_id == sender_id or (self.target_type in _PEOPLE and self.target_id == sender_id)
        )

    def without(self, sender_id: str) -> AuditEntry:
        """Return the entry without the id and name of that person."""
        fields: dict[str, str] = {}
        if self.sender_id == sender_id:
            fields |= {"sender_id": "", "sender_name": ""}
        if self.target_type in _PEOPLE and self.target_id == sender_id:
            fields["target_id"] = ""
        return self.model_copy(update=fields)


_PEOPLE = ("profile", "speaker")
"""Target types whose id is a sender id."""


# ---------------------------------------------------------------- injection


class SnapshotEpisode(_Frozen):
    """An injected episode as the snapshot keeps it."""

    id: str
    content: str
    score: float
    why: dict[str, float] = Field(default_factory=dict)


class Snapshot(_Frozen):
    """The latest injection of a conversation: what the model was given, and why."""

    schema_version: int = 1
    at: str = ""
    query_id: str = ""
    scope_key: str = ""
    user_key: str = ""
    sender_id: str = ""
    sender_name: str = ""
    injected: bool = False
    blocks: tuple[str, ...] = ()
    prompt_chars: int = 0
    profiles: tuple[str, ...] = ()
    """Which profiles were used: ``session``, ``speaker``."""
    episodes: tuple[SnapshotEpisode, ...] = ()
    placement: str = "system"
    recall: str = ""
    """``ok``, ``skipped:<why>``, ``failed:<why>`` or ``off``."""
    notes: tuple[str, ...] = ()
    """Things an operator should know, as keys of the words files."""
    below_floor: int = 0
    ms: int = 0
    spent: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by step: ``message``, then ``profiles`` beside ``embedding``, ``search``, ``ranking`` and
    ``rerank``."""
