"""Forgetting: by tool and command, by every form of the id that anybody was shown, and only what one may."""

from __future__ import annotations

import re

from playground.model_server import Call
from tests.support.talk import RECORD, MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"


def test_forgotten_by_tool_is_gone_everywhere(memory: MemoryHost) -> None:
    group = memory.group()
    memory_id = group.remember(OSLO)
    assert group.say(ASKED).records == [OSLO]
    turn = group.calling([Call("forget", {"episode_id": memory_id})])
    assert f"Deleted {memory_id}" in turn.results[0]
    assert group.say(ASKED).records == []
    recalled, again = group.calling(
        [Call("recall_memory", {"query": OSLO}), Call("forget", {"episode_id": memory_id})]
    ).results
    assert OSLO not in recalled
    assert "Not found" in again
    for command in ("list --all-statuses", "search Oslo", f"show {memory_id}", "me"):
        assert OSLO not in group.command(f"!memory {command}")
    # Saying it again is a new memory.
    assert group.remember(OSLO) != memory_id
    assert group.say(ASKED).records == [OSLO]


def test_somebody_elses_memory_stays(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    memory_id = group.remember(OSLO, "9001", "Mina", tags=["move"])
    refusals = [
        group.tool("forget", {"episode_id": memory_id}, "9002", "Tao"),
        group.command(f"!memory forget {memory_id}", "9002", "Tao"),
        group.command("!memory delete --speaker 9001", "9002", "Tao"),
        group.command("!memory delete --tag move", "9002", "Tao"),
    ]
    for refusal in refusals:
        assert "Deleted" not in refusal
        assert "memory admin" in refusal, refusal
    assert group.say(ASKED, "9002", "Tao").ids == [memory_id]
    assert f"Deleted {memory_id}" in group.command(f"!memory forget {memory_id}", "9001", "Mina")


def test_every_form_of_an_id_is_taken_back(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    facts = [
        f"The {animal} sleeps in box {n}" for n, animal in enumerate(("cat", "dog", "hen", "owl", "fox"))
    ]
    stored = group.calling([Call("remember", {"content": fact}) for fact in facts]).results
    assert all("Stored as" in answer for answer in stored)

    def bracketed(text: str, fact: str) -> str:
        """Return the id as it stands before *fact*, brackets included."""
        line = next(line for line in text.splitlines() if fact in line)
        [shown] = re.findall(r"\[[0-9a-z]{8}\]", line)
        return str(shown)

    as_stored = re.findall(r"\[[0-9a-z]{8}\]", stored[0])[0]
    as_listed = bracketed(group.command("!memory list"), facts[1])
    as_found = bracketed(group.command(f"!memory search {facts[2]}"), facts[2])
    recalled = RECORD.findall(group.tool("recall_memory", {"query": facts[3]}))
    as_recalled = next(ident for _, _, ident, text in recalled if text == facts[3])
    turn = group.say(f"Is it true that {facts[4].lower()}?")
    as_injected = turn.ids[turn.records.index(facts[4])]

    answers = group.calling(
        [
            Call("forget", {"episode_id": as_stored}),
            Call("forget", {"episode_id": f" `{as_recalled}` "}),
            Call("forget", {"episode_id": f"id: {as_injected.upper()}"}),
        ]
    ).results
    answers += [group.command(f"!memory forget {as_listed}"), group.command(f'!memory f "{as_found}" ')]
    assert all("Deleted" in answer for answer in answers), answers
    assert "No memories" in group.command("!memory list")


def test_no_id_is_not_found(memory_411: MemoryHost) -> None:
    odd: list[object] = ["a1b2", "1", "0", "undefined", "episode_id", "", None, 7, ["x"]]
    turn = memory_411.group().calling([Call("forget", {"episode_id": given}) for given in odd])
    for given, answer in zip(odd, turn.results, strict=True):
        assert "\n" not in answer
        assert "Not found" in answer or "expected one memory id" in answer, given
        assert re.search(r"\b[0-9a-z]{8}\b", answer), "an example of an id"


def test_delete_needs_a_filter_that_is_one(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    contents = ["The rent is due on the 15th", "The boat needs paint"]
    group.calling([Call("remember", {"content": text, "tags": ["work"]}) for text in contents])
    # What the host's own splitting of a command line could spoil; all others are tested without it.
    broken = [
        "delete",
        'delete --speaker ""',
        'delete --tag "  "',
        "delete --before 2026-05-01 --tag",
        "delete —tag",
    ]
    for line in broken:
        assert "Deleted" not in group.command(f"!memory {line}"), line
    assert "2 memories" in group.command("！memory list")
    assert "Deleted 2" in group.command("!memory delete —tag work")
    assert "No memories" in group.command("!memory list")
