"""Reading an uploaded file into rows, and a row into a draft; every row is judged before anything is written."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..chat import tool_values as values
from ..episodes import EpisodeDraft, checked_content
from ..errors import BadArgument, LongTermMemoryError
from ..ids import is_id
from ..models import IMPORTANCE_DEFAULT
from ..scope import Isolation, Scope, Speaker, clean_id
from ..text.times import parse_moment_or_none

__all__ = ["Rejected", "Row", "read_file", "read_row"]

_SCOPE_CHARS = 1_000
"""Longest key or name of a scope in a file; real ones have well under a hundred characters."""


@dataclass(frozen=True, slots=True)
class Row:
    """A usable row: where it goes and what it says.

    Attributes:
        line: number of the row in the file, from 1.
        scope: where it goes.
        draft: what is stored.
    """

    line: int
    scope: Scope
    draft: EpisodeDraft


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that was not taken, and why."""

    line: int
    reason: LongTermMemoryError


def _text(data: bytes) -> str:
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if data.startswith(mark):
            return data.decode(encoding)
    return data.decode("utf-8")


def read_file(data: bytes) -> list[tuple[int, Any]]:
    """Return the rows of a file with their numbers: a JSON list, one object, ``{"episodes": […]}`` or JSON Lines.

    Args:
        data: UTF-8 with or without BOM, or UTF-16 with BOM.

    Raises:
        BadArgument: ``file_unreadable`` when it is none of these (truncated JSON, other text).
    """
    try:
        text = _text(data).strip()
    except UnicodeDecodeError as exc:
        raise BadArgument("file_unreadable", detail="not UTF-8 or UTF-16 text") from exc
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as exc:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith("{") for _, line in lines):
            raise BadArgument("file_unreadable", detail="not JSON") from exc
        return list(_json_lines(lines))
    if isinstance(whole, Mapping) and isinstance(whole.get("episodes"), list):
        whole = whole["episodes"]
    if isinstance(whole, Mapping):
        whole = [whole] if whole else []
    if not isinstance(whole, list):
        raise BadArgument("file_unreadable", detail="neither a list nor an object")
    return list(enumerate(whole, 1))


def _json_lines(lines: list[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    for number, line in lines:
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, None


def read_row(line: int, raw: Any, *, isolation: Isolation, document_id: str = "") -> Row | Rejected:
    """Judge one row of an upload.

    Args:
        line: its number.
        raw: the decoded JSON value.
        isolation: isolation of the knowledge base, for rows that name bot and session.
        document_id: the upload.
    """
    try:
        if not isinstance(raw, Mapping):
            raise BadArgument("row_not_object")
        return Row(line, _scope(raw, isolation), _draft(raw, document_id))
    except LongTermMemoryError as exc:
        return Rejected(line, exc)


def _scope(raw: Mapping[str, Any], isolation: Isolation) -> Scope:
    user_key, session, bot = raw.get("user_key"), raw.get("session_name"), raw.get("bot_uuid")
    for name, value in (("user_key", user_key), ("session_name", session), ("bot_uuid", bot)):
        if value is not None and (not isinstance(value, (str, int)) or len(str(value)) > _SCOPE_CHARS):
            raise BadArgument(
                "parameter", parameter=name, expected=f"a text of at most {_SCOPE_CHARS} characters"
            )
    named = isinstance(session, str) and bool(session.strip())
    if isinstance(user_key, str) and user_key.strip():
        stated = Scope.of_user_key(user_key.strip())
        if named:
            full = Scope.of_session(
                session, bot_uuid=raw.get("bot_uuid") or stated.bot_uuid, isolation=stated.isolation
            )
            # The key decides where it goes; the session only adds where it was said.
            return full if full.user_key == stated.user_key else stated
        return stated
    if not named:
        raise BadArgument("row_without_scope")
    return Scope.of_session(session, bot_uuid=raw.get("bot_uuid"), isolation=isolation)


def _draft(raw: Mapping[str, Any], document_id: str) -> EpisodeDraft:
    content = raw.get("content")
    if not isinstance(content, str):
        raise BadArgument("parameter", parameter="content", expected="a text")
    importance, _ = values.importance(raw.get("importance"), "importance", clamp=True)
    name = raw.get("sender_name")
    own = clean_id(raw.get("id") or raw.get("episode_id"))
    return EpisodeDraft(
        content=checked_content(content),
        tags=values.tags(raw.get("tags")),
        importance=IMPORTANCE_DEFAULT if importance is None else importance,
        timestamp=parse_moment_or_none(raw.get("timestamp"), parameter="timestamp"),
        source=str(raw.get("source") or "import")[:40],
        sender=Speaker(clean_id(raw.get("sender_id")), name if isinstance(name, str) else ""),
        id=own if is_id(own) else "",
        imported_id="" if is_id(own) else own[:200],
        document_id=document_id,
    )
