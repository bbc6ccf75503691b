"""Faults found by attacking the whole: each stays found."""

from __future__ import annotations

import json

import pytest

from longterm_memory.console import answer
from longterm_memory.retrieval import retrieve
from longterm_memory.transfer.uploads import delete_upload, upload
from tests.support.memory import Bot, new_bot

GROUP, PRIVATE = "group_77001", "person_9001"
SECRET = "sk-test-FAKE0123456789abcdef"


@pytest.fixture
async def bot() -> Bot:
    return await new_bot()


async def snapshot_text(bot: Bot) -> str:
    snapshot = await bot.service.snapshots.get("b-01:group_77001")
    return "" if snapshot is None else snapshot.model_dump_json()


async def test_a_forget_that_cannot_clear_the_snapshot_deletes_nothing_and_can_be_repeated(bot: Bot) -> None:
    episode_id = await bot.remember("Mina plans a party at the Blue Lagoon")
    await bot.hear("where is the party?")
    assert "Lagoon" in await snapshot_text(bot)
    bot.api.faults.fail = {"set_plugin_storage"}
    assert "Deleted" not in await bot.tool("forget", {"episode_id": episode_id})
    bot.api.faults.clear()
    assert "Deleted" in await bot.tool("forget", {"episode_id": episode_id})
    assert "Lagoon" not in await snapshot_text(bot)


async def test_a_forget_of_what_is_gone_still_clears_the_snapshot(bot: Bot) -> None:
    episode_id = await bot.remember("Mina plans a party at the Blue Lagoon")
    await bot.hear("where is the party?")
    collection = await bot.service.collection()
    await collection.records.delete("b-01:group_77001", [episode_id])
    assert (await bot.tool("forget", {"episode_id": episode_id})).startswith("Not found")
    assert "Lagoon" not in await snapshot_text(bot)


async def test_rows_without_metadata_are_a_failure_and_not_an_empty_memory() -> None:
    for fault in ("drop_metadata", "null_metadata"):
        bot = await new_bot()
        episode_id = await bot.remember("Mina's flight to Osaka leaves on Tuesday")
        bot.restart()
        setattr(bot.api.faults, fault, True)
        for reply in (await bot.command("memory list"), await bot.tool("forget", {"episode_id": episode_id})):
            assert "belong elsewhere" in reply, reply
        bot.api.faults.clear()
        assert "Osaka" in await bot.command("memory list")


async def test_secrets_do_not_hide_in_tags(bot: Bot) -> None:
    for tags in ([SECRET], ["password: hunter2x"], ["fine", SECRET]):
        assert "secret" in await bot.tool("remember", {"content": "Deploy notes", "tags": tags})
        assert not bot.api.rows.get("kb-1") or SECRET not in str(bot.api.rows["kb-1"])


async def test_secrets_do_not_come_in_beside_the_content_of_a_row(bot: Bot) -> None:
    for field in ("sender_name", "source", "id"):
        row = {"user_key": "b-01:group_77001", "content": "Row", field: SECRET}
        report = await upload(bot.service, json.dumps([row]).encode(), "d")
        assert report.accepted == 0
        assert [r.reason.reason for r in report.rejected] == ["content_secret"]


async def test_what_waits_for_a_runner_does_not_outlive_the_isolation() -> None:
    bot = await new_bot(config={"episode_placement": "retrieval", "isolation": "bot"})
    await bot.remember("Mina keeps bees behind the house", PRIVATE)
    await bot.hear("what does Mina keep behind the house?", GROUP, "9002")
    bot.config["isolation"] = "session"
    asked = {"session_name": GROUP, "bot_uuid": "b-01", "sender_id": "9002"}
    found = await retrieve(bot.service, "what does Mina keep behind the house?", asked)
    assert "bees" not in "".join(entry.text for entry in found.entries)


async def test_a_search_under_shared_isolation_fills_its_page_with_what_may_be_shown() -> None:
    bot = await new_bot(config={"isolation": "bot"})
    for n in range(14):
        await bot.remember(f"Mina's dentist appointment number {n} is with Dr. Smith{n}", PRIVATE)
    await bot.remember("Tao mentioned the dentist briefly", GROUP)
    reply = await bot.command("memory search dentist appointment", GROUP, "9002")
    assert "Tao mentioned the dentist briefly" in reply
    assert "Smith" not in reply


async def test_a_name_of_a_million_characters_is_cut(bot: Bot) -> None:
    turn = bot.turn("hello there, what is new?")
    turn.values["sender_name"] = "N" * 1_000_000
    injection = await bot.service.injector.prepare(turn)
    assert injection.snapshot is not None
    assert len(injection.snapshot.model_dump_json()) < 10_000
    assert len(json.dumps(turn.values["_ltm_context"])) < 10_000


async def test_one_absurd_row_does_not_stop_the_others() -> None:
    for scope in (
        {"session_name": "group_" + "界" * 30_000}, {"session_name": "group_1", "bot_uuid": {"a": 1}},
    ):  # fmt: skip
        bot = await new_bot()
        rows = [{"user_key": "b-01:group_77001", "content": "first"}, {**scope, "content": "odd"}]
        rows.append({"user_key": "b-01:group_77002", "content": "last"})
        report = await upload(bot.service, json.dumps(rows).encode(), "d")
        assert (report.accepted, [r.line for r in report.rejected], report.error) == (2, [2], None)


async def test_a_document_taken_in_twice_under_two_isolations_goes_whole(bot: Bot) -> None:
    rows = json.dumps([{"bot_uuid": "b-01", "session_name": "group_1", "content": "Row on bananas"}]).encode()
    await upload(bot.service, rows, "d")
    bot.config["isolation"] = "bot"
    await upload(bot.service, rows, "d")
    assert await delete_upload(bot.service, "d")
    bot.config["isolation"] = "session"
    assert "bananas" not in await bot.command("memory list", "group_1")


async def test_any_language_is_answered(bot: Bot) -> None:
    for language in ("x" * 300, "../words/zh_Hans", "/", "", "__pycache__"):
        found = await answer(bot.service, "/nope", "POST", {"language": language})
        assert found["error"]["text"]


async def test_parameter_names_of_the_models_own_making_are_not_logged(
    bot: Bot, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"):
        await bot.tool("remember", {"content": "x y", "password: hunter2x": 1, "K" * 1_000: 1})
    assert "hunter2x" not in caplog.text
    assert "params_keys=content+2" in caplog.text


async def test_two_keys_of_one_value_keep_their_own_history(bot: Bot) -> None:
    for key, value in (("mood", "tense"), ("mood", "calm"), ("voice", "calm")):
        await bot.tool(
            "update_profile", {"field": "traits", "action": "set", "fact_key": key, "value": value}
        )
    reply = await bot.command("memory profile")
    assert "mood" in reply
    assert "voice" in reply
    assert "tense" in reply
