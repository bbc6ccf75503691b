"""The message being answered, over what the SDK hands to listeners, commands and tools."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from ..errors import BadArgument
from ..logs import get_logger

__all__ = ["FILE_MAX", "LangBotTurn", "QueryApi"]

logger = get_logger(__name__)

FILE_MAX = 8_000_000
"""Largest file, in bytes: several platforms take 10 MB, and in base64 it fits into the host's 16 MiB a message."""
_SEND_SECONDS = 60.0
"""How long the host may take to hand a file to the platform; a command has 180 s for everything."""


class QueryApi(Protocol):
    """What is used of the SDK's ``QueryBasedAPIProxy``; event and command contexts are such proxies."""

    async def get_bot_uuid(self) -> str:
        """Return the bot's uuid."""

    async def get_query_vars(self) -> dict[str, Any]:
        """Return all query variables."""

    async def set_query_var(self, key: str, value: Any) -> Any:
        """Set one query variable."""

    async def reply(self, message_chain: Any) -> Any:
        """Hand a message to the platform that the query came from."""


class LangBotTurn:
    """One query of the host, as :class:`longterm_memory.ports.Turn` describes it.

    Args:
        query: an event context, a command context, or a ``QueryBasedAPIProxy``.

    Every method raises ``BadArgument`` (``scope_unknown``) when the host cannot say any more, e.g. because
    the query has ended: no conversation, no memory.
    """

    def __init__(self, query: QueryApi) -> None:
        self._query = query

    @classmethod
    def of_tool(cls, plugin: Any, query_id: int, query_uuid: str | None = None) -> LangBotTurn:
        """Return the turn in which a tool is called.

        Args:
            plugin: the tool's ``self.plugin``; its connection to the runtime is used.
            query_id: as given to the tool.
            query_uuid: as given to the tool when its ``call`` names that parameter (both SDK generations then
                pass it). With it :attr:`query_id` is the one that the listener saw in the same turn.
        """
        from langbot_plugin.api.proxies.query_based_api import QueryBasedAPIProxy

        return cls(
            QueryBasedAPIProxy(
                query_id=query_id,
                query_uuid=query_uuid,
                plugin_runtime_handler=plugin.plugin_runtime_handler,
            )
        )

    @property
    def query_id(self) -> str:
        """Opaque id of the query: the host's uuid of it, or its number where there is no uuid."""
        for name in ("query_uuid", "query_id"):
            value = getattr(self._query, name, None)
            if value is not None and value != "":
                return str(value)
        return ""

    async def bot_uuid(self) -> str:
        """Return the uuid of the bot, ``""`` when unknown."""
        with _alive():
            return str(await self._query.get_bot_uuid() or "")

    async def variables(self) -> dict[str, Any]:
        """Return all query variables."""
        with _alive():
            found = await self._query.get_query_vars()
            return dict(found) if isinstance(found, Mapping) else {}

    async def set_variable(self, name: str, value: Any) -> None:
        """Set one query variable (JSON values only)."""
        with _alive():
            await self._query.set_query_var(name, value)

    async def send_file(self, name: str, data: bytes) -> bool:
        """Send a file beside the reply; False when the host or the platform refused it, or did not answer.

        The file goes alone: platforms without files then send nothing at all, and a text beside it would use up
        the one reply that some of them allow. Plain base64, which all of them read.
        """
        from langbot_plugin.api.entities.builtin.platform.message import File, MessageChain

        if len(data) > FILE_MAX:
            logger.info("file not sent: query_id=%s bytes=%d reason=too_large", self.query_id, len(data))
            return False
        file = File(name=name, size=len(data), base64=b64encode(data).decode("ascii"))
        try:
            async with asyncio.timeout(_SEND_SECONDS):
                await self._query.reply(MessageChain([file]))
        except Exception as exc:
            # Whatever an adapter raises comes back here; the person gets the parts instead.
            kind = type(exc).__name__
            logger.info("file not sent: query_id=%s bytes=%d reason=%s", self.query_id, len(data), kind)
            return False
        logger.info("file sent: query_id=%s bytes=%d", self.query_id, len(data))
        return True


@contextmanager
def _alive() -> Iterator[None]:
    try:
        yield
    except Exception as exc:
        raise BadArgument("scope_unknown") from exc
