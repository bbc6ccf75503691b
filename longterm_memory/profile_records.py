"""How a profile is kept in plugin storage: its key and its JSON.

A profile is one value under ``ltm/profile/session/<session_key>`` or
``ltm/profile/speaker/<session_key>/<sender>``. The parts are escaped as in the keys of :mod:`.scope`, so
different conversations and senders never meet; where a key would be too long for a database, a part is
replaced by ``~`` and its SHA-256 (``~`` stands in no escaped part).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from .errors import StorageFailed
from .models import Profile
from .scope import Scope, Speaker, escape_part
from .storage_keys import hashed_part

__all__ = [
    "KEY_LENGTH_MAX",
    "SCHEMA_VERSION",
    "SESSION_PREFIX",
    "SPEAKER_PREFIX",
    "StoredProfile",
    "hashed_part",
    "profile_key",
]

SCHEMA_VERSION = 1
"""Version of the stored form; a value with a higher one is of a newer plugin and is left alone."""

KEY_LENGTH_MAX = 200
"""Longest storage key, in characters; the host keeps keys in a column of 255."""

SESSION_PREFIX, SPEAKER_PREFIX = "ltm/profile/session/", "ltm/profile/speaker/"
"""How the keys of profiles begin."""


def profile_key(scope: Scope, speaker: Speaker | None = None) -> str:
    """Return the storage key of a profile.

    Args:
        scope: the conversation.
        speaker: whose profile; ``None`` = the conversation's own.

    Raises:
        BadArgument: ``speaker_unknown`` when the speaker has no id.
    """
    if speaker is None:
        return f"{SESSION_PREFIX}{_session_part(scope, len(SESSION_PREFIX))}"
    whole = f"{SPEAKER_PREFIX}{scope.speaker_key(speaker)}"
    if len(whole) <= KEY_LENGTH_MAX:
        return whole
    sender = hashed_part(escape_part(speaker.id))
    return f"{SPEAKER_PREFIX}{_session_part(scope, len(SPEAKER_PREFIX) + 1 + len(sender))}/{sender}"


def _session_part(scope: Scope, others: int) -> str:
    key = scope.session_key
    return key if len(key) + others <= KEY_LENGTH_MAX else hashed_part(key)


@dataclass(frozen=True, slots=True)
class StoredProfile:
    """A profile with what it belongs to.

    Attributes:
        key: its storage key.
        target: ``"session"`` or ``"speaker"``.
        bot_uuid: of the conversation, ``""`` when unknown.
        launcher_type: of the conversation.
        launcher_id: of the conversation.
        sender_id: of a speaker profile, else ``""``.
        sender_name: name that the sender had at the last write.
        profile: the profile itself.
    """

    key: str
    target: str
    bot_uuid: str
    launcher_type: str
    launcher_id: str
    sender_id: str = ""
    sender_name: str = ""
    profile: Profile = field(default_factory=Profile)

    @property
    def scope(self) -> Scope:
        """The conversation (with the default isolation, which profiles do not depend on)."""
        return Scope(self.bot_uuid, self.launcher_type, self.launcher_id)

    @property
    def speaker(self) -> Speaker | None:
        """The speaker of a speaker profile, else ``None``."""
        return Speaker(self.sender_id, self.sender_name) if self.target == "speaker" else None

    @classmethod
    def empty(cls, scope: Scope, speaker: Speaker | None) -> StoredProfile:
        """Return what is there when nothing is stored yet."""
        return cls(
            profile_key(scope, speaker),
            "session" if speaker is None else "speaker",
            scope.bot_uuid,
            scope.launcher_type,
            scope.launcher_id,
            speaker.id if speaker else "",
            speaker.name if speaker else "",
        )

    def dump(self) -> bytes:
        """Return the stored form."""
        record = {
            "schema_version": SCHEMA_VERSION,
            "target": self.target,
            "bot_uuid": self.bot_uuid,
            "session_name": self.scope.session_name,
            "launcher_type": self.launcher_type,
            "launcher_id": self.launcher_id,
            "sender_id": self.sender_id,
            "sender_name": self.sender_name,
            "profile": self.profile.model_dump(exclude_defaults=True),
        }
        return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()

    @classmethod
    def load(cls, key: str, raw: bytes) -> StoredProfile:
        """Read the stored form.

        Raises:
            StorageFailed: ``profile_unreadable`` when it is no profile, is of a newer version, or belongs
                under another key.
        """
        try:
            record: dict[str, Any] = json.loads(raw)
            if not 1 <= int(record["schema_version"]) <= SCHEMA_VERSION:
                raise ValueError("written by another version")
            found = cls(
                key=key,
                target=str(record["target"]),
                bot_uuid=str(record["bot_uuid"]),
                launcher_type=str(record["launcher_type"]),
                launcher_id=str(record["launcher_id"]),
                sender_id=str(record["sender_id"]),
                sender_name=str(record.get("sender_name") or ""),
                profile=Profile.model_validate(record["profile"]),
            )
            if found.target not in {"session", "speaker"} or profile_key(found.scope, found.speaker) != key:
                raise ValueError("belongs elsewhere")
        except (ValueError, TypeError, KeyError, RecursionError, ValidationError) as exc:
            raise StorageFailed("profile_unreadable", key=key) from exc
        return found
