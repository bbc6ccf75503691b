"""The runner a 4.11 host needs to chat at all: it comes without one.

It does what the commonly used local agent does, in the same order: the prompt (after all listeners), the
history, what the knowledge bases return for the user's text, the user's text; then the model, until it calls
no more tools.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

from langbot_plugin.api.definition.components.runner.runner import Runner
from langbot_plugin.api.entities.builtin.provider.message import Message, MessageChunk, ToolCall
from langbot_plugin.api.entities.builtin.resource.tool import LLMTool
from langbot_plugin.api.entities.builtin.runner import RunnerContext, RunnerResult

logger = logging.getLogger(__name__)

_MAX_ROUNDS = 10
_TOP_K = 5
_REPLY_TOOL = "event_reply"
_STREAM_STEP = 40
"""Characters between two streamed snapshots."""


class MiniRunner(Runner):
    """Prompt, history, naive retrieval, tool loop."""

    # The SDK iterates what ``run`` returns, whatever its base class is annotated with.
    async def run(  # type: ignore[override]
        self, ctx: RunnerContext
    ) -> AsyncGenerator[RunnerResult, None]:
        """Answer one message."""
        api: Any = self.get_run_api(ctx)
        config = ctx.config or {}
        text = ctx.input.to_text()
        messages = await self._prompt(api, config)
        messages += await self._history(api, ctx)
        if config.get("naive-rag", True):
            messages += await self._retrieved(api, text)
        messages.append(Message(role="user", content=text))
        final = await self._think(api, _model_of(config), messages)
        if _REPLY_TOOL in {tool.tool_name for tool in api.get_allowed_tools()}:
            # Behind an agent-bound bot nothing sends the run's message on: a reply is a tool call.
            await ctx.reply(str(final.content or ""))
        elif config.get("streaming", False):
            for chunk in _snapshots(ctx.run_id, str(final.content or "")):
                yield RunnerResult.message_delta(ctx.run_id, chunk)
        else:
            yield RunnerResult.message_completed(ctx.run_id, final)
        yield RunnerResult.run_completed(ctx.run_id, finish_reason="stop")

    async def _prompt(self, api: Any, config: dict[str, Any]) -> list[Message]:
        try:
            found = await api.get_prompt()
        except Exception as error:
            # An agent-bound bot has no pipeline and so no prompt to ask for.
            logger.info("no pipeline prompt: %s", error)
            found = []
        rows = found or config.get("prompt") or []
        return [Message(role=row.get("role", "system"), content=row.get("content")) for row in rows]

    async def _history(self, api: Any, ctx: RunnerContext) -> list[Message]:
        try:
            page = await api.history_page(limit=50)
        except Exception as error:
            logger.warning("no history: %s", error)
            return []
        # The page comes newest first and holds the message being answered.
        items = sorted(page.items, key=lambda item: item.seq or 0)
        return [
            Message(role=item.role, content=item.content)
            for item in items
            if item.event_id != ctx.event.event_id and item.role in ("user", "assistant") and item.content
        ]

    async def _retrieved(self, api: Any, text: str) -> list[Message]:
        found: list[str] = []
        for base in api.get_allowed_knowledge_bases():
            try:
                entries = await api.retrieve_knowledge(kb_id=base.kb_id, query_text=text, top_k=_TOP_K)
            except Exception as error:
                logger.warning("retrieval failed: %s", error)
                continue
            found += [
                part["text"] for entry in entries for part in entry.get("content", []) if part.get("text")
            ]
        return [Message(role="system", content="[RAG] " + "\n".join(found))] if found else []

    async def _think(self, api: Any, model: str, messages: list[Message]) -> Message:
        tools = [_as_function(tool) for tool in api.get_allowed_tools()]
        for _ in range(_MAX_ROUNDS):
            answer: Message = await api.invoke_llm(model, messages, funcs=tools)
            if not answer.tool_calls:
                return answer
            messages.append(answer)
            for call in answer.tool_calls:
                messages.append(
                    Message(role="tool", content=await self._call(api, call), tool_call_id=call.id)
                )
        return Message(role="assistant", content="(gave up after too many tool calls)")

    async def _call(self, api: Any, call: ToolCall) -> str:
        try:
            result = await api.call_tool(call.function.name, json.loads(call.function.arguments or "{}"))
        except Exception as error:
            logger.warning("tool %s failed: %r", call.function.name, error)
            return f"TOOL_ERROR: {type(error).__name__}: {error}"
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, default=str)


def _model_of(config: dict[str, Any]) -> str:
    model = config.get("model") or ""
    return str(model.get("primary", "")) if isinstance(model, dict) else str(model)


def _as_function(tool: Any) -> LLMTool:
    description = tool.description or ""
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return LLMTool(
        name=tool.tool_name,
        human_desc=description,
        description=description,
        parameters=parameters,
        func=_never,
    )


async def _never(**arguments: Any) -> None:
    """Stand in for the function of a tool: the host calls tools by name."""


def _snapshots(run_id: str, text: str) -> list[MessageChunk]:
    """Cut *text* into growing snapshots, as the host expects of a streamed reply."""
    ends = [*range(_STREAM_STEP, len(text), _STREAM_STEP), len(text)]
    return [
        MessageChunk(
            resp_message_id=run_id,
            role="assistant",
            content=text[:end],
            all_content=text[:end],
            is_final=end == len(text),
            msg_sequence=number,
        )
        for number, end in enumerate(ends, 1)
    ]
