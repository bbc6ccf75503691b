"""Files that an operator uploads in the knowledge-base UI, and taking one out again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..errors import LongTermMemoryError, StorageFailed
from ..models import KEPT_STATUSES, Filters, Profile
from ..scope import Scope
from .importing import ImportReport, import_file
from .profile_import import ProfileOutcome

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["UploadReport", "delete_upload", "upload"]

UploadReport = ImportReport
"""What became of an upload."""


@dataclass(slots=True)
class _Note:
    """What an upload may have written.

    Attributes:
        user_keys: where its memories went.
        profiles: storage keys of the profiles that it made, and what it made of them (a hash).
    """

    user_keys: list[str] = field(default_factory=list)
    profiles: dict[str, str] = field(default_factory=dict)


def _key(document_id: str) -> str:
    return f"ltm/document/{document_id}"


async def upload(service: MemoryService, data: bytes, document_id: str) -> UploadReport:
    """Take in a file; can be repeated without duplicates. Never raises one of our errors.

    Args:
        service: the installation's memory.
        data: the file.
        document_id: the host's id of the upload.
    """

    async def announce(user_keys: Sequence[str], profiles: Sequence[ProfileOutcome]) -> None:
        # Noted before anything is written, so that an upload that dies half-way can still be taken out.
        note = await _note(service, document_id) or _Note()
        note.user_keys = list(dict.fromkeys([*note.user_keys, *user_keys]))
        note.profiles |= {p.key: _print(p.profile) for p in profiles if p.created and not p.error}
        text = json.dumps({"user_keys": note.user_keys, "profiles": note.profiles})
        await service.host.storage.set(_key(document_id), text.encode())

    try:
        settings = await service.settings()
    except LongTermMemoryError as exc:
        return UploadReport(error=exc)
    report = await import_file(
        service,
        data,
        into=None,
        isolation=settings.isolation,
        document_id=document_id,
        announce=announce,
    )
    for place in report.places:
        counts = {"accepted": place.accepted, "profiles": place.profiles}
        await service.audit.note(place.scope, "import", "upload", ("document", document_id), counts)
    return report


async def delete_upload(service: MemoryService, document_id: str) -> bool:
    """Delete exactly what an upload brought in; true when a read-back shows it gone, or it was gone already.

    A profile that the upload made goes as long as nobody has changed it since; what it added to a profile that was
    there before stays.

    Raises:
        NotConfigured, StoreFailed, StorageFailed: something may still be there.
    """
    note = await _note(service, document_id)
    if note is None:
        return True
    episodes = service.episodes(await service.collection())
    for key in note.user_keys:
        scope = Scope.of_user_key(key)
        found = await episodes.select(key, Filters(statuses=KEPT_STATUSES))
        brought = [e for e in found if e.document_id == document_id]
        if brought:
            await service.scrub(scope, tuple(e.id for e in brought))
            await episodes.delete_many(scope, brought)
            target = ("document", document_id)
            await service.audit.note(scope, "delete", "upload", target, {"count": len(brought)})
    for key, made in note.profiles.items():
        there = await service.profiles.read(key)
        if there is not None and _print(there.profile) == made:
            await service.profiles.delete(there.scope, there.speaker)
    await service.host.storage.delete(_key(document_id))
    return True


def _print(profile: Profile) -> str:
    return hashlib.sha256(profile.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()


async def _note(service: MemoryService, document_id: str) -> _Note | None:
    """Return what an upload may have written; ``None`` for one that nothing is known of."""
    raw = await service.host.storage.get(_key(document_id))
    if raw is None:
        return None
    try:
        data: Mapping[str, object] = json.loads(raw)
        keys, profiles = data["user_keys"], data.get("profiles", {})
        if not isinstance(keys, list) or not isinstance(profiles, dict):
            raise TypeError("not a note")
        return _Note([str(key) for key in keys], {str(k): str(v) for k, v in profiles.items()})
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise StorageFailed("profile_unreadable", key=_key(document_id)) from exc
