"""Secrets that a profile would hold after a change: looked for in what it then says, not only in what came."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from ..models import Profile
from ..text.secrets import find_across, find_secret
from .request import SLOTS

__all__ = ["new_secret"]


def new_secret(before: Profile, after: Profile) -> str | None:
    """Return the kind of a secret that a profile did not hold and now would, ``None`` when there is none.

    Entries and lines of notes are read with their neighbours, and values with their keys, former ones included:
    "wifi password:" was a harmless line until "hunter2x" came below it. What the profile held before is no reason
    to refuse a change.

    Args:
        before: the profile as it stands; an empty one for a profile that comes in whole.
        after: what it would become.
    """
    said, beside = set(_texts(before)), set(_neighbours(before))
    kinds = chain(
        (find_secret(text) for text in _texts(after) if text not in said),
        (find_across(pair) for pair in _neighbours(after) if pair not in beside),
    )
    return next(filter(None, kinds), None)


def _texts(profile: Profile) -> Iterator[str]:
    """Yield everything that a profile says; values with the keys of their facts."""
    yield profile.name
    yield from chain.from_iterable(_lists(profile))
    for name in SLOTS.values():
        for key, slot in getattr(profile, name).items():
            yield from (f"{key}: {value}" for value in (slot.value, *(one.value for one in slot.history)))


def _neighbours(profile: Profile) -> Iterator[tuple[str, str]]:
    for texts in _lists(profile):
        yield from pairwise(texts)


def _lists(profile: Profile) -> tuple[tuple[str, ...], ...]:
    return profile.traits, profile.preferences, tuple(profile.notes.split("\n"))
