"""The setting ``episode_placement: retrieval``: the runner's own retrieval hands the recalled memories out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.talk import EPISODES, MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"


@pytest.fixture
def retrieving(memory: MemoryHost) -> Iterator[MemoryHost]:
    with memory.configured(episode_placement="retrieval"):
        yield memory


def test_each_memory_reaches_the_model_once_by_the_runners_retrieval(retrieving: MemoryHost) -> None:
    group = retrieving.group()
    group.remember(OSLO)
    for sender in ("bob", "ann"):
        turn = group.say(ASKED, sender)
        assert turn.records == [OSLO]
        assert turn.seen.count(OSLO) == 1
        assert EPISODES not in turn.seen
        assert len(turn.embedded) == 1
        # It stands behind the history, so the prefix of the prompt stays the same and cacheable.
        messages = turn.requests[0].messages
        assert OSLO in str(messages[-2:])
        assert OSLO not in str(messages[:-2])
        assert turn.profile
    assert "<<" not in group.say("And what is for dinner?", "bob").history
    assert OSLO in group.tool("recall_memory", {"query": OSLO})
    first, second = group.say(ASKED), group.say("Which spices belong into a lentil soup?")
    assert (first.records, second.records) == ([OSLO], [])
    assert first.system.split("[RAG]")[0].strip() == second.system.split("[RAG]")[0].strip()
