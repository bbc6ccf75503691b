"""Every verb that a front end has, for one conversation and whoever speaks in it."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from dataclasses import dataclass
from logging import DEBUG, INFO
from typing import TYPE_CHECKING

from .episodes import EpisodeDraft, Forgotten, Remembered
from .errors import BadArgument, LongTermMemoryError, NotFound, StorageFailed
from .logs import get_logger
from .models import (
    KEPT_STATUSES,
    Episode,
    Filters,
    Profile,
    ProfileChange,
    RecallQuery,
    RecallResult,
    Status,
)
from .policy import (
    Action,
    Actor,
    check_episode_change,
    check_episode_shown,
    decide,
    sees,
)
from .profiles import Limits
from .recall.recaller import Fill
from .scope import Scope
from .settings import Settings

if TYPE_CHECKING:
    from .service import MemoryService

__all__ = ["PAGE_SIZE", "EpisodePage", "Overview", "ProfileView", "ScopedMemory"]

logger = get_logger(__name__)

PAGE_SIZE = 10
"""Memories on one page of a listing."""


@dataclass(frozen=True, slots=True)
class ProfileView:
    """Both profiles of a conversation.

    Attributes:
        session: profile of the conversation, ``None`` when it could not be read.
        speaker: profile of the current speaker, ``None`` when there is no speaker or it could not be read.
        problems: what could not be read.
    """

    session: Profile | None
    speaker: Profile | None
    problems: tuple[LongTermMemoryError, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """One page of a listing, newest first.

    Attributes:
        episodes: what is on it.
        total: how many memories pass the filters.
        page: number of the page, from 1.
        pages: how many pages there are, at least 1.
    """

    episodes: tuple[Episode, ...]
    total: int
    page: int
    pages: int


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


class ScopedMemory:
    """Memory of one conversation. Made by :meth:`MemoryService.scoped`; holds nothing but who and where."""

    def __init__(self, service: MemoryService, scope: Scope, actor: Actor, settings: Settings) -> None:
        self.scope = scope
        self.actor = actor
        self.settings = settings
        self._service = service

    def _decide(self, action: Action) -> None:
        decide(action, self.actor, self.settings.command_policy)

    # ------------------------------------------------------------ L1

    async def profiles(self) -> ProfileView:
        """Return both profiles; one that cannot be read does not hide the other."""
        found: dict[str, Profile | None] = {"session": None, "speaker": None}
        calls = {"session": self._service.profiles.session(self.scope)}
        if self.actor.speaker.known:
            calls["speaker"] = self._service.profiles.speaker(self.scope, self.actor.speaker)
        problems: list[LongTermMemoryError] = []
        for name, answer in zip(calls, await gather(*calls.values(), return_exceptions=True), strict=True):
            if isinstance(answer, LongTermMemoryError):
                problems.append(answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                found[name] = answer
        return ProfileView(found["session"], found["speaker"], tuple(problems))

    async def update_profile(
        self,
        *,
        field: str,
        action: str,
        values: Sequence[str],
        target: str | None = None,
        fact_key: str = "",
        previous_value: str = "",
    ) -> ProfileChange:
        """Change the current speaker's profile, or the profile of the conversation.

        Raises:
            BadArgument: a value cannot be used, or nobody is known to be speaking.
            Forbidden: the policy refuses.
            StorageFailed: nothing was changed.
        """
        where = target or ("session" if field == "notes" else "speaker")
        self._decide(Action.CHANGE_SESSION_PROFILE if where == "session" else Action.CHANGE_OWN)
        return await self._service.profiles.update(
            self.scope,
            self.actor.speaker,
            field=field,
            action=action,
            values=values,
            target=where,
            fact_key=fact_key,
            previous_value=previous_value,
            limits=Limits.of(self.settings),
        )

    # ------------------------------------------------------------ L2

    async def remember(self, draft: EpisodeDraft) -> Remembered:
        """Store a memory in the current speaker's name.

        Raises:
            BadArgument, Forbidden, EmbeddingFailed, StoreFailed, StorageFailed: nothing was stored for sure.
        """
        self._decide(Action.ADD)
        episodes = self._service.episodes(await self._service.collection())
        return await episodes.remember(self.scope, draft)

    async def recall(
        self,
        query: RecallQuery,
        *,
        fill: Fill = Fill.ALL,
        timeout: float = 25.0,  # noqa: ASYNC109 - shared out over several calls
    ) -> RecallResult:
        """Return what answers the question, best first.

        Raises:
            EmbeddingFailed, StoreFailed: the search failed, which is not "no memories".
        """
        self._decide(Action.READ)
        started = self._service.clock()
        collection = await self._service.collection()
        recaller = self._service.recaller(collection)
        if self.actor.via == "command" and self.scope.shared and not self.actor.admin:
            # What may be shown here, so that the best of it fill the page (the policy's sees() says why).
            here = query.filters.model_copy(update={"session_name": self.scope.session_name})
            query = query.model_copy(update={"filters": here})
        result = await recaller.recall(self.scope.user_key, query, self.settings, fill=fill, timeout=timeout)
        # A turn has one line of its own (the listener's), so its search is a detail.
        logger.log(
            DEBUG if fill is Fill.PAGE else INFO,
            "search_episodes completed: collection_id=%s result_count=%d filters=%s ms=%d",
            collection.base.id,
            len(result.hits),
            _narrowing(query.filters),
            round((self._service.clock() - started) * 1000),
        )
        if self.actor.via != "command":
            return result
        shown = tuple(hit for hit in result.hits if sees(self.actor, self.scope, hit.episode))
        return RecallResult(
            shown, result.considered, result.below_floor, result.complete, result.skipped, result.foreign_rows
        )

    async def select(self, filters: Filters) -> list[Episode]:
        """Return every memory that passes the filters and may be shown to the actor, newest first.

        Raises:
            Forbidden, StoreFailed: nothing, or not everything, could be read.
        """
        self._decide(Action.READ)
        episodes = self._service.episodes(await self._service.collection())
        found = await episodes.select(self.scope.user_key, filters)
        return [e for e in found if sees(self.actor, self.scope, e)]

    async def page(self, filters: Filters, number: int = 1, size: int = PAGE_SIZE) -> EpisodePage:
        """Return one page of :meth:`select`; a page beyond the last is the last one."""
        found = await self.select(filters)
        pages = max(1, -(-len(found) // size))
        number = min(max(1, number), pages)
        return EpisodePage(tuple(found[(number - 1) * size : number * size]), len(found), number, pages)

    async def show(self, episode_id: str) -> Episode:
        """Return one memory, whatever its status.

        Raises:
            NotFound: not in this scope.
            Forbidden, StoreFailed: it could not be shown.
        """
        episodes = self._service.episodes(await self._service.collection())
        episode = await episodes.find(self.scope, episode_id)
        check_episode_shown(self.actor, self.scope, episode, self.settings.command_policy)
        return episode

    async def forget(self, episode_id: str) -> Forgotten:
        """Delete one memory for real, with the superseded versions of its chain.

        Raises:
            NotFound: not in this scope.
            Forbidden: it belongs to somebody else.
            StoreFailed, StorageFailed: it may still be there somewhere.
        """
        episodes = self._service.episodes(await self._service.collection())
        try:
            episode = await episodes.find(self.scope, episode_id)
        except NotFound:
            # Perhaps an earlier forget got no further than this.
            await self._service.scrub(self.scope, (episode_id,))
            raise
        check_episode_change(self.actor, self.scope, episode, self.settings.command_policy)
        # Before, so that nothing is left if we get no further; after, because a turn may have shown it meanwhile.
        await self._service.scrub(self.scope, (episode_id,))
        forgotten = await episodes.forget(self.scope, episode)
        await self._scrub_deleted(forgotten.ids)
        return forgotten

    async def _scrub_deleted(self, episode_ids: tuple[str, ...]) -> None:
        try:
            await self._service.scrub(self.scope, episode_ids)
        except StorageFailed as exc:
            raise StorageFailed("deleted_but_snapshot") from exc

    async def delete(self, filters: Filters) -> tuple[str, ...]:
        """Delete every memory that passes the filters; returns the ids.

        Raises:
            BadArgument: ``delete_needs_filter`` when nothing narrows.
            Forbidden: the policy refuses.
            StoreFailed, StorageFailed: some may still be there.
        """
        if not filters.model_copy(update={"statuses": frozenset({Status.ACTIVE})}).narrows and (
            filters.statuses >= KEPT_STATUSES
        ):
            raise BadArgument("delete_needs_filter")
        found = await self.select(filters)
        mine = bool(found) and all(e.is_from(self.actor.speaker.id) for e in found)
        self._decide(Action.CHANGE_OWN if mine else Action.BULK_DELETE)
        episodes = self._service.episodes(await self._service.collection())
        await self._service.scrub(self.scope, tuple(e.id for e in found))
        deleted = await episodes.delete_many(self.scope, found)
        await self._scrub_deleted(deleted)
        return deleted

    # ------------------------------------------------------------ overview

    async def overview(self) -> Overview:
        """Return how memory stands here; a store that does not answer is a problem named in it, no error."""
        collection = await self._service.collection()
        profiles = await self.profiles()
        active = hidden = None
        problem = None
        try:
            found = await self.select(Filters(statuses=KEPT_STATUSES))
            active = sum(e.status is Status.ACTIVE for e in found)
            hidden = len(found) - active
        except LongTermMemoryError as exc:
            problem = exc
        return Overview(
            self.scope, self.actor, self.settings, collection.base.id, profiles, active, hidden, problem
        )


def _narrowing(filters: Filters) -> list[str]:
    """Return the names of the filters that are set; their values may be names of people."""
    return [name for name in Filters.model_fields if getattr(filters, name) != getattr(Filters(), name)]
