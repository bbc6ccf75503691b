"""Secrets through every way that something can be written: nothing of them is kept anywhere (SPEC 12, case L3).

What is looked at in the end is everything that outlives a message: all rows of the vector store with their metadata,
all bytes of plugin storage (profiles, snapshots, audit, notes of uploads), and every log line of ours at DEBUG.
"""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from longterm_memory.chat.tools import call_tool
from longterm_memory.chat.verbs import AVAILABLE
from longterm_memory.console import answer
from longterm_memory.retrieval import retrieve
from longterm_memory.scope import Scope
from longterm_memory.transfer.uploads import upload
from tests.support.memory import Bot, new_bot

VALUES = (
    "sk-test-FAKE0123456789abcdef",
    "hunter2x",
    "482913",
    "MIIEFAKE",
    "向日葵2026",
    "AKIAIOSFODNN7EXAMPLE",
)
"""What must be nowhere in the end."""
TEXTS = (
    f"deploy key is {VALUES[0]}",
    f"the wifi password is {VALUES[1]}",
    f"验证码 {VALUES[2]}",
    f"-----BEGIN PRIVATE KEY-----\n{VALUES[3]}\n-----END PRIVATE KEY-----",
    f"登录密码：{VALUES[4]}",
)
REFUSED = "holds a secret"
GROUP, SPACE = "group_77001", Scope("b-01", "group", "77001")


def traces(bot: Bot, log: str) -> list[tuple[str, str]]:
    """Every secret that is kept, and where."""
    places = {f"storage {key}": str(value) for key, value in bot.api.values.items()}
    for collection, rows in bot.api.rows.items():
        places |= {f"row {collection} {ident}": f"{r.document} {r.metadata}" for ident, r in rows.items()}
    places["log"] = log
    # JSON may hide them behind escapes, and vectors of several bytes behind base64.
    texts = [
        (place, text + text.encode().decode("unicode_escape", "replace")) for place, text in places.items()
    ]
    return [
        (value, place) for value in VALUES for place, text in texts if value.casefold() in text.casefold()
    ]


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    made = await new_bot(config={"memory_admins": "9001", "language": "en_US"})
    yield made


@pytest.fixture
def ours(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    caplog.set_level(logging.DEBUG)
    yield lambda: "\n".join(record.getMessage() for record in caplog.records)


async def refused_everywhere(replies: list[tuple[str, str]]) -> None:
    wrong = [(what, reply) for what, reply in replies if REFUSED not in reply]
    assert wrong == []


async def test_tools(bot: Bot, ours: Callable[[], str]) -> None:
    replies: list[tuple[str, str]] = []

    async def tried(tool: str, **params: Any) -> None:
        replies.append((f"{tool} {params}", await bot.tool(tool, params)))

    for text in TEXTS:
        await tried("remember", content=text)
        await tried("remember", content="Deploy notes", tags=["notes", text])
        await tried("update_profile", field="traits", action="add", value=text)
        await tried("update_profile", field="preferences", action="set", value=["likes tea", text])
        await tried("update_profile", field="name", action="set", value=text[:100])
        await tried("update_profile", field="notes", action="add", value=f"Mina likes tea\n{text}")
        await tried("update_profile", scope="session", field="notes", action="set", value=text)
    # In pieces: each is harmless alone.
    await tried("remember", content=VALUES[1], tags=["wifi password"])
    await tried("remember", content=f"home wifi: {VALUES[1]}", tags=["password", "home"])
    await tried("remember", content="Router notes", tags=["wifi password:", VALUES[1]])
    await tried("update_profile", field="traits", action="add", value=VALUES[1], fact_key="wifi password")
    await tried("update_profile", field="traits", action="add", value="x", fact_key=VALUES[5])
    for field in ("notes", "traits", "preferences"):
        assert REFUSED not in await bot.tool(
            "update_profile", {"field": field, "action": "add", "value": "wifi password:"}
        )
        await tried("update_profile", field=field, action="add", value=VALUES[1])
    await tried("update_profile", field="traits", action="add", value=["验证码：", VALUES[2]])
    await refused_everywhere(replies)
    # What only names something that is there is refused or finds nothing, and is kept nowhere.
    for text in TEXTS:
        await bot.tool("update_profile", {"field": "traits", "action": "remove", "value": text})
        await bot.tool(
            "update_profile", {"field": "traits", "action": "set", "value": "tall", "previous_value": text}
        )
        await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "x", "fact_key": text})
        await bot.tool("recall_memory", {"query": text, "speaker_name": text, "source": text})
        await bot.tool("forget", {"episode_id": text})
    assert traces(bot, ours()) == []


async def test_commands(bot: Bot, ours: Callable[[], str]) -> None:
    kept = await bot.remember("we have no API key in the build", tags=["wifi password"])
    replies: list[tuple[str, str]] = []
    for text in TEXTS:
        replies.append((f"edit {text}", await bot.command(f"memory edit {kept} {text}")))
        rows = [
            {"content": text},
            {"content": "Row", "tags": [text]},
            {"content": "Row", "sender_name": text},
        ]
        for row in rows:
            line = f"memory import l2 {json.dumps([row], ensure_ascii=False)}"
            replies.append((line, await bot.command(line)))
    replies.append(("edit, by its tag", await bot.command(f"memory edit {kept} {VALUES[1]}")))
    await refused_everywhere(replies)
    # Every other subcommand, with a secret wherever it takes a word.
    for verb in AVAILABLE:
        for text in TEXTS:
            await bot.command(f"memory {verb} {text}")
            await bot.command(f'memory {verb} --speaker "{text}" --tag "{text}" --source "{text}" {text}')
    assert traces(bot, ours()) == []
    assert bot.api.rows["kb-1"], "an edit that is refused leaves the memory"


async def test_files(bot: Bot, ours: Callable[[], str]) -> None:
    """An upload and an import from the console, episodes and profiles."""
    # The space has to exist.
    await bot.tool("update_profile", {"field": "name", "action": "set", "value": "Mina"})
    place = {"user_key": SPACE.user_key}
    profile = {"type": "speaker", "scope_key": SPACE.scope_key, "sender_id": "9001"}
    for text in TEXTS:
        rows: list[dict[str, Any]] = [
            {**place, "content": text},
            *({**place, "content": "Row", name: text} for name in ("sender_name", "source", "id")),
            {**place, "content": "Row", "tags": ["fine", text]},
            {**place, "content": "Row", "tags": ["wifi password:", VALUES[1]]},
            {**place, "content": VALUES[1], "tags": ["wifi password"]},
            {**place, "content": "Row", "imported_episode_id": text, "id": "k7m29xqd"},
        ]
        profiles: list[dict[str, Any]] = [
            {**profile, "profile": {"name": text[:100]}},
            {**profile, "profile": {"traits": ["tall", text]}},
            {**profile, "profile": {"traits": ["wifi password:", VALUES[1]]}},
            {**profile, "profile": {"preferences": [text]}},
            {**profile, "profile": {"notes": f"Mina likes tea\n{text}"}},
            {**profile, "profile": {"notes": f"wifi password:\n{VALUES[1]}"}},
            {**profile, "profile": {}, "slots": {"traits": {"wifi password": {"value": VALUES[1]}}}},
            {**profile, "profile": {}, "slots": {"traits": {text[:60]: {"value": "x"}}}},
            {
                **profile,
                "profile": {},
                "slots": {"traits": {"wifi": {"value": "tea", "history": [{"value": text}]}}},
            },
        ]
        for number, row in enumerate([*rows, *profiles]):
            data = json.dumps({"profiles": [row]} if "profile" in row else [row], ensure_ascii=False).encode()
            report = await upload(bot.service, data, f"document-{number}")
            assert (report.accepted, len(report.rejected)) == (0, 1), row
            assert report.rejected[0].reason.reason == "content_secret", row
            body = {"space_id": SPACE.space_id, "data": base64.b64encode(data).decode()}
            told = await answer(bot.service, "/import", "POST", body)
            assert (told["accepted"], told["rejected_total"]) == (0, 1), told
            assert REFUSED in told["rejected"][0]["text"], told
    assert traces(bot, ours()) == []


async def test_names_questions_and_messages(bot: Bot, ours: Callable[[], str]) -> None:
    """What is not written on purpose: a display name, a message, a question to the engine or the console."""
    await bot.remember("Mina keeps bees behind the house")
    for text in TEXTS:
        turn = bot.turn(f"{text}, where are the bees?")
        turn.values["sender_name"] = text
        await bot.service.injector.prepare(turn)
        for tool, params in (
            ("remember", {"content": f"Mina saw {len(text)} bees"}),
            ("update_profile", {"field": "traits", "action": "add", "value": f"keeps {len(text)} bees"}),
        ):
            assert REFUSED not in await call_tool(bot.service, turn, tool, params)
        asked = {"session_name": GROUP, "bot_uuid": "b-01", "sender_id": "9001"}
        await retrieve(bot.service, text, asked)
        for endpoint in ("/spaces", "/audit", "/derive", "/export"):
            await answer(
                bot.service,
                endpoint,
                "POST",
                {"space_id": SPACE.space_id, "search": text, "session_name": text},
            )
    assert traces(bot, ours()) == []


async def test_what_only_speaks_of_secrets_is_kept(bot: Bot) -> None:
    for text in ("we have no API key in the build", "阿明的口令是向日葵", "Mina changed her wifi password"):
        assert REFUSED not in await bot.tool("remember", {"content": text, "tags": ["password", "API key"]})
        assert REFUSED not in await bot.tool(
            "update_profile", {"field": "notes", "action": "add", "value": text}
        )
    listed = await bot.command("memory list")
    assert "no API key in the build" in listed
    assert "向日葵" in listed
