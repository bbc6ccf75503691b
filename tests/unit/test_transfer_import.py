"""Files from elsewhere: every row judged, nothing twice, links kept, and an end when the service gives up.

Cases F5, F8, G4, K5, L3 and O1.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.import_plan import Arrival, planned
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, Profile, Slot, Status
from longterm_memory.records.keys import Visibility
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.transfer.importing import ImportReport, import_file
from longterm_memory.words import explain
from tests.support.memory import KB, Bot, new_bot

HERE = Scope.of_session("group_77001", bot_uuid="b-01")
THERE = Scope.of_session("group_77002", bot_uuid="b-01")
KEY = HERE.user_key
MINA = Speaker("9001", "Mina")


@pytest.fixture
async def bot() -> Bot:
    return await new_bot()


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0, 0))


async def take(bot: Bot, rows: object, into: Scope | None = HERE, **more: Any) -> ImportReport:
    text = rows if isinstance(rows, str) else json.dumps(rows, ensure_ascii=False)
    return await import_file(bot.service, text.encode(), into=into, isolation=Isolation.SESSION, **more)


async def kept(bot: Bot, scope: Scope = HERE) -> list[Episode]:
    """Everything that a freshly started plugin sees there, by content."""
    bot.restart()
    store = bot.service.episodes(await bot.service.collection())
    found = await store.select(scope.user_key, Filters(statuses=KEPT_STATUSES))
    return sorted(found, key=lambda e: (e.content, e.status))


async def contents(bot: Bot, scope: Scope = HERE) -> list[str]:
    return [e.content for e in await kept(bot, scope)]


def told(report: ImportReport) -> list[tuple[int, str]]:
    for row in (*report.rejected, *report.notes):
        assert explain("en_US", row.reason) and explain(
            "zh_Hans", row.reason
        )  # every reason has its sentence
    return [(row.line, row.reason.reason) for row in report.rejected]


def noted(report: ImportReport) -> list[tuple[int, str]]:
    return [(row.line, row.reason.reason) for row in report.notes]


# ------------------------------------------------------------ rows


async def test_every_row_is_judged_by_itself(bot: Bot) -> None:  # O1, K5, L3
    rows: list[object] = [
        1,
        "a",
        None,
        {"content": 5},
        {"content": " "},
        {"content": "x" * 8_001},
        {"content": "fine"},
        {"content": "密码是 hunter2-very-secret"},
        {"content": "tagged", "tags": ["deploy key is sk-test-FAKE0123456789abcdef"]},
        {"content": "odd status", "status": "lost"},
        {"content": "odd importance", "importance": {"a": 1}},
        {"content": "absurd importance", "importance": 99},
        {"content": "odd links", "supersedes": "k7m29xqd"},
        {"content": "many tags", "tags": [f"tag {n}" for n in range(51)]},
        {"content": "gone", "status": "deleted"},
        {"content": "when?", "created_at": "yesterdayish"},
        {"content": "odd names", "sender_id": {"a": 1}, "sender_name": 7, "source": 5, "user_key": []},
        {"content": "odd tags", "tags": {"x": []}},
        {
            "content": "words",
            "importance": "high",
            "tags": "work，旅行",
            "sender_id": 9001,
            "status": "已归档",
        },
    ]
    report = await take(bot, rows)
    assert told(report) == [
        (1, "row_not_object"),
        (2, "row_not_object"),
        (3, "row_not_object"),
        (4, "expected_text"),
        (5, "content_empty"),
        (6, "content_too_long"),
        (8, "content_secret"),
        (9, "content_secret"),
        (10, "expected_choice"),
        (11, "expected_importance"),
        (13, "expected_links"),
        (14, "parameter"),
        (16, "parameter"),
        (17, "expected_short_text"),
        (18, "expected_tags"),
    ]
    assert noted(report) == [(12, "row_importance"), (15, "row_deleted")]
    assert (report.accepted, report.skipped, report.ok) == (3, 1, True)
    absurd, fine, words = await kept(bot)
    assert (absurd.importance, fine.importance, words.importance) == (5, 2, 4)
    assert (words.tags, words.sender_id, words.status) == (("work", "旅行"), "9001", Status.ARCHIVED)
    again = await take(bot, rows)
    assert (again.accepted, again.skipped) == (0, 4)


async def test_a_bad_time_in_row_40_costs_that_row(bot: Bot) -> None:  # O1
    rows = [{"content": f"note {n}", "timestamp": f"2026-05-01T10:{n:02d}:00+08:00"} for n in range(60)]
    rows[39]["timestamp"] = "2026-05-01T25:61:00"
    lines = "\n".join(json.dumps(row) for row in rows)
    for text in (json.dumps(rows), lines):
        report = await take(bot, text)
        assert told(report) == [(40, "parameter")]
        assert report.rejected[0].reason.details["parameter"] == "timestamp"
    found = await kept(bot)
    assert len(found) == 59
    assert {e.timestamp.isoformat() for e in found} >= {"2026-05-01T02:01:00+00:00"}


async def test_nothing_usable_is_an_error_in_words(bot: Bot) -> None:
    for text, reason in (
        ("[]", "file_without_rows"),
        ("{}", "file_without_rows"),
        ('"x"', "file_unreadable"),
        ('[{"content": "a"}', "file_damaged"),
        ('[{"content": 5}]', "file_without_rows"),
    ):
        report = await take(bot, text)
        assert report.error is not None
        assert (report.error.reason, report.ok) == (reason, False)
        assert explain("zh_Hans", report.error)
    assert await contents(bot) == []


async def test_nothing_is_written_before_every_row_is_judged(bot: Bot) -> None:
    told_before: list[int] = []

    async def announce(user_keys: Any, profiles: Any) -> None:
        told_before.append(len(bot.api.rows[KB]))
        raise_if = [key for key in user_keys if key not in (KEY, THERE.user_key)]
        assert not raise_if and not profiles

    before = len(bot.api.rows[KB])
    await take(
        bot,
        [{"content": "a", "user_key": KEY}, {"content": 5}, {"content": "b", "user_key": THERE.user_key}],
        None,
        announce=announce,
    )
    assert told_before == [before]


# ------------------------------------------------------------ ids and links


async def test_one_id_twice_in_a_file_the_first_wins(bot: Bot) -> None:  # F8
    rows = [
        {"id": "k7m29xqd", "content": "one"},
        {"id": "k7m29xqd", "content": "another text"},
        {"id": "7", "content": "two"},
        {"id": 7, "content": "two again"},
        {"content": "rest"},
    ]
    report = await take(bot, rows)
    assert (report.accepted, report.skipped) == (3, 2)
    assert noted(report) == [(2, "row_id_twice"), (4, "row_id_twice")]
    assert report.notes[1].reason.details == {"id": "7", "line": 3}
    assert await contents(bot) == ["one", "rest", "two"]


async def test_foreign_ids_become_legal_ones_and_keep_their_links(bot: Bot) -> None:  # F5
    rows = [
        {"id": "../x", "content": "flight on Tuesday", "status": "superseded", "superseded_by": "会话:1"},
        {"id": "会话:1", "content": "flight on Wednesday", "supersedes": ["../x"], "sender_id": "9001"},
        {"id": "7", "content": "old", "status": "superseded", "superseded_by": "nowhere"},
        {"id": "8", "content": "itself", "status": "superseded", "superseded_by": "8"},
        {"id": "9", "content": "round", "status": "superseded", "superseded_by": "10"},
        {"id": "10", "content": "and round", "status": "superseded", "superseded_by": "9"},
        {"id": "q" * 501, "content": "too long an id"},
    ]
    report = await take(bot, rows)
    assert told(report) == [(7, "parameter")]
    assert noted(report) == [(3, "row_link_unknown")]
    found = {e.content: e for e in await kept(bot)}
    tuesday, wednesday = found["flight on Tuesday"], found["flight on Wednesday"]
    assert (tuesday.superseded_by, wednesday.superseded_by) == (wednesday.id, "")
    assert wednesday.supersedes == ((tuesday.id, 0),)
    assert {e.imported_episode_id for e in found.values()} == {"../x", "会话:1", "7", "8", "9", "10"}
    assert found["old"].superseded_by == found["itself"].superseded_by == ""
    assert sorted(bool(found[c].superseded_by) for c in ("round", "and round")) == [False, True]
    # Another file with the same numbers is another file; the same one again is not.
    other = await take(bot, [{"id": "7", "content": "unlike the other seven"}])
    assert other.accepted == 1
    assert (await take(bot, rows)).accepted == 0


async def test_links_hold_whichever_run_wrote_the_rows(bot: Bot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.importer.WRITE_ROWS", 3)
    rows = [
        {"id": str(n), "content": f"version {n}", "status": "superseded" if n < 9 else "active",
         "superseded_by": str(n + 1) if n < 9 else ""}
        for n in range(10)
    ]  # fmt: skip
    bot.api.faults.fail.add("vector_upsert")
    bot.api.faults.let_pass["vector_upsert"] = 2
    report = await take(bot, rows)
    assert (report.accepted, report.remaining) == (6, 4)
    assert report.error is not None
    # What is current came first: nothing is shown as replaced by what is not there.
    assert "version 9" in await contents(bot)
    bot.api.faults.clear()
    report = await take(bot, rows)
    assert (report.accepted, report.skipped, report.error) == (4, 6, None)
    found = {e.content: e for e in await kept(bot)}
    for n in range(9):
        assert found[f"version {n}"].superseded_by == found[f"version {n + 1}"].id


async def test_a_row_that_is_here_with_another_text_stays_as_it_is(bot: Bot) -> None:
    episode_id = await bot.remember("rent is due on the 15th")
    report = await take(bot, [{"id": episode_id, "content": "rent is due on the 16th", "user_key": KEY}])
    assert (report.accepted, report.skipped, noted(report)) == (0, 1, [(1, "row_differs")])
    assert await contents(bot) == ["rent is due on the 15th"]


async def test_hidden_rows_never_pass_through_the_active_ones(bot: Bot) -> None:
    rows = [
        {"content": f"note {n} {status}", "status": status}
        for n in range(3)
        for status in ("active", "superseded", "archived")
    ]
    await take(bot, rows)
    collection = await bot.service.collection()
    index = collection.indexes.of(KEY)
    assert len(index) == 3
    active = await collection.records.everything(KEY, Visibility.RECALLED)
    assert sorted(r.episode.content for r in active) == [f"note {n} active" for n in range(3)]
    prompt = await bot.prompt("note 1")
    assert "note 1 active" in prompt
    assert "note 1 superseded" not in prompt and "note 1 archived" not in prompt


async def test_what_was_said_already_is_not_stored_again(bot: Bot) -> None:
    await bot.remember("My flight is Tuesday")
    await bot.remember("My flight is Wednesday", tags=["correction"])
    rows: list[dict[str, Any]] = [
        {"content": "my flight is wednesday!", "sender_id": "9001"},
        {"content": "My flight is Tuesday", "sender_id": "9001"},  # known to be outdated
        {"content": "My flight is Wednesday", "sender_id": "9002"},
        {"content": "new"},
        {"content": " New. "},
        {"content": "new", "status": "archived"},  # an older copy of it, kept as such
    ]
    report = await take(bot, rows)
    assert (report.accepted, report.skipped) == (3, 3)
    assert [(e.content, e.sender_id, e.status) for e in await kept(bot) if e.source == "import"] == [
        ("My flight is Wednesday", "9002", "active"),
        ("new", "", "active"),
        ("new", "", "archived"),
    ]
    assert (await take(bot, rows)).accepted == 0


def test_ids_that_collide_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so many ids nobody will see it, so the ids are made few."""
    monkeypatch.setattr("longterm_memory.import_plan.derived_id", lambda name: f"a000000{hash(name) % 8}")
    rows = [Arrival(EpisodeDraft(f"note {n}", imported_id=str(n)), HERE, n) for n in range(5)]
    plan = planned(KEY, rows, [])
    assert len({row.id for row in plan.fresh}) == 5


# ------------------------------------------------------------ people who opted out


async def test_nothing_comes_in_for_people_who_opted_out(bot: Bot) -> None:
    await bot.service.opt_outs.change(HERE, "9002", off=True)
    rows = {
        "episodes": [
            {"content": "about Tao", "sender_id": 9002, "user_key": KEY},
            {"content": "about Mina", "sender_id": 9001, "user_key": KEY},
            {"content": "Tao elsewhere", "sender_id": 9002, "user_key": THERE.user_key},
        ],
        "profiles": [
            {"type": "speaker", "scope_key": KEY, "sender_id": "9002", "profile": {"name": "Tao"}},
            {"type": "speaker", "scope_key": KEY, "sender_id": "9001", "profile": {"name": "Mina"}},
        ],
    }
    report = await take(bot, rows, None)
    assert told(report) == [(1, "row_speaker_off"), (1, "row_speaker_off")]
    assert [r.kind for r in report.rejected] == ["episode", "profile"]
    assert await contents(bot) == ["about Mina"]
    assert await contents(bot, THERE) == ["Tao elsewhere"]
    found, _ = await bot.service.profiles.list_profiles(HERE)
    assert [p.sender_id for p in found] == ["9001"]


# ------------------------------------------------------------ time, and services that fail


async def test_it_stops_in_time_and_goes_on(bot: Bot) -> None:
    rows = [{"content": f"note {n}"} for n in range(250)]
    progress: list[tuple[int, int]] = []

    def clock(done: int, total: int) -> None:
        progress.append((done, total))
        bot.clock.move(seconds=6)

    remaining = []
    while not remaining or remaining[-1]:
        report = await take(bot, rows, seconds=5, progress=clock)
        assert report.ok, report
        remaining.append(report.remaining)
        assert report.accepted + report.skipped + report.remaining == 250
    assert remaining == [151, 52, 0]
    assert progress == [(99, 250), (198, 250), (250, 250)]
    assert len(await contents(bot)) == 250


async def test_a_rate_limit_on_every_call_ends_it_after_few_tries(bot: Bot) -> None:  # G4
    rows = [{"content": f"note {n}"} for n in range(500)]
    await bot.remember("rent is due")
    bot.api.faults.fail.add("invoke_embedding")
    with bot.api.calls.recording() as seen:
        report = await take(bot, rows)
    assert 1 <= seen.counts["invoke_embedding"] <= 8
    assert seen.counts["vector_upsert"] == 0
    assert (report.accepted, report.remaining, report.ok) == (0, 500, False)
    assert report.error is not None
    assert report.error.reason in ("embedding_down", "embedding_pause")
    bot.api.faults.clear()
    bot.clock.move(seconds=120)
    report = await take(bot, rows)
    assert (report.accepted, report.remaining, report.ok) == (500, 0, True)


async def test_one_text_that_the_service_refuses_does_not_hold_up_the_rest() -> None:
    bot = await new_bot()
    embed = bot.api.embed

    def fussy(texts: list[str]) -> Any:
        if any("far too long" in text for text in texts):
            raise ValueError("maximum context length exceeded")
        return embed(texts)

    bot.api.embed = fussy
    rows = [{"content": f"note {n}{' far too long' if n in (3, 77) else ''}"} for n in range(150)]
    report = await take(bot, rows)
    assert told(report) == [(4, "row_not_embedded"), (78, "row_not_embedded")]
    assert (report.accepted, report.remaining, report.ok) == (148, 0, True)
    bot.api.embed = lambda texts: fussy(["far too long"] if len(texts) > 2 or texts[0] != "ok" else texts)
    report = await take(bot, [{"content": f"other {n}"} for n in range(150)])
    assert report.error is not None  # a service that takes nothing is down, whatever it says
    bot.api.embed = embed
    bot.clock.move(seconds=120)
    assert (await take(bot, [{"content": f"other {n}"} for n in range(150)])).accepted == 150


# ------------------------------------------------------------ profiles


def given(**profile: Any) -> dict[str, Any]:
    slots = profile.pop("slots", None)
    row = {"type": "session", "scope_key": KEY, "profile": profile}
    return {"profiles": [row | ({"slots": slots} if slots else {})]}


async def session_profile(bot: Bot, scope: Scope = HERE) -> Profile:
    bot.service.profiles.forget_cache()
    return await bot.service.profiles.session(scope)


async def test_an_empty_profile_takes_the_given_one_whole_and_a_second_time_nothing(bot: Bot) -> None:
    rows = given(
        notes="tea at four",
        traits=["likes tea", "Berlin"],
        updated_at="2026-01-01T00:00:00Z",
        slots={
            "traits": {
                "City ": {
                    "value": "Berlin",
                    "updated_at": "2026-01-01",
                    "history": [{"value": "Osaka", "updated_at": "", "reason": "replaced"}],
                    "confidence": 0.5,
                }
            },
            "preferences": {"drink": {"value": "tea"}},
        },
    )
    report = await take(bot, rows)
    assert (report.profiles, report.ignored_profiles, report.notes) == (1, 0, ())
    profile = await session_profile(bot)
    assert (profile.notes, profile.traits, profile.updated_at) == (
        "tea at four",
        ("likes tea", "Berlin"),
        "2026-01-01T00:00:00Z",
    )
    assert profile.preferences == ("tea",)  # a keyed fact that its list lacks
    slot = profile.trait_slots["city"]
    assert (slot.value, slot.history[0].value, slot.confidence) == ("Berlin", "Osaka", 0.5)
    report = await take(bot, rows)
    assert (report.profiles, report.ignored_profiles, report.ok) == (0, 1, True)


async def test_what_a_profile_holds_is_never_overwritten(bot: Bot) -> None:
    await bot.tool("update_profile", {"field": "notes", "action": "add", "value": "coffee at five"})
    for field, key, value in (("traits", "city", "Berlin"), ("traits", "", "likes hiking")):
        change = {"scope": "session", "field": field, "action": "add", "value": value}
        await bot.tool("update_profile", change | ({"fact_key": key} if key else {}))
    rows = given(
        name="The group",
        notes="tea at four",
        traits=["Osaka", "Likes hiking.", "plays go", "nurse"],
        slots={"traits": {"CITY": {"value": "Osaka"}, "job": {"value": "nurse"}}},
    )
    report = await take(bot, rows)
    assert (report.profiles, noted(report)) == (1, [(1, "profile_kept")])
    assert report.notes[0].reason.details == {"fields": "notes, traits"}
    profile = await session_profile(bot)
    assert (profile.name, profile.notes) == ("The group", "coffee at five")
    assert profile.traits == ("Berlin", "likes hiking", "nurse", "plays go")
    assert {key: slot.value for key, slot in profile.trait_slots.items()} == {
        "city": "Berlin",
        "job": "nurse",
    }
    assert (await take(bot, rows)).profiles == 0


async def test_limits_and_secrets_hold_for_profiles_too() -> None:  # K5, L3
    bot = await new_bot(config={"max_profile_traits": 3, "max_profile_preferences": 1})
    refused: list[tuple[dict[str, Any], str]] = [
        (given(notes="x" * 2_001), "value_too_long"),
        (given(name="x" * 101), "value_too_long"),
        (given(traits=["x" * 301]), "value_too_long"),
        (given(traits="likes tea"), "expected_tags"),
        (given(traits=[5]), "expected_text"),
        (given(notes="密码是 hunter2-very-secret"), "content_secret"),
        (given(slots={"traits": {"wifi password": {"value": "hunter2x9"}}}), "content_secret"),
        (given(slots={"traits": {"a": {"value": "b", "history": [{"value": "b"}] * 9}}}), "profile_slots"),
        (given(slots={"traits": {"a": {"value": "b"}, "A": {"value": "c"}}}), "profile_slots"),
        (given(slots={"traits": [1]}), "profile_slots"),
        (given(updated_at="yesterdayish"), "parameter"),
        (given(slots={"traits": {str(n): {"value": str(n)} for n in range(4)}}), "profile_slots_full"),
        ({"profiles": [5]}, "profile_not_object"),
        ({"profiles": [{"type": "session", "scope_key": KEY, "profile": []}]}, "profile_not_object"),
        ({"profiles": [{"type": "bot", "scope_key": KEY, "profile": {}}]}, "expected_choice"),
        ({"profiles": [{"type": "speaker", "scope_key": KEY, "profile": {}}]}, "speaker_unknown"),
    ]
    for rows, reason in refused:
        report = await take(bot, rows)
        assert [r.reason.reason for r in report.rejected] == [reason], rows
        assert report.profiles == 0
        told(report)
    assert await session_profile(bot) == Profile()
    report = await take(bot, given(traits=["a", "b", "c", "d"], slots={"traits": {"k": {"value": "a"}}}))
    assert (report.profiles, noted(report)) == (1, [(1, "profile_full")])
    assert (await session_profile(bot)).traits == ("a", "c", "d")  # what has a key stays
    report = await take(bot, given(traits=["e"], slots={"preferences": {"p": {"value": "q"}}}))
    assert (report.profiles, noted(report)) == (1, [(1, "profile_full")])
    assert (await session_profile(bot)).preference_slots == {"p": Slot(value="q")}


async def test_profiles_of_several_conversations_are_not_poured_into_one(bot: Bot) -> None:
    def row(scope: Scope, name: str) -> dict[str, Any]:
        return {
            "type": "speaker",
            "scope_key": scope.session_key,
            "sender_id": 9001,
            "profile": {"name": name},
        }

    other = Scope.of_session("group_5", bot_uuid="b-01")
    report = await take(bot, {"profiles": [row(HERE, "a"), row(THERE, "b")]}, other)
    assert (report.profiles, noted(report)) == (0, [(1, "profile_elsewhere"), (2, "profile_elsewhere")])
    report = await take(bot, {"profiles": [row(HERE, "a"), row(THERE, "b")]}, THERE)
    assert (report.profiles, noted(report)) == (1, [(1, "profile_elsewhere")])
    assert (await bot.service.profiles.speaker(THERE, MINA)).name == "b"
    report = await take(bot, {"profiles": [row(HERE, "a")]}, other)
    assert report.profiles == 1
    assert (await bot.service.profiles.speaker(other, MINA)).name == "a"
    report = await take(bot, {"profiles": [{**row(HERE, "a"), "scope_key": "bot:b-01"}]}, None)
    assert told(report) == [(1, "row_without_scope")]
    report = await take(bot, {"profiles": [row(HERE, "a")]}, other, profiles=False)
    assert (report.ignored_profiles, report.ok) == (1, True)


async def test_a_damaged_profile_is_left_alone_and_the_rest_comes_in(bot: Bot) -> None:
    bot.api.values[f"ltm/profile/session/{KEY}"] = b"{"
    rows = given(notes="tea") | {"episodes": [{"content": "fine"}]}
    report = await take(bot, rows)
    assert told(report) == [(1, "profile_unreadable")]
    assert report.accepted == 1
    assert bot.api.values[f"ltm/profile/session/{KEY}"] == b"{"
    bot.api.faults.storage_down = True
    report = await take(bot, given(notes="tea"))
    assert report.error is not None
    assert report.error.reason == "storage_down"


async def test_profiles_stop_in_time_too_and_all_come_in_the_end(bot: Bot) -> None:
    speakers = [
        {"type": "speaker", "scope_key": KEY, "sender_id": n, "profile": {"name": f"P{n}"}} for n in range(6)
    ]
    rows = {"profiles": speakers, "episodes": [{"content": "fine"}]}
    write = bot.service.profiles.change

    async def slow(*args: Any) -> Any:
        bot.clock.move(seconds=2)
        return await write(*args)

    bot.service.profiles.change = slow  # type: ignore[method-assign]
    done = []
    for _ in range(4):
        report = await take(bot, rows, seconds=5)
        assert report.ok
        done.append((report.profiles, report.accepted, report.remaining))
    assert done == [(3, 0, 4), (3, 0, 1), (0, 1, 0), (0, 0, 0)]


async def test_a_row_that_is_too_large_to_be_kept_costs_that_row(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longterm_memory.records.envelope.ENVELOPE_MAX", 1_500)
    noise = "".join(chr(0x4E00 + (n * n * 7_919) % 20_000) for n in range(900))
    report = await take(bot, [{"content": "fine"}, {"content": noise}])
    assert (told(report), report.accepted, report.ok) == ([(2, "too_large")], 1, True)
