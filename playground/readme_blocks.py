"""The generated blocks of the README: written into the English one, their numbers carried into its translations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from .envs import ROOT

__all__ = ["README", "carried", "documents", "placed"]

README: Final = ROOT / "README.md"
TRANSLATIONS: Final = ROOT / "readme"
_NUMBER: Final = re.compile(r"\d+(?:[.,:-]\d+)*")


def placed(text: str, name: str, block: str) -> str:
    """Return a document with the block ``<!-- name -->`` … ``<!-- /name -->`` replaced.

    Raises:
        ValueError: the document has no such block.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"no {begin} … {end} to write to")
    return f"{head}{begin}\n{block}\n{end}{tail}"


def carried(before: str, after: str, translated: str) -> str:
    """Return the translation of a block with its numbers renewed, words untouched.

    Args:
        before: the English block that was translated.
        after: the English block as it is to be; as many lines, and in each as many numbers.
        translated: the translation of ``before``; a line may have its numbers in another order.

    Raises:
        ValueError: a line or a number is new, so that somebody has to translate it.
    """
    blocks = [text.strip("\n").splitlines() for text in (before, after, translated)]
    if len({len(lines) for lines in blocks}) > 1:
        raise ValueError("the number of lines changed")
    return "\n".join(_renewed(*lines) for lines in zip(*blocks, strict=True))


def _renewed(before: str, after: str, translated: str) -> str:
    old, new = _NUMBER.findall(before), _NUMBER.findall(after)
    if len(old) != len(new):
        raise ValueError(f"the numbers of this line are others: {after}")
    left = list(zip(old, new, strict=True))

    def next_of(match: re.Match[str]) -> str:
        for pair in left:
            if pair[0] == match[0]:
                left.remove(pair)
                return str(pair[1])
        raise ValueError(f"{match[0]} does not stand in this line: {before}")

    return _NUMBER.sub(next_of, translated)


def documents(name: str, block: str) -> dict[Path, str]:
    """Return each README with the text that it is to have once a block of it is this.

    Raises:
        ValueError: one of them lacks the block, or needs a translator; the message says which.
    """
    english = README.read_text("utf-8")
    before, found = _inside(english, name), {README: placed(english, name, block)}
    for path in sorted(TRANSLATIONS.glob("README_*.md")):
        text = path.read_text("utf-8")
        try:
            found[path] = placed(text, name, carried(before, block, _inside(text, name)))
        except ValueError as exc:
            raise ValueError(f"readme/{path.name}, <!-- {name} -->: {exc}; translate it by hand") from None
    return found


def _inside(text: str, name: str) -> str:
    return text.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0]
