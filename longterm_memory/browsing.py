"""What an operator pages through: everybody's profiles, memories with what they can be narrowed by, counts over time.

Lists are made of what is in memory already; a request never reads more than one scope, and nothing for a page that
was not asked for.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, Protocol

from .errors import StorageFailed
from .listing import Page, newest_first
from .models import KEPT_STATUSES, Episode, Filters, Snapshot, Status
from .policy import Action
from .profile_records import StoredProfile
from .scope import Speaker
from .text.fold import fold
from .views import most

if TYPE_CHECKING:
    from .access import Access

__all__ = ["BUCKETS_MAX", "Browsed", "Browsing", "Bucket", "Facets", "Period", "Profiles", "Timeline", "Wish"]

BUCKETS_MAX = 400
"""Most buckets of a timeline; with more, days become weeks, weeks months, months years."""
_FACETS_MAX = 100
"""Most values of each kind that memories can be narrowed by; the most frequent ones."""
_READING_SECONDS = 15.0
"""How long a scope that is not loaded may be read; what was read is kept, so the next request gets further."""

_BARS = 60
"""Most periods that whoever leaves the length to us is to look at, those without a memory among them."""

Period = Literal["day", "week", "month", "year"]
Wish = Literal["auto", "day", "week", "month", "year"]
_PERIODS: tuple[Period, ...] = ("day", "week", "month", "year")


class Select(Protocol):
    """Lists the memories that the actor may see."""

    def __call__(self, filters: Filters, *, timeout: float = ...) -> Awaitable[list[Episode]]:
        """Return those that pass the filters, newest first."""


@dataclass(frozen=True, slots=True)
class Facets:
    """What memories can be narrowed by, each with its count, most first and at most 100.

    Attributes:
        senders: (sender id, latest name) and count.
        tags: each tag.
        sources: each source.
        statuses: memories per status, of the statuses that were asked for.
    """

    senders: tuple[tuple[tuple[str, str], int], ...] = ()
    tags: tuple[tuple[str, int], ...] = ()
    sources: tuple[tuple[str, int], ...] = ()
    statuses: tuple[tuple[Status, int], ...] = ()

    @classmethod
    def of(cls, episodes: Sequence[Episode]) -> Facets:
        """Count memories, given newest first."""
        names: dict[str, str] = {}
        for e in episodes:
            names.setdefault(e.sender_id, e.sender_name)
        return cls(
            senders=tuple(
                ((sender, names[sender]), n)
                for sender, n in most(e.sender_id for e in episodes)[:_FACETS_MAX]
            ),
            tags=most(tag for e in episodes for tag in dict.fromkeys(e.tags))[:_FACETS_MAX],
            sources=most(e.source for e in episodes)[:_FACETS_MAX],
            statuses=most(e.status for e in episodes),
        )


@dataclass(frozen=True, slots=True)
class Browsed:
    """A page of memories, and what all memories of these statuses can be narrowed by (``None``: not asked for)."""

    page: Page[Episode]
    facets: Facets | None


@dataclass(frozen=True, slots=True)
class Profiles:
    """A page of a conversation's profiles.

    Attributes:
        session: the conversation's own; an empty one when nothing is stored, ``None`` when it cannot be read.
        speakers: of the speakers on this page.
        off: ids of senders that memory is switched off for.
        problems: profiles that should be on this page and cannot be read.
    """

    session: StoredProfile | None
    speakers: Page[StoredProfile]
    off: frozenset[str]
    problems: tuple[StorageFailed, ...] = ()


@dataclass(frozen=True, slots=True)
class Bucket:
    """A period that begins at ``start``, and how many memories of it there are per status."""

    start: datetime
    counts: dict[Status, int]


@dataclass(frozen=True, slots=True)
class Timeline:
    """When memories were made.

    Attributes:
        by: length of a bucket; coarser than asked for when there would be too many.
        buckets: those that hold anything, oldest first.
    """

    by: Period
    buckets: tuple[Bucket, ...]


class Browsing:
    """Pages through one conversation; ``memory.browsing`` of a scoped memory.

    Args:
        access: who acts where.
        select: lists the memories that the actor may see.
    """

    def __init__(self, access: Access, select: Select) -> None:
        self._access = access
        self._select = select

    async def count(self) -> int:
        """Return how many active memories the scope has.

        Raises:
            StoreFailed, StorageFailed: it could not be read whole.
        """
        self._access.decide(Action.READ)
        episodes = await self._access.episodes()
        return await episodes.count(self._access.scope.user_key, timeout=_READING_SECONDS)

    async def episodes(
        self, filters: Filters, number: int, size: int, *, words: str = "", facets: bool = True
    ) -> Browsed:
        """Return a page of memories, newest first.

        Args:
            filters: which.
            number: of the page, from 1; pages go on as those of :meth:`.scoped.ScopedMemory.page`.
            size: memories on a page.
            words: words that must all stand in the text, the tags, the speaker's name or the id, in any case and width.
            facets: whether to count what they can be narrowed by.

        Raises:
            Forbidden, StoreFailed, StorageFailed: it could not be read whole.
        """
        everything = await self._select(Filters(statuses=filters.statuses), timeout=_READING_SECONDS)
        wanted = fold(words).split()

        def narrowed() -> tuple[list[Episode], Facets | None]:
            kept = [e for e in everything if filters.keeps(e) and _holds(e, wanted)]
            return kept, Facets.of(everything) if facets else None

        # Tens of thousands take a while; the turns of others go on meanwhile.
        kept, counted = await asyncio.to_thread(narrowed)
        scope = self._access.scope
        viewer = (scope.space_id, scope.user_key, self._access.actor, filters, " ".join(wanted), size)
        page = self._access.service.listings.page(viewer, kept, number, size, key=newest_first)
        return Browsed(page, counted)

    async def timeline(self, by: Wish, utc_offset: timedelta = timedelta()) -> Timeline:
        """Return when memories were made (their ``timestamp``), whatever their status.

        Args:
            by: length of a bucket; ``auto``: as short as makes a chart that can be taken in.
            utc_offset: of the reader's days from those of UTC.

        Raises:
            Forbidden, StoreFailed, StorageFailed: it could not be read whole.
        """
        everything = await self._select(Filters(statuses=KEPT_STATUSES), timeout=_READING_SECONDS)
        return await asyncio.to_thread(_timeline, everything, by, utc_offset)

    async def snapshot(self) -> Snapshot | None:
        """Return the latest injection of the conversation, ``None`` when there was none.

        Raises:
            Forbidden, StorageFailed: it could not be read.
        """
        self._access.decide(Action.READ)
        return await self._access.service.snapshots.get(self._access.scope.scope_key)

    async def profiles(self, number: int, size: int, *, search: str = "", sender_id: str = "") -> Profiles:
        """Return the conversation's profile and a page of its speakers', by sender id.

        Args:
            number: of the page, from 1.
            size: profiles on a page; only these are read.
            search: text that must stand in the sender id, the name or the profile, in any case; reads all of them.
            sender_id: only that speaker, with an empty profile when nothing is stored.

        Raises:
            Forbidden, StorageFailed: they could not be listed.
        """
        self._access.decide(Action.READ)
        store, scope = self._access.service.profiles, self._access.scope
        own = store.key(scope)
        if sender_id:
            keys = [store.key(scope, Speaker(sender_id))]
        else:
            keys = [key for key in await store.keys(scope) if key != own]
        problems: list[StorageFailed] = []
        if search and not sender_id:
            found, problems = await store.read_all(keys)
            keys = [one.key for one in found if _mentions(one, fold(search))]
        pages = max(1, -(-len(keys) // size))
        number = min(number, pages)
        shown = keys[(number - 1) * size : number * size]
        (sessions, unread), (speakers, more) = await asyncio.gather(
            store.read_all([own]), store.read_all(shown)
        )
        if sender_id and not speakers and not more:
            speakers = [StoredProfile.empty(scope, Speaker(sender_id))]
        session = None if unread else next(iter(sessions), StoredProfile.empty(scope, None))
        left = max(0, len(keys) - number * size)
        page = Page(tuple(speakers), len(keys), number, pages, left)
        return Profiles(session, page, await self._access.opted_out(), (*unread, *problems, *more))


def _holds(episode: Episode, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = fold("\n".join((episode.content, *episode.tags, episode.sender_name, episode.id)))
    return all(word in text for word in words)


def _mentions(stored: StoredProfile, text: str) -> bool:
    profile = stored.profile
    said = (profile.name, profile.notes, *profile.traits, *profile.preferences)
    return any(text in fold(one) for one in (stored.sender_id, stored.sender_name, *said))


def _fitting(episodes: Sequence[Episode]) -> Period:
    times = [e.timestamp for e in episodes]
    days = (max(times) - min(times)).days if times else 0
    return next((by for by, length in _DAYS.items() if days / length < _BARS), "year")


_DAYS: dict[Period, int] = {"day": 1, "week": 7, "month": 30}


def _timeline(episodes: Sequence[Episode], by: Wish, utc_offset: timedelta) -> Timeline:
    by = _fitting(episodes) if by == "auto" else by
    counts: dict[datetime, Counter[Status]] = {}
    for period in _PERIODS[_PERIODS.index(by) :]:
        counts = {}
        for e in episodes:
            counts.setdefault(_start(e.timestamp, period, utc_offset), Counter())[e.status] += 1
        by = period
        if len(counts) <= BUCKETS_MAX:
            break
    return Timeline(by, tuple(Bucket(start, dict(counts[start])) for start in sorted(counts)[-BUCKETS_MAX:]))


def _start(moment: datetime, by: Period, utc_offset: timedelta) -> datetime:
    """Return the first instant of the reader's day, week (from Monday on), month or year."""
    local = moment.astimezone(UTC) + utc_offset
    first = local.replace(hour=0, minute=0, second=0, microsecond=0)
    if by == "week":
        first -= timedelta(days=first.weekday())
    elif by == "month":
        first = first.replace(day=1)
    elif by == "year":
        first = first.replace(month=1, day=1)
    return first - utc_offset
