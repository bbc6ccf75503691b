"""Read ``_ltm_context`` as another plugin would, log it, and turn it into a line of the system prompt."""

from __future__ import annotations

import json
import logging
from typing import Any

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities.builtin.provider.message import Message
from langbot_plugin.api.entities.context import EventContext
from langbot_plugin.api.entities.events import PromptPreProcessing

logger = logging.getLogger(__name__)


class ReadContext(EventListener):
    """Logs ``[ContextReader] {"seen": <context or null>}`` per turn; with ``inject`` set, injects it too."""

    async def initialize(self) -> None:
        """Register the handler."""
        await super().initialize()

        @self.handler(PromptPreProcessing)
        async def read(context: EventContext) -> None:
            # All variables at once: asking for one that nobody has set fails.
            seen = (await context.get_query_vars()).get("_ltm_context")
            logger.info("[ContextReader] %s", json.dumps({"seen": seen}, ensure_ascii=False))
            if seen and self.plugin.get_config().get("inject"):
                event: Any = context.event
                event.default_prompt.append(Message(role="system", content=_style_line(seen)))


def _style_line(context: dict[str, Any]) -> str:
    speaker = context.get("speaker_profile") or {}
    name = speaker.get("name") or context.get("speaker", {}).get("name") or "the user"
    traits = ", ".join(speaker.get("traits") or []) or "nothing yet"
    return f"[ContextReader] You speak with {name}; known traits: {traits}."
