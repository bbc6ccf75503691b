"""What the WebUI's own chat makes of replies."""

from __future__ import annotations

import json
from types import SimpleNamespace

from longterm_memory.langbot.web_chat import for_web_chat


def test_lines_stay_lines_where_markdown_is_rendered() -> None:
    reply = "Long-term memory is on.\nMemories: 3\n!memory help shows what you can do."
    for launcher in ("websocket_6fd2d7dd", "websocketgroup_0"):
        shown = for_web_chat(reply, SimpleNamespace(launcher_id=launcher))
        assert [line.removesuffix("  ") for line in shown.split("\n")] == reply.split("\n")
        assert all(line.endswith("  ") for line in shown.split("\n")[:-1])
    for session in (SimpleNamespace(launcher_id="77001"), SimpleNamespace(), None):
        assert for_web_chat(reply, session) == reply


def test_an_export_imports_as_before() -> None:
    memories = [{"content": "two\nlines", "importance": 3}]
    text = json.dumps(memories, indent=1)
    assert json.loads(for_web_chat(text, SimpleNamespace(launcher_id="websocket_1"))) == memories
