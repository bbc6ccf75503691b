"""The transition itself: a profile, a change, and what comes of it."""

from __future__ import annotations

from datetime import datetime

from ..errors import BadArgument
from ..models import Profile, ProfileChange
from ..text.times import iso
from .draft import Draft
from .guard import new_secret
from .lists import REFUSED, Outcome, change_list
from .request import NOTES_MAX, Change, Limits, same

__all__ = ["OUTCOMES", "apply"]

OUTCOMES = (
    "set",
    "set_key",
    "set_kept",
    "added",
    "added_note",
    "added_dropped",
    "replaced",
    "restated",
    "removed",
    "unchanged",
    "no_match",
    "full",
    "too_many",
    "notes_full",
)
"""Every outcome; each has a sentence ``profile.<outcome>`` in the words files."""


def apply(
    profile: Profile,
    change: Change,
    now: datetime,
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> ProfileChange:
    """Return what a change makes of a profile.

    Args:
        profile: as it stands; not modified.
        change: what to do.
        now: when; with a zone.
        limits: sizes of the lists.

    Returns:
        The new profile, or the very same object when nothing changed, with the outcome (one of
        :data:`OUTCOMES`) and its details. Texts of people in the details are fenced and cut, fit to be shown.

    Raises:
        BadArgument: ``content_secret`` when what is set or added makes a secret together with what is there.
    """
    draft = Draft(profile, iso(now), limits)
    outcome, details = _STEPS[change.field](draft, change)
    kept = outcome in REFUSED or not draft.changed
    # A removal brings nothing in; what came in some other way must be able to go.
    kind = None if kept or change.action == "remove" else new_secret(profile, draft.profile())
    if kind:
        raise BadArgument("content_secret", kind=kind)
    return ProfileChange(
        profile if kept else draft.profile(),
        change.target,
        "unchanged" if kept and outcome not in REFUSED else outcome,
        {"field": change.field, **details},
    )


def _name(draft: Draft, change: Change) -> Outcome:
    if change.action == "set":
        draft.name = change.value
        return "set", {}
    if not draft.name or (change.value and not same(change.value, draft.name)):
        return "no_match", {}
    draft.name = ""
    return "removed", {}


def _notes(draft: Draft, change: Change) -> Outcome:
    lines = draft.notes.split("\n") if draft.notes else []
    if change.action == "remove":
        kept = [line for line in lines if not _among(line, change.value)]
        draft.notes = "\n".join(kept).strip("\n")
        return ("removed" if len(kept) < len(lines) else "no_match"), {}
    text = change.value
    if change.action == "add" or change.previous_value:
        places = [i for i, line in enumerate(lines) if _among(line, change.previous_value)]
        at = places[0] if places else len(lines)
        rest = [line for i, line in enumerate(lines) if i not in places]
        fresh = [line for line in text.split("\n") if not _among(line, "\n".join(rest))]
        text = "\n".join([*rest[:at], *fresh, *rest[at:]])
    if len(text) > NOTES_MAX:
        return "notes_full", {"length": len(text), "limit": NOTES_MAX}
    draft.notes = text
    return ("added_note" if change.action == "add" else "set"), {"count": len(text), "limit": NOTES_MAX}


def _among(line: str, text: str) -> bool:
    """Whether a line is one of the text's lines; marks of a list do not count."""
    return any(same(_bare(line), _bare(other)) for other in text.split("\n"))


def _bare(line: str) -> str:
    return line.strip().lstrip("-*•· ")


_STEPS = {"name": _name, "notes": _notes, "traits": change_list, "preferences": change_list}
