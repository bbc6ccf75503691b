"""The policy, cell by cell: written out here a second time, by hand, so that a changed cell is noticed."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import get_args

import pytest

from longterm_memory.errors import Forbidden
from longterm_memory.models import Episode
from longterm_memory.policy import (
    COMMANDS,
    TOOLS,
    Action,
    Actor,
    Mode,
    Via,
    change_of,
    check_episode_change,
    check_episode_shown,
    decide,
    is_admin,
    sees,
)
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.words import explain

MINA, TAO = Speaker("9001", "Mina"), Speaker("9002", "Tao")
GROUP = Scope("b-01", "group", "77001")
PRIVATE = Scope("b-01", "person", "9001")
SHARED_GROUP = Scope("b-01", "group", "77001", Isolation.BOT)
SHARED_PRIVATE = Scope("b-01", "person", "9001", Isolation.BOT)

# Action: who may by command, as "owner_or_admin everyone admin", each private/group (* = anybody,
# A = admins); then whether by tool.
EXPECTED = {
    "read": "*/* */* */* yes",
    "add": "*/* */* A/A yes",
    "change_own": "*/* */* A/A yes",
    "change_other": "*/A */* A/A no",
    "change_session_profile": "*/* */* A/A yes",
    "withdraw": "*/* */* */* no",
    "export_own": "*/* */* */* no",
    "export_all": "*/A */* A/A no",
    "bulk_delete": "*/A */* A/A no",
    "import": "*/A */* A/A no",
    "consolidate": "*/A */* A/A no",
}
MODES: tuple[Mode, ...] = get_args(Mode)


def actor(via: Via, *, private: bool = False, admin: bool = False, speaker: Speaker = TAO) -> Actor:
    return Actor(speaker, private, admin, via)


def allowed(action: Action, who: Actor, mode: Mode) -> bool:
    try:
        decide(action, who, mode)
    except Forbidden as error:
        for language in ("en_US", "zh_Hans"):
            sentence = explain(language, error)
            assert "memory_admins" in sentence or "!memory" in sentence, "says who can"
        return False
    return True


def test_the_tables_hold_every_action() -> None:
    assert set(COMMANDS) == set(TOOLS) == set(Action)
    assert set(EXPECTED) == {a.value for a in Action}
    assert MODES == ("owner_or_admin", "everyone", "admin")


def test_every_cell() -> None:
    for action, mode in list(product(Action, MODES)):
        row = EXPECTED[action.value].split()
        private, group = row[MODES.index(mode)].split("/")
        assert allowed(action, actor("command", private=True), mode) is (private == "*")
        assert allowed(action, actor("command"), mode) is (group == "*")
        assert allowed(action, actor("command", private=True, admin=True), mode)
        assert allowed(action, actor("command", admin=True), mode)
        for private_chat, admin in product((True, False), repeat=2):
            assert allowed(action, actor("tool", private=private_chat, admin=admin), mode) is (
                row[3] == "yes"
            )
            assert allowed(action, actor("console", private=private_chat, admin=admin), mode)


def test_admins_are_listed_or_privileged_in_their_own_private_chat() -> None:
    for speaker, private, admins, privilege, admin in (
        (MINA, False, ("9001",), 1, True), (TAO, False, ("9001",), 1, False), (TAO, True, (), 2, True),
        (TAO, False, (), 2, False), (TAO, True, (), 1, False), (Speaker(), False, ("",), 2, False),
    ):  # fmt: skip
        assert is_admin(speaker, private=private, memory_admins=admins, privilege=privilege) is admin


def test_actor_of_a_message() -> None:
    assert Actor.of(PRIVATE, MINA, "command", privilege=2) == Actor(MINA, True, True, "command")
    assert Actor.of(GROUP, MINA, "command", privilege=2) == Actor(MINA, False, False, "command")
    assert Actor.of(GROUP, MINA, "tool", memory_admins=("9001",)) == Actor(MINA, False, True, "tool")
    # Two visitors of one web widget share a person conversation: it is nobody's private chat.
    web = Scope("b-01", "person", "web")
    assert Actor.of(web, Speaker("v1"), "command", privilege=2) == Actor(
        Speaker("v1"), False, False, "command"
    )


def episode(sender: str = "9001", session_name: str = "group_77001") -> Episode:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    return Episode(
        id="k7m29xqd",
        content="x",
        timestamp=now,
        created_at=now,
        user_key="k",
        sender_id=sender,
        session_name=session_name,
    )


def test_a_group_member_changes_only_their_own() -> None:
    mina, tao = Actor.of(GROUP, MINA, "command"), Actor.of(GROUP, TAO, "command")
    check_episode_change(mina, GROUP, episode(), "owner_or_admin")
    with pytest.raises(Forbidden, match="forbidden_change_other"):
        check_episode_change(tao, GROUP, episode(), "owner_or_admin")
    check_episode_shown(tao, GROUP, episode(), "owner_or_admin")
    admin = Actor.of(GROUP, TAO, "command", memory_admins=("9002",))
    check_episode_change(admin, GROUP, episode(), "owner_or_admin")
    # The same admin through a tool has no more rights than anybody.
    with pytest.raises(Forbidden, match="forbidden_tool_other"):
        check_episode_change(
            Actor.of(GROUP, TAO, "tool", memory_admins=("9002",)), GROUP, episode(), "everyone"
        )


def test_what_nobody_is_known_to_have_said_is_nobodys_own() -> None:
    assert change_of(Actor.of(GROUP, Speaker(), "command"), episode(sender="")) is Action.CHANGE_OTHER
    assert change_of(Actor.of(GROUP, MINA, "command"), episode()) is Action.CHANGE_OWN


def test_other_conversations_under_bot_isolation() -> None:
    for scope, via, admin, said_in, seen in (
        (SHARED_PRIVATE, "command", False, "group_77001", False),
        (SHARED_PRIVATE, "command", False, "", False),
        (SHARED_PRIVATE, "command", False, "person_9001", True),
        (SHARED_PRIVATE, "command", True, "group_77001", True),
        (SHARED_PRIVATE, "tool", False, "group_77001", False),
        (SHARED_PRIVATE, "tool", True, "group_77001", False),
        (SHARED_PRIVATE, "tool", True, "person_9001", True),
        (SHARED_PRIVATE, "console", False, "group_77001", True),
        (SHARED_GROUP, "command", False, "group_77002", False),
        (SHARED_GROUP, "command", True, "group_77002", True),
        (SHARED_GROUP, "tool", False, "group_77002", False), (PRIVATE, "command", False, "group_77001", True),
        (Scope("", "person", "9001", Isolation.BOT), "command", False, "group_77001", True),
    ):  # fmt: skip
        who = Actor(MINA, scope.is_private(MINA), admin, via)
        said = episode(session_name=said_in)
        assert sees(who, scope, said) is seen
        if seen:
            check_episode_shown(who, scope, said, "owner_or_admin")
            check_episode_change(who, scope, said, "owner_or_admin")
            return
        for check, mode in product((check_episode_shown, check_episode_change), MODES):
            with pytest.raises(Forbidden) as caught:
                check(who, scope, said, mode)
            assert caught.value.reason == "forbidden_elsewhere"
