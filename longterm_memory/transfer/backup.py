"""The whole memory of an installation, taken out and brought back: the way out when an embedding model retires.

A backup holds every memory of every space, whatever its status, and all profiles, as documents that import on their
own. Making one needs no embedding model; restoring one embeds with the model of the knowledge base it goes to. Once
a knowledge base is deleted the host lets nobody read its vectors any more, so a backup comes before that.

One backup can be kept in plugin storage, which survives the knowledge base and the plugin. What is forgotten goes
from the kept backup too.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..errors import LongTermMemoryError, NotFound, StorageFailed
from ..logs import get_logger
from ..reach import keys_of, reached, said_in
from ..scope import Scope, Speaker
from ..text.times import iso
from .backup_rows import rows_of, user_keys
from .backup_storage import KEPT, MAKING, BackupStorage, Making, Manifest, Position
from .exporting import Packer, escaped
from .importing import ImportReport, import_file

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["PART_CHARS", "Backups", "Keeping", "KeptBackup", "Restoring", "backup"]

logger = get_logger(__name__)

PART_CHARS = 900_000
"""Longest part, in bytes of an answer that holds it (:func:`.exporting.escaped`): the console answers 1 MB at most."""
_RESUMED_FOR = timedelta(days=1)
"""How old one that was begun may be to be gone on with."""

Progress = Callable[[int, int], None]


async def backup(service: MemoryService, spaces: Iterable[Scope] | None = None) -> AsyncIterator[str]:
    """Yield the whole memory in documents of at most :data:`PART_CHARS`, one scope after the other.

    Args:
        service: the installation's memory.
        spaces: whose memories; each user key is read once. ``None`` = every one that was ever written to.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: it could not be read whole, or a profile is unreadable.
    """
    packer = Packer(PART_CHARS, measure=escaped)
    for key in await user_keys(service, spaces):
        rows, unread = await rows_of(service, key)
        for name, row in rows:
            for text in packer.add(name, row):
                yield text
        if unread:
            raise unread[0]
    for text in packer.rest():
        yield text


# ---------------------------------------------------------------- the kept one


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """The backup in plugin storage.

    Attributes:
        made_at: when it was begun, ``2026-05-01T10:00:00Z``.
        episodes: memories in it.
        profiles: profiles in it.
        unread: profiles that could not be read and are not in it.
        parts: values in storage.
        size: their bytes together.
        kb_id: knowledge base that it was made of.
    """

    made_at: str
    episodes: int
    profiles: int
    unread: int
    parts: int
    size: int
    kb_id: str

    @classmethod
    def of(cls, manifest: Manifest) -> KeptBackup:
        """Describe a backup by its manifest."""
        return cls(
            manifest.made_at,
            manifest.episodes,
            manifest.profiles,
            manifest.unread,
            len(manifest.parts),
            sum(part.bytes for part in manifest.parts),
            manifest.kb_id,
        )


@dataclass(frozen=True, slots=True)
class Keeping:
    """How making a backup went: the backup, or how many user keys are left for the next call."""

    kept: KeptBackup | None
    remaining: int = 0


@dataclass(frozen=True, slots=True)
class Restoring:
    """How restoring went.

    Attributes:
        report: what this call brought in; ``remaining`` counts rows of the part that it ended in.
        part: parts that are done.
        parts: parts in all.
    """

    report: ImportReport
    part: int
    parts: int

    @property
    def done(self) -> bool:
        """Whether everything is restored."""
        return self.part >= self.parts


class Backups:
    """The backup that an installation keeps in plugin storage.

    Args:
        service: the installation's memory.
    """

    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._storage = BackupStorage(service.host.storage)
        self._lock = asyncio.Lock()
        """Held while a backup is made or restored, so that what is forgotten meanwhile is forgotten there too."""
        self._keys: frozenset[str] | None = None
        """User keys and conversations that are in it, as far as known; most forgets then cost nothing here."""

    async def kept(self) -> KeptBackup | None:
        """Return what is kept, ``None`` when nothing is.

        Raises:
            StorageFailed: it cannot be told, or ``backup_unreadable``.
        """
        manifest = await self._storage.manifest(KEPT)
        return KeptBackup.of(manifest) if manifest else None

    async def part(self, number: int) -> str:
        """Return one part of the kept backup as text, to take out of the host.

        Args:
            number: from 1 to :attr:`KeptBackup.parts`.

        Raises:
            NotFound: ``backup_missing``.
            StorageFailed: ``storage_down``, or ``backup_unreadable``.
        """
        manifest = await self._storage.manifest(KEPT)
        if manifest is None or not 1 <= number <= len(manifest.parts):
            raise NotFound("backup_missing")
        return await self._storage.text(manifest, number - 1)

    async def keep(
        self,
        spaces: Iterable[Scope] | None = None,
        *,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> Keeping:
        """Make a backup; it takes the place of the one before once it is whole.

        Args:
            spaces: as :func:`backup`.
            seconds: time after which no further user key is read; at least one is. The next call goes on.
            progress: told (user keys done, user keys in all).

        Raises:
            NotConfigured, StoreFailed, StorageFailed: the backup before is still there; repeating goes on.
        """
        late = self._deadline(seconds)
        async with self._lock:
            keys = await user_keys(self._service, spaces)
            work = Making(self._storage, PART_CHARS, await self._begun())
            for key in [key for key in keys if key not in work.manifest.done]:
                if work.read and late():
                    break
                rows, unread = await rows_of(self._service, key)
                for problem in unread:
                    logger.error("backup lacks a profile: key=%s", problem.details.get("key"))
                await work.add(key, rows, len(unread))
                if progress is not None:
                    progress(len(work.manifest.done) + len(work.finished), len(keys))
            await work.save()
            left = sum(key not in work.manifest.done for key in keys)
            if left:
                return Keeping(None, left)
            made = work.manifest.model_copy(update={"done": []})
            await self._storage.finish(made)
        kept = KeptBackup.of(made)
        logger.info(
            "backup kept: kb_id=%s episodes=%d profiles=%d unread=%d parts=%d bytes=%d",
            kept.kb_id,
            kept.episodes,
            kept.profiles,
            kept.unread,
            kept.parts,
            kept.size,
        )
        return Keeping(kept)

    async def _begun(self) -> Manifest:
        """Return the backup that is being made of the knowledge base in use, a new one when there is none."""
        base = await self._service.knowledge_bases.require()
        self._keys = None
        now = self._service.now()
        try:
            making, kept = await self._storage.manifest(MAKING), await self._storage.manifest(KEPT)
        except StorageFailed as exc:
            if exc.reason != "backup_unreadable":
                raise
            making = kept = None
        if (
            making is not None
            and making.kb_id == base.id
            and making.made_at >= iso(now - _RESUMED_FOR)
            # One that was finished, only not cleared away.
            and (kept is None or kept.generation != making.generation)
        ):
            return making
        return Manifest(generation=secrets.token_hex(4), made_at=iso(now), kb_id=base.id)

    async def restore(self, *, seconds: float | None = None, progress: Progress | None = None) -> Restoring:
        """Bring the kept backup into the knowledge base in use; repeating goes on where it ended.

        Args:
            seconds: time after which no batch is begun any more; at least one is.
            progress: told (rows done, rows to do) of each part.

        Returns:
            How it went; ``report.error`` says why it stopped.

        Raises:
            NotFound: ``backup_missing``.
            NotConfigured, StorageFailed: nothing could be begun.
        """
        late, report = self._deadline(seconds), ImportReport()
        until = None if seconds is None else self._service.clock() + seconds
        while True:
            # Between two parts whoever has to forget something gets their turn.
            async with self._lock:
                manifest, position = await self._place()
                if position.part >= len(manifest.parts):
                    await self._storage.moved(None)
                    break
                left = None if until is None else max(0.0, until - self._service.clock())
                report = _added(report, await self._restored(manifest, position.part, left, progress))
                if report.remaining or report.error:
                    break
                position.part += 1
                await self._storage.moved(position)
            if late() and position.part < len(manifest.parts):
                break
        return Restoring(report, position.part, len(manifest.parts))

    async def _place(self) -> tuple[Manifest, Position]:
        """Return the kept backup, and how far it is restored into the knowledge base in use."""
        manifest = await self._storage.manifest(KEPT)
        if manifest is None:
            raise NotFound("backup_missing")
        base = await self._service.knowledge_bases.require()
        start = Position(generation=manifest.generation, kb_id=base.id)
        return manifest, await self._storage.position(start)

    async def _restored(
        self, manifest: Manifest, part: int, seconds: float | None, progress: Progress | None
    ) -> ImportReport:
        try:
            text = await self._storage.text(manifest, part)
            settings = await self._service.settings()
        except LongTermMemoryError as exc:
            return ImportReport(error=exc)
        report = await import_file(
            self._service,
            text.encode(),
            into=None,
            isolation=settings.isolation,
            seconds=seconds,
            progress=progress,
        )
        if report.error is not None and report.error.reason == "file_without_rows":
            # All of it was forgotten since, or is of people who opted out.
            return replace(report, error=None)
        return report

    async def drop(self) -> bool:
        """Delete the kept backup; returns whether there was one.

        Raises:
            StorageFailed: some of it may still be there.
        """
        async with self._lock:
            found = await self._storage.drop()
            self._keys = frozenset()
            return found

    def _deadline(self, seconds: float | None) -> Callable[[], bool]:
        clock = self._service.clock
        until = None if seconds is None else clock() + seconds
        return lambda: until is not None and clock() >= until

    # ------------------------------------------------------------ forgetting

    async def forget_episodes(self, user_key: str, episode_ids: Iterable[str]) -> int:
        """Take forgotten memories out of the kept backup; returns how many were in it.

        Raises:
            StorageFailed: some may still be in it.
        """
        ids = frozenset(episode_ids)
        return await self._forget({user_key}, lambda r: r.get("user_key") == user_key and r.get("id") in ids)

    async def forget_speaker(self, scope: Scope, sender_id: str) -> int:
        """Take what is of a speaker in a space, memories and profile, out of the kept backup; of their own private
        chat the chat's profile as well.

        Raises:
            StorageFailed: some may still be in it.
        """
        own_chat = scope.is_private(Speaker(sender_id))

        def meant(row: Mapping[str, Any]) -> bool:
            if "user_key" in row:
                return row.get("sender_id") == sender_id and reached(
                    scope, str(row["user_key"]), str(row.get("session_name", ""))
                )
            mine = row.get("sender_id") == sender_id or (own_chat and not row.get("sender_id"))
            return row.get("scope_key") == scope.scope_key and mine

        return await self._forget(None if scope.shared else set(keys_of(scope)), meant)

    async def forget_space(self, scope: Scope) -> int:
        """Take a space out of the kept backup: its profiles, and the memories that were said in it.

        Raises:
            StorageFailed: some may still be in it.
        """
        return await self._forget(
            set(keys_of(scope)), lambda r: said_in(scope, str(_key(r)), str(r.get("session_name", "")))
        )

    async def forget_person(self, sender_id: str) -> int:
        """Take everything of a person, in whatever space, out of the kept backup.

        Raises:
            StorageFailed: some may still be in it.
        """
        return await self._forget(None, lambda r: r.get("sender_id") == sender_id)

    async def _forget(self, keys: set[str] | None, meant: Callable[[Mapping[str, Any]], bool]) -> int:
        if self._keys is not None and (not self._keys or (keys is not None and not keys & self._keys)):
            return 0
        async with self._lock:
            # Until all of it is done nothing is known: the next call looks again, and sweeps what this one left.
            self._keys = None
            try:
                found = sum([await self._storage.remove(name, keys, meant) for name in (KEPT, MAKING)])
                await self._storage.sweep()
                self._keys = await self._storage.keys()
            except StorageFailed as exc:
                if exc.reason != "backup_unreadable":
                    raise
                # Without its manifest nobody can restore it, nor tell what is in it.
                logger.error("kept backup dropped: reason=%s", exc.reason)
                await self._storage.drop()
                self._keys, found = frozenset(), 0
            return found


def _key(row: Mapping[str, Any]) -> object:
    return row.get("user_key", row.get("scope_key"))


def _added(before: ImportReport, one: ImportReport) -> ImportReport:
    return replace(
        one,
        accepted=before.accepted + one.accepted,
        skipped=before.skipped + one.skipped,
        rejected=(*before.rejected, *one.rejected),
        profiles=before.profiles + one.profiles,
        ignored_profiles=before.ignored_profiles + one.ignored_profiles,
        notes=(*before.notes, *one.notes),
        places=(*before.places, *one.places),
    )
