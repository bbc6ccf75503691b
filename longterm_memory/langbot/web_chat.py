"""The chats that LangBot brings itself: the WebUI's debug chat and the widget on a web page."""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["for_web_chat"]

_LAUNCHERS: Final = ("websocket_", "websocketgroup_")
"""How the ids of their conversations begin, on both supported hosts."""
_BREAK: Final = re.compile(r"(?<!\\)((?:\\\\)*)\n")
"""The end of a line, but for one that ends with a single backslash, which makes it one already."""


def for_web_chat(text: str, session: Any) -> str:
    """Return a reply as the chat that it goes to shows it line by line.

    Web chats render Markdown, where a line break is a blank; two blanks before it make it one. In JSON they change
    nothing, since they stand between two values.

    Args:
        text: the reply.
        session: the host's session, for its ``launcher_id``; any other object leaves the text as it is.
    """
    if not str(getattr(session, "launcher_id", "")).startswith(_LAUNCHERS):
        return text
    return _BREAK.sub(r"\1  \n", text)
