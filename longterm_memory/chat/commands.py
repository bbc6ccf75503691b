"""``!memory``: from the typed line to the reply, through the same scoped memory as everything else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from ..conversation import Conversation
from ..errors import BadArgument, LongTermMemoryError
from ..logs import get_logger
from ..models import KEPT_STATUSES, Filters, RecallQuery
from ..ports import Turn
from ..scoped import PAGE_SIZE, ScopedMemory
from . import render
from .command_line import CommandLine, parse
from .verbs import Verb
from .voice import Voice

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["COMMANDS", "run_command"]

logger = get_logger(__name__)

_Run = Callable[[ScopedMemory, Voice, CommandLine], Awaitable[str]]


async def run_command(service: MemoryService, turn: Turn, command_text: str, *, privilege: int = 1) -> str:
    """Answer one ``!memory`` line.

    Args:
        service: the installation's memory.
        turn: the message being answered.
        command_text: the host's raw text of the command, without its prefix.
        privilege: the host's privilege of the conversation.

    Returns:
        The one reply; a refusal or failure is a sentence as well.
    """
    voice, verb = Voice(), None
    try:
        voice = Voice.of(await service.settings())
        line = parse(command_text)
        verb = line.verb
        if verb is Verb.HELP:
            return render.help_text(voice, line)
        memory = await service.scoped(await Conversation.of_turn(turn), via="command", privilege=privilege)
        return await COMMANDS[verb](memory, voice, line)
    except LongTermMemoryError as exc:
        logger.info("command refused: query_id=%s verb=%s reason=%s", turn.query_id, verb, exc.reason)
        return render.error(voice, exc, verb)


async def _overview(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    return render.overview(voice, await memory.overview())


async def _profile(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    return render.profile(voice, await memory.profiles(), memory.actor, line.page)


async def _me(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    speaker = memory.actor.speaker
    if not speaker.known:
        # An empty sender id would be no filter at all.
        raise BadArgument("speaker_unknown")
    own = await memory.page(Filters(sender_id=speaker.id, statuses=KEPT_STATUSES), line.page, PAGE_SIZE)
    return render.me(voice, memory.scope, memory.actor, await memory.profiles(), own)


async def _search(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    # One hit more than the page shows tells whether there is another page.
    query = RecallQuery(
        text=line.text,
        k=min(100, line.page * PAGE_SIZE + 1),
        filters=line.filters,
        speaker_id=memory.actor.speaker.id,
    )
    result = await memory.recall(query)
    return render.search(
        voice, result, line.filters, page=line.page, size=PAGE_SIZE, here=memory.scope.session_name
    )


async def _list(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    page = await memory.page(line.filters, line.page)
    return render.listing(voice, page, line.filters, here=memory.scope.session_name)


async def _show(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    return render.show(voice, await memory.show(line.id), line.page)


async def _forget(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    return render.forgotten(voice, await memory.forget(line.id))


async def _delete(memory: ScopedMemory, voice: Voice, line: CommandLine) -> str:
    return render.deleted(voice, await memory.delete(line.filters), line.filters)


COMMANDS: dict[Verb, _Run] = {
    Verb.OVERVIEW: _overview,
    Verb.PROFILE: _profile,
    Verb.ME: _me,
    Verb.SEARCH: _search,
    Verb.LIST: _list,
    Verb.SHOW: _show,
    Verb.FORGET: _forget,
    Verb.DELETE: _delete,
}
"""The subcommands of this release (help stands apart: it needs no memory)."""
