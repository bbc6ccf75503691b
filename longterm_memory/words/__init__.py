"""Every sentence that people read, by language: ``words/<language>/<area>.json``, keys ``<area>.<key>``.

Adding a language is adding a folder; a key that a language lacks falls back to English. Placeholders are
``{name}``; values are inserted as they stand and never interpreted again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from string import Formatter

from ..errors import LongTermMemoryError

__all__ = ["FALLBACK", "LANGUAGES", "areas", "explain", "load", "say"]

FALLBACK = "en_US"
_ROOT = Path(__file__).parent


LANGUAGES = frozenset(
    path.name for path in _ROOT.iterdir() if path.is_dir() and not path.name.startswith("_")
)
"""Languages that have a folder; any other one is answered in English."""


def areas(language: str) -> list[str]:
    """Return the areas (files) that a language has, sorted."""
    return sorted(p.stem for p in (_ROOT / language).glob("*.json"))


@cache
def load(language: str) -> dict[str, str]:
    """Return all sentences of a language, keyed ``<area>.<key>``; ``{}`` for an unknown language."""
    found: dict[str, str] = {}
    for area in areas(language):
        entries = json.loads((_ROOT / language / f"{area}.json").read_text("utf-8"))
        found |= {f"{area}.{key}": text for key, text in entries.items()}
    return found


def say(language: str, key: str, /, **values: object) -> str:
    """Return the sentence ``key`` in ``language`` with its placeholders filled.

    Raises:
        KeyError: no language has that key, or a placeholder got no value (a mistake of ours, caught by tests).
    """
    text = load(language if language in LANGUAGES else FALLBACK).get(key)
    if text is None:
        text = load(FALLBACK)[key]
    return Formatter().vformat(text, (), values)


def explain(language: str, error: LongTermMemoryError) -> str:
    """Return an error as one line for a person, a model or a log."""
    return say(language, f"error.{error.reason}", **error.details)
