"""The only place that knows LangBot: the ports of :mod:`longterm_memory.ports` over the plugin SDK."""

from __future__ import annotations

from .host import HostApi, LangBotHost
from .turn import LangBotTurn, QueryApi

__all__ = ["HostApi", "LangBotHost", "LangBotTurn", "QueryApi"]
