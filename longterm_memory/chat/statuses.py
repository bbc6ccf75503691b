"""The words for an episode's status that people and models use."""

from __future__ import annotations

from ..models import Status
from ..text.fold import fold
from ..words import LANGUAGES, load

__all__ = ["STATUS_NAMES", "STATUS_WORDS"]

STATUS_NAMES = ("active", "superseded", "archived")
"""The words that sentences list."""

STATUS_WORDS: dict[str, Status] = {
    "已取代": Status.SUPERSEDED,
    **{
        fold(load(language).get(f"command.status_{name}", name)): Status(name)
        for language in LANGUAGES
        for name in STATUS_NAMES
    },
    **{name: Status(name) for name in STATUS_NAMES},
}
"""Folded word → status: what replies and Markdown exports call it in any language can be typed and read back."""
