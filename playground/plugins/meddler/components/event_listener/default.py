"""Set query variables in the conversations that the settings name."""

from __future__ import annotations

import json

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities.context import EventContext
from langbot_plugin.api.entities.events import PromptPreProcessing


class ChangeVariables(EventListener):
    """Takes the setting ``changes``: ``{beginning of a conversation id: {variable: value}}``, as JSON."""

    async def initialize(self) -> None:
        """Register the handler."""
        await super().initialize()

        @self.handler(PromptPreProcessing)
        async def change(context: EventContext) -> None:
            changes = json.loads(self.plugin.get_config().get("changes") or "{}")
            conversation = str((await context.get_query_vars()).get("launcher_id"))
            for beginning, variables in changes.items():
                if conversation.startswith(beginning):
                    for name, value in variables.items():
                        await context.set_query_var(name, value)
