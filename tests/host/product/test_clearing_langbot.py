"""The SQL of docs/operating.md that clears LangBot's own records, run on copies of real databases."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from playground.envs import ROOT
from tests.support.talk import Chat, MemoryHost

CONVERSATION, CONVERSATION_411, PERSON, PERSON_411 = re.findall(
    r"^  ```sql\n(.*?)^  ```$", (ROOT / "docs" / "operating.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)
OURS = {"binary_storages"}
"""What the plugin keeps itself; `!memory forgetme` and its siblings clear that."""


def copied(memory: MemoryHost, copy: Path) -> Path:
    """A copy of the host's database, which goes on writing to its own."""
    original = memory.stage.host.home / "data" / "langbot.db"
    with closing(sqlite3.connect(original)) as database, closing(sqlite3.connect(copy)) as target:
        database.backup(target)
    return copy


def kept_after(copy: Path, *steps: str) -> str:
    """Everything that LangBot's tables hold after these steps, as text."""
    with closing(sqlite3.connect(copy)) as database:
        for step in steps:
            database.executescript(step)
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        assert "monitoring_messages" in tables
        return "\n".join(
            f"{table}: {row}"
            for table in tables
            if table not in OURS
            for row in database.execute(f"SELECT * FROM {table}")
        )


def of(sql: str, chat: Chat, sender: str = "") -> str:
    """The document's statements for this conversation and person."""
    names = ("person_9001", "group_77001")
    assert any(name in sql for name in names)
    return re.sub("|".join(names), chat.session_name, sql).replace("'9001'", f"'{sender}'")


@pytest.mark.parametrize("in_group", [True, False], ids=["one person in a group", "a conversation"])
def test_nothing_of_them_is_left_and_everything_of_others(
    memory: MemoryHost, tmp_path: Path, in_group: bool
) -> None:
    bot = memory.new_bot()
    chat = memory.group(bot) if in_group else memory.private(bot)
    other = chat if in_group else memory.private(bot)
    leaving, staying = ("sam", "kim") if in_group else (chat.id, other.id)
    # Words of this test alone: the others' conversations are on the same host.
    gone, kept = (f"{animal}{chat.id.replace('-', '')}" for animal in ("zebrafish", "armadillo"))
    newer = memory.stage.host.version.startswith("4.11")
    for talk, sender, secret in ((chat, leaving, gone), (other, staying, kept)):
        talk.say(f"My favourite animal is the {secret}", sender)
        talk.remember(f"The favourite animal is a {secret}", sender)
        talk.command(f"!memory search {secret}", sender)
    sql = (PERSON, PERSON_411) if in_group else (CONVERSATION, CONVERSATION_411)
    steps = [of(step, chat, leaving) for step in sql[: 1 + newer]]
    copy = copied(memory, tmp_path / "langbot.db")
    before = kept_after(copy)
    assert gone in before
    after = kept_after(copy, *steps)
    assert [line[:60] for line in after.splitlines() if gone in line] == []
    assert after.count(kept) == before.count(kept) > 0
