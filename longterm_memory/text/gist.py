"""Whether two memories say the same, but for words that add nothing."""

from __future__ import annotations

import re

from .fold import lowered

__all__ = ["gist"]

_APART = re.compile(r"""(?:[\s;!?"'`´‘’“”„«»()\[\]{}、。「」『』《》〈〉【】—~]|(?<!\d)[.,:]|[.,:](?!\d))+""")
"""What only sets words apart. All other signs tell something: C is not C++, -5 not 5, $50 not €50, and the vowels and
tones of many scripts are signs of their own.
"""
_FILLERS = frozenset("just really very quite so also too well oh hey actually btw please".split())  # noqa: SIM905
_ARTICLES = frozenset(("a", "an", "the"))
"""Before another word; the last one names something: plan A."""
_SPOKEN = re.compile(r"[啊呀啦呢哦嗯嘛噢喔哈欸诶]+(?![^\W_])")
"""Particles that tell a mood and nothing else, at the end of what they belong to; 哈尔滨 is a place."""
_SHORT = {"s": "is", "m": "am", "re": "are"}
"""What is left of "it's", "I'm" and "they're"."""


def gist(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order, whatever their case, punctuation and fillers.

    Order counts, since it tells who lent whom; so do numbers, signs, "not" and everything else that may make a
    difference.
    """
    folded = lowered(text)
    words = [word for word in _APART.split(_SPOKEN.sub("", folded)) if word]
    following = [*words[1:], "", ""]
    kept = (
        _SHORT.get(word, word)
        for word, after in zip(words, following, strict=False)
        if word not in _FILLERS and not (word in _ARTICLES and after[:1].isalnum())
    )
    return tuple(kept) or (folded,)
