"""Putting the profiles of a file into their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import BadArgument, LongTermMemoryError, StorageFailed
from ..models import Profile, ProfileChange
from ..profile_changes import Limits
from ..profile_records import profile_key
from ..reach import keys_of
from ..scope import Scope, Speaker
from ..withdrawals import Withdrawal, Withdrawals
from .profile_rows import ProfileArrival, merged

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["PlacedProfile", "ProfileImport", "ProfileOutcome", "check_row", "placed"]


@dataclass(frozen=True, slots=True)
class PlacedProfile:
    """A profile of a file and where it goes.

    Attributes:
        line: its number in the file.
        scope: the conversation.
        speaker: whose profile; ``None`` = the conversation's own.
        profile: what it holds.
    """

    line: int
    scope: Scope
    speaker: Speaker | None
    profile: Profile


@dataclass(frozen=True, slots=True)
class ProfileOutcome:
    """What becomes of a profile.

    Attributes:
        key: its storage key.
        profile: as it then stands.
        created: whether there was none before.
        changed: whether anything is new in it.
        left_out: what was not taken of the given one, and why.
        error: why nothing could be done.
    """

    key: str
    profile: Profile
    created: bool = False
    changed: bool = False
    left_out: tuple[LongTermMemoryError, ...] = ()
    error: LongTermMemoryError | None = None


def placed(
    judged: Sequence[ProfileArrival], into: Scope | None
) -> tuple[list[PlacedProfile], list[ProfileArrival]]:
    """Give each profile its place; returns those that have one, and the others.

    Into one scope go the profiles of its own conversation, if the file has any; else those of the only
    conversation that the file has. Those of several conversations are never poured into one.
    """
    if into is None:
        return [PlacedProfile(p.line, p.scope, p.speaker, p.profile) for p in judged if p.scope], []
    conversations = {p.scope.session_key if p.scope else "" for p in judged}
    own = into.session_key if into.session_key in conversations else None
    if not into.launcher_id or (own is None and len(conversations) > 1):
        return [], list(judged)
    taken = [p for p in judged if own is None or (p.scope is not None and p.scope.session_key == own)]
    return (
        [PlacedProfile(p.line, into, p.speaker, p.profile) for p in taken],
        [p for p in judged if p not in taken],
    )


def check_row(withdrawals: Withdrawals, began: int, scope: Scope, sender_id: str) -> None:
    """Refuse what is about somebody who withdrew since an import began.

    Raises:
        BadArgument: ``row_speaker_off`` or ``row_erased``.
    """
    found = withdrawals.since(began, keys_of(scope), sender_id)
    if found is not None:
        raise BadArgument("row_speaker_off" if found is Withdrawal.OFF else "row_erased")


class ProfileImport:
    """Writes the profiles of one import.

    Args:
        service: the installation's memory.
        limits: sizes of the lists.
        began: when the import began (:meth:`.withdrawals.Withdrawals.now`).
    """

    def __init__(self, service: MemoryService, limits: Limits, began: int) -> None:
        self._service = service
        self._limits = limits
        self._began = began

    async def outcome(self, one: PlacedProfile) -> ProfileOutcome:
        """Tell what :meth:`apply` would do; nothing is written.

        Raises:
            StorageFailed: ``storage_down``.
        """
        return await self._attempt(one, write=False)

    async def apply(self, one: PlacedProfile) -> ProfileOutcome:
        """Write a profile, as far as it is new where it goes.

        Raises:
            StorageFailed: ``storage_down``; it may not have been written.
        """
        return await self._attempt(one, write=True)

    async def _attempt(self, one: PlacedProfile, *, write: bool) -> ProfileOutcome:
        store, key = self._service.profiles, profile_key(one.scope, one.speaker)
        nothing = ProfileOutcome(key, one.profile)
        try:
            there = await store.read(key)
            profile, left_out = self._merged(there.profile if there else Profile(), one)
            found = replace(
                nothing,
                profile=profile,
                created=there is None,
                changed=profile is not there.profile if there else profile != Profile(),
                left_out=tuple(left_out),
            )
            if not write or not found.changed:
                return found
            # The name that the bot knows is newer than one in a file.
            named = there is not None and there.sender_name
            speaker = Speaker(one.speaker.id) if one.speaker and named else one.speaker
            change = await store.change(
                one.scope,
                speaker,
                lambda now: ProfileChange(
                    self._merged(now, one)[0], "speaker" if speaker else "session", "set"
                ),
                lambda: check_row(
                    self._service.withdrawals, self._began, one.scope, one.speaker.id if one.speaker else ""
                ),
            )
            return replace(found, profile=change.profile)
        except LongTermMemoryError as exc:
            if isinstance(exc, StorageFailed) and exc.reason == "storage_down":
                raise
            return replace(nothing, error=exc)

    def _merged(self, stored: Profile, one: PlacedProfile) -> tuple[Profile, list[LongTermMemoryError]]:
        return merged(stored, one.profile, self._service.now(), self._limits)
