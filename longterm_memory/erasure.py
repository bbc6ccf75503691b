"""Erasing a person or a whole space: everything that is kept of them, and a look at the store that it is gone.

What others said about somebody is theirs and stays. A person's wish not to be remembered stays as well; it holds
nothing but their id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .models import KEPT_STATUSES, Episode, Filters
from .scope import Isolation, Scope, Speaker
from .spaces import found_spaces

if TYPE_CHECKING:
    from .service import MemoryService

__all__ = [
    "Traces",
    "erase_person",
    "erase_space",
    "erase_speaker",
    "spaces_of",
    "traces_of",
    "traces_of_person",
    "traces_of_space",
]


@dataclass(frozen=True, slots=True)
class Traces:
    """What is kept of somebody, or was erased.

    Attributes:
        episodes: number of memories, whatever their status.
        profiles: number of profiles.
        snapshots: number of snapshots of their turns.
        audit: number of audit entries with their name.
        spaces: number of spaces that held any of it.
    """

    episodes: int = 0
    profiles: int = 0
    snapshots: int = 0
    audit: int = 0
    spaces: int = 0

    def __add__(self, other: Traces) -> Traces:
        return Traces(
            self.episodes + other.episodes,
            self.profiles + other.profiles,
            self.snapshots + other.snapshots,
            self.audit + other.audit,
            self.spaces + other.spaces,
        )

    @property
    def none(self) -> bool:
        """Whether there is nothing."""
        return not (self.episodes or self.profiles or self.snapshots or self.audit)

    def counts(self) -> dict[str, int | str]:
        """Return the numbers for the audit."""
        return {"episodes": self.episodes, "profiles": self.profiles, "audit_entries": self.audit}


async def traces_of(service: MemoryService, scope: Scope, sender_id: str) -> Traces:
    """Count what is kept of a speaker in a space.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: it cannot be told.
    """
    episodes = service.episodes(await service.collection())
    filters = Filters(sender_id=sender_id, statuses=KEPT_STATUSES)
    found, keys, entries, snapshot = await asyncio.gather(
        episodes.select(scope.user_key, filters),
        service.profiles.keys(scope),
        service.audit.entries(scope.scope_key),
        service.snapshots.is_of(scope.scope_key, sender_id),
    )
    profile = service.profiles.key(scope, Speaker(sender_id)) in keys
    return Traces(len(found), int(profile), int(snapshot), sum(e.about(sender_id) for e in entries), spaces=1)


async def traces_of_space(service: MemoryService, scope: Scope) -> Traces:
    """Count what :func:`erase_space` would erase.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: it cannot be told.
    """
    episodes = service.episodes(await service.collection())
    found, keys, entries = await asyncio.gather(
        episodes.select(scope.user_key, _EVERYTHING),
        service.profiles.keys(scope),
        service.audit.entries(scope.scope_key),
    )
    return Traces(sum(map(_said_in(scope), found)), len(keys), audit=len(entries), spaces=1)


async def traces_of_person(service: MemoryService, sender_id: str) -> Traces:
    """Count what :func:`erase_person` would erase.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: it cannot be told.
    """
    total = Traces()
    for scope in await spaces_of(service):
        if scope.session_name:
            found = await traces_of(service, scope, sender_id)
            total += replace(found, spaces=int(not found.none))
        else:
            episodes = service.episodes(await service.collection())
            theirs = Filters(sender_id=sender_id, statuses=KEPT_STATUSES)
            total += Traces(len(await episodes.select(scope.user_key, theirs)))
    return total


async def erase_speaker(service: MemoryService, scope: Scope, sender_id: str) -> Traces:
    """Erase everything of a speaker in a space: memories under its user key, profile, snapshots, name in the audit.

    Returns:
        What was erased; each part was read back and is gone.

    Raises:
        BadArgument: ``speaker_unknown`` without an id.
        NotConfigured, StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
    """
    speaker = Speaker(sender_id)
    profile = await service.profiles.delete(scope, speaker)
    erased = await _episodes(service, scope, lambda e: e.is_from(sender_id))
    keys = [*await service.snapshot_scopes(scope), scope.scope_key]
    snapshots = [await service.snapshots.forget_speaker(key, sender_id) for key in dict.fromkeys(keys)]
    service.turns.end(scope, speaker)
    await service.backups.forget_speaker(scope, sender_id)
    audit = await service.audit.remove_person(scope.scope_key, sender_id)
    return Traces(erased, int(profile), sum(snapshots), audit, 1)


async def erase_space(service: MemoryService, scope: Scope) -> Traces:
    """Erase a space: its profiles, memories, snapshot and audit log.

    Under shared isolation only the memories that were said in this conversation go.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
    """
    keys = await service.profiles.keys(scope)
    for key in keys:
        await service.profiles.delete_key(key)
    erased = await _episodes(service, scope, _said_in(scope))
    entries = await service.audit.entries(scope.scope_key)
    await service.snapshots.delete(scope.scope_key)
    service.turns.end(scope)
    await service.backups.forget_space(scope)
    await service.audit.erase(scope.scope_key)
    return Traces(erased, len(keys), audit=len(entries), spaces=1)


async def erase_person(service: MemoryService, sender_id: str) -> Traces:
    """Erase everything of a person in all spaces of the installation, those of earlier isolations too.

    Each space that held something gets an audit entry about it, without the person.

    Raises:
        BadArgument: ``speaker_unknown`` without an id.
        NotConfigured, StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
    """
    total = Traces()
    await service.backups.forget_person(sender_id)
    for scope in await spaces_of(service):
        if scope.session_name:
            erased = await erase_speaker(service, scope, sender_id)
        else:
            # Shared memories of a bot; its conversations come by themselves.
            erased = Traces(await _episodes(service, scope, lambda e: e.is_from(sender_id)))
        if erased.none:
            continue
        total += replace(erased, spaces=int(bool(scope.session_name)))
        await service.audit.note(scope, "erase_speaker", "console", ("speaker", ""), erased.counts())
    return total


async def spaces_of(service: MemoryService) -> list[Scope]:
    """Return every conversation that anything is kept of (isolated), and every bot with shared memories.

    Raises:
        StorageFailed: storage did not answer, or a note of it is unreadable.
    """
    found = await found_spaces(service.host.storage, service.profiles, Isolation.SESSION)
    scopes = {space.scope.user_key: space.scope for space in found.values()}
    for key in await service.spaces.user_keys():
        scopes.setdefault(key, Scope.of_user_key(key))
    return [scopes[key] for key in sorted(scopes)]


def _said_in(scope: Scope) -> Callable[[Episode], bool]:
    """Which memories of a space's user key belong to the space itself."""
    return lambda e: not scope.shared or e.session_name == scope.session_name


async def _episodes(service: MemoryService, scope: Scope, chosen: Callable[[Episode], bool]) -> int:
    episodes = service.episodes(await service.collection())
    found = [e.id for e in await episodes.select(scope.user_key, _EVERYTHING) if chosen(e)]
    await service.scrub(scope, tuple(found))
    erased = await episodes.erase(scope, chosen)
    # Once more: a turn may have shown them meanwhile.
    await service.scrub(scope, erased)
    return len(erased)


_EVERYTHING = Filters(statuses=KEPT_STATUSES)
