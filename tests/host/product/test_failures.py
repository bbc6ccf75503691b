"""An embedding service that fails: the reply comes in time with the profile, and people are told in words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from playground.embedders import HashedWords
from playground.model_server import EmbeddingFault
from tests.support.talk import Chat, MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"


@pytest.fixture
def group(memory: MemoryHost) -> Iterator[Chat]:
    """A group that remembers something; afterwards the service works and the plugin has forgotten its failures."""
    group = memory.group()
    group.remember(OSLO)
    group.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    models = memory.stage.models
    yield group
    models.faults.embeddings = ""
    models.embedder = HashedWords()
    memory.configure()


def broken(group: Chat, fault: EmbeddingFault, seconds: float = 0.0) -> None:
    faults = group.memory.stage.models.faults
    faults.embeddings, faults.seconds = fault, seconds


def test_service_down(group: Chat) -> None:
    broken(group, "down")
    turn = group.say(ASKED)
    assert turn.reply == f"ECHO: {ASKED}"
    assert "vegetarian" in turn.profile
    assert turn.records == []
    recalled = group.tool("recall_memory", {"query": OSLO})
    assert "No memory matches" not in recalled
    assert "can't be searched" in recalled
    # By now it is left alone for a while.
    turn = group.say(ASKED)
    assert turn.embedded == []
    assert "vegetarian" in turn.profile
    stored = group.tool("remember", {"content": "Bo stays in Bergen"})
    assert "Stored" not in stored
    assert "can't be searched or stored" in stored
    assert OSLO in group.command("!memory list"), "listing needs no embedding"
    assert "Bergen" not in group.command("!memory list")


def test_service_hangs(group: Chat) -> None:
    broken(group, "hang", 25.0)
    turn = group.say(ASKED)
    assert turn.seconds < 25
    assert turn.reply == f"ECHO: {ASKED}"
    assert "vegetarian" in turn.profile
    assert turn.records == []
    turn = group.say(ASKED)
    assert turn.embedded == [], "the next turn does not pay again"
    assert "vegetarian" in turn.profile
    recalled = group.tool("recall_memory", {"query": OSLO})
    assert "No memory matches" not in recalled
    assert "can't be searched" in recalled


@pytest.mark.parametrize("fault", ["short", "nan"])
def test_unusable_vectors(group: Chat, fault: EmbeddingFault) -> None:
    broken(group, fault)
    turn = group.say(ASKED)
    assert "vegetarian" in turn.profile
    assert turn.records == []
    recalled = group.tool("recall_memory", {"query": OSLO})
    assert "No memory matches" not in recalled
    assert "Stored" not in group.tool("remember", {"content": "Bo stays in Bergen"})
    broken(group, "")
    group.memory.configure()
    assert group.say(ASKED).records == [OSLO]


def test_vectors_of_another_dimension(group: Chat) -> None:
    broken(group, "dimension")
    turn = group.say(ASKED)
    assert "vegetarian" in turn.profile
    assert turn.records == []
    for answer in (
        group.tool("recall_memory", {"query": OSLO}),
        group.tool("remember", {"content": "Bo stays in Bergen"}),
    ):
        assert "not the one this memory was filled with" in answer
        assert "384" in answer
    broken(group, "")
    assert group.say(ASKED).records == [OSLO]


class Reversed(HashedWords):
    """Another model with vectors of the same length."""

    def embed(self, texts: list[str]) -> list[list[float]]:
        return [vector[::-1] for vector in super().embed(texts)]


def test_another_model_of_the_same_dimension(group: Chat) -> None:
    group.memory.configure()
    group.memory.stage.models.embedder = Reversed()
    turn = group.say(ASKED)
    assert "vegetarian" in turn.profile
    assert turn.records == []
    stored = group.tool("remember", {"content": "Bo stays in Bergen"})
    assert "not the one this memory was filled with" in stored
    assert "Bergen" not in group.command("!memory list")
