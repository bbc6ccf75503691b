"""What the model receives, turn after turn: the right memories once, nothing of them in history, nothing of others."""

from __future__ import annotations

from playground.model_server import Call
from tests.support.talk import EPISODES, PROFILE, MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"


def test_a_memory_and_the_profile_are_injected_once_turn_after_turn(memory: MemoryHost) -> None:
    group = memory.group()
    memory_id = group.remember(OSLO)
    group.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    profiles = []
    for sender in ("bob", "ann", "bob"):
        turn = group.say(ASKED, sender)
        assert turn.reply == f"ECHO: {ASKED}"
        assert turn.records == [OSLO]
        assert turn.ids == [memory_id]
        # Nowhere else either: not again through the runner's own retrieval, not without its fence.
        assert turn.seen.count(OSLO) == 1
        assert turn.seen.count(EPISODES) == 1
        assert f"id <<{sender}>>" in turn.profile
        assert turn.seen.count("vegetarian") == (1 if sender == "ann" else 0)
        profiles.append(turn.profile)
    # An irrelevant message gets the profile only, byte-equal; nothing injected has entered the history.
    turn = group.say("Which spices belong into a lentil soup?", "bob")
    assert (turn.profile, turn.profile) == (profiles[0], profiles[2])
    assert turn.records == []
    assert EPISODES not in turn.seen
    assert ASKED in turn.history
    for trace in (PROFILE, EPISODES, "Past records", "<<", ">>"):
        assert trace not in turn.history


def test_other_conversations_never_get_it(memory: MemoryHost) -> None:
    group = memory.group()
    memory_id = group.remember(OSLO, tags=["moving"])
    group.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    elsewhere = [
        memory.group(),
        memory.private(name="ann"),
        # The same platform id, but a private chat; the same group, but another bot.
        memory.private(name=group.id),
        memory.group(memory.new_bot(), group.id),
    ]
    for chat in elsewhere:
        turn = chat.say(ASKED)
        calls = [Call("recall_memory", {"query": OSLO}), Call("forget", {"episode_id": memory_id})]
        recalled, forgotten = chat.calling(calls).results
        for secret in (OSLO, "vegetarian", memory_id):
            assert secret not in turn.seen, chat
            assert secret not in recalled, chat
        assert "Not found" in forgotten
        assert OSLO not in chat.command(f"!memory show {memory_id}")
    assert OSLO not in elsewhere[1].command("!memory list")
    elsewhere[1].command("!memory delete --tag moving")
    assert OSLO in group.command(f"!memory show {memory_id}")
    assert group.say(ASKED).records == [OSLO]


def test_a_retrieval_without_a_conversation_gets_nothing(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember(OSLO)
    api, host = memory.stage.api, memory.stage.host
    nowhere = [{"session_name": name, "bot_uuid": memory.bot.uuid} for name in ("", None, "77001", "group_")]
    for asked in (None, *nowhere):  # None: the WebUI's own test
        mark = host.log_mark()
        assert api.retrieve(memory.kb, OSLO, asked) == []
        host.wait_for_log("engine retrieve refused: reason=scope_unknown", mark=mark)
    for bot_uuid in ("", None, "another-bot"):
        asked = {"session_name": group.session_name, "bot_uuid": bot_uuid, "sender_id": "ann"}
        assert OSLO not in str(api.retrieve(memory.kb, OSLO, asked))


def test_a_bot_without_the_knowledge_base_has_no_memory(memory: MemoryHost) -> None:
    chat = memory.group(memory.new_bot(kbs=[]))
    turn = chat.calling([Call("remember", {"content": OSLO}), Call("recall_memory", {"query": OSLO})])
    assert PROFILE not in turn.seen
    for answer in (*turn.results, chat.command("!memory list")):
        assert "not switched on for this pipeline" in answer
