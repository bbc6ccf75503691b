"""The index of a conversation fills in the background of its turns, on a real host, until every match is found."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.talk import Chat, MemoryHost, our_lines

QUERY = "OPS-4711?"
WANTED = (
    "Somebody promised last winter that everything around OPS-4711 would be painted, repaired, photographed and"
    " handed over before any guests arrive from overseas"
)


@pytest.fixture
def cold(memory: MemoryHost) -> Iterator[Chat]:
    """A group with more memories than one page of its index, none of which the process has read yet."""
    group = memory.group()
    # Nearer in vector space than the one that matters: that one is found by its exact identifier alone.
    near = [f"ops 4711 {n}" for n in range(60)]
    other = [f"Lunch of day {n} was soup with bread" for n in range(400)]
    long = [f"Minutes of day {n}: " + "they talked about the weather again " * 90 for n in range(60)]
    place = {"bot_uuid": memory.bot.uuid, "session_name": group.session_name, "sender_id": "ann"}
    rows = [{"content": content, **place} for content in [*near, *other, *long, WANTED]]
    document = memory.stage.api.upload(memory.kb, "many.txt", json.dumps(rows).encode())
    memory.configure()
    yield group
    memory.stage.models.faults.embeddings = ""
    memory.configure()
    memory.stage.api.delete_file(memory.kb, document)
    assert group.say(QUERY).records == []


def test_a_cold_index_fills_page_by_page(cold: Chat) -> None:
    mark = cold.memory.stage.host.log_mark()
    found = [WANTED in cold.say(QUERY).records for _ in range(4)]
    assert not found[0], "it stands on the second page"
    assert found[-1]
    assert found == sorted(found), "once found, always found"
    log = cold.memory.stage.host.log_since(mark)
    assert not [line for line in our_lines(log) if "failed" in line]


def test_a_page_that_comes_when_the_turn_is_over_is_kept(cold: Chat) -> None:
    """While embeddings are paused a turn is over at once; the SDK would drop the answer to what it asked."""
    models, host = cold.memory.stage.models, cold.memory.stage.host
    models.faults.embeddings = "down"
    elsewhere = cold.memory.group()
    while elsewhere.say("Where did we leave the boat?").embedded:
        pass
    mark = host.log_mark()
    for _ in range(3):
        assert cold.say(QUERY).embedded == []
    log = host.log_since(mark)
    assert "recall=failed:embedding_pause" in log
    assert not [line for line in our_lines(log) if "index page failed" in line]
