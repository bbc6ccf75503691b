"""The README's section about setting up: what it says is on the screen, in each of its languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from playground.envs import ROOT
from tests.support.webui_words import LANGUAGES, host_labels, our_labels, words

__all__ = [
    "BOLD",
    "ITALICS",
    "NEWER",
    "OLDER",
    "labels",
    "paragraphs",
    "quotes",
    "readmes",
    "set_up",
    "shown",
]

NEWER: Final = "4.11.2"
"""The LangBot version that the section is about."""
OLDER: Final = "4.10.11"
"""A paragraph that names this version alone is about it."""

ITALICS: Final = re.compile(r"\*(?!\s)([^*]+?)(?<!\s)\*")
BOLD: Final = re.compile(r"\*\*[^*]+\*\*")
_CODE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_QUOTES: Final = re.compile(r"[\"“«「『]([^\"”»」』]+)[\"”»」』]")


def readmes() -> dict[str, Path]:
    """Return the READMEs by language, those that exist."""
    files = {language: ROOT / "readme" / f"README_{language}.md" for language in LANGUAGES}
    return {
        language: path for language, path in (files | {"en_US": ROOT / "README.md"}).items() if path.exists()
    }


@cache
def set_up(language: str) -> str:
    """Return the section about setting up; in every language it stands at the same place."""
    english, own = (
        re.split(r"^## ", _CODE.sub("", readmes()[one].read_text("utf-8")), flags=re.MULTILINE)
        for one in ("en_US", language)
    )
    [place] = [n for n, section in enumerate(english) if n and section.startswith("Set it up")]
    return own[place]


def paragraphs(section: str) -> list[str]:
    """Return the parts of a section that blank lines keep apart."""
    return [part for part in re.split(r"\n\s*\n", section) if part.strip()]


def labels(section: str) -> list[tuple[str, str]]:
    """Return each label with the LangBot version it is about; the first thing in italics is the word "italics"."""
    found = [
        (OLDER if OLDER in part and NEWER not in part else NEWER, " ".join(label.split()))
        for part in paragraphs(section)
        for label in ITALICS.findall(BOLD.sub("", part))
    ]
    return found[1:]


def quotes(section: str) -> list[str]:
    """Return what stands in quotation marks: what one says to the bot."""
    return [" ".join(quote.split()) for quote in _QUOTES.findall(section)]


@cache
def shown(version: str, language: str) -> Mapping[str, set[str]]:
    """Return what can be read on the screen in a language, with what stands there in English."""
    own, english = words(version)[language], words(version)["en_US"]
    found: dict[str, set[str]] = {}
    for key, text in own.items():
        found.setdefault(text, set()).add(english.get(key, text))
    # The runner of 4.10 is a plugin in 4.11, which is not here; its settings are called what they were.
    for label in (*our_labels(), *host_labels(version), *host_labels(OLDER)):
        # The host's own settings have no further languages than two, and stand there in English.
        found.setdefault(_in(language, label), set()).add(_in("en_US", label))
    return found


def _in(language: str, label: Mapping[str, str]) -> str:
    return label.get(language) or label.get("en_US") or ""
