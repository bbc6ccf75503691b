"""The policy table on real hosts: each row, in each mode, as a private person, a group member and a memory admin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import get_args

import pytest

from longterm_memory.policy import COMMANDS, TOOLS, Action, Mode, Who
from longterm_memory.words import load
from tests.support.talk import Chat, MemoryHost

ADMINS = {mode: f"boss-{mode}" for mode in get_args(Mode)}
"""A memory admin of their own for each mode, so that nobody's private chat grows from test to test."""
REFUSALS = [
    text.partition("{")[0] for key, text in load("en_US").items() if key.startswith("error.forbidden_")
]
"""How each refusal begins."""
assert all(REFUSALS)
_NUMBERS = count(1)


def new_id() -> str:
    return f"k{next(_NUMBERS):07d}"


def refused(reply: str) -> bool:
    return any(sentence in reply for sentence in REFUSALS)


class Place:
    """A conversation with memories of the asker's own and of somebody else's."""

    def __init__(self, memory: MemoryHost, chat: Chat, sender: str, *, private: bool, admin: bool) -> None:
        self.chat, self.sender, self.private, self.admin = chat, sender, private, admin
        self.own, self.other, self.tagged = new_id(), new_id(), new_id()
        rows = [
            {"id": self.own, "sender_id": sender, "content": f"The kettle is blue {self.own}"},
            {"id": self.other, "sender_id": "somebody", "content": f"The lamp is red {self.other}"},
            {
                "id": self.tagged,
                "sender_id": "somebody",
                "content": f"A plan {self.tagged}",
                "tags": ["plan"],
            },
        ]
        where = {"bot_uuid": chat.bot.uuid, "session_name": chat.session_name}
        memory.upload([row | where for row in rows])

    def type(self, line: str) -> str:
        return self.chat.command(f"!memory {line}", self.sender)

    def may(self, action: Action, mode: Mode) -> bool:
        """What the table says."""
        who = COMMANDS[action][mode][0 if self.private else 1]
        return who is Who.ANYBODY or (who is Who.ADMIN and self.admin)


def reads(place: Place) -> bool:
    assert place.other in place.type("list")
    assert place.own in place.type("search what colour is the kettle")
    return not refused(place.type(f"show {place.other}"))


def changes_own(place: Place) -> bool:
    reply = place.type(f"archive {place.own}")
    assert (place.own in place.type("archived")) is not refused(reply)
    return not refused(reply)


def changes_other(place: Place) -> bool:
    reply = place.type(f"edit {place.other} The lamp is green now")
    assert ("green now" in place.type(f"show {place.other}")) is not refused(reply)
    return not refused(reply)


def exports_own(place: Place) -> bool:
    reply = place.type("export")
    assert "profiles" in reply
    return not refused(reply)


def exports_all(place: Place) -> bool:
    reply = place.type("export l2")
    assert place.own in reply
    return place.other in reply


def imports(place: Place) -> bool:
    fact = f"The tea is green {new_id()}"
    reply = place.type(f'import l2 [{{"content": "{fact}", "user_key": "other:group_1"}}]')
    assert (fact in place.type("list")) is not refused(reply)
    return not refused(reply)


def deletes(place: Place) -> bool:
    reply = place.type("delete --tag plan")
    assert ("Not found" in place.type(f"show {place.tagged}")) is not refused(reply)
    return not refused(reply)


def withdraws(place: Place) -> bool:
    replies = [place.type("off"), place.type("on")]
    return not any(map(refused, replies))


BY_COMMAND: dict[Action, Callable[[Place], bool]] = {
    Action.READ: reads,
    Action.EXPORT_OWN: exports_own,
    Action.EXPORT_ALL: exports_all,
    Action.CHANGE_OWN: changes_own,
    Action.CHANGE_OTHER: changes_other,
    Action.IMPORT: imports,
    Action.BULK_DELETE: deletes,
    Action.WITHDRAW: withdraws,
}
"""What has a command today. New memories and the profile of the conversation are written by tools; tidying up is
not part of this release."""


def places(memory: MemoryHost, admin_id: str) -> Iterator[Place]:
    person, admin = memory.private(), memory.private(name=admin_id)
    yield Place(memory, person, person.id, private=True, admin=False)
    yield Place(memory, admin, admin_id, private=True, admin=True)
    yield Place(memory, memory.group(), "ann", private=False, admin=False)
    yield Place(memory, memory.group(), admin_id, private=False, admin=True)


def check_table(memory: MemoryHost, mode: Mode) -> None:
    with memory.configured(command_policy=mode, memory_admins=ADMINS[mode]):
        for place in places(memory, ADMINS[mode]):
            done = {action: probe(place) for action, probe in BY_COMMAND.items()}
            assert done == {action: place.may(action, mode) for action in BY_COMMAND}


def test_every_row_of_the_default_policy(memory: MemoryHost) -> None:
    assert set(BY_COMMAND) | {Action.ADD, Action.CHANGE_SESSION_PROFILE, Action.CONSOLIDATE} == set(Action)
    check_table(memory, "owner_or_admin")


@pytest.mark.parametrize("mode", ["everyone", "admin"])
def test_every_row_of_the_other_policies(memory_410: MemoryHost, mode: Mode) -> None:
    check_table(memory_410, mode)


def test_tools_change_ones_own_and_the_conversations_whatever_the_policy(memory_410: MemoryHost) -> None:
    with memory_410.configured(command_policy="admin", memory_admins="boss-tools"):
        for place in places(memory_410, "boss-tools"):
            add = place.chat.tool("remember", {"content": f"I bought a kettle {new_id()}"}, place.sender)
            note = {"field": "notes", "action": "add", "value": "We meet on Fridays", "scope": "session"}
            notes = place.chat.tool("update_profile", note, place.sender)
            own = place.chat.tool("forget", {"episode_id": place.own}, place.sender)
            other = place.chat.tool("forget", {"episode_id": place.other}, place.sender)
            done = {
                Action.ADD: not refused(add),
                Action.CHANGE_SESSION_PROFILE: not refused(notes),
                Action.CHANGE_OWN: not refused(own),
                Action.CHANGE_OTHER: not refused(other),
            }
            assert done == {action: TOOLS[action] is Who.ANYBODY for action in done}
            assert place.other in place.type(f"show {place.other}")


def test_under_bot_isolation_only_admins_reach_other_conversations(memory: MemoryHost) -> None:
    with memory.configured(isolation="bot", memory_admins="boss-shared"):
        group, person, boss = memory.group(), memory.private(), memory.private(name="boss-shared")
        mark = new_id()
        group_id = group.remember(f"The harbour festival is called {mark}", "ann")
        own = person.remember("My boat is at the harbour", person.id)
        listed = person.command("!memory list", person.id)
        assert own in listed
        assert mark not in listed
        for line in ("search harbour festival", f"show {group_id}", "export l2", "archived"):
            assert mark not in person.command(f"!memory {line}", person.id)
        for line in (
            f"forget {group_id}",
            f"archive {group_id}",
            f"edit {group_id} gone",
            "delete --speaker ann",
        ):
            person.command(f"!memory {line}", person.id)
        assert mark in group.command(f"!memory show {group_id}", "ann")
        # The bot itself may recall what was said elsewhere: that is what this isolation is for.
        assert person.say("What is the harbour festival called?", person.id).records
        for line in ("list", f"show {group_id}", "export l2"):
            assert mark in boss.command(f"!memory {line}", "boss-shared")
        assert not refused(boss.command(f"!memory forget {group_id}", "boss-shared"))
        assert mark not in group.command("!memory list", "ann")
