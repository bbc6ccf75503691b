"""Judging one row of a file: where it goes and what is stored, or why it is not taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..chat import tool_values as values
from ..chat.statuses import STATUS_NAMES, STATUS_WORDS
from ..drafts import EpisodeDraft, checked_content
from ..errors import BadArgument, LongTermMemoryError
from ..ids import is_id
from ..import_plan import Arrival
from ..models import IMPORTANCE_DEFAULT, Status
from ..scope import Isolation, Scope, Speaker, clean_id
from ..text.fold import fold
from ..text.times import parse_moment_or_none
from .formats import RawRow

__all__ = ["Noted", "Rejected", "Target", "arrival", "row_scope"]

_SCOPE_CHARS = 1_000
"""Longest key or name of a scope in a file; real ones have well under a hundred characters."""
_PLAIN_KEY = re.compile(r"(?:(?P<bot>[A-Za-z0-9.-]+):)?(?P<session>(?:person|group)_.+)", re.DOTALL)
"""A key whose ids are not escaped: the uuid of a bot, and what LangBot calls the conversation."""
_LINKS_MAX = 100
"""Most memories that one row says it replaced."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was not taken, or not as it stands, and why.

    Attributes:
        line: its line in a file that is read by lines, else its number among the rows of its kind, from 1.
        reason: why.
        kind: ``"episode"`` or ``"profile"``.
    """

    line: int
    reason: LongTermMemoryError
    kind: Literal["episode", "profile"] = "episode"


Noted = Callable[[LongTermMemoryError], None]
"""Told when a row is taken otherwise than it stands."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows of an import go.

    Attributes:
        into: the one scope that takes them all; ``None`` = each row says its own.
        isolation: of the knowledge base, for rows that name bot and session.
        keep_sessions: whether rows that come from ``into``'s own user key keep the conversation they name (under
            ``bot`` isolation a user key has several). Not for chat, where a file could then speak for another one.
        document_id: the upload that brings them, ``""`` for none.
        source: of rows that name none.
        exact: whether it is an export of ours, whose tags are taken as they stand.
        default_sender: whose memories rows become that name nobody, except in an export of ours. ``None`` = nobody's.
        only_from: the one sender whose memories are taken; a row that names nobody becomes theirs. ``None`` =
            anybody's.
    """

    into: Scope | None
    isolation: Isolation = Isolation.SESSION
    keep_sessions: bool = False
    document_id: str = ""
    source: str = "import"
    exact: bool = False
    default_sender: Speaker | None = None
    only_from: Speaker | None = None


def arrival(row: RawRow, target: Target, noted: Noted) -> Arrival | None:
    """Return what is stored for a row; ``None`` for one that says it was deleted.

    Raises:
        LongTermMemoryError: why it is not taken.
    """
    raw = row.value
    if row.problem is not None:
        raise row.problem
    if not isinstance(raw, Mapping):
        raise BadArgument("row_not_object")
    status = _status(raw.get("status"))
    if status is Status.DELETED:
        noted(BadArgument("row_deleted"))
        return None
    stated = _stated(raw)
    scope, home = _place(raw, stated, target)
    draft = _draft(raw, target, noted)
    if target.default_sender is not None and not target.exact and not draft.sender.known:
        draft = replace(draft, sender=target.default_sender)
    return Arrival(
        draft if target.only_from is None else _in_ones_own_name(draft, target.only_from),
        scope,
        row.line,
        status,
        parse_moment_or_none(raw.get("created_at"), parameter="created_at"),
        clean_id(raw.get("superseded_by")),
        _links(raw.get("supersedes")),
        home,
    )


def _in_ones_own_name(draft: EpisodeDraft, sender: Speaker) -> EpisodeDraft:
    if draft.sender.known and draft.sender.id != sender.id:
        raise BadArgument("row_of_another")
    return replace(draft, sender=sender)


# ---------------------------------------------------------------- where


def _stated(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a row says about its place, each checked for being a text that can be one."""
    stated = {name: raw.get(name) for name in ("user_key", "session_name", "bot_uuid")}
    for name, value in stated.items():
        if value is not None and (not isinstance(value, (str, int)) or len(str(value)) > _SCOPE_CHARS):
            raise BadArgument("expected_short_text", parameter=name, limit=_SCOPE_CHARS)
    return {name: value.strip() if isinstance(value, str) else value for name, value in stated.items()}


def _place(raw: Mapping[str, Any], stated: Mapping[str, Any], target: Target) -> tuple[Scope, bool]:
    """Return where a row goes, and whether it comes from there."""
    into = target.into
    if into is None:
        scope = row_scope(stated, target.isolation)
        return scope, stated["user_key"] == scope.user_key
    if stated["user_key"] != into.user_key:
        return into, False
    return (row_scope(stated, target.isolation) if into.shared and target.keep_sessions else into), True


def row_scope(stated: Mapping[str, Any], isolation: Isolation) -> Scope:
    """Return the scope that ``user_key``, or ``bot_uuid`` and ``session_name``, say.

    Raises:
        BadArgument: ``row_without_scope`` or ``scope_unknown``.
    """
    user_key, session, bot = stated.get("user_key"), stated.get("session_name"), stated.get("bot_uuid")
    if isinstance(user_key, str) and user_key:
        scope = _of_key(user_key)
        if isinstance(session, str) and session:
            full = Scope.of_session(session, bot_uuid=bot or scope.bot_uuid, isolation=scope.isolation)
            # The key decides where it goes; the session only adds where it was said.
            return full if full.user_key == scope.user_key else scope
        return scope
    if not isinstance(session, str) or not session:
        raise BadArgument("row_without_scope")
    return Scope.of_session(session, bot_uuid=bot, isolation=isolation)


def _of_key(user_key: str) -> Scope:
    """Return the scope of a key, also of one that names its ids as they are, as the earlier plugin's do.

    A key with ``%`` in it is ours or nobody's: read in two ways, it could reach another conversation.
    """
    try:
        return Scope.of_user_key(user_key)
    except BadArgument:
        plain = None if "%" in user_key else _PLAIN_KEY.fullmatch(user_key)
        if plain is None:
            raise
    return Scope.of_session(plain["session"], bot_uuid=plain["bot"])


# ---------------------------------------------------------------- what


def _draft(raw: Mapping[str, Any], target: Target, noted: Noted) -> EpisodeDraft:
    content = raw.get("content")
    if not isinstance(content, str):
        raise BadArgument("expected_text", parameter="content")
    name = raw.get("sender_name")
    source = raw.get("source")
    own = clean_id(raw.get("id")) or clean_id(raw.get("episode_id"))
    return EpisodeDraft(
        content=checked_content(content),
        tags=_tags(raw.get("tags"), exact=target.exact),
        importance=_importance(raw.get("importance"), noted),
        timestamp=parse_moment_or_none(raw.get("timestamp"), parameter="timestamp"),
        source=source.strip() if isinstance(source, str) and source.strip() else target.source,
        sender=Speaker(clean_id(raw.get("sender_id")), name if isinstance(name, str) else ""),
        id=own if is_id(own) else "",
        imported_id=clean_id(raw.get("imported_episode_id")) if is_id(own) else own,
        document_id=target.document_id,
    )


def _tags(value: object, *, exact: bool) -> tuple[str, ...]:
    if exact and isinstance(value, list) and all(isinstance(tag, str) and tag for tag in value):
        return tuple(value)
    return values.tags(value)


def _importance(value: object, noted: Noted) -> int:
    level, moved = values.importance(value, "importance", clamp=True)
    if level is None:
        return IMPORTANCE_DEFAULT
    if moved:
        noted(BadArgument("row_importance", taken=level))
    return level


def _status(value: object) -> Status:
    if values.absent(value):
        return Status.ACTIVE
    word = fold(value) if isinstance(value, str) else ""
    if word == Status.DELETED:
        return Status.DELETED
    if word not in STATUS_WORDS:
        raise values.expected_choice("status", STATUS_NAMES)
    return STATUS_WORDS[word]


def _links(value: object) -> tuple[str, ...]:
    if values.absent(value):
        return ()
    if not isinstance(value, list) or len(value) > _LINKS_MAX:
        raise BadArgument("expected_links", parameter="supersedes", limit=_LINKS_MAX)
    return tuple(i for i in map(clean_id, value) if i)
