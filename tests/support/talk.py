"""The built package on a real host, and talking to it: what the model received and what it cost."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from playground.api import RUNNER_PLUGIN
from playground.chat import Bot, Kind
from playground.host import Host
from playground.model_server import Call, ChatRequest, Rule
from playground.stage import Stage

__all__ = ["EPISODES", "PAGE", "PROFILE", "RECORD", "Chat", "MemoryHost", "Turn", "our_lines", "plain"]

PROFILE = "## Long-term memory"
"""How the profile block begins."""
EPISODES = "## Recalled memories"
"""How the block of recalled memories begins."""
RECORD = re.compile(r"(\d{4}-\d\d-\d\d)\S* \*{1,5}\S* (.+?) ([0-9a-z]{8}) <<(.*?)>>", re.DOTALL)
"""A memory as the model sees it anywhere: day, speaker, id, text."""
PAGE = "memory_console"
PATIENCE = {"recall_deadline_seconds": 6}
"""Twice the default: a busy machine is no reason to miss a memory."""
BEFORE_US = ("agentic_rag", "context_reader", "meddler")
"""Playground plugins that are installed before the product; a pipeline uses them only when its test says so."""

_NUMBERS = itertools.count(1)
_RUN = uuid.uuid4().hex[:6]


def plain(text: str) -> str:
    """Return a tool's result as the tool gave it: 4.10 quotes it as JSON once more."""
    if text.startswith('"') and text.endswith('"'):
        with contextlib.suppress(ValueError):
            return str(json.loads(text))
    return text


def our_lines(log: str) -> list[str]:
    """Return the product's own lines of a host log."""
    return [line for line in log.splitlines() if "[LongTermMemory]" in line]


@dataclass(frozen=True)
class Turn:
    """One message and everything that it caused.

    Attributes:
        reply: final text of the reply.
        texts: every snapshot of it, as delivered.
        requests: what the model was sent, oldest first.
        embedded: the texts of each embedding call.
        seconds: until the reply.
        host: where it was said.
        mark: position in the host's log before it.
    """

    reply: str
    texts: list[str]
    requests: list[ChatRequest]
    embedded: list[list[str]]
    seconds: float
    host: Host = field(repr=False)
    mark: int

    @cached_property
    def log(self) -> str:
        """What the host has logged since; a worker's lines come a little later than its answers."""
        self.host.wait_for_quiet_log()
        return self.host.log_since(self.mark)

    @property
    def seen(self) -> str:
        """Everything in the first request to the model."""
        return self.requests[0].text()

    @property
    def system(self) -> str:
        """The system part of the first request."""
        return self.requests[0].text("system")

    @property
    def history(self) -> str:
        """What the first request holds of earlier messages."""
        spoken = [m for m in self.requests[0].messages if m.get("role") in ("user", "assistant", "tool")]
        return json.dumps(spoken[:-1], ensure_ascii=False)

    @property
    def profile(self) -> str:
        """The one profile block in the first request."""
        blocks = [text for text in _texts(self.requests[0]) if PROFILE in text]
        assert len(blocks) == 1, blocks
        assert blocks[0].count(PROFILE) == 1
        return blocks[0]

    @property
    def records(self) -> list[str]:
        """The texts of all memories in the first request, wherever they stand, in order."""
        return [found[3] for found in RECORD.findall(self.seen)]

    @property
    def ids(self) -> list[str]:
        """The ids of these memories."""
        return [found[2] for found in RECORD.findall(self.seen)]

    @property
    def results(self) -> list[str]:
        """What the tools of this turn answered, as the model saw it."""
        last = self.requests[-1].messages
        start = max(n for n, message in enumerate(last) if message.get("role") == "user")
        return [plain(_text(message)) for message in last[start:] if message.get("role") == "tool"]


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _texts(request: ChatRequest) -> list[str]:
    return [_text(message) for message in request.messages]


@dataclass
class MemoryHost:
    """The product, installed on a stage with one knowledge base and a bot that has it attached.

    Attributes:
        stage: the host and what is around it.
        plugin: ``author/name`` of the product.
        kb: the memory knowledge base.
        bot: a bot with naive retrieval, as operators have it.
    """

    stage: Stage
    plugin: str
    kb: str = ""
    bot: Bot = field(init=False)

    @classmethod
    def installed(cls, stage: Stage, before: Sequence[str] = BEFORE_US) -> MemoryHost:
        """Install the built package on *stage*, create the knowledge base and a bot.

        Before it the plugins that some tests want to run before it: plugins run in the order of their installation,
        and an uninstalled one cannot be counted on to stay away on 4.10.
        """
        for folder in before:
            stage.install(folder)
        memory = cls(stage, stage.install_product())
        memory.configure()
        memory.kb = memory.create_kb()
        memory.bot = memory.new_bot()
        return memory

    def create_kb(self, **settings: Any) -> str:
        """Create a memory knowledge base."""
        given = {"embedding_model_uuid": self.stage.uuids.embedding, **settings}
        return self.stage.api.create_kb(self.plugin, given)

    def new_bot(self, *others: str, kbs: Sequence[str] | None = None, **options: Any) -> Bot:
        """Create a bot whose pipeline uses the product and *others* (``author/name``), but no further plugin."""
        runner = [RUNNER_PLUGIN] if self.stage.host.generation >= (4, 11) else []
        attached = [self.kb] if kbs is None else kbs
        return self.stage.bot(kbs=attached, plugins=[*runner, self.plugin, *others], **options)

    def group(self, bot: Bot | None = None, name: str = "") -> Chat:
        """Return a group that nobody has talked in yet (or the one called *name*)."""
        return Chat(self, bot or self.bot, "group", name or _fresh("g"))

    def private(self, bot: Bot | None = None, name: str = "") -> Chat:
        """Return a private chat that nobody has talked in yet (or the one called *name*)."""
        return Chat(self, bot or self.bot, "person", name or _fresh("p"))

    def configure(self, **settings: Any) -> None:
        """Save the plugin's settings, which starts its worker anew: nothing of its memory is left in the process."""
        self.stage.api.configure(self.plugin, {**PATIENCE, **settings})

    @contextlib.contextmanager
    def configured(self, **settings: Any) -> Iterator[None]:
        """Have the plugin run with *settings* for a while."""
        self.configure(**settings)
        try:
            yield
        finally:
            self.configure()

    def upload(self, rows: object, *, name: str = "memories.json") -> str:
        """Upload rows as a JSON file; returns the document's id."""
        return self.stage.api.upload(self.kb, name, json.dumps(rows, ensure_ascii=False).encode())

    def page(self, endpoint: str, body: Any = None) -> Any:
        """Call the console's server side."""
        return self.stage.api.page(self.plugin, PAGE, endpoint, body)


def _fresh(kind: str) -> str:
    return f"{kind}{_RUN}-{next(_NUMBERS)}"


@dataclass(frozen=True)
class Chat:
    """One conversation.

    Attributes:
        memory: the product on its host.
        bot: who answers.
        kind: ``group`` or ``person``.
        id: id of the conversation on its platform; in a private chat that of the person too.
    """

    memory: MemoryHost
    bot: Bot
    kind: Kind
    id: str

    @property
    def session_name(self) -> str:
        """The name of the session on the host."""
        return f"{self.kind}_{self.id}"

    @property
    def key(self) -> str:
        """Its scope key."""
        return f"{self.bot.uuid}:{self.session_name}"

    def say(
        self,
        text: str,
        sender: str = "ann",
        name: str | None = None,
        *,
        message: Sequence[Mapping[str, Any]] | None = None,
    ) -> Turn:
        """Say something and wait for the reply."""
        models, host = self.memory.stage.models, self.memory.stage.host
        chats, embeddings, mark = len(models.chats), len(models.embeddings), host.log_mark()
        started = time.monotonic()
        shown = sender.title() if name is None else name
        reply = self.bot.send(self.id, text, self.kind, sender, shown, message=message)
        return Turn(
            reply=reply.text,
            texts=reply.texts,
            requests=models.chats[chats:],
            embedded=[request.texts for request in models.embeddings[embeddings:]],
            seconds=time.monotonic() - started,
            host=host,
            mark=mark,
        )

    def command(self, text: str, sender: str = "ann", name: str | None = None) -> str:
        """Type a command; returns the reply without the host's prefix."""
        return self.say(text, sender, name).reply.removeprefix("[bot] ")

    def calling(self, calls: Sequence[Call], sender: str = "ann", name: str | None = None) -> Turn:
        """Say something on which the model makes *calls*, all in one round."""
        order = f"do task {next(_NUMBERS)}"
        self.memory.stage.models.script(
            Rule(re.escape(order) + "$", calls=calls, reply="done", parallel=True)
        )
        return self.say(order, sender, name)

    def tool(
        self, name: str, arguments: object = None, sender: str = "ann", called: str | None = None
    ) -> str:
        """Have the model call one tool; returns what it got to read."""
        [result] = self.calling([Call(name, {} if arguments is None else arguments)], sender, called).results
        return result

    def remember(self, content: str, sender: str = "ann", called: str | None = None, **more: Any) -> str:
        """Have the model remember something; returns the id."""
        result = self.tool("remember", {"content": content, **more}, sender, called)
        found = re.search(r"\[([0-9a-z]{8})\]", result)
        assert found, result
        return found[1]
