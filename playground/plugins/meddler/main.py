"""A plugin that changes query variables under the hands of others."""

from langbot_plugin.api.definition.plugin import BasePlugin


class MeddlerPlugin(BasePlugin):
    """Holds nothing: the components do the work."""

    async def initialize(self) -> None:
        """Nothing to prepare."""
