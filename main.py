"""The plugin object: gives every component the memory service of the current installation, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langbot_plugin.api.definition.plugin import BasePlugin

from longterm_memory import MemoryService
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.logs import get_logger

logger = get_logger("longterm_memory")

_DEDICATED = ""
"""Key of the only installation of a dedicated worker (every self-hosted LangBot, and all hosts before 4.11)."""


class LongTermMemory(BasePlugin):
    """Long-term memory for LangBot bots."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # One object graph may serve several installations: nothing of a tenant lives outside this table.
        self._services: dict[str, MemoryService] = {}

    async def initialize(self) -> None:
        """Announce that the plugin runs; there is no configuration yet at this point."""
        logger.info("plugin initialized")

    def memory(self) -> MemoryService:
        """Return the memory service of the installation that is being served."""
        key = _installation(self)
        if key not in self._services:
            self._services[key] = MemoryService(LangBotHost(self), lambda: thawed(self.get_config()))
        return self._services[key]

    async def on_installation_revoked(self, binding: Any) -> None:
        """Drop everything that was held for an installation that is gone."""
        self._services.pop(str(getattr(binding, "installation_uuid", "")), None)


def _installation(plugin: Any) -> str:
    binding = getattr(plugin, "get_installation_binding", lambda: None)()
    return str(getattr(binding, "installation_uuid", "") or _DEDICATED)


def thawed(value: Any) -> Any:
    """Return plain dicts and lists for the read-only views in which newer SDKs hand out the configuration."""
    if isinstance(value, Mapping):
        return {str(key): thawed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [thawed(item) for item in value]
    return value
