"""What each check can come out as, and how bad that is.

One table: a check names an outcome, its level follows from here, its sentences from the words files. ``hung``
(nothing came in time), ``internal`` (a mistake of ours) and ``unchecked`` (something before it failed, or the
time was up) can happen to every check.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["ANYWHERE", "OUTCOMES", "Level", "level_of"]


class Level(StrEnum):
    """How a check went."""

    OK = "ok"
    WARN = "warn"
    """Memory works, but somebody should look; or it could not be checked."""
    ERROR = "error"
    """Memory, or a part of it, does not work until somebody mends this."""

    @property
    def rank(self) -> int:
        """0 for OK, more for worse."""
        return list(Level).index(self)


OK, WARN, ERROR = Level

ANYWHERE: Mapping[str, Level] = {"unchecked": WARN, "hung": ERROR, "internal": ERROR}
"""Outcomes of every check, where its own do not say otherwise."""

OUTCOMES: Mapping[str, Mapping[str, Level]] = {
    "knowledge_base": {
        "ok": OK,
        "none": ERROR,
        "no_model": ERROR,
        "gone": ERROR,
        "damaged": ERROR,
        "unread": ERROR,
    },
    "knowledge_base_refused": {"second": WARN, "no_model": WARN, "failed": WARN},
    "pipeline": {"attached": OK, "not_attached": ERROR, "emptied": ERROR, "hidden": WARN, "elsewhere": OK},
    "settings": {"ok": OK, "problems": WARN},
    "storage": {
        "ok": OK,
        "failed": ERROR,
        "sqlalchemy": ERROR,
        "unread": ERROR,
        "differs": ERROR,
        "kept": ERROR,
    },
    "host": {"ok": OK, "untested": WARN, "silent": WARN},
    "packages": {"ok": OK, "unseen": OK, "streaming": WARN},
    "embedding": {
        "ok": OK,
        "slow": WARN,
        "down": ERROR,
        "count": ERROR,
        "not_numbers": ERROR,
        "lengths": ERROR,
        "alike": ERROR,
    },
    "embedding_model": {"same": OK, "first": OK, "dimension": ERROR, "changed": ERROR},
    "embedding_pause": {"closed": OK, "ended": OK, "open": WARN},
    "store_write": {"ok": OK, "refused": ERROR, "unverified": ERROR, "foreign": ERROR},
    "store_list": {"ok": OK, "failed": ERROR, "foreign": ERROR, "missing": ERROR},
    "store_search": {"ok": OK, "failed": ERROR, "foreign": ERROR, "blind": ERROR},
    "store_metric": {
        "l2": OK,
        "cosine": OK,
        "similarity": OK,
        "mixes": WARN,
        "unknown": WARN,
        "backwards": ERROR,
        "failed": WARN,
        "hung": WARN,
    },
    "store_plain_filter": {
        "held": OK,
        "dropped": OK,
        "refused": OK,
        "nothing": OK,
        "unasked": OK,
        "hung": WARN,
    },
    "store_delete": {"ok": OK, "failed": ERROR, "kept": ERROR, "too_much": ERROR, "lingers": ERROR},
    "store_cleanup": {"ok": OK, "left": WARN, "unverified": WARN},
    "store_rows": {"ok": OK, "seen": WARN, "emptied": WARN, "off": ERROR},
    "store_answers": {"ok": OK, "short": WARN},
    "contents": {"ok": OK, "unread": WARN},
    "install_order": {"note": OK},
}
"""Every check in the order of the report, and its own outcomes."""


def level_of(name: str, outcome: str) -> Level:
    """Return the level of an outcome.

    Raises:
        KeyError: no such check, or it cannot come out like that.
    """
    return OUTCOMES[name].get(outcome) or ANYWHERE[outcome]
