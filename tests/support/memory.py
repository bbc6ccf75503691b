"""A memory service on the strict double or a real engine, and messages for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from longterm_memory.chat.commands import run_command
from longterm_memory.chat.tools import call_tool
from longterm_memory.conversation import Conversation
from longterm_memory.injection.injector import Injection
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.policy import Via
from longterm_memory.scoped import ScopedMemory
from longterm_memory.service import MemoryService
from playground.engines import PluginApi
from playground.turn import LocalTurn
from tests.support.strict_host import StrictHost

KB = "kb-1"


@dataclass
class Clock:
    """A clock that tests move."""

    at: datetime = datetime(2026, 5, 10, 12, tzinfo=UTC)
    seconds: float = 1_000.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.seconds

    def move(self, **delta: float) -> None:
        step = timedelta(**delta)
        self.at += step
        self.seconds += step.total_seconds()


class RealTime(Clock):
    """The clock of the machine, for engines that take their time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return monotonic()


@dataclass
class Bot:
    """One installation with its knowledge base, and people who talk to it."""

    api: PluginApi
    config: dict[str, Any] = field(default_factory=dict)
    creation: dict[str, Any] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    kb: str = KB
    service: MemoryService = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start a new process on the same storage and vectors."""
        self.service = MemoryService(
            LangBotHost(self.api), lambda: self.config, now=self.clock.now, clock=self.clock.monotonic
        )

    def restart_indexes(self) -> None:
        """Forget what was read of the vectors."""
        if self.service._collection is not None:
            self.service._collection.indexes.clear()

    async def create(self) -> Bot:
        await self.service.knowledge_base_created(self.kb, {"embedding_model_uuid": "m", **self.creation})
        return self

    def turn(
        self, text: str = "", session: str = "group_77001", sender: str = "9001", **more: Any
    ) -> LocalTurn:
        names = {"9001": "Mina", "9002": "Tao"}
        more.setdefault("kb", [self.kb])
        return LocalTurn(self.api, text, session=session, sender=sender, name=names.get(sender, ""), **more)

    async def memory(
        self, *where: str, via: Via = "command", privilege: int = 1, **more: Any
    ) -> ScopedMemory:
        """The scoped memory behind the fronts."""
        conversation = await Conversation.of_turn(self.turn("", *where, **more))
        return await self.service.scoped(conversation, via=via, privilege=privilege)

    async def hear(self, text: str, *where: str, **more: Any) -> Injection:
        return await self.service.injector.prepare(self.turn(text, *where, **more))

    async def prompt(self, text: str, *where: str, **more: Any) -> str:
        """What the model would get for a message."""
        return "\n\n".join((await self.hear(text, *where, **more)).blocks)

    async def tool(self, tool: str, params: Any, *where: str, **more: Any) -> str:
        return await call_tool(self.service, self.turn("", *where, **more), tool, params)

    async def remember(self, content: str, *where: str, **params: Any) -> str:
        """Remember through the tool; returns the id."""
        answer = await self.tool("remember", {"content": content, **params}, *where)
        return answer.split("[", 1)[1].split("]", 1)[0]

    async def command(self, line: str, *where: str, privilege: int = 1, **more: Any) -> str:
        turn = self.turn(f"!{line}", *where, **more)
        return await run_command(self.service, turn, line, privilege=privilege)


async def new_bot(
    *, config: dict[str, Any] | None = None, creation: dict[str, Any] | None = None, **host: Any
) -> Bot:
    """Return a bot with a knowledge base on a fresh strict double."""
    return await Bot(StrictHost(**host), config or {}, creation or {}).create()
