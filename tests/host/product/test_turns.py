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


def test_nothing_injected_enters_the_history(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember(OSLO)
    for _ in range(2):
        group.say(ASKED, "bob")
    turn = group.say("And what else is new in town?", "bob")
    assert ASKED in turn.history
    for trace in (PROFILE, EPISODES, "Past records", "<<", ">>"):
        assert trace not in turn.history


def test_an_irrelevant_message_gets_the_profile_only(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember(OSLO)
    turn = group.say("Which spices belong into a lentil soup?", "bob")
    assert turn.profile
    assert turn.records == []
    assert EPISODES not in turn.seen


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
        for secret in (OSLO, "vegetarian", memory_id):
            assert secret not in turn.seen, chat
        calls = [Call("recall_memory", {"query": OSLO}), Call("forget", {"episode_id": memory_id})]
        recalled, forgotten = chat.calling(calls).results
        assert OSLO not in recalled
        assert "Not found" in forgotten
        for command in ("list", f"show {memory_id}"):
            assert OSLO not in chat.command(f"!memory {command}")
    memory.private(name="ann").command("!memory delete --tag moving")
    assert OSLO in group.command(f"!memory show {memory_id}")
    assert group.say(ASKED).records == [OSLO]


def test_a_retrieval_without_a_conversation_gets_nothing(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember(OSLO)
    api, host = memory.stage.api, memory.stage.host
    for session_name in ("", None, "77001", "group_", "_77001"):
        mark = host.log_mark()
        asked = {"session_name": session_name, "bot_uuid": memory.bot.uuid, "sender_id": "ann"}
        assert api.retrieve(memory.kb, OSLO, asked) == []
        host.wait_for_log("engine retrieve refused: reason=scope_unknown", mark=mark)
    for bot_uuid in ("", None, "another-bot"):
        asked = {"session_name": group.session_name, "bot_uuid": bot_uuid, "sender_id": "ann"}
        assert OSLO not in str(api.retrieve(memory.kb, OSLO, asked))


def test_a_speakers_profile_stays_theirs(memory: MemoryHost) -> None:
    group = memory.group()
    group.tool(
        "update_profile",
        {"scope": "speaker", "field": "notes", "action": "set", "value": "Mina is moving in May"},
        "v1",
    )
    assert "Mina is moving in May" in group.say("what do you know about me?", "v1").profile
    assert "Mina is moving in May" not in group.say("what do you know about me?", "v2").seen
    assert "Mina is moving in May" not in group.command("!memory me", "v2")


def test_the_profile_block_is_byte_equal_between_turns(memory: MemoryHost) -> None:
    group = memory.group()
    group.tool("update_profile", {"field": "name", "action": "set", "value": "Ann"})
    blocks = {group.say(text).profile for text in ("Is it raining?", "Shall we leave?", "Where is the boat?")}
    assert len(blocks) == 1


def test_a_bot_without_the_knowledge_base_has_no_memory(memory: MemoryHost) -> None:
    bot = memory.new_bot(kbs=[])
    chat = memory.group(bot)
    turn = chat.say("Is anything remembered here?")
    assert PROFILE not in turn.seen
    for tool, arguments in (("remember", {"content": OSLO}), ("recall_memory", {"query": OSLO})):
        assert "not switched on for this pipeline" in chat.tool(tool, arguments)
    assert "not switched on for this pipeline" in chat.command("!memory list")
