"""A command that logs how the host cut up what was typed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, cast

from langbot_plugin.api.definition.components.command.command import Command
from langbot_plugin.api.entities.builtin.command.context import CommandReturn, ExecuteContext


async def _vectors(plugin: Any, verb: str, collection: str) -> str:
    """Write one row into a collection, or count the rows that can be listed in it."""
    try:
        if verb == "write":
            row = "0b7d1c52-6f0e-4c55-9a52-3f3b1c9d2e10"
            fields = {"file_id": "f", "uuid": row, "text": "t"}
            await plugin.vector_upsert(collection, [[1.0] + [0.0] * 383], [row], [fields], ["t"])
            return "written"
        return f"{len((await plugin.vector_list(collection, {'file_id': 'f'}, 10, 0))['items'])} rows"
    except Exception as exc:
        return str(exc)


class ProbeCommand(Command):
    """Answers ``probed``, with and without a subcommand; ``vectors write|count <kb>`` tries a collection."""

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
            if "vectors" in context.params:
                yield CommandReturn(text=await _vectors(plugin, *context.params[-2:]))
                return
            yield CommandReturn(text="probed")

        for name in ("", "*"):
            # The SDK's annotation forgets that it passes the command itself first.
            self.subcommand(name, help="log", usage="probe")(cast(Any, log))
