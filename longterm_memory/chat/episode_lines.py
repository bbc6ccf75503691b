"""Episodes as lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import IMPORTANCE_DEFAULT, Episode, Status
from ..scope import Speaker
from .inert import one_line
from .profile_lines import quoted_lines
from .voice import Voice

if TYPE_CHECKING:
    from ..episodes import Forgotten, Relatives

__all__ = ["episode_details", "episode_line", "forgotten_line"]

_CONTENT, _TAG, _TAGS, _ID = 140, 16, 3, 12
_WIDE = 120
"""Longest value in the details of one episode, in characters."""


def _status(voice: Voice, episode: Episode) -> str:
    return voice.say(f"status_{episode.status.value}")


def episode_line(
    voice: Voice, episode: Episode, *, here: str = "", score: float | None = None, limit: int = _CONTENT
) -> str:
    """Return an episode as one line of at most about 280 characters.

    Args:
        voice: how to write it.
        episode: the memory.
        here: session name of this conversation; where it was said is shown when it was somewhere else.
        score: final score of a search.
        limit: longest piece of the content, in characters.
    """
    parts = [
        f"[{episode.id}]" if score is None else f"[{episode.id}] {score:.2f}",
        voice.date(episode.timestamp),
    ]
    parts.append(voice.speaker(Speaker(episode.sender_id, episode.sender_name)))
    if episode.importance != IMPORTANCE_DEFAULT:
        parts.append(voice.say("episode_importance", importance=episode.importance))
    if episode.tags:
        parts.append(" ".join(f"#{one_line(tag, _TAG)}" for tag in episode.tags[:_TAGS]))
    if episode.superseded_by:
        parts.append(voice.say("episode_superseded", id=one_line(episode.superseded_by, _ID)))
    elif episode.status is not Status.ACTIVE:
        parts.append(_status(voice, episode))
    if here and episode.session_name and episode.session_name != here:
        parts.append(voice.say("episode_said_in", session_name=one_line(episode.session_name, 24)))
    return " · ".join([*parts, one_line(episode.content, limit)])


def episode_details(voice: Voice, episode: Episode, relatives: Relatives | None = None) -> list[str]:
    """Return everything known about an episode, one fact a line, its content quoted at the end.

    Args:
        voice: how to write it.
        episode: the memory.
        relatives: its other versions, when they were looked for; those that are neither in it nor
            withheld are gone.
    """
    when = voice.time(episode.timestamp)
    stored = voice.time(episode.created_at)
    lines = [
        voice.say("show_head", id=episode.id, status=_status(voice, episode)),
        voice.say("show_speaker", speaker=voice.speaker(Speaker(episode.sender_id, episode.sender_name))),
        voice.say("show_when", time=when)
        if when == stored
        else voice.say("show_when_stored", time=when, stored=stored),
        voice.say("show_importance", importance=episode.importance),
    ]
    if episode.tags:
        lines.append(voice.say("show_tags", tags=one_line(", ".join(episode.tags), 4 * _WIDE)))
    if episode.source:
        lines.append(voice.say("show_source", source=one_line(episode.source, _WIDE)))
    if episode.session_name:
        lines.append(voice.say("show_said_in", session_name=one_line(episode.session_name, _WIDE)))
    lines += _versions(voice, episode, relatives)
    if episode.document_id:
        lines.append(voice.say("show_document", document_id=one_line(episode.document_id, _WIDE)))
    if episode.imported_episode_id:
        lines.append(voice.say("show_imported", imported_id=one_line(episode.imported_episode_id, _WIDE)))
    lines.append(voice.say("show_content", count=len(episode.content)))
    return lines + quoted_lines(episode.content)


def _versions(voice: Voice, episode: Episode, relatives: Relatives | None) -> list[str]:
    """Return what replaced an episode, and what it replaced, each with its own line where it is known."""
    found = {e.id: e for e in (relatives.newer, *relatives.older) if e} if relatives else {}

    def version(episode_id: str) -> str:
        if episode_id in found:
            return episode_line(voice, found[episode_id])
        shown = f"[{one_line(episode_id, _ID)}]"
        if relatives is None:
            return shown
        withheld = episode_id in relatives.withheld
        return voice.say("show_version_withheld" if withheld else "show_version_gone", id=shown)

    lines = []
    if episode.superseded_by:
        lines.append(voice.say("show_superseded_by", version=version(episode.superseded_by)))
    lines += [voice.say("show_supersedes", version=version(older)) for older, _ in episode.supersedes]
    return lines


def forgotten_line(voice: Voice, outcome: Forgotten) -> str:
    """Return what a forget deleted, and how many superseded versions went with it."""
    count, episode_id = len(outcome.chain), outcome.episode.id
    if not count:
        return voice.say("forgot", id=episode_id)
    return voice.say("forgot_chain_one" if count == 1 else "forgot_chain_many", id=episode_id, count=count)
