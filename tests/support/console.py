"""Asking the console as its page does, and spaces with so many memories that it matters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from longterm_memory.console import answer
from longterm_memory.console.bounds import ANSWER_BYTES
from longterm_memory.records.envelope import Record, encode
from tests.support.memory import Bot
from tests.support.strict_host import StrictHost, _Row

__all__ = ["ask", "plant", "refused", "space"]


async def ask(bot: Bot, endpoint: str, **body: Any) -> dict[str, Any]:
    """Return an answer that is none of a failure, and no longer than any answer may be."""
    found = await _answered(bot, endpoint, body)
    assert "error" not in found, found
    return found


async def refused(bot: Bot, endpoint: str, **body: Any) -> tuple[str, str]:
    """Return code and sentence of a failure."""
    found = await _answered(bot, endpoint, body)
    assert list(found) == ["error"], found
    assert "\n" not in found["error"]["text"]
    return found["error"]["code"], found["error"]["text"]


async def _answered(bot: Bot, endpoint: str, body: dict[str, Any]) -> dict[str, Any]:
    found = await answer(bot.service, endpoint, "POST", body)
    assert len(json.dumps(found)) <= ANSWER_BYTES
    return found


async def space(bot: Bot, session: str = "group_77001", bot_uuid: str = "b-01") -> str:
    """Return the id of a space by its name."""
    found = await ask(bot, "/derive", session_name=session, bot_uuid=bot_uuid)
    return str(found["space"]["space_id"])


def plant(bot: Bot, records: Iterable[Record]) -> None:
    """Put very many records into the store; what the double would refuse is not noticed."""
    assert isinstance(bot.api, StrictHost)
    for sent in map(encode, records):
        vector = np.asarray(sent.vector, dtype=np.float64)
        bot.api.rows[bot.kb][sent.id] = _Row(sent.id, vector, dict(sent.metadata), sent.document)
