"""Erasing a person or a whole space: everything that is kept of them, and a look at the store that it is gone.

Memories go whatever the isolation was when they were stored (:mod:`.reach`). While an erasure goes on, nothing of whom
it is about is written, and what began before its end is never written (:mod:`.withdrawals`).
What others said about somebody is theirs and stays. A person's wish not to be remembered stays as well; it holds
nothing but their id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .errors import StorageFailed
from .models import KEPT_STATUSES, Episode, Filters
from .reach import bot_prefix, reached, said_in, scopes_of
from .scope import Isolation, Scope, Speaker
from .spaces import all_spaces

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
        session_profiles: how many of them are of a conversation, their own private chat.
        snapshots: number of snapshots of their turns.
        audit: number of audit entries with their name.
        spaces: number of spaces that held any of it.
    """

    episodes: int = 0
    profiles: int = 0
    snapshots: int = 0
    audit: int = 0
    spaces: int = 0
    session_profiles: int = 0

    def __add__(self, other: Traces) -> Traces:
        return Traces(
            self.episodes + other.episodes,
            self.profiles + other.profiles,
            self.snapshots + other.snapshots,
            self.audit + other.audit,
            self.spaces + other.spaces,
            self.session_profiles + other.session_profiles,
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
    return await _traces(service, scope, sender_id, await _places(service, scope))


async def _traces(service: MemoryService, scope: Scope, sender_id: str, places: Iterable[Scope]) -> Traces:
    episodes, keys, entries, snapshot = await asyncio.gather(
        _count(service, places, lambda e: _of_speaker(scope, e, sender_id)),
        service.profiles.keys(scope),
        service.audit.entries(scope.scope_key),
        service.snapshots.is_of(scope.scope_key, sender_id),
    )
    own, session = (key in keys for key in _profile_keys(service, scope, sender_id))
    return Traces(
        episodes, own + session, int(snapshot), sum(e.about(sender_id) for e in entries), 1, int(session)
    )


async def traces_of_space(service: MemoryService, scope: Scope) -> Traces:
    """Count what :func:`erase_space` would erase.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: it cannot be told.
    """
    episodes, keys, entries = await asyncio.gather(
        _count(service, scopes_of(scope), lambda e: _of_space(scope, e)),
        service.profiles.keys(scope),
        service.audit.entries(scope.scope_key),
    )
    return Traces(episodes, len(keys), audit=len(entries), spaces=1)


async def traces_of_person(service: MemoryService, sender_id: str) -> Traces:
    """Count what :func:`erase_person` would erase.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: it cannot be told.
    """
    total = Traces()
    for scope in await spaces_of(service):
        if scope.session_name:
            found = await _traces(service, scope, sender_id, [scope])
            total += replace(found, spaces=int(not found.none))
        else:
            total += Traces(await _count(service, [scope], lambda e: e.is_from(sender_id)))
    return total


async def erase_speaker(service: MemoryService, scope: Scope, sender_id: str) -> Traces:
    """Erase everything of a speaker in a space: memories, profile, snapshots, name in the audit; of their own private
    chat the chat's profile too, which is about them.

    Returns:
        What was erased; each part was read back and is gone.

    Raises:
        BadArgument: ``speaker_unknown`` without an id.
        NotConfigured, StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
    """
    return await _erase_speaker(service, scope, sender_id, await _places(service, scope))


async def _erase_speaker(
    service: MemoryService, scope: Scope, sender_id: str, places: Iterable[Scope]
) -> Traces:
    speaker = Speaker(sender_id)
    profiles = _profile_keys(service, scope, sender_id)
    with service.withdrawals.erasing({scope.session_key, scope.user_key}, sender_id):
        own, session = [key is not None and await service.profiles.delete_key(key) for key in profiles]
        erased = await _episodes(service, places, lambda e: _of_speaker(scope, e, sender_id))
        snapshots = await service.snapshots.forget_speaker(scope, sender_id)
        if profiles[1] is not None:
            # Whoever spoke there last, it shows the profile of the chat.
            await service.snapshots.delete(scope.scope_key)
        service.turns.end(scope, speaker)
        await service.backups.forget_speaker(scope, sender_id)
        audit = await service.audit.remove_person(scope.scope_key, sender_id)
        await _profiles_gone(service, [key for key in profiles if key is not None])
    return Traces(erased, own + session, snapshots, audit, 1, int(session))


async def erase_space(service: MemoryService, scope: Scope) -> Traces:
    """Erase a space: its profiles, memories, snapshot and audit log.

    Of memories that several conversations share only those go that were said in this one.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
    """
    with service.withdrawals.erasing([scope.session_key]):
        keys = await service.profiles.keys(scope)
        for key in keys:
            await service.profiles.delete_key(key)
        own, *shared = scopes_of(scope)
        erased = await _whole(service, own)
        erased += await _episodes(service, shared, lambda e: _of_space(scope, e))
        entries = await service.audit.entries(scope.scope_key)
        await service.snapshots.delete(scope.scope_key)
        service.turns.end(scope)
        await service.backups.forget_space(scope)
        await service.audit.erase(scope.scope_key)
        await _profiles_gone(service, await service.profiles.keys(scope))
    return Traces(erased, len(keys), audit=len(entries), spaces=1)


async def erase_person(service: MemoryService, sender_id: str) -> Traces:
    """Erase everything of a person in all spaces of the installation, those of earlier isolations too.

    Each space that held something gets an audit entry about it, without the person.

    Raises:
        BadArgument: ``speaker_unknown`` without an id.
        NotConfigured, StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
    """
    total = Traces()
    with service.withdrawals.erasing(sender_id=sender_id):
        await service.backups.forget_person(sender_id)
        for scope in await spaces_of(service):
            if scope.session_name:
                erased = await _erase_speaker(service, scope, sender_id, [scope])
            else:
                # Shared memories of a bot; its conversations come by themselves.
                erased = Traces(await _episodes(service, [scope], lambda e: e.is_from(sender_id)))
            if erased.none:
                continue
            total += replace(erased, spaces=int(bool(scope.session_name)))
            await service.audit.note(scope, "erase_speaker", "console", ("speaker", ""), erased.counts())
    return total


async def spaces_of(service: MemoryService) -> list[Scope]:
    """Return every conversation that anything is kept of (isolated), and every bot with shared memories.

    Raises:
        StorageFailed: storage did not answer, or it cannot be told of some key whose it is.
    """
    found = await all_spaces(service.host.storage, service.profiles, Isolation.SESSION)
    scopes = {space.scope.user_key: space.scope for space in found.values()}
    for key in await service.spaces.user_keys():
        scopes.setdefault(key, Scope.of_user_key(key))
    return [scopes[key] for key in sorted(scopes)]


# ---------------------------------------------------------------- what is meant


def _of_speaker(scope: Scope, episode: Episode, sender_id: str) -> bool:
    return episode.is_from(sender_id) and reached(scope, episode.user_key, episode.session_name)


def _of_space(scope: Scope, episode: Episode) -> bool:
    return said_in(scope, episode.user_key, episode.session_name)


async def _places(service: MemoryService, scope: Scope) -> list[Scope]:
    """Return every scope that memories of a speaker in a space may be in."""
    places = {one.user_key: one for one in scopes_of(scope)}
    if scope.shared:
        of_bot = bot_prefix(scope)
        for key in await service.spaces.user_keys():
            if key.startswith(of_bot) and key not in places:
                places[key] = Scope.of_user_key(key)
    return list(places.values())


def _profile_keys(service: MemoryService, scope: Scope, sender_id: str) -> tuple[str, str | None]:
    """Return the keys of a speaker's profile and, in their own private chat, of the chat's."""
    speaker = Speaker(sender_id)
    session = service.profiles.key(scope) if scope.is_private(speaker) else None
    return service.profiles.key(scope, speaker), session


async def _profiles_gone(service: MemoryService, keys: Iterable[str]) -> None:
    left = [key for key in keys if await service.host.storage.get(key) is not None]
    if left:
        raise StorageFailed("delete_unverified", count=len(left))


async def _count(service: MemoryService, places: Iterable[Scope], chosen: Callable[[Episode], bool]) -> int:
    episodes = service.episodes(await service.collection())
    return sum([sum(map(chosen, await episodes.select(p.user_key, _EVERYTHING))) for p in places])


async def _episodes(
    service: MemoryService, places: Iterable[Scope], chosen: Callable[[Episode], bool]
) -> int:
    episodes, count = service.episodes(await service.collection()), 0
    for place in places:
        found = [e.id for e in await episodes.select(place.user_key, _EVERYTHING) if chosen(e)]
        if found:
            await service.scrub(place, tuple(found))
        erased = await episodes.erase(place, chosen)
        if erased:
            # Once more: a turn may have shown them meanwhile.
            await service.scrub(place, erased)
        count += len(erased)
    return count


async def _whole(service: MemoryService, place: Scope) -> int:
    """Erase all memories of a scope that nobody shares."""
    episodes = service.episodes(await service.collection())
    shown = await episodes.select(place.user_key, _EVERYTHING)
    if shown:
        await service.scrub(place, tuple(e.id for e in shown))
    erased = await episodes.erase_whole(place)
    if erased:
        # Once more: a turn may have shown them meanwhile.
        await service.scrub(place, erased)
    return len(erased)


_EVERYTHING = Filters(statuses=KEPT_STATUSES)
