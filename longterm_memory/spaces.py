"""Which memory spaces exist, as far as plugin storage tells.

The vector database cannot be asked for its scopes, so each user key is noted before the first memory is written
under it. Conversations are known by the storage keys of their profiles, snapshots and audit logs; nearly
everything is in the keys alone, so a thousand speakers cost one call and not a thousand.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from .audit import AUDIT_PREFIX
from .errors import BadArgument, StorageFailed
from .models import Snapshot
from .ports import KeyValueStorage
from .profile_records import SESSION_PREFIX, SPEAKER_PREFIX
from .scope import Isolation, Scope
from .snapshots import SNAPSHOT_PREFIX
from .storage_keys import short_part

if TYPE_CHECKING:
    from .profiles import ProfileStore

__all__ = ["SPACE_PREFIX", "FoundSpace", "FoundSpaces", "SpaceRegistry", "all_spaces", "found_spaces"]

SPACE_PREFIX = "ltm/space/"
_SCHEMA = 1
_PREFIXES = (SESSION_PREFIX, SPEAKER_PREFIX, SNAPSHOT_PREFIX, AUDIT_PREFIX, SPACE_PREFIX)
"""Storage keys that tell of a conversation: prefix, its key (maybe hashed), for some ``/`` and more."""
_NAMED_MAX = 1_000
_HASHED_READS = 500
"""Most values that a list reads only to learn which space a hashed key belongs to."""


class SpaceRegistry:
    """The user keys under which memories were ever written.

    Args:
        storage: plugin storage.
    """

    def __init__(self, storage: KeyValueStorage) -> None:
        self._storage = storage
        self._noted: set[str] = set()
        self._named: OrderedDict[str, Scope] = OrderedDict()

    def name(self, scope: Scope) -> None:
        """Note a space that somebody asked about, whether or not anything is stored in it."""
        self._named[scope.space_id] = scope
        self._named.move_to_end(scope.space_id)
        while len(self._named) > _NAMED_MAX:
            self._named.popitem(last=False)

    def named(self, space_id: str) -> Scope | None:
        """Return the space with that id, if it was named since the start."""
        return self._named.get(space_id)

    async def note(self, user_key: str) -> None:
        """Note a user key before the first memory is written under it; later calls cost nothing.

        Raises:
            StorageFailed: it may not be noted; nothing should be written then.
        """
        if user_key in self._noted:
            return
        key = SPACE_PREFIX + short_part(user_key)
        if await self._storage.get(key) is None:
            data = {"schema_version": _SCHEMA, "user_key": user_key}
            await self._storage.set(key, json.dumps(data).encode())
        self._noted.add(user_key)

    async def user_keys(self) -> list[str]:
        """Return all user keys that memories were written under, sorted; those of earlier isolations too.

        Raises:
            StorageFailed: storage did not answer, or a note is unreadable.
        """
        found = []
        for key in await self._storage.keys():
            if not key.startswith(SPACE_PREFIX):
                continue
            name = key.removeprefix(SPACE_PREFIX)
            found.append(name if not name.startswith("~") else await self._hashed(key))
        return sorted(found)

    async def _hashed(self, key: str) -> str:
        raw = await self._storage.get(key)
        try:
            return str(json.loads(raw or b"")["user_key"])
        except (ValueError, KeyError, TypeError) as exc:
            raise StorageFailed("profile_unreadable", key=key) from exc


@dataclass(slots=True)
class FoundSpace:
    """What the storage keys say about one conversation.

    Attributes:
        scope: the conversation under the isolation that was asked for.
        session: whether it has a profile of its own.
        speakers: how many speaker profiles it has.
        snapshot: whether there is an injection snapshot.
        audit: whether there is an audit log.
        memories: whether memories were ever written under its own key.
    """

    scope: Scope
    session: bool = False
    speakers: int = 0
    snapshot: bool = False
    audit: bool = False
    memories: bool = False

    @property
    def profiles(self) -> int:
        """How many profiles are stored."""
        return int(self.session) + self.speakers

    def note(self, prefix: str) -> None:
        """Take in one storage key."""
        self.session |= prefix == SESSION_PREFIX
        self.speakers += prefix == SPEAKER_PREFIX
        self.snapshot |= prefix == SNAPSHOT_PREFIX
        self.audit |= prefix == AUDIT_PREFIX
        self.memories |= prefix == SPACE_PREFIX


@dataclass(slots=True)
class FoundSpaces:
    """The conversations that storage knows of.

    Attributes:
        spaces: by scope key.
        untold: storage keys, one of each conversation that there was no time to tell, or that cannot be read.
    """

    spaces: dict[str, FoundSpace]
    untold: list[str]


async def found_spaces(
    storage: KeyValueStorage,
    profiles: ProfileStore,
    isolation: Isolation,
    *,
    reads: int | None = _HASHED_READS,
) -> FoundSpaces:
    """Return the conversations that storage knows of.

    Args:
        storage: plugin storage.
        profiles: reads the profiles whose key is a hash.
        isolation: isolation of the scopes returned.
        reads: most values read to learn what a hashed key stands for, ``None`` for as many as it takes.

    Raises:
        StorageFailed: storage did not answer.
    """
    notes: dict[str, list[tuple[str, str]]] = {}
    for key in sorted(await storage.keys()):
        prefix = next((p for p in _PREFIXES if key.startswith(p)), None)
        if prefix is not None:
            name = key.removeprefix(prefix).split("/", 1)[0]
            notes.setdefault(name, []).append((prefix, key))
    found, done = FoundSpaces({}, []), 0
    for name, keys in notes.items():
        scope = _scope_of_key(name)
        for prefix, key in keys:
            if scope is None and (reads is None or done < reads):
                done += 1
                scope = await _scope_of_value(storage, profiles, prefix, key)
        if scope is None:
            # A key that is neither a hash nor a scope's, and whose value tells none, is none of ours.
            found.untold += [keys[0][1]] if name.startswith("~") else []
        elif not scope.shared:
            # Of the memories that a whole bot shares, its conversations tell by themselves.
            space = FoundSpace(replace(scope, isolation=isolation))
            for prefix, _ in keys:
                found.spaces.setdefault(scope.session_key, space).note(prefix)
    return found


async def all_spaces(
    storage: KeyValueStorage, profiles: ProfileStore, isolation: Isolation
) -> dict[str, FoundSpace]:
    """Return every conversation that storage knows of, by scope key.

    Raises:
        StorageFailed: storage did not answer, or it cannot be told of some key whose it is (``space_untold``).
    """
    found = await found_spaces(storage, profiles, isolation, reads=None)
    if found.untold:
        raise StorageFailed("space_untold", key=found.untold[0], count=len(found.untold))
    return found.spaces


def _scope_of_key(key: str) -> Scope | None:
    """Return the scope with that scope key or shared key, ``None`` when it is none."""
    try:
        return Scope.of_user_key(key)
    except BadArgument:
        return None


async def _scope_of_value(
    storage: KeyValueStorage, profiles: ProfileStore, prefix: str, key: str
) -> Scope | None:
    """Return the scope that the value under a hashed storage key is of, ``None`` when it cannot be read."""
    try:
        if prefix in (SESSION_PREFIX, SPEAKER_PREFIX):
            stored = await profiles.read(key)
            return stored.scope if stored else None
        return _scope_of_key(_KEY_IN[prefix](await storage.get(key) or b""))
    except (ValidationError, ValueError, KeyError, TypeError, RecursionError):
        return None
    except StorageFailed as exc:
        if exc.reason != "profile_unreadable":
            raise
        return None


_KEY_IN: dict[str, Callable[[bytes], str]] = {
    SNAPSHOT_PREFIX: lambda raw: Snapshot.model_validate_json(raw).scope_key,
    AUDIT_PREFIX: lambda raw: str(json.loads(raw)["scope_key"]),
    SPACE_PREFIX: lambda raw: str(json.loads(raw)["user_key"]),
}
"""How a value says whose it is."""
