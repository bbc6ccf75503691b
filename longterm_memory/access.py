"""Who acts where: what every verb of the scoped memory needs before and after it does its work."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .episode_writing import UNKNOWN_REASONS
from .errors import Forbidden, NotFound, StoreFailed
from .models import Episode
from .policy import Action, Actor, allows, decide, sees
from .scope import Scope, Speaker
from .settings import Settings
from .withdrawals import Check

if TYPE_CHECKING:
    from .episodes import EpisodeStore
    from .service import MemoryService

__all__ = ["Access"]


@dataclass(frozen=True, slots=True)
class Access:
    """Somebody in a conversation, and the memory they reach.

    Attributes:
        service: the installation's memory.
        scope: the conversation.
        actor: who asks, and through what.
        settings: effective settings.
        query_id: the host's id of the message, ``""`` without one.
        began: when the request began (:meth:`.withdrawals.Withdrawals.now`).
    """

    service: MemoryService
    scope: Scope
    actor: Actor
    settings: Settings
    query_id: str = ""
    began: int = 0

    def decide(self, action: Action) -> None:
        """Let the action pass.

        Raises:
            Forbidden: the policy refuses (:func:`.policy.decide`).
        """
        decide(action, self.actor, self.settings.command_policy)

    def may(self, action: Action) -> bool:
        """Whether :meth:`decide` lets the action pass."""
        return allows(action, self.actor, self.settings.command_policy)

    async def episodes(self) -> EpisodeStore:
        """Return the episodes of the knowledge base in use.

        Raises:
            NotConfigured, StorageFailed: there is none.
        """
        return self.service.episodes(await self.service.collection())

    async def opted_out(self) -> frozenset[str]:
        """Return the sender ids that memory is switched off for here.

        Raises:
            StorageFailed: it cannot be told; nothing personal may be used then.
        """
        return await self.service.opt_outs.of(self.scope)

    async def check_wanted(self, sender_id: str) -> Check:
        """Refuse to write anything in the name of somebody who opted out.

        Returns:
            What refuses it right before it is written, if they opted out or were erased meanwhile.

        Raises:
            Forbidden: ``speaker_off`` or ``other_off``.
            StorageFailed: it cannot be told.
        """
        own = sender_id == self.actor.speaker.id
        if self.actor.via == "tool":
            # Whoever the host does not name in a private chat can only be its person.
            sender_id = sender_id or self.scope.person
        if sender_id in await self.opted_out():
            raise Forbidden("speaker_off" if own else "other_off")
        return lambda: self.service.withdrawals.check(self.began, self.scope, sender_id, own=own)

    async def check_known(self, episode: Episode) -> None:
        """Know nothing of a memory that is kept of somebody who opted out, unless it is the actor's or they are an
        admin: an answer that differs from the one about no memory at all would tell that there is one.

        Raises:
            NotFound: it is such a memory.
            StorageFailed: it cannot be told.
        """
        if not self.shows_speaker(episode.sender_id, await self.opted_out()):
            raise NotFound("id_unknown", id=episode.id)

    def shows(self, episode: Episode, off: frozenset[str]) -> bool:
        """Whether a listing may hold a memory: what is kept of people who opted out is for them and for admins.

        Args:
            episode: a memory of this scope.
            off: from :meth:`opted_out`.
        """
        return sees(self.actor, self.scope, episode) and self.shows_speaker(episode.sender_id, off)

    def shows_speaker(self, sender_id: str, off: frozenset[str]) -> bool:
        """Whether what is kept of that sender may be listed: of people who opted out, for them and for admins."""
        if sender_id not in off or self.actor.via == "console":
            return True
        return sender_id == self.actor.speaker.id or (self.actor.admin and self.actor.via == "command")

    async def audit(
        self,
        operation: str,
        target: tuple[str, str],
        summary: Mapping[str, int | str] | None = None,
        *,
        sender: Speaker | None = None,
        began: int | None = None,
    ) -> None:
        """Write one audit entry.

        Args:
            operation: what was done.
            target: type and id of what it was done to.
            summary: field names, counts and lengths; never content.
            sender: who did it, when that is not to be the actor.
            began: when that began, when it was not the request.
        """
        await self.service.audit.note(
            self.scope,
            operation,
            self.actor.via,
            target,
            summary,
            sender=self.actor.speaker if sender is None else sender,
            query_id=self.query_id,
            began=self.began if began is None else began,
        )

    @asynccontextmanager
    async def noted_if_unknown(
        self, operation: str, target: tuple[str, str] = ("", ""), summary: dict[str, int | str] | None = None
    ) -> AsyncGenerator[None, None]:
        """Write an audit entry about a change that broke off so that it may have been made.

        Args:
            operation: what was tried.
            target: type and id of what it was tried on; that of a new memory is in the error.
            summary: what would have changed.
        """
        try:
            yield
        except StoreFailed as exc:
            if exc.reason in UNKNOWN_REASONS:
                target = target if target[0] else ("episode", str(exc.details.get("id", "")))
                await self.audit(operation, target, {**(summary or {}), "outcome": "unknown"})
            raise
