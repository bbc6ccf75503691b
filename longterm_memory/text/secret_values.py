"""What the value of a secret looks like, as against a word of talk about one; for :mod:`.secret_rules`."""

from __future__ import annotations

import re

__all__ = [
    "PLACEHOLDER",
    "anything",
    "coded",
    "digit",
    "ending_coded",
    "key",
    "long_key",
    "long_mixed",
    "mixed",
    "phrase",
    "quoted",
    "random_key",
    "wallet_words",
    "word",
]

PLACEHOLDER = re.compile(
    r"(\D)\1*|0+|[*•.x_-]+|(?:your|my|the|some|insert|enter)[_-].*|.*[_-]here|[$%]\{?\w+\}?%?|\$\(.*"
    r"|user(?:name)?:pass(?:word)?|pass(?:word|wd)?|pwd|secret|token"
    r"|[\[{].*|(?:\w*[._][\w.]*|str|bytes|bool|quote|\w*(?:secret|token)\w*)\(.*"
    r"|(?:self|this|args|config|settings|os|process|env|request)\.[\w.]+|\w+_(?:password|secret|token|key)",
    re.IGNORECASE,
)
"""Values that stand for a secret without being one; names and calls in source code among them."""

_EDGE = "\"'`*_“”‘’«».,;:!?()[]（）。，；！？、"

_TALK_WORDS = """
    1password 2fa a about admin-only again all already also always an and any argon2 as ask at bad base64 bcrypt
    because been being blank boolean broken but by case-sensitive changed compromised correct default
    different difficult disabled easy empty enabled encrypted enough exactly expired expiring false field
    fine for forgotten from gone good great hard hashed here hidden hint how important in incorrect insecure
    invalid it just known leaked like locked long lost managed mandatory md5 mfa missing more my n/a
    necessary needed never new no none not null number oauth oauth2 obvious of off ok okay old on only
    optional or our out outdated password pending policy private protected public random readonly really
    redacted required reset revoked rotated safe salted same saved scrypt see sha1 sha256 sha512 shared
    short simple so sso still stored str string strong such tbd text that the their there this to todo too
    true unchanged undefined unique unknown unsafe unset up used utf-8 utf8 varchar very via visible weak
    what when where which why with working wrong yes your
"""
_TALK = frozenset(_TALK_WORDS.split())
"""What follows "the password is …" in talk about passwords."""

_INFLECTED = re.compile(r"[a-z]+(?:ed|ing|able|ible|ful|less|ly|ous)", re.IGNORECASE)
_ORDINARY = re.compile(
    r"v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d.*|[A-Z]{2,10}-\d{1,6}|#\d+"
    r"|\d{1,5}(?:st|nd|rd|th|k|m|s|ms|h|d|%|x|GB|MB|KB|[- ]?bits?|[- ]?(?:char|digit|day|hour|minute)\w*)"
    r"|(?:AES|SHA|RSA|MD|ED|ES|RS|HS|P|UTF|TLS|SSL|OAuth|base|x)-?\d+",
    re.IGNORECASE,
)
"""Everyday notations: versions, dates, tickets, amounts, ciphers."""

_NEVER_IN_A_WALLET = frozenset(
    ("and", "are", "but", "for", "has", "her", "his", "its", "not", "our", "the", "was", "were", "your")
)
"""Words of sentences that the 2048 words of a wallet's phrase (BIP 39) do not hold."""

_EXPLAINS_WORDS = """
    a an at confirm enter i in incorrect invalid is must never new no not old on only see the to too wrong your
"""
_EXPLAINS = frozenset(_EXPLAINS_WORDS.split())
"""How a quoted remark about a password begins, as against a quoted password."""


def _talk(bare: str) -> bool:
    return bare.lower() in _TALK or bool(_ORDINARY.fullmatch(bare))


def mixed(value: str, least: int = 5) -> bool:
    """Letters and digits, ``least`` characters or more."""
    bare = value.strip(_EDGE)
    return (
        len(bare) >= least
        and not _talk(bare)
        and any(ch.isdigit() for ch in bare)
        and any(ch.isalpha() for ch in bare)
    )


def long_mixed(value: str) -> bool:
    """As :func:`mixed`, eight characters or more: what may stand further from its label."""
    return mixed(value, 8)


def coded(value: str) -> bool:
    """Four characters or more with a digit, a sign or a capital inside: nothing a dictionary has."""
    bare = value.strip(_EDGE)
    return len(bare) >= 4 and not _talk(bare) and bool(re.search(r"\d|[^\w\s'’/.-]|[a-z][A-Z]", bare))


def ending_coded(value: str) -> bool:
    """A word of another script with a coded end: 向日葵2026."""
    return coded(re.sub(r"^[^!-~]+", "", value))


def word(value: str) -> bool:
    """Four characters or more that are no talk; participles and adjectives are."""
    bare = value.strip(_EDGE)
    return coded(value) or (len(bare) >= 4 and not _talk(bare) and not _INFLECTED.fullmatch(bare))


def key(value: str) -> bool:
    """Eight characters or more with letters and digits, or sixteen that are no words."""
    bare = value.strip(_EDGE)
    if len(bare) < 8 or "://" in bare or _talk(bare):
        return False
    return mixed(value) or (len(bare) >= 16 and not re.fullmatch(r"[A-Za-z]+(?:[-_/.][A-Za-z]+)*", bare))


def long_key(value: str) -> bool:
    """Sixteen characters or more with letters and digits; what may follow a label without "is" or a sign."""
    return key(value) and mixed(value, 16)


def random_key(value: str) -> bool:
    """As :func:`long_key`, and in one piece: no path, no UUID, no words with a number."""
    return long_key(value) and any(mixed(part, 16) for part in re.split(r"[-_.:/\\]", value))


def phrase(value: str) -> bool:
    """Several words that do not start like talk."""
    first = value.split()[0]
    return not _talk(first) and not _INFLECTED.fullmatch(first)


def quoted(value: str) -> bool:
    """What stands in quotation marks, unless it explains: "must be changed"."""
    return value.lower().split()[0] not in _EXPLAINS and not _INFLECTED.fullmatch(value)


def wallet_words(value: str) -> bool:
    """Twelve words or more, none of which makes a sentence of them."""
    return _NEVER_IN_A_WALLET.isdisjoint(value.lower().split())


def digit(value: str) -> bool:
    """Anything with a digit."""
    return any(ch.isdigit() for ch in value)


def anything(value: str) -> bool:
    """Anything at all: what is around it says enough."""
    return bool(value)
