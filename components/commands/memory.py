"""The ``!memory`` command."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from langbot_plugin.api.definition.components.command.command import Command
from langbot_plugin.api.entities.builtin.command.context import CommandReturn

from longterm_memory.chat.commands import run_command
from longterm_memory.langbot.turn import LangBotTurn
from longterm_memory.langbot.web_chat import for_web_chat


class Memory(Command):
    """Takes every line: the host's own routing knows neither aliases nor quotes, and drops unknown subcommands."""

    async def initialize(self) -> None:
        """Register for the bare command and for everything after it."""
        await super().initialize()
        for name in ("", "*"):
            self.subcommand(name, help="Long-term memory", usage="!memory help")(_run)  # type: ignore[arg-type]


async def _run(command: Memory, context: Any) -> AsyncGenerator[CommandReturn, None]:
    """Yield exactly one reply: the host delivers only the first."""
    text = await run_command(
        command.plugin.memory(),  # type: ignore[attr-defined]
        LangBotTurn(context),
        context.command_text,
        privilege=int(context.privilege or 1),
    )
    yield CommandReturn(text=for_web_chat(text, getattr(context, "session", None)))
