"""Logs what a host hands to each kind of component, one ``[Probe] {json}`` line per call."""

from __future__ import annotations

import json
import logging
from typing import Any

from langbot_plugin.api.definition.plugin import BasePlugin

logger = logging.getLogger(__name__)


class ProbePlugin(BasePlugin):
    """Offers ``note`` to the components."""

    async def initialize(self) -> None:
        """Nothing to prepare."""

    def note(self, where: str, **seen: Any) -> None:
        """Log what component *where* has seen."""
        logger.info("[Probe] %s", json.dumps({"where": where, **seen}, ensure_ascii=False, default=str))
