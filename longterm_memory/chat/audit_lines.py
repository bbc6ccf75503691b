"""The log of changes for people, one line an entry, and as JSON for a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import BadArgument
from ..models import KEPT_STATUSES, AuditEntry
from ..scope import Speaker
from ..text.fold import well_formed
from ..text.times import parse_moment_or_none
from .inert import one_line
from .voice import Voice

if TYPE_CHECKING:
    from ..views import AuditPage

__all__ = ["FACTS", "OPERATIONS", "VALUES", "VIAS", "audit", "audit_rows"]

OPERATIONS = (
    "remember",
    "update_profile",
    "forget",
    "delete",
    "edit",
    "archive",
    "restore",
    "import",
    "opt_out",
    "opt_in",
    "erase_speaker",
    "erase_space",
)
"""Operations with a sentence of their own, ``audit_op_<operation>``; any other is shown as it is."""

VIAS = ("tool", "command", "console", "upload")
"""Fronts with a word of their own, ``audit_via_<front>``."""

FACTS = (
    *("content_len", "content_len_before", "tags", "importance", "superseded", "status", "status_before"),
    *("field", "fields", "action", "values", "value_len", "count", "filters", "accepted", "profiles"),
    *("episodes", "audit_entries"),
)
"""What an entry's summary may hold and has a word, ``audit_fact_<name>``; any other is shown as it is."""

VALUES = ("name", "traits", "preferences", "notes", "set", "add", "remove")
"""Values with a word, ``audit_value_<value>``."""
_STATUSES = tuple(status.value for status in KEPT_STATUSES)
_UNCERTAIN = ("outcome", "unknown")
"""The store did not answer, so the change may or may not have happened."""
_UNTOLD = ("keyed", "outcome")
"""What is of use to whoever reads the JSON only."""

_SUMMARY = 140
"""Longest list of numbers of an entry, in characters."""


def audit(voice: Voice, page: AuditPage) -> str:
    """Return one page of the log, newest first."""
    missing = [voice.say("audit_unreadable", count=8 * page.unreadable)] if page.unreadable else []
    if not page.items and page.total:
        return voice.say("list_end", page=page.page - 1)
    if not page.items:
        return "\n".join(missing or [voice.say("audit_none")])
    lines = [*missing, voice.say("audit_head", page=page.page, pages=page.pages, count=page.total)]
    lines += [_line(voice, entry) for entry in page.items]
    if page.left:
        lines.append(voice.say("audit_more", next=page.page + 1))
    lines.append(voice.say("audit_export"))
    return "\n".join(lines)


def _line(voice: Voice, entry: AuditEntry) -> str:
    parts = [_when(voice, entry), _who(voice, entry)]
    operation = one_line(entry.operation, 24)
    parts.append(voice.say(f"audit_op_{operation}") if operation in OPERATIONS else operation)
    target = _target(voice, entry)
    if target:
        parts.append(target)
    if entry.via in VIAS:
        parts.append(voice.say(f"audit_via_{entry.via}"))
    facts = [_fact(voice, *fact) for fact in entry.summary.items() if _says(*fact)]
    if _UNCERTAIN in entry.summary.items():
        facts.append(voice.say("audit_uncertain"))
    if facts:
        parts.append(one_line(voice.listed(facts), _SUMMARY))
    return " · ".join(parts)


def _says(name: str, value: int | str) -> bool:
    """Whether a fact tells more than the operation does."""
    return value not in (0, "") and name not in _UNTOLD


def _fact(voice: Voice, name: str, value: int | str) -> str:
    said = value
    if value in _STATUSES:
        said = voice.say(f"status_{value}")
    elif value in VALUES:
        said = voice.say(f"audit_value_{value}")
    return voice.say(
        "audit_fact", name=voice.say(f"audit_fact_{name}") if name in FACTS else name, value=said
    )


def _when(voice: Voice, entry: AuditEntry) -> str:
    try:
        moment = parse_moment_or_none(entry.at)
    except BadArgument:
        moment = None
    return voice.time(moment) if moment else voice.say("unknown_time")


def _who(voice: Voice, entry: AuditEntry) -> str:
    if not entry.sender_id and entry.via in ("console", "upload"):
        return voice.say("audit_operator")
    return voice.speaker(Speaker(entry.sender_id, entry.sender_name))


def _target(voice: Voice, entry: AuditEntry) -> str:
    if entry.target_type == "episode":
        return f"[{one_line(entry.target_id, 12)}]"
    if entry.target_type == "session_profile":
        return voice.say("audit_session_profile")
    if entry.target_type == "profile":
        return voice.say("audit_profile", speaker=voice.speaker(Speaker(entry.target_id)))
    return ""


def audit_rows(entries: Sequence[AuditEntry]) -> list[str]:
    """Return the log as JSON objects, one a line, oldest first."""
    rows = [entry.model_dump(exclude_defaults=True) for entry in reversed(entries)]
    return [well_formed(json.dumps(row, ensure_ascii=False, separators=(",", ":"))) for row in rows]
