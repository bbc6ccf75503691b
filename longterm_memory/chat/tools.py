"""The four tools of the agent: read the parameters, call the scoped memory, answer in one short text.

Errors of ours become one line for the model; nothing else is caught, so a bug shows in the log as a bug.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from ..conversation import Conversation
from ..episodes import EpisodeDraft
from ..errors import LongTermMemoryError
from ..injection.echo import without_blocks
from ..logs import get_logger
from ..models import RecallQuery
from ..ports import Turn
from ..scoped import ScopedMemory
from ..words import joined
from . import tool_replies as replies
from .tool_input import PARAMETERS, read_forget, read_profile, read_recall, read_remember
from .voice import Voice

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["TOOLS", "call_tool"]

logger = get_logger(__name__)

_Run = Callable[["MemoryService", ScopedMemory, Voice, object], Awaitable[str]]


async def call_tool(service: MemoryService, turn: Turn, name: str, params: object) -> str:
    """Run a tool for the current speaker of a message.

    Args:
        service: the installation's memory.
        turn: the message being answered.
        name: a key of :data:`TOOLS`.
        params: what the model sent, of any type.

    Returns:
        One short text for the model; a refusal or failure is a sentence as well.
    """
    logger.info("%s called: query_id=%s params_keys=%s", name, turn.query_id, _keys(name, params))
    voice = Voice()
    try:
        voice = Voice.of(await service.settings())
        memory = await service.scoped(await Conversation.of_turn(turn), via="tool")
        return await TOOLS[name](service, memory, voice, params)
    except LongTermMemoryError as exc:
        logger.info("%s refused: query_id=%s reason=%s", name, turn.query_id, exc.reason)
        return replies.failed(voice, exc)


def _keys(tool: str, params: object) -> str:
    """Return which parameters came; names that a model made up are only counted, they could hold anything."""
    if not isinstance(params, Mapping):
        return type(params).__name__
    known = [key for key in PARAMETERS[tool] if key in params]
    others = len(params) - len(known)
    return ",".join(known) + (f"+{others}" if others else "")


async def _remember(service: MemoryService, memory: ScopedMemory, voice: Voice, params: object) -> str:
    given = read_remember(params)
    draft = EpisodeDraft(
        # What was recalled in this turn comes back in the model's words at times; it is no news.
        content=without_blocks(given.content),
        tags=given.tags,
        importance=given.importance,
        timestamp=given.event_time,
        sender=memory.actor.speaker,
    )
    return replies.remembered(voice, await memory.remember(draft), given)


async def _recall_memory(service: MemoryService, memory: ScopedMemory, voice: Voice, params: object) -> str:
    given = read_recall(params)
    query = RecallQuery(
        text=given.query,
        k=given.k,
        filters=given.filters,
        speaker_id=memory.actor.speaker.id,
        searched=True,
    )
    result, speaker = await memory.recall(query), memory.actor.speaker
    answer = replies.recalled(voice, result, given.filters, now=service.now(), speaker=speaker)
    # Said, or the model takes it for "there is nothing".
    return joined(answer, voice.tell("recalled_off")) if await memory.privacy.is_off() else answer


async def _update_profile(service: MemoryService, memory: ScopedMemory, voice: Voice, params: object) -> str:
    given = read_profile(params)
    change = await memory.update_profile(
        field=given.field,
        action=given.action,
        values=given.values,
        target=given.target,
        fact_key=given.fact_key,
        previous_value=given.previous_value,
    )
    return replies.profile_changed(voice, change)


async def _forget(service: MemoryService, memory: ScopedMemory, voice: Voice, params: object) -> str:
    return replies.forgotten(voice, await memory.changes.forget(read_forget(params).episode_id))


TOOLS: dict[str, _Run] = {
    "remember": _remember,
    "recall_memory": _recall_memory,
    "update_profile": _update_profile,
    "forget": _forget,
}
"""The tools by name."""
