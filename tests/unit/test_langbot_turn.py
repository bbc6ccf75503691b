"""The message being answered, over the SDK's own objects."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from langbot_plugin.api.proxies.query_based_api import QueryBasedAPIProxy
from langbot_plugin.runtime.io.connection import Connection
from langbot_plugin.runtime.io.handler import Handler

from longterm_memory.errors import BadArgument
from longterm_memory.langbot import LangBotTurn
from longterm_memory.ports import Turn


class NoConnection(Connection):
    async def send(self, message: str) -> None:
        raise AssertionError("nothing is sent")

    async def receive(self) -> str:
        raise AssertionError("nothing is received")

    async def close(self) -> None:
        return


class Runtime(Handler):  # type: ignore[misc, unused-ignore]
    """Answers instead of the plugin runtime."""

    def __init__(self, **answers: Any) -> None:
        super().__init__(NoConnection())
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def call_action(self, action: Any, data: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
        self.asked.append((action.value, data))
        answer = self.answers.get(action.value)
        if isinstance(answer, BaseException):
            raise answer
        return {} if answer is None else answer


def turn_of(runtime: Runtime, query_uuid: str | None = None) -> Turn:
    return LangBotTurn.of_tool(SimpleNamespace(plugin_runtime_handler=runtime), 7, query_uuid)


async def test_a_tool_reaches_the_query_of_its_call() -> None:
    runtime = Runtime(get_bot_uuid={"bot_uuid": "b-01"}, get_query_vars={"vars": {"sender_id": "9001"}})
    turn = turn_of(runtime, "u-7")
    assert turn.query_id == "u-7"
    assert await turn.bot_uuid() == "b-01"
    assert await turn.variables() == {"sender_id": "9001"}
    await turn.set_variable("_ltm_context", {"a": [1]})
    reference = {"query_id": 7, "query_uuid": "u-7"}
    assert runtime.asked == [
        ("get_bot_uuid", reference),
        ("get_query_vars", reference),
        ("set_query_var", reference | {"key": "_ltm_context", "value": {"a": [1]}}),
    ]


async def test_without_a_uuid_the_number_is_the_id() -> None:
    runtime = Runtime(get_bot_uuid={"bot_uuid": None}, get_query_vars={"vars": None})
    turn = turn_of(runtime)
    assert turn.query_id == "7"
    assert await turn.bot_uuid() == ""
    assert await turn.variables() == {}
    assert runtime.asked[0] == ("get_bot_uuid", {"query_id": 7})


def test_an_object_without_ids_has_no_id() -> None:
    assert LangBotTurn(SimpleNamespace(query_uuid="", query_id=None)).query_id == ""
    assert LangBotTurn(SimpleNamespace(query_id=0)).query_id == "0"


def test_event_and_command_contexts_are_such_queries() -> None:
    from langbot_plugin.api.proxies.event_context import EventContextProxy
    from langbot_plugin.api.proxies.execute_context import ExecuteContextProxy

    for context in EventContextProxy, ExecuteContextProxy:
        assert issubclass(context, QueryBasedAPIProxy)
        assert {"query_id", "query_uuid"} <= set(context.model_fields)


async def test_a_query_that_is_gone_means_no_scope() -> None:
    for error in (RuntimeError("Plugin invocation has ended"), TimeoutError(), KeyError("vars")):
        runtime = Runtime(get_bot_uuid=error, get_query_vars=error, set_query_var=error)
        turn = turn_of(runtime)
        for call in turn.bot_uuid(), turn.variables(), turn.set_variable("x", 1):
            with pytest.raises(BadArgument) as failure:
                await call
            assert failure.value.reason == "scope_unknown"
            assert failure.value.__cause__ is error


async def test_cancelling_passes_through() -> None:
    runtime = Runtime(get_query_vars=asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        await turn_of(runtime).variables()
