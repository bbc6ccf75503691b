"""A double of AgenticRAG that hands retrieval to the model as a tool."""

from langbot_plugin.api.definition.plugin import BasePlugin


class AgenticRagPlugin(BasePlugin):
    """Holds nothing: the components do the work."""

    async def initialize(self) -> None:
        """Nothing to prepare."""
