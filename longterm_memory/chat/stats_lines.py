"""Statistics for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..models import Status
from ..scope import Speaker
from .inert import one_line
from .voice import Voice

if TYPE_CHECKING:
    from ..views import Stats

__all__ = ["stats"]

_NAMED = 10
"""Most speakers, tags and so on that are named; the rest is counted."""
_MONTHS = 12


def stats(voice: Voice, found: Stats) -> str:
    """Return numbers about the memories here."""
    lines = [
        voice.say(
            "stats_head",
            active=found.statuses.get(Status.ACTIVE, 0),
            superseded=found.statuses.get(Status.SUPERSEDED, 0),
            archived=found.statuses.get(Status.ARCHIVED, 0),
            profiles=found.profiles,
        )
    ]
    if found.oldest and found.newest:
        lines.append(
            voice.say(
                "stats_active",
                oldest=voice.date(found.oldest),
                newest=voice.date(found.newest),
                characters=found.characters,
            )
        )
        speakers = [(voice.speaker(Speaker(*who)), count) for who, count in found.speakers]
        lines.append(voice.say("stats_speakers", counts=_counts(voice, speakers)))
        if found.tags:
            tags = [(f"#{one_line(tag, 24)}", count) for tag, count in found.tags]
            lines.append(voice.say("stats_tags", counts=_counts(voice, tags)))
        sources = [(one_line(source, 24), count) for source, count in found.sources]
        lines.append(voice.say("stats_sources", counts=_counts(voice, sources)))
        levels = [(str(level), count) for level, count in found.importances.items()]
        lines.append(voice.say("stats_importances", counts=_counts(voice, levels)))
        months = list(reversed(found.months))
        lines.append(voice.say("stats_months", counts=_counts(voice, months, _MONTHS)))
    return "\n".join(lines)


def _counts(voice: Voice, counts: Sequence[tuple[str, int]], most: int = _NAMED) -> str:
    shown = " · ".join(f"{name}: {count}" for name, count in counts[:most])
    left = counts[most:]
    if not left:
        return shown
    rest = voice.say("stats_more", count=len(left), memories=voice.memories(sum(n for _, n in left)))
    return f"{shown} · {rest}"
