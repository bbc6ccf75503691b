"""Who does not want to be remembered: people who typed ``!memory off``, per conversation.

Under ``bot`` isolation the wish holds for all conversations of the bot. It is kept with the conversation as well,
so that it survives a change of the isolation. What cannot be read makes whoever asks fail, never "nobody".
"""

from __future__ import annotations

import asyncio
import json

from .errors import StorageFailed
from .ports import KeyValueStorage
from .scope import Scope
from .storage_keys import short_part

__all__ = ["OptOuts"]

_PREFIX = "ltm/optout/"
_SCHEMA = 1
_NOBODY: frozenset[str] = frozenset()


class OptOuts:
    """The opt-outs of one installation.

    Args:
        storage: plugin storage.
    """

    def __init__(self, storage: KeyValueStorage) -> None:
        self._storage = storage
        self._known: dict[str, frozenset[str]] = {}
        self._changing = asyncio.Lock()

    async def of(self, scope: Scope) -> frozenset[str]:
        """Return the sender ids that memory is switched off for here.

        Raises:
            StorageFailed: it cannot be told.
        """
        found = await asyncio.gather(*map(self._of_key, _keys(scope)))
        return _NOBODY.union(*found)

    async def change(self, scope: Scope, sender_id: str, *, off: bool) -> bool:
        """Switch memory off or on for a speaker; returns whether that changed anything.

        Raises:
            StorageFailed: it may not be kept.
        """
        async with self._changing:
            changed = False
            for key in _keys(scope):
                known = await self._of_key(key)
                wanted = known | {sender_id} if off else known - {sender_id}
                if wanted == known:
                    continue
                changed = True
                data = {"schema_version": _SCHEMA, "key": key, "senders": sorted(wanted)}
                # Until storage has answered, nobody knows which of the two it holds.
                self._known.pop(key, None)
                await self._storage.set(_PREFIX + short_part(key), json.dumps(data).encode())
                self._known[key] = wanted
            return changed

    async def _of_key(self, key: str) -> frozenset[str]:
        if key not in self._known:
            name = _PREFIX + short_part(key)
            raw = await self._storage.get(name)
            self._known[key] = _NOBODY if raw is None else _loaded(name, key, raw)
        return self._known[key]


def _keys(scope: Scope) -> list[str]:
    return list(dict.fromkeys([scope.session_key, scope.user_key]))


def _loaded(name: str, key: str, raw: bytes) -> frozenset[str]:
    try:
        data = json.loads(raw)
        if data["key"] != key or not 1 <= int(data["schema_version"]) <= _SCHEMA:
            raise ValueError("belongs elsewhere, or written by another version")
        return frozenset(str(sender) for sender in data["senders"])
    except (ValueError, TypeError, KeyError, RecursionError) as exc:
        raise StorageFailed("profile_unreadable", key=name) from exc
