"""Who does not want to be remembered: people who typed ``!memory off``, per conversation or for a whole bot.

Under ``bot`` isolation the wish is for all conversations of the bot and is kept under the bot's key, else under the
conversation's; both are asked whatever the isolation is, so a wish survives a change of it. Whoever switched memory
off for the whole bot can switch it on again in one conversation (:attr:`_Wishes.on`). What cannot be read makes
whoever asks fail, never "nobody".
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace

from .errors import StorageFailed
from .logs import get_logger
from .ports import KeyValueStorage
from .reach import bot_prefix, keys_of
from .scope import Scope
from .storage_keys import short_part

__all__ = ["OptOuts"]

logger = get_logger(__name__)

_PREFIX = "ltm/optout/"
_SCHEMA = 1
_NOBODY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Wishes:
    """What is kept under a key.

    Attributes:
        off: who switched memory off there.
        on: who switched it on in this one conversation, though it is off for the whole bot.
    """

    off: frozenset[str] = _NOBODY
    on: frozenset[str] = _NOBODY

    @classmethod
    def load(cls, name: str, key: str | None, raw: bytes) -> tuple[str, _Wishes]:
        """Read what is kept under a storage key: whose it is (``key`` when that is known), and the wishes.

        Raises:
            StorageFailed: it is damaged, of a newer version, or belongs elsewhere.
        """
        try:
            data = json.loads(raw)
            found = str(data["key"])
            if key not in (None, found) or _PREFIX + short_part(found) != name:
                raise ValueError("belongs elsewhere")
            if not 1 <= int(data["schema_version"]) <= _SCHEMA:
                raise ValueError("written by another version")
            lists = (data["senders"], data.get("on", ()))
            return found, cls(*(frozenset(str(sender) for sender in senders) for senders in lists))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
            raise StorageFailed("profile_unreadable", key=name) from exc

    def dump(self, key: str) -> bytes:
        data = {"schema_version": _SCHEMA, "key": key, "senders": sorted(self.off)}
        return json.dumps(data | ({"on": sorted(self.on)} if self.on else {})).encode()

    def without(self, sender_id: str) -> _Wishes:
        return _Wishes(self.off - {sender_id}, self.on - {sender_id})


_NONE = _Wishes()


class OptOuts:
    """The opt-outs of one installation.

    Args:
        storage: plugin storage.
    """

    def __init__(self, storage: KeyValueStorage) -> None:
        self._storage = storage
        self._known: dict[str, _Wishes] = {}
        self._generation = 0
        """Counts writes; an answer that storage gave before one may come after it."""
        self._changing = asyncio.Lock()

    async def of(self, scope: Scope) -> frozenset[str]:
        """Return the sender ids that memory is switched off for here.

        Raises:
            StorageFailed: it cannot be told.
        """
        here, *bot = await asyncio.gather(*map(self._of_key, keys_of(scope)))
        return here.off.union(*(self._for_bot(scope, here, wishes) for wishes in bot))

    async def for_bot(self, scope: Scope) -> frozenset[str]:
        """Return the sender ids that memory is switched off for in the bot's conversations, wherever they did not
        switch it on by itself.

        Raises:
            StorageFailed: it cannot be told.
        """
        _, *bot = keys_of(scope)
        return _NOBODY.union(*[(await self._of_key(key)).off for key in bot])

    @staticmethod
    def _for_bot(scope: Scope, here: _Wishes, bot: _Wishes) -> frozenset[str]:
        # Shared memories are those of all conversations; an exception for one of them means nothing there.
        return bot.off if scope.shared else bot.off - here.on

    async def change(self, scope: Scope, sender_id: str, *, off: bool) -> bool:
        """Switch memory off or on for a speaker: in the conversation, or under ``bot`` isolation in all of the bot.

        Returns:
            Whether that changed anything.

        Raises:
            StorageFailed: it may not be kept.
        """
        async with self._changing:
            wishes = (await self._of_key(scope.user_key)).without(sender_id)
            if off:
                wishes = replace(wishes, off=wishes.off | {sender_id})
            elif not scope.shared and sender_id in await self.for_bot(scope):
                wishes = replace(wishes, on=wishes.on | {sender_id})
            if not scope.shared:
                return await self._write(scope.user_key, wishes)
            # Whatever fails in between, nobody is remembered against their wish: the bot's key is first to be off and
            # last to be on.
            if off:
                changed = await self._write(scope.user_key, wishes)
                return await self._clear_conversations(scope, sender_id, off=False) or changed
            changed = await self._clear_conversations(scope, sender_id, off=True)
            return await self._write(scope.user_key, wishes) or changed

    async def _clear_conversations(self, scope: Scope, sender_id: str, *, off: bool) -> bool:
        """Take a person's wishes for single conversations of the bot away: being off there too, or only being on."""
        found = False
        of_bot = bot_prefix(scope)
        for name in await self._storage.keys():
            part = name.removeprefix(_PREFIX)
            if part == name or not part.startswith((of_bot, "~")):
                continue
            try:
                raw = await self._storage.get(name)
                key, wishes = _Wishes.load(name, None, raw) if raw is not None else ("", _NONE)
            except StorageFailed as exc:
                if exc.reason != "profile_unreadable":
                    raise
                # Nobody is remembered there anyway until somebody has looked at it.
                logger.error("opt-outs unreadable: key=%s", name)
                continue
            if key.startswith(of_bot) and sender_id in (wishes.off if off else wishes.on):
                changed = wishes.without(sender_id) if off else replace(wishes, on=wishes.on - {sender_id})
                found |= await self._write(key, changed)
        return found

    async def _write(self, key: str, wishes: _Wishes) -> bool:
        """Keep wishes; returns whether they are others than before."""
        if wishes == self._known.get(key):
            return False
        # Until storage has answered, nobody knows which of the two it holds.
        self._forget(key)
        try:
            await self._storage.set(_PREFIX + short_part(key), wishes.dump(key))
        finally:
            self._forget(key)
        self._known[key] = wishes
        return True

    def _forget(self, key: str) -> None:
        self._known.pop(key, None)
        self._generation += 1

    async def _of_key(self, key: str) -> _Wishes:
        known = self._known.get(key)
        if known is not None:
            return known
        generation, name = self._generation, _PREFIX + short_part(key)
        raw = await self._storage.get(name)
        found = _NONE if raw is None else _Wishes.load(name, key, raw)[1]
        if generation == self._generation:
            self._known[key] = found
        # Somebody may have written meanwhile; their word is newer than what we were told.
        return self._known.get(key, found)
