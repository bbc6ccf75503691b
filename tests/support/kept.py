"""What is kept anywhere of a bot under attack, and the way to have it erased."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from typing import Any

from tests.support.memory import KB, Bot


def stored(bot: Bot, prefix: str = "") -> str:
    """Everything that is kept anywhere (or under a prefix of plugin storage), as text."""
    rows = [] if prefix else [[row.metadata, row.document] for row in bot.api.rows[KB].values()]
    values = (f"{k}{_text(v)}" for k, v in bot.api.values.items() if k.startswith(prefix))
    return json.dumps(rows) + "".join(values)


def _text(value: bytes) -> str:
    try:
        return zlib.decompress(value).decode()
    except zlib.error:
        return value.decode()


async def forgetme(bot: Bot, *where: str) -> Callable[[], Any]:
    """Ask for a code; returns what confirms it."""
    found = re.search(r"forgetme (\w{6})\b", await bot.command("memory forgetme", *where))
    assert found
    return lambda: bot.command(f"memory forgetme {found[1]}", *where)
