"""Reading an episode id the way people and models hand it back: as it was shown, or nearly.

Everything that shows an id puts something around it (``[k7m29xqd]``, ``(id k7m29xqd)``, ``#k7m29xqd``), and
what gets copied is anybody's guess. So whatever surrounds it is dropped, and letters that Crockford's base32
leaves out because they look like digits are read as those digits. Nothing is ever completed: an id has all
its characters or is none.
"""

from __future__ import annotations

import re
import unicodedata

from ..errors import NotFound
from ..ids import EXAMPLE, LENGTH, is_id
from .inert import shown, visible

__all__ = ["normalize_id", "split_id"]

_LONGEST = 64
"""Longest text that is looked at, in characters; also keeps the pattern below from backtracking far."""

_LABEL = r"(?:(?:episode|memory|记忆)?[\s_-]*(?:id|编号)[\s:=#]+|(?:episode|memory|记忆)[\s:=#]+)?"
_AS_SHOWN = re.compile(rf"[\W_]*{_LABEL}[\W_]*(?P<id>[0-9a-z]{{{LENGTH}}})[\W_]*")
_LOOKALIKES = str.maketrans("oil", "011")

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">", "【": "】", "「": "」", "『": "』", "《": "》"}
_CLOSING |= {"\u201c": "\u201d", "\u2018": "\u2019", '"': '"', "'": "'", "`": "`"}


def _read(text: str) -> str:
    """Return the id that ``text`` shows, ``""`` when it shows none."""
    folded = visible(unicodedata.normalize("NFKC", text[: _LONGEST + 1])).strip().lower()
    if len(folded) > _LONGEST:
        return ""
    match = _AS_SHOWN.fullmatch(folded)
    # The first character of an id is a letter, so that no id is a number; a look-alike there is no letter any
    # more.
    found = match["id"].translate(_LOOKALIKES) if match else ""
    return found if is_id(found) else ""


def normalize_id(given: object) -> str:
    """Return the episode id that somebody means.

    Args:
        given: what a person typed or a model sent: with brackets, ``#``, ``id=``, quotes, back-ticks, spaces
            around it,
            in upper case or full width, with ``o`` for ``0`` and ``i`` or ``l`` for ``1``.

    Raises:
        NotFound: ``id_malformed`` when that is no id; whether the id exists is for the caller to find out.
    """
    text = given if isinstance(given, str) else ("" if given is None else str(given))
    found = _read(text)
    if not found:
        raise NotFound("id_malformed", given=shown(text), example=EXAMPLE)
    return found


def split_id(text: str) -> tuple[str, str]:
    """Split a leading id, as shown, from what follows it.

    Args:
        text: what stands after the subcommand, e.g. ``(id k7m29xqd) Mina moved to Berlin``.

    Returns:
        The part that should be an id, and the rest, both without surrounding space; the first is ``""`` only
        when ``text`` is blank. Pass the first to :func:`normalize_id`.
    """
    text = text.strip()
    narrow = [unicodedata.normalize("NFKC", ch) for ch in text[:_LONGEST]]
    closing = _CLOSING.get(narrow[0]) if narrow else None
    if closing in narrow[1:]:
        end = narrow.index(closing, 1) + 1
        if _read(text[:end]):
            return text[:end], text[end:].strip()
    ends = [m.end() for m, _ in zip(re.finditer(r"\S+", text), range(3), strict=False)]
    for end in ends:  # "k7m29xqd", "id k7m29xqd", "id = k7m29xqd"
        if _read(text[:end]):
            return text[:end], text[end:].strip()
    end = ends[0] if ends else 0
    return text[:end], text[end:].strip()
