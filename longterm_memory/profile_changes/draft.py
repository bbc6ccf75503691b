"""A profile while it is being changed: its lists as entries that know their key, the slots beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..models import Profile, Slot, SlotValue
from .request import HISTORY_MAX, SLOTS, Limits, same
from .statements import loose_key

__all__ = ["Draft", "Entry"]


class Entry(NamedTuple):
    """A current value of a list; ``key`` is ``""`` for a free-form one."""

    text: str
    key: str = ""


class Draft:
    """A profile being changed.

    Args:
        profile: as it stands; stays as it is.
        now: the time that changed things get, as they are stored.
        limits: sizes of the lists.
    """

    def __init__(self, profile: Profile, now: str, limits: Limits) -> None:
        self._source = profile
        self._now = now
        self._limits = limits
        self.name = profile.name
        self.notes = profile.notes
        self.slots: dict[str, dict[str, Slot]] = {n: dict(getattr(profile, s)) for n, s in SLOTS.items()}
        self.lists: dict[str, list[Entry]] = {
            n: list(_entries(getattr(profile, n), self.slots[n])) for n in SLOTS
        }

    @property
    def changed(self) -> bool:
        """Whether anything but the time differs from the source."""
        return self.profile() != self._source.model_copy(update={"updated_at": self._now})

    def profile(self) -> Profile:
        """Return the profile as it now stands."""
        texts = {name: tuple(entry.text for entry in entries) for name, entries in self.lists.items()}
        slots = {SLOTS[name]: kept for name, kept in self.slots.items()}
        own = {"name": self.name, "notes": self.notes, "updated_at": self._now}
        return self._source.model_copy(update={**own, **texts, **slots})

    def limit(self, name: str) -> int:
        """Return the most entries of a list."""
        return self._limits.traits if name == "traits" else self._limits.preferences

    def key(self, name: str, key: str) -> str:
        """Return the stored spelling of a key, the given one when there is none."""
        return next((known for known in self.slots[name] if loose_key(known) == loose_key(key)), key)

    def known(self, name: str, value: str) -> bool:
        """Whether an entry of the list says literally that."""
        return any(same(entry.text, value) for entry in self.lists[name])

    def put(self, name: str, key: str, value: str, reason: str) -> str:
        """Set a slot, its entry and its history.

        Returns:
            The value that went to the history, ``""`` when none did (new, or the same in other letters).
        """
        slot = self.slots[name].get(key, Slot(value=""))
        old = slot.value
        if old == value:
            return ""
        restyled = same(old, value)
        history = slot.history if restyled or not old else (self._former(old, reason), *slot.history)
        self.slots[name][key] = Slot(
            value=value,
            updated_at=self._now,
            history=history[:HISTORY_MAX],
            confidence=slot.confidence if restyled else None,
        )
        entries = self.lists[name]
        at = next((i for i, entry in enumerate(entries) if entry.key == key), None)
        if at is None:  # a free-form entry that says so becomes the keyed one
            at = next((i for i, e in enumerate(entries) if not e.key and same(e.text, value)), len(entries))
        entries[at : at + 1] = [Entry(value, key)]
        self.drop(name, lambda e: not e.key and (same(e.text, value) or same(e.text, old)))
        return "" if restyled else old

    def archive(self, name: str, key: str, texts: Iterable[str], reason: str) -> None:
        """Put free-form texts that a slot's value replaces into its history."""
        former = tuple(self._former(text, reason) for text in texts)
        slot = self.slots[name][key]
        self.slots[name][key] = slot.model_copy(update={"history": (*former, *slot.history)[:HISTORY_MAX]})

    def drop(self, name: str, which: Callable[[Entry], bool]) -> list[str]:
        """Take entries out of a list and return their texts; slots stay as they are."""
        gone = [entry.text for entry in self.lists[name] if which(entry)]
        self.lists[name] = [entry for entry in self.lists[name] if not which(entry)]
        return gone

    def make_room(self, name: str, fresh: int) -> list[str] | None:
        """Drop the oldest free-form entries until the limit holds.

        Args:
            name: the list.
            fresh: how many entries at its end are new and stay.

        Returns:
            What was dropped; ``None`` when even that would not be enough (then nothing was).
        """
        entries = self.lists[name]
        excess = max(0, len(entries) - self.limit(name))
        old = [i for i, entry in enumerate(entries[: len(entries) - fresh]) if not entry.key][:excess]
        if len(old) < excess:
            return None
        self.lists[name] = [entry for i, entry in enumerate(entries) if i not in old]
        return [entries[i].text for i in old]

    def _former(self, value: str, reason: str) -> SlotValue:
        return SlotValue(value=value, updated_at=self._now, reason=reason)


def _entries(texts: Iterable[str], slots: dict[str, Slot]) -> Iterator[Entry]:
    """Pair current values with the slots they come from; a value missing in the list is put at its end."""
    waiting: dict[str, list[str]] = {}
    for key, slot in slots.items():
        if slot.value:
            waiting.setdefault(slot.value, []).append(key)
    for text in texts:
        yield Entry(text, waiting[text].pop(0) if waiting.get(text) else "")
    yield from (Entry(text, key) for text, keys in waiting.items() for key in keys)
