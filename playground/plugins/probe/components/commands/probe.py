"""A command that logs how the host cut up what was typed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

from langbot_plugin.api.definition.components.command.command import Command
from langbot_plugin.api.entities.builtin.command.context import CommandReturn, ExecuteContext


class ProbeCommand(Command):
    """Answers ``probed``, with and without a subcommand."""

    async def initialize(self) -> None:
        """Register for every subcommand."""
        await super().initialize()
        plugin: Any = self.plugin

        async def log(command: Command, context: ExecuteContext) -> AsyncGenerator[CommandReturn, None]:
            plugin.note(
                "command",
                command_text=context.command_text,
                full_command_text=context.full_command_text,
                params=context.params,
                privilege=context.privilege,
                session=context.session.model_dump(
                    mode="json", include={"launcher_type", "launcher_id", "sender_id"}
                ),
                variables=await context.get_query_vars(),
            )
            yield CommandReturn(text="probed")

        for name in ("", "*"):
            # The SDK's annotation forgets that it passes the command itself first.
            self.subcommand(name, help="log", usage="probe")(cast(Any, log))
