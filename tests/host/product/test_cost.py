"""What a turn costs: embedding calls as the model server counts them."""

from __future__ import annotations

import base64

from playground.model_server import Call, Rule
from tests.support.talk import EPISODES, PROFILE, MemoryHost

PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000000"
        "00020001e221bc330000000049454e44ae426082"
    )
).decode()
IMAGE = [{"type": "Image", "base64": f"data:image/png;base64,{PIXEL}"}]


def test_a_warm_turn_takes_one_embedding_call_and_remembering_another(memory: MemoryHost) -> None:
    group = memory.group()
    turn = group.calling([Call("remember", {"content": "The tent is green"})])
    assert len(turn.embedded) == 2, "one for the turn's recall, one for the memory"
    assert turn.embedded[1][0] == "The tent is green"
    group.say("Where is the tent?")
    for text in ("Which colour is the tent?", "Who took the lentils along?"):
        turn = group.say(text)
        assert len(turn.embedded) == 1
        assert turn.embedded[0][0] == text


def test_small_talk_commands_and_images_cost_no_embedding_call(memory: MemoryHost) -> None:
    group = memory.group()
    for text in ("Good morning!", "谢谢～", "👍👍"):
        turn = group.say(text)
        assert turn.embedded == []
        assert turn.profile
        assert EPISODES not in turn.seen
    turn = group.say("", message=IMAGE)
    assert turn.embedded == []
    assert all(PROFILE in request.text() for request in turn.requests)
    for text in ("!memory", "！memory list"):
        turn = group.say(text)
        assert turn.reply
        assert turn.embedded == []
        assert turn.requests == [], "nor does the model see it"


def test_a_streamed_reply_has_its_memories_once(memory: MemoryHost) -> None:
    options = {"streaming": True} if memory.stage.host.generation >= (4, 11) else {}
    group = memory.group(memory.new_bot(**options))
    group.remember("The tent is green")
    long = "The tent is green, as far as I remember, and it stands behind the house near the river. " * 3
    memory.stage.models.script(Rule("colour", reply=long.strip()))
    turn = group.say("Which colour is the tent?")
    assert len(turn.texts) > 1
    assert all(later.startswith(text) for text, later in zip(turn.texts, turn.texts[1:], strict=False))
    assert turn.reply == long.strip()
    assert turn.records == ["The tent is green"]
    assert len(turn.embedded) == 1
