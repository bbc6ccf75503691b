"""Words that are typed without their accents: cafe and café, Muller or Mueller and Müller, ban hang and bạn hàng.

An accent makes another word (má is a mother, mà a but), so words stay as they are written. Only what has no accents at
all may stand for a word that has some, since whoever leaves them out leaves out all of them.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["plain_forms", "without_accents"]

_MAY_HAVE = re.compile(
    "[\u00c0-\u024f\u0300-\u036f\u0370-\u03ff\u0400-\u052f\u0622-\u0626\u0653-\u0655\u1e00-\u1fff]"
)
"""Latin, Greek and Cyrillic letters with something on them, Arabic ones with a hamza or madda."""
_MARKS = re.compile("[\u0300-\u036f\u0653-\u0655]")
_OWN_LETTERS = frozenset("йЙїЇўЎћЋ")
"""Letters of their own, which nobody leaves the sign out of."""
_STROKES = str.maketrans("đĐøØłŁıħĦŧŦðÐ", "dDoOlLihHtTdD")
_TWO = {"æ": "ae", "œ": "oe", "þ": "th", "ß": "ss"}
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"}
"""What Germans and Scandinavians write where they have no such key; others leave out the dots."""


def _letter(ch: str) -> str:
    if ch in _OWN_LETTERS:
        return ch
    apart = unicodedata.normalize("NFD", ch)
    return apart[0] if len(apart) > 1 and not _MARKS.sub("", apart[1:]) else _TWO.get(ch, ch)


def without_accents(text: str) -> str:
    """Return a text with its letters' accents left out; other scripts as they are."""
    if _MAY_HAVE.search(text) is None:
        return text
    return _MARKS.sub("", "".join(map(_letter, unicodedata.normalize("NFC", text)))).translate(_STROKES)


def plain_forms(word: str) -> tuple[str, ...]:
    """Return how people write a folded word or text who leave its accents out; none when it has none.

    Args:
        word: such as ``müller``, which gives ``muller`` and ``mueller``.
    """
    if _MAY_HAVE.search(word) is None:
        return ()
    whole = unicodedata.normalize("NFC", word)
    written_out = "".join(_UMLAUTS.get(ch, ch) for ch in whole)
    forms = (without_accents(whole), without_accents(written_out))
    return tuple(form for form in dict.fromkeys(forms) if form != word)
