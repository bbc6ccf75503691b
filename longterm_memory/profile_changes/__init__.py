"""What an update does to a profile: pure transitions, no storage, no clock, no language.

:func:`apply` takes a profile and a :class:`Change` and returns the profile as it then stands, with an outcome
for people. The lists ``traits`` and ``preferences`` hold all current values in order; those with a
``fact_key`` have a slot besides, which remembers former values. A ``remove`` may leave a slot with former
values only (its value ``""``).

=======  ========================================  ======================================================
action   with ``fact_key``                         without
=======  ========================================  ======================================================
set      the one value of that key; the old one    replaces the entries without a key (keyed facts stay);
         goes to the slot's history                with ``previous_value`` only that entry
add      as set                                    appends, unless it is there or states a keyed fact
remove   that value, in the slot and its history;  entries and keyed facts equal to it, in the list and in
         without a value the slot and its history  every history of the field
=======  ========================================  ======================================================

A free-form entry that contradicts a keyed value goes when that is set: one equal to the old value or to
``previous_value`` (looked for in both lists), or one that says the same fact in words (:mod:`.statements`). A
text without a key that states a keyed fact becomes that slot's value. What is replaced that way is kept in
the history.

Texts compare by :func:`~longterm_memory.text.fold.same_text` and are stored as given, except for control
characters and spaces at the ends. Nothing is cut: what is too long or too much is refused, and when a full
list takes a new entry, the oldest one without a key makes room and is named in the outcome.
"""

from .guard import new_secret
from .request import (
    ACTIONS,
    ENTRY_MAX,
    FIELDS,
    HISTORY_MAX,
    KEY_MAX,
    NAME_MAX,
    NOTES_MAX,
    TARGETS,
    Change,
    Limits,
)
from .transition import OUTCOMES, apply

__all__ = [
    "ACTIONS",
    "ENTRY_MAX",
    "FIELDS",
    "HISTORY_MAX",
    "KEY_MAX",
    "NAME_MAX",
    "NOTES_MAX",
    "OUTCOMES",
    "TARGETS",
    "Change",
    "Limits",
    "apply",
    "new_secret",
]
