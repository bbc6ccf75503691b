"""What models really send, through the host's own tool path: one clear line, nothing half done, no traceback."""

from __future__ import annotations

import json
from typing import Any

from playground.model_server import Call
from tests.support.talk import MemoryHost

TAGS: list[Any] = ['["a","b"]', "travel", "旅行，工作", None, {"0": "a"}, [1, None, ["x"]], True, 5]
IMPORTANCES: list[Any] = ["4", "high", 0.8, 99, True, None, -1, [3], {"value": 3}]
CONTENTS: list[Any] = [{"text": "hi"}, ["a"], 5, "", "   ", None, "x" * 8_001, ["a", "b"]]
TOP_KS: list[Any] = ["3", 0, -1, 1e9, "all", None, True, [], {}]
PROFILES: list[dict[str, Any]] = [
    {"scope": "user", "field": "preference", "action": "update", "value": "tea"},
    {"scope": "SPEAKER", "field": "TRAITS", "action": "ADD", "value": "tall"},
    {"field": "traits", "action": "add", "value": ""},
    {"field": "traits", "action": "add", "value": "null"},
    {"field": "traits", "action": "add", "value": None},
    {"field": "traits", "action": "add", "value": {"a": 1}},
    {"field": "hobby", "action": "add", "value": "chess"},
    {"field": "traits", "action": "toggle", "value": "chess"},
    {"field": "traits"},
    {"scope": "everyone", "field": "notes", "action": "add", "value": "x"},
    {},
]


def test_remember_with_odd_input(memory_410: MemoryHost) -> None:
    memory = memory_410
    group = memory.group()
    given: list[Any] = [{"content": f"fact with tags {n}", "tags": tags} for n, tags in enumerate(TAGS)]
    given += [{"content": f"fact of weight {n}", "importance": value} for n, value in enumerate(IMPORTANCES)]
    given += [{"content": content} for content in CONTENTS]
    given += [{}, {"text": "wrong name"}, {"content": "with more", "user_key": "bot:other", "filters": {}}]
    answers = call_all(memory, group.id, "remember", given)
    listed = (
        group.command("!memory list --page 1")
        + group.command("!memory list 2")
        + group.command("!memory list 3")
    )
    for params, answer in zip(given, answers, strict=True):
        content = params.get("content")
        if "Stored as" in answer:
            assert str(content if isinstance(content, (str, int)) else "")[:40] in listed
        else:
            assert not isinstance(content, str) or not content or content[:40] not in listed
    assert all("Stored as" in answer for answer in answers[: len(TAGS)] if "tags:" not in answer)
    assert "Stored as" in answers[-1], "unknown parameters are ignored"


def test_recall_with_odd_input(memory_410: MemoryHost) -> None:
    memory = memory_410
    group = memory.group()
    group.remember("The house is green")
    given: list[Any] = [{"query": "the green house", "top_k": top_k} for top_k in TOP_KS]
    given += [
        {"query": "the green house", "speaker_id": "", "speaker_name": "  "},
        {"query": "the green house", "time_after": "", "time_before": "null", "status": "", "source": None},
        {"query": "the green house", "user_key": "bot:other", "scope": "all", "filters": {"user_key": "x"}},
        {"query": ["the green house"]},
    ]
    for params, answer in zip(given, call_all(memory, group.id, "recall_memory", given), strict=True):
        assert "The house is green" in answer or answer.startswith("top_k:"), (params, answer)
    refused = [{"query": "house", "time_after": "soon"}, {"query": "house", "importance_min": "high"}, {}]
    for answer in call_all(memory, group.id, "recall_memory", refused):
        assert "The house is green" not in answer or "importance" not in answer
    for answer in call_all(
        memory, group.id, "recall_memory", [{"query": text} for text in ("", "  ", "?!…")]
    ):
        assert "The house is green" not in answer


def test_update_profile_with_odd_input(memory_410: MemoryHost) -> None:
    memory = memory_410
    group = memory.group()
    call_all(memory, group.id, "update_profile", PROFILES)
    mine = group.command("!memory me")
    assert "tall" in mine
    assert "null" not in mine
    # Nothing landed in the profile of everybody by accident.
    everybody = group.say("What do you know?", "bob").profile
    for value in ("tea", "tall", "chess", "<<x>>"):
        assert value not in everybody


def test_a_whole_call_as_one_string(memory_410: MemoryHost) -> None:
    memory = memory_410
    group = memory.group()
    arguments = json.dumps(json.dumps({"content": "The boat needs paint"}))
    turn = group.calling([Call("remember", arguments)])
    assert turn.reply == "done"
    assert "\n" not in turn.results[0]
    assert group.say("Does the boat need paint?").reply


def call_all(memory: MemoryHost, group_id: str, tool: str, given: list[Any]) -> list[str]:
    """Call *tool* once per set of parameters; returns the answers after checking that each is one clear text."""
    group = memory.group(name=group_id)
    turn = group.calling([Call(tool, params) for params in given])
    answers = turn.results
    assert len(answers) == len(given)
    for params, answer in zip(given, answers, strict=True):
        assert answer.strip(), params
        assert "error occurred" not in answer.lower(), (params, answer)
        assert "TOOL_ERROR" not in answer, (params, answer)
        if "Recalled memories" not in answer:
            assert "\n" not in answer, (params, answer)
    assert "Traceback" not in turn.log
    return answers
