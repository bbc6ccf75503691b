"""Changing traits and preferences: keyed facts, free-form entries, and what they mean for each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..injection.fences import inline
from .draft import Draft, Entry
from .request import KEY_MAX, SLOTS, Change, same
from .statements import stated

__all__ = ["REASONS", "REFUSED", "Outcome", "change_list"]

Outcome = tuple[str, dict[str, object]]
"""A key of the words files (``profile.<outcome>``) and what its sentence needs."""

REFUSED = frozenset({"unchanged", "no_match", "full", "too_many", "notes_full"})
"""Outcomes after which the profile is as it was."""

REPLACED, CORRECTED, RESTATED = REASONS = "replaced", "corrected", "restated"
"""Why a value is in a history: a new one was set, or set with ``previous_value``, or said without the key."""


def change_list(draft: Draft, change: Change) -> Outcome:
    """Change ``traits`` or ``preferences``."""
    if change.action == "remove":
        return _remove(draft, change)
    if change.fact_key:
        return _put(draft, change)
    if change.action == "set" and not change.previous_value:
        return _set_all(draft, change)
    return _add(draft, change)


def _put(draft: Draft, change: Change) -> Outcome:
    name, key = change.field, draft.key(change.field, change.fact_key)
    before = len(draft.lists[name])
    old = draft.put(name, key, change.value, CORRECTED if change.previous_value else REPLACED)
    replaced = [*([old] if old else []), *_contradicting(draft, change, key)]
    dropped = draft.make_room(name, fresh=1) if len(draft.lists[name]) > before else []
    if dropped is None:
        return "full", {"limit": draft.limit(name)}
    details = {"key": inline(key, KEY_MAX), "value": inline(change.value), "limit": draft.limit(name)}
    if dropped:
        return "added_dropped", {**details, "dropped": _quoted(dropped)}
    if replaced:
        return "replaced", {**details, "old": _quoted(replaced)}
    return ("set_key" if draft.changed else "unchanged"), details


def _contradicting(draft: Draft, change: Change, key: str) -> list[str]:
    """Take out free-form entries that the keyed value replaces, into its history; returns them."""
    replaced: list[str] = []
    for name in SLOTS:
        for entry in [e for e in draft.lists[name] if not e.key]:
            given = next((value for _, value in stated(entry.text, [key], draft.name)), "")
            named = same(entry.text, change.previous_value)
            if not given and not named:
                continue
            draft.drop(name, lambda e, gone=entry: e == gone)  # type: ignore[misc]
            if named or not same(given, change.value):  # "lives in Oslo" beside city: Oslo is a repetition
                draft.archive(change.field, key, [entry.text], CORRECTED if named else RESTATED)
                replaced.append(entry.text)
    return replaced


def _set_all(draft: Draft, change: Change) -> Outcome:
    name = change.field
    draft.drop(name, lambda e: not e.key)
    kept = [entry.key for entry in draft.lists[name]]
    outcome, details = _add(draft, change)
    if outcome in REFUSED or outcome == "restated":
        return outcome, details
    if kept:
        return "set_kept", {**details, "keys": ", ".join(inline(key, KEY_MAX) for key in kept)}
    return "set", details


def _add(draft: Draft, change: Change) -> Outcome:
    name = change.field
    fresh = 0
    replaced: dict[str, list[str]] = {}
    for value in change.values:
        slots = _slots_for(draft, change, value)
        for where, key in slots:
            old = draft.put(where, key, value, CORRECTED if change.previous_value else RESTATED)
            replaced.setdefault(key, []).extend([old] if old else [])
        if not slots and not _swap(draft, change, value) and not _repeats(draft, name, value):
            draft.lists[name].append(Entry(value))
            fresh += 1
    dropped = draft.make_room(name, fresh) if fresh else []
    limit = draft.limit(name)
    if dropped is None:
        return ("too_many" if fresh > 1 else "full"), {"limit": limit, "given": len(change.values)}
    details: dict[str, object] = {"count": len(draft.lists[name]), "limit": limit}
    if dropped:
        return "added_dropped", {**details, "dropped": _quoted(dropped)}
    old_values = [old for gone in replaced.values() for old in gone]
    if old_values:
        keys = ", ".join(inline(key, KEY_MAX) for key in replaced)
        return "restated", {**details, "key": keys, "old": _quoted(dict.fromkeys(old_values))}
    return ("added" if draft.changed else "unchanged"), details


def _slots_for(draft: Draft, change: Change, value: str) -> list[tuple[str, str]]:
    """Return the (list, key) of the slots that a text without a key belongs to.

    These are the one whose value it says to replace, else those whose fact it states anew. A text that only
    repeats what is there belongs to none.
    """
    if change.previous_value:
        for key, slot in draft.slots[change.field].items():
            if same(slot.value, change.previous_value):
                return [(change.field, key)]
    if _repeats(draft, change.field, value):
        return []
    return [
        (name, key)
        for name, slots in draft.slots.items()
        for key, _ in stated(value, [key for key, slot in slots.items() if slot.value], draft.name)
    ]


def _repeats(draft: Draft, name: str, value: str) -> bool:
    """Whether the list says that already: literally, or as the value of the key that the text names."""
    slots = draft.slots[name]
    return draft.known(name, value) or any(
        same(given, slots[key].value) for key, given in stated(value, slots, draft.name)
    )


def _swap(draft: Draft, change: Change, value: str) -> bool:
    """Put a value in the place of the free-form entry that it replaces; whether there was one."""
    entries = draft.lists[change.field]
    old = change.previous_value
    at = next((i for i, e in enumerate(entries) if not e.key and same(e.text, old)), None)
    if at is None:
        return False
    rest = [*entries[:at], *entries[at + 1 :]]
    draft.lists[change.field] = rest
    if not _repeats(draft, change.field, value):
        rest.insert(at, Entry(value))
    return True


# ---------------------------------------------------------------- remove


def _remove(draft: Draft, change: Change) -> Outcome:
    name, slots = change.field, draft.slots[change.field]
    if not change.fact_key:
        return _forget(draft, name, list(slots), change.values, free=True)
    key = draft.key(name, change.fact_key)
    if key not in slots:
        return "no_match", {}
    if change.values:
        return _forget(draft, name, [key], change.values, free=False)
    draft.drop(name, lambda e: e.key == key)
    del slots[key]
    return "removed", {}


def _forget(draft: Draft, name: str, keys: Sequence[str], values: Sequence[str], *, free: bool) -> Outcome:
    """Take values out of slots, their histories and, if ``free``, the free-form entries."""

    def meant(text: str) -> bool:
        return any(same(text, value) for value in values)

    draft.drop(name, lambda e: meant(e.text) and (e.key in keys if e.key else free))
    slots = draft.slots[name]
    for key in keys:
        slot = slots[key]
        history = tuple(former for former in slot.history if not meant(former.value))
        value = "" if meant(slot.value) else slot.value
        if value or history:
            slots[key] = slot.model_copy(update={"value": value, "history": history})
        else:
            del slots[key]
    return ("removed" if draft.changed else "no_match"), {}


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(inline(text) for text in texts)
