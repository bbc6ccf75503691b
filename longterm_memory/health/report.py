"""What the health check found, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..words import FALLBACK, load, say
from .outcomes import OUTCOMES, Level, level_of

__all__ = ["Check", "HealthReport", "Level", "sentence_key"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: stable name, a key of :data:`~.outcomes.OUTCOMES`.
        level: how it went.
        values: what was measured: ids, counts, milliseconds, versions; JSON values, never text of messages.
        outcome: which of the outcomes of this check.
    """

    name: str
    level: Level
    values: dict[str, object] = field(default_factory=dict)
    outcome: str = ""

    @classmethod
    def of(cls, name: str, outcome: str, **values: object) -> Check:
        """Return a check with the level that its outcome has.

        Raises:
            KeyError: no such check or outcome.
        """
        return cls(name, level_of(name, outcome), dict(values), outcome)

    @classmethod
    def unchecked(cls, name: str, because: str) -> Check:
        """Return a check that could not be made because the one called ``because`` failed."""
        return cls.of(name, "unchecked", because=because)

    def title(self, language: str) -> str:
        """Return what was looked at, in a few words."""
        return say(language, f"health.title_{self.name}")

    def text(self, language: str) -> str:
        """Return what came out, one sentence."""
        return self._said(language, "")

    def remedy(self, language: str) -> str:
        """Return what to do next, ``""`` when nothing needs to be done."""
        return "" if self.level is Level.OK else self._said(language, "_remedy")

    def _said(self, language: str, what: str) -> str:
        values = dict(self.values)
        if self.outcome == "unchecked":
            values["because"] = say(language, f"health.title_{self.values['because']}")
        return say(language, f"health.{sentence_key(self.name, self.outcome, what)}", **values)


def sentence_key(name: str, outcome: str, what: str = "") -> str:
    """Return the key, without its area, of the most particular sentence that there is for an outcome.

    Args:
        name: of the check, ``store_list``; its family ``store`` and ``any`` come after it.
        outcome: of the check.
        what: ``""`` for the sentence itself, ``"_remedy"`` for what to do.

    Raises:
        KeyError: there is none (a mistake of ours, caught by tests).
    """
    words = load(FALLBACK)
    for owner in (name, name.partition("_")[0], "any"):
        if f"health.{owner}_{outcome}{what}" in words:
            return f"{owner}_{outcome}{what}"
    raise KeyError(f"health.{name}_{outcome}{what}")


_ORDER = list(OUTCOMES)


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The outcome of a health check.

    Attributes:
        checks: what was looked at, in a fixed order.
    """

    checks: tuple[Check, ...]

    @classmethod
    def of(cls, checks: Sequence[Check]) -> HealthReport:
        """Return the report of these checks, sorted."""
        return cls(tuple(sorted(checks, key=lambda check: _ORDER.index(check.name))))

    @property
    def level(self) -> Level:
        """The worst level of all checks."""
        return max((check.level for check in self.checks), key=lambda level: level.rank, default=Level.OK)

    def of_level(self, level: Level) -> tuple[Check, ...]:
        """Return the checks that went like that."""
        return tuple(check for check in self.checks if check.level is level)

    def named(self, name: str) -> Check | None:
        """Return the check of that name, ``None`` when it was not made."""
        return next((check for check in self.checks if check.name == name), None)

    def public(self, language: str) -> dict[str, Any]:
        """Return it as JSON values for the console, with its sentences in ``language``."""
        return {
            "level": str(self.level),
            "checks": [
                {
                    "name": check.name,
                    "level": str(check.level),
                    "title": check.title(language),
                    "text": check.text(language),
                    "remedy": check.remedy(language),
                    "values": dict(check.values),
                }
                for check in self.checks
            ],
        }
