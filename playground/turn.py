"""A message of the host in this process: the query variables that a plugin sees, with counted calls."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import Any

from .engines import PluginApi

__all__ = ["LocalTurn"]

_numbers = count(1)


class LocalTurn:
    """One message, as :class:`longterm_memory.ports.Turn` describes it.

    Args:
        api: the host; calls are counted in its log.
        text: text of the message, ``""`` for an image.
        kb: ids of the knowledge bases of the pipeline, ``None`` when the host does not expose them.
        session: ``group_77001``, ``person_9001``…
        sender: id of who sent it.
        name: display name of the sender.
        bot: uuid of the bot.

    Attributes:
        files: what was sent as files, name and bytes.
        takes_files: whether the platform takes files.
    """

    def __init__(
        self,
        api: PluginApi,
        text: str,
        *,
        kb: list[str] | None,
        session: str = "group_77001",
        sender: str = "9001",
        name: str = "Mina",
        bot: str = "b-01",
    ) -> None:
        self._api = api
        self._bot = bot
        self.query_id = f"q-{next(_numbers)}"
        self.files: list[tuple[str, bytes]] = []
        self.takes_files = True
        kind, _, launcher = session.partition("_")
        self.values: dict[str, Any] = {
            "launcher_type": kind,
            "launcher_id": launcher,
            "sender_id": sender,
            "sender_name": name,
            "user_message_text": text,
        }
        if kb is not None:
            self.values["_knowledge_base_uuids"] = kb

    async def bot_uuid(self) -> str:
        """Return the bot's uuid."""
        with self._api.calls.call("get_bot_uuid"):
            await asyncio.sleep(self._api.latency)
            return self._bot

    async def variables(self) -> dict[str, Any]:
        """Return all variables."""
        with self._api.calls.call("get_query_vars"):
            await asyncio.sleep(self._api.latency)
            return dict(self.values)

    async def set_variable(self, name: str, value: Any) -> None:
        """Set a variable; like the host, JSON values only."""
        with self._api.calls.call("set_query_var"):
            await asyncio.sleep(self._api.latency)
            self.values[name] = json.loads(json.dumps(value))

    async def send_file(self, name: str, data: bytes) -> bool:
        """Take a file, or refuse it."""
        with self._api.calls.call("reply"):
            await asyncio.sleep(self._api.latency)
            if self.takes_files:
                self.files.append((name, data))
            return self.takes_files
