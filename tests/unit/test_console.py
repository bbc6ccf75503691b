"""What the Memory Console's page is answered: spaces that exist, keys of a named one, every failure."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from longterm_memory.console import answer
from longterm_memory.console import spaces as console
from longterm_memory.models import Snapshot
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.service import MemoryService
from longterm_memory.words import LANGUAGES
from tests.support.memory import KB, Bot, new_bot
from tests.support.strict_host import StrictHost

BOT = "b-01"
"""The bot of the messages in these tests."""
GROUP = Scope(BOT, "group", "77001")
PRIVATE = Scope(BOT, "person", "9001")
LONG = Scope(BOT, "group", "长" * 120)
STRANGE = Scope("bot", "group", "a:b/c_%~ \ud83d")


@pytest.fixture
async def bot() -> Bot:
    return await new_bot()


async def ask(bot: Bot, endpoint: str, body: Any = None, method: str = "POST") -> dict[str, Any]:
    found = await answer(bot.service, endpoint, method, body)
    json.dumps(found)
    return found


async def spaces(bot: Bot, **request: Any) -> dict[str, dict[str, Any]]:
    found = await ask(bot, "/spaces", request)
    return {space["scope_key"]: space for space in found["spaces"]}


async def profile(bot: Bot, scope: Scope, sender: str = "", value: str = "tea") -> None:
    await bot.service.profiles.update(
        scope,
        Speaker(sender),
        field="preferences",
        action="add",
        values=value,
        target="speaker" if sender else "session",
    )


async def snapshot(bot: Bot, scope: Scope, at: str) -> None:
    await bot.service.snapshots.put(Snapshot(at=at, scope_key=scope.scope_key, user_key=scope.user_key))


# ---------------------------------------------------------------- spaces


async def test_nothing_stored_is_an_empty_list_with_the_knowledge_base(bot: Bot) -> None:
    assert await ask(bot, "/spaces", {}) == {
        "spaces": [],
        "total": 0,
        "page": 1,
        "pages": 1,
        "untold": 0,
        "knowledge_base": {"id": KB, "has_model": True},
    }


async def test_without_a_knowledge_base_profiles_are_still_listed() -> None:
    bot = Bot(StrictHost())
    await profile(bot, GROUP)
    found = await ask(bot, "/spaces", {"counts": True})
    assert found["knowledge_base"] is None
    assert [s["scope_key"] for s in found["spaces"]] == [GROUP.scope_key]
    assert found["spaces"][0]["episodes"] is None


async def test_a_space_shows_its_scope_and_what_it_holds(bot: Bot) -> None:
    await profile(bot, GROUP)
    await profile(bot, GROUP, "9001")
    await profile(bot, GROUP, "9002")
    await snapshot(bot, GROUP, "2026-05-10T12:00:00Z")
    await bot.remember("Mina moved to Oslo in March")
    await bot.remember("Tao adopted a cat called Pixel")
    found = await spaces(bot, counts=True)
    assert found[GROUP.scope_key] == {
        "space_id": GROUP.space_id,
        "bot_uuid": BOT,
        "session_name": "group_77001",
        "isolation": "session",
        "scope_key": GROUP.scope_key,
        "user_key": GROUP.user_key,
        "profiles": 3,
        "episodes": 2,
        "last_activity": "2026-05-10T12:00:00Z",
    }


async def test_memories_are_counted_only_when_asked_for(bot: Bot) -> None:
    await bot.remember("Mina moved to Oslo in March")
    await profile(bot, GROUP)
    bot.restart()
    with bot.api.calls.recording() as calls:
        assert (await spaces(bot))[GROUP.scope_key]["episodes"] is None
    assert not [call.name for call in calls.calls if call.name.startswith("vector_")]


async def test_last_activity_comes_from_the_profile_when_there_was_no_turn(bot: Bot) -> None:
    await profile(bot, GROUP)
    stored = await bot.service.profiles.session(GROUP)
    assert stored.updated_at
    assert (await spaces(bot))[GROUP.scope_key]["last_activity"] == stored.updated_at


async def test_the_last_active_space_comes_first_then_by_name(bot: Bot) -> None:
    other, silent, mute = (Scope(BOT, "group", i) for i in ("2", "3", "10"))
    await snapshot(bot, GROUP, "2026-05-01T00:00:00Z")
    await snapshot(bot, other, "2026-05-02T00:00:00Z")
    await profile(bot, silent, "9001")
    await profile(bot, mute, "9001")
    keys = [s["scope_key"] for s in (await ask(bot, "/spaces"))["spaces"]]
    assert keys == [s.scope_key for s in (other, GROUP, mute, silent)]


async def test_scopes_come_back_from_the_keys_whatever_is_in_them() -> None:
    for scope in (GROUP, PRIVATE, LONG, STRANGE, Scope("", "group", "1"), Scope("", "x.y", "_")):
        bot = await new_bot()
        await profile(bot, scope)
        await profile(bot, scope, "i" * 300)
        await snapshot(bot, scope, "2026-05-10T12:00:00Z")
        (found,) = (await ask(bot, "/spaces"))["spaces"]
        assert (found["bot_uuid"], found["session_name"]) == (scope.bot_uuid, scope.session_name)
        assert (found["space_id"], found["profiles"]) == (scope.space_id, 2)


async def test_one_speaker_or_one_snapshot_is_enough_for_a_space_with_a_long_key(bot: Bot) -> None:
    far = Scope(BOT, "group", "远" * 120)
    await profile(bot, LONG, "9001")
    await snapshot(bot, far, "2026-05-10T12:00:00Z")
    assert set(await spaces(bot)) == {LONG.scope_key, far.scope_key}


async def test_a_thousand_speakers_cost_no_reads(bot: Bot) -> None:
    await profile(bot, GROUP, "9001")
    template = next(v for k, v in bot.api.values.items() if k.startswith("ltm/profile/speaker/"))
    for i in range(1_000):
        bot.api.values[f"ltm/profile/speaker/{GROUP.scope_key}/{i}"] = template
    bot.restart()
    await bot.service.settings()
    reads = 0
    get = bot.api.get_plugin_storage

    async def counted(key: str) -> Any:
        nonlocal reads
        reads += 1
        return await get(key)

    bot.api.get_plugin_storage = counted  # type: ignore[method-assign]
    assert (await spaces(bot))[GROUP.scope_key]["profiles"] == 1_001
    assert reads <= 1


async def test_other_and_damaged_keys_are_left_out(bot: Bot) -> None:
    await profile(bot, GROUP)
    bot.api.values |= {
        "ltm/other/thing": b"{}",
        "ltm/snapshot/~0123": b"{broken",
        "ltm/profile/session/~4567": b"[]",
        "ltm/profile/session/no-type": b"{}",
        "ltm/profile/session/b:%ZZ_%FF": b"{}",
        "ltm/snapshot/": b"{}",
    }
    assert set(await spaces(bot)) == {GROUP.scope_key}


async def test_a_damaged_snapshot_or_profile_hides_only_its_time(bot: Bot) -> None:
    await snapshot(bot, GROUP, "2026-05-10T12:00:00Z")
    bot.api.values[f"ltm/snapshot/{GROUP.scope_key}"] = b"{broken"
    await profile(bot, PRIVATE)
    bot.api.values[f"ltm/profile/session/{PRIVATE.scope_key}"] = b"{broken"
    bot.restart()
    found = await spaces(bot)
    assert found[GROUP.scope_key]["last_activity"] == found[PRIVATE.scope_key]["last_activity"] == ""
    assert found[PRIVATE.scope_key]["profiles"] == 1


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("", {GROUP, PRIVATE, LONG}),
        ("77001", {GROUP}),
        (" PERSON_9 ", {PRIVATE}),
        ("长长", {LONG}),
        ("b-01:", {GROUP, PRIVATE, LONG}),
        ("nothing", set()),
    ],
)
async def test_search_looks_at_names_and_keys(bot: Bot, search: str, expected: set[Scope]) -> None:
    for scope in (GROUP, PRIVATE, LONG):
        await profile(bot, scope)
    assert set(await spaces(bot, search=search)) == {scope.scope_key for scope in expected}


async def test_spaces_are_paged_and_sorted(bot: Bot) -> None:
    for i in (3, 1, 4, 0, 2):
        await profile(bot, Scope(BOT, "group", str(i)), "9001")
    await snapshot(bot, Scope(BOT, "group", "4"), "2026-05-10T12:00:00Z")
    for sort, first in (("name", "group_0"), ("activity", "group_4")):
        pages = [await ask(bot, "/spaces", {"sort": sort, "size": 2, "page": n}) for n in (1, 2, 3, 9)]
        assert [(len(p["spaces"]), p["total"], p["page"], p["pages"]) for p in pages] == [
            (2, 5, 1, 3),
            (2, 5, 2, 3),
            (1, 5, 3, 3),
            (1, 5, 3, 3),
        ]
        names = [s["session_name"] for p in pages[:3] for s in p["spaces"]]
        assert (names[0], sorted(names)) == (first, [f"group_{i}" for i in range(5)])


async def test_only_the_spaces_of_the_page_are_counted_and_times_are_read_once(bot: Bot) -> None:
    for i in range(6):
        await bot.remember("Mina moved to Oslo in March", f"group_{i}", "9001")
        await snapshot(bot, Scope(BOT, "group", str(i)), f"2026-05-1{i}T12:00:00Z")
    bot.restart()
    with bot.api.calls.recording() as calls:
        found = await ask(bot, "/spaces", {"counts": True, "size": 2})
    assert [(s["session_name"], s["episodes"]) for s in found["spaces"]] == [("group_5", 1), ("group_4", 1)]
    listed = [c for c in calls.calls if c.name == "vector_list"]
    with bot.api.calls.recording() as calls:
        await ask(bot, "/spaces", {"counts": True, "size": 2})
    assert len(listed) <= 4
    assert not [c.name for c in calls.calls if c.name != "get_plugin_storage_keys"]


async def test_bot_isolation_shares_the_user_key_and_the_count() -> None:
    bot = await new_bot(creation={"isolation": "bot"})
    await bot.remember("Mina moved to Oslo in March")
    for launcher in ("77001", "77002"):
        await profile(bot, Scope(BOT, "group", launcher))
    found = (await ask(bot, "/spaces", {"counts": True}))["spaces"]
    assert [(s["user_key"], s["isolation"], s["episodes"]) for s in found] == [(f"bot:{BOT}", "bot", 1)] * 2
    assert len({s["space_id"] for s in found}) == 2


async def test_what_cannot_be_counted_is_not_called_zero(bot: Bot) -> None:
    await bot.remember("Mina moved to Oslo in March")
    await profile(bot, GROUP)
    bot.restart()
    bot.api.faults.fail = {"vector_list"}
    (space,) = (await ask(bot, "/spaces", {"counts": True}))["spaces"]
    assert space["episodes"] is None


async def test_counting_stops_when_its_time_is_up(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    await bot.remember("Mina moved to Oslo in March")
    await profile(bot, GROUP)
    bot.restart()
    monkeypatch.setattr(console, "_COUNT_SECONDS", 0.05)
    bot.api.faults.hang = {"vector_list"}
    (space,) = (await ask(bot, "/spaces", {"counts": True}))["spaces"]
    assert space["episodes"] is None


async def test_reading_times_stops_when_its_time_is_up(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    await snapshot(bot, GROUP, "2026-05-10T12:00:00Z")
    bot.restart()
    await bot.service.settings()
    monkeypatch.setattr(console, "_READ_SECONDS", 0.05)
    bot.api.faults.hang = {"get_plugin_storage"}
    assert (await spaces(bot))[GROUP.scope_key]["last_activity"] == ""


# ---------------------------------------------------------------- derive


async def test_derive_gives_the_keys_of_a_space(bot: Bot) -> None:
    given = {"bot_uuid": BOT, "session_name": "group_77001", "isolation": "bot"}
    found = await ask(bot, "/derive", given)
    wanted = Scope(BOT, "group", "77001", Isolation.BOT)
    assert found["known"] is False
    assert found["space"]["scope_key"] == wanted.scope_key == "b-01:group_77001"
    assert found["space"]["user_key"] == wanted.user_key == "bot:b-01"
    assert found["space"]["space_id"] == wanted.space_id


async def test_derive_uses_the_configured_isolation_when_none_is_given() -> None:
    for isolation in ("session", "bot"):
        bot = await new_bot(config={"isolation": isolation})
        for given in ({}, {"isolation": None}):
            found = await ask(bot, "/derive", {"bot_uuid": BOT, "session_name": "group_1", **given})
            assert found["space"]["isolation"] == isolation


async def test_bot_isolation_without_a_bot_is_the_conversation(bot: Bot) -> None:
    found = await ask(bot, "/derive", {"session_name": "group_1", "isolation": "bot"})
    assert found["space"]["user_key"] == found["space"]["scope_key"] == "group_1"


async def test_derive_knows_a_space_that_holds_something(bot: Bot) -> None:
    await bot.remember("Mina moved to Oslo in March")
    found = await ask(bot, "/derive", {"bot_uuid": BOT, "session_name": "group_77001"})
    assert found["known"] is True
    assert found["space"]["episodes"] == 1
    await profile(bot, PRIVATE)
    found = await ask(bot, "/derive", {"bot_uuid": BOT, "session_name": "person_9001"})
    assert found["known"] is True
    assert found["space"]["profiles"] == 1


async def test_derive_works_without_a_knowledge_base() -> None:
    found = await ask(Bot(StrictHost()), "/derive", {"session_name": "group_1"})
    assert found["space"]["scope_key"] == "group_1"
    assert found["space"]["episodes"] is None


async def test_a_session_name_that_is_none_is_refused(bot: Bot) -> None:
    for name in ("", "group", "group_", "_1", " ", "group_ "):
        found = await ask(bot, "/derive", {"session_name": name})
        assert found["error"]["code"] == "scope_unknown"
        assert "group_123" in found["error"]["text"]


# ---------------------------------------------------------------- failures are answers


@pytest.mark.parametrize(
    ("endpoint", "method", "body", "code"),
    [
        ("/nowhere", "POST", {}, "unknown_endpoint"),
        ("", "POST", None, "unknown_endpoint"),
        ("/spaces", "DELETE", {}, "unknown_endpoint"),
        ("/spaces", "POST", [], "bad_request"),
        ("/spaces", "POST", "text", "bad_request"),
        ("/spaces", "POST", {"size": 0}, "bad_request"),
        ("/spaces", "POST", {"page": "many"}, "bad_request"),
        ("/spaces", "POST", {"search": None}, "bad_request"),
        ("/derive", "POST", {"session_name": 5}, "bad_request"),
        ("/derive", "POST", {"session_name": "group_1", "isolation": "world"}, "bad_request"),
        ("/derive", "POST", {"session_name": "group_1", "language": 7}, "bad_request"),
    ],
)
async def test_a_request_that_does_not_fit_is_told_so(
    bot: Bot, endpoint: str, method: str, body: Any, code: str
) -> None:
    found = await ask(bot, endpoint, body, method)
    assert list(found) == ["error"]
    assert found["error"]["code"] == code
    assert found["error"]["text"]


async def test_unknown_fields_are_ignored(bot: Bot) -> None:
    found = await ask(bot, "/derive", {"session_name": "group_1", "user_key": "bot:b-01"})
    assert found["space"]["user_key"] == "group_1"


async def test_storage_that_does_not_answer_is_said(bot: Bot) -> None:
    bot.api.faults.storage_down = True
    assert (await ask(bot, "/spaces"))["error"]["code"] == "storage_down"
    bot.restart()
    assert (await ask(bot, "/spaces"))["error"]["code"] == "storage_down"


async def test_a_space_is_never_left_out_because_storage_failed() -> None:
    for what in ("profile", "snapshot"):
        bot = await new_bot()
        if what == "profile":
            await profile(bot, LONG)
        else:
            await snapshot(bot, LONG, "2026-05-10T12:00:00Z")
        bot.restart()
        await bot.service.settings()
        bot.api.faults.fail = {"get_plugin_storage"}
        assert (await ask(bot, "/spaces"))["error"]["code"] == "storage_down"


async def test_anything_unexpected_is_logged_and_answered(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object) -> Any:
        raise RuntimeError("with a private detail")

    monkeypatch.setattr(console, "_last_activities", broken)
    with caplog.at_level(logging.ERROR):
        found = await ask(bot, "/spaces")
    assert found["error"]["code"] == "internal"
    assert "private" not in found["error"]["text"]
    assert "with a private detail" in caplog.text


@pytest.mark.parametrize(
    ("config", "body", "words"),
    [
        ({}, {}, "There is no"),
        ({}, {"language": "zh_Hans"}, "这里没有"),
        ({"language": "zh_Hans"}, {}, "这里没有"),
        ({"language": "zh_Hans"}, None, "这里没有"),
        ({"language": "zh_Hans"}, {"language": "en_US"}, "There is no"),
        ({"language": "zh_Hans"}, {"language": "xx_XX"}, "There is no"),
        ({}, {"language": "zh"}, "这里没有"),
        ({}, {"language": "zh-SG"}, "这里没有"),
        ({}, {"language": " "}, "There is no"),
    ],
)
async def test_errors_speak_the_language_of_the_page(config: dict[str, Any], body: Any, words: str) -> None:
    bot = await new_bot(config=config)
    assert words in (await ask(bot, "/nowhere", body))["error"]["text"]


async def test_every_language_of_the_page_is_answered_in_it() -> None:
    """Also another way to write it, or spoken somewhere else."""
    bot = await new_bot()
    told = {one: (await ask(bot, "/nowhere", {"language": one}))["error"]["text"] for one in LANGUAGES}
    assert len(set(told.values())) == len(LANGUAGES)
    for tag, nearest in (("zh-Hant", "zh_Hant"), ("zh-TW", "zh_Hant"), ("es-MX", "es_ES"), ("JA", "ja_JP")):
        assert (await ask(bot, "/nowhere", {"language": tag}))["error"]["text"] == told[nearest]


async def test_the_page_component_only_passes_on(bot: Bot) -> None:
    from langbot_plugin.api.definition.components.page import PageRequest

    from components.pages.memory_console.memory_console import MemoryConsole

    class Plugin:
        def memory(self) -> MemoryService:
            return bot.service

    page = MemoryConsole()
    page.plugin = Plugin()  # type: ignore[assignment]
    good = await page.handle_api(
        PageRequest(endpoint="/derive", method="POST", body={"session_name": "group_1"})
    )
    assert (good.error, good.data["space"]["scope_key"]) == (None, "group_1")
    bad = await page.handle_api(PageRequest(endpoint="/nowhere", method="POST"))
    assert (bad.error, bad.data["error"]["code"]) == (None, "unknown_endpoint")
