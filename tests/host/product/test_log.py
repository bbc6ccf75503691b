"""What operators grep for: the events and their keys are there, and what people said is not."""

from __future__ import annotations

import re

from tests.support.talk import MemoryHost, our_lines

SECRETIVE = "Zebediah hides the umbrella behind the piano"
EVENTS = {
    "resolved memory context": ("session_key", "user_key", "kb_id", "isolation"),
    "remember called": ("query_id", "params_keys"),
    "recall_memory called": ("query_id", "params_keys"),
    "update_profile called": ("query_id", "params_keys"),
    "forget called": ("query_id", "params_keys"),
    "memory injection ready": (
        "query_id", "kb_id", "scope_key", "sender_id", "block_count", "prompt_chars", "ms",
    ),
    "memory injection skipped": ("query_id", "sender_id", "reason"),
    "engine retrieve called": (
        "collection_id", "top_k", "session_name", "sender_id", "bot_uuid", "query_len",
    ),
    "search_episodes completed": ("collection_id", "result_count", "filters", "ms"),
    "episode written": ("episode_id",),
    "episodes deleted": ("count",),
    "import finished": ("document_id", "accepted", "skipped", "rejected"),
}  # fmt: skip


def test_events_and_keys_without_a_word_of_what_was_said(memory_411: MemoryHost) -> None:
    memory = memory_411
    mark = memory.stage.host.log_mark()
    group = memory.group()
    memory_id = group.remember(SECRETIVE, tags=["umbrella"])
    group.tool("update_profile", {"field": "traits", "action": "add", "value": SECRETIVE})
    group.tool("update_profile", {"field": "notes", "action": "add", "value": SECRETIVE})
    asked = "Where does Zebediah hide the umbrella behind the piano?"
    assert group.say(asked).records == [SECRETIVE]
    group.tool(
        "recall_memory", {"query": asked, "speaker_name": "Zebediah", "time_after": "not a time Zebediah"}
    )
    group.tool("recall_memory", {"query": asked})
    for command in (
        f"search {asked}",
        "list --tag umbrella",
        "delete --tag Zebediah --umbrella",
        "Zebediah",
        "me",
    ):
        group.command(f"!memory {command}")
    asking = {"session_name": group.session_name, "bot_uuid": group.bot.uuid, "sender_id": "bob"}
    assert SECRETIVE in str(memory.stage.api.retrieve(memory.kb, asked, asking))
    group.tool("forget", {"episode_id": memory_id})
    memory.upload([{"content": SECRETIVE, "session_name": group.session_name, "bot_uuid": group.bot.uuid}, 5])
    memory.stage.host.wait_for_quiet_log()
    lines = our_lines(memory.stage.host.log_since(mark))
    for event, keys in EVENTS.items():
        found = [line for line in lines if f"[LongTermMemory] {event}: " in line]
        assert found, event
        for key in keys:
            assert re.search(rf"[ :]{key}=", found[-1]), (event, key, found[-1])
    for line in lines:
        for word in ("Zebediah", "umbrella", "piano"):
            assert word not in line, line
    assert "Traceback" not in memory.stage.host.log_since(mark)


def test_an_ordinary_turn_is_one_line_of_ours(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember(SECRETIVE)
    lines = our_lines(group.say("Where is the umbrella behind the piano?").log)
    # On 4.11 the runner asks the engine as well.
    told = [line for line in lines if "engine retrieve called" not in line]
    assert len(told) == 1
    assert "memory injection ready" in told[0]
