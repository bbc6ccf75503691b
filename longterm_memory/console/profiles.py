"""The profiles of a space: of the conversation and of everybody in it, with what was there before, and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from ..errors import BadArgument
from ..models import Profile, Slot
from ..profile_changes import ENTRY_MAX, KEY_MAX, NAME_MAX, NOTES_MAX, Limits
from ..profile_records import StoredProfile
from ..scope import Speaker, clean_id
from ..words import explain, say
from .bounds import LIST_BYTES, size_of
from .requests import LongText, Route, ShortText, SpaceRequest, spoken

if TYPE_CHECKING:
    from ..scoped import ScopedMemory
    from ..service import MemoryService

__all__ = ["ROUTES"]


class FormerValue(BaseModel):
    """What an entry said before: until when, and why it changed (``set``, ``restated``…)."""

    value: str
    at: str
    reason: str


class EntryAnswer(BaseModel):
    """One trait or preference.

    Attributes:
        value: what it says; ``""`` when only former values are kept.
        fact_key: key of the fact, which has one current value; ``""`` for a free entry.
        updated_at: when a keyed one was set, ``""`` for free entries.
        confidence: 0..1, ``None`` when nobody said.
        history: former values of a keyed one, newest first, at most 8.
    """

    value: str
    fact_key: str = ""
    updated_at: str = ""
    confidence: float | None = None
    history: list[FormerValue] = []

    @classmethod
    def of_slot(cls, key: str, slot: Slot) -> EntryAnswer:
        """Show a keyed fact."""
        return cls(
            value=slot.value,
            fact_key=key,
            updated_at=slot.updated_at,
            confidence=slot.confidence,
            history=[FormerValue(value=h.value, at=h.updated_at, reason=h.reason) for h in slot.history],
        )


class ProfileAnswer(BaseModel):
    """A profile, with all of its fields, empty ones too.

    Attributes:
        sender_id: whose, ``""`` for the conversation's own.
        sender_name: their latest name, ``""`` when not known.
        stored: whether there is anything in plugin storage.
        off: whether they switched memory off; nothing can be written for them then.
        history_cut: whether former values are left out here because all of them would be too much; ask for this
            ``sender_id`` alone.
    """

    sender_id: str
    sender_name: str
    stored: bool
    off: bool
    updated_at: str
    name: str
    traits: list[EntryAnswer]
    preferences: list[EntryAnswer]
    notes: str
    history_cut: bool = False

    @classmethod
    def of(cls, stored: StoredProfile, off: frozenset[str]) -> ProfileAnswer:
        """Show a profile."""
        profile = stored.profile
        return cls(
            sender_id=stored.sender_id,
            sender_name=stored.sender_name,
            stored=bool(profile.updated_at) or not profile.empty,
            off=bool(stored.sender_id) and stored.sender_id in off,
            updated_at=profile.updated_at,
            name=profile.name,
            traits=_entries(profile.traits, profile.trait_slots),
            preferences=_entries(profile.preferences, profile.preference_slots),
            notes=profile.notes,
        )

    def without_history(self) -> ProfileAnswer:
        """Return it without former values."""

        def bare(entries: list[EntryAnswer]) -> list[EntryAnswer]:
            return [e.model_copy(update={"history": []}) for e in entries if e.value]

        lists = {"traits": bare(self.traits), "preferences": bare(self.preferences)}
        return self.model_copy(update={**lists, "history_cut": True})


def _entries(values: tuple[str, ...], slots: dict[str, Slot]) -> list[EntryAnswer]:
    """Return current values in order, each with its slot if it has one, then slots with former values only."""
    waiting = dict(slots)
    found = list[EntryAnswer]()
    for value in values:
        key = next((key for key, slot in waiting.items() if slot.value == value), "")
        found.append(EntryAnswer.of_slot(key, waiting.pop(key)) if key else EntryAnswer(value=value))
    return found + [EntryAnswer.of_slot(key, slot) for key, slot in waiting.items()]


class LimitsAnswer(BaseModel):
    """How much fits: entries of the lists, characters of the texts."""

    traits: int
    preferences: int
    name_chars: int = NAME_MAX
    entry_chars: int = ENTRY_MAX
    notes_chars: int = NOTES_MAX
    key_chars: int = KEY_MAX


class ProfilesRequest(SpaceRequest):
    """A page of profiles.

    Attributes:
        page: from 1; one beyond the last is the last one.
        size: speakers on a page, 1..20.
        search: text in the sender id, the name or the profile, in any case; reads every profile of the space.
        sender_id: only that speaker, with all former values.
    """

    page: Annotated[int, Field(ge=1)] = 1
    size: Annotated[int, Field(ge=1, le=20)] = 10
    search: ShortText = ""
    sender_id: ShortText = ""


class ProfilesAnswer(BaseModel):
    """Profiles of a space.

    Attributes:
        session: the conversation's own, ``None`` when it cannot be read.
        speakers: those of this page, by sender id.
        total: speakers in all.
        problems: why profiles of this page cannot be shown, in sentences.
    """

    session: ProfileAnswer | None
    speakers: list[ProfileAnswer]
    total: int
    page: int
    pages: int
    limits: LimitsAnswer
    problems: list[str]


async def _profiles(service: MemoryService, request: ProfilesRequest) -> ProfilesAnswer:
    memory = await request.memory(service)
    language = await spoken(service, request.language)
    found = await memory.browsing.profiles(
        request.page, request.size, search=request.search, sender_id=clean_id(request.sender_id)
    )
    limits = Limits.of(memory.settings)
    answer = ProfilesAnswer(
        session=ProfileAnswer.of(found.session, found.off) if found.session else None,
        speakers=[ProfileAnswer.of(stored, found.off) for stored in found.speakers.items],
        total=found.speakers.total,
        page=found.speakers.page,
        pages=found.speakers.pages,
        limits=LimitsAnswer(traits=limits.traits, preferences=limits.preferences),
        problems=[explain(language, problem) for problem in found.problems[:_PROBLEMS]],
    )
    if size_of(answer.model_dump(mode="json")) <= LIST_BYTES or request.sender_id:
        return answer
    session = answer.session.without_history() if answer.session else None
    speakers = [speaker.without_history() for speaker in answer.speakers]
    return answer.model_copy(update={"session": session, "speakers": speakers})


_PROBLEMS = 20
"""Most sentences about profiles that cannot be read."""


# ---------------------------------------------------------------- changes


class ProfileChangeRequest(SpaceRequest):
    """A change of one field, as the tool ``update_profile`` makes it.

    Attributes:
        sender_id: whose profile, ``""`` for the conversation's own.
        field: what changes.
        action: ``set``, ``add``, ``remove``; ``clear`` takes everything out of the field, former values too.
        value: the text; not needed for ``clear``, nor for ``remove`` of a name or of a whole ``fact_key``.
        fact_key: key of a fact of traits or preferences that has one current value.
        previous_value: the entry (or lines of notes) that ``set`` replaces; without it ``set`` replaces the whole
            field.
    """

    sender_id: ShortText = ""
    field: Literal["name", "traits", "preferences", "notes"]
    action: Literal["set", "add", "remove", "clear"]
    value: LongText = ""
    fact_key: ShortText = ""
    previous_value: LongText = ""


class ProfileChangeAnswer(BaseModel):
    """What became of it.

    Attributes:
        text: a sentence about it.
        outcome: ``set``, ``added``, ``removed``, ``unchanged``, ``no_match``, ``full``…
        written: whether the profile changed.
        profile: as it stands now.
    """

    text: str
    outcome: str
    written: bool
    profile: ProfileAnswer


async def _change(service: MemoryService, request: ProfileChangeRequest) -> ProfileChangeAnswer:
    memory = await request.memory(service)
    language = await spoken(service, request.language)
    sender_id = clean_id(request.sender_id)
    if request.sender_id and not sender_id:
        raise BadArgument("speaker_unknown")
    speaker = Speaker(sender_id)
    values: list[str] = [request.value] if request.value else []
    clear = request.action == "clear"
    if clear:
        values = await _everything(memory, speaker, request.field)
    if clear and not values:
        return await _answer(memory, speaker, language, "unchanged", written=False, field=request.field)
    change = await memory.update_profile(
        field=request.field,
        action="remove" if clear else request.action,
        values=values,
        target="speaker" if speaker.known else "session",
        fact_key="" if clear else request.fact_key,
        previous_value=request.previous_value,
        speaker=speaker,
    )
    return await _answer(memory, speaker, language, change.outcome, written=change.written, **change.details)


async def _everything(memory: ScopedMemory, speaker: Speaker, field: str) -> list[str]:
    """Return what a field says now and said before, so that all of it can be removed."""
    found = await memory.browsing.profiles(1, 1, sender_id=speaker.id)
    stored = next(iter(found.speakers.items), None) if speaker.known else found.session
    if stored is None:
        raise found.problems[0]
    profile: Profile = stored.profile
    if field in ("name", "notes"):
        text: str = getattr(profile, field)
        return [text] if text else []
    slots = profile.trait_slots if field == "traits" else profile.preference_slots
    former = [text for slot in slots.values() for text in (slot.value, *(h.value for h in slot.history))]
    return list(dict.fromkeys(text for text in (*getattr(profile, field), *former) if text))


async def _answer(
    memory: ScopedMemory, speaker: Speaker, language: str, outcome: str, *, written: bool, **details: object
) -> ProfileChangeAnswer:
    found = await memory.browsing.profiles(1, 1, sender_id=speaker.id)
    stored = next(iter(found.speakers.items), None) if speaker.known else found.session
    if stored is None:
        raise found.problems[0]
    return ProfileChangeAnswer(
        text=say(language, f"profile.{outcome}", **details),
        outcome=outcome,
        written=written,
        profile=ProfileAnswer.of(stored, found.off),
    )


ROUTES = {
    "/profiles": Route(ProfilesRequest, _profiles),
    "/profile_change": Route(ProfileChangeRequest, _change, reads=False),
}
