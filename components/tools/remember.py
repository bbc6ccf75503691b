"""The agent's tool ``remember``."""

from __future__ import annotations

from typing import Any

from langbot_plugin.api.definition.components.tool.tool import Tool

from longterm_memory.chat.tools import call_tool
from longterm_memory.langbot.turn import LangBotTurn


class Remember(Tool):
    """See ``remember.yaml`` for what it takes."""

    async def call(
        self, params: dict[str, Any], session: Any, query_id: int, query_uuid: str | None = None
    ) -> str:
        """Answer the model."""
        turn = LangBotTurn.of_tool(self.plugin, query_id, query_uuid)
        return await call_tool(self.plugin.memory(), turn, "remember", params)  # type: ignore[attr-defined]
