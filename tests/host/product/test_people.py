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
    for sender, (name, allergy, trait) in [*facts.items(), *facts.items()]:
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


def test_a_memory_is_attributed_to_who_said_it(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember("I'm allergic to nuts", "9001", "Mina")
    group.remember("I'm allergic to cats", "9002", "Tao")
    turn = group.say("Who is allergic to cats?", "9001", "Mina")
    assert turn.records[0] == "I'm allergic to cats"
    assert speakers(turn.system)["I'm allergic to cats"] == "Tao"
    recalled = group.tool("recall_memory", {"query": "Who is allergic to cats?"}, "9001", "Mina")
    assert speakers(recalled)["I'm allergic to cats"] == "Tao"
    found = group.tool(
        "recall_memory", {"query": "Who is allergic to cats?", "speaker_id": "9001"}, "9001", "Mina"
    )
    assert "cats" not in found


def test_the_current_speaker_is_not_taken_for_the_one_remembered(memory: MemoryHost) -> None:
    group = memory.group()
    group.remember("The dentist is on Friday at nine", "9001", "Mina")
    turn = group.say("Is the dentist on Friday at nine?", "9002", "Tao")
    assert "Current speaker: id <<9002>>, name <<Tao>>" in turn.profile
    assert speakers(turn.system) == {"The dentist is on Friday at nine": "Mina"}
    assert "Mina (9001)" in turn.system


def test_after_a_rename_the_id_still_finds_everything(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    group.remember("The boat is called Heron", "9001", "Mina")
    group.remember("The boat needs paint", "9001", "米娜🌙")

    def recall(**who: str) -> str:
        return group.tool("recall_memory", {"query": "what about the boat", **who}, "9001", "米娜🌙")

    by_id = recall(speaker_id="9001")
    assert "Heron" in by_id
    assert "paint" in by_id
    # By name: what was said under that name.
    assert "Heron" in recall(speaker_name="mina")
    assert "paint" not in recall(speaker_name="mina")
    assert "paint" in recall(speaker_name="米娜🌙")
    assert "Heron" in group.command("!memory me", "9001", "米娜🌙")


def test_ids_that_look_alike_are_two_people(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    people = {"wx_abc": "cello", "9001": "chess", "09001": "judo", "1:9": "golf"}
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


def test_a_correction_of_one_does_not_touch_the_other(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    group.remember("My flight is on Tuesday", "9001", "Mina")
    group.remember("My flight is on Tuesday", "9002", "Tao")
    group.remember("My flight is on Wednesday", "9001", "Mina", tags=["correction"])
    said = speakers(group.say("When is my flight?", "9002", "Tao").system)
    assert said == {"My flight is on Tuesday": "Tao", "My flight is on Wednesday": "Mina"}
