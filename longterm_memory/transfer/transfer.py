"""Taking memories out of a conversation, and bringing them in; ``memory.transfer`` of a scoped memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal

from ..access import Access
from ..errors import LongTermMemoryError
from ..models import KEPT_STATUSES, Episode, Filters
from ..policy import Action
from ..scope import Speaker
from ..views import Exported
from .importing import ImportReport, import_file

__all__ = ["ExportKind", "Transfer"]

ExportKind = Literal["profiles", "episodes", "all"]

_EVERYTHING = Filters(statuses=KEPT_STATUSES)


class Transfer:
    """Export and import of one conversation.

    Args:
        access: who acts where.
        select: lists the memories that the actor may see.
    """

    def __init__(self, access: Access, select: Callable[[Filters], Awaitable[list[Episode]]]) -> None:
        self._access = access
        self._select = select

    async def export(self, what: ExportKind, filters: Filters = _EVERYTHING) -> Exported:
        """Return what the actor may take out of this space.

        Everybody gets the profile of the conversation, their own profile and their own memories; who may export
        all gets those of the others too.

        Args:
            what: ``profiles``, ``episodes`` or ``all``.
            filters: which memories.

        Raises:
            Forbidden, StoreFailed, StorageFailed: it could not be read whole.
        """
        everyone = self._access.may(Action.EXPORT_ALL)
        self._access.decide(Action.EXPORT_ALL if everyone else Action.EXPORT_OWN)
        own = self._access.actor.speaker.id
        episodes = profiles = None
        left_out = 0
        problems: tuple[LongTermMemoryError, ...] = ()
        if what != "profiles":
            found = await self._select(filters)
            episodes = tuple(e for e in found if everyone or e.is_from(own))
            left_out = len(found) - len(episodes)
        if what != "episodes":
            store, scope = self._access.service.profiles, self._access.scope
            stored, unread = await store.list_profiles(scope)
            off = await self._access.opted_out()
            profiles = tuple(
                p
                for p in stored
                if (everyone or p.target == "session" or p.sender_id == own)
                and self._access.shows_speaker(p.sender_id, off)
            )
            # A damaged profile is named by its key, which holds the id of whose it is.
            theirs = {store.key(scope)} | ({store.key(scope, self._access.actor.speaker)} if own else set())
            problems = tuple(p for p in unread if everyone or p.details.get("key") in theirs)
        return Exported(episodes, profiles, left_out, problems, own_only=not everyone)

    async def import_file(
        self,
        data: bytes,
        *,
        profiles: bool = False,
        dry_run: bool = False,
        seconds: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportReport:
        """Take memories of a file into this space, whatever space the file names; can be repeated.

        Args:
            data: the file, in any of the formats of :mod:`.formats`.
            profiles: whether profiles in it are taken in too.
            dry_run: only judge the rows.
            seconds: stop between two batches after this long; the report says how many rows remain.
            progress: called with (rows done, rows in all).

        Raises:
            Forbidden: the policy refuses. Everything else is in the report.
        """
        self._access.decide(Action.IMPORT)
        report = await import_file(
            self._access.service,
            data,
            into=self._access.scope,
            isolation=self._access.scope.isolation,
            seconds=seconds,
            profiles=profiles,
            # The operator brings back what was here; in chat everything is said where it is imported.
            keep_sessions=self._access.actor.via == "console",
            only_from=self._own_words(),
            # What a person brings into their own private chat is theirs, unless it says whose it is.
            default_sender=self._access.actor.speaker if self._access.actor.private else None,
            dry_run=dry_run,
            progress=progress,
        )
        if not dry_run and (report.accepted or report.profiles):
            counts = {
                "accepted": report.accepted,
                "skipped": report.skipped,
                "rejected": len(report.rejected),
                "profiles": report.profiles,
            }
            await self._access.audit("import", ("episodes", ""), counts)
        return report

    def _own_words(self) -> Speaker | None:
        """Return whose memories alone may be imported, ``None`` for anybody's.

        What goes into a memory that all conversations of a bot share is told to all of them; only an admin may
        bring in there what others are to have said.
        """
        actor = self._access.actor
        if actor.via == "console" or actor.admin or not self._access.scope.shared:
            return None
        return actor.speaker
