"""The best-practice tool calls: run through the tools, and the same in the documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.memory import Bot, new_bot

ROOT = Path(__file__).resolve().parents[2]
CALLS: list[dict[str, Any]] = json.loads((ROOT / "examples" / "tool-calls.json").read_text("utf-8"))
PAGE = (ROOT / "docs" / "plugin-authors.md").read_text("utf-8")
SHOWN_ID = "k7m29xqd"
"""Stands in the examples for the id of the memory that the calls before made."""


async def called(bot: Bot, call: dict[str, Any], known: str = "") -> str:
    params = json.loads(json.dumps(call["params"]).replace(SHOWN_ID, known or SHOWN_ID))
    return await bot.tool(call["tool"], params, "group_77001", call.get("speaker", "9001"))


@pytest.mark.parametrize("call", CALLS, ids=lambda c: f"{c['tool']}: {c['said']}")
async def test_a_call_gets_the_answer_that_is_told(call: dict[str, Any]) -> None:
    bot, known = await new_bot(), ""
    for before in call.get("before", ()):
        made = re.search(r"\[([0-9a-z]{8})\]", await called(bot, before))
        known = made[1] if made else known
    answer = await called(bot, call, known)
    assert call["answer"] in answer.replace(known or SHOWN_ID, SHOWN_ID), answer
    if then := call.get("then"):
        prompt = await bot.prompt(then["said"], "group_77001", "9001")
        assert then["holds"] in prompt and then["lacks"] not in prompt, prompt


def test_the_calls_are_what_the_models_are_told_they_may_send() -> None:
    for call in [*CALLS, *(before for each in CALLS for before in each.get("before", ()))]:
        manifest = yaml.safe_load((ROOT / "components" / "tools" / f"{call['tool']}.yaml").read_text("utf-8"))
        told, given = manifest["spec"]["parameters"], call["params"]
        assert set(told["required"]) <= set(given) <= set(told["properties"]), call
        for name, value in given.items() if call.get("good", True) else ():
            assert value in told["properties"][name].get("enum", [value]), call
    for tool in ("remember", "recall_memory", "update_profile", "forget"):
        assert {call["good"] for call in CALLS if call["tool"] == tool} == {True, False}


def test_the_page_shows_exactly_these_calls_with_their_reasons() -> None:
    blocks = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    shown = [call for block in blocks if isinstance(call := json.loads(block), dict) and "tool" in call]
    wanted = [{"tool": call["tool"], "params": call["params"]} for call in CALLS]
    assert shown == wanted, "these calls, in this order"
    words = " ".join(PAGE.replace("`", "").split())
    missing = [text for call in CALLS for text in (call["said"], call["why"]) if text not in words]
    assert missing == []
