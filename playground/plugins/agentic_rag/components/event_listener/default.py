"""Take naive retrieval away from the runner, as AgenticRAG does."""

from __future__ import annotations

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities.context import EventContext
from langbot_plugin.api.entities.events import PromptPreProcessing


class TakeOverRetrieval(EventListener):
    """Sets the query variable ``_knowledge_base_uuids`` to an empty list on every turn."""

    async def initialize(self) -> None:
        """Register the handler."""
        await super().initialize()

        @self.handler(PromptPreProcessing)
        async def clear(context: EventContext) -> None:
            await context.set_query_var("_knowledge_base_uuids", [])
