"""What the WebUI's own chat makes of replies."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

from longterm_memory.chat.inert import inert_json
from longterm_memory.langbot.web_chat import for_web_chat
from tests.support.memory import new_bot


def test_lines_stay_lines_where_markdown_is_rendered() -> None:
    reply = "Long-term memory is on.\nMemories: 3\n!memory help shows what you can do."
    for launcher in ("websocket_6fd2d7dd", "websocketgroup_0"):
        shown = for_web_chat(reply, SimpleNamespace(launcher_id=launcher))
        assert [line.removesuffix("  ") for line in shown.split("\n")] == reply.split("\n")
        assert all(line.endswith("  ") for line in shown.split("\n")[:-1])
    for session in (SimpleNamespace(launcher_id="77001"), SimpleNamespace(), None):
        assert for_web_chat(reply, session) == reply


def test_a_line_break_of_markdown_stays_one() -> None:
    """A backslash with blanks behind it would be shown."""
    shown = for_web_chat("- one\\\n  two\\\\\nthree", SimpleNamespace(launcher_id="websocket_1"))
    assert shown == "- one\\\n  two\\\\  \nthree"


def test_an_export_imports_as_before() -> None:
    memories = [{"content": "two\nlines", "importance": 3}]
    text = json.dumps(memories, indent=1)
    assert json.loads(for_web_chat(text, SimpleNamespace(launcher_id="websocket_1"))) == memories


async def test_an_export_can_be_copied_as_markdown_shows_it() -> None:
    hostile = 'say "hi" \\ C:\\dir\\new *bold* _it_ a_b `code` ~~no~~ [x](y) &lt; tab\t line\nend \\" 😀 <b>'
    bot = await new_bot(config={"memory_admins": ["9001"]})
    await bot.remember(hostile, tags=["*t*"])
    reply = await bot.command("memory export l2", "group_77001", "9001")
    shown = for_web_chat(reply, SimpleNamespace(launcher_id="websocket_1"))
    text = shown[shown.index("{") :]
    # What CommonMark takes for escapes, and nothing that it takes for anything else.
    rendered = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)
    assert re.search(r"[*`~&<>]|\]\(|\b_|_\b", rendered) is None
    (row,) = json.loads(rendered)["episodes"]
    assert (row["content"], row["tags"]) == (hostile, ["*t*"])


def test_json_for_a_chat_says_the_same() -> None:
    for value in ("\\", '\\\\"', '"', "\\n", "\n\\", "_", "a_b", "__", "](", "&", "\u202e*"):
        assert json.loads(inert_json(json.dumps({"x_y": value}))) == {"x_y": value}
