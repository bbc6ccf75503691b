"""Episode ids: short enough to type, unique enough for any scope, legal everywhere.

Eight characters of Crockford's base32 in lower case, the first one a letter so that no id is ever read as a
number: 22 x 32^7 = 7.6e11 ids. They are scoped, so two memories of one scope collide with probability 1e-3 at
50 000 memories, and a new id is checked against the scope's index when that is loaded.
"""

from __future__ import annotations

import hashlib
import re
import secrets

__all__ = ["ALPHABET", "EXAMPLE", "LENGTH", "derived_id", "is_id", "new_id"]

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = ALPHABET[10:]
LENGTH = 8
EXAMPLE = "k7m29xqd"
_COUNT = len(_LETTERS) * len(ALPHABET) ** (LENGTH - 1)
_SHAPE = re.compile(rf"[{_LETTERS}][{ALPHABET}]{{{LENGTH - 1}}}")


def new_id() -> str:
    """Return a fresh random episode id."""
    return _id_of(secrets.randbelow(_COUNT))


def derived_id(name: str) -> str:
    """Return the episode id that follows from a name: the same for the same name."""
    return _id_of(int.from_bytes(hashlib.sha256(name.encode()).digest()[:16]) % _COUNT)


def _id_of(number: int) -> str:
    digits = ""
    for _ in range(LENGTH - 1):
        number, digit = divmod(number, len(ALPHABET))
        digits += ALPHABET[digit]
    return _LETTERS[number] + digits


def is_id(text: str) -> bool:
    """Whether ``text`` is exactly an id (no brackets, no upper case)."""
    return _SHAPE.fullmatch(text) is not None
