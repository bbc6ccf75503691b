"""What the tools answer to the model: short, with ids that ``forget`` takes, records in fences."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ..errors import LongTermMemoryError
from ..injection.blocks import render_episode_block
from ..models import Filters, ProfileChange, RecallResult
from ..scope import Speaker
from ..words import joined, say
from .episode_lines import forgotten_line
from .voice import Voice

if TYPE_CHECKING:
    from ..episodes import Forgotten, Remembered
    from .tool_input import RememberInput

__all__ = ["RECALL_CHARS", "failed", "forgotten", "profile_changed", "recalled", "remembered"]

RECALL_CHARS = 12_000
"""Most characters of memories in one answer of ``recall_memory``; what does not fit is counted in it."""


def remembered(voice: Voice, outcome: Remembered, given: RememberInput) -> str:
    """Return what ``remember`` did, and what was read differently from how it was sent."""
    episode_id = outcome.episode.id
    if outcome.duplicate:
        return voice.tell("duplicate", id=episode_id)
    if outcome.superseded:
        older = ", ".join(f"[{old}]" for old in outcome.superseded)
        answer = voice.tell("stored_superseding", id=episode_id, ids=older)
    else:
        answer = voice.tell("stored", id=episode_id)
    if given.importance_moved:
        answer += " " + voice.tell("importance_moved", importance=given.importance)
    return answer


def recalled(voice: Voice, result: RecallResult, filters: Filters, *, now: datetime, speaker: Speaker) -> str:
    """Return the recalled memories, each in its fence, labelled as in the prompt.

    Args:
        voice: how to write it.
        result: what was found.
        filters: what was asked for; an empty answer says when they may be the reason.
        now: the current time, for the age of each memory.
        speaker: the current speaker, so that somebody else of the same name is told apart.
    """
    if result.skipped:
        return voice.tell("recalled_blank")
    if not result.hits:
        return voice.tell("recalled_none_filtered" if filters.narrows else "recalled_none")
    count = len(result.hits)
    head = voice.tell("recalled_one" if count == 1 else "recalled_many", count=count)
    block, _ = render_episode_block(
        result.hits, zone=voice.zone, now=now, budget=RECALL_CHARS, speaker=speaker
    )
    return f"{head}\n{block}"


def profile_changed(voice: Voice, change: ProfileChange) -> str:
    """Return what ``update_profile`` did, and to whose profile."""
    outcome = say(voice.language, f"profile.{change.outcome}", **change.details)
    return voice.tell("profile_changed", outcome=outcome, target=voice.tell(f"profile_{change.target}"))


def forgotten(voice: Voice, outcome: Forgotten) -> str:
    """Return what ``forget`` deleted."""
    return joined(forgotten_line(voice, outcome), voice.tell("forgot_history"))


def failed(voice: Voice, problem: LongTermMemoryError) -> str:
    """Return why a tool did nothing, as one line."""
    return voice.explain(problem)
