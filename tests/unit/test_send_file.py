"""Sending a file beside the reply, over the SDK's own query API."""

from __future__ import annotations

import asyncio
import base64
from types import SimpleNamespace
from typing import Any

import pytest
from langbot_plugin.api.entities.builtin.platform.message import MessageChain
from langbot_plugin.api.proxies.query_based_api import QueryBasedAPIProxy
from langbot_plugin.entities.io.errors import ActionCallError
from langbot_plugin.runtime.io.handler import Handler

from longterm_memory.langbot import turn as turn_module
from longterm_memory.langbot.turn import FILE_MAX, LangBotTurn


class Runtime(Handler):  # type: ignore[misc, unused-ignore]
    """Stands for the plugin runtime, which passes a reply on to the adapter."""

    def __init__(self, error: BaseException | None = None, seconds: float = 0.0) -> None:
        super().__init__(SimpleNamespace())
        self.error = error
        self.seconds = seconds
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def call_action(self, action: Any, data: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        self.asked.append((action.value, data))
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return {}


def turn_with(runtime: Runtime) -> LangBotTurn:
    return LangBotTurn(QueryBasedAPIProxy(query_id=7, query_uuid="u-7", plugin_runtime_handler=runtime))


async def test_a_file_goes_out_alone_as_the_adapters_expect_it() -> None:
    runtime = Runtime()
    assert await turn_with(runtime).send_file("memory.json", "{记忆}".encode())
    [(action, data)] = runtime.asked
    assert (action, data["query_uuid"]) == ("reply_message", "u-7")
    [file] = MessageChain.model_validate(data["message_chain"])
    assert (file.type, file.name, file.size) == ("File", "memory.json", len("{记忆}".encode()))
    assert base64.b64decode(file.base64, validate=True).decode() == "{记忆}"


@pytest.mark.parametrize("error", [ActionCallError("no files here"), RuntimeError("adapter broke")])
async def test_a_refusal_is_no_failure_of_the_command(error: Exception) -> None:
    assert await turn_with(Runtime(error)).send_file("memory.json", b"{}") is False


async def test_a_platform_that_hangs_does_not_hold_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_module, "_SEND_SECONDS", 0.05)
    assert await turn_with(Runtime(seconds=30)).send_file("memory.json", b"{}") is False


async def test_what_is_too_large_for_the_host_is_not_tried() -> None:
    runtime = Runtime()
    assert await turn_with(runtime).send_file("memory.json", b"x" * (FILE_MAX + 1)) is False
    assert runtime.asked == []
