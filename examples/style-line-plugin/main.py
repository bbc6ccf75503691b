"""An example of a plugin that uses what LongTermMemory publishes."""

from langbot_plugin.api.definition.plugin import BasePlugin


class StyleLinePlugin(BasePlugin):
    """Holds nothing: the listener does the work."""

    async def initialize(self) -> None:
        """Nothing to prepare."""
