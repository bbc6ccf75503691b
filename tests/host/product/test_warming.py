"""The index of a conversation fills in the background of its turns, on a real host, until every match is found."""

from __future__ import annotations

import json

from tests.support.talk import MemoryHost, our_lines

QUERY = "OPS-4711?"
WANTED = (
    "Somebody promised last winter that everything around OPS-4711 would be painted, repaired, photographed and"
    " handed over before any guests arrive from overseas"
)


def test_a_cold_index_fills_page_by_page_behind_the_turns(memory_411: MemoryHost) -> None:
    memory, group = memory_411, memory_411.group()
    # Nearer in vector space than the one that matters: that one is found by its exact identifier alone.
    near = [f"ops 4711 {n}" for n in range(130)]
    other = [f"Lunch of day {n} was soup with bread" for n in range(400)]
    long = [f"Minutes of day {n}: " + "they talked about the weather again " * 90 for n in range(60)]
    place = {"bot_uuid": memory.bot.uuid, "session_name": group.session_name, "sender_id": "ann"}
    rows = [{"content": content, **place} for content in [*near, *other, *long, WANTED]]
    host, models = memory.stage.host, memory.stage.models
    memory.stage.api.upload(memory.kb, "many.txt", json.dumps(rows).encode())
    memory.configure()

    mark = host.log_mark()
    found = [WANTED in group.say(QUERY).records for _ in range(4)]
    assert not found[0], "it stands on the second page"
    assert found[-1]
    assert found == sorted(found), "once found, always found"
    host.wait_for_quiet_log()
    assert not [line for line in our_lines(host.log_since(mark)) if "failed" in line]

    # While embeddings are paused a turn is over at once, before its page has come. From 4.11 on the SDK would drop
    # such an answer if it knew who asked.
    memory.configure()
    models.faults.embeddings = "down"
    elsewhere = memory.group()
    while elsewhere.say("Where did we leave the boat?").embedded:
        pass
    mark = host.log_mark()
    for _ in range(2):
        assert group.say(QUERY).embedded == []
    host.wait_for_quiet_log()
    lines = our_lines(host.log_since(mark))
    models.faults.embeddings = ""
    memory.configure()
    assert any("recall=failed:embedding_pause" in line for line in lines)
    assert not [line for line in lines if "index page failed" in line]
