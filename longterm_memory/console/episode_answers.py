"""Memories as the page shows them, and how a request narrows them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from ..models import Episode, Filters, Score, Status
from ..recall.explained import parts_of
from ..settings import Settings
from ..text.times import iso, parse_bound
from ..words import say
from .bounds import size_of
from .requests import LongText, ShortText, SpaceRequest

__all__ = ["EpisodeAnswer", "KeptStatus", "NarrowedRequest", "Part", "ScoreAnswer"]

KeptStatus = Literal["active", "superseded", "archived"]


class EpisodeAnswer(BaseModel):
    """A memory.

    Attributes:
        content: its text; only the beginning when ``cut``.
        length: characters of the whole text.
        cut: whether text or tags are shortened here; ``/episode`` has all of it.
        timestamp: when it happened, or was stored if nobody said.
        created_at: when it was stored.
        supersedes: ids of what it replaced.
    """

    id: str
    content: str
    length: int
    cut: bool = False
    tags: list[str]
    importance: int
    status: Status
    timestamp: str
    created_at: str
    sender_id: str
    sender_name: str
    session_name: str
    source: str
    superseded_by: str
    supersedes: list[str]
    document_id: str
    imported_episode_id: str

    @classmethod
    def of(cls, episode: Episode) -> EpisodeAnswer:
        """Show a memory whole."""
        return cls(
            id=episode.id,
            content=episode.content,
            length=len(episode.content),
            tags=list(episode.tags),
            importance=episode.importance,
            status=episode.status,
            timestamp=iso(episode.timestamp),
            created_at=iso(episode.created_at),
            sender_id=episode.sender_id,
            sender_name=episode.sender_name,
            session_name=episode.session_name,
            source=episode.source,
            superseded_by=episode.superseded_by,
            supersedes=[episode_id for episode_id, _ in episode.supersedes],
            document_id=episode.document_id,
            imported_episode_id=episode.imported_episode_id,
        )

    @property
    def size(self) -> int:
        """About how many bytes it takes in an answer."""
        return size_of(self.model_dump(mode="json"))

    def shortened(self, length: int) -> EpisodeAnswer:
        """Return it with at most so many characters of text, and of tags."""
        tags, left = list[str](), length
        for tag in self.tags:
            left -= len(tag)
            if left < 0:
                break
            tags.append(tag)
        cut = len(self.content) > length or len(tags) < len(self.tags)
        return self.model_copy(update={"content": self.content[:length], "tags": tags, "cut": cut})


class Part(BaseModel):
    """An additive part of a score: a stable name, its name for people, and how much."""

    name: str
    label: str
    value: float


class ScoreAnswer(BaseModel):
    """Why a memory ranks where it does.

    Attributes:
        total: the sum of the parts; higher is better.
        parts: what it is made of, those that are not 0.
        relevance: 0..1, held against the floor.
        cosine: true cosine similarity of question and memory, -1..1.
        rerank: what the rerank model said, on its own scale; ``None`` when it was not asked.
    """

    total: float
    parts: list[Part]
    relevance: float
    cosine: float
    rerank: float | None = None

    @classmethod
    def of(cls, score: Score, settings: Settings, language: str) -> ScoreAnswer:
        """Explain a score."""
        return cls(
            total=round(score.total, 4),
            parts=[
                Part(name=name, label=say(language, f"console.part_{name}"), value=round(value, 4))
                for name, value in parts_of(score, settings)
                if abs(value) >= _NOTHING
            ],
            relevance=round(score.relevance, 4),
            cosine=round(score.cosine, 4),
            rerank=score.rerank,
        )


_NOTHING = 0.0005


class NarrowedRequest(SpaceRequest):
    """Which memories are meant; every field narrows.

    Attributes:
        statuses: any of active, superseded and archived, at least one.
        sender_id: said by that sender, ``""`` for all.
        tag: with that tag, in any case and width.
        after: from that time on; a bare date is its beginning in UTC.
        before: up to that time; a bare date counts whole.
        importance_min: at least this important, 1..5.
        source: from that source.
        session: said in that conversation (``group_123``); under ``bot`` isolation a space holds several.
    """

    statuses: Annotated[tuple[KeptStatus, ...], Field(min_length=1, max_length=3)] = ("active",)
    sender_id: ShortText = ""
    tag: LongText = ""
    after: ShortText = ""
    before: ShortText = ""
    importance_min: Annotated[int, Field(ge=1, le=5)] = 1
    source: ShortText = ""
    session: ShortText = ""

    @property
    def filters(self) -> Filters:
        """The filters.

        Raises:
            BadArgument: ``after`` or ``before`` names no time.
        """
        return Filters(
            sender_id=self.sender_id,
            time_after=parse_bound(self.after, parameter="after", end=False) if self.after else None,
            time_before=parse_bound(self.before, parameter="before", end=True) if self.before else None,
            importance_min=self.importance_min,
            source=self.source,
            tag=self.tag,
            session_name=self.session,
            statuses=frozenset(Status(status) for status in self.statuses),
        )
