"""The memories of a space: pages of them, one of them, a search with its reasons, and when they were made."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from ..browsing import Facets, Period, Wish
from ..chat.ids import normalize_id
from ..models import RecallQuery, RecallResult, Status
from ..settings import Settings
from ..text.times import iso
from ..words import explain, say
from .bounds import LIST_BYTES, fitting
from .episode_answers import EpisodeAnswer, NarrowedRequest, ScoreAnswer
from .requests import LongText, Route, ShortText, SpaceRequest, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]

_SEARCH_SECONDS = 20.0
"""The page waits 30 s."""


# ---------------------------------------------------------------- a page of them


class EpisodesRequest(NarrowedRequest):
    """A page of memories, newest first.

    Attributes:
        query: words that must all stand in it, as they are; no search by meaning.
        page: from 1; one beyond the last is the last one.
        size: memories on a page, 1..100.
        facets: whether to count what they can be narrowed by.
    """

    query: LongText = ""
    page: Annotated[int, Field(ge=1)] = 1
    size: Annotated[int, Field(ge=1, le=100)] = 20
    facets: bool = True


class SenderCount(BaseModel):
    """A speaker, and how many memories are theirs; the id is ``""`` for those that nobody is known to have said."""

    id: str
    name: str
    count: int


class TagCount(BaseModel):
    """A tag, and how many memories have it."""

    tag: str
    count: int


class SourceCount(BaseModel):
    """A source, and how many memories came from it."""

    source: str
    count: int


class EpisodesAnswer(BaseModel):
    """A page of memories.

    ``total`` counts all that pass. ``senders``, ``tags``, ``sources`` (at most 100 each, most first) and ``counts`` (by
    status) are of all memories with the statuses that were asked for, whatever else narrows.
    """

    episodes: list[EpisodeAnswer]
    total: int
    page: int
    pages: int
    senders: list[SenderCount] = []
    tags: list[TagCount] = []
    sources: list[SourceCount] = []
    counts: dict[Status, int] = {}


async def _episodes(service: MemoryService, request: EpisodesRequest) -> EpisodesAnswer:
    memory = await request.memory(service)
    found = await memory.browsing.episodes(
        request.filters, request.page, request.size, words=request.query, facets=request.facets
    )
    facets = found.facets or Facets()
    return EpisodesAnswer(
        episodes=fitting([EpisodeAnswer.of(e) for e in found.page.items]),
        total=found.page.total,
        page=found.page.page,
        pages=found.page.pages,
        senders=[SenderCount(id=sender, name=name, count=n) for (sender, name), n in facets.senders],
        tags=[
            TagCount(tag=tag[:_FACET_CHARS], count=n) for tag, n in facets.tags if len(tag) <= _FACET_CHARS
        ],
        sources=[SourceCount(source=source, count=n) for source, n in facets.sources],
        counts=dict(facets.statuses),
    )


_FACET_CHARS = 100
"""Longest tag that memories are narrowed by with a click."""


# ---------------------------------------------------------------- one of them


class EpisodeRequest(SpaceRequest):
    """One memory, by its id."""

    id: ShortText


class EpisodeDetails(BaseModel):
    """A memory whole, what replaced it, and what it replaced, as far as that is still there."""

    episode: EpisodeAnswer
    replaced_by: EpisodeAnswer | None
    replaces: list[EpisodeAnswer]


async def _episode(service: MemoryService, request: EpisodeRequest) -> EpisodeDetails:
    memory = await request.memory(service)
    episode = await memory.show(normalize_id(request.id))
    relatives = await memory.related(episode)
    newer = relatives.newer
    return EpisodeDetails(
        episode=EpisodeAnswer.of(episode),
        replaced_by=EpisodeAnswer.of(newer) if newer else None,
        replaces=fitting([EpisodeAnswer.of(e) for e in relatives.older], LIST_BYTES // 2),
    )


# ---------------------------------------------------------------- a search


class SearchRequest(NarrowedRequest):
    """What answers a question, best first, whether it would reach the bot or not.

    Attributes:
        query: the question.
        k: most memories, 1..50.
        speaker_id: who would ask: their own memories rank a little higher; ``""`` for nobody.
    """

    query: LongText
    k: Annotated[int, Field(ge=1, le=50)] = 10
    speaker_id: ShortText = ""


class HitAnswer(BaseModel):
    """A memory, its score, and whether it reaches the relevance floor: the bot gets only those that do."""

    episode: EpisodeAnswer
    score: ScoreAnswer
    relevant: bool


class SearchAnswer(BaseModel):
    """What a search found.

    Attributes:
        hits: best first.
        answered: 0..1, how likely anything here answers the question; below ``floor`` the bot gets nothing.
        floor: the setting ``relevance_floor``.
        considered: how many memories were scored.
        complete: whether no memory can have been missed.
        skipped: why nothing was searched (``blank``), ``""`` when it was.
        notes: what is to be said about it, in sentences.
    """

    hits: list[HitAnswer]
    answered: float
    floor: float
    considered: int
    complete: bool
    skipped: str
    notes: list[str]


async def _search(service: MemoryService, request: SearchRequest) -> SearchAnswer:
    memory = await request.memory(service)
    language = await spoken(service, request.language)
    query = RecallQuery(
        text=request.query,
        k=request.k,
        filters=request.filters,
        speaker_id=request.speaker_id,
        floor=False,
    )
    result = await memory.recall(query, timeout=_SEARCH_SECONDS)
    shown = fitting([EpisodeAnswer.of(e) for e in result.episodes()], LIST_BYTES // 2)
    return SearchAnswer(
        hits=[
            HitAnswer(
                episode=episode,
                score=ScoreAnswer.of(hit.score, memory.settings, language),
                relevant=hit.relevant and result.answered >= memory.settings.relevance_floor,
            )
            for episode, hit in zip(shown, result.hits, strict=True)
        ],
        answered=round(result.answered, 4),
        floor=memory.settings.relevance_floor,
        considered=result.considered,
        complete=result.complete,
        skipped=result.skipped,
        notes=_notes(result, memory.settings, language),
    )


def _notes(result: RecallResult, settings: Settings, language: str) -> list[str]:
    if result.skipped:
        return [say(language, "command.search_blank")]
    if not result.hits:
        return [say(language, "command.why_nothing")]
    notes, floor = list[str](), settings.relevance_floor
    if result.answered < floor:
        values = {"floor": f"{floor:.2f}", "answered": f"{result.answered:.2f}"}
        notes.append(say(language, "command.why_no_answer", **values))
    if result.rerank_failed is not None:
        notes.append(
            say(language, "command.why_not_reranked", reason=explain(language, result.rerank_failed))
        )
    if not result.complete:
        notes.append(say(language, "command.why_index_partial"))
    return notes


# ---------------------------------------------------------------- when they were made


class TimelineRequest(SpaceRequest):
    """How memories lie in time.

    Attributes:
        by: length of a bucket; ``auto`` leaves it to the memories.
        utc_offset: minutes that the reader's clock is ahead of UTC, -840..840: their days, not those of UTC.
    """

    by: Wish = "day"
    utc_offset: Annotated[int, Field(ge=-840, le=840)] = 0


class BucketAnswer(BaseModel):
    """A period: its first instant, and how many memories of each status are of it."""

    start: str
    active: int = 0
    archived: int = 0
    superseded: int = 0


class TimelineAnswer(BaseModel):
    """The periods that hold memories, oldest first, at most 400; ``by`` is coarser than asked for when there would be
    more.
    """

    by: Period
    buckets: list[BucketAnswer]


async def _timeline(service: MemoryService, request: TimelineRequest) -> TimelineAnswer:
    memory = await request.memory(service)
    found = await memory.browsing.timeline(request.by, timedelta(minutes=request.utc_offset))
    return TimelineAnswer(
        by=found.by,
        buckets=[
            BucketAnswer(start=iso(b.start), **{str(status): n for status, n in b.counts.items()})
            for b in found.buckets
        ],
    )


ROUTES = {
    "/episodes": Route(EpisodesRequest, _episodes),
    "/episode": Route(EpisodeRequest, _episode),
    "/episodes_search": Route(SearchRequest, _search),
    "/timeline": Route(TimelineRequest, _timeline),
}
