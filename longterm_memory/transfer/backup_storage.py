"""The kept backup as it lies in plugin storage: compressed parts, and a manifest that says what belongs together.

A part never changes: what is written anew gets a key of its own, and the old one goes once the manifest names the
new. So a backup is whole at every moment, and one that is damaged is found out by its hashes.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ..errors import StorageFailed
from ..logs import get_logger
from ..ports import KeyValueStorage
from .exporting import Packer, escaped, to_json

__all__ = ["KEPT", "MAKING", "BackupStorage", "Making", "Manifest", "Part", "Position", "Row"]

logger = get_logger(__name__)

_PREFIX = "ltm/backup/"
KEPT, MAKING, RESTORING = f"{_PREFIX}kept", f"{_PREFIX}making", f"{_PREFIX}restoring"
"""Storage keys of the manifest of the kept backup, of one that is being made, and of how far a restore came."""
Row = tuple[str, Mapping[str, object]]
"""Name of the list that a row is in, and the row."""
_SCHEMA = 1
_UNPACKED_MAX = 50_000_000
"""Longest part in bytes once unpacked; ours stay far below."""


class Part(BaseModel):
    """A part as it is kept: its storage key, size and hash, and whose memories and profiles are in it."""

    key: str
    bytes: int
    sha256: str
    keys: list[str]


class Manifest(BaseModel):
    """What a backup consists of; while it is being made, with the user keys that are done."""

    schema_version: int = _SCHEMA
    generation: str
    made_at: str
    kb_id: str
    episodes: int = 0
    profiles: int = 0
    unread: int = 0
    parts: list[Part] = Field(default_factory=list)
    done: list[str] = Field(default_factory=list)


class Position(BaseModel):
    """How far a restore of a backup into a knowledge base has come."""

    generation: str
    kb_id: str
    part: int = 0


class BackupStorage:
    """Reads and writes manifests and parts.

    Args:
        storage: plugin storage.
    """

    def __init__(self, storage: KeyValueStorage) -> None:
        self._storage = storage

    async def manifest(self, name: str) -> Manifest | None:
        """Return a manifest, ``None`` when there is none.

        Raises:
            StorageFailed: ``storage_down``, ``backup_unreadable``, or ``backup_newer`` when a newer plugin made it.
        """
        raw = await self._storage.get(name)
        if raw is None:
            return None
        if _version(raw) > _SCHEMA:
            raise StorageFailed("backup_newer")
        try:
            manifest = Manifest.model_validate_json(raw)
            if manifest.schema_version < 1:
                raise ValueError("of no version")
        except (ValueError, ValidationError) as exc:
            raise StorageFailed("backup_unreadable", part=0) from exc
        return manifest

    async def save(self, name: str, manifest: Manifest) -> None:
        """Write a manifest.

        Raises:
            StorageFailed: it may not be kept.
        """
        await self._storage.set(name, manifest.model_dump_json().encode())

    async def put(self, text: str, generation: str, keys: list[str]) -> Part:
        """Write a part.

        Raises:
            StorageFailed: it may not be kept.
        """
        data = zlib.compress(text.encode("utf-8", "replace"))
        key = f"{_PREFIX}{generation}/{secrets.token_hex(4)}"
        await self._storage.set(key, data)
        return Part(key=key, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), keys=keys)

    async def text(self, manifest: Manifest, number: int) -> str:
        """Return a part.

        Raises:
            StorageFailed: ``storage_down``, or ``backup_unreadable`` when it is not what was written.
        """
        part = manifest.parts[number]
        data = await self._storage.get(part.key)
        if data is None or hashlib.sha256(data).hexdigest() != part.sha256:
            raise StorageFailed("backup_unreadable", part=number + 1)
        return zlib.decompressobj().decompress(data, _UNPACKED_MAX).decode()

    async def keys(self) -> frozenset[str]:
        """Return whose memories and profiles are in the kept backup and in one that is being made.

        Raises:
            StorageFailed: ``storage_down`` or ``backup_unreadable``.
        """
        found = [await self.manifest(name) for name in (KEPT, MAKING)]
        return frozenset(
            key for manifest in found if manifest for part in manifest.parts for key in part.keys
        )

    async def remove(
        self, name: str, keys: set[str] | None, meant: Callable[[Mapping[str, Any]], bool]
    ) -> int:
        """Take rows out of a backup; returns how many were in it.

        A part that cannot be read, and so cannot be restored either, goes as a whole.

        Args:
            name: which manifest.
            keys: user keys and conversations that the rows may belong to, ``None`` = any.
            meant: tells them.

        Raises:
            StorageFailed: some may still be in it; ``backup_unreadable`` when the manifest is damaged,
                ``backup_newer`` when a newer plugin made it. What was taken out before is still there as a part
                that no manifest names, until :meth:`sweep`.
        """
        manifest = await self.manifest(name)
        if manifest is None:
            return 0
        found, parts, changed = 0, list[Part](), 0
        for number, part in enumerate(manifest.parts):
            if keys is not None and not keys.intersection(part.keys):
                parts.append(part)
                continue
            kept, removed = await self._without(manifest, number, meant)
            parts += [kept] if kept else []
            found += removed
            changed += kept is not part
        if changed:
            if len(parts) < len(manifest.parts):
                await self.moved(None)  # it counts parts
            manifest.parts = parts
            await self.save(name, manifest)
            logger.info("backup rewritten: parts=%d rows=%d", changed, found)
        return found

    async def sweep(self) -> None:
        """Delete every part that no manifest names: those that were rewritten, and what an interruption left over.

        Not while a backup is made: its newest parts are named last.

        Raises:
            StorageFailed: some may still be there; ``backup_unreadable`` or ``backup_newer``: it cannot be told.
        """
        manifests = [await self.manifest(name) for name in (KEPT, MAKING)]
        named = {part.key for manifest in manifests if manifest for part in manifest.parts}
        await self._delete([key for key in await self._ours() if "/" in key.removeprefix(_PREFIX)], named)

    async def _without(
        self, manifest: Manifest, number: int, meant: Callable[[Mapping[str, Any]], bool]
    ) -> tuple[Part | None, int]:
        """Return a part without some rows: the same when it has none of them, ``None`` when it is damaged."""
        part = manifest.parts[number]
        try:
            whole = json.loads(await self.text(manifest, number))
        except StorageFailed as exc:
            if exc.reason != "backup_unreadable":
                raise
            logger.error("damaged part of the backup dropped: part=%d", number + 1)
            return None, 0
        rows = {n: [r for r in whole.get(n, []) if not meant(r)] for n in ("episodes", "profiles")}
        counts = {n: len(whole.get(n, [])) - len(rows[n]) for n in rows}
        if not any(counts.values()):
            return part, 0
        manifest.episodes -= counts["episodes"]
        manifest.profiles -= counts["profiles"]
        return await self.put(to_json(whole | rows), manifest.generation, part.keys), sum(counts.values())

    async def finish(self, made: Manifest) -> None:
        """Let a backup that is whole take the place of the one before, whose parts go.

        Raises:
            StorageFailed: one of the two is kept.
        """
        await self.save(KEPT, made)
        await self._delete(await self._ours(), {KEPT, *(part.key for part in made.parts)})

    async def position(self, start: Position) -> Position:
        """Return how far a restore has come; ``start`` for another backup or knowledge base.

        Raises:
            StorageFailed: ``storage_down``.
        """
        try:
            found = Position.model_validate_json(await self._storage.get(RESTORING) or b"")
        except ValidationError:
            return start
        return found if found.model_copy(update={"part": 0}) == start else start

    async def moved(self, position: Position | None) -> None:
        """Note how far a restore has come; ``None`` = it is over.

        Raises:
            StorageFailed: ``storage_down``.
        """
        if position is None:
            await self._storage.delete(RESTORING)
        else:
            await self._storage.set(RESTORING, position.model_dump_json().encode())

    async def drop(self) -> bool:
        """Delete everything; returns whether there was anything.

        Raises:
            StorageFailed: some of it may still be there.
        """
        keys = await self._ours()
        # The manifest goes last: what an interruption leaves over is found again.
        for key in sorted(keys, key=lambda k: k == KEPT):
            await self._storage.delete(key)
        left = await self._ours()
        if left:
            raise StorageFailed("delete_unverified", count=len(left))
        return bool(keys)

    async def _delete(self, keys: list[str], kept: set[str]) -> None:
        for key in keys:
            if key not in kept:
                await self._storage.delete(key)

    async def _ours(self) -> list[str]:
        return [key for key in await self._storage.keys() if key.startswith(_PREFIX)]


def _version(raw: bytes) -> int:
    """Return the version that a value says it has, 0 when it says none."""
    try:
        return int(json.loads(raw)["schema_version"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0


class Making:
    """A backup while it is made: rows packed into parts that know whose they are.

    Args:
        storage: where parts go.
        part_chars: most characters of a part.
        manifest: what is done already.
    """

    def __init__(self, storage: BackupStorage, part_chars: int, manifest: Manifest) -> None:
        self.manifest = manifest
        self.finished: list[str] = []
        """User keys that are read but not noted as done yet."""
        self.read = 0
        self._storage = storage
        self._large = part_chars // 2
        self._packer = Packer(part_chars, measure=escaped)
        self._keys: dict[str, None] = {}
        self._counts = {"episodes": 0, "profiles": 0, "unread": 0}

    async def add(self, key: str, rows: Iterable[Row], unread: int) -> None:
        """Take all rows of a user key."""
        for name, row in rows:
            for text in self._packer.add(name, row):
                await self._put(text)
            self._keys[str(row["user_key" if name == "episodes" else "scope_key"])] = None
            self._counts[name] += 1
        self._counts["unread"] += unread
        self.finished.append(key)
        self.read += 1
        if self._packer.size > self._large:
            await self.save()

    async def save(self) -> None:
        """Write what is packed, and note which user keys are done."""
        for text in self._packer.rest():
            await self._put(text)
        if self.finished:
            self.manifest.done += self.finished
            self.manifest.episodes += self._counts["episodes"]
            self.manifest.profiles += self._counts["profiles"]
            self.manifest.unread += self._counts["unread"]
            self.finished, self._counts = [], dict.fromkeys(self._counts, 0)
            await self._storage.save(MAKING, self.manifest)

    async def _put(self, text: str) -> None:
        self.manifest.parts.append(await self._storage.put(text, self.manifest.generation, list(self._keys)))
        self._keys = {}
