"""The console's server side on real hosts: memories and people, through LangBot's own page call."""

from __future__ import annotations

import json
import time
from typing import Any

from longterm_memory.console.bounds import ANSWER_BYTES
from tests.support.talk import Chat, MemoryHost

HOSTILE = '<img src=x onerror="window.__x=1"> </script> \'; -- 你好 😀'
EVERY = ["active", "superseded", "archived"]
MANY = 1_200


def asked(chat: Chat, endpoint: str, **body: Any) -> dict[str, Any]:
    """Return an answer of the page, which is no failure, not too long and not too late."""
    began = time.monotonic()
    found: dict[str, Any] = chat.memory.page(endpoint, body)
    assert "error" not in found, (endpoint, found)
    assert time.monotonic() - began < 25, endpoint
    assert len(json.dumps(found)) <= ANSWER_BYTES
    return found


def space_of(chat: Chat) -> str:
    found = asked(chat, "/derive", bot_uuid=chat.bot.uuid, session_name=chat.session_name)
    return str(found["space"]["space_id"])


def lived_in(memory: MemoryHost) -> Chat:
    """A group that said a few things, and brought very many in."""
    chat = memory.group()
    chat.remember("Ann's dentist appointment is on Friday", "ann", "Ann", tags=["health"])
    chat.remember(HOSTILE, "bob", "Bob", tags=["<b>x</b>", "a, b"])
    chat.remember("Ann's dentist appointment is on Monday", "ann", "Ann", tags=["correction"])
    change = {"field": "preferences", "action": "set", "fact_key": "drink"}
    for value in ("tea", "coffee"):
        chat.tool("update_profile", change | {"value": value}, "ann", "Ann")
    where = {"bot_uuid": chat.bot.uuid, "session_name": chat.session_name, "sender_id": "cy"}
    rows = [
        {"content": f"Ticket {n}: checked", "timestamp": f"2025-{n % 12 + 1:02d}-0{n % 9 + 1}", **where}
        for n in range(MANY)
    ]
    memory.upload(rows)
    return chat


def test_an_operator_finds_changes_and_deletes_memories_from_the_page(memory: MemoryHost) -> None:
    chat = lived_in(memory)
    here = space_of(chat)
    spaces = asked(chat, "/spaces", search=chat.session_name, counts=True)["spaces"]
    assert [(s["space_id"], s["episodes"]) for s in spaces] == [(here, MANY + 2)]

    first = asked(chat, "/episodes", space_id=here, size=100)
    assert (first["total"], first["pages"], len(first["episodes"])) == (MANY + 2, 13, 100)
    assert {s["id"]: s["count"] for s in first["senders"]} == {"cy": MANY, "ann": 1, "bob": 1}
    last = asked(chat, "/episodes", space_id=here, size=100, page=13, facets=False)
    assert len(last["episodes"]) == 2
    (hostile,) = asked(chat, "/episodes", space_id=here, query="<IMG", tag="<B>X</B>")["episodes"]
    assert (hostile["content"], hostile["tags"]) == (HOSTILE, ["<b>x</b>", "a, b"])
    june = asked(chat, "/episodes", space_id=here, after="2025-06-01", before="2025-06-30")
    assert june["total"] == MANY // 12

    hits = asked(chat, "/episodes_search", space_id=here, query="When is Ann's dentist appointment?")["hits"]
    monday = hits[0]["episode"]
    assert (monday["content"][-6:], hits[0]["relevant"]) == ("Monday", True)
    details = asked(chat, "/episode", space_id=here, id=monday["id"])
    assert [e["content"][-6:] for e in details["replaces"]] == ["Friday"]
    months = asked(chat, "/timeline", space_id=here, by="month")["buckets"]
    assert sum(b["active"] for b in months) == MANY + 2
    assert sum(b["superseded"] for b in months) == 1

    tickets = [e["id"] for e in first["episodes"] if e["sender_id"] == "cy"][:20]
    done, left = list[str](), tickets
    while left:
        answer = asked(chat, "/episodes_change", space_id=here, ids=left, action="archive")
        done, left = done + answer["done"], answer["remaining"]
        assert not answer["failed"]
    assert done == tickets
    assert asked(chat, "/episodes", space_id=here, statuses=["archived"])["total"] == 20
    assert (
        asked(chat, "/episodes_change", space_id=here, ids=tickets[:3], action="restore")["done"]
        == tickets[:3]
    )
    edit = {
        "tags": ["done"],
        "importance": 5,
        "timestamp": "2024-02-29T10:00:00Z",
        "content": "Ticket closed",
    }
    edited = asked(chat, "/episode_edit", space_id=here, id=tickets[0], **edit)["episode"]
    assert edit.items() <= edited.items()
    assert asked(chat, "/episode", space_id=here, id=tickets[0])["episode"] == edited

    chosen = {"space_id": here, "ids": [*tickets[3:], monday["id"]], "action": "delete"}
    offer = asked(chat, "/episodes_change", **chosen)
    assert (offer["count"], offer["older"]) == (19, 1)
    gone = asked(chat, "/episodes_change", **chosen, code=offer["code"])
    assert len(gone["done"]) == 19
    kept = asked(chat, "/episodes", space_id=here, statuses=EVERY)
    assert (kept["total"], kept["counts"]) == (MANY - 16, {"active": MANY - 16})
    assert "dentist" not in chat.command("!memory list --all-statuses --speaker ann")

    log = asked(chat, "/audit", space_id=here, size=30)["entries"]
    assert {e["operation"] for e in log} >= {"archive", "restore", "edit", "delete"}
    other = memory.group()
    there = space_of(other)
    assert memory.page("/episode", {"space_id": there, "id": tickets[0]})["error"]["code"] == "id_unknown"
    assert asked(chat, "/episodes_change", space_id=there, ids=tickets[:1], action="archive")["done"] == []
    late = memory.page("/episodes", {"space_id": here, "size": 1_000, "language": "zh_Hans"})["error"]
    assert (late["code"], "不能大于 100" in late["text"]) == ("bad_request", True)


def test_an_operator_tends_profiles_and_sees_what_the_bot_was_given(memory: MemoryHost) -> None:
    chat = memory.group()
    for value in ("tea", "coffee"):
        change = {"field": "preferences", "action": "set", "fact_key": "drink", "value": value}
        chat.tool("update_profile", change, "ann", "Ann")
    chat.remember("Ann's dentist appointment is on Friday", "ann", "Ann")
    here = space_of(chat)
    (ann,) = asked(chat, "/profiles", space_id=here)["speakers"]
    assert ann["preferences"][0]["history"][0]["value"] == "tea"
    traits = {"space_id": here, "sender_id": "ann", "field": "traits"}
    assert asked(chat, "/profile_change", **traits, action="add", value=HOSTILE)["written"] is True
    asked(chat, "/profile_change", space_id=here, field="notes", action="set", value="Plans the offsite")

    turn = chat.say("When is my dentist appointment?", "ann", "Ann")
    shown = asked(chat, "/injection", space_id=here)["snapshot"]
    assert [e["content"] for e in shown["episodes"]] == turn.records
    for block in shown["blocks"]:
        assert block["text"] in turn.seen
    assert "Plans the offsite" in shown["blocks"][0]["text"]
    assert (shown["sender_id"], shown["recall"], shown["profiles"]) == ("ann", "ok", ["session", "speaker"])

    cleared = asked(chat, "/profile_change", **traits, action="clear")
    assert cleared["profile"]["traits"] == []
    assert "img" not in chat.command("!memory profile", "ann")

    found = asked(chat, "/diagnostics")
    assert found["host"] == memory.stage.host.version
    assert found["metric"] in ("l2", "cosine", "similarity")
    assert min(found["latency"][name] for name in ("embed_ms", "search_ms", "storage_ms")) >= 0
    assert found["counts"]["episodes"] >= 1
