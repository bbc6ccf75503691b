"""What is set up: the knowledge base, the pipeline of the message, the settings, what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..conversation import Attachment, Conversation
from ..errors import LongTermMemoryError, StorageFailed
from ..knowledge_base import UNREADABLE, KnowledgeBase
from ..profile_records import SESSION_PREFIX, SPEAKER_PREFIX
from ..settings import Settings
from ..snapshots import SNAPSHOT_PREFIX
from .report import Check
from .steps import detail

if TYPE_CHECKING:
    from ..ports import Host
    from ..service import MemoryService

__all__ = ["KNOWN", "contents", "knowledge_base", "pipeline", "refusal", "settings"]

KNOWN = ("ok", "no_model", "gone")
"""Outcomes after which it is known which knowledge base it is."""


async def knowledge_base(service: MemoryService) -> Check:
    """Look whether there is a knowledge base that can be used and that the host still has."""
    try:
        base = await service.knowledge_bases.get()
    except StorageFailed as exc:
        if exc.reason == UNREADABLE:
            return Check.of("knowledge_base", "damaged", key=str(exc.details.get("key", "")))
        return Check.of("knowledge_base", "unread", detail=detail(exc))
    if base is None:
        return Check.of("knowledge_base", "none")
    if not base.model:
        return Check.of("knowledge_base", "no_model", kb_id=base.id)
    existing = await service.host.knowledge_bases()
    if existing is not None and base.id not in existing:
        return Check.of("knowledge_base", "gone", kb_id=base.id)
    return Check.of("knowledge_base", "ok", kb_id=base.id)


def refusal(error: LongTermMemoryError | None) -> Check | None:
    """Say why the last creation of a knowledge base was refused: the WebUI shows no reason."""
    if error is None:
        return None
    match error.reason:
        case "second_knowledge_base":
            existing = str(error.details.get("existing", ""))
            return Check.of("knowledge_base_refused", "second", existing=existing)
        case "no_embedding_model":
            return Check.of("knowledge_base_refused", "no_model")
        case reason:
            return Check.of("knowledge_base_refused", "failed", reason=reason)


def pipeline(conversation: Conversation | None, base: KnowledgeBase | None) -> Check:
    """Look whether the knowledge base belongs to the pipeline of the message, if there is one."""
    if conversation is None:
        return Check.of("pipeline", "elsewhere")
    if base is None:
        return Check.unchecked("pipeline", "knowledge_base")
    match conversation.attachment(base.id):
        case Attachment.YES:
            return Check.of("pipeline", "attached")
        case Attachment.UNKNOWN:
            return Check.of("pipeline", "hidden")
        case _:
            # Another plugin may have emptied the list before us (docs/decisions/0002): nothing tells it from a
            # pipeline that has none.
            emptied = not conversation.knowledge_bases
            return Check.of("pipeline", "emptied" if emptied else "not_attached")


def settings(service: MemoryService, base: KnowledgeBase | None) -> tuple[Settings, Check]:
    """Look for settings that cannot be used; what stands in for them is in force."""
    found, problems = service.configuration(base)
    if problems:
        return found, Check.of("settings", "problems", count=len(problems), problems="; ".join(problems))
    return found, Check.of("settings", "ok")


async def contents(host: Host) -> Check:
    """Count what plugin storage holds: conversations with a profile or an injection, and profiles."""
    try:
        keys = await host.storage.keys()
    except StorageFailed as exc:
        return Check.of("contents", "unread", detail=detail(exc))
    prefixes = (SESSION_PREFIX, SPEAKER_PREFIX, SNAPSHOT_PREFIX)
    spaces = {
        key.removeprefix(prefix).partition("/")[0]
        for key in keys
        for prefix in prefixes
        if key.startswith(prefix)
    }
    profiles = sum(key.startswith((SESSION_PREFIX, SPEAKER_PREFIX)) for key in keys)
    return Check.of("contents", "ok", spaces=len(spaces), profiles=profiles)
