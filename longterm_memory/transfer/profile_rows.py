"""Judging a profile in a file, and what it becomes in a place that may hold one already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..chat import tool_values as values
from ..errors import BadArgument, LongTermMemoryError
from ..models import Profile, Slot, SlotValue
from ..profile_changes import ENTRY_MAX, HISTORY_MAX, KEY_MAX, NAME_MAX, NOTES_MAX, Limits
from ..profile_changes.draft import Draft, Entry
from ..profile_changes.guard import new_secret
from ..profile_changes.request import SLOTS, not_secret, same
from ..profile_changes.statements import loose_key
from ..scope import Isolation, Scope, Speaker, clean_id
from ..text.controls import printable
from ..text.fold import fold
from ..text.times import iso, parse_moment_or_none
from .formats import RawRow
from .rows import Target, row_scope

__all__ = ["ProfileArrival", "merged", "profile_arrival", "unread_fields"]

_ROW = ("type", "scope_key", "session_name", "bot_uuid", "sender_id", "sender_name", "profile", "slots")
_FIELDS = ("name", "traits", "preferences", "notes", "updated_at", "slots", *SLOTS.values())
_REASON_MAX = 100
"""Longest reason of a former value, in characters; ours are single words."""


@dataclass(frozen=True, slots=True)
class ProfileArrival:
    """A checked profile on its way in.

    Attributes:
        line: its number in the file.
        scope: the conversation that the file names; ``None`` when it names none.
        speaker: whose profile; ``None`` = the conversation's own.
        profile: what it holds.
    """

    line: int
    scope: Scope | None
    speaker: Speaker | None
    profile: Profile


def profile_arrival(row: RawRow, target: Target) -> ProfileArrival:
    """Return a profile of a file.

    Raises:
        LongTermMemoryError: why it is not taken; one entry that cannot be stored refuses the whole profile.
    """
    raw = row.value
    if not isinstance(raw, Mapping) or not isinstance(raw.get("profile"), Mapping):
        raise BadArgument("profile_not_object")
    kind = fold(raw["type"]) if isinstance(raw.get("type"), str) else ""
    if kind not in ("session", "speaker"):
        raise values.expected_choice("type", ("session", "speaker"))
    speaker = None
    if kind == "speaker":
        name = raw.get("sender_name")
        speaker = Speaker(clean_id(raw.get("sender_id")), _text(name, "sender_name", 200) if name else "")
        if not speaker.known:
            raise BadArgument("speaker_unknown")
    scope = _scope(raw, target)
    return ProfileArrival(row.line, scope, speaker, _profile(raw["profile"], _given_slots(raw)))


def unread_fields(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of what a profile of a file says beyond what a profile here has."""
    found = [name for name in raw if name not in _ROW]
    inside = raw["profile"] if isinstance(raw.get("profile"), Mapping) else {}
    found += [f"profile.{name}" for name in inside if name not in _FIELDS]
    values_of = {**{f"profile.{name}": value for name, value in inside.items()}, **raw}
    return tuple(name for name in found if values_of[name] not in (None, "", [], {}, False))


def _given_slots(raw: Mapping[str, Any]) -> object:
    """Return the keyed facts of a row, which some exports put into the profile itself."""
    inside = raw["profile"]
    stored = {field: inside[name] for field, name in SLOTS.items() if inside.get(name) is not None}
    return raw.get("slots") or inside.get("slots") or stored


def _scope(raw: Mapping[str, Any], target: Target) -> Scope | None:
    """Return the conversation that a row names; where one is needed, not naming it is an error."""
    stated = {
        "user_key": raw.get("scope_key"),
        "session_name": raw.get("session_name"),
        "bot_uuid": raw.get("bot_uuid"),
    }
    try:
        scope = row_scope(stated, Isolation.SESSION)
        if not scope.launcher_id:
            # A key of a whole bot is no conversation, and profiles live in one.
            raise BadArgument("row_without_scope")
        return scope
    except BadArgument:
        if target.into is None:
            raise
        return None


# ---------------------------------------------------------------- what it holds


def _profile(fields: Mapping[str, Any], slots: object) -> Profile:
    name = _text(fields.get("name"), "name", NAME_MAX)
    notes = _text(fields.get("notes"), "notes", NOTES_MAX, lines=True)
    kept = slots if isinstance(slots, Mapping) else {}
    lists = {field: _entries(fields.get(field), field) for field in SLOTS}
    given = {field: _slots(kept.get(field), field) for field in SLOTS}
    own = {"name": name, "notes": notes, "updated_at": _time(fields.get("updated_at"))}
    read = {**own, **lists, **{SLOTS[field]: given[field] for field in SLOTS}}
    profile = Profile.model_validate(read)
    # A keyed fact that its list lacks is put there, as every later change would.
    whole = Draft(profile, profile.updated_at, Limits()).profile()
    _no_secret(Profile(), whole)
    return whole


def _entries(value: object, field: str) -> tuple[str, ...]:
    if values.absent(value):
        return ()
    if not isinstance(value, (list, tuple)):
        raise BadArgument("expected_tags", parameter=field)
    found = (_text(item, field, ENTRY_MAX) for item in value)
    return tuple(text for text in found if text)


def _slots(value: object, field: str) -> dict[str, Slot]:
    if values.absent(value):
        return {}
    if not isinstance(value, Mapping):
        raise BadArgument("profile_slots", field=field)
    found: dict[str, Slot] = {}
    for raw_key, raw in value.items():
        key = _text(raw_key, "fact_key", KEY_MAX)
        if not key or not isinstance(raw, Mapping) or any(loose_key(key) == loose_key(k) for k in found):
            raise BadArgument("profile_slots", field=field)
        not_secret(key)  # before it is folded, which takes the capitals that some keys are known by
        found[fold(key)] = _slot(raw, fold(key), field)
    return found


def _slot(raw: Mapping[str, Any], key: str, field: str) -> Slot:
    history = raw.get("history") or []
    if not isinstance(history, list) or len(history) > HISTORY_MAX:
        raise BadArgument("profile_slots", field=field)
    former = []
    for item in history:
        if not isinstance(item, Mapping):
            raise BadArgument("profile_slots", field=field)
        former.append(
            SlotValue(
                value=_text(item.get("value"), field, ENTRY_MAX),
                updated_at=_time(item.get("updated_at")),
                reason=_text(item.get("reason"), "reason", _REASON_MAX),
            )
        )
    value = _text(raw.get("value"), field, ENTRY_MAX)
    confidence = values.number(raw.get("confidence"))
    return Slot(
        value=value, updated_at=_time(raw.get("updated_at")), history=tuple(former), confidence=confidence
    )


def _text(value: object, parameter: str, limit: int, *, lines: bool = False) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadArgument("expected_text", parameter=parameter)
    text = printable(value, lines=lines)
    text = text.strip("\n") if lines else text.strip()
    if len(text) > limit:
        raise BadArgument("value_too_long", parameter=parameter, length=len(text), limit=limit)
    return text


def _time(value: object) -> str:
    moment = parse_moment_or_none(value, parameter="updated_at")
    return iso(moment) if moment else ""


def _no_secret(before: Profile, after: Profile) -> None:
    kind = new_secret(before, after)
    if kind:
        raise BadArgument("content_secret", kind=kind)


# ---------------------------------------------------------------- what it becomes


def merged(
    stored: Profile, given: Profile, now: datetime, limits: Limits
) -> tuple[Profile, list[LongTermMemoryError]]:
    """Return what a stored profile becomes, and what was left out of the given one.

    An empty profile takes the given one whole. Otherwise what is there stays: a name and notes are taken only
    where there are none, a keyed fact only where its key is unknown, an entry only where it is not said yet and
    there is room.

    Returns:
        The very same profile when nothing is missing in it; the reasons name fields and numbers, no content.

    Raises:
        BadArgument: ``content_secret`` when the two together would hold one, ``profile_slots_full``.
    """
    if stored == Profile():
        return _whole(given, limits)
    draft = Draft(stored, iso(now), limits)
    kept = [field for field in ("name", "notes") if _differs(getattr(stored, field), getattr(given, field))]
    draft.name, draft.notes = draft.name or given.name, draft.notes or given.notes
    left_out: list[LongTermMemoryError] = []
    for field in SLOTS:
        full = _merge_list(draft, given, field, kept)
        if full:
            left_out.append(BadArgument("profile_full", field=field, count=full, limit=draft.limit(field)))
    if kept:
        left_out.insert(0, BadArgument("profile_kept", fields=", ".join(dict.fromkeys(kept))))
    after = draft.profile() if draft.changed else stored
    _no_secret(stored, after)
    return after, left_out


def _whole(given: Profile, limits: Limits) -> tuple[Profile, list[LongTermMemoryError]]:
    draft = Draft(given, given.updated_at, limits)
    left_out: list[LongTermMemoryError] = []
    for field in SLOTS:
        dropped = draft.make_room(field, fresh=0)
        if dropped is None:
            raise BadArgument("profile_slots_full", field=field, limit=draft.limit(field))
        if dropped:
            left_out.append(
                BadArgument("profile_full", field=field, count=len(dropped), limit=draft.limit(field))
            )
    return draft.profile(), left_out


def _differs(stored: str, given: str) -> bool:
    return bool(stored and given) and stored != given


def _merge_list(draft: Draft, given: Profile, field: str, kept: list[str]) -> int:
    """Add what a list lacks; returns how many entries found no room."""
    slots: Mapping[str, Slot] = getattr(given, SLOTS[field])
    full = 0
    for key, slot in slots.items():
        known = draft.key(field, key)
        if known in draft.slots[field]:
            if not same(draft.slots[field][known].value, slot.value) and slot.value:
                kept.append(field)
        elif slot.value and len(draft.lists[field]) >= draft.limit(field):
            full += 1
        else:
            draft.slots[field][key] = slot
            if slot.value:
                draft.drop(field, lambda e, value=slot.value: not e.key and same(e.text, value))  # type: ignore[misc]
                draft.lists[field].append(Entry(slot.value, key))
    keyed = [slot.value for slot in slots.values()]
    return full + _add_missing(draft, field, [t for t in getattr(given, field) if t not in keyed])


def _add_missing(draft: Draft, field: str, texts: Sequence[str]) -> int:
    full = 0
    for text in texts:
        if draft.known(field, text):
            continue
        if len(draft.lists[field]) >= draft.limit(field):
            full += 1
        else:
            draft.lists[field].append(Entry(text))
    return full
