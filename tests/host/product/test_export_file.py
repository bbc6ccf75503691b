"""A long export as a file: what the http_bot adapter really delivers, and what people get where files go nowhere."""

from __future__ import annotations

import base64
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playground.chat import Bot, add_bot
from playground.rest import Rest
from tests.support.talk import Chat, MemoryHost

FACTS = [
    f"Ann's plan number {n}: " + "walk along the river to the old mill and back. " * 20 for n in range(3)
]
COPY = "Copy everything below:\n"


class Platform:
    """The messenger behind an http_bot: takes every message, or turns away those with a file."""

    def __init__(self, *, files: bool) -> None:
        platform = self
        self.files = files
        self.taken: list[dict[str, Any]] = []
        self.refused = 0

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                refused = not platform.files and any(part["type"] == "File" for part in body["message"])
                if refused:
                    platform.refused += 1
                else:
                    platform.taken += body["message"]
                self.send_response(415 if refused else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/callback"

    @contextmanager
    def listening(self) -> Iterator[Platform]:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def texts(self) -> list[str]:
        return [part["text"] for part in self.taken if part["type"] == "Plain"]

    def typed(self, chat: Chat, text: str) -> str:
        """Type a command without waiting on the line, as messengers do; returns the text of the reply."""
        known, body = (
            len(self.texts()),
            {"session_id": chat.id, "session_type": chat.kind, "sender": {"id": "ann"}},
        )
        Rest(chat.bot.api.host.url).post(
            f"/bots/{chat.bot.uuid}", body | {"message": [{"type": "Plain", "text": text}]}
        )
        until = time.monotonic() + 60
        while len(self.texts()) == known and time.monotonic() < until:
            time.sleep(0.05)
        return self.texts()[-1].removeprefix("[bot] ")


def bot_on(memory: MemoryHost, platform: Platform) -> Bot:
    return add_bot(memory.stage.api, memory.bot.pipeline, callback_url=platform.url)


def part(chat: Chat, number: int) -> list[str]:
    text = chat.command(f"!memory export l2 --part {number}")
    return [row["content"] for row in json.loads(text[text.index(COPY) + len(COPY) :])["episodes"]]


def test_a_long_export_is_delivered_as_a_file_before_its_reply(memory: MemoryHost) -> None:
    with Platform(files=True).listening() as platform:
        chat = memory.group(bot_on(memory, platform))
        for fact in FACTS:
            chat.remember(fact)
        reply = platform.typed(chat, "!memory export l2")
        file, text = platform.taken
        assert (file["type"], text["type"]) == ("File", "Plain")
        assert file["name"].endswith(".json")
        assert file["name"] in reply
        exported = json.loads(base64.b64decode(file["base64"]))
        assert sorted(row["content"] for row in exported["episodes"]) == sorted(f.strip() for f in FACTS)
        assert "Sent as" in reply
        count = int(re.findall(r"in (\d+) parts: !memory export l2 --part 1", reply)[0])
        told = [content for number in range(1, count + 1) for content in part(chat, number)]
        assert sorted(told) == sorted(f.strip() for f in FACTS)
        # What came out goes in again as it stands, line breaks and quotes included.
        elsewhere = memory.private(chat.bot)
        assert "New: 3 memories" in elsewhere.command(f"!memory import l2 {json.dumps(exported, indent=2)}")
        assert f"{count} parts" in platform.typed(chat, "!memory export l2")


def test_where_the_platform_turns_files_away_the_reply_says_how_to_get_the_parts(memory: MemoryHost) -> None:
    """The host takes the file and reports success whatever becomes of it, so nothing tells the plugin."""
    with Platform(files=False).listening() as platform:
        chat = memory.group(bot_on(memory, platform))
        for fact in FACTS[:2]:
            chat.remember(fact)
        reply = platform.typed(chat, "!memory export l2")
        assert platform.refused >= 1
        assert [p["type"] for p in platform.taken] == ["Plain"]
        assert "!memory export l2 --part 1" in reply
        assert part(chat, 1)
