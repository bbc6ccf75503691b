"""Cases from the field that hold for every way in at once: scopes, forgetting, dates, restarts, isolation.

The ways are enumerated (subcommands, endpoints of the console), so that a new one is in these tests or fails them.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from longterm_memory.chat.commands import run_command
from longterm_memory.chat.verbs import AVAILABLE
from longterm_memory.console import answer
from longterm_memory.console.requests import SpaceRequest
from longterm_memory.console.routing import ROUTES
from longterm_memory.retrieval import retrieve
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.transfer.uploads import delete_upload, upload
from tests.support.memory import KB, Bot, Clock, new_bot
from tests.support.strict_host import StrictHost

GROUP, OTHER = "group_77001", "group_77002"
MINA, TAO = "9001", "9002"
OF_ALL_SPACES = {
    *("/spaces", "/derive", "/health", "/diagnostics", "/erase_person", "/restore_file"),
    *("/backup", "/backup_make", "/backup_part", "/backup_restore", "/backup_drop"),
}
"""Endpoints that are about the whole installation."""
SCOPED = sorted(endpoint for endpoint, route in ROUTES.items() if issubclass(route.request, SpaceRequest))


def test_every_endpoint_is_known_here() -> None:
    assert set(ROUTES) - set(SCOPED) == OF_ALL_SPACES


async def page(bot: Bot, endpoint: str, **body: Any) -> str:
    return json.dumps(await answer(bot.service, endpoint, "POST", body), ensure_ascii=False)


async def space_id(bot: Bot) -> str:
    named = await answer(bot.service, "/derive", "POST", {"bot_uuid": "b-01", "session_name": GROUP})
    return str(named["space"]["space_id"])


async def retrieved(bot: Bot, query: str, sender: str = MINA, **more: Any) -> str:
    asked = {"session_name": GROUP, "bot_uuid": "b-01", "sender_id": sender, "top_k": 20, **more}
    return "\n".join(entry.text for entry in (await retrieve(bot.service, query, asked)).entries)


async def typed(bot: Bot, line: str, sender: str = MINA) -> str:
    """A command's reply and the files that came with it."""
    turn = bot.turn(f"!{line}", GROUP, sender)
    reply = await run_command(bot.service, turn, f"memory {line}")
    return reply + "".join(data.decode() for _, data in turn.files)


async def seen(bot: Bot, question: str, *more: str) -> dict[str, str]:
    """Everything that any way to look shows in the group about a question; ``more`` are arguments of commands."""
    shown = {
        "prompt": await bot.prompt(f"{question}?", GROUP, MINA),
        "retrieve": await retrieved(bot, question, user_key="b-01:group_77002", filters={}),
    }
    for status in ("active", "archived", "superseded", "all"):
        params = {"query": question, "top_k": 20, "status": status, "user_key": "b-01:group_77002"}
        shown[f"recall_memory {status}"] = await bot.tool("recall_memory", params, GROUP, MINA)
    arguments = (
        "",
        question,
        "--all-statuses",
        f"--all-statuses {question}",
        "l2",
        "all",
        "md",
        "export",
        *more,
    )
    for verb in AVAILABLE:
        for argument in arguments:
            if verb not in ("off", "import", "delete") and not (verb in CHANGING and argument == ""):
                shown[f"{verb} {argument}"] = await typed(bot, f"{verb} {argument}".strip())
    here = await space_id(bot)
    for endpoint in SCOPED:
        for what in ("all", "episodes", "profiles"):
            body = {"space_id": here, "what": what, "user_key": "b-01:group_77002", "data": "W10="}
            shown[f"{endpoint} {what}"] = await page(bot, endpoint, **body, scope_key="b-01:group_77002")
    return shown


CHANGING = ("archive", "restore", "edit", "forget")


def leaks(shown: dict[str, str], word: str) -> list[str]:
    return [way for way, text in shown.items() if word in text.casefold()]


@pytest.mark.parametrize("isolation", Isolation)
async def test_no_way_in_reaches_another_scope(isolation: Isolation) -> None:
    """A5: auto-inject, tools, every subcommand, KB retrieve, every endpoint; another scope's id is "not found"."""
    bot = await new_bot(config={"memory_admins": MINA, "isolation": isolation})
    there: dict[str, Any] = {"bot": "b-02"} if isolation is Isolation.BOT else {}
    place = GROUP if there else OTHER
    ids = []
    for text in (
        "the vault code word is heron",
        "the heron sleeps in May",
        "the vault is under the heron's nest",
    ):
        stored = await bot.tool("remember", {"content": text}, place, MINA, **there)
        ids.append(stored.split("[")[1].split("]")[0])
    correction = {"content": "the heron sleeps in June", "tags": ["correction"]}
    await bot.tool("remember", correction, place, MINA, **there)
    await bot.command(f"memory archive {ids[2]}", place, MINA, **there)
    for field in ("traits", "notes"):
        change = {"field": field, "action": "add", "value": "keeps a heron"}
        await bot.tool("update_profile", change, place, MINA, **there)
    assert "heron" in await bot.prompt("what is the vault code word?", place, MINA, **there)
    mine = await bot.remember("the vault code word is for family only")
    theirs = "b-02" if there else place

    def untouched() -> tuple[dict[str, str], dict[str, bytes]]:
        rows = {
            i: r.document for i, r in bot.api.rows[KB].items() if theirs in str(r.metadata.get("user_key"))
        }
        return rows, {key: value for key, value in bot.api.values.items() if theirs in key}

    before = untouched()
    assert len(before[0]) == 4
    assert len(before[1]) >= 4
    for one in ids:
        for line in (
            f"show {one}",
            f"edit {one} x",
            *(f"{verb} {one}" for verb in ("archive", "restore", "forget")),
        ):
            assert (await typed(bot, line)).startswith("Not found"), line
        assert (await bot.tool("forget", {"episode_id": one}, GROUP, MINA)).startswith("Not found")
    shown = await seen(bot, "vault code word", *ids)
    assert not leaks(shown, "heron")
    assert "family only" in shown["prompt"] + shown["recall_memory active"]
    for line in ("--before 2999-01-01", "--speaker 9001", "--status archived"):
        await typed(bot, f"delete {line}")
    assert (await typed(bot, f"show {mine}")).startswith("Not found"), "the deletes did delete"
    assert untouched() == before
    here = await space_id(bot)
    offer = json.loads(await page(bot, "/erase_space", space_id=here))
    assert '"erased": true' in await page(bot, "/erase_space", space_id=here, code=offer["code"])
    assert untouched() == before


async def test_whoever_may_change_others_memories_is_named_for_it() -> None:
    """B7: in a group a non-admin's forget and delete of Mina's is up to the policy; the audit names Tao."""
    for policy, allowed in (("owner_or_admin", False), ("admin", False), ("everyone", True)):
        bot = await new_bot(config={"command_policy": policy})
        ids = [await bot.remember(f"Mina's plan number {n}") for n in range(3)]
        replies = [await typed(bot, line, TAO) for line in (f"forget {ids[0]}", "delete --speaker 9001")]
        tool = await bot.tool("forget", {"episode_id": ids[1]}, GROUP, TAO)
        assert "Deleted" not in tool
        assert [reply.startswith("Deleted") for reply in replies] == [allowed, allowed], policy
        left = await typed(bot, "list")
        assert [one in left for one in ids] == [not allowed] * 3
        chat = [row for row in (await typed(bot, "audit")).splitlines() if "remembered" not in row][1:-1]
        console = json.loads(await page(bot, "/audit_export", space_id=await space_id(bot)))["entries"]
        by_tao = [
            (e["operation"], e["sender_id"], e["sender_name"]) for e in console if e["sender_id"] == TAO
        ]
        assert by_tao == [("delete", TAO, "Tao"), ("forget", TAO, "Tao")] * allowed
        assert [("Tao (9002)" in row) for row in chat] == [True, True] * allowed


@pytest.mark.parametrize("way", ["tool", "forget", "delete", "document", "console"])
async def test_what_was_forgotten_is_absent_everywhere(way: str) -> None:
    """C1: from recall, list, show, console, export, snapshot, a kept backup; after a restart too."""
    bot = await new_bot(config={"memory_admins": MINA})
    row = {"content": "the spare key is under the fern", "user_key": "b-01:group_77001", "tags": ["keys"]}
    report = await upload(
        bot.service, json.dumps([row | {"sender_id": MINA, "id": "k7m29xqd"}]).encode(), "doc"
    )
    assert report.accepted == 1
    await bot.remember("the tent is green")
    assert "fern" in await bot.prompt("where is the spare key?")
    await page(bot, "/backup_make")
    assert "fern" in await page(bot, "/backup_part")
    assert leaks(await seen(bot, "spare key"), "fern"), "it was there"
    match way:
        case "tool":
            assert "Deleted" in await bot.tool("forget", {"episode_id": "[k7m29xqd]"})
        case "forget":
            assert "Deleted" in await typed(bot, "forget k7m29xqd")
        case "delete":
            assert "1 memory" in await typed(bot, "delete --tag keys")
        case "document":
            assert await delete_upload(bot.service, "doc")
        case "console":
            console = await bot.memory(GROUP, MINA, via="console")
            assert await console.changes.delete_chosen(["k7m29xqd"]) == ("k7m29xqd",)
    for _ in range(2):
        kept = {key: value.decode("utf-8", "replace") for key, value in bot.api.values.items()}
        kept |= {i: f"{row.document} {row.metadata}" for i, row in bot.api.rows[KB].items()}
        assert not leaks(kept, "fern")
        assert not leaks(await seen(bot, "spare key", "k7m29xqd"), "fern")
        assert (await typed(bot, "show k7m29xqd")).startswith("Not found")
        assert "fern" not in await page(bot, "/backup_part")
        assert "green" in await page(bot, "/backup_part")
        assert "tent is green" in await typed(bot, "list")
        bot.restart()


async def test_an_edited_or_archived_memory_is_shown_with_its_status() -> None:
    """E5: warm, cold and after a restart; an archived one can be edited and stays archived."""
    bot = await new_bot()
    await bot.remember("the tent is green")
    one = await bot.remember("Mina's rent is due on the 15th", importance=4)
    for line, status, text in (
        (f"edit {one} Mina's rent is due on the 16th", "active", "16th"),
        (f"archive {one}", "archived", "16th"),
        (f"edit {one} Mina's rent is due on the 17th", "archived", "17th"),
        (f"restore {one}", "active", "17th"),
    ):
        await typed(bot, line)
        for _ in range(2):
            shown = await typed(bot, f"show {one}")
            assert shown.startswith(f"[{one}] {status}"), (line, shown)
            assert text in shown
            assert "Importance: 4" in shown
            recalled = await bot.tool("recall_memory", {"query": "when is the rent due", "status": status})
            assert one in recalled
            assert text in recalled
            bot.restart()


async def test_a_day_that_is_only_named_keeps_the_date_it_was_said_on() -> None:
    """J3: "tomorrow" stored on 1 May, asked on 10 May, wherever the model or a person meets it."""
    bot = await Bot(StrictHost(), clock=Clock(datetime(2026, 5, 1, 12, tzinfo=UTC))).create()
    await bot.remember("Mina flies tomorrow")
    bot.clock.move(days=9)
    ways = {
        "prompt": await bot.prompt("when does Mina fly?"),
        "recall_memory": await bot.tool("recall_memory", {"query": "when does Mina fly"}),
        "retrieve": await retrieved(bot, "when does Mina fly", sender=TAO),
        "search": await typed(bot, "search when does Mina fly"),
        "md": await typed(bot, "export md --speaker 9001"),
    }
    for way, text in ways.items():
        found = [row for row in text.splitlines() if "flies tomorrow" in row]
        assert found, way
        assert "2026-05-01" in found[0] or (way == "md" and "2026-05-01" in text), (way, found)


async def test_a_new_process_knows_what_the_old_one_knew_and_one_damaged_profile_stops_only_itself() -> None:
    """P3: profiles, knowledge base config and audit equal; the chat goes on, the profile is not overwritten."""
    bot = await new_bot(
        creation={"isolation": "session", "recency_half_life_days": 7, "auto_recall_top_k": 2}
    )
    for sender, trait in ((MINA, "left-handed"), (TAO, "sailor")):
        await bot.tool("update_profile", {"field": "traits", "action": "add", "value": trait}, GROUP, sender)
    await bot.tool("update_profile", {"field": "notes", "action": "add", "value": "we meet on Fridays"})
    await bot.remember("the tent is green")

    async def known() -> list[Any]:
        profiles, problems = await bot.service.profiles.list_profiles()
        return [
            sorted(repr((p.scope, p.speaker, p.profile)) for p in profiles),
            problems,
            repr(await bot.service.knowledge_bases.get()),
            await bot.service.settings(),
            [e.model_dump() for e in await bot.service.audit.entries("b-01:group_77001")],
        ]

    before = await known()
    assert len(before[0]) == 3
    bot.restart()
    assert await known() == before
    key = bot.service.profiles.key(Scope("b-01", "group", "77001"), Speaker(MINA))
    bot.api.values[key] = b'{"traits": ["left'
    bot.restart()
    prompt = await bot.prompt("which colour is the tent?", GROUP, MINA)
    for text in ("we meet on Fridays", "the tent is green"):
        assert text in prompt
    assert "left" not in prompt
    assert "sailor" in await bot.prompt("which colour is the tent?", GROUP, TAO)
    for action in ("add", "set", "remove"):
        change = {"field": "traits", "action": action, "value": "tall"}
        assert "damaged" in await bot.tool("update_profile", change, GROUP, MINA)
    await typed(bot, "import l2 []")
    assert '"unread": 1' in await page(bot, "/export", space_id=await space_id(bot))
    change = {"field": "traits", "action": "add", "value": "tall"}
    assert "Added" in await bot.tool("update_profile", change, GROUP, TAO)
    assert bot.api.values[key] == b'{"traits": ["left'


async def test_isolation_there_and_back_deletes_nothing_and_shows_what_belongs_to_it() -> None:
    """P5: session → bot → session, with data in each; `!memory` says which key is in force."""
    bot = await new_bot(config={"isolation": "session"})
    told = {"session": "the tent is green", "bot": "the boat is blue"}
    rows: set[str] = set()
    for turn, isolation in enumerate(("session", "bot", "session", "bot")):
        bot.config["isolation"] = isolation
        if turn % 2:
            bot.restart()
        if turn < 2:
            await bot.remember(told[isolation])
        key = "bot:b-01" if isolation == "bot" else "b-01:group_77001"
        overview = await typed(bot, "")
        assert f"user_key {key}" in overview
        assert re.search(rf"isolation: {isolation}\b", overview)
        here, hidden = told[isolation], told["session" if isolation == "bot" else "bot"]
        questions = ("which colour is the tent?", "which colour is the boat?")
        ways = {
            "prompt": [await bot.prompt(q) for q in questions],
            "recall_memory": [await bot.tool("recall_memory", {"query": q}) for q in questions],
            "list": [await typed(bot, "list --all-statuses")],
            "retrieve": [await retrieved(bot, f"{q} {turn}", sender=TAO) for q in questions],
            "console": [await page(bot, "/export", space_id=await space_id(bot))],
        }
        for way, texts in ways.items():
            text = "".join(texts)
            assert here in text, (turn, way)
            assert hidden not in text, (turn, way)
        assert rows <= set(bot.api.rows[KB])
        rows = set(bot.api.rows[KB])
