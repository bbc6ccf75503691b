"""What the hosts hand to plugins, measured with the probe plugin. The product is built on these facts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from playground.chat import Bot, Brain, add_agent, add_bot
from playground.model_server import Call, Rule
from playground.stage import AGENTIC_RAG, Stage


@dataclass
class Probed:
    stage: Stage
    bot: Bot
    kb: str
    mark: int = 0

    def since(self, where: str) -> list[dict[str, Any]]:
        return self.stage.probed(where, mark=self.mark)


@pytest.fixture
def probed(host: Stage) -> Iterator[Probed]:
    plugin = host.install("probe")
    kb = host.api.create_kb(plugin, {"embedding_model_uuid": host.uuids.embedding}, name="probe")
    host.models.script(Rule("use the tool", calls=[Call("probe_tool", {"value": "v"})], reply="{tool}"))
    yield Probed(host, host.bot(kbs=[kb]), kb, host.host.log_mark())
    host.api.delete_kb(kb)


def test_who_speaks_in_a_group(probed: Probed) -> None:
    for sender in ("ann", "bob", "ann"):
        probed.bot.say("facts-g", "use the tool", "group", sender, sender.title())
    everywhere = ["ann", "bob", "ann"]
    assert [note["variables"]["sender_id"] for note in probed.since("prompt")] == everywhere
    assert [note["settings"]["sender_id"] for note in probed.since("retrieve")] == everywhere
    tools = probed.since("tool")
    assert [note["variables"]["sender_id"] for note in tools] == everywhere
    # The session keeps whoever spoke first, which is why nothing may rely on it.
    assert [note["session"]["sender_id"] for note in tools] == ["ann", "ann", "ann"]


def test_one_query_uuid_through_the_whole_turn(probed: Probed) -> None:
    probed.bot.say("facts-turn", "use the tool")
    [prompt], [tool] = probed.since("prompt"), probed.since("tool")
    assert prompt["query_uuid"] == tool["query_uuid"]
    assert {note["query_uuid"] for note in probed.since("responded")} == {prompt["query_uuid"]}
    assert tool["bot_uuid"] == probed.bot.uuid
    assert prompt["variables"]["_knowledge_base_uuids"] == [probed.kb]


def test_retrieval_knows_the_conversation(probed: Probed) -> None:
    probed.bot.say("facts-r", "hello", "group", "ann", "Ann")
    [note] = probed.since("retrieve")
    settings = note["settings"]
    assert (settings["session_name"], settings["bot_uuid"]) == ("group_facts-r", probed.bot.uuid)


def test_retrieve_test_of_the_webui_has_no_identity(probed: Probed) -> None:
    assert probed.stage.api.retrieve(probed.kb, "anything")
    [note] = probed.since("retrieve")
    assert not {"session_name", "sender_id", "bot_uuid"} & set(note["settings"])


def test_command_arrives_crudely_split(probed: Probed) -> None:
    probed.bot.say("facts-c", '!probe  x "y z"\nnew')
    [note] = probed.since("command")
    assert note["command_text"] == 'probe  x "y z"\nnew'
    assert note["params"] == ["probe", "", "x", '"y', 'z"\nnew']
    assert note["privilege"] == 1
    # The injecting event fires for commands too, and the full-width prefix counts.
    assert len(probed.since("prompt")) == 1
    assert probed.bot.say("facts-c", "！probe") == "[bot] probed"


def test_privilege_belongs_to_the_conversation(probed: Probed) -> None:
    probed.bot.add_admin("facts-admin", "group")
    for sender in ("ann", "bob"):
        probed.bot.say("facts-admin", "!probe", "group", sender)
    assert [note["privilege"] for note in probed.since("command")] == [2, 2]


def test_group_prefix_is_cut_off(probed: Probed) -> None:
    bot = probed.stage.bot(kbs=[probed.kb], answer_all=False)
    assert bot.say("facts-p", "ai hello", "group", "ann") == "ECHO: hello"
    assert bot.say("facts-p", "ai !probe list", "group", "ann") == "[bot] probed"
    assert [note["command_text"] for note in probed.since("command")] == ["probe list"]


def test_uploaded_document_lost_its_name(probed: Probed) -> None:
    document = probed.stage.api.upload(probed.kb, "memories.txt", b"[]")
    [note] = probed.since("ingest")
    assert note["size"] == 2
    assert note["file"]["document_id"] == document
    assert "memories" not in note["file"]["filename"]
    probed.stage.api.delete_file(probed.kb, document)
    assert probed.stage.api.files(probed.kb) == []


def test_nobody_reads_the_vectors_of_a_deleted_knowledge_base(probed: Probed) -> None:
    """So a backup has to come before the deletion."""
    kb = probed.stage.api.create_kb(
        probed.stage.install("probe"), {"embedding_model_uuid": probed.stage.uuids.embedding}, name="old"
    )
    say = probed.bot.say
    assert say("facts-v", f"!probe vectors write {kb}") == "[bot] written"
    assert say("facts-v", f"!probe vectors count {kb}") == "[bot] 1 rows"
    probed.stage.api.delete_kb(kb)
    assert "Knowledge base not found" in say("facts-v", f"!probe vectors count {kb}")


def test_naive_retrieval_after_another_plugin_emptied_the_list(probed: Probed) -> None:
    stage = probed.stage
    emptying = stage.install("agentic_rag")
    others = [plugin for plugin in stage.host.installed_plugins() if not plugin.endswith(AGENTIC_RAG)]
    bot = stage.bot(kbs=[probed.kb], plugins=[*others, emptying])
    stage.models.script(Rule("look", calls=[Call("query_knowledge", {"query": "q"})], reply="{tool}"))
    bot.say("facts-rag", "look it up")
    found = json.loads(stage.models.chats[-1].messages[-1]["content"])
    # 4.10 quotes what a tool returns once more.
    answer = json.loads(found) if isinstance(found, str) else found
    naive = "probe sentence" in stage.models.chats[0].text()
    # 4.11: the runner still retrieves by itself, while the tool no longer sees the knowledge base.
    assert naive == (stage.host.generation >= (4, 11))
    assert bool(answer["entries"]) == (stage.host.generation < (4, 11)), answer


def test_agent_bound_bot_reaches_the_engine_only(host_411: Stage) -> None:
    plugin = host_411.install("probe")
    kb = host_411.api.create_kb(plugin, {"embedding_model_uuid": host_411.uuids.embedding}, name="probe")
    try:
        host_411.models.script(Rule("use the tool", calls=[Call("probe_tool")], reply="{tool}"))
        agent = add_agent(host_411.api, Brain(llm=host_411.uuids.llm, kbs=[kb]))
        bot = add_bot(host_411.api, agent, target_type="agent")
        mark = host_411.host.log_mark()
        assert "'NoneType' object has no attribute 'strip'" in bot.say(
            "facts-a", "use the tool", "group", "ann"
        )
        bot.say("facts-a", "hello", "group", "bob")
        notes = host_411.probed(mark=mark)
        assert {note["where"] for note in notes} == {"retrieve"}
        assert [note["settings"]["sender_id"] for note in notes] == ["ann", "bob"]
        assert {note["settings"]["session_name"] for note in notes} == {"group_facts-a"}
    finally:
        host_411.api.delete_kb(kb)
