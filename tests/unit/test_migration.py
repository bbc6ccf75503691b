"""Moving in from elsewhere: every field of every shape is read back from the store, or named as left out.

The files are those of ``examples/import``, which the documents show.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from longterm_memory.console import answer
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, Profile, Status
from longterm_memory.scope import Scope, Speaker
from longterm_memory.transfer.importing import ImportReport
from longterm_memory.transfer.uploads import upload
from longterm_memory.words import explain
from tests.support.memory import Bot, new_bot

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "import"
HERE = Scope.of_session("group_77001", bot_uuid="b-01")
MINA = Speaker("9001", "Mina")
PUBLIC = ("name", "traits", "preferences", "notes", "updated_at")


def data(name: str) -> bytes:
    return (EXAMPLES / name).read_bytes()


def rows_of(name: str, container: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(data(name))[container]
    return rows


async def kept(bot: Bot, scope: Scope = HERE) -> list[Episode]:
    """What a freshly started plugin finds there, in the order of time."""
    bot.restart()
    store = bot.service.episodes(await bot.service.collection())
    found = await store.select(scope.user_key, Filters(statuses=KEPT_STATUSES))
    return sorted(found, key=lambda e: (e.timestamp, e.content))


async def profile_of(bot: Bot, speaker: Speaker | None, scope: Scope = HERE) -> Profile:
    bot.restart()
    profiles = bot.service.profiles
    return await (profiles.speaker(scope, speaker) if speaker else profiles.session(scope))


async def uploaded(bot: Bot, content: object, name: str = "d1") -> ImportReport:
    raw = content if isinstance(content, bytes) else json.dumps(content, ensure_ascii=False).encode()
    return await upload(bot.service, raw, name)


def left_out(report: ImportReport) -> str:
    """What the report says has no place here, ``""`` when everything has one."""
    found = [note for note in report.notes if note.reason.reason == "row_fields"]
    assert all(explain(language, note.reason) for note in found for language in ("en_US", "zh_Hans"))
    return found[0].reason.details["fields"] if found else ""  # type: ignore[return-value]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
async def test_every_example_imports_whole_and_once(name: str) -> None:
    bot = await new_bot()
    into = None if name != "MEMORY.md" else HERE  # Markdown cannot say where it belongs
    memory = await bot.memory("group_77001", "9001", via="console")
    take = memory.transfer.import_file
    report = await uploaded(bot, data(name)) if into is None else await take(data(name), profiles=True)
    assert report.ok and not report.rejected and not report.notes, name
    assert report.accepted + report.profiles > 0
    again = await uploaded(bot, data(name), "d2") if into is None else await take(data(name), profiles=True)
    assert (again.accepted, again.profiles, again.rejected) == (0, 0, ())


async def test_the_earlier_plugins_memories_keep_every_field() -> None:
    bot = await new_bot()
    given = rows_of("earlier-plugin-l2.json", "episodes")
    for content in (data("earlier-plugin-l2.json"), given, "\n".join(map(json.dumps, given)).encode()):
        await uploaded(bot, content)
    found = await kept(bot)
    assert len(found) == len(given), "in each of its shapes the same rows"
    by_foreign = {e.imported_episode_id: e for e in found}
    for row in given:
        episode = by_foreign[row["id"]]
        for name in ("content", "importance", "user_key", "sender_id", "sender_name", "source"):
            assert getattr(episode, name) == row[name], name
        assert list(episode.tags) == row["tags"]
        assert episode.timestamp == datetime.fromisoformat(row["timestamp"])
        assert episode.status == row["status"]
        assert episode.superseded_by == (by_foreign[row["superseded_by"]].id if row["superseded_by"] else "")
    shown = await bot.command(f"memory show {found[0].id}")
    assert given[0]["id"] in shown and found[1].id in shown


async def test_the_earlier_plugins_profiles_keep_every_field() -> None:
    [session, speaker] = rows_of("earlier-plugin-l1.json", "profiles")

    async def by_page(bot: Bot) -> None:
        await answer(bot.service, "/derive", "POST", {"bot_uuid": "b-01", "session_name": "group_77001"})
        body = {"space_id": HERE.space_id, "data": base64.b64encode(data("earlier-plugin-l1.json")).decode()}
        assert (await answer(bot.service, "/import", "POST", body))["profiles"] == 2

    async def by_upload(bot: Bot) -> None:
        assert (await uploaded(bot, data("earlier-plugin-l1.json"))).profiles == 2

    for bring in (by_page, by_upload):
        bot = await new_bot()
        await bring(bot)
        for row, whose in ((session, None), (speaker, MINA)):
            assert (await profile_of(bot, whose)).public() == row["profile"], bring
        assert "Nobody is called before nine" in await bot.prompt("good evening")
        assert "nurse" in await bot.prompt("good evening")
        assert "nurse" not in await bot.prompt("good evening", "group_77001", "9002")
    # In chat, where anybody could bring them, profiles are passed over, and that is said.
    bot = await new_bot(config={"memory_admins": "9001"})
    assert "Profiles passed over: 2" in await bot.command(
        f"memory import l2 {data('earlier-plugin-l1.json').decode()}"
    )
    assert await profile_of(bot, MINA) == Profile()


async def test_keyed_facts_come_in_from_wherever_an_export_puts_them() -> None:
    slots = {
        "city": {
            "value": "Oslo",
            "updated_at": "2026-01-02T00:00:00Z",
            "history": [{"value": "Bergen", "updated_at": "2025-01-02T00:00:00Z", "reason": "replaced"}],
            "confidence": 0.9,
        }
    }
    row = {"type": "speaker", "scope_key": HERE.session_key, "sender_id": "9001"}
    for number, (inside, beside) in enumerate(
        (({"trait_slots": slots}, {}), ({"slots": {"traits": slots}}, {}), ({}, {"slots": {"traits": slots}}))
    ):
        bot = await new_bot()
        report = await uploaded(
            bot, {"profiles": [{**row, "profile": {"traits": ["Oslo"], **inside}, **beside}]}
        )
        assert left_out(report) == "", number
        slot = (await profile_of(bot, MINA)).trait_slots["city"]
        assert slot.model_dump(mode="json") == slots["city"], number


async def test_keys_of_the_earlier_plugin_name_their_ids_as_they_are() -> None:
    for session in (
        "group_19876@chatroom",
        "group_!room:example.org",
        "person_a b",
        "group_群1",
        "group_a/b",
    ):
        bot, scope = await new_bot(), Scope.of_session(session, bot_uuid="b-01")
        key = f"b-01:{session}"
        rows = {
            "episodes": [{"content": "moved", "user_key": key}],
            "profiles": [{"type": "session", "scope_key": key, "profile": {"notes": "tea at four"}}],
        }
        report = await uploaded(bot, rows)
        assert (report.accepted, report.profiles, report.rejected) == (1, 1, ()), session
        [episode] = await kept(bot, scope)
        assert episode.session_name == session
        assert (await profile_of(bot, None, scope)).notes == "tea at four"
    # What can be read in two ways, or is no conversation, is refused.
    bot = await new_bot()
    for key in ("b-01:group_100%", "b-01:group_%2", "b-01:thing_1@x", "a b:group_1", "bot:b 01", "77001@x"):
        assert (await uploaded(bot, [{"content": "x", "user_key": key}])).accepted == 0, key


async def test_mem0_keeps_every_field() -> None:
    bot = await new_bot()
    await uploaded(bot, data("mem0.json"))
    [row], [episode] = rows_of("mem0.json", "results"), await kept(bot)
    assert (episode.imported_episode_id, episode.content) == (row["id"], row["memory"])
    assert (episode.sender_id, episode.sender_name, episode.importance) == ("9001", "Mina", 3)
    assert (episode.user_key, episode.session_name) == (HERE.user_key, "group_77001")
    when = datetime(2026, 2, 20, 8, 30, 36, 275141, tzinfo=UTC)
    assert (episode.timestamp, episode.created_at) == (when, when)
    assert set(episode.tags) == {
        "education", "language", "agent_id:helper", "run_id:spring", "project:moving",
        "updated_at:2026-03-01T10:00:00+00:00",
    }  # fmt: skip


async def test_memory_lancedb_pro_keeps_every_field() -> None:
    bot = await new_bot()
    await uploaded(bot, data("memory-lancedb-pro.json"))
    [row], [episode] = rows_of("memory-lancedb-pro.json", "memories"), await kept(bot)
    assert (episode.imported_episode_id, episode.content) == (row["id"], row["text"])
    assert (episode.sender_id, episode.sender_name, episode.importance) == ("9002", "Tao", 4)
    assert episode.session_name == "group_77001"
    assert episode.timestamp == datetime.fromtimestamp(row["timestamp"] / 1000, UTC)
    assert episode.tags == ("preference", "tier:core")


async def test_a_memory_md_keeps_headings_dates_and_boxes() -> None:
    bot = await new_bot()
    memory = await bot.memory("group_77001", "9001", via="console")
    await memory.transfer.import_file(data("MEMORY.md"))
    found = {e.content: (e.tags, f"{e.timestamp:%Y-%m-%d}") for e in await kept(bot)}
    today = "2026-05-10"
    assert found == {
        "Mina wants short answers, with the conclusion first": (("Preferences",), today),
        "Tao reads Chinese more easily than English": (("Preferences",), today),
        "Oslo was chosen over Bergen": (("Offsite",), "2026-05-01"),
        "hotel booked for twelve people": (("Offsite", "done"), "2026-05-01"),
        "ask about vegetarian food": (("Offsite", "to do"), "2026-05-01"),
        "2026-04-28: the release was moved to May because the audit took longer": (("Work",), "2026-04-28"),
    }


async def test_what_has_no_place_is_named_once_for_the_file() -> None:
    place = {"bot_uuid": "b-01", "session_name": "group_77001"}
    long, deep = "x" * 200, {"a": {"b": 1}}
    files: list[tuple[object, str]] = [
        ({"results": [{"memory": "a", **place, "metadata": {"summary": long, "graph": deep, "n": None}}]},
         "metadata.summary (1), metadata.graph (1)"),
        ({"results": [{"memory": "a", **place}], "relations": [{"source": "a"}, {"source": "b"}]}, "relations (2)"),
        ({"memories": [{"text": n, **place, "metadata": json.dumps({"l2": long})} for n in "ab"]}, "metadata.l2 (2)"),
        ({"memories": [{"text": "a", **place, "metadata": "{broken"}]}, "metadata (1)"),
        ([{"content": "a", **place, "mood": "glad", "score": 0, "odd \n <<name>>": [1], "empty": ""}],
         "mood (1), odd ‹‹name›› (1)"),
        ({"profiles": [{"type": "session", **place, "mood": "glad", "profile": {"notes": "n", "summary": "s"}}]},
         "mood (1), profile.summary (1)"),
        ([{"content": "a", **place, **{f"f{n}": 1 for n in range(14)}}], ", f11 (1), +2"),
    ]  # fmt: skip
    for content, named in files:
        bot = await new_bot()
        report = await uploaded(bot, content)
        assert report.ok and not report.rejected, content
        assert named in left_out(report), (named, left_out(report))
    # Nothing is left out for lack of room as long as there is any.
    bot = await new_bot()
    tags = [f"tag {n}" for n in range(49)]
    report = await uploaded(
        bot, [{"memory": "a", **place, "categories": tags, "metadata": {"a": 1, "b": [2, 3]}}]
    )
    assert left_out(report) == "metadata.b (1)"
    [episode] = await kept(bot)
    assert episode.tags == (*tags, "a:1")


async def test_all_lists_of_a_file_are_taken() -> None:
    bot = await new_bot()
    place = {"bot_uuid": "b-01", "session_name": "group_77001"}
    rows = {name: [{"content": f"in {name}", **place}] for name in ("results", "episodes", "memories")}
    assert (await uploaded(bot, rows)).accepted == 3
    assert {e.status for e in await kept(bot)} == {Status.ACTIVE}


async def test_exports_pasted_behind_one_another_move_in_together() -> None:
    """What docs/migrating.md tells people to do with the earlier plugin's exports of all conversations."""
    bot = await new_bot()
    other = data("earlier-plugin-l2.json").replace(b"group_77001", b"group_77002")
    report = await uploaded(bot, data("earlier-plugin-l1.json") + other + data("earlier-plugin-l2.json"))
    assert (report.accepted, report.profiles, report.rejected, report.notes) == (4, 2, (), ())
    assert len(await kept(bot)) == len(await kept(bot, Scope.of_session("group_77002", bot_uuid="b-01"))) == 2


async def test_a_memory_md_pasted_into_ones_own_chat_becomes_ones_own() -> None:
    bot = await new_bot()
    text = data("MEMORY.md").decode()
    assert "New: 6 memories" in await bot.command(f"memory import l2 {text}", "person_9001", "9001")
    found = await kept(bot, Scope.of_session("person_9001", bot_uuid="b-01"))
    assert {(e.sender_id, e.user_key) for e in found} == {("9001", "b-01:person_9001")}


async def test_people_are_told_in_chat_what_had_no_place() -> None:
    bot = await new_bot()
    rows = json.dumps([{"memory": "likes tea", "metadata": {"summary": "x" * 200}}])
    answered = await bot.command(f"memory import l2 {rows}", "person_9001", "9001")
    assert "metadata.summary (1)" in answered


async def test_the_log_names_what_had_no_place_but_never_what_stands_in_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bot = await new_bot()
    rows = [
        {
            "content": "a",
            "user_key": HERE.user_key,
            "mood": "glad",
            "summary.x": "long",
            "What Mina said": "tea",
        }
    ]
    await uploaded(bot, rows)
    [line] = [record.getMessage() for record in caplog.records if "import row noted" in record.getMessage()]
    assert "document_id=d1 kind=episode line=1 reason=row_fields" in line
    assert "fields=mood,summary.x" in line
    assert not {"glad", "long", "tea", "said"} & set(re.findall(r"\w+", caplog.text))
