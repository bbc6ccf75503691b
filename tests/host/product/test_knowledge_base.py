"""The knowledge base as the operator meets it: one only, files in and out, the WebUI's retrieve test."""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from typing import Any

import pytest

from playground.api import TaskError
from playground.chat import Brain, update_pipeline
from playground.embedders import HashedWords
from playground.rest import ApiError
from tests.support.talk import Chat, MemoryHost

OSLO = "Ann moves to Oslo in May"


def row(chat: Chat, content: Any, **more: Any) -> dict[str, Any]:
    return {"content": content, "bot_uuid": chat.bot.uuid, "session_name": chat.session_name, **more}


def statuses(memory: MemoryHost) -> dict[str, str]:
    return {str(file["uuid"]): str(file["status"]) for file in memory.stage.api.files(memory.kb)}


def test_a_second_knowledge_base_and_one_without_a_model_are_refused(memory: MemoryHost) -> None:
    mark = memory.stage.host.log_mark()
    with pytest.raises(ApiError):
        memory.create_kb()
    memory.stage.host.wait_for_log(
        r"\[LongTermMemory\] configuration problem: knowledge base refused: .*already a memory knowledge base"
        rf" \({memory.kb}\).*delete it first",
        mark=mark,
    )
    with pytest.raises(ApiError):
        memory.stage.api.create_kb(memory.plugin, {"embedding_model_uuid": ""})
    assert [base["uuid"] for base in memory.stage.api.kbs() if base["uuid"] == memory.kb] == [memory.kb]


class WiderWords(HashedWords):
    """Another embedding model, with vectors of another length."""

    dimension = 512


def test_it_is_deleted_and_made_anew_with_another_model_from_a_backup(memory: MemoryHost) -> None:
    group = memory.group()
    memory_id = group.remember(OSLO)
    group.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    while (made := memory.page("/backup_make"))["remaining"]:
        pass
    # Everything on this host is in it, so there may be several parts.
    parts = [
        memory.page("/backup_part", {"part": part})["text"] for part in range(1, made["kept"]["parts"] + 1)
    ]
    assert any(OSLO in text for text in parts)
    memory.stage.api.delete_kb(memory.kb)
    turn = group.say("When does Ann move to Oslo?")
    assert turn.reply
    assert OSLO not in turn.seen
    memory.stage.models.embedder = WiderWords()  # for good: what is stored from here on is made with it
    mark = memory.stage.host.log_mark()
    memory.kb = memory.create_kb()
    # The model and the store are tried out at once, not on somebody's first turn.
    memory.stage.host.wait_for_log(rf"knowledge base prepared: kb_id={memory.kb}", mark=mark)
    brain = Brain(llm=memory.stage.uuids.llm, kbs=[memory.kb])
    update_pipeline(memory.stage.api, memory.bot.pipeline, brain)
    turn = group.say("When does Ann move to Oslo?")
    assert turn.records == []
    # Profiles are kept per conversation, not in the knowledge base.
    assert "vegetarian" in turn.profile
    while not (restored := memory.page("/backup_restore"))["done"]:
        assert not restored["report"]["stopped"]
    turn = group.say("When does Ann move to Oslo?")
    assert (turn.records, turn.ids) == ([OSLO], [memory_id])
    assert memory.page("/backup_drop") == {"dropped": True}


def test_an_uploaded_list_is_checked_row_by_row(memory: MemoryHost) -> None:
    group = memory.group()
    rows = [
        row(
            group,
            "The ferry leaves at noon",
            sender_id="9001",
            sender_name="Mina",
            importance=4,
            tags=["trip"],
        ),
        row(group, "The hut has no power", timestamp="2026-05-01T10:00:00+08:00"),
        {"content": "Nobody knows where this belongs"},
        row(group, 5),
        row(group, "   "),
        "not an object",
        row(group, "The hut has no power"),
        row(group, "Bad time", timestamp="the day after"),
    ]
    mark = memory.stage.host.log_mark()
    document = memory.upload(rows, name="memories.json")
    assert statuses(memory)[document] == "completed"
    memory.stage.host.wait_for_quiet_log()
    log = memory.stage.host.log_since(mark)
    for line in (3, 4, 5, 6, 8):
        assert re.search(rf"document_id={document} .*line={line} reason=", log), line
    listed = group.command("!memory list")
    assert "2 memories" in listed
    assert "The ferry leaves at noon" in listed
    assert "2026-05-01" in listed
    assert "Mina" in listed
    assert group.say("When does the ferry leave at noon?").records == ["The ferry leaves at noon"]
    memory.stage.api.delete_file(memory.kb, document)
    assert "No memories" in group.command("!memory list")


def test_deleting_a_document_removes_exactly_what_it_brought(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    kept_id = group.remember("The tent is green")
    first = memory_411.upload([row(group, "The boat is blue")])
    second = memory_411.upload([row(group, "The boat is blue"), row(group, "The oar is broken")])
    assert "3 memories" in group.command("!memory list")
    memory_411.stage.api.delete_file(memory_411.kb, second)
    listed = group.command("!memory list")
    assert "2 memories" in listed
    assert "The boat is blue" in listed
    memory_411.stage.api.delete_file(memory_411.kb, first)
    listed = group.command("!memory list")
    assert kept_id in listed
    assert "1 memory" in listed
    assert not {first, second} & set(statuses(memory_411))


RUBBISH = {
    "truncated": b'[{"content": "x"',
    "text": b"just some words",
    "binary": bytes(range(256)),
    "empty": b" ",
    "number": b"17",
    "no scope": b'[{"content": "x"}]',
    "deep": b"[" * 100_000,
    "odd values": b'[null, [], {"content": {"a": NaN}, "session_name": ["x"]}, {"user_key": 5, "content": "x"}]',
}


def test_rubbish_leaves_no_file_that_cannot_be_deleted(memory: MemoryHost) -> None:
    generation = memory.stage.host.generation
    for what in RUBBISH if generation >= (4, 11) else ("truncated", "binary"):
        before = set(statuses(memory))
        mark = memory.stage.host.log_mark()
        with contextlib.suppress(TaskError):
            memory.stage.api.upload(memory.kb, "rubbish.txt", RUBBISH[what])
        [document] = set(statuses(memory)) - before
        assert statuses(memory)[document] == "failed", what
        memory.stage.host.wait_for_log(r"\[LongTermMemory\] import", mark=mark)
        memory.stage.api.delete_file(memory.kb, document)
        assert set(statuses(memory)) == before, what


def test_other_encodings_and_shapes(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    one, two, three = (row(group, f"阿明的第{n}张船票在抽屉里") for n in (1, 2, 3))
    files = [
        codecs.BOM_UTF8 + json.dumps([one], ensure_ascii=False).encode(),
        json.dumps({"episodes": [two]}, ensure_ascii=False).encode("utf-16"),
        (json.dumps(two) + "\n\n" + json.dumps(three) + "\n").encode(),
    ]
    for content in files:
        memory_411.stage.api.upload(memory_411.kb, "memories.txt", content)
    listed = group.command("!memory list")
    assert "3 memories" in listed
    for wanted in (one, two, three):
        assert str(wanted["content"]) in listed


def test_edited_creation_settings_change_nothing(memory_411: MemoryHost) -> None:
    """The host ignores the edit; what is in force is what ``!memory`` shows."""
    found = next(base for base in memory_411.stage.api.kbs() if base["uuid"] == memory_411.kb)
    memory_411.stage.api.update_kb(
        memory_411.kb, {"name": found["name"], "creation_settings": {"isolation": "bot"}}
    )
    assert "isolation: session" in memory_411.group().command("!memory")
