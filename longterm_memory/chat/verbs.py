"""The subcommands of ``!memory`` and their options, as one table each.

Parsing, help and the nearest-name suggestion all read these tables; a new subcommand is a new row here and
its sentences in ``words/<language>/command.json`` (``usage_<verb>``, ``about_<verb>``, ``more_<verb>``).
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum, StrEnum

from .tokens import folded

__all__ = [
    "AVAILABLE",
    "OPTIONS",
    "VERBS",
    "Group",
    "Option",
    "OptionKind",
    "Place",
    "Verb",
    "VerbSpec",
    "find_verb",
    "nearest_verb",
]


class Verb(StrEnum):
    """Every subcommand; the value is the word that people type."""

    OVERVIEW = ""
    PROFILE = "profile"
    SEARCH = "search"
    LIST = "list"
    SHOW = "show"
    FORGET = "forget"
    ARCHIVE = "archive"
    RESTORE = "restore"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    EDIT = "edit"
    AUDIT = "audit"
    EXPORT = "export"
    IMPORT = "import"
    DELETE = "delete"
    STATS = "stats"
    WHY = "why"
    HEALTH = "health"
    CONSOLIDATE = "consolidate"
    CANDIDATES = "candidates"
    CANDIDATE = "candidate"
    ME = "me"
    FORGETME = "forgetme"
    OFF = "off"
    ON = "on"
    HELP = "help"


class Group(StrEnum):
    """What a subcommand is for; the overview of the help has one paragraph for each."""

    LOOK = "look"
    CHANGE = "change"
    MYSELF = "myself"
    MOVE = "move"
    CARE = "care"


class Place(Enum):
    """What a positional word is."""

    PAGE = 1
    """A page number, may be left out."""
    ID = 2
    """An episode id, as shown."""
    QUERY = 3
    """Everything that is no option, byte for byte."""
    TEXT = 4
    """The rest of the line, byte for byte; nothing in it is an option."""
    JSON = 5
    """The same, for JSON."""
    CHOICE = 6
    """One of the verb's choices."""
    CODE = 7
    """A confirmation code, may be left out."""
    TOPIC = 8
    """A subcommand, may be left out."""


class OptionKind(Enum):
    """How the value of an option is read."""

    FLAG = 1
    STATUS = 2
    WORD = 3
    TIME = 4
    IMPORTANCE = 5
    PAGE = 6
    PART = 7


@dataclass(frozen=True, slots=True)
class Option:
    """One option. ``example`` is a value that works, for the sentence that says one is missing."""

    name: str
    kind: OptionKind
    example: str = ""


@dataclass(frozen=True, slots=True)
class VerbSpec:
    """What one subcommand takes.

    Attributes:
        verb: the subcommand.
        group: what it is for.
        places: its positional words, in order.
        options: names of its options.
        aliases: short forms.
        choices: words for :attr:`Place.CHOICE`.
        choice_required: whether that word must stand there.
        filter_required: whether at least one option must be given.
        every_status: whether every status counts when no option says which.
        available: whether this release has it.
    """

    verb: Verb
    group: Group
    places: tuple[Place, ...] = ()
    options: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    choice_required: bool = False
    filter_required: bool = False
    every_status: bool = False
    available: bool = True


OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("status", OptionKind.STATUS, "archived"),
        Option("include-superseded", OptionKind.FLAG),
        Option("include-archived", OptionKind.FLAG),
        Option("all-statuses", OptionKind.FLAG),
        Option("speaker", OptionKind.WORD, "9001"),
        Option("speaker-name", OptionKind.WORD, "Mina"),
        Option("tag", OptionKind.WORD, "work"),
        Option("source", OptionKind.WORD, "import"),
        Option("after", OptionKind.TIME, "2026-05-01"),
        Option("before", OptionKind.TIME, "2026-05-31"),
        Option("importance", OptionKind.IMPORTANCE, "4"),
        Option("page", OptionKind.PAGE, "2"),
        Option("part", OptionKind.PART, "2"),
    )
}

_FILTERS = tuple(name for name in OPTIONS if name not in ("page", "part"))
_PAGED = (*_FILTERS, "page")

VERBS: dict[Verb, VerbSpec] = {
    spec.verb: spec
    for spec in (
        # In the order of the help.
        VerbSpec(Verb.OVERVIEW, Group.LOOK),
        VerbSpec(Verb.ME, Group.LOOK, (Place.PAGE,)),
        VerbSpec(Verb.PROFILE, Group.LOOK, (Place.PAGE,), aliases=("p",)),
        VerbSpec(Verb.SEARCH, Group.LOOK, (Place.QUERY,), _PAGED, ("s",)),
        VerbSpec(Verb.LIST, Group.LOOK, (Place.PAGE,), _PAGED, ("l", "ls")),
        VerbSpec(Verb.SHOW, Group.LOOK, (Place.ID, Place.PAGE)),
        VerbSpec(Verb.SUPERSEDED, Group.LOOK, (Place.PAGE,)),
        VerbSpec(Verb.ARCHIVED, Group.LOOK, (Place.PAGE,)),
        VerbSpec(Verb.WHY, Group.LOOK, (Place.QUERY,), _FILTERS),
        VerbSpec(Verb.STATS, Group.LOOK),
        VerbSpec(Verb.EDIT, Group.CHANGE, (Place.ID, Place.TEXT), aliases=("e",)),
        VerbSpec(Verb.ARCHIVE, Group.CHANGE, (Place.ID,)),
        VerbSpec(Verb.RESTORE, Group.CHANGE, (Place.ID,)),
        VerbSpec(Verb.FORGET, Group.CHANGE, (Place.ID,), aliases=("f",)),
        VerbSpec(
            Verb.DELETE,
            Group.CHANGE,
            options=("speaker", "tag", "before", "status"),
            filter_required=True,
            every_status=True,
        ),
        VerbSpec(Verb.OFF, Group.MYSELF),
        VerbSpec(Verb.ON, Group.MYSELF),
        VerbSpec(Verb.FORGETME, Group.MYSELF, (Place.CODE,)),
        VerbSpec(
            Verb.EXPORT,
            Group.MOVE,
            (Place.CHOICE,),
            (*_FILTERS, "part"),
            choices=("l2", "all", "md"),
            every_status=True,
        ),
        VerbSpec(Verb.IMPORT, Group.MOVE, (Place.CHOICE, Place.JSON), choices=("l2",), choice_required=True),
        VerbSpec(Verb.AUDIT, Group.CARE, (Place.CHOICE, Place.PAGE), ("part",), choices=("export",)),
        VerbSpec(Verb.HEALTH, Group.CARE),
        VerbSpec(Verb.HELP, Group.CARE, (Place.TOPIC,), aliases=("h", "?")),
        VerbSpec(
            Verb.CONSOLIDATE,
            Group.CARE,
            (Place.CHOICE,),
            choices=("preview", "run"),
            choice_required=True,
            available=False,
        ),
        VerbSpec(Verb.CANDIDATES, Group.CARE, (Place.PAGE,), available=False),
        VerbSpec(
            Verb.CANDIDATE,
            Group.CARE,
            (Place.CHOICE, Place.ID),
            choices=("accept", "reject"),
            choice_required=True,
            available=False,
        ),
    )
}

AVAILABLE: tuple[Verb, ...] = tuple(verb for verb, spec in VERBS.items() if spec.available)
"""The subcommands of this release, in the order of the help."""

_WORDS: dict[str, Verb] = {
    word: spec.verb for spec in VERBS.values() for word in (spec.verb.value, *spec.aliases) if word
}


def find_verb(word: str) -> Verb | None:
    """Return the subcommand that ``word`` names, whatever its case and width, or is an alias of."""
    return _WORDS.get(folded(word))


def nearest_verb(word: str) -> Verb | None:
    """Return the subcommand of this release that an unknown ``word`` most likely means."""
    names = [verb.value for verb in AVAILABLE if verb]
    close = get_close_matches(folded(word)[:40], names, n=1, cutoff=0.6)
    return Verb(close[0]) if close else None
