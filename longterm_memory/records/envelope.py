"""The record scheme: how an episode becomes one row of any vector backend, and back.

Fixed-schema backends return only ``text``, ``file_id`` and ``uuid``, so ``text`` is a JSON envelope of the
whole record, ASCII-escaped (no NUL, no surrogates on the wire) and below 60 000 bytes; whoever keeps more
metadata gets the field names of the contract as readable copies beside it. The envelope alone is the truth.
See docs/decisions/0001-record-scheme.md.
"""

from __future__ import annotations

import base64
import json
import sys
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from ..errors import StoreFailed
from ..ids import is_id
from ..models import Episode, Status
from ..ports import VectorRecord, VectorRow
from .keys import Visibility, file_id, row_id
from .vectors import Quantized

__all__ = ["ENVELOPE_MAX", "Record", "decode", "emptied", "encode", "visibility_of"]

ENVELOPE_MAX = 60_000
"""Longest envelope in bytes: Milvus keeps 65 535 in a text field."""
_UNPACKED_MAX = 1_000_000
"""Longest envelope in bytes once unpacked; ours stay far below."""
_SCHEME = 1
_EPISODE_FIELDS = {
    name: field.default
    for name, field in Episode.model_fields.items()
    if name not in ("timestamp", "created_at", "id")
}
"""Fields that an envelope leaves out when they have their default."""
_SHARED = ("user_key", "sender_id", "sender_name", "bot_uuid", "session_name", "source", "document_id")
"""Fields with few different values."""
_READABLE = (
    "episode_id",
    "user_key",
    "tags",
    "timestamp",
    "sender_id",
    "sender_name",
    "bot_uuid",
    "session_name",
    "source",
    "status",
    "superseded_by",
    "document_id",
    "imported_episode_id",
)
"""Text fields of the readable copy beside the envelope."""
_FIELDS_SET = set(Episode.model_fields)
"""For pydantic: all fields were given. A set of its own for each would take a quarter of an index."""


@dataclass(frozen=True, slots=True)
class Record:
    """One stored version of an episode.

    Attributes:
        episode: what people see.
        version: 1 for a new memory, one more per change; readers keep the highest.
        vector: the quantized unit vector of the content.
        model: uuid of the embedding model that made the vector.
    """

    episode: Episode
    version: int
    vector: Quantized
    model: str

    @property
    def row_id(self) -> str:
        """Id of the row that holds this version."""
        return row_id(self.episode.user_key, self.episode.id, self.version)

    @property
    def visibility(self) -> Visibility:
        """Which file_ids it lives under."""
        return visibility_of(self.episode.status)

    def changed(self, **fields: object) -> Record:
        """Return the next version with some episode fields changed and every other one equal."""
        return replace(self, episode=self.episode.model_copy(update=fields), version=self.version + 1)

    def with_claims(self, claims: Iterable[tuple[str, int]]) -> Record:
        """Return the same new record as a correction of these versions (episode id, version)."""
        return replace(self, episode=self.episode.model_copy(update={"supersedes": tuple(claims)}))

    def at_version(self, version: int) -> Record:
        """Return the same new record with another number to start from."""
        return replace(self, version=version)


def visibility_of(status: Status) -> Visibility:
    """Return where a record of that status lives."""
    return Visibility.RECALLED if status is Status.ACTIVE else Visibility.HIDDEN


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _plain(text: str) -> str:
    """Text that every backend accepts as a metadata value or document."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _envelope(record: Record) -> str:
    episode = record.episode
    data: dict[str, Any] = {"scheme": _SCHEME, "episode_id": episode.id, "version": record.version}
    for name, default in _EPISODE_FIELDS.items():
        value = getattr(episode, name)
        if value != default:
            data[name] = value
    data["timestamp"], data["created_at"] = _stamp(episode.timestamp), _stamp(episode.created_at)
    data |= {"model": record.model, "vector": record.vector.encode()}
    text = json.dumps(data, separators=(",", ":"))
    if len(text) > ENVELOPE_MAX:
        # 8 000 CJK characters cost 48 000 bytes escaped, emoji twice that; packed, the worst case is 4/3 of
        # UTF-8.
        raw = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        text = json.dumps({"packed": base64.b64encode(zlib.compress(raw)).decode("ascii")})
    return text


def encode(record: Record) -> VectorRecord:
    """Return the row that stores a record.

    Raises:
        StoreFailed: ``too_large`` when the envelope would exceed ``ENVELOPE_MAX`` (keys or names of absurd
            length).
    """
    episode = record.episode
    text = _envelope(record)
    if len(text) > ENVELOPE_MAX:
        raise StoreFailed("too_large", length=len(text), limit=ENVELOPE_MAX)
    place, row = file_id(episode.user_key, record.visibility, episode.id), record.row_id
    readable: dict[str, str | int | float | bool] = {
        "episode_id": episode.id,
        "user_key": episode.user_key,
        "tags": _plain(json.dumps(list(episode.tags), ensure_ascii=False)),
        "importance": episode.importance,
        "timestamp": _stamp(episode.timestamp),
        "sender_id": _plain(episode.sender_id),
        "sender_name": _plain(episode.sender_name),
        "bot_uuid": _plain(episode.bot_uuid),
        "session_name": _plain(episode.session_name),
        "source": _plain(episode.source),
        "status": str(episode.status),
        "superseded_by": episode.superseded_by,
        "document_id": _plain(episode.document_id),
        "imported_episode_id": _plain(episode.imported_episode_id),
    }
    return VectorRecord(
        id=row,
        vector=record.vector.vector().tolist(),
        metadata=readable | {"file_id": place, "uuid": row, "text": text},
        document=_plain(episode.content),
    )


def emptied(row: str, place: str, dimension: int) -> VectorRecord:
    """Return a row with that id and nothing of anybody in it, for a store where it takes the old one's place.

    Args:
        row: the row id.
        place: the ``file_id`` to put it under.
        dimension: of the collection's vectors.
    """
    # Every field of a full row, because a store that merges metadata would keep what is not named.
    readable: dict[str, str | int | float | bool] = {**dict.fromkeys(_READABLE, ""), "importance": 0}
    vector = [1.0] + [0.0] * (dimension - 1)
    return VectorRecord(row, vector, readable | {"file_id": place, "uuid": row, "text": "{}"}, "-")


def _opened(text: object) -> dict[str, Any]:
    """Parse an envelope, packed or not."""
    if not isinstance(text, str):
        raise ValueError("no envelope")
    data = json.loads(text)
    if isinstance(data, dict) and "packed" in data:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(base64.b64decode(data["packed"], validate=True), _UNPACKED_MAX)
        data = json.loads(raw.decode("utf-8", "surrogatepass"))
    if not isinstance(data, dict) or data.get("scheme") != _SCHEME:
        raise ValueError("not an envelope of ours")
    return data


def _record(data: dict[str, Any]) -> Record:
    if not is_id(data["episode_id"]):
        raise ValueError("not an episode id")
    # Kept by the ten thousand in indexes: what most of them share is kept once.
    for name in _SHARED:
        if isinstance(value := data.get(name), str):
            data[name] = sys.intern(value)
    data["id"] = data["episode_id"]
    episode = Episode.model_validate(data)
    object.__setattr__(episode, "__pydantic_fields_set__", _FIELDS_SET)
    if episode.timestamp.tzinfo is None or episode.created_at.tzinfo is None:
        raise ValueError("a time without a zone")
    version = data["version"]
    if type(version) is not int or version < 1:
        raise ValueError("not a version")
    return Record(episode, version, Quantized.decode(data["vector"]), sys.intern(str(data["model"])))


def decode(row: VectorRow, user_key: str) -> Record | None:
    """Return the record of a row, or ``None`` when the row is not a readable record *of that scope*.

    The backend is not believed: the envelope has to name the user key, the row id has to be the one derived
    from user key, episode id and version, and the ``file_id`` the one of its status.
    """
    try:
        data = _opened(row.metadata.get("text"))
        record = _record(data) if data.get("user_key") == user_key else None
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, zlib.error):
        return None
    if record is None or row.id != record.row_id:
        return None
    place = file_id(user_key, record.visibility, record.episode.id)
    return record if row.metadata.get("file_id") == place else None
