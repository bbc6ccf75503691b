"""Every verb that a front end has, for one conversation and whoever speaks in it.

Each verb asks the policy, does one thing through the store that it belongs to, and writes one audit entry when
something was changed.
"""

from __future__ import annotations

from asyncio import gather
from collections.abc import Sequence
from dataclasses import replace
from logging import DEBUG, INFO
from typing import TYPE_CHECKING

from .access import Access
from .audit import AuditTrail
from .browsing import Browsing
from .episodes import EpisodeDraft, Relatives, Remembered
from .errors import LongTermMemoryError
from .listing import PAGE_SIZE, Page, newest_first
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
    check_episode_shown,
    sees,
)
from .privacy import Privacy
from .profiles import Limits
from .recall.recaller import Fill
from .scope import Scope, Speaker
from .scoped_changes import Changes, narrowing
from .settings import Settings
from .transfer.transfer import Transfer
from .views import AuditPage, Overview, ProfileView, Stats

if TYPE_CHECKING:
    from .service import MemoryService

__all__ = ["PAGE_SIZE", "Overview", "ProfileView", "ScopedMemory"]

logger = get_logger(__name__)

_EVERYTHING = Filters(statuses=KEPT_STATUSES)


class ScopedMemory:
    """Memory of one conversation. Made by :meth:`MemoryService.scoped`; holds nothing but who acts where.

    Attributes:
        browsing: pages of everybody's profiles and memories, counts over time.
        changes: archive, restore, edit, forget, delete.
        privacy: opting out, and erasure.
        transfer: export and import.
    """

    def __init__(
        self, service: MemoryService, scope: Scope, actor: Actor, settings: Settings, query_id: str = ""
    ) -> None:
        self.scope = scope
        self.actor = actor
        self.settings = settings
        self._service = service
        self._access = Access(service, scope, actor, settings, query_id, service.withdrawals.now())
        self.changes = Changes(self._access, self.select)
        self.privacy = Privacy(self._access)
        self.transfer = Transfer(self._access, self.select)
        self.browsing = Browsing(self._access, self.select)

    # ------------------------------------------------------------ L1

    async def profiles(self) -> ProfileView:
        """Return both profiles; one that cannot be read does not hide the other.

        For the model, what is stored of somebody who switched memory off is left out: their own profile, and
        that of their private chat, which is about them too.
        """
        speaker = self.actor.speaker
        calls = {"session": self._service.profiles.session(self.scope)}
        if speaker.known:
            calls["speaker"] = self._service.profiles.speaker(self.scope, speaker)
        found: dict[str, Profile | None] = {"session": None, "speaker": None}
        problems: list[LongTermMemoryError] = []
        # Whether the speaker opted out is asked in the same round.
        off, *answers = await gather(self._access.opted_out(), *calls.values(), return_exceptions=True)
        for name, answer in zip(["off", *calls], [off, *answers], strict=True):
            if isinstance(answer, LongTermMemoryError):
                problems.append(answer)
            elif isinstance(answer, BaseException):
                raise answer
            elif isinstance(answer, Profile):
                found[name] = answer
        is_off = isinstance(off, frozenset) and speaker.id in off
        if self.actor.via == "tool":
            # Hosts do not always say who speaks; a private chat is about its person all the same.
            for name, who in (("speaker", speaker.id), ("session", self.scope.person)):
                if who and (not isinstance(off, frozenset) or who in off):
                    found[name] = None
        for_bot = is_off and speaker.id in await self._service.opt_outs.for_bot(self.scope)
        return ProfileView(found["session"], found["speaker"], tuple(problems), is_off, for_bot)

    async def update_profile(
        self,
        *,
        field: str,
        action: str,
        values: Sequence[str],
        target: str | None = None,
        fact_key: str = "",
        previous_value: str = "",
        speaker: Speaker | None = None,
    ) -> ProfileChange:
        """Change the current speaker's profile, or the profile of the conversation.

        Args:
            field: as in :meth:`.profiles.ProfileStore.update`, like all that is not said here.
            action: as there.
            values: as there.
            target: as there.
            fact_key: as there.
            previous_value: as there.
            speaker: whose profile, when not the current speaker's.

        Raises:
            BadArgument: a value cannot be used, or nobody is known to be speaking.
            Forbidden: the policy refuses, or the speaker opted out.
            StorageFailed: nothing was changed.
        """
        where = target or ("session" if field == "notes" else "speaker")
        whose = self.actor.speaker if speaker is None else speaker
        own = Action.CHANGE_OWN if whose.id == self.actor.speaker.id else Action.CHANGE_OTHER
        self._access.decide(Action.CHANGE_SESSION_PROFILE if where == "session" else own)
        check = await self._access.check_wanted(whose.id)
        change = await self._service.profiles.update(
            self.scope,
            whose,
            field=field,
            action=action,
            values=values,
            target=where,
            fact_key=fact_key,
            previous_value=previous_value,
            limits=Limits.of(self.settings),
            check=check,
        )
        if change.written:
            session = where == "session"
            await self._access.audit(
                "update_profile",
                ("session_profile", self.scope.scope_key) if session else ("profile", whose.id),
                {
                    "field": field,
                    "action": action,
                    "outcome": change.outcome,
                    "values": len(values),
                    "value_len": sum(map(len, values)),
                    "keyed": int(bool(fact_key)),
                },
            )
        return change

    # ------------------------------------------------------------ L2: storing and finding

    async def remember(self, draft: EpisodeDraft) -> Remembered:
        """Store a memory in the current speaker's name.

        Raises:
            BadArgument, Forbidden, EmbeddingFailed, StoreFailed, StorageFailed: nothing was stored for sure.
        """
        self._access.decide(Action.ADD)
        check = await self._access.check_wanted(draft.sender.id)
        episodes = await self._access.episodes()
        async with self._access.noted_if_unknown("remember"):
            remembered = await episodes.remember(self.scope, draft, check)
        if not remembered.duplicate:
            episode = remembered.episode
            await self._access.audit(
                "remember",
                ("episode", episode.id),
                {
                    "content_len": len(episode.content),
                    "tags": len(episode.tags),
                    "importance": episode.importance,
                    "superseded": len(remembered.superseded),
                },
            )
        return remembered

    async def recall(
        self,
        query: RecallQuery,
        *,
        fill: Fill = Fill.ALL,
        timeout: float = 25.0,  # noqa: ASYNC109 - shared out over several calls
    ) -> RecallResult:
        """Return what answers the question, best first; nothing of people who opted out.

        Raises:
            EmbeddingFailed, StoreFailed, StorageFailed: the search failed, which is not "no memories".
        """
        self._access.decide(Action.READ)
        started = self._service.clock()
        collection = await self._service.collection()
        recaller = self._service.recaller(collection)
        if self.actor.via == "command" and self.scope.shared and not self.actor.admin:
            # What may be shown here, so that the best of it fill the page (the policy's sees() says why).
            here = query.filters.model_copy(update={"session_name": self.scope.session_name})
            query = query.model_copy(update={"filters": here})
        result = await recaller.recall(
            self.scope.user_key,
            query,
            self.settings,
            fill=fill,
            timeout=timeout,
            without=None if self.actor.via == "console" else self._access.opted_out,
        )
        # A turn has one line of its own (the listener's), so its search is a detail.
        logger.log(
            DEBUG if fill is Fill.PAGE else INFO,
            "search_episodes completed: collection_id=%s result_count=%d filters=%s ms=%d",
            collection.base.id,
            len(result.hits),
            narrowing(query.filters),
            round((self._service.clock() - started) * 1000),
        )
        if self.actor.via != "command":
            return result
        shown = tuple(hit for hit in result.hits if sees(self.actor, self.scope, hit.episode))
        return replace(result, hits=shown)

    async def select(
        self,
        filters: Filters,
        *,
        timeout: float = 25.0,  # noqa: ASYNC109 - a page on its way is not cut off
    ) -> list[Episode]:
        """Return every memory that passes the filters and may be shown to the actor, newest first.

        Args:
            filters: which.
            timeout: seconds for reading a scope that is not loaded yet.

        Raises:
            Forbidden, StoreFailed, StorageFailed: nothing, or not everything, could be read.
        """
        self._access.decide(Action.READ)
        off = await self._access.opted_out()
        found = await (await self._access.episodes()).select(self.scope.user_key, filters, timeout=timeout)
        return [e for e in found if self._access.shows(e, off)]

    async def page(self, filters: Filters, number: int = 1, size: int = PAGE_SIZE) -> Page[Episode]:
        """Return one page of :meth:`select`. Page n goes on where this viewer's page n-1 ended, whatever was stored
        or deleted meanwhile; a page beyond the last is the last one.

        Raises:
            Forbidden, StoreFailed, StorageFailed: as :meth:`select`.
        """
        viewer = (self.scope.space_id, self.scope.user_key, self.actor, filters, size)
        found = await self.select(filters)
        return self._service.listings.page(viewer, found, number, size, key=newest_first)

    async def show(self, episode_id: str) -> Episode:
        """Return one memory, whatever its status.

        Raises:
            NotFound: not in this scope.
            Forbidden, StoreFailed, StorageFailed: it could not be shown.
        """
        episode = await (await self._access.episodes()).find(self.scope, episode_id)
        await self._access.check_known(episode)
        check_episode_shown(self.actor, self.scope, episode, self.settings.command_policy)
        return episode

    async def related(self, episode: Episode) -> Relatives:
        """Return the other versions of a memory that :meth:`show` returned, as far as they may be shown.

        Raises:
            StoreFailed, StorageFailed: they could not be read.
        """
        off = await self._access.opted_out()
        found = await (await self._access.episodes()).related(self.scope, episode)
        withheld = {e.id for e in (found.newer, *found.older) if e and not self._access.shows(e, off)}
        newer = found.newer if found.newer and found.newer.id not in withheld else None
        return Relatives(newer, tuple(e for e in found.older if e.id not in withheld), frozenset(withheld))

    async def stats(self) -> Stats:
        """Return numbers about what :meth:`select` shows.

        Raises:
            Forbidden, StoreFailed, StorageFailed: as :meth:`select`.
        """
        episodes, keys = await gather(self.select(_EVERYTHING), self._service.profiles.keys(self.scope))
        return Stats.of(episodes, len(keys))

    # ------------------------------------------------------------ what happened, and how things stand

    async def audit(
        self,
        number: int = 1,
        size: int = PAGE_SIZE,
        *,
        before: int = 0,
        operation: str = "",
        sender_id: str = "",
    ) -> AuditPage:
        """Return one page of the log of changes in this conversation, newest first.

        Args:
            number: of the page, from 1; pages go on as those of :meth:`page`.
            size: entries on a page.
            before: only entries with a lower number than this; 0 for all.
            operation: only entries of that operation, ``""`` for all.
            sender_id: only changes made by that sender, ``""`` for all.

        Raises:
            Forbidden, StorageFailed: it could not be read.
        """
        trail = await self.audit_trail()
        entries = [
            e
            for e in trail.entries
            if (not before or e.number < before)
            and (not operation or e.operation == operation)
            and (not sender_id or e.sender_id == sender_id)
        ]
        viewer = ("audit", self.scope.scope_key, self.actor, before, operation, sender_id, size)
        page = self._service.listings.page(
            viewer, entries, number, size, key=lambda e: (-float(e.number), e.audit_id)
        )
        return AuditPage(page.items, page.total, page.page, page.pages, page.left, trail.unreadable)

    async def audit_trail(self) -> AuditTrail:
        """Return the whole log of changes in this conversation.

        Raises:
            Forbidden, StorageFailed: it could not be read.
        """
        self._access.decide(Action.READ)
        return await self._service.audit.trail(self.scope.scope_key)

    async def overview(self) -> Overview:
        """Return how memory stands here; a store that does not answer is a problem named in it, no error."""
        collection = await self._service.collection()
        profiles = await self.profiles()
        active = hidden = None
        problem = None
        try:
            found = await self.select(_EVERYTHING)
            active = sum(e.status is Status.ACTIVE for e in found)
            hidden = len(found) - active
        except LongTermMemoryError as exc:
            problem = exc
        return Overview(
            self.scope, self.actor, self.settings, collection.base.id, profiles, active, hidden, problem
        )
