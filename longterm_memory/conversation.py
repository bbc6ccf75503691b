"""The conversation of one message: who speaks where, and whether the memory is attached to its pipeline.

Everything comes from the host's query variables. The speaker is the variable ``sender_id``; the session
object of the host keeps the *first* speaker of a group for ever.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .errors import BadArgument
from .ports import Turn
from .scope import Isolation, Scope, Speaker, clean_id
from .text.fold import well_formed
from .text.secrets import redact

__all__ = ["ATTACHED_VARIABLE", "KNOWLEDGE_BASES_VARIABLE", "Attachment", "Conversation"]

KNOWLEDGE_BASES_VARIABLE = "_knowledge_base_uuids"
"""Query variable of the host with the knowledge bases of the pipeline."""

ATTACHED_VARIABLE = "_ltm_attached"
"""Set by our listener before anybody changes the variable above, for tools and commands of the same
message.
"""

_NAME_MAX = 200
"""Longest display name that is looked at, in characters."""


def _display_name(name: str) -> str:
    """Return a name as it is kept: some people put a password there, and the name goes everywhere."""
    return redact(well_formed(name)[:_NAME_MAX])[0]


class Attachment(StrEnum):
    """Whether the memory knowledge base belongs to the pipeline of a message."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """The host does not expose the list. That is not "no": memory works, only the suppression is skipped."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a message says about itself.

    Attributes:
        bot_uuid: uuid of the bot, ``""`` when unknown.
        launcher_type: ``person`` or ``group``.
        launcher_id: id of the conversation.
        speaker: sender of this message.
        query_id: the host's id of the message.
        text: plain text of the message, ``""`` when it has none or is not known.
        knowledge_bases: ids attached to the pipeline, ``None`` when the host does not expose a list.
        marked: what our listener noted about the attachment earlier in the same message, ``""`` when nothing.
    """

    bot_uuid: str
    launcher_type: str
    launcher_id: str
    speaker: Speaker
    query_id: str = ""
    text: str = ""
    knowledge_bases: tuple[str, ...] | None = None
    marked: str = ""

    @classmethod
    async def of_turn(cls, turn: Turn) -> Conversation:
        """Read the conversation of a message: two host calls, one round.

        Raises:
            BadArgument: ``scope_unknown`` when the host does not say where the message belongs.
        """
        variables, bot_uuid = await asyncio.gather(turn.variables(), turn.bot_uuid())
        return cls.of_variables(variables, bot_uuid=bot_uuid, query_id=turn.query_id)

    @classmethod
    def of_variables(
        cls, variables: Mapping[str, Any], *, bot_uuid: object, query_id: str = ""
    ) -> Conversation:
        """Build it from query variables.

        Raises:
            BadArgument: ``scope_unknown``.
        """
        kind, ident = clean_id(variables.get("launcher_type")), clean_id(variables.get("launcher_id"))
        if not kind or not ident:
            raise BadArgument("scope_unknown")
        listed = variables.get(KNOWLEDGE_BASES_VARIABLE)
        text, name = variables.get("user_message_text"), variables.get("sender_name")
        return cls(
            bot_uuid=clean_id(bot_uuid),
            launcher_type=kind,
            launcher_id=ident,
            speaker=Speaker(
                clean_id(variables.get("sender_id")),
                _display_name(name) if isinstance(name, str) else "",
            ),
            query_id=query_id,
            text=well_formed(text) if isinstance(text, str) else "",
            knowledge_bases=tuple(str(k) for k in listed) if isinstance(listed, (list, tuple)) else None,
            marked=str(variables.get(ATTACHED_VARIABLE) or ""),
        )

    def scope(self, isolation: Isolation) -> Scope:
        """Return its memory space under an isolation."""
        return Scope.of(
            bot_uuid=self.bot_uuid,
            launcher_type=self.launcher_type,
            launcher_id=self.launcher_id,
            isolation=isolation,
        )

    def attachment(self, kb_id: str) -> Attachment:
        """Return whether that knowledge base is attached to the pipeline of this message."""
        if self.marked:
            return Attachment(self.marked) if self.marked in set(Attachment) else Attachment.NO
        if self.knowledge_bases is None:
            return Attachment.UNKNOWN
        return Attachment.YES if kb_id in self.knowledge_bases else Attachment.NO
