"""The message being answered, over what the SDK hands to listeners, commands and tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from ..errors import BadArgument

__all__ = ["LangBotTurn", "QueryApi"]


class QueryApi(Protocol):
    """What is used of the SDK's ``QueryBasedAPIProxy``; event and command contexts are such proxies."""

    async def get_bot_uuid(self) -> str:
        """Return the bot's uuid."""

    async def get_query_vars(self) -> dict[str, Any]:
        """Return all query variables."""

    async def set_query_var(self, key: str, value: Any) -> Any:
        """Set one query variable."""


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


@contextmanager
def _alive() -> Iterator[None]:
    try:
        yield
    except Exception as exc:
        raise BadArgument("scope_unknown") from exc
