"""Whether two memories say the same, but for words that add nothing."""

from __future__ import annotations

import re

from .fold import fold

__all__ = ["gist"]

_WORD = re.compile(r"\w+")
_FILLERS = frozenset("a an the just really very quite so also too well oh hey actually btw please".split())  # noqa: SIM905
_SPOKEN = str.maketrans("", "", "啊呀啦呢哦嗯嘛噢喔哈欸诶")
"""Particles that tell a mood and nothing else."""
_SHORT = {"s": "is", "m": "am", "re": "are"}
"""What is left of "it's", "I'm" and "they're"."""


def gist(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, whatever their case, punctuation and fillers.

    Order counts, since it tells who lent whom; so do numbers, "not" and everything else that may make a difference.
    """
    folded = fold(text)
    words = (_SHORT.get(word, word) for word in _WORD.findall(folded.translate(_SPOKEN)))
    return tuple(word for word in words if word not in _FILLERS) or (folded,)
