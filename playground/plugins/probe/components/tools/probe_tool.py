"""A tool that logs its parameters, its session and the query variables."""

from __future__ import annotations

from typing import Any

from langbot_plugin.api.definition.components.tool.tool import Tool
from langbot_plugin.api.entities.builtin.provider.session import Session
from langbot_plugin.api.proxies.query_based_api import QueryBasedAPIProxy


class ProbeTool(Tool):
    """Answers ``probed``."""

    async def call(
        self, params: dict[str, Any], session: Session, query_id: int, query_uuid: str | None = None
    ) -> str:
        """Log and answer."""
        api = QueryBasedAPIProxy(
            query_id=query_id,
            query_uuid=query_uuid,
            plugin_runtime_handler=self.plugin.plugin_runtime_handler,
        )
        plugin: Any = self.plugin
        plugin.note(
            "tool",
            params=params,
            session=session.model_dump(mode="json", include={"launcher_type", "launcher_id", "sender_id"}),
            query_id=query_id,
            query_uuid=query_uuid,
            bot_uuid=await api.get_bot_uuid(),
            variables=await api.get_query_vars(),
        )
        return "probed"
