"""Files of episodes in the knowledge-base UI."""

from __future__ import annotations

import codecs
import json
from typing import Any

import pytest

from longterm_memory.models import Filters, Status
from longterm_memory.scope import Scope
from longterm_memory.transfer.uploads import UploadReport, delete_upload, upload
from tests.support.memory import Bot, new_bot

KEY = "b-01:group_77001"


def row(content: object, **more: Any) -> dict[str, Any]:
    return {"user_key": KEY, "content": content, **more}


async def take(bot: Bot, rows: object, document: str = "d1", encoding: str = "utf-8") -> UploadReport:
    return await upload(bot.service, json.dumps(rows, ensure_ascii=False).encode(encoding), document)


async def stored(bot: Bot, key: str = KEY) -> list[str]:
    episodes = bot.service.episodes(await bot.service.collection())
    found = await episodes.select(key, Filters(statuses=frozenset(Status) - {Status.DELETED}))
    return sorted(e.content for e in found)


@pytest.fixture
async def bot() -> Bot:
    return await new_bot()


async def test_a_list_is_taken_in_and_a_second_time_adds_nothing(bot: Bot) -> None:
    rows = [
        row(f"memory {n}", tags=["a,b", "旅行"], importance=4, sender_id=9001, sender_name="Mina")
        for n in range(5)
    ]
    report = await take(bot, rows)
    assert (report.accepted, report.skipped, report.rejected, report.error) == (5, 0, (), None)
    again = await take(bot, rows, "d2")
    assert (again.accepted, again.skipped) == (0, 5)
    assert again.ok
    assert len(await stored(bot)) == 5
    assert "memory 3" in await bot.prompt("memory 3")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("shape", ["list", "object", "episodes", "lines"])
async def test_shapes_and_encodings(bot: Bot, encoding: str, shape: str) -> None:
    one = row("阿明喜欢香菜")
    text = {
        "list": json.dumps([one]),
        "object": json.dumps(one),
        "episodes": json.dumps({"episodes": [one]}, indent=1),
        "lines": json.dumps(one) + "\n\n" + json.dumps(row("second")) + "\n",
    }[shape]
    report = await upload(bot.service, text.encode(encoding), "d1")
    assert report.ok
    assert "阿明喜欢香菜" in await stored(bot)


@pytest.mark.parametrize(
    "data", [b"", b"x", b'"x"', b"[]", b"{}", b"[1, 2", b"\xff\xfe\x00", codecs.BOM_UTF8, b"[[]]"]
)
async def test_rubbish_is_refused_in_words(bot: Bot, data: bytes) -> None:
    report = await upload(bot.service, data, "d1")
    assert not report.ok
    assert report.error is not None
    assert await stored(bot) == []


async def test_every_row_is_judged_by_itself(bot: Bot) -> None:
    rows = [
        1,
        "a",
        None,
        {"content": 5},
        row(5),
        row(" "),
        row("x" * 8_001),
        row("fine"),
        {"content": "no scope"},
        {"content": "by session", "session_name": "group_77001", "bot_uuid": "b-01"},
        {"content": "typeless", "session_name": "77001"},
        row("bad time", timestamp="yesterdayish"),
        row("密码是 hunter2-very-secret"),
        row("bad key", user_key="b-01:group_a%2"),
        row("with time", timestamp="2026-05-01T10:00:00+08:00"),
    ]
    report = await take(bot, rows)
    assert await stored(bot) == ["by session", "fine", "with time"]
    assert [r.line for r in report.rejected] == [1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 14]
    assert report.ok


async def test_a_document_takes_out_exactly_what_it_brought(bot: Bot) -> None:
    await take(bot, [row("first"), row("both")], "d1")
    await take(bot, [row("both"), row("second"), row("there", user_key="b-01:group_77002")], "d2")
    await bot.remember("said by a person")
    assert await delete_upload(bot.service, "d2")
    assert await stored(bot) == ["both", "first", "said by a person"]
    assert await stored(bot, "b-01:group_77002") == []
    assert await delete_upload(bot.service, "d2")
    assert await delete_upload(bot.service, "never heard of")


async def test_an_upload_that_dies_half_way_can_be_repeated_and_taken_out(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longterm_memory.importer.WRITE_ROWS", 200)
    rows = [row(f"memory {n} about topic {n}") for n in range(450)]
    bot.api.faults.fail.add("vector_upsert")
    bot.api.faults.let_pass["vector_upsert"] = 2
    report = await take(bot, rows)
    assert report.error is not None
    assert 0 < len(await stored(bot)) < 450
    bot.api.faults.clear()
    assert (await take(bot, rows)).ok
    assert len(await stored(bot)) == 450
    assert await delete_upload(bot.service, "d1")
    assert await stored(bot) == []


@pytest.mark.parametrize(
    "key", ["b-01:group_77001", "group_77001", "bot:b-01", "b-01:group_%E7%BE%A41", "%62ot:person_1"]
)
async def test_keys_as_the_overview_shows_them_are_understood(bot: Bot, key: str) -> None:
    assert Scope.of_user_key(key).user_key == key
    assert (await take(bot, [{"user_key": key, "content": "hello world"}])).ok
    assert await stored(bot, key) == ["hello world"]


async def test_a_shared_key_keeps_where_it_was_said() -> None:
    bot = await new_bot(creation={"isolation": "bot"})
    await take(bot, [{"user_key": "bot:b-01", "session_name": "group_5", "content": "said in five"}])
    episodes = bot.service.episodes(await bot.service.collection())
    (episode,) = await episodes.select("bot:b-01", Filters())
    assert episode.session_name == "group_5"


# ------------------------------------------------------------ profiles, audit, people who opted out


def profile(notes: str, key: str = KEY) -> dict[str, Any]:
    return {"type": "session", "scope_key": key, "profile": {"notes": notes}}


async def notes(bot: Bot, key: str = KEY) -> str:
    return (await bot.service.profiles.session(Scope.of_user_key(key))).notes


async def test_a_profile_that_an_upload_made_goes_with_it_unless_somebody_changed_it(bot: Bot) -> None:
    other, third = "b-01:group_77002", "b-01:group_77003"
    await bot.tool("update_profile", {"field": "name", "action": "set", "value": "G", "scope": "session"})
    rows = {
        "profiles": [profile("added"), profile("made", other), profile("made", third)],
        "episodes": [row("x")],
    }
    report = await take(bot, rows)
    assert (report.accepted, report.profiles) == (1, 3)
    again = await take(bot, rows, "d2")
    assert (again.accepted, again.profiles, again.ok) == (0, 0, True)
    await bot.tool("update_profile", {"field": "notes", "action": "add", "value": "more"}, "group_77003")
    assert await delete_upload(bot.service, "d2")  # brought nothing
    assert (await notes(bot), await notes(bot, other)) == ("added", "made")
    assert await delete_upload(bot.service, "d1")
    assert (await notes(bot), await notes(bot, other), await notes(bot, third)) == ("added", "", "made\nmore")
    assert await stored(bot) == []


async def test_what_an_upload_did_stands_in_the_audit_of_each_place(bot: Bot) -> None:
    elsewhere = Scope.of_user_key("b-01:group_77002")
    await take(bot, [row("first"), row("second"), row("there", user_key=elsewhere.user_key), 5])
    await take(bot, [row("first")], "d2")  # nothing new, nothing to tell
    await delete_upload(bot.service, "d1")
    entries = {s: await bot.service.audit.entries(s) for s in (KEY, elsewhere.scope_key)}
    assert [(e.operation, e.via, e.target_type, e.target_id, e.summary) for e in reversed(entries[KEY])] == [
        ("import", "upload", "document", "d1", {"accepted": 2, "profiles": 0}),
        ("delete", "upload", "document", "d1", {"count": 2}),
    ]
    assert [e.summary for e in entries[elsewhere.scope_key]] == [{"count": 1}, {"accepted": 1, "profiles": 0}]


async def test_an_upload_stores_nothing_for_people_who_opted_out(bot: Bot) -> None:
    await bot.command("memory off", "group_77001", "9002")
    report = await take(bot, [row("Tao's", sender_id="9002"), row("Mina's", sender_id="9001")])
    assert [r.reason.reason for r in report.rejected] == ["row_speaker_off"]
    assert await stored(bot) == ["Mina's"]
