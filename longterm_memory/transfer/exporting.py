"""Writing memories down: as JSON that imports back without loss, and as Markdown for people.

The JSON is one document with one record a line, in a fixed order and without a clock in it, so the same memories
always give the same bytes. A document can be cut into parts, each of which imports on its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..models import Episode, Slot
from ..profile_records import StoredProfile
from ..text.fold import well_formed
from .formats.ours import FORMAT, VERSION
from .markdown import to_markdown

__all__ = ["Packer", "document", "episode_row", "escaped", "parts", "profile_row", "to_json", "to_markdown"]

_LISTS = ("episodes", "profiles")
_HEAD = {"format": FORMAT, "version": VERSION}
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED = json.JSONEncoder()


def episode_row(episode: Episode) -> dict[str, object]:
    """Return an episode as a row of an export; empty optional fields are left out."""
    row: dict[str, object] = {"id": episode.id, "content": episode.content}
    if episode.tags:
        row["tags"] = list(episode.tags)
    row["importance"] = episode.importance
    row["timestamp"] = _stamp(episode.timestamp)
    row["created_at"] = _stamp(episode.created_at)
    for name in ("user_key", "sender_id", "sender_name", "bot_uuid", "session_name", "source"):
        if value := getattr(episode, name):
            row[name] = value
    row["status"] = episode.status.value
    if episode.superseded_by:
        row["superseded_by"] = episode.superseded_by
    if episode.supersedes:
        row["supersedes"] = [episode_id for episode_id, _ in episode.supersedes]
    for name in ("document_id", "imported_episode_id"):
        if value := getattr(episode, name):
            row[name] = value
    return row


def profile_row(stored: StoredProfile) -> dict[str, object]:
    """Return a profile as a row of an export: the five public fields, and the keyed facts with their history."""
    row: dict[str, object] = {"type": stored.target, "scope_key": stored.scope.session_key}
    if stored.target == "speaker":
        row["sender_id"] = stored.sender_id
        if stored.sender_name:
            row["sender_name"] = stored.sender_name
    row["profile"] = stored.profile.public()
    slots = {
        name: {key: _slot(slot) for key, slot in kept.items()}
        for name, kept in (
            ("traits", stored.profile.trait_slots),
            ("preferences", stored.profile.preference_slots),
        )
        if kept
    }
    return {**row, "slots": slots} if slots else row


def _slot(slot: Slot) -> dict[str, object]:
    row: dict[str, object] = {
        "value": slot.value,
        "updated_at": slot.updated_at,
        "history": [former.model_dump() for former in slot.history],
    }
    return row if slot.confidence is None else {**row, "confidence": slot.confidence}


def _stamp(moment: datetime) -> str:
    """Return a time with whatever fraction it has: cutting it would change the order of an import."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def document(
    episodes: Iterable[Episode] | None, profiles: Iterable[StoredProfile] | None
) -> dict[str, object]:
    """Return the document of these memories.

    Args:
        episodes: oldest first in the document; ``None`` leaves the list out.
        profiles: the conversation's own first, then by speaker; ``None`` leaves the list out.
    """
    found: dict[str, object] = dict(_HEAD)
    if episodes is not None:
        found["episodes"] = [episode_row(e) for e in sorted(episodes, key=lambda e: (e.timestamp, e.id))]
    if profiles is not None:
        found["profiles"] = [profile_row(p) for p in sorted(profiles, key=_place)]
    return found


def _place(stored: StoredProfile) -> tuple[str, bool, str]:
    return stored.scope.session_key, stored.target == "speaker", stored.sender_id


def to_json(document: Mapping[str, object]) -> str:
    """Return a document as text: one record a line."""
    rows = {name: [_compact(row) for row in _rows(document, name)] for name in _LISTS if name in document}
    return _joined(document, rows)


def escaped(text: str) -> int:
    """Return how many bytes a text takes inside JSON that is written in ASCII, as answers of the page are."""
    return len(_ESCAPED.encode(text)) - 2


def parts(document: Mapping[str, object], limit: int, measure: Callable[[str], int] = len) -> list[str]:
    """Return a document as texts of at most ``limit`` characters, each a whole document of its own.

    Args:
        document: from :func:`document`.
        limit: most characters, or of whatever ``measure`` counts.
        measure: says how long a line is.

    A single record that is longer than that gets a text of its own. There is always at least one.
    """
    packer = Packer(limit, [name for name in _LISTS if name in document], measure)
    found = [text for name in _LISTS for row in _rows(document, name) for text in packer.add(name, row)]
    return [*found, *packer.rest()] or [to_json(document)]


class Packer:
    """Packs records into documents of limited length, for whoever has too many to hold them all.

    Args:
        limit: most characters of a document; a single record may be longer.
        lists: the lists that every document has.
        measure: says how long a line is, at least a character of it each.
    """

    def __init__(
        self, limit: int, lists: Sequence[str] = _LISTS, measure: Callable[[str], int] = len
    ) -> None:
        self._limit = limit
        self._measure = measure
        self._lists = lists
        self._empty = measure(_joined(_HEAD, {name: [] for name in lists}))
        self._start()

    def _start(self) -> None:
        self._lines: dict[str, list[str]] = {name: [] for name in self._lists}
        self.size, self.count = self._empty, 0

    def add(self, name: str, row: object) -> Iterator[str]:
        """Add a record to a list; yields the document before it when that is full."""
        line = _compact(row)
        # The first record of a list brings two line breaks, each further one a comma and a line break.
        length = self._measure(line) + 2 * self._measure("\n")
        if self.count and self.size + length > self._limit:
            yield from self.rest()
        self._lines[name].append(line)
        self.size += length
        self.count += 1

    def rest(self) -> Iterator[str]:
        """Yield the last document, if there is anything in it, and start anew."""
        if self.count:
            text = _joined(_HEAD, self._lines)
            self._start()
            yield text


def _rows(document: Mapping[str, object], name: str) -> Sequence[object]:
    rows = document.get(name)
    return rows if isinstance(rows, list) else []


def _joined(document: Mapping[str, object], rows: Mapping[str, Sequence[str]]) -> str:
    head = [f"{_compact(k)}:{_compact(v)}" for k, v in document.items() if k not in _LISTS]
    lists = [f"{_compact(name)}:[{_block(lines)}]" for name, lines in rows.items()]
    return "{" + ",".join([*head, *lists]) + "}\n"


def _block(lines: Sequence[str]) -> str:
    return "\n" + ",\n".join(lines) + "\n" if lines else ""


def _compact(value: Any) -> str:
    # Names come from the host as they are; what is no text cannot be written to a file.
    return well_formed(_ENCODER.encode(value))
