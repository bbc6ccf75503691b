"""Two people in one group: whoever speaks is who it is about, whatever the host's session remembers."""

from __future__ import annotations

from tests.support.talk import RECORD, MemoryHost


def speakers(text: str) -> dict[str, str]:
    """Return who said each memory in *text*."""
    return {content: speaker for _, speaker, _, content in RECORD.findall(text)}


def test_two_people_alternating_are_told_apart(memory: MemoryHost) -> None:
    group = memory.group()
    facts = {"9001": ("Mina", "nuts", "tall"), "9002": ("Tao", "cats", "quiet")}
    for sender, (name, allergy, trait) in facts.items():
        group.remember(f"I'm allergic to {allergy}", sender, name)
        group.tool("update_profile", {"field": "traits", "action": "add", "value": trait}, sender, name)
    for sender, (name, allergy, trait) in facts.items():
        mine = group.command("!memory me", sender, name)
        assert f"I'm allergic to {allergy}" in mine
        assert trait in mine
        [(_, other_allergy, other_trait)] = [row for key, row in facts.items() if key != sender]
        assert f"I'm allergic to {other_allergy}" not in mine
        assert other_trait not in mine
        profile = group.say("What do you think of me?", sender, name).profile
        assert f"Current speaker: id <<{sender}>>, name <<{name}>>" in profile
        assert trait in profile
        assert other_trait not in profile


def test_a_memory_is_attributed_to_who_said_it(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    group.remember("I'm allergic to nuts", "9001", "Mina")
    group.remember("I'm allergic to cats", "9002", "Tao")
    turn = group.say("Who is allergic to cats?", "9001", "Mina")
    assert turn.records[0] == "I'm allergic to cats"
    # The current speaker is not taken for the one remembered.
    assert "Current speaker: id <<9001>>, name <<Mina>>" in turn.profile
    assert speakers(turn.system)["I'm allergic to cats"] == "Tao"
    assert "Tao (9002)" in turn.system
    recalled = group.tool("recall_memory", {"query": "Who is allergic to cats?"}, "9001", "Mina")
    assert speakers(recalled)["I'm allergic to cats"] == "Tao"
    # After a rename the id still finds everything.
    found = group.tool("recall_memory", {"query": "allergic", "speaker_id": "9001"}, "9001", "米娜🌙")
    assert speakers(found) == {"I'm allergic to nuts": "Mina"}
    assert "nuts" in group.command("!memory me", "9001", "米娜🌙")


def test_ids_that_look_alike_are_two_people(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    people = {"9001": "chess", "09001": "judo", "1:9": "golf"}
    for sender, hobby in people.items():
        group.tool("update_profile", {"field": "traits", "action": "add", "value": hobby}, sender, "Mina")
    for sender, hobby in people.items():
        profile = group.say("What is my hobby?", sender, "Mina").profile
        assert [other for other in people.values() if other in profile] == [hobby]


def test_unusual_conversation_ids_keep_apart(memory_411: MemoryHost) -> None:
    base = memory_411.group().id
    chats = [memory_411.group(name=base + tail) for tail in (":1", "_1", " 1", "%3A1", "群1", "/1")]
    codes = [f"The code word is colour{number}" for number in range(len(chats))]
    memory_411.upload(
        [
            {"content": code, "bot_uuid": memory_411.bot.uuid, "session_name": chat.session_name}
            for chat, code in zip(chats, codes, strict=True)
        ]
    )
    for chat, code in zip(chats, codes, strict=True):
        assert chat.say("What is the code word?").records == [code]
