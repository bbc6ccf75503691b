"""A listener that logs the query variables of a turn and the lengths of its prompts."""

from __future__ import annotations

from typing import Any

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities.context import EventContext
from langbot_plugin.api.entities.events import NormalMessageResponded, PromptPreProcessing


class ProbeListener(EventListener):
    """Watches the beginning and the end of a turn."""

    async def initialize(self) -> None:
        """Register the handlers."""
        await super().initialize()
        plugin: Any = self.plugin

        @self.handler(PromptPreProcessing)
        async def before(context: EventContext) -> None:
            event: Any = context.event
            plugin.note(
                "prompt",
                query_id=context.query_id,
                query_uuid=context.query_uuid,
                session_name=event.session_name,
                default_prompt=len(event.default_prompt),
                prompt=len(event.prompt),
                bot_uuid=await context.get_bot_uuid(),
                variables=await context.get_query_vars(),
            )

        @self.handler(NormalMessageResponded)
        async def after(context: EventContext) -> None:
            event: Any = context.event
            plugin.note("responded", query_uuid=context.query_uuid, text=event.response_text)
