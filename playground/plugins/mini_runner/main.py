"""A small agent runner for tests and the demo."""

from langbot_plugin.api.definition.plugin import BasePlugin


class MiniRunnerPlugin(BasePlugin):
    """Holds nothing: the components do the work."""

    async def initialize(self) -> None:
        """Nothing to prepare."""
