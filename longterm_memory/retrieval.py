"""What the knowledge engine hands out when a runner, a tool of another plugin or the WebUI asks it.

Within a turn that our listener prepared, its matches minus what is in the prompt already. Where no listener
runs (agent-bound bots), it is the only way in, so it brings the profile block too, once per turn: what is
asked again with the same text shortly after belongs to the same turn, any other text is the next message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import LongTermMemoryError
from .injection.blocks import episode_legend, render_episode, render_profile_block
from .logs import get_logger
from .models import Hit, RecallQuery
from .policy import Actor
from .recall.recaller import Fill
from .scope import Scope, Speaker, clean_id
from .scoped import ScopedMemory
from .text.fold import fold
from .text.small_talk import skip_reason
from .turns import TurnNote, TurnWindow

if TYPE_CHECKING:
    from .service import MemoryService

__all__ = ["Entry", "Retrieval", "retrieve"]

logger = get_logger(__name__)

_TOP_K_DEFAULT, _TOP_K_MAX = 5, 20
_ASKED_SECONDS = 10.0
"""Time for a search within a turn: the host waits 15 s for a retrieval."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing handed out.

    Attributes:
        id: episode id, or ``profile``.
        text: a fenced text for the model.
        score: final score of a memory, 1.0 for the profile.
        metadata: readable facts about it.
    """

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a retrieval gives, and why it gives no memories (``error`` set)."""

    entries: tuple[Entry, ...] = ()
    error: LongTermMemoryError | None = None


async def retrieve(service: MemoryService, query: str, retrieval_settings: Mapping[str, Any]) -> Retrieval:
    """Answer the host's retrieval; never raises one of our errors, since a runner would drop the whole reply.

    Args:
        service: the installation's memory.
        query: the text asked with.
        retrieval_settings: ``session_name``, ``bot_uuid``, ``sender_id`` and ``top_k`` from the host.
    """
    try:
        return await _retrieved(service, query, retrieval_settings)
    except LongTermMemoryError as exc:
        logger.warning("engine retrieve refused: reason=%s", exc.reason)
        return Retrieval(error=exc)


async def _retrieved(service: MemoryService, query: str, given: Mapping[str, Any]) -> Retrieval:
    settings = await service.settings()
    scope = Scope.of_session(
        given.get("session_name"), bot_uuid=given.get("bot_uuid"), isolation=settings.isolation
    )
    sender = clean_id(given.get("sender_id"))
    note = service.turns.current(scope, Speaker(sender)) or _anonymous_turn(service, scope)
    agent = note is None or not note.query_id
    if agent and scope.launcher_type != "person" and sender == scope.launcher_id:
        # Agent-bound bots fall back to the launcher as sender: in a group that is nobody.
        sender = ""
    speaker = Speaker(sender)
    memory = await service.space(scope, Actor.of(scope, speaker, "tool"))
    entries: list[Entry] = []
    if agent:
        note, profile = await _profile_once(service, memory, speaker, query)
        entries += profile
    assert note is not None  # noqa: S101 - made above
    try:
        hits = await _matches(memory, query, speaker, _top_k(given.get("top_k")), note)
    except LongTermMemoryError as exc:
        # The profile does not depend on the search.
        if not entries:
            raise
        logger.warning("engine retrieve failed: reason=%s", exc.reason)
        return Retrieval(tuple(entries), exc)
    now = service.now()
    for place, hit in enumerate(hits):
        line = render_episode(hit, zone=settings.zone, now=now)
        # A runner keeps the texts alone, so the first one explains all of them.
        entries.append(_entry(hit, line if place else f"{episode_legend(settings.zone, now)}\n{line}"))
    return Retrieval(tuple(entries))


def _anonymous_turn(service: MemoryService, scope: Scope) -> TurnNote | None:
    """Return the turn whose listener was not told who speaks, though the runner may be."""
    note = service.turns.current(scope, Speaker())
    return note if note is not None and note.query_id else None


async def _profile_once(
    service: MemoryService, memory: ScopedMemory, speaker: Speaker, query: str
) -> tuple[TurnNote, list[Entry]]:
    known = service.turns.current(memory.scope, speaker)
    if known is not None and known.text == fold(query):
        return known, []
    note = service.turns.begin(memory.scope, speaker, query_id="", text=query)
    view = await memory.profiles()
    block = render_profile_block(
        view.session,
        view.speaker,
        speaker,
        budget=memory.settings.profile_budget_chars,
        unreadable=bool(view.problems),
    )
    return note, [Entry("profile", block, 1.0, {"kind": "profile"})]


async def _matches(
    memory: ScopedMemory, query: str, speaker: Speaker, k: int, note: TurnNote
) -> tuple[Hit, ...]:
    waiting = TurnWindow.take_waiting(note, query, k)
    if waiting is not None:
        return waiting
    if skip_reason(query, memory.settings.command_prefixes):
        return ()
    wanted = RecallQuery(text=query, k=k, speaker_id=speaker.id, exclude=frozenset(note.shown))
    # Without a listener the reply waits for this; a question in mid-turn is somebody's who wants an answer.
    seconds = _ASKED_SECONDS if note.query_id else memory.settings.recall_deadline_seconds
    return (await memory.recall(wanted, fill=Fill.PAGE, timeout=seconds)).hits


def _top_k(value: object) -> int:
    try:
        return min(_TOP_K_MAX, max(1, int(value)))  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError, OverflowError):
        return _TOP_K_DEFAULT


def _entry(hit: Hit, text: str) -> Entry:
    episode = hit.episode
    return Entry(
        episode.id,
        text,
        round(hit.score.total, 4),
        {
            "kind": "episode",
            "episode_id": episode.id,
            "timestamp": episode.timestamp.isoformat().replace("+00:00", "Z"),
            "sender_id": episode.sender_id,
            "sender_name": episode.sender_name,
            "importance": episode.importance,
            "tags": list(episode.tags),
            "source": episode.source,
            "status": str(episode.status),
        },
    )
