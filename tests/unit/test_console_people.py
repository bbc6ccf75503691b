"""What the page is answered about people and the bot itself: profiles, the last injection, diagnostics, every limit."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from longterm_memory.console import routing
from longterm_memory.console.routing import ROUTES
from longterm_memory.models import Score, Snapshot, SnapshotEpisode
from longterm_memory.recall.explained import parts_of
from longterm_memory.scope import Scope, Speaker
from longterm_memory.settings import Settings
from longterm_memory.words import load
from tests.support.console import ask, refused, space
from tests.support.memory import Bot, new_bot
from tests.support.strict_host import StrictHost

HERS, HIS = ("group_77001", "9001"), ("group_77001", "9002")
HERE = Scope.of_session("group_77001", bot_uuid="b-01")


async def say(bot: Bot, who: tuple[str, str], field: str, value: str, **more: str) -> None:
    change = {"field": field, "action": "set" if more else "add", "value": value, **more}
    await bot.tool("update_profile", change, *who)


async def known() -> Bot:
    bot = await new_bot()
    await say(bot, HERS, "preferences", "tea", fact_key="drink")
    await say(bot, HERS, "preferences", "coffee", fact_key="drink")
    await say(bot, HERS, "traits", "vegetarian")
    await say(bot, HERS, "traits", "early riser")
    await say(bot, HIS, "traits", "shy")
    await say(bot, HERS, "notes", "The group plans the offsite")
    return bot


async def profile(bot: Bot, sender_id: str) -> dict[str, Any]:
    found = await ask(bot, "/profiles", space_id=await space(bot), sender_id=sender_id)
    return dict(found["speakers"][0])


# ---------------------------------------------------------------- profiles


async def test_profiles_show_every_field_and_what_was_there_before() -> None:
    bot = await known()
    found = await ask(bot, "/profiles", space_id=await space(bot))
    assert [s["sender_id"] for s in found["speakers"]] == ["9001", "9002"]
    assert found["session"]["notes"] == "The group plans the offsite"
    mina = found["speakers"][0]
    assert (mina["sender_name"], mina["name"], mina["notes"], mina["stored"]) == ("Mina", "", "", True)
    assert [(t["value"], t["fact_key"]) for t in mina["traits"]] == [("vegetarian", ""), ("early riser", "")]
    (drink,) = mina["preferences"]
    assert (drink["value"], drink["fact_key"], bool(drink["updated_at"])) == ("coffee", "drink", True)
    assert [(h["value"], h["reason"]) for h in drink["history"]] == [("tea", "replaced")]
    assert (found["limits"]["traits"], found["limits"]["notes_chars"]) == (20, 2_000)
    empty = await ask(bot, "/profiles", space_id=await space(bot, "group_5"), sender_id="77")
    assert (empty["session"]["stored"], empty["speakers"][0]["stored"]) == (False, False)


async def test_profiles_are_paged_and_only_those_of_the_page_are_read() -> None:
    bot = await new_bot()
    for i in range(1_000):
        key = bot.service.profiles.key(HERE, Speaker(f"p{i:04d}"))
        stored = {
            "schema_version": 1,
            "target": "speaker",
            "bot_uuid": "b-01",
            "launcher_type": "group",
            "launcher_id": "77001",
            "sender_id": f"p{i:04d}",
            "sender_name": "Zoé" if i == 700 else "",
            "profile": {"traits": ["tall"]},
        }
        bot.api.values[key] = json.dumps(stored).encode()
    here = await space(bot)
    with bot.api.calls.recording() as calls:
        found = await ask(bot, "/profiles", space_id=here, page=3, size=20)
    assert sum(call.name == "get_plugin_storage" for call in calls.calls) <= 25
    assert (found["total"], found["pages"]) == (1_000, 50)
    assert [s["sender_id"] for s in found["speakers"]] == [f"p{i:04d}" for i in range(40, 60)]
    assert (await ask(bot, "/profiles", space_id=here, page=999, size=20))["page"] == 50
    searched = await ask(bot, "/profiles", space_id=here, search="ZOÉ")
    assert ([s["sender_id"] for s in searched["speakers"]], searched["total"]) == (["p0700"], 1)


async def test_an_operator_changes_anybodys_profile_as_the_tool_would_and_it_is_logged_without_text() -> None:
    bot = await known()
    here = await space(bot)
    mina: dict[str, Any] = {"space_id": here, "sender_id": "9001"}
    steps: tuple[tuple[dict[str, Any], str, str, Any], ...] = (
        ({"field": "name", "action": "set", "value": "Minna"}, "set", "name", "Minna"),
        ({"field": "traits", "action": "add", "value": "left-handed"}, "added", "traits", 3),
        (
            {"field": "traits", "action": "set", "value": "vegan", "previous_value": "vegetarian"},
            "added",
            "traits",
            3,
        ),
        ({"field": "traits", "action": "remove", "value": "early riser"}, "removed", "traits", 2),
        ({"field": "traits", "action": "remove", "value": "absent"}, "no_match", "traits", 2),
        (
            {"field": "preferences", "action": "set", "value": "cocoa", "fact_key": "drink"},
            "replaced",
            "preferences",
            1,
        ),
        ({"field": "preferences", "action": "clear"}, "removed", "preferences", 0),
        ({"field": "preferences", "action": "clear"}, "unchanged", "preferences", 0),
        ({"field": "name", "action": "clear"}, "removed", "name", ""),
        ({"field": "notes", "action": "set", "value": "one\ntwo"}, "set", "notes", "one\ntwo"),
        ({"field": "notes", "action": "clear"}, "removed", "notes", ""),
    )
    for body, outcome, field, expected in steps:
        found = await ask(bot, "/profile_change", **mina, **body)
        value = found["profile"][field]
        shown = value if isinstance(value, str) else len(value)
        assert (found["outcome"], shown) == (outcome, expected), body
        assert found["written"] is (outcome not in ("no_match", "unchanged")), body
        assert found["text"]
    bot.service.profiles.forget_cache()
    assert [t["value"] for t in (await profile(bot, "9001"))["traits"]] == ["vegan", "left-handed"]
    assert (await profile(bot, "9002"))["traits"][0]["value"] == "shy"
    session = await ask(bot, "/profile_change", space_id=here, field="notes", action="clear")
    assert (session["profile"]["sender_id"], session["profile"]["notes"]) == ("", "")
    log = (await ask(bot, "/audit", space_id=here, operation="update_profile"))["entries"]
    ours = [e for e in log if e["via"] == "console"]
    assert len(ours) == 10
    assert {(e["target_type"], e["target_id"]) for e in ours} == {
        ("profile", "9001"),
        ("session_profile", HERE.scope_key),
    }
    assert {e["sender_id"] for e in ours} == {""}
    assert "vegan" not in json.dumps(ours)


async def test_what_a_profile_cannot_take_is_said_and_nothing_changes() -> None:
    bot = await known()
    mina: dict[str, Any] = {"space_id": await space(bot), "sender_id": "9001"}
    before = await profile(bot, "9001")
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"field": "name", "action": "add", "value": "x"}, "expected_choice"),
        ({"field": "traits", "action": "add"}, "expected_value"),
        ({"field": "traits", "action": "add", "value": "x" * 301}, "value_too_long"),
        ({"field": "notes", "action": "set", "value": "x", "fact_key": "k"}, "fact_key_field"),
        ({"field": "traits", "action": "add", "value": "wifi password: hunter2Xy9"}, "content_secret"),
        ({"field": "mood", "action": "set", "value": "x"}, "bad_request"),
        ({"field": "traits", "action": "drop", "value": "x"}, "bad_request"),
        ({"field": "traits", "action": "add", "value": ["x"]}, "bad_request"),
        ({"field": "traits", "action": "add", "value": "x", "sender_id": " "}, "speaker_unknown"),
        ({"field": "traits", "action": "add", "value": "x", "sender_id": 5}, "bad_request"),
    )
    for body, code in cases:
        assert (await refused(bot, "/profile_change", **mina | body))[0] == code, body
    await bot.command("memory off", *HIS)
    off = {**mina, "sender_id": "9002", "field": "traits", "action": "add", "value": "x"}
    assert (await refused(bot, "/profile_change", **off))[0] == "other_off"
    assert (await profile(bot, "9002"))["off"] is True
    assert await profile(bot, "9001") == before


async def test_a_damaged_profile_is_named_and_hides_no_other() -> None:
    bot = await known()
    here = await space(bot)
    for speaker in (Speaker("9002"), None):
        bot.api.values[bot.service.profiles.key(HERE, speaker)] = b"{}"
    bot.service.profiles.forget_cache()
    found = await ask(bot, "/profiles", space_id=here)
    assert (found["session"], [s["sender_id"] for s in found["speakers"]]) == (None, ["9001"])
    assert len(found["problems"]) == 2
    for sender in ("9002", ""):
        for action in ("set", "clear"):
            body = {"space_id": here, "sender_id": sender, "field": "notes", "action": action, "value": "x"}
            assert (await refused(bot, "/profile_change", **body))[0] == "profile_unreadable"
    assert bot.api.values[bot.service.profiles.key(HERE)] == b"{}"


async def test_profiles_of_another_space_are_out_of_reach() -> None:
    bot = await known()
    there = await space(bot, "group_77002")
    found = await ask(bot, "/profiles", space_id=there, sender_id="9001", scope_key=HERE.scope_key)
    assert (found["speakers"][0]["traits"], found["session"]["notes"]) == ([], "")
    await ask(bot, "/profile_change", space_id=there, sender_id="9001", field="traits", action="clear")
    await ask(bot, "/profile_change", space_id=there, field="notes", action="set", value="theirs")
    assert len((await profile(bot, "9001"))["traits"]) == 2
    assert (await bot.service.profiles.session(HERE)).notes == "The group plans the offsite"


# ---------------------------------------------------------------- the last injection


async def test_the_last_injection_is_shown_as_the_model_saw_it_and_why() -> None:
    bot = await known()
    here = await space(bot)
    assert await ask(bot, "/injection", space_id=here) == {"snapshot": None}
    await bot.remember("Mina's dentist appointment is on Friday", *HERS)
    await bot.remember("Tao is allergic to cats", *HIS)
    injected = await bot.hear("When is my dentist appointment?", *HERS)
    found = (await ask(bot, "/injection", space_id=here))["snapshot"]
    assert [b["text"] for b in found["blocks"]] == list(injected.blocks)
    assert [b["name"] for b in found["blocks"]] == ["profile", "episodes"]
    assert found["characters"] == sum(map(len, injected.blocks))
    assert (found["sender_id"], found["profiles"], found["recall"]) == ("9001", ["session", "speaker"], "ok")
    (episode,) = found["episodes"]
    assert episode["content"] == "Mina's dentist appointment is on Friday"
    assert sum(p["value"] for p in episode["parts"]) == pytest.approx(episode["score"], abs=0.01)
    assert 0.5 <= episode["relevance"] <= 1
    assert [s["reason"] for s in found["skipped"]] == ["below_floor"]
    steps = ["total", "message", "profiles", "embedding", "search", "ranking"]
    assert list(found["milliseconds"]) == steps
    assert isinstance(found["milliseconds"]["total"], int)
    assert (await ask(bot, "/injection", space_id=await space(bot, "group_77002")))["snapshot"] is None


async def test_what_was_left_out_of_the_last_injection_has_a_sentence_each() -> None:
    bot = await known()
    here = await space(bot)
    await bot.hear("hello!", *HERS)
    found = (await ask(bot, "/injection", space_id=here, language="zh_Hans"))["snapshot"]
    assert [s["reason"] for s in found["skipped"]] == ["skipped:greeting"]
    assert "问候" in found["skipped"][0]["text"]
    bot.api.faults.fail = {"invoke_embedding"}
    await bot.hear("What about the cats?", *HERS)
    found = (await ask(bot, "/injection", space_id=here))["snapshot"]
    assert found["recall"].startswith("failed:")
    assert "embedding service" in found["recall_text"]
    for state, notes in (
        ("off", ()),
        ("failed:deadline", ()),
        ("failed:model_changed", ()),
        ("mystery", ("strange:thing",)),
        ("ok", ("profile:profile_unreadable", "speaker_off", "rerank:rerank_down", "knowledge_bases_hidden")),
    ):
        kept = Snapshot(at="2026-05-10T12:00:00Z", scope_key=HERE.scope_key, recall=state, notes=notes)
        await bot.service.snapshots.put(kept)
        found = (await ask(bot, "/injection", space_id=here))["snapshot"]
        assert found["recall_text"]
        assert all(s["text"] for s in found["skipped"])
        assert len(found["skipped"]) == len(notes) + (state != "ok")


async def test_the_longest_injection_fits() -> None:
    bot = await new_bot()
    shown = tuple(SnapshotEpisode(id=f"m000000{n}", content="长" * 8_000, score=1.0) for n in range(10))
    kept = Snapshot(scope_key=HERE.scope_key, blocks=("话" * 20_000, "话" * 40_000), episodes=shown)
    await bot.service.snapshots.put(kept)
    found = (await ask(bot, "/injection", space_id=await space(bot)))["snapshot"]
    assert [len(b["text"]) for b in found["blocks"]] == [20_000, 40_000]
    assert (len(found["episodes"]), found["episodes"][0]["cut"]) == (10, True)
    assert found["episodes"][0]["relevance"] is None


# ---------------------------------------------------------------- diagnostics


async def test_diagnostics_tell_what_the_plugin_runs_on() -> None:
    bot = await new_bot(config={"auto_recall_top_k": "5", "relevance_floor": "high"})
    await bot.remember("Mina's dentist is on Friday", *HERS)
    await bot.remember("The garden needs water", "group_77002", "9001")
    await say(bot, HERS, "traits", "vegetarian")
    bot.restart()
    found = await ask(bot, "/diagnostics")
    assert found["version"].count(".") == 2
    assert (found["knowledge_base"], found["embedding_model"]["dimension"]) == (bot.kb, 384)
    assert found["metric"] in ("cosine", "l2", "similarity")
    assert found["backend"]["behaviour"]
    assert found["counts"] == {"spaces": 2, "profiles": 1, "episodes": 2, "uncounted": 0}
    assert all(isinstance(found["latency"][name], int) for name in ("embed_ms", "search_ms", "storage_ms"))
    settings = {s["name"]: (s["value"], s["source"]) for s in found["settings"]}
    assert set(settings) == set(Settings.model_fields)
    assert settings["auto_recall_top_k"] == (5, "config")
    assert settings["embedding_model_uuid"] == ("m", "knowledge_base")
    assert settings["relevance_floor"] == (Settings().relevance_floor, "default")
    assert len(found["problems"]) == 1


async def test_diagnostics_answer_when_nothing_works() -> None:
    without = Bot(StrictHost())
    found = await ask(without, "/diagnostics")
    assert (found["knowledge_base"], found["metric"], found["counts"]["episodes"]) == ("", "", 0)
    bot = await new_bot()
    await bot.remember("Mina's dentist is on Friday", *HERS)
    bot.restart()
    bot.api.faults.fail = {"invoke_embedding", "vector_search", "vector_list"}
    found = await ask(bot, "/diagnostics")
    assert (found["latency"]["embed_ms"], found["latency"]["search_ms"]) == (None, None)
    assert len(found["latency"]["problems"]) == 2
    assert found["counts"]["uncounted"] == 1


# ---------------------------------------------------------------- limits of every answer


async def test_what_takes_too_long_is_given_up_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await known()
    here = await space(bot)
    monkeypatch.setattr(routing, "_SECONDS", 0.05)
    bot.api.faults.hang = {"get_plugin_storage_keys"}
    assert (await refused(bot, "/profiles", space_id=here))[0] == "too_slow"
    bot.api.faults.hang = set()
    await asyncio.sleep(0)
    await ask(bot, "/profiles", space_id=here)


async def test_an_answer_that_is_too_large_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await known()
    here = await space(bot)
    monkeypatch.setattr(routing, "ANSWER_BYTES", 50)
    assert (await refused(bot, "/profiles", space_id=here))[0] == "too_large"


def test_what_changes_something_is_never_cut_off() -> None:
    changing = {endpoint for endpoint, route in ROUTES.items() if not route.reads}
    assert changing == {
        *("/profile_change", "/episodes_change", "/episode_edit", "/import", "/erase_space", "/erase_person"),
        *("/backup_make", "/backup_restore", "/backup_drop", "/restore_file"),
    }


def test_every_part_of_a_score_has_a_name() -> None:
    for language in ("en_US", "zh_Hans"):
        words = load(language)
        assert all(f"console.part_{name}" in words for name, _ in parts_of(Score(0.0), Settings()))
