"""L1 profiles in plugin storage: one per conversation, and one per speaker in it.

One process writes. Each read-modify-write of a profile is serialized, so parallel updates all survive, and
the profiles in use are kept in memory. A value that cannot be read (corrupt, or of a newer plugin) makes its
own profile fail and is never overwritten.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from .errors import StorageFailed
from .models import Profile, ProfileChange
from .ports import KeyValueStorage
from .profile_changes import Change, Limits, apply
from .profile_records import SESSION_PREFIX, SPEAKER_PREFIX, StoredProfile, hashed_part, profile_key
from .scope import Scope, Speaker
from .withdrawals import Check, unchecked

__all__ = ["Limits", "ProfileStore", "StoredProfile", "profile_key"]

_READS_AT_ONCE = 16


class _Lock(asyncio.Lock):
    """A lock that knows how many hold or want it, so that it can go when nobody does."""

    users = 0


class ProfileStore:
    """The profiles of one installation.

    Args:
        storage: plugin storage.
        now: current time, with a zone.
        cached: how many profiles are kept in memory, the longest unused go first.
        settle_seconds: how long a cancelled update waits for a write that is under way. The host may still
            carry it out, and then it must not overtake the next one.
    """

    def __init__(
        self,
        storage: KeyValueStorage,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        cached: int = 1_000,
        settle_seconds: float = 2.0,
    ) -> None:
        self._storage = storage
        self._now = now
        self._cached = cached
        self._settle_seconds = settle_seconds
        self._cache: OrderedDict[str, StoredProfile | None] = OrderedDict()
        self._generation = 0
        self._locks: dict[str, _Lock] = {}

    # ------------------------------------------------------------ reading

    async def session(self, scope: Scope) -> Profile:
        """Return the profile of a conversation, an empty one when nothing is stored.

        Raises:
            StorageFailed: ``profile_unreadable`` or ``storage_down``.
        """
        return await self._profile(StoredProfile.empty(scope, None))

    async def speaker(self, scope: Scope, speaker: Speaker) -> Profile:
        """Return the profile of a speaker in a conversation, an empty one when nothing is stored.

        Raises:
            BadArgument: ``speaker_unknown`` when the speaker has no id.
            StorageFailed: ``profile_unreadable`` or ``storage_down``.
        """
        return await self._profile(StoredProfile.empty(scope, speaker))

    async def _profile(self, nothing: StoredProfile) -> Profile:
        found = await self._get(nothing.key)
        return found.profile if found else nothing.profile

    async def keys(self, scope: Scope | None = None) -> list[str]:
        """Return the storage keys of all profiles, or of a conversation's, sorted (its own profile first).

        Raises:
            StorageFailed: ``storage_down``.
        """
        keys = sorted(
            key for key in await self._storage.keys() if key.startswith((SESSION_PREFIX, SPEAKER_PREFIX))
        )
        if scope is None:
            return keys
        own = profile_key(scope)
        prefixes = tuple(
            f"{SPEAKER_PREFIX}{part}/" for part in (scope.session_key, hashed_part(scope.session_key))
        )
        return [key for key in keys if key == own or key.startswith(prefixes)]

    @staticmethod
    def key(scope: Scope, speaker: Speaker | None = None) -> str:
        """Return the storage key of a profile; ``None`` = the conversation's own.

        Raises:
            BadArgument: ``speaker_unknown`` when the speaker has no id.
        """
        return profile_key(scope, speaker)

    async def read(self, key: str) -> StoredProfile | None:
        """Return the profile under a key of :meth:`keys`; ``None`` when it is gone.

        Raises:
            StorageFailed: ``profile_unreadable`` or ``storage_down``.
        """
        return await self._get(key)

    async def list_profiles(
        self, scope: Scope | None = None
    ) -> tuple[list[StoredProfile], list[StorageFailed]]:
        """Return all profiles, or a conversation's, and a failure for each one that cannot be read.

        Takes one listing of the keys and a read for each profile that is not in memory.

        Raises:
            StorageFailed: ``storage_down`` when the keys could not be listed.
        """
        return await self.read_all(await self.keys(scope))

    async def read_all(self, keys: Sequence[str]) -> tuple[list[StoredProfile], list[StorageFailed]]:
        """Return the profiles under keys of :meth:`keys`, and a failure for each one that cannot be read."""
        turn = asyncio.Semaphore(_READS_AT_ONCE)

        async def attempt(key: str) -> StoredProfile | StorageFailed | None:
            async with turn:
                try:
                    return await self._get(key)
                except StorageFailed as exc:
                    return exc

        found = await asyncio.gather(*map(attempt, keys))
        return (
            [one for one in found if isinstance(one, StoredProfile)],
            [one for one in found if isinstance(one, StorageFailed)],
        )

    # ------------------------------------------------------------ writing

    async def update(
        self,
        scope: Scope,
        speaker: Speaker,
        *,
        field: str,
        action: str,
        values: Sequence[str] | str | None = (),
        target: str | None = None,
        fact_key: str | None = None,
        previous_value: str | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        check: Check = unchecked,
    ) -> ProfileChange:
        """Change a profile as ``update_profile`` says (:mod:`.profile_changes`).

        Args:
            scope: the conversation.
            speaker: the current speaker.
            field: name, traits, preferences or notes.
            action: set, add or remove.
            values: one text, or several for traits and preferences.
            target: ``"session"`` or ``"speaker"``; ``None`` = session for notes, else speaker.
            fact_key: key of a fact that has one current value.
            previous_value: what the value replaces.
            limits: sizes of the lists.
            check: called right before anything is written.

        Returns:
            What became of it; nothing was written when the profile is as it was.

        Raises:
            BadArgument: a value cannot be used or holds a secret, or ``speaker_unknown``.
            Forbidden: from ``check``.
            StorageFailed: ``profile_unreadable``, or storage failed; then the profile is as it was, as far as
                storage can tell.
        """
        change = Change.read(
            field=field,
            action=action,
            values=values,
            target=target,
            fact_key=fact_key,
            previous_value=previous_value,
        )
        return await self.change(
            scope,
            None if change.target == "session" else speaker,
            lambda profile: apply(profile, change, self._now(), limits),
            check,
        )

    async def change(
        self,
        scope: Scope,
        speaker: Speaker | None,
        step: Callable[[Profile], ProfileChange],
        check: Check = unchecked,
    ) -> ProfileChange:
        """Read a profile, let ``step`` say what it becomes, write it; nothing else touches it meanwhile.

        Args:
            scope: the conversation.
            speaker: whose profile; ``None`` = the conversation's own.
            step: gets the stored profile; returning the same object means that nothing is written.
            check: called right before anything is written.

        Raises:
            BadArgument: ``speaker_unknown`` when the speaker has no id; whatever ``step`` and ``check`` raise.
            StorageFailed: as :meth:`update`.
        """
        nothing = StoredProfile.empty(scope, speaker)
        async with self._locked(nothing.key):
            stored = await self._read(nothing.key) or nothing
            change = step(stored.profile)
            if change.profile is not stored.profile:
                check()
                name = nothing.sender_name or stored.sender_name
                await self._write(replace(stored, sender_name=name, profile=change.profile))
                change = replace(change, written=True)
        return change

    async def delete(self, scope: Scope, speaker: Speaker | None = None) -> bool:
        """Delete a profile with its history, also an unreadable one.

        Args:
            scope: the conversation.
            speaker: whose profile; ``None`` = the conversation's own.

        Returns:
            Whether there was one.

        Raises:
            BadArgument: ``speaker_unknown`` when the speaker has no id.
            StorageFailed: ``storage_down``, or ``delete_unverified`` when a read-back still shows it.
        """
        return await self.delete_key(profile_key(scope, speaker))

    async def delete_key(self, key: str) -> bool:
        """Delete the profile under a key of :meth:`keys`, also an unreadable one; returns whether there was one.

        Raises:
            StorageFailed: as :meth:`delete`.
        """
        async with self._locked(key):
            self._cache.pop(key, None)
            existed = await self._storage.get(key) is not None
            if existed:
                await self._settled(self._storage.delete(key))
                if await self._storage.get(key) is not None:
                    raise StorageFailed("delete_unverified", count=1)
            return existed

    async def settled(self, scope: Scope, speaker: Speaker) -> None:
        """Wait for changes of a conversation's or a speaker's profile that are being written."""
        for key in (profile_key(scope), profile_key(scope, speaker)):
            async with self._locked(key):
                pass

    def forget_cache(self) -> None:
        """Drop everything kept in memory; the next reads ask storage."""
        self._cache.clear()
        self._generation += 1

    # ------------------------------------------------------------ one profile at a time

    async def _get(self, key: str) -> StoredProfile | None:
        if key in self._cache:
            self._cache.move_to_end(key)
            return self._cache[key]
        async with self._locked(key):
            return await self._read(key)

    async def _read(self, key: str) -> StoredProfile | None:
        """Read a profile; its lock is held."""
        if key in self._cache:
            return self._cache[key]
        generation = self._generation
        raw = await self._storage.get(key)
        found = None if raw is None else StoredProfile.load(key, raw)
        if generation == self._generation:
            self._keep(key, found)
        return found

    async def _write(self, stored: StoredProfile) -> None:
        """Write a profile; its lock is held. Until storage has it for sure, memory does not."""
        generation = self._generation
        self._cache.pop(stored.key, None)
        await self._settled(self._storage.set(stored.key, stored.dump()))
        if generation == self._generation:
            self._keep(stored.key, stored)

    def _keep(self, key: str, stored: StoredProfile | None) -> None:
        self._cache[key] = stored
        self._cache.move_to_end(key)
        while len(self._cache) > self._cached:
            self._cache.popitem(last=False)

    async def _settled(self, call: Coroutine[Any, Any, None]) -> None:
        """Await a write; when cancelled, give it a moment to end, so that it cannot overtake the next one."""
        task = asyncio.ensure_future(call)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            try:
                await asyncio.wait({task}, timeout=self._settle_seconds)
            finally:
                task.cancel()
                with suppress(asyncio.CancelledError, StorageFailed):
                    await task
            raise

    @asynccontextmanager
    async def _locked(self, key: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(key, _Lock())
        lock.users += 1
        try:
            async with lock:
                yield
        finally:
            lock.users -= 1
            if not lock.users:
                del self._locks[key]
