"""What somebody wants remembered, checked before anything is embedded or written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from .errors import BadArgument
from .models import CONTENT_MAX, IMPORTANCE_DEFAULT, Episode
from .scope import Speaker
from .text.fold import well_formed
from .text.secrets import find_labelled, find_secret

__all__ = ["TAGS_CHARS_MAX", "TAGS_MAX", "EpisodeDraft", "Revision", "checked_content", "not_labelled_secret"]

TAGS_MAX = 50
"""Most tags of one memory."""
TAGS_CHARS_MAX = 2_000
"""Most characters of all its tags together; more would not fit beside the longest content."""
_NAME_MAX = 200
_ID_MAX = 500
_kind_of_name = lru_cache(maxsize=2_048)(find_secret)
"""Few sources and names stand in very many memories."""


def checked_content(content: str) -> str:
    """Return content that may be stored, without space at its ends.

    Raises:
        BadArgument: ``content_empty``, ``content_too_long`` or ``content_secret``.
    """
    text = well_formed(content).strip()
    if not text:
        raise BadArgument("content_empty")
    if len(text) > CONTENT_MAX:
        raise BadArgument("content_too_long", length=len(text), limit=CONTENT_MAX)
    kind = find_secret(text)
    if kind:
        raise BadArgument("content_secret", kind=kind)
    return text


def not_labelled_secret(tags: Iterable[str], content: str) -> None:
    """Let content pass unless its tags say that it is a secret: "hunter2x" tagged "wifi password".

    Raises:
        BadArgument: ``content_secret``.
    """
    kind = find_labelled(tags, content)
    if kind:
        raise BadArgument("content_secret", kind=kind)


@dataclass(frozen=True, slots=True)
class Revision:
    """What somebody wants changed in a memory; ``None`` = as it is.

    Attributes:
        content: another text.
        tags: all tags that it then has.
        importance: 1..5.
        timestamp: when it happened.
        seen: what whoever changes it has before their eyes; when it is not that any more, nothing is changed.
    """

    content: str | None = None
    tags: tuple[str, ...] | None = None
    importance: int | None = None
    timestamp: datetime | None = None
    seen: Revision | None = None

    def of(self, episode: Episode) -> dict[str, object]:
        """Return the fields of a memory that would differ, checked.

        Raises:
            BadArgument: as :func:`checked_content` and :class:`EpisodeDraft`; ``edit_same`` when none would,
                ``edit_changed`` when it is not what was seen.
        """
        if self.seen is not None and not self.seen._describes(episode):
            raise BadArgument("edit_changed", id=episode.id)
        content = episode.content if self.content is None else checked_content(self.content)
        tags = episode.tags if self.tags is None else EpisodeDraft(content, tags=self.tags).tags
        not_labelled_secret(tags, content)
        wanted: dict[str, object] = {
            "content": content,
            "tags": tags,
            "importance": episode.importance if self.importance is None else self.importance,
            "timestamp": episode.timestamp if self._same_second(episode) else self.timestamp,
        }
        changed = {name: value for name, value in wanted.items() if value != getattr(episode, name)}
        if not changed:
            raise BadArgument("edit_same", id=episode.id)
        return changed

    def _describes(self, episode: Episode) -> bool:
        """Whether a memory has all of these."""
        return (
            self.content in (None, episode.content)
            and self.tags in (None, episode.tags)
            and self.importance in (None, episode.importance)
            and self._same_second(episode)
        )

    def _same_second(self, episode: Episode) -> bool:
        """Whether the time stays: what is shown of it, and comes back, has no fractions of a second."""
        shown = episode.timestamp.replace(microsecond=0)
        return self.timestamp is None or self.timestamp in (shown, episode.timestamp)


@dataclass(frozen=True, slots=True)
class EpisodeDraft:
    """What somebody wants remembered.

    Attributes:
        content: text as given, at most ``CONTENT_MAX`` characters.
        tags: free labels; some mark a correction (:mod:`longterm_memory.text.corrections`).
        importance: 1..5.
        timestamp: when it happened; ``None`` = now.
        source: who brought it (``agent``, ``import``…).
        sender: whose memory it is; a name beyond 200 characters is cut.
        id: wanted episode id (imports of our own exports); ``""`` = a new one.
        imported_id: id it had elsewhere.
        document_id: upload that brought it.

    Raises:
        BadArgument: ``parameter`` when there are too many or too long tags, or an id is too long;
            ``content_secret`` when tags, source, foreign id or name hold a secret, or tags and content together.
    """

    content: str
    tags: tuple[str, ...] = ()
    importance: int = IMPORTANCE_DEFAULT
    timestamp: datetime | None = None
    source: str = "agent"
    sender: Speaker = field(default_factory=Speaker)
    id: str = ""
    imported_id: str = ""
    document_id: str = ""

    def __post_init__(self) -> None:
        tags = tuple(well_formed(tag) for tag in self.tags)
        if len(tags) > TAGS_MAX or sum(map(len, tags)) > TAGS_CHARS_MAX:
            raise BadArgument(
                "parameter", parameter="tags", expected="tags_most", most=TAGS_MAX, limit=TAGS_CHARS_MAX
            )
        for name, value in (
            ("sender_id", self.sender.id),
            ("id", self.imported_id),
            ("document_id", self.document_id),
        ):
            if len(value) > _ID_MAX:
                raise BadArgument("parameter", parameter=name, expected="chars_most", limit=_ID_MAX)
        kinds = map(find_secret, {" ".join(tags), *tags, self.imported_id} - {""})
        for kind in (*kinds, _kind_of_name(self.source), _kind_of_name(self.sender.name)):
            if kind:
                raise BadArgument("content_secret", kind=kind)
        not_labelled_secret(tags, self.content)
        object.__setattr__(self, "tags", tags)
        object.__setattr__(self, "source", well_formed(self.source)[:_NAME_MAX])
        object.__setattr__(self, "imported_id", well_formed(self.imported_id))
        object.__setattr__(self, "document_id", well_formed(self.document_id))
        sender = Speaker(well_formed(self.sender.id), well_formed(self.sender.name)[:_NAME_MAX])
        object.__setattr__(self, "sender", sender)
