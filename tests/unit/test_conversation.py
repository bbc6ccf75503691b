"""The conversation of a message: who speaks where, and whether memory is attached."""

from __future__ import annotations

from typing import Any

import pytest

from longterm_memory.conversation import ATTACHED_VARIABLE, KNOWLEDGE_BASES_VARIABLE, Attachment, Conversation
from longterm_memory.errors import BadArgument
from longterm_memory.scope import Isolation, Speaker

VARIABLES: dict[str, Any] = {
    "launcher_type": "group",
    "launcher_id": "77001",
    "sender_id": "9001",
    "sender_name": "Mina",
    "session_id": "s-1",
    "conversation_id": None,
    "group_name": "friends",
    "user_message_text": "when is my flight?",
    KNOWLEDGE_BASES_VARIABLE: ["kb-0", "kb-1"],
}


def read(**changes: Any) -> Conversation:
    return Conversation.of_variables({**VARIABLES, **changes}, bot_uuid="b-01", query_id="q-1")


class Message:
    """A message of a host whose session object names the first speaker for ever."""

    def __init__(self, sender: str, name: str) -> None:
        self.query_id = f"q-{sender}"
        self._sender, self._name = sender, name

    async def bot_uuid(self) -> str:
        return "b-01"

    async def variables(self) -> dict[str, Any]:
        return {
            **VARIABLES,
            "sender_id": self._sender,
            "sender_name": self._name,
            "session": {"sender_id": "9001"},
        }

    async def set_variable(self, name: str, value: Any) -> None:
        raise AssertionError("reading changes nothing")


async def test_whoever_speaks_now_is_the_speaker() -> None:  # H0
    said = [
        await Conversation.of_turn(Message(*who))
        for who in (("9001", "Mina"), ("9002", "Tao"), ("9001", "Mina"))
    ]
    assert [c.speaker for c in said] == [
        Speaker("9001", "Mina"),
        Speaker("9002", "Tao"),
        Speaker("9001", "Mina"),
    ]
    assert len({c.scope(Isolation.SESSION) for c in said}) == 1
    assert [c.query_id for c in said] == ["q-9001", "q-9002", "q-9001"]


def test_everything_is_read_from_the_variables() -> None:
    found = read()
    assert (found.bot_uuid, found.launcher_type, found.launcher_id) == ("b-01", "group", "77001")
    assert (found.text, found.query_id) == ("when is my flight?", "q-1")
    assert found.scope(Isolation.SESSION).session_key == "b-01:group_77001"
    assert found.scope(Isolation.BOT).user_key == "bot:b-01"


def test_without_a_place_there_is_no_conversation() -> None:  # A6
    for missing in (None, "", "  ", False, {}, []):
        for name in ("launcher_type", "launcher_id"):
            with pytest.raises(BadArgument, match="scope_unknown"):
                read(**{name: missing})
            with pytest.raises(BadArgument, match="scope_unknown"):
                Conversation.of_variables({k: v for k, v in VARIABLES.items() if k != name}, bot_uuid="b")


def test_odd_messages_are_read() -> None:
    for sender in (None, "", False, {}, "\ud800"):  # A7
        assert read(sender_id=sender).speaker == Speaker("", "Mina")
    assert read(sender_id=9001).speaker == Speaker("9001", "Mina")
    for name, shown in ((None, ""), (5, ""), ("M\ud83c", "M\ufffd")):
        assert read(sender_name=name).speaker == Speaker("9001", shown)
    for text in (None, 5, ["x"], ""):
        assert read(user_message_text=text).text == ""
    nobody = Conversation.of_variables(VARIABLES, bot_uuid=None)
    assert nobody.scope(Isolation.BOT).user_key == "group_77001"


# ------------------------------------------------------------ attached?


def test_attached_means_being_in_the_list() -> None:  # H00
    for value, kb, attached in (
        (["kb-0", "kb-1"], "kb-1", Attachment.YES), (["kb-0", "kb-1"], "kb-2", Attachment.NO),
        ([], "kb-1", Attachment.NO), (("kb-1",), "kb-1", Attachment.YES),
        # A host that shows no list does not say no.
        (None, "kb-1", Attachment.UNKNOWN), ("kb-1", "kb-1", Attachment.UNKNOWN),
        ({"kb-1": 1}, "kb-1", Attachment.UNKNOWN),
    ):  # fmt: skip
        assert read(**{KNOWLEDGE_BASES_VARIABLE: value}).attachment(kb) is attached
    absent = {k: v for k, v in VARIABLES.items() if k != KNOWLEDGE_BASES_VARIABLE}
    assert Conversation.of_variables(absent, bot_uuid="b").attachment("kb-1") is Attachment.UNKNOWN


def test_what_the_listener_saw_before_counts_more() -> None:  # H00: emptied by another plugin later
    for mark in Attachment:
        found = read(**{KNOWLEDGE_BASES_VARIABLE: [], ATTACHED_VARIABLE: str(mark)})
        assert found.attachment("kb-1") is mark
    # A mark that nobody of us made is no permission.
    assert read(**{ATTACHED_VARIABLE: "maybe"}).attachment("kb-1") is Attachment.NO
    assert read(**{ATTACHED_VARIABLE: ""}).attachment("kb-1") is Attachment.YES
