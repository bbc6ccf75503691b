"""Profiles and what updates make of them, for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from longterm_memory.models import Profile, ProfileChange, Slot
from longterm_memory.profile_changes import OUTCOMES, Change, Limits, apply
from longterm_memory.profiles import ProfileStore
from longterm_memory.scope import Scope, Speaker
from longterm_memory.settings import LANGUAGES
from longterm_memory.words import say
from tests.support.memory_storage import MemoryStorage

__all__ = [
    "GROUP",
    "LATER",
    "MINA",
    "MINAS_KEY",
    "NOW",
    "STAMP",
    "STAMP_LATER",
    "TAO",
    "add",
    "after",
    "change",
    "history",
    "new_store",
]

NOW = datetime(2025, 3, 16, 12, tzinfo=UTC)
LATER = datetime(2025, 4, 1, 12, tzinfo=UTC)
STAMP, STAMP_LATER = "2025-03-16T12:00:00Z", "2025-04-01T12:00:00Z"


GROUP = Scope("b-01", "group", "77001")
MINA, TAO = Speaker("9001", "Mina"), Speaker("9002", "Tao")
MINAS_KEY = "ltm/profile/speaker/b-01:group_77001/9001"


def new_store(storage: MemoryStorage, **options: Any) -> ProfileStore:
    return ProfileStore(storage, now=lambda: NOW, **options)


async def add(
    store: ProfileStore, *values: str, scope: Scope = GROUP, speaker: Speaker = MINA, **more: Any
) -> ProfileChange:
    given_ = {"field": "traits", "action": "add", "values": values, **more}
    return await store.update(scope, speaker, **given_)


def change(
    profile: Profile, action: str, *values: str, field: str = "traits", at: datetime = NOW, **more: Any
) -> ProfileChange:
    limits = more.pop("limits", Limits())
    found = apply(profile, Change.read(field=field, action=action, values=values, **more), at, limits)
    assert found.outcome in OUTCOMES
    for language in LANGUAGES:
        assert say(language, f"profile.{found.outcome}", **found.details)
    return found


def after(
    profile: Profile, *steps: tuple[Any, ...], field: str = "traits", limits: Limits | None = None
) -> Profile:
    """Apply (action, value, fact_key) steps; each later than the one before."""
    for n, (action, value, *key) in enumerate(steps):
        at = NOW.replace(hour=n)
        options = {"fact_key": key[0]} if key else {}
        profile = change(
            profile, action, value, field=field, at=at, limits=limits or Limits(), **options
        ).profile
    return profile


def history(slot: Slot) -> list[str]:
    return [former.value for former in slot.history]
