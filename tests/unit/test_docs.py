"""What the documents say about the code is what the code does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from longterm_memory.chat.help_lines import ACTIONS
from longterm_memory.chat.verbs import AVAILABLE, Verb
from longterm_memory.models import Episode
from longterm_memory.policy import COMMANDS, TOOLS, Action, Actor, Mode, Via, Who, sees
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.text.times import parse_moment

ROOT = Path(__file__).resolve().parents[2]
POLICY = (ROOT / "docs" / "policy.md").read_text("utf-8")
MODES: tuple[Mode, ...] = get_args(Mode)
CELL = {Who.ANYBODY: "anybody", Who.ADMIN: "admins"}


def table(document: str, first_cell: str) -> list[list[str]]:
    """The rows of the table whose head begins with that cell, the head first, without the line below it."""
    start = document.index(f"\n| {first_cell} |") + 1
    rows = [line for line in document[start:].partition("\n\n")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    assert all(set(cell) <= {"-"} for cell in cells[1])
    return [cells[0], *cells[2:]]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def policy_row(action: Action) -> list[str]:
    """What the code says about an action, as a row of the document after its first cell."""
    cells = [CELL[who] for mode in MODES for who in COMMANDS[action][mode]]
    return [f"`{action}`", *cells, "no" if TOOLS[action] is Who.NOBODY else "yes"]


def test_the_policy_table_is_the_codes() -> None:
    head, *rows = table(POLICY, "what")
    assert head[2:] == [*(f"`{mode}`, {place}" for mode in MODES for place in ("private", "group")), "tools"]
    assert all(len(row) == len(head) and row[0] for row in rows), "every row has all cells"
    told = {row[1].strip("`"): row[1:] for row in rows}
    complaints = [
        f"docs/policy.md: {name} is no action (any more)" for name in told if name not in set(Action)
    ]
    for action in Action:
        wanted = policy_row(action)
        if action not in told:
            line = " | ".join(["(what it is, in plain words)", *wanted])
            complaints.append(f"docs/policy.md: no row for the action {action}; add: | {line} |")
        elif told[action] != wanted:
            complaints.append(f"docs/policy.md: {action} says {told[action]}; the code says {wanted}")
    assert complaints == []
    assert [row[1].strip("`") for row in rows] == [a.value for a in Action], "in the order of the code"


def test_every_command_is_listed_with_its_actions() -> None:
    _, *rows = table(POLICY, "command")
    told = {
        ("" if verb == "!memory" else verb): tuple(names(row[1])) for row in rows for verb in names(row[0])
    }
    assert sum(len(names(row[0])) for row in rows) == len(told), "no command stands there twice"
    wanted = {verb.value: tuple(map(str, ACTIONS.get(verb, (Action.READ,)))) for verb in AVAILABLE}
    missing = [f"docs/policy.md: {verb or '!memory'}: {wanted[verb]}" for verb in wanted if verb not in told]
    assert missing == [], "add these commands to the table of commands"
    assert told == wanted
    assert set(told) <= {verb.value for verb in Verb}


def test_the_table_for_shared_isolation_is_the_codes() -> None:
    here, mina = Scope("b-01", "group", "77001", Isolation.BOT), Speaker("9001", "Mina")
    now = parse_moment("2026-05-01")
    askers: tuple[tuple[Via, bool], ...] = (
        ("command", False),
        ("command", True),
        ("tool", True),
        ("console", False),
    )
    _, *rows = table(POLICY, "a memory that was said")
    assert [row[0] for row in rows] == ["in this conversation", "in another one, or nobody knows where"]
    for row, places in zip(rows, (("group_77001",), ("group_77002", "person_9001", "")), strict=True):
        for place in places:
            said = Episode(
                id="k7m29xqd",
                content="x",
                timestamp=now,
                created_at=now,
                user_key=here.user_key,
                sender_id="9001",
                session_name=place,
            )
            shown = [sees(Actor(mina, False, admin, via), here, said) for via, admin in askers]
            assert [cell != "no" for cell in row[1:]] == shown, (place, row)


def test_the_readme_points_to_the_policy() -> None:
    assert "(docs/policy.md" in (ROOT / "README.md").read_text("utf-8")
