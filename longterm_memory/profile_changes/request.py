"""An update of a profile as somebody asks for it, checked before anything is read or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadArgument
from ..settings import Settings
from ..text.controls import printable
from ..text.fold import fold, same_text
from ..text.secrets import find_secret

__all__ = [
    "ACTIONS",
    "ENTRY_MAX",
    "FIELDS",
    "HISTORY_MAX",
    "KEY_MAX",
    "NAME_MAX",
    "NOTES_MAX",
    "SLOTS",
    "TARGETS",
    "Change",
    "Limits",
    "same",
]

FIELDS = ("name", "traits", "preferences", "notes")
ACTIONS = ("set", "add", "remove")
TARGETS = ("session", "speaker")

SLOTS = {"traits": "trait_slots", "preferences": "preference_slots"}
"""The fields that are lists, and where a profile keeps the slots of their keyed facts."""

NAME_MAX = 100
"""Longest name, in characters."""
ENTRY_MAX = 300
"""Longest trait or preference, in characters; what needs more is an episode."""
NOTES_MAX = 2_000
"""Longest notes, in characters."""
KEY_MAX = 60
"""Longest fact key, in characters."""
HISTORY_MAX = 8
"""Most former values of a slot."""

_NOTHING = frozenset({"", "null", "none", "undefined"})


def same(one: str, other: str) -> bool:
    """Whether two texts say literally the same; nothing is the same as an empty one."""
    return bool(one) and (same_text(one) or fold(one)) == (same_text(other) or fold(other))


@dataclass(frozen=True, slots=True)
class Limits:
    """How many entries the lists may have.

    Attributes:
        traits: most traits, keyed ones included.
        preferences: most preferences, keyed ones included.
    """

    traits: int = 20
    preferences: int = 10

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        """Return the limits that an operator set."""
        return cls(settings.max_profile_traits, settings.max_profile_preferences)


@dataclass(frozen=True, slots=True)
class Change:
    """One checked update; :meth:`read` makes it.

    Attributes:
        target: one of :data:`TARGETS`.
        field: one of :data:`FIELDS`.
        action: one of :data:`ACTIONS`.
        values: what to set, add or remove; empty only for a ``remove`` that can do without.
        fact_key: folded key of a keyed fact, ``""`` for none.
        previous_value: what the value replaces, ``""`` when not said.
    """

    target: str
    field: str
    action: str
    values: tuple[str, ...] = ()
    fact_key: str = ""
    previous_value: str = ""

    @property
    def value(self) -> str:
        """The one value, ``""`` when there is none."""
        return self.values[0] if self.values else ""

    @classmethod
    def read(
        cls,
        *,
        field: str,
        action: str,
        values: Sequence[str] | str | None = (),
        target: str | None = None,
        fact_key: str | None = None,
        previous_value: str | None = None,
    ) -> Change:
        """Check an update.

        Args:
            field: name, traits, preferences or notes.
            action: set, add or remove; a name is not added.
            values: one text, or several for the lists. ``null`` and ``none`` are no text.
            target: session or speaker; ``None`` = session for notes, else speaker.
            fact_key: key of the fact, for traits and preferences; ignored for the name, which is one anyway.
            previous_value: what the value replaces.

        Raises:
            BadArgument: ``expected_choice``, ``expected_text``, ``expected_one``, ``expected_value``,
                ``value_too_long`` or ``fact_key_field``; ``content_secret`` for a set or add of a secret.
        """
        what, how = _choice(field, FIELDS, "field"), _choice(action, ACTIONS, "action")
        where = _choice(target or ("session" if what == "notes" else "speaker"), TARGETS, "scope")
        if what == "name" and how == "add":
            raise BadArgument("expected_choice", parameter="action", choices="set, remove")
        raw = [values] if isinstance(values, str) else list(values or ())
        if not all(isinstance(value, str) for value in raw):
            raise BadArgument("expected_text", parameter="value")
        lines = what == "notes"
        key = "" if what == "name" else _text(fact_key or "", lines=False)
        change = cls(
            where,
            what,
            how,
            tuple(dict.fromkeys(text for text in (_text(value, lines) for value in raw) if text)),
            fold(key),
            _text(previous_value or "", lines),
        )
        change._check()
        if how != "remove":  # what came in some other way must be able to go
            # Before it is folded, which takes the capitals that some keys are known by.
            not_secret(key)
        return change

    def _check(self) -> None:
        if self.fact_key and self.field not in SLOTS:
            raise BadArgument("fact_key_field")
        if len(self.values) > 1 and (self.fact_key or self.field not in SLOTS):
            raise BadArgument("expected_one", parameter="value")
        can_do_without = self.action == "remove" and (self.fact_key or self.field == "name")
        if not self.values and not can_do_without:
            raise BadArgument("expected_value", parameter="value")
        if self.action == "remove":
            return
        _no_longer(self.fact_key, KEY_MAX, "fact_key")
        for value in self.values:
            _no_longer(value, {"name": NAME_MAX, "notes": NOTES_MAX}.get(self.field, ENTRY_MAX), "value")
            # "hunter2" alone is a word; "wifi password: hunter2" is not.
            not_secret(value, f"{self.fact_key}: {value}" if self.fact_key else "")


def not_secret(*texts: str) -> None:
    """Let texts pass that hold no secret.

    Raises:
        BadArgument: ``content_secret``.
    """
    for text in texts:
        kind = find_secret(text)
        if kind:
            raise BadArgument("content_secret", kind=kind)


def _choice(value: object, options: tuple[str, ...], parameter: str) -> str:
    word = fold(value) if isinstance(value, str) else ""
    if word not in options:
        raise BadArgument("expected_choice", parameter=parameter, choices=", ".join(options))
    return word


def _text(value: str, lines: bool) -> str:
    text = printable(value, lines=lines).strip()
    return "" if fold(text) in _NOTHING else text


def _no_longer(text: str, limit: int, parameter: str) -> None:
    if len(text) > limit:
        raise BadArgument("value_too_long", parameter=parameter, length=len(text), limit=limit)
