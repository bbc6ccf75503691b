"""Who changed what and when, per conversation: one entry for each change, field names and numbers only.

A conversation's entries stand in blocks of eight. Sixty-four blocks are used in turn, so the newest 505 to 512
entries are kept, and an append writes one block of (nearly always) the same size, however old the log is. The
newest block is found again after a restart by bisection: the numbers of the blocks' first entries only fall
once, behind the newest. A block that cannot be read, damaged or of a newer plugin, is passed over and left as it is.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from weakref import WeakValueDictionary

from .audit_blocks import AUDIT_PREFIX, BLOCK_ENTRIES, BLOCKS, Block, NewerBlockError, block_key, block_prefix
from .errors import StorageFailed
from .ids import new_id
from .logs import get_logger
from .models import AuditEntry
from .ports import KeyValueStorage
from .scope import Scope, Speaker
from .text.times import iso
from .withdrawals import Withdrawal, Withdrawals

__all__ = ["AUDIT_PREFIX", "BLOCKS", "BLOCK_ENTRIES", "AuditLog"]

logger = get_logger(__name__)

_LOGS_MAX = 1_000
"""Conversations whose newest block is kept in memory."""
_READS_AT_ONCE = 16
_PENDING_MAX = 512
"""Entries of a conversation that wait for its log to be read, at most."""
_NAME_MAX = 40
"""Longest name of a sender in an entry, in characters."""


@dataclass(slots=True)
class _Log:
    """What is known of a conversation's log: its newest block, and the slots that a new block may go to.

    ``free`` are those that are empty or hold a readable block; of the others only storage can tell.
    """

    block: Block
    free: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class AuditTrail:
    """The log of a conversation.

    Attributes:
        entries: those that can be read, newest first.
        unreadable: blocks of up to eight entries that are damaged or of a newer plugin.
    """

    entries: list[AuditEntry]
    unreadable: int = 0


class AuditLog:
    """The audit logs of one installation.

    Args:
        storage: plugin storage.
        now: current time, UTC.
        withdrawals: who may not appear in it any more.
    """

    def __init__(
        self,
        storage: KeyValueStorage,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        withdrawals: Withdrawals | None = None,
    ) -> None:
        self._storage = storage
        self._now = now
        self._withdrawals = withdrawals or Withdrawals()
        self._newest: OrderedDict[str, _Log] = OrderedDict()
        self._unsaved: dict[tuple[str, int], Block] = {}
        self._pending: dict[str, list[AuditEntry]] = {}
        """Entries without a number yet: their log could not be read."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def unsaved(self) -> int:
        """Blocks that storage did not take yet, and logs that it did not give; the next append tries again."""
        return len(self._unsaved) + len(self._pending)

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
        began: int | None = None,
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
            began: as :meth:`append`.
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
            ),
            began=began,
        )

    async def append(self, entry: AuditEntry, *, began: int | None = None) -> None:
        """Add an entry; its id, number and time are set here.

        Storage that fails costs no change its success: the entry is kept and written with the next one.

        Args:
            entry: what was changed; ``scope_key`` says whose log it goes to.
            began: when the work that it is about began (:meth:`.withdrawals.Withdrawals.now`): somebody who was
                erased since is not named in it, and a space that was erased since gets none. ``None`` = just now.
        """
        scope_key = entry.scope_key
        began = self._withdrawals.now() if began is None else began
        async with self._lock(scope_key):
            allowed = self._allowed(entry, began)
            if allowed is None:
                return
            stamped = allowed.model_copy(update={"audit_id": new_id(), "at": iso(self._now())})
            # Until storage has it for sure it waits or counts as unsaved, also when we are cancelled here.
            waiting = self._pending.setdefault(scope_key, [])
            waiting.append(stamped)
            for lost in waiting[:-_PENDING_MAX]:
                logger.error("audit entry lost: scope_key=%s operation=%s", scope_key, lost.operation)
            del waiting[:-_PENDING_MAX]
            try:
                await self._number(scope_key)
            except StorageFailed as exc:
                logger.warning("audit entry not saved yet: scope_key=%s reason=%s", scope_key, exc.reason)
                return
            await self._save(scope_key)

    def _allowed(self, entry: AuditEntry, began: int) -> AuditEntry | None:
        """Return an entry as it may be kept, ``None`` when not at all; the log's lock is held."""
        keys = (entry.scope_key, entry.user_key)
        if self._withdrawals.since(began, (entry.scope_key,), "") is not None:
            return None
        for person in {entry.sender_id, entry.target_id} - {""}:
            if self._withdrawals.since(began, keys, person) is Withdrawal.ERASED:
                entry = entry.without(person)
        return entry

    async def entries(self, scope_key: str) -> list[AuditEntry]:
        """Return all entries that can be read of a conversation, newest first.

        Raises:
            StorageFailed: storage did not answer.
        """
        return (await self.trail(scope_key)).entries

    async def trail(self, scope_key: str) -> AuditTrail:
        """Return what is kept of a conversation, and how much of it cannot be read.

        Raises:
            StorageFailed: storage did not answer.
        """
        async with self._lock(scope_key):
            blocks, unreadable = await self._all(scope_key)
        found = [entry for block in reversed(blocks) for entry in reversed(block.entries)]
        return AuditTrail(found, len(unreadable))

    async def remove_person(self, scope_key: str, sender_id: str) -> int:
        """Take a person's id and name out of a conversation's log; returns how many entries held them.

        A block that is damaged goes as a whole: nobody can tell who is in it, nor read it.

        Raises:
            StorageFailed: storage did not answer, a read-back still shows them, or a block is of a newer plugin
                (``audit_newer``).
        """
        async with self._lock(scope_key):
            blocks, unreadable = await self._all(scope_key)
            changed = 0
            for block in blocks:
                held = [e.about(sender_id) for e in block.entries]
                if any(held):
                    cleaned = replace(block, entries=[e.without(sender_id) for e in block.entries])
                    await self._storage.set(block_key(scope_key, block.number), cleaned.dump(scope_key))
                    self._swap(scope_key, cleaned)
                    changed += sum(held)
            for slot, newer in unreadable.items():
                if newer:
                    raise StorageFailed("audit_newer", key=block_key(scope_key, slot))
                await self._storage.delete(block_key(scope_key, slot))
            blocks, unreadable = await self._scan(scope_key)
            left = sum(e.about(sender_id) for block in blocks for e in block.entries) + len(unreadable)
            if left:
                raise StorageFailed("delete_unverified", count=left)
            return changed

    def _swap(self, scope_key: str, block: Block) -> None:
        """Take over a block that storage has as it is now."""
        self._unsaved.pop((scope_key, block.number), None)
        log = self._newest.get(scope_key)
        if log is not None and log.block.number == block.number:
            log.block = block

    async def erase(self, scope_key: str) -> None:
        """Delete a conversation's log.

        Raises:
            StorageFailed: storage did not answer, or a read-back still shows a block.
        """
        async with self._lock(scope_key):
            self._newest.pop(scope_key, None)
            self._pending.pop(scope_key, None)
            for unsaved in [key for key in self._unsaved if key[0] == scope_key]:
                del self._unsaved[unsaved]
            prefix = block_prefix(scope_key)
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
                await self._storage.set(block_key(scope_key, number), block.dump(scope_key))
            except StorageFailed as exc:
                logger.warning("audit entry not saved yet: scope_key=%s reason=%s", scope_key, exc.reason)
                return
            del self._unsaved[key, number]

    async def _number(self, scope_key: str) -> None:
        """Put the entries that wait into blocks; the log's lock is held.

        Raises:
            StorageFailed: the log could not be read, or has no room; they go on waiting.
        """
        while waiting := self._pending.get(scope_key):
            log = await self._current(scope_key)
            if log.block.full or not log.block.entries:
                log.block = await self._next(scope_key, log)
            number = BLOCK_ENTRIES * log.block.number + len(log.block.entries) + 1
            log.block.entries.append(waiting.pop(0).model_copy(update={"number": number}))
            self._unsaved[scope_key, log.block.number] = log.block
        self._pending.pop(scope_key, None)

    async def _next(self, scope_key: str, log: _Log) -> Block:
        """Return a new block in the next slot that holds nothing which cannot be read.

        Raises:
            StorageFailed: storage did not answer, or there is no such slot (``audit_newer``).
        """
        first = log.block.number + bool(log.block.entries)
        for number in range(first, first + BLOCKS):
            slot = number % BLOCKS
            if slot not in log.free:
                try:
                    await self._read(scope_key, slot)
                except ValueError:
                    logger.error("audit block unreadable, passed over: key=%s", block_key(scope_key, slot))
                    continue
                log.free.add(slot)
            return Block(number)
        raise StorageFailed("audit_newer", key=block_key(scope_key, first))

    async def _current(self, scope_key: str) -> _Log:
        """Return what is known of the log, read when it is not; the log's lock is held.

        In a log that was never written the newest block is the first, without entries.
        """
        if scope_key not in self._newest:
            unsaved = [block for (key, _), block in self._unsaved.items() if key == scope_key]
            self._newest[scope_key] = _Log(unsaved[-1]) if unsaved else await self._found(scope_key)
        self._newest.move_to_end(scope_key)
        while len(self._newest) > _LOGS_MAX:
            self._newest.popitem(last=False)
        return self._newest[scope_key]

    async def _found(self, scope_key: str) -> _Log:
        """Return what storage has."""
        try:
            newest = first = await self._read(scope_key, 0)
            # Slots are used in turn: behind an empty one there is nothing.
            low, high, free = 0, BLOCKS - 1, set() if first else set(range(BLOCKS))
            while first and newest and low < high:
                middle = (low + high + 1) // 2
                block = await self._read(scope_key, middle)
                if block is not None and block.number > first.number:
                    newest, low = block, middle
                else:
                    high = middle - 1
                    if block is None:
                        free = set(range(middle, BLOCKS))
        except ValueError:
            # A block that cannot be read says nothing about the others; look at each of them.
            blocks, unreadable = await self._scan(scope_key)
            newest, free = (
                max(blocks, key=lambda b: b.number, default=None),
                set(range(BLOCKS)) - set(unreadable),
            )
        return _Log(newest or Block(0), free)

    async def _all(self, scope_key: str) -> tuple[list[Block], dict[int, bool]]:
        """Return all blocks that are kept, oldest first, and the slots that cannot be read (:meth:`_scan`).

        The log's lock is held.
        """
        log = await self._current(scope_key)
        await self._number(scope_key)
        newest, (blocks, unreadable) = log.block, await self._scan(scope_key)
        unsaved = {number: block for (key, number), block in self._unsaved.items() if key == scope_key}
        found = {b.number: b for b in blocks if newest.number - BLOCKS < b.number}
        found |= {newest.number: newest} | unsaved
        return [found[number] for number in sorted(found)], unreadable

    async def _scan(self, scope_key: str) -> tuple[list[Block], dict[int, bool]]:
        """Return the blocks that storage has, and the slots of those that cannot be read: whether a newer plugin
        wrote them.
        """
        reading = asyncio.Semaphore(_READS_AT_ONCE)
        prefix, unreadable = block_prefix(scope_key), dict[int, bool]()
        there = set(await self._storage.keys())
        slots = [slot for slot in range(BLOCKS) if block_key(scope_key, slot) in there]

        async def read(slot: int) -> Block | None:
            async with reading:
                try:
                    return await self._read(scope_key, slot)
                except ValueError as exc:
                    unreadable[slot] = isinstance(exc, NewerBlockError)
                    logger.error("audit block unreadable: key=%s", f"{prefix}{slot:02d}")
                    return None

        return [b for b in await asyncio.gather(*map(read, slots)) if b is not None], unreadable

    async def _read(self, scope_key: str, slot: int) -> Block | None:
        """Return a block, ``None`` when there is none.

        Raises:
            ValueError: it cannot be read.
            StorageFailed: storage did not answer.
        """
        raw = await self._storage.get(block_key(scope_key, slot))
        return None if raw is None else Block.load(raw, scope_key)

    def _lock(self, scope_key: str) -> asyncio.Lock:
        return self._locks.setdefault(scope_key, asyncio.Lock())
