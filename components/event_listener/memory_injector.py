"""Puts memories into the prompt before the model answers."""

from __future__ import annotations

import asyncio
from typing import Any

from langbot_plugin.api.definition.components.common.event_listener import EventListener
from langbot_plugin.api.entities import events
from langbot_plugin.api.entities.builtin.provider.message import Message

from longterm_memory.injection.blocks import is_block
from longterm_memory.langbot.turn import LangBotTurn
from longterm_memory.logs import get_logger

logger = get_logger("longterm_memory")

_WHOLE_SECONDS = 20.0
"""Whatever hangs, the reply goes on after this long."""


class MemoryInjector(EventListener):
    """Listens to ``PromptPreProcessing``."""

    async def initialize(self) -> None:
        """Register the handler."""
        await super().initialize()
        self.handler(events.PromptPreProcessing)(self._prepare)

    async def _prepare(self, context: Any) -> None:
        """Append the blocks to ``default_prompt``, the part of the event that reaches the model on every host."""
        try:
            prompt = context.event.default_prompt
            # The host makes a new conversation out of a prompt that holds our blocks when its pipeline is saved while
            # a turn runs; from then on somebody's old blocks come in with every message. The same when we hear twice.
            prompt[:] = [message for message in prompt if not is_block(_text(message))]
            injection = await asyncio.wait_for(
                self.plugin.memory().injector.prepare(LangBotTurn(context)),  # type: ignore[attr-defined]
                _WHOLE_SECONDS,
            )
            prompt.extend(Message(role="system", content=block) for block in injection.blocks)
        except Exception:
            # A listener that raises takes the whole reply with it; memory is never worth that. The log has it all.
            logger.exception("memory injection failed: query_id=%s", getattr(context, "query_id", ""))


def _text(message: Any) -> str:
    return message.content if isinstance(message.content, str) else ""
