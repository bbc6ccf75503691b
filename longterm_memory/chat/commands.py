"""``!memory``: from the typed line to the reply, through the same scoped memory as everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..conversation import Conversation
from ..errors import BadArgument, LongTermMemoryError
from ..health import check_health
from ..logs import get_logger
from ..models import KEPT_STATUSES, Filters, RecallQuery, Status
from ..ports import Turn
from ..scoped import PAGE_SIZE, ScopedMemory
from ..settings import Settings
from . import render
from .audit_lines import audit
from .command_line import CommandLine, parse
from .delivery import deliver
from .exports import audit_package, export_package
from .health_lines import health_lines
from .help_lines import help_text
from .import_lines import imported
from .person_lines import erasure_offered, erasure_reported, opted
from .stats_lines import stats
from .verbs import Verb
from .voice import Voice
from .why_lines import WHY_HITS, why

if TYPE_CHECKING:
    from ..service import MemoryService
    from ..transfer.transfer import ExportKind

__all__ = ["COMMANDS", "Request", "run_command"]

logger = get_logger(__name__)

_IMPORT_SECONDS = 100.0
"""After how long an import begins nothing more: the host waits 180 s for a command, and the embedding call in work
may take 70 s of them.
"""

_EXPORTS: dict[str, ExportKind] = {"": "profiles", "l2": "episodes", "all": "all", "md": "all"}


@dataclass(frozen=True, slots=True)
class Request:
    """One line that somebody typed, read.

    Attributes:
        service: the installation's memory.
        turn: the message.
        conversation: where it was said.
        memory: of that conversation.
        voice: how to answer.
        line: what was typed.
    """

    service: MemoryService
    turn: Turn
    conversation: Conversation
    memory: ScopedMemory
    voice: Voice
    line: CommandLine

    @property
    def here(self) -> str:
        """Session name of the conversation."""
        return self.memory.scope.session_name


_Run = Callable[[Request], Awaitable[str]]


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
    # Help and health have to work where nothing else does.
    settings, down = await _settings(service)
    voice, verb = Voice.of(settings), None
    try:
        line = parse(command_text)
        verb = line.verb
        if verb is Verb.HELP:
            return help_text(voice, line, settings.command_policy)
        if verb is Verb.HEALTH:
            return await _health(service, turn, voice)
        if down:
            raise down
        conversation = await Conversation.of_turn(turn)
        memory = await service.scoped(conversation, via="command", privilege=privilege)
        return await COMMANDS[verb](Request(service, turn, conversation, memory, voice, line))
    except LongTermMemoryError as exc:
        logger.info("command refused: query_id=%s verb=%s reason=%s", turn.query_id, verb, exc.reason)
        return render.error(voice, exc, verb)


async def _settings(service: MemoryService) -> tuple[Settings, LongTermMemoryError | None]:
    """Return the settings in force; without the knowledge base's own when its record cannot be read, and why."""
    try:
        return await service.settings(), None
    except LongTermMemoryError as exc:
        return service.configuration(None)[0], exc


async def _health(service: MemoryService, turn: Turn, voice: Voice) -> str:
    # Also where memory is not set up or not attached: that is what it is for.
    report = await check_health(service, await Conversation.of_turn(turn))
    return "\n".join(health_lines(voice, report))


# ---------------------------------------------------------------- looking


async def _overview(request: Request) -> str:
    return render.overview(request.voice, await request.memory.overview())


async def _profile(request: Request) -> str:
    memory = request.memory
    return render.profile(request.voice, await memory.profiles(), memory.actor, request.line.page)


async def _me(request: Request) -> str:
    memory, speaker = request.memory, request.memory.actor.speaker
    if not speaker.known:
        # An empty sender id would be no filter at all.
        raise BadArgument("speaker_unknown")
    filters = Filters(sender_id=speaker.id, statuses=KEPT_STATUSES)
    own = await memory.page(filters, request.line.page, PAGE_SIZE)
    return render.me(request.voice, memory.scope, memory.actor, await memory.profiles(), own)


async def _search(request: Request) -> str:
    line, memory = request.line, request.memory
    # One hit more than the page shows tells whether there is another page.
    query = RecallQuery(
        text=line.text,
        k=min(100, line.page * PAGE_SIZE + 1),
        filters=line.filters,
        speaker_id=memory.actor.speaker.id,
        searched=True,
    )
    result = await memory.recall(query)
    return render.search(
        request.voice, result, line.filters, page=line.page, size=PAGE_SIZE, here=request.here
    )


async def _list(request: Request) -> str:
    filters = request.line.filters
    page = await request.memory.page(filters, request.line.page)
    return render.listing(request.voice, page, filters, here=request.here)


async def _superseded(request: Request) -> str:
    return await _with_status(request, Status.SUPERSEDED)


async def _archived(request: Request) -> str:
    return await _with_status(request, Status.ARCHIVED)


async def _with_status(request: Request, status: Status) -> str:
    filters = Filters(statuses=frozenset({status}))
    page = await request.memory.page(filters, request.line.page)
    return render.listing(request.voice, page, filters, here=request.here, verb=request.line.verb)


async def _show(request: Request) -> str:
    episode = await request.memory.show(request.line.id)
    relatives = await request.memory.related(episode)
    return render.show(request.voice, episode, request.line.page, relatives)


async def _why(request: Request) -> str:
    memory = request.memory
    query = RecallQuery(
        text=request.line.text,
        k=WHY_HITS,
        filters=request.line.filters,
        speaker_id=memory.actor.speaker.id,
        floor=False,
    )
    return why(request.voice, await memory.recall(query), memory.settings, here=request.here)


async def _stats(request: Request) -> str:
    return stats(request.voice, await request.memory.stats())


# ---------------------------------------------------------------- changing


async def _edit(request: Request) -> str:
    return render.edited(request.voice, await request.memory.changes.edit(request.line.id, request.line.text))


async def _archive(request: Request) -> str:
    return render.archived(request.voice, await request.memory.changes.archive(request.line.id))


async def _restore(request: Request) -> str:
    memory = request.memory
    # Afterwards nothing tells any more what had replaced it.
    before = await memory.show(request.line.id)
    newer = (await memory.related(before)).newer if before.status is Status.SUPERSEDED else None
    return render.restored(request.voice, await memory.changes.restore(request.line.id), newer)


async def _forget(request: Request) -> str:
    return render.forgotten(request.voice, await request.memory.changes.forget(request.line.id))


async def _delete(request: Request) -> str:
    filters = request.line.filters
    return render.deleted(request.voice, await request.memory.changes.delete(filters), filters)


# ---------------------------------------------------------------- oneself


async def _off(request: Request) -> str:
    return await _opt(request, off=True)


async def _on(request: Request) -> str:
    return await _opt(request, off=False)


async def _opt(request: Request, *, off: bool) -> str:
    privacy = request.memory.privacy
    changed = await privacy.opt(off=off)
    for_bot = await privacy.off_for_bot()
    return opted(request.voice, request.memory.scope, off=off, changed=changed, for_bot=for_bot)


async def _forgetme(request: Request) -> str:
    memory, voice = request.memory, request.voice
    if request.line.text:
        erased = await memory.privacy.forgetme(request.line.text)
        return erasure_reported(voice, memory.scope, erased, off=await memory.privacy.is_off())
    offer = await memory.privacy.offer_erasure()
    return erasure_offered(voice, memory.scope, memory.actor, offer)


# ---------------------------------------------------------------- in and out


async def _export(request: Request) -> str:
    line = request.line
    if not line.choice and line.options - {"part"}:
        # Profiles have no tags or dates; an option that does nothing must not look as if it did.
        raise BadArgument("export_filters")
    found = await request.memory.transfer.export(_EXPORTS[line.choice], line.filters)
    # Thousands of memories take a second or so; the turns of others go on meanwhile.
    package = await asyncio.to_thread(export_package, request.voice, found, line, request.service.now())
    return await deliver(request.voice, request.turn, package, line.part)


async def _import(request: Request) -> str:
    data = request.line.text.encode()
    report = await request.memory.transfer.import_file(data, seconds=_IMPORT_SECONDS)
    return imported(request.voice, report)


async def _audit(request: Request) -> str:
    line = request.line
    if line.choice == "export":
        trail = await request.memory.audit_trail()
        package = audit_package(request.voice, trail, line, request.service.now())
        # An export has parts and no pages: "audit export 2" can only mean this.
        part = line.part or (line.page if line.page > 1 else 0)
        return await deliver(request.voice, request.turn, package, part)
    if line.part:
        raise BadArgument("part_without_export")
    return audit(request.voice, await request.memory.audit(line.page))


COMMANDS: dict[Verb, _Run] = {
    Verb.OVERVIEW: _overview,
    Verb.PROFILE: _profile,
    Verb.ME: _me,
    Verb.SEARCH: _search,
    Verb.LIST: _list,
    Verb.SUPERSEDED: _superseded,
    Verb.ARCHIVED: _archived,
    Verb.SHOW: _show,
    Verb.WHY: _why,
    Verb.STATS: _stats,
    Verb.EDIT: _edit,
    Verb.ARCHIVE: _archive,
    Verb.RESTORE: _restore,
    Verb.FORGET: _forget,
    Verb.DELETE: _delete,
    Verb.OFF: _off,
    Verb.ON: _on,
    Verb.FORGETME: _forgetme,
    Verb.EXPORT: _export,
    Verb.IMPORT: _import,
    Verb.AUDIT: _audit,
}
"""The subcommands of this release (help and health stand apart: they need no memory)."""
