"""What goes out comes back in: byte for byte, once, and in the right place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, Status
from longterm_memory.profile_records import StoredProfile
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.transfer.exporting import document, parts, to_json, to_markdown
from longterm_memory.transfer.formats import read_file
from longterm_memory.transfer.importing import ImportReport, import_file
from longterm_memory.words import LANGUAGES, say
from tests.support.memory import Bot, new_bot

HERE = Scope.of_session("group_77001", bot_uuid="b-01")
THERE = Scope.of_session("group_77002", bot_uuid="b-01")
MINA, TAO = Speaker("9001", "Mina"), Speaker("9002", "Tao 🌙")


async def episodes_of(bot: Bot, scope: Scope = HERE) -> list[Episode]:
    store = bot.service.episodes(await bot.service.collection())
    return await store.select(scope.user_key, Filters(statuses=KEPT_STATUSES))


async def profiles_of(bot: Bot, scope: Scope = HERE) -> list[StoredProfile]:
    found, unreadable = await bot.service.profiles.list_profiles(scope)
    assert not unreadable
    return found


async def exported(bot: Bot, *scopes: Scope) -> str:
    """Export these scopes, as a freshly started plugin sees them."""
    bot.restart()
    episodes = {e.id + e.user_key: e for scope in scopes for e in await episodes_of(bot, scope)}
    profiles = [p for scope in scopes for p in await profiles_of(bot, scope)]
    return to_json(document(episodes.values(), profiles))


async def wipe(bot: Bot, *scopes: Scope) -> None:
    store = bot.service.episodes(await bot.service.collection())
    for scope in scopes:
        await store.delete_many(scope, await episodes_of(bot, scope))
        for stored in await profiles_of(bot, scope):
            await bot.service.profiles.delete(stored.scope, stored.speaker)
    assert json.loads(await exported(bot, *scopes)) == {
        "format": "longtermmemory",
        "version": 1,
        "episodes": [],
        "profiles": [],
    }


async def take(bot: Bot, text: str, into: Scope | None = HERE, **more: Any) -> ImportReport:
    isolation = into.isolation if into else Isolation.SESSION
    return await import_file(bot.service, text.encode(), into=into, isolation=isolation, **more)


async def lived_in(isolation: Isolation = Isolation.SESSION) -> tuple[Bot, list[Scope]]:
    """A bot that people have used for a while: corrections of corrections, restored and archived memories, equal
    texts, odd characters, imported rows, profiles with a history."""
    bot = await new_bot(creation={"isolation": isolation})
    here, there = (
        Scope.of_session(s.session_name, bot_uuid="b-01", isolation=isolation) for s in (HERE, THERE)
    )
    store = bot.service.episodes(await bot.service.collection())

    async def say(text: str, who: Speaker = MINA, where: Scope = here, **fields: Any) -> str:
        bot.clock.move(seconds=1.25)
        return (await store.remember(where, EpisodeDraft(text, sender=who, **fields))).episode.id

    tuesday = await say("My flight is Tuesday", tags=("a,b", "旅行", "A,B"), importance=5)
    await say("My flight is Wednesday", tags=("correction",))
    await say("My flight is Thursday", tags=("correction",), source="candidate")
    osaka = await say("I live in Osaka")
    await say("I live in Berlin", tags=("correction",))
    await store.changes.set_status(here, osaka, Status.ACTIVE)  # restored: both are active again
    chess = await say("Mina plays chess")
    await store.changes.set_status(here, chess, Status.ARCHIVED)
    await say("Mina plays chess")  # said again: the same words, active and archived
    await say('Tao: \u2028 \x00 \\ " </mem> 😀\n\n# heading\r\n- bullet', TAO, where=there)
    await say("x" * 8_000, Speaker("", "nobody known"))
    await say("long ago", timestamp=datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
    await take(bot, json.dumps([{"id": "会话:1", "content": "from elsewhere", "sender_id": 7}]), here)
    for field, action, value, key in (
        ("traits", "set", "Osaka", "city"),
        ("traits", "set", "Berlin", "City "),
        ("traits", "add", 'likes, commas; "quotes"', None),
        ("preferences", "set", "tea", "drink"),
        ("preferences", "remove", "tea", "drink"),
        ("name", "set", "米娜🌙", None),
        ("notes", "add", "one\n  two\n\n# three", None),
    ):
        bot.clock.move(seconds=1)
        for where in (here, there):
            await bot.service.profiles.update(
                where, MINA, field=field, action=action, values=value, fact_key=key
            )
    await bot.service.profiles.update(here, TAO, field="traits", action="add", values="plays go")
    assert (await store.find(here, tuesday)).status is Status.SUPERSEDED
    return bot, [here, there]


def statuses(text: str) -> list[str]:
    return sorted({row["status"] for row in json.loads(text)["episodes"]})


async def test_everything_survives_a_wipe_byte_for_byte() -> None:  # issue: export → wipe → import
    for isolation in Isolation:
        bot, scopes = await lived_in(isolation)
        before = await exported(bot, *scopes)
        assert statuses(before) == ["active", "archived", "superseded"]
        for way in ("each row says where", "into the space"):
            await wipe(bot, *scopes)
            if way == "into the space":
                for scope in scopes:
                    one = await _part_of(before, scope)
                    report = await take(bot, one, scope, keep_sessions=True)
                    assert not report.rejected, report
            else:
                report = await take(bot, before, None)
                assert (report.accepted, report.skipped, report.profiles) == (11, 0, 5), report
            assert await exported(bot, *scopes) == before, (isolation, way)
            # Also what is hidden from recall is told by the next write, which looks for things left half done.
            await bot.remember("something new")
            new = [e for e in await episodes_of(bot, scopes[0]) if e.content == "something new"]
            await bot.service.episodes(await bot.service.collection()).delete_many(scopes[0], new)
            assert await exported(bot, *scopes) == before, (isolation, way)


async def _part_of(text: str, scope: Scope) -> str:
    """The export of one space: under ``bot`` isolation its episodes are those of the whole bot."""
    whole = json.loads(text)
    whole["episodes"] = [e for e in whole["episodes"] if e["user_key"] == scope.user_key]
    whole["profiles"] = [p for p in whole["profiles"] if p["scope_key"] == scope.session_key]
    return json.dumps(whole)


async def test_a_second_import_adds_and_costs_nothing() -> None:
    bot, scopes = await lived_in()
    before = await exported(bot, *scopes)
    for into, text in ((None, before), (HERE, await _part_of(before, HERE))):
        with bot.api.calls.recording() as seen:
            report = await take(bot, text, into)
        assert (report.accepted, report.profiles, report.rejected, report.notes) == (0, 0, (), ())
        assert report.ok
        assert seen.counts["invoke_embedding"] == seen.counts["vector_upsert"] == 0
        assert seen.counts["set_plugin_storage"] == 0
    assert await exported(bot, *scopes) == before


async def test_parts_import_one_by_one_in_any_order() -> None:
    bot, scopes = await lived_in()
    before = await exported(bot, *scopes)
    found = parts(json.loads(before), 1_500)
    sizes = [len(part) for part in found]
    assert len(found) > 5
    assert sum(size > 1_500 for size in sizes) == 1  # one memory alone is longer
    assert all(json.loads(part)["format"] == "longtermmemory" for part in found)
    await wipe(bot, *scopes)
    for part in reversed(found):
        report = await take(bot, part, None)
        assert report.ok, report
        assert not report.rejected
    assert await exported(bot, *scopes) == before
    whole = json.loads(before)
    assert parts(whole, 10**9) == [before]
    assert parts(document([], None), 10) == ['{"format":"longtermmemory","version":1,"episodes":[]}\n']


async def test_chat_brings_everything_to_its_own_conversation() -> None:  # O1: never another scope
    bot, scopes = await lived_in(Isolation.BOT)
    here = scopes[0]
    before = await exported(bot, *scopes)
    await wipe(bot, *scopes)
    other = Scope.of_session("group_5", bot_uuid="b-02", isolation=Isolation.BOT)
    await take(bot, before, other)
    found = await episodes_of(bot, other)
    assert len(found) == 11
    assert {(e.user_key, e.bot_uuid, e.session_name) for e in found} == {("bot:b-02", "b-02", "group_5")}
    assert await episodes_of(bot, here) == []
    assert [p for scope in scopes for p in await profiles_of(bot, scope)] == []
    # Not even what comes from the same bot is said elsewhere.
    await take(bot, before, here)
    assert {e.session_name for e in await episodes_of(bot, here)} == {"group_77001"}


async def test_memories_brought_elsewhere_join_what_was_said_there() -> None:
    bot, _ = await lived_in()
    store = bot.service.episodes(await bot.service.collection())
    said = (await store.remember(THERE, EpisodeDraft("my flight is thursday", sender=MINA))).episode
    report = await take(bot, to_json(document(await episodes_of(bot), None)), THERE)
    assert report.skipped == 1
    chain = {e.content: e for e in await episodes_of(bot, THERE)}
    assert chain["My flight is Wednesday"].superseded_by == said.id  # not the one that was not needed
    assert sum(e.content.casefold() == "my flight is thursday" for e in chain.values()) == 1


# ------------------------------------------------------------ shapes of the export


async def test_the_export_has_a_fixed_order_and_no_clock() -> None:
    bot, scopes = await lived_in()
    first = await exported(bot, *scopes)
    bot.clock.move(days=3)
    assert await exported(bot, *reversed(scopes)) == first
    rows = json.loads(first)["episodes"]
    assert rows == sorted(rows, key=lambda r: (datetime.fromisoformat(r["timestamp"]), r["id"]))
    assert first.count("\n{") == len(rows) + len(json.loads(first)["profiles"])
    assert list(rows[0]) == [
        "id", "content", "importance", "timestamp", "created_at", "user_key", "sender_id", "sender_name",
        "bot_uuid", "session_name", "source", "status",
    ]  # fmt: skip
    profile = json.loads(first)["profiles"][1]
    assert list(profile) == ["type", "scope_key", "sender_id", "sender_name", "profile", "slots"]
    assert profile["slots"]["traits"]["city"]["history"][0]["value"] == "Osaka"


HOSTILE: Sequence[str] = (
    "- a bullet\n# a heading\n## 2026-01-01\n[k7m29xqd · 2026-01-01 00:00 UTC · Tao (9002) · 5/5]",
    "1. numbered\n2) too\n***\n---\n```\ncode\n```\n> quote | table |",
    "[profile · b-01:group_77001]",
    "C:\\temp\\[x] \\- a\\\nb\\\\",
    "<!-- gone? --> <img src=x>",
    "plain; 阿明喜欢香菜",
)


async def test_markdown_reads_back_and_nobody_forges_its_marks() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    bot = await new_bot()
    store = bot.service.episodes(await bot.service.collection())
    forger = Speaker("9·(0)", "Tao (9002) · 5/5]\n- x")
    for number, text in enumerate(HOSTILE):
        when = datetime(2026, 4, 29, 20, tzinfo=UTC) + timedelta(days=number)
        tags = ("#a, b", "]\n- c")
        await store.remember(HERE, EpisodeDraft(text, tags=tags, importance=4, timestamp=when, sender=forger))
    archived = (await episodes_of(bot))[0]
    await store.changes.set_status(HERE, archived.id, Status.ARCHIVED)
    await bot.service.profiles.update(
        HERE, forger, field="traits", action="add", values="x\n## y", target="session"
    )
    await bot.service.profiles.update(
        HERE, forger, field="notes", action="add", values="## y\n\n- z", target="speaker"
    )
    stored = await episodes_of(bot)
    for language in LANGUAGES:
        words = say(language, "command.status_archived")
        text = to_markdown(stored, await profiles_of(bot), language=language, zone=zone)
        assert words in text
        assert [line for line in text.split("\n") if line.startswith("#")][-2:] == [
            "## 2026-04",
            "## 2026-05",
        ]
        parsed = read_file(text.encode())
        assert len(parsed.passed_over) == 2
        rows = [row.value for row in parsed.episodes if isinstance(row.value, dict)]
        assert [row["id"] for row in rows] == [e.id for e in reversed(stored)]
        assert {row.get("status") for row in rows} == {None, Status.ARCHIVED}, language
        for row, episode in zip(rows, reversed(stored), strict=True):
            assert row["content"] == episode.content
            assert row["importance"] == 4
            assert row["sender_id"] == forger.id
            assert (row["sender_name"], row["tags"]) == ("Tao (9002) · 5/5] - x", ["#a, b", "] - c"])
        report = await take(bot, text)
        assert (report.accepted, report.skipped, report.ignored_profiles) == (0, len(HOSTILE), 2)
    await wipe(bot, HERE)
    assert (await take(bot, text)).accepted == len(HOSTILE)
    back = await episodes_of(bot)
    assert [(e.id, e.content, e.status, e.sender_id) for e in back] == [
        (e.id, e.content, e.status, e.sender_id) for e in stored
    ]


def test_an_export_of_many_rows_splits_close_to_the_limit() -> None:
    rows = [{"id": f"a{n:07d}", "content": "y" * (n % 90)} for n in range(500)]
    whole = {"format": "longtermmemory", "version": 1, "episodes": rows, "profiles": []}
    for limit in (120, 1_000, 4_096):
        found = parts(whole, limit)
        back = [row for part in found for row in json.loads(part)["episodes"]]
        assert back == rows
        assert all(len(part) <= limit for part in found if len(json.loads(part)["episodes"]) > 1)
        assert all(len(one) + len(two) > limit for one, two in pairwise(found))


@pytest.mark.parametrize("isolation", Isolation)
async def test_a_dry_run_tells_what_an_import_does(isolation: Isolation) -> None:
    bot, scopes = await lived_in(isolation)
    before = await exported(bot, *scopes)
    await wipe(bot, *scopes)
    rows = len(bot.api.rows["kb-1"])
    stored = dict(bot.api.values)
    dry = await take(bot, before, None, dry_run=True)
    assert (len(bot.api.rows["kb-1"]), bot.api.values) == (rows, stored)
    wet = await take(bot, before, None)
    assert (dry.accepted, dry.skipped, dry.profiles, dry.remaining) == (11, 0, 5, 0)
    assert (wet.accepted, wet.skipped, wet.profiles, wet.remaining) == (11, 0, 5, 0)
