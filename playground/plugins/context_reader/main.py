"""A consumer of the long-term memory context that logs or injects what it sees."""

from langbot_plugin.api.definition.plugin import BasePlugin


class ContextReaderPlugin(BasePlugin):
    """Holds nothing: the components do the work."""

    async def initialize(self) -> None:
        """Nothing to prepare."""
