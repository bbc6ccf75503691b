"""Memories as Markdown for people. Our reader understands it, but the minute of a time and the keyed facts of
profiles are lost: a backup is the JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from ..models import Episode, Status
from ..profile_records import StoredProfile
from ..words import say
from .marks import BREAK, escaped, item_lines, joined, pair

__all__ = ["PROFILE_MARK", "to_markdown"]

PROFILE_MARK = "profile"
"""First field of the line under the heading of a profile."""


def to_markdown(
    episodes: Iterable[Episode] | None,
    profiles: Iterable[StoredProfile] | None,
    *,
    language: str,
    zone: tzinfo,
) -> str:
    """Return memories as a Markdown document.

    Args:
        episodes: in the document by month, oldest first; ``None`` for none.
        profiles: in the given order; ``None`` for none.
        language: of the headings.
        zone: in which times are shown, with their offset.
    """
    lines = [f"# {say(language, 'transfer.title')}", ""]
    for stored in profiles or ():
        lines += [*_profile(stored, language), ""]
    month = ""
    for episode in sorted(episodes or (), key=lambda e: (e.timestamp, e.id)):
        local = episode.timestamp.astimezone(zone)
        if f"{local:%Y-%m}" != month:
            lines += [*([""] if month else []), f"## {local:%Y-%m}", ""]
            month = f"{local:%Y-%m}"
        lines += [*item_lines(episode.content), "  " + _about(episode, local, language)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _about(episode: Episode, local: datetime, language: str) -> str:
    """Return the line under a memory: id, time, speaker, importance, status, tags."""
    values = [episode.id, shown_time(local)]
    if episode.sender_id or episode.sender_name:
        values.append(pair(episode.sender_name, episode.sender_id))
    values.append(f"{episode.importance}/5")
    if episode.status is not Status.ACTIVE:
        values.append(say(language, f"command.status_{episode.status}"))
    if episode.tags:
        values.append(", ".join(f"#{pair(tag)}" for tag in episode.tags))
    return joined(values)


def shown_time(local: datetime) -> str:
    """Return a time to the minute with its offset."""
    return f"{local:%Y-%m-%d %H:%M} {f'{local:%z}' if local.utcoffset() else 'UTC'}"


def _profile(stored: StoredProfile, language: str) -> Iterator[str]:
    profile = stored.profile
    if stored.target == "speaker":
        yield f"## {escaped(pair(stored.sender_name or profile.name, stored.sender_id))}"
    else:
        yield f"## {say(language, 'transfer.profile_session')}"
    yield joined([PROFILE_MARK, stored.scope.session_key])
    yield ""
    if profile.name:
        yield f"- {say(language, 'transfer.name')}: {escaped(_line(profile.name))}"
    for field, texts in (("traits", profile.traits), ("preferences", profile.preferences)):
        if texts:
            yield f"- {say(language, f'transfer.{field}')}:"
            yield from (f"  - {escaped(_line(text))}" for text in texts)
    if profile.notes:
        yield f"- {say(language, 'transfer.notes')}: {BREAK}"
        yield from (
            line.replace("- ", "  ", 1) if not i else line for i, line in enumerate(item_lines(profile.notes))
        )


def _line(text: str) -> str:
    return " ".join(text.split())
