"""Profiles as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..errors import BadArgument
from ..models import Profile, Slot
from ..profile_changes.lists import REASONS
from ..text.times import parse_moment_or_none
from .inert import one_line
from .voice import Voice

__all__ = ["profile_lines", "quoted_lines"]

_ITEM = 300
"""Longest trait, preference or name in a line, in characters."""
_QUOTED = 800
"""Longest line of quoted text; longer ones are broken."""


def quoted_lines(text: str) -> list[str]:
    """Return somebody's text behind ``>``, so that none of its lines can pass for one of ours."""
    found: list[str] = []
    for raw in text.splitlines():
        line = one_line(raw, len(raw) + 1)
        found += [f"> {line[at : at + _QUOTED]}" for at in range(0, len(line), _QUOTED)] or [">"]
    return found


def profile_lines(voice: Voice, profile: Profile, title: str) -> list[str]:
    """Return a profile with its keyed facts and what they were before."""
    if profile.empty and not profile.trait_slots and not profile.preference_slots:
        return [voice.say("profile_title", title=title), voice.say("profile_empty")]
    changed = _date(voice, profile.updated_at)
    lines = [voice.say("profile_updated", title=title, date=changed)] if changed else []
    lines = lines or [voice.say("profile_title", title=title)]
    if profile.name:
        lines.append(voice.say("profile_name", name=one_line(profile.name, _ITEM)))
    lines += _list(voice, "profile_traits", profile.traits, profile.trait_slots)
    lines += _list(voice, "profile_preferences", profile.preferences, profile.preference_slots)
    if profile.notes:
        lines += [voice.say("profile_notes"), *quoted_lines(profile.notes)]
    return lines


def _list(voice: Voice, title: str, values: Sequence[str], slots: Mapping[str, Slot]) -> Iterator[str]:
    if not values and not slots:
        return
    yield voice.say(title)
    keys: dict[str, list[str]] = {}
    for name, slot in slots.items():
        keys.setdefault(slot.value, []).append(name)
    for value in values:
        key = keys[value].pop(0) if value and keys.get(value) else None
        shown = one_line(value, _ITEM)
        if key is None:
            yield voice.say("profile_item", value=shown)
        else:
            yield voice.say("profile_slot", value=shown, fact_key=one_line(key, 60))
            yield from _history(voice, slots[key])
    for key, slot in slots.items():
        if slot.value not in values and slot.history:
            yield voice.say("profile_slot_empty", fact_key=one_line(key, 60))
            yield from _history(voice, slot)


def _history(voice: Voice, slot: Slot) -> Iterator[str]:
    for former in slot.history:
        reason = former.reason  # a file can bring in any other
        why = voice.say(f"reason_{reason}") if reason in REASONS else one_line(reason, 60)
        when = [_date(voice, former.updated_at) or voice.say("unknown_time"), why]
        yield voice.say(
            "profile_before",
            value=one_line(former.value, _ITEM),
            when=voice.listed([part for part in when if part]),
        )


def _date(voice: Voice, stored: str) -> str:
    """Return a stored time as a date, ``""`` when it is none (written by hand, or by another version)."""
    try:
        moment = parse_moment_or_none(stored)
    except BadArgument:
        return ""
    return voice.date(moment) if moment else ""
