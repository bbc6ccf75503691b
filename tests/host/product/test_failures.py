"""An embedding service that fails: the reply comes in time with the profile, and people are told in words."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from playground.embedders import HashedWords
from playground.model_server import EmbeddingFault
from tests.support.talk import Chat, MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"


def lived_in(memory: MemoryHost) -> Chat:
    """Return a group that remembers something."""
    group = memory.group()
    group.remember(OSLO)
    group.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    return group


@pytest.fixture
def group(memory: MemoryHost) -> Iterator[Chat]:
    """A group on each host; afterwards the service works and the plugin has forgotten its failures."""
    yield lived_in(memory)
    memory.stage.models.faults.embeddings = ""
    memory.configure()


@pytest.fixture
def group_411(memory_411: MemoryHost) -> Iterator[Chat]:
    """The same on 4.11 only, for what does not depend on the host."""
    yield lived_in(memory_411)
    memory_411.stage.models.faults.embeddings = ""
    memory_411.stage.models.embedder = HashedWords()
    memory_411.configure()


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
    listed = group.command("!memory list")
    assert OSLO in listed, "listing needs no embedding"
    assert "Bergen" not in listed


def test_service_hangs(group: Chat) -> None:
    broken(group, "hang", 15.0)
    turn = group.say(ASKED)
    assert turn.seconds < 15
    assert turn.reply == f"ECHO: {ASKED}"
    assert "vegetarian" in turn.profile
    assert turn.records == []
    turn = group.say(ASKED)
    assert turn.embedded == [], "the next turn does not pay again"
    assert "vegetarian" in turn.profile


def test_too_many_requests(group: Chat) -> None:
    faults = group.memory.stage.models.faults
    broken(group, "rate_limit")
    # The host tries three times by itself, within two seconds or three.
    relief = threading.Timer(3.5, setattr, (faults, "embeddings", ""))
    relief.start()
    turn = group.say(ASKED)
    relief.join()
    assert turn.records == [OSLO], "the limit cleared within the deadline"
    broken(group, "rate_limit")
    turn = group.say(ASKED)
    assert turn.records == []
    assert "vegetarian" in turn.profile
    assert "no more requests" in group.tool("remember", {"content": "Bo stays in Bergen"})
    broken(group, "")


def test_a_service_that_takes_few_texts_at_once(group: Chat) -> None:
    group.memory.stage.models.faults.batch = 10
    where = {"bot_uuid": group.bot.uuid, "session_name": group.session_name}
    group.memory.upload([{"content": f"Ann has seen film number {n}", **where} for n in range(40)])
    assert "41" in group.command("!memory stats")
    assert max(len(request.texts) for request in group.memory.stage.models.embeddings) <= 10
    group.memory.stage.models.faults.batch = 0


def test_unusable_vectors(group_411: Chat) -> None:
    group = group_411
    faults: tuple[EmbeddingFault, ...] = ("short", "nan")
    for fault in faults:
        broken(group, fault)
        turn = group.say(ASKED)
        assert "vegetarian" in turn.profile
        assert turn.records == []
        # One failure is no reason to stop asking.
        broken(group, "")
        assert group.say(ASKED).records == [OSLO]
    broken(group, "short")
    recalled = group.tool("recall_memory", {"query": OSLO})
    assert "No memory matches" not in recalled
    assert "Stored" not in group.tool("remember", {"content": "Bo stays in Bergen"})
    assert "Bergen" not in group.command("!memory list")


def test_vectors_of_another_dimension(group_411: Chat) -> None:
    group = group_411
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


def test_another_model_of_the_same_dimension(group_411: Chat) -> None:
    group = group_411
    # A worker that has just started has not seen the model yet.
    group.memory.configure()
    group.memory.stage.models.embedder = Reversed()
    turn = group.say(ASKED)
    assert "vegetarian" in turn.profile
    assert turn.records == []
    stored = group.tool("remember", {"content": "Bo stays in Bergen"})
    assert "not the one this memory was filled with" in stored
    assert "Bergen" not in group.command("!memory list")
