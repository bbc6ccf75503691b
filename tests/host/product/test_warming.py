"""The index of a conversation fills in the background of its turns, on a real host, until every match is found."""

from __future__ import annotations

import json

from tests.support.talk import MemoryHost, our_lines

QUERY = "OPS-4711?"


def test_a_cold_index_fills_page_by_page_behind_the_turns(memory: MemoryHost) -> None:
    group = memory.group()
    # Nearer in vector space than the one that matters: that one is found by its exact identifier alone.
    near = [f"ops 4711 {n}" for n in range(60)]
    other = [f"Lunch of day {n} was soup with bread" for n in range(1_090)]
    wanted = (
        "Somebody promised last winter that everything around OPS-4711 would be painted, repaired, photographed"
        " and handed over before any guests arrive from overseas"
    )
    place = {"bot_uuid": memory.bot.uuid, "session_name": group.session_name, "sender_id": "ann"}
    rows = [{"content": content, **place} for content in [*near, *other, wanted]]
    document = memory.stage.api.upload(memory.kb, "many.txt", json.dumps(rows).encode())
    memory.configure()
    mark = memory.stage.host.log_mark()
    assert wanted not in group.say(QUERY).records
    found = [wanted in group.say(QUERY).records for _ in range(4)]
    assert found[-1]
    assert found == sorted(found), "once found, always found"
    log = memory.stage.host.log_since(mark)
    # A call that was started within the turn is answered though the turn is over; one started later is refused.
    assert "invocation has ended" not in log
    assert not [line for line in our_lines(log) if "failed" in line]
    memory.stage.api.delete_file(memory.kb, document)
    assert group.say(QUERY).records == []
