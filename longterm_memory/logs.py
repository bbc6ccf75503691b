"""Our log lines: ``[LongTermMemory] <event>: key=value …``, ids, counts and lengths, never message text."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any

__all__ = ["PREFIX", "get_logger"]

PREFIX = "[LongTermMemory]"


class _Prefixed(logging.LoggerAdapter[logging.Logger]):
    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        return f"{PREFIX} {msg}", kwargs


def get_logger(name: str) -> logging.LoggerAdapter[logging.Logger]:
    """Return the logger of a module; its lines start with :data:`PREFIX`."""
    return _Prefixed(logging.getLogger(name), {})
