"""Bots whose events are bound to an agent (4.11): no listener runs, so the engine is the one way in."""

from __future__ import annotations

import pytest

from playground.chat import Bot, Brain, add_agent, add_bot
from playground.model_server import Call
from tests.support.talk import EPISODES, MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"


@pytest.fixture
def agent(memory_411: MemoryHost) -> Bot:
    api = memory_411.stage.api
    brain = Brain(llm=memory_411.stage.uuids.llm, kbs=[memory_411.kb])
    return add_bot(api, add_agent(api, brain), target_type="agent")


def test_profile_and_memories_arrive_once_in_every_turn(memory_411: MemoryHost, agent: Bot) -> None:
    group = memory_411.group(agent)
    row = {"content": OSLO, "bot_uuid": agent.uuid, "session_name": group.session_name, "sender_name": "Ann"}
    memory_411.upload([row])
    for text in (ASKED, f"Again: {ASKED}"):
        turn = group.say(text, "bob")
        assert "Current speaker: id <<bob>>" in turn.profile
        assert turn.records == [OSLO]
        # First the profile, then what was recalled.
        assert turn.seen.index(turn.profile[:20]) < turn.seen.index(OSLO)
        assert len(turn.embedded) == 1
    assert OSLO not in turn.history
    assert EPISODES not in turn.history


def test_small_talk_brings_the_profile_only(memory_411: MemoryHost, agent: Bot) -> None:
    turn = memory_411.group(agent).say("Good morning!", "bob")
    assert turn.profile
    assert turn.embedded == []


def test_a_sender_that_is_the_group_is_nobody(memory_411: MemoryHost, agent: Bot) -> None:
    group = memory_411.group(agent)
    assert "Current speaker: unknown" in group.say("Who am I to you?", group.id).profile
    private = memory_411.private(agent)
    assert f"Current speaker: id <<{private.id}>>" in private.say("Who am I to you?").profile


def test_conversations_stay_apart(memory_411: MemoryHost, agent: Bot) -> None:
    group = memory_411.group(agent)
    row = {"content": OSLO, "bot_uuid": agent.uuid, "session_name": group.session_name}
    memory_411.upload([row])
    for chat in (memory_411.group(agent), memory_411.private(agent, group.id)):
        assert OSLO not in chat.say(ASKED).seen


def test_the_profile_survives_a_failing_search(memory_411: MemoryHost, agent: Bot) -> None:
    models = memory_411.stage.models
    models.faults.embeddings = "short"
    turn = memory_411.group(agent).say(ASKED)
    models.faults.embeddings = ""
    assert turn.profile
    assert memory_411.group(agent).say(ASKED).profile


def test_tools_fail_inside_the_host(memory_411: MemoryHost, agent: Bot) -> None:
    """Nothing a plugin can mend; documented. When this breaks, the host has learned it: tell the README."""
    group = memory_411.group(agent)
    turn = group.calling([Call("remember", {"content": OSLO})])
    assert "'NoneType' object has no attribute 'strip'" in turn.results[0]
    assert "remember called" not in turn.log
    # Nor are commands known there: they reach the model as text.
    assert group.say("!memory list").reply == "ECHO: !memory list"
