"""Let the model retrieve: list the pipeline's knowledge bases, ask each, answer in JSON."""

from __future__ import annotations

import json
from typing import Any

from langbot_plugin.api.definition.components.tool.tool import Tool
from langbot_plugin.api.entities.builtin.provider.session import Session
from langbot_plugin.api.proxies.query_based_api import QueryBasedAPIProxy


class QueryKnowledge(Tool):
    """Answers ``{"bases": [names], "entries": [texts], "errors": [texts]}``."""

    async def call(
        self, params: dict[str, Any], session: Session, query_id: int, query_uuid: str | None = None
    ) -> str:
        """Search for ``params["query"]`` in all knowledge bases of the pipeline."""
        api = QueryBasedAPIProxy(
            query_id=query_id,
            query_uuid=query_uuid,
            plugin_runtime_handler=self.plugin.plugin_runtime_handler,
        )
        found: dict[str, list[str]] = {"bases": [], "entries": [], "errors": []}
        for base in await api.list_pipeline_knowledge_bases():
            found["bases"].append(str(base.get("name")))
            try:
                entries = await api.retrieve_knowledge(base["uuid"], str(params.get("query", "")))
            except Exception as error:
                # The model gets to read why, and so does the test.
                found["errors"].append(str(error))
                continue
            found["entries"] += [
                part["text"] for entry in entries for part in entry.get("content", []) if part.get("text")
            ]
        return json.dumps(found, ensure_ascii=False)
