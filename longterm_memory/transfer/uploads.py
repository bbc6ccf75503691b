"""Files that an operator uploads in the knowledge-base UI, and taking one out again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import BadArgument, LongTermMemoryError, StorageFailed
from ..logs import get_logger
from ..models import KEPT_STATUSES, Filters
from ..scope import Scope
from .reading import Rejected, Row, read_file, read_row

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["UploadReport", "delete_upload", "upload"]

logger = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class UploadReport:
    """What became of an upload.

    Attributes:
        accepted: rows stored.
        skipped: rows that were there already.
        rejected: rows not taken, with line and reason.
        error: why the upload stopped or was not readable at all; ``None`` when it went through.
    """

    accepted: int = 0
    skipped: int = 0
    rejected: tuple[Rejected, ...] = ()
    error: LongTermMemoryError | None = None

    @property
    def ok(self) -> bool:
        """Whether the file was taken in (single rows may have been rejected)."""
        return self.error is None and (self.accepted > 0 or self.skipped > 0)


def _key(document_id: str) -> str:
    return f"ltm/document/{document_id}"


async def upload(service: MemoryService, data: bytes, document_id: str) -> UploadReport:
    """Take in a file of episodes; can be repeated without duplicates. Never raises one of our errors.

    Args:
        service: the installation's memory.
        data: the file.
        document_id: the host's id of the upload.
    """
    accepted = skipped = 0
    rejected: tuple[Rejected, ...] = ()
    try:
        settings = await service.settings()
        judged = [
            read_row(line, raw, isolation=settings.isolation, document_id=document_id)
            for line, raw in read_file(data)
        ]
        rejected = tuple(row for row in judged if isinstance(row, Rejected))
        for row in rejected[:50]:
            logger.warning(
                "import row rejected: document_id=%s line=%d reason=%s",
                document_id,
                row.line,
                row.reason.reason,
            )
        scopes = _by_scope([row for row in judged if isinstance(row, Row)])
        if not scopes:
            raise BadArgument("file_without_rows", rejected=len(rejected))
        # Noted before anything is written, so that an upload that dies half-way can still be taken out.
        keys = dict.fromkeys([*await _user_keys(service, document_id), *scopes])
        await service.host.storage.set(_key(document_id), json.dumps({"user_keys": list(keys)}).encode())
        episodes = service.episodes(await service.collection())
        for rows in scopes.values():
            stored, known = await episodes.add_many(
                rows[0].scope, [row.draft for row in rows], [r.scope for r in rows]
            )
            accepted, skipped = accepted + len(stored), skipped + known
    except LongTermMemoryError as exc:
        logger.warning(
            "import stopped: document_id=%s accepted=%d reason=%s", document_id, accepted, exc.reason
        )
        return UploadReport(accepted, skipped, rejected, exc)
    reasons = Counter(row.reason.reason for row in rejected)
    logger.info(
        "import finished: document_id=%s accepted=%d skipped=%d rejected=%s",
        document_id,
        accepted,
        skipped,
        dict(reasons),
    )
    return UploadReport(accepted, skipped, rejected)


def _by_scope(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.scope.user_key, []).append(row)
    return found


async def delete_upload(service: MemoryService, document_id: str) -> bool:
    """Delete exactly what an upload brought in; true when a read-back shows it gone, or it was gone already.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: something may still be there.
    """
    keys = await _user_keys(service, document_id)
    if not keys:
        return True
    episodes = service.episodes(await service.collection())
    for key in keys:
        scope = Scope.of_user_key(key)
        found = await episodes.select(key, Filters(statuses=KEPT_STATUSES))
        brought = [e for e in found if e.document_id == document_id]
        await service.scrub(scope, tuple(e.id for e in brought))
        await episodes.delete_many(scope, brought)
    await service.host.storage.delete(_key(document_id))
    return True


async def _user_keys(service: MemoryService, document_id: str) -> list[str]:
    """Return the scopes that an upload has written to; ``[]`` for an upload that nothing is known of."""
    raw = await service.host.storage.get(_key(document_id))
    try:
        return [] if raw is None else [str(key) for key in json.loads(raw)["user_keys"]]
    except (ValueError, KeyError, TypeError) as exc:
        raise StorageFailed("profile_unreadable", key=_key(document_id)) from exc
