"""Who changed what and when, per conversation: one entry for each change, field names and numbers only.

A conversation's entries stand in blocks of eight. Sixty-four blocks are used in turn, so the newest 505 to 512
entries are kept, and an append writes one block of (nearly always) the same size, however old the log is. The
newest block is found again after a restart by bisection: the numbers of the blocks' first entries only fall
once, behind the newest.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from pydantic import ValidationError

from .errors import StorageFailed
from .ids import new_id
from .logs import get_logger
from .models import AuditEntry
from .ports import KeyValueStorage
from .scope import Scope, Speaker
from .storage_keys import short_part
from .text.times import iso

__all__ = ["AUDIT_PREFIX", "BLOCKS", "BLOCK_ENTRIES", "AuditLog"]

logger = get_logger(__name__)

AUDIT_PREFIX = "ltm/audit/"
BLOCK_ENTRIES = 8
BLOCKS = 64
_PADDED = 4_096
"""Blocks are filled up to a multiple of this many bytes; eight usual entries need about 3 000."""
_SCHEMA = 1
_LOGS_MAX = 1_000
"""Conversations whose newest block is kept in memory."""
_READS_AT_ONCE = 16
_NAME_MAX = 40
"""Longest name of a sender in an entry, in characters."""


@dataclass(slots=True)
class _Block:
    """Up to eight entries with consecutive numbers, oldest first."""

    number: int
    """From 0; its first entry has the number ``8 * number + 1``."""
    entries: list[AuditEntry] = field(default_factory=list)

    @property
    def full(self) -> bool:
        return len(self.entries) >= BLOCK_ENTRIES

    def dump(self, scope_key: str) -> bytes:
        rows = [e.model_dump(exclude={"scope_key"}, exclude_defaults=True) for e in self.entries]
        data = {"schema_version": _SCHEMA, "scope_key": scope_key, "number": self.number, "entries": rows}
        raw = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return raw.ljust(-(-len(raw) // _PADDED) * _PADDED)

    @classmethod
    def load(cls, raw: bytes, scope_key: str) -> _Block:
        """Read a block.

        Raises:
            ValueError: it is none, is of a newer version, or belongs to another conversation.
        """
        try:
            data = json.loads(raw)
            if data["scope_key"] != scope_key or not 1 <= int(data["schema_version"]) <= _SCHEMA:
                raise ValueError("belongs elsewhere, or written by another version")
            rows = [AuditEntry.model_validate({**row, "scope_key": scope_key}) for row in data["entries"]]
            return cls(int(data["number"]), rows)
        except (TypeError, KeyError, AttributeError, RecursionError, ValidationError) as exc:
            raise ValueError("no block") from exc


class AuditLog:
    """The audit logs of one installation.

    Args:
        storage: plugin storage.
        now: current time, UTC.
    """

    def __init__(
        self, storage: KeyValueStorage, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._storage = storage
        self._now = now
        self._newest: OrderedDict[str, _Block] = OrderedDict()
        self._unsaved: dict[tuple[str, int], _Block] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def unsaved(self) -> int:
        """Blocks that storage did not take yet; the next append tries again."""
        return len(self._unsaved)

    async def note(
        self,
        scope: Scope,
        operation: str,
        via: str,
        target: tuple[str, str],
        summary: Mapping[str, int | str] | None = None,
        *,
        sender: Speaker = Speaker(),  # noqa: B008 - frozen
        query_id: str = "",
    ) -> None:
        """Add an entry about a change.

        Args:
            scope: where; the memories of a whole bot have a log of their own.
            operation: what was done.
            via: the front end.
            target: type and id of what it was done to.
            summary: field names, counts and lengths; never content.
            sender: who did it, as far as it was somebody.
            query_id: the host's id of the message.
        """
        await self.append(
            AuditEntry(
                operation=operation,
                via=via,
                scope_key=scope.scope_key if scope.session_name else scope.user_key,
                user_key=scope.user_key,
                sender_id=sender.id,
                sender_name=sender.name[:_NAME_MAX],
                target_type=target[0],
                target_id=target[1],
                query_id=query_id,
                summary=dict(summary or {}),
            )
        )

    async def append(self, entry: AuditEntry) -> None:
        """Add an entry; its id, number and time are set here.

        Storage that fails costs no change its success: the entry is kept and written with the next one.

        Args:
            entry: what was changed; ``scope_key`` says whose log it goes to.
        """
        scope_key = entry.scope_key
        async with self._lock(scope_key):
            try:
                block = await self._current(scope_key)
            except StorageFailed as exc:
                logger.error(
                    "audit entry lost: scope_key=%s operation=%s reason=%s",
                    scope_key,
                    entry.operation,
                    exc.reason,
                )
                return
            if block.full:
                block = _Block(block.number + 1)
            number = BLOCK_ENTRIES * block.number + len(block.entries) + 1
            stamped = {"audit_id": new_id(), "number": number, "at": iso(self._now())}
            block.entries.append(entry.model_copy(update=stamped))
            self._keep(scope_key, block)
            # Until storage has it for sure it counts as unsaved, also when we are cancelled here.
            self._unsaved[scope_key, block.number] = block
            await self._save(scope_key)

    async def entries(self, scope_key: str) -> list[AuditEntry]:
        """Return all entries that are kept of a conversation, newest first.

        Raises:
            StorageFailed: storage did not answer. Blocks that cannot be read are left out and logged.
        """
        async with self._lock(scope_key):
            blocks = await self._all(scope_key)
        return [entry for block in reversed(blocks) for entry in reversed(block.entries)]

    async def remove_person(self, scope_key: str, sender_id: str) -> int:
        """Take a person's id and name out of a conversation's log; returns how many entries held them.

        Raises:
            StorageFailed: storage did not answer, or a read-back still shows them.
        """
        async with self._lock(scope_key):
            changed = 0
            for block in await self._all(scope_key):
                held = [e.about(sender_id) for e in block.entries]
                if any(held):
                    changed += sum(held)
                    block.entries = [e.without(sender_id) for e in block.entries]
                    await self._storage.set(_key(scope_key, block.number), block.dump(scope_key))
            self._newest.pop(scope_key, None)
            left = sum(e.about(sender_id) for block in await self._all(scope_key) for e in block.entries)
            if left:
                raise StorageFailed("delete_unverified", count=left)
            return changed

    async def erase(self, scope_key: str) -> None:
        """Delete a conversation's log.

        Raises:
            StorageFailed: storage did not answer, or a read-back still shows a block.
        """
        async with self._lock(scope_key):
            self._newest.pop(scope_key, None)
            for unsaved in [key for key in self._unsaved if key[0] == scope_key]:
                del self._unsaved[unsaved]
            prefix = f"{AUDIT_PREFIX}{short_part(scope_key)}/"
            # The first block goes last: while it is there, what an interruption leaves over is found.
            for key in sorted((k for k in await self._storage.keys() if k.startswith(prefix)), reverse=True):
                await self._storage.delete(key)
            left = [k for k in await self._storage.keys() if k.startswith(prefix)]
            if left:
                raise StorageFailed("delete_unverified", count=len(left))

    # ------------------------------------------------------------ blocks

    async def _save(self, scope_key: str) -> None:
        for key, number in [k for k in self._unsaved if k[0] == scope_key]:
            block = self._unsaved[key, number]
            try:
                await self._storage.set(_key(scope_key, number), block.dump(scope_key))
            except StorageFailed as exc:
                logger.warning("audit entry not saved yet: scope_key=%s reason=%s", scope_key, exc.reason)
                return
            del self._unsaved[key, number]

    async def _current(self, scope_key: str) -> _Block:
        """Return the newest block, a new one when there is none; the log's lock is held."""
        if scope_key not in self._newest:
            unsaved = [block for (key, _), block in self._unsaved.items() if key == scope_key]
            self._keep(scope_key, unsaved[-1] if unsaved else await self._found(scope_key))
        self._newest.move_to_end(scope_key)
        return self._newest[scope_key]

    async def _found(self, scope_key: str) -> _Block:
        """Return the newest block that storage has."""
        try:
            newest = first = await self._read(scope_key, 0)
            low, high = 0, BLOCKS - 1
            while first and newest and low < high:
                middle = (low + high + 1) // 2
                block = await self._read(scope_key, middle)
                if block is not None and block.number > first.number:
                    newest, low = block, middle
                else:
                    high = middle - 1
        except ValueError:
            # A block that cannot be read says nothing about the others; look at each of them.
            newest = max(await self._scan(scope_key), key=lambda b: b.number, default=None)
        return newest or _Block(0)

    async def _all(self, scope_key: str) -> list[_Block]:
        """Return all blocks that are kept, oldest first; the log's lock is held."""
        newest = await self._current(scope_key)
        unsaved = {number: block for (key, number), block in self._unsaved.items() if key == scope_key}
        found = {b.number: b for b in await self._scan(scope_key) if newest.number - BLOCKS < b.number}
        found |= {newest.number: newest} | unsaved
        return [found[number] for number in sorted(found)]

    async def _scan(self, scope_key: str) -> list[_Block]:
        reading = asyncio.Semaphore(_READS_AT_ONCE)

        async def read(slot: int) -> _Block | None:
            async with reading:
                try:
                    return await self._read(scope_key, slot)
                except ValueError:
                    logger.error("audit block unreadable: key=%s", _key(scope_key, slot))
                    return None

        return [b for b in await asyncio.gather(*map(read, range(BLOCKS))) if b is not None]

    async def _read(self, scope_key: str, slot: int) -> _Block | None:
        """Return a block, ``None`` when there is none.

        Raises:
            ValueError: it cannot be read.
            StorageFailed: storage did not answer.
        """
        raw = await self._storage.get(_key(scope_key, slot))
        return None if raw is None else _Block.load(raw, scope_key)

    def _keep(self, scope_key: str, block: _Block) -> None:
        self._newest[scope_key] = block
        self._newest.move_to_end(scope_key)
        while len(self._newest) > _LOGS_MAX:
            self._newest.popitem(last=False)

    def _lock(self, scope_key: str) -> asyncio.Lock:
        return self._locks.setdefault(scope_key, asyncio.Lock())


def _key(scope_key: str, number: int) -> str:
    return f"{AUDIT_PREFIX}{short_part(scope_key)}/{number % BLOCKS:02d}"
