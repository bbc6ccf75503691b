"""Every sentence that people read, by language: ``words/<language>/<area>.json``, keys ``<area>.<key>``.

Adding a language is adding a folder (docs/translating.md); a key that a language lacks falls back to English.
Placeholders are ``{name}``; values are inserted as they stand and never interpreted again.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from string import Formatter

from ..errors import LongTermMemoryError

__all__ = ["FALLBACK", "LANGUAGES", "areas", "explain", "joined", "load", "nearest", "say"]

FALLBACK = "en_US"

_ROOT = files(__name__)
_TERMS = {"kind": "secret.", "status": "command.status_", "detail": "detail.", "expected": "detail."}
"""Details of errors that are no values but keys, and how those begin: the kind ``password`` is
``secret.password``. What their words need stands beside them."""


def areas(language: str) -> list[str]:
    """Return the areas (files) that a language has, sorted; none for an unknown language."""
    folder = _ROOT / language
    if not folder.is_dir():
        return []
    return sorted(file.name.removesuffix(".json") for file in folder.iterdir() if file.name.endswith(".json"))


LANGUAGES = tuple(sorted(folder.name for folder in _ROOT.iterdir() if areas(folder.name)))
"""Languages that have a folder with words; any other one is answered in English."""


def nearest(tag: str) -> str:
    """Return the language to speak to a reader of *tag* (``zh-TW``, ``es``): theirs, a like one, else English."""
    parts = tag.strip().replace("-", "_").casefold().split("_")
    if parts[0] == "zh" and not {"hans", "hant"}.intersection(parts):
        parts.append("hant" if {"tw", "hk", "mo"}.intersection(parts) else "hans")
    alike = [name for name in LANGUAGES if name.casefold().split("_")[0] == parts[0]]
    return max(
        alike, key=lambda name: len({*name.casefold().split("_")}.intersection(parts)), default=FALLBACK
    )


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


def joined(*sentences: str) -> str:
    """Return sentences in one line: with a space between them, none after a full stop that is wide itself (。)."""
    line = ""
    for sentence in sentences:
        line += sentence if not line or line.endswith(("。", "！", "？")) else f" {sentence}"
    return line


def explain(language: str, error: LongTermMemoryError, command: str = "!memory") -> str:
    """Return an error as one line for a person, a model or a log.

    Args:
        language: of the sentence.
        error: what went wrong.
        command: the command as it is typed here; stands for ``{c}`` in the sentence.
    """
    details = {
        name: say(language, f"{_TERMS[name]}{value}", **error.details) if name in _TERMS else value
        for name, value in error.details.items()
    }
    return say(language, f"error.{error.reason}", **{"c": command, **details})
