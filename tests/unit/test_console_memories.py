"""What the page is answered about memories: pages, filters, reasons, changes that can be undone or confirmed, time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longterm_memory.console import changes as console_changes
from longterm_memory.models import Status
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.transfer.importing import import_file
from tests.support.console import ask, plant, refused, space
from tests.support.core import GROUP, OTHER, numbered_id, record
from tests.support.memory import Bot, new_bot

HERS, HIS = ("group_77001", "9001"), ("group_77001", "9002")
ELSEWHERE = ("group_77002", "9001")
EVERY = ["active", "superseded", "archived"]
HOSTILE = '<img src=x onerror="window.__x=1">\u202e </script> \' OR 1=1 -- {{7*7}} \u0000 [k7m29xqd] 😀'


async def lived_in() -> Bot:
    """Four memories, three days apart, the first of which a fifth corrects."""
    bot = await new_bot()
    said = (
        ("Mina's dentist appointment is on Friday", HERS, {"tags": ["health"]}),
        ("Tao is allergic to cats", HIS, {"importance": 5}),
        ("The offsite is in Oslo", HERS, {"tags": ["Work", "travel, far"]}),
        ("PROJ-123 is blocked by the migration", HIS, {"tags": ["work"]}),
        ("Mina's dentist appointment is on Monday", HERS, {"tags": ["correction"]}),
    )
    for text, who, more in said:
        await bot.remember(text, *who, **more)
        bot.clock.move(days=3)
    await bot.remember("The garden is in another space", *ELSEWHERE)
    return bot


async def listed(bot: Bot, **body: Any) -> list[str]:
    found = await ask(bot, "/episodes", space_id=await space(bot), **body)
    assert found["total"] == len(found["episodes"])
    return [e["content"] for e in found["episodes"]]


async def id_of(bot: Bot, words: str) -> str:
    found = await ask(bot, "/episodes", space_id=await space(bot), statuses=EVERY, query=words)
    return str(found["episodes"][0]["id"])


# ---------------------------------------------------------------- pages and filters


async def test_memories_come_newest_first_in_pages_with_what_they_can_be_narrowed_by() -> None:
    bot = await lived_in()
    here = await space(bot)
    pages = [await ask(bot, "/episodes", space_id=here, size=3, page=n) for n in (1, 2, 9)]
    texts = [[e["content"].split()[0] for e in p["episodes"]] for p in pages]
    assert texts == [["Mina's", "PROJ-123", "The"], ["Tao"], ["Tao"]]
    assert [(p["total"], p["page"], p["pages"]) for p in pages] == [(4, 1, 2), (4, 2, 2), (4, 2, 2)]
    assert pages[0]["senders"] == [
        {"id": "9001", "name": "Mina", "count": 2},
        {"id": "9002", "name": "Tao", "count": 2},
    ]
    assert {t["tag"]: t["count"] for t in pages[0]["tags"]} == {
        "correction": 1,
        "work": 1,
        "Work": 1,
        "travel, far": 1,
    }
    assert pages[0]["sources"] == [{"source": "agent", "count": 4}]
    found = await ask(bot, "/episodes", space_id=here, statuses=EVERY)
    assert found["counts"] == {"active": 4, "superseded": 1}
    assert (await ask(bot, "/episodes", space_id=here, facets=False))["senders"] == []


async def test_each_filter_narrows_and_words_are_taken_as_they_stand() -> None:
    bot = await lived_in()
    cases: tuple[tuple[dict[str, Any], list[str]], ...] = (
        ({"sender_id": "9002"}, ["PROJ-123", "Tao"]),
        ({"tag": "ＷＯＲＫ"}, ["PROJ-123", "The"]),
        ({"tag": "travel, far"}, ["The"]),
        ({"importance_min": 3}, ["Tao"]),
        ({"source": "import"}, []),
        ({"after": "2026-05-16", "before": "2026-05-19"}, ["PROJ-123", "The"]),
        ({"before": "2026-05-15T23:59:59+00:00"}, ["Tao"]),
        ({"statuses": ["superseded"]}, ["Mina's"]),
        ({"query": "DENTIST monday"}, ["Mina's"]),
        ({"query": "dentist oslo"}, []),
        ({"query": "tao"}, ["PROJ-123", "Tao"]),
        ({"session": "group_77002"}, []),
    )
    for body, expected in cases:
        assert [text.split()[0] for text in await listed(bot, **body)] == expected, body


async def test_under_bot_isolation_a_space_holds_several_conversations() -> None:
    bot = await new_bot(creation={"isolation": "bot"})
    await bot.remember("Mina's dentist is on Friday", *HERS)
    bot.clock.move(days=1)
    await bot.remember("The garden needs water", *ELSEWHERE)
    found = await ask(bot, "/episodes", space_id=await space(bot))
    assert [e["session_name"] for e in found["episodes"]] == ["group_77002", "group_77001"]
    assert await listed(bot, session="group_77002") == ["The garden needs water"]


async def test_one_memory_shows_what_it_replaced_and_what_replaced_it() -> None:
    bot = await lived_in()
    here, old, new = await space(bot), await id_of(bot, "Friday"), await id_of(bot, "Monday")
    found = await ask(bot, "/episode", space_id=here, id=f" [{old.upper()}] ")
    assert (found["episode"]["status"], found["episode"]["superseded_by"]) == ("superseded", new)
    assert (found["replaced_by"]["id"], found["replaces"]) == (new, [])
    found = await ask(bot, "/episode", space_id=here, id=new)
    assert (found["replaced_by"], [e["id"] for e in found["replaces"]]) == (None, [old])


async def test_a_search_says_why_with_parts_that_add_up() -> None:
    bot = await lived_in()
    here = await space(bot)
    found = await ask(bot, "/episodes_search", space_id=here, query="when is the dentist appointment")
    best = found["hits"][0]
    assert (best["episode"]["content"].split()[-1], best["relevant"]) == ("Monday", True)
    assert sum(p["value"] for p in best["score"]["parts"]) == pytest.approx(best["score"]["total"], abs=0.01)
    assert {"meaning", "words"} <= {p["name"] for p in best["score"]["parts"]}
    assert (found["complete"], found["skipped"], found["notes"]) == (True, "", [])
    chinese = await ask(bot, "/episodes_search", space_id=here, query="dentist", language="zh_Hans")
    assert "语义" in {p["label"] for p in chinese["hits"][0]["score"]["parts"]}
    away = await ask(bot, "/episodes_search", space_id=here, query="zebra quantum xylophone", k=2)
    assert away["answered"] < away["floor"]
    assert not any(hit["relevant"] for hit in away["hits"])
    assert len(away["notes"]) == 1
    narrowed = await ask(bot, "/episodes_search", space_id=here, query="dentist", statuses=["superseded"])
    assert [hit["episode"]["status"] for hit in narrowed["hits"]] == ["superseded"]
    blank = await ask(bot, "/episodes_search", space_id=here, query=" ?! ")
    assert (blank["hits"], blank["skipped"], len(blank["notes"])) == ([], "blank", 1)
    bot.api.faults.fail = {"invoke_embedding"}
    assert (await refused(bot, "/episodes_search", space_id=here, query="cats"))[0] == "embedding_down"


async def test_memories_lie_in_time_by_the_readers_days() -> None:
    bot = await lived_in()
    here = await space(bot)
    days = await ask(bot, "/timeline", space_id=here)
    assert [b["start"][:10] for b in days["buckets"]] == [f"2026-05-{d}" for d in (10, 13, 16, 19, 22)]
    assert days["buckets"][0] == {
        "start": "2026-05-10T00:00:00Z",
        "active": 0,
        "archived": 0,
        "superseded": 1,
    }
    weeks = await ask(bot, "/timeline", space_id=here, by="week")
    assert [(b["start"][:10], b["active"], b["superseded"]) for b in weeks["buckets"]] == [
        ("2026-05-04", 0, 1),
        ("2026-05-11", 2, 0),
        ("2026-05-18", 2, 0),
    ]
    # Whoever leaves the length to us gets a chart that can be taken in.
    auto = await ask(bot, "/timeline", space_id=here, by="auto")
    assert (auto["by"], auto["buckets"]) == ("day", days["buckets"])
    # Said at noon in UTC, which is the next day fourteen hours ahead.
    ahead = await ask(bot, "/timeline", space_id=here, utc_offset=840)
    assert ahead["buckets"][0]["start"] == "2026-05-10T10:00:00Z"
    plant(bot, (record(f"Day {n}", numbered_id(n), age_days=n) for n in range(900)))
    bot.restart()
    coarse = await ask(bot, "/timeline", space_id=here)
    assert (coarse["by"], sum(b["active"] for b in coarse["buckets"])) == ("week", 904)
    auto = await ask(bot, "/timeline", space_id=here, by="auto")
    assert (auto["by"], sum(b["active"] for b in auto["buckets"])) == ("month", 904)


# ---------------------------------------------------------------- changes


async def test_a_selection_is_archived_and_brought_back_and_the_log_says_so() -> None:
    bot = await lived_in()
    here, cats, oslo = await space(bot), await id_of(bot, "cats"), await id_of(bot, "Oslo")
    before = await ask(bot, "/episode", space_id=here, id=cats)
    body = {"space_id": here, "ids": [cats, oslo, cats, "k7m29xqd", "?"], "action": "archive"}
    found = await ask(bot, "/episodes_change", **body)
    assert (found["done"], [f["id"] for f in found["failed"]]) == ([cats, oslo], ["?", "k7m29xqd"])
    assert found["text"].startswith("2 memories were archived")
    assert await listed(bot, statuses=["archived"]) == ["The offsite is in Oslo", "Tao is allergic to cats"]
    again = await ask(bot, "/episodes_change", **body)
    assert (again["done"], len(again["failed"])) == ([], 4)
    back = await ask(bot, "/episodes_change", space_id=here, ids=found["done"], action="restore")
    assert back["done"] == [cats, oslo]
    assert await ask(bot, "/episode", space_id=here, id=cats) == before
    log = (await ask(bot, "/audit", space_id=here, size=4))["entries"]
    assert [(e["operation"], e["via"], e["target_id"], e["sender_id"]) for e in log] == [
        ("restore", "console", oslo, ""),
        ("restore", "console", cats, ""),
        ("archive", "console", oslo, ""),
        ("archive", "console", cats, ""),
    ]


async def test_deleting_takes_a_code_for_exactly_these_and_what_a_correction_replaced() -> None:
    bot = await lived_in()
    here, old, new = await space(bot), await id_of(bot, "Friday"), await id_of(bot, "Monday")
    cats = await id_of(bot, "cats")
    await bot.hear("When is my dentist appointment?", *HERS)
    body = {"space_id": here, "ids": [new, cats], "action": "delete"}
    offer = await ask(bot, "/episodes_change", **body)
    assert (offer["done"], offer["count"], offer["older"]) == ([], 3, 1)
    assert len(await listed(bot)) == 4
    for ids, code in (([cats], offer["code"]), ([new, cats], "wrong1")):
        tried = await refused(bot, "/episodes_change", space_id=here, ids=ids, action="delete", code=code)
        assert tried[0] == "code_wrong_console"
    there = await space(bot, "group_77002")
    elsewhere = {**body, "space_id": there, "code": offer["code"]}
    assert (await refused(bot, "/episodes_change", **elsewhere))[0] == "code_wrong_console"
    done = await ask(bot, "/episodes_change", **body, code=offer["code"])
    assert (set(done["done"]), done["failed"]) == ({new, cats, old}, [])
    assert done["text"] == "3 memories were deleted."
    assert len(await listed(bot, statuses=EVERY)) == 2
    shown = (await ask(bot, "/injection", space_id=here))["snapshot"]
    assert "dentist" not in str(shown["episodes"]) + str(shown["blocks"])
    nothing = await ask(bot, "/episodes_change", **body)
    assert (nothing["code"], nothing["count"], len(nothing["failed"])) == ("", 0, 2)


async def test_nothing_is_called_deleted_that_the_store_still_shows() -> None:
    bot = await lived_in()
    body = {"space_id": await space(bot), "ids": [await id_of(bot, "cats")], "action": "delete"}
    offer = await ask(bot, "/episodes_change", **body)
    bot.api.faults.delete_nothing = True
    found = await ask(bot, "/episodes_change", **body, code=offer["code"])
    assert (found["done"], [f["id"] for f in found["failed"]]) == ([], body["ids"])
    assert "still shows" in found["failed"][0]["text"]
    assert found["text"] == "0 memories were deleted. Not done: 1."
    bot.api.faults.delete_nothing = False
    offer = await ask(bot, "/episodes_change", **body)
    assert (await ask(bot, "/episodes_change", **body, code=offer["code"]))["done"] == body["ids"]


async def test_a_store_that_fails_half_way_leaves_the_rest_to_be_sent_again() -> None:
    bot = await lived_in()
    here, ids = await space(bot), [await id_of(bot, word) for word in ("cats", "Oslo", "PROJ")]
    bot.api.faults.fail = {"vector_upsert"}
    found = await ask(bot, "/episodes_change", space_id=here, ids=ids, action="archive")
    assert (found["done"], [f["id"] for f in found["failed"]], found["remaining"]) == ([], ids[:1], ids[1:])


async def test_a_long_selection_is_deleted_by_parts_and_a_correction_takes_along_what_comes_later() -> None:
    bot = await lived_in()
    here, old, new = await space(bot), await id_of(bot, "Friday"), await id_of(bot, "Monday")
    plant(bot, (record(f"Note {n}", numbered_id(n)) for n in range(90)))
    bot.restart()
    ids = [new, *(numbered_id(n) for n in range(90)), old]
    body = {"space_id": here, "ids": ids, "action": "delete"}
    offer = await ask(bot, "/episodes_change", **body)
    assert (offer["count"], offer["older"]) == (92, 0)
    bot.api.faults.fail, bot.api.faults.let_pass = {"vector_delete"}, {"vector_delete": 1}
    found = await ask(bot, "/episodes_change", **body, code=offer["code"])
    assert {old, new} < set(found["done"])
    assert (len(found["done"]), len(found["failed"]), found["remaining"]) == (41, 40, ids[80:91])
    bot.api.faults.fail = set()
    body["ids"] = [f["id"] for f in found["failed"]] + found["remaining"]
    offer = await ask(bot, "/episodes_change", **body)
    found = await ask(bot, "/episodes_change", **body, code=offer["code"])
    assert found["remaining"] == []
    assert len(await listed(bot, statuses=EVERY)) == 3


async def test_a_long_selection_stops_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await lived_in()
    here, ids = await space(bot), [await id_of(bot, word) for word in ("cats", "Oslo", "PROJ")]
    monkeypatch.setattr(console_changes, "_SECONDS", -1.0)
    left, rounds = ids, 0
    while left:
        found = await ask(bot, "/episodes_change", space_id=here, ids=left, action="archive")
        assert len(found["done"]) == 1
        left, rounds = found["remaining"], rounds + 1
    assert rounds == 3


async def test_an_edit_changes_what_it_names_and_embeds_only_another_text() -> None:
    bot = await lived_in()
    here, oslo = await space(bot), await id_of(bot, "Oslo")
    before = (await ask(bot, "/episode", space_id=here, id=oslo))["episode"]
    with bot.api.calls.recording() as calls:
        found = await ask(
            bot,
            "/episode_edit",
            space_id=here,
            id=oslo,
            tags=[" far ", "", "far", "a, b"],
            importance=4,
            timestamp="2025-01-02T03:04:05+01:00",
        )
    assert "invoke_embedding" not in {call.name for call in calls.calls}
    wanted = {"tags": ["far", "a, b"], "importance": 4, "timestamp": "2025-01-02T02:04:05Z"}
    assert found["episode"] == before | wanted
    text = HOSTILE.replace("\u0000", "")
    found = await ask(bot, "/episode_edit", space_id=here, id=oslo, content=text)
    assert found["episode"] == before | wanted | {"content": text, "length": len(text)}
    bot.restart()
    assert (await ask(bot, "/episode", space_id=here, id=oslo))["episode"] == found["episode"]
    assert text in await listed(bot, after="2025-01-02", before="2025-01-02")
    entry = (await ask(bot, "/audit", space_id=here, operation="edit"))["entries"]
    assert [e["summary"].get("fields", "") for e in entry] == ["", "tags,importance,timestamp"]
    assert "far" not in str(entry)


async def test_an_edit_that_cannot_be_made_changes_nothing_and_says_why() -> None:
    bot = await lived_in()
    here, oslo, cats = await space(bot), await id_of(bot, "Oslo"), await id_of(bot, "cats")
    before = await ask(bot, "/episodes", space_id=here, statuses=EVERY)
    seen = (await ask(bot, "/episode", space_id=here, id=oslo))["episode"]
    same = {name: seen[name] for name in ("content", "tags", "importance", "timestamp")}
    cases: tuple[tuple[str, dict[str, Any], str], ...] = (
        (oslo, {}, "edit_same"),
        (oslo, same, "edit_same"),
        (oslo, {"importance": 5, "seen": {"content": "what another tab has changed since"}}, "edit_changed"),
        (oslo, {"importance": 5, "seen": same | {"importance": 4}}, "edit_changed"),
        (oslo, {"importance": 5, "seen": same | {"tags": ["another"]}}, "edit_changed"),
        (oslo, {"importance": 5, "seen": {"timestamp": "2020-01-01"}}, "edit_changed"),
        (oslo, {"importance": 5, "seen": {"timestamp": "soon"}}, "parameter"),
        (oslo, {"content": "  "}, "content_empty"),
        (oslo, {"content": "x" * 8_001}, "content_too_long"),
        (oslo, {"content": "my password is hunter2Xy9!"}, "content_secret"),
        (cats, {"content": "PROJ-123 is blocked by the migration!"}, "edit_duplicate"),
        (oslo, {"tags": ["t" * 2_001]}, "parameter"),
        (oslo, {"tags": "work"}, "bad_request"),
        (oslo, {"importance": 9}, "bad_request"),
        (oslo, {"timestamp": "soon"}, "parameter"),
        (oslo, {"timestamp": "1815-12-10"}, "parameter"),
        ("k7m29xqd", {"importance": 1}, "id_unknown"),
        ("x", {"importance": 1}, "id_malformed"),
    )
    for episode_id, body, code in cases:
        assert (await refused(bot, "/episode_edit", space_id=here, id=episode_id, **body))[0] == code, body
    assert await ask(bot, "/episodes", space_id=here, statuses=EVERY) == before
    changed = await ask(bot, "/episode_edit", space_id=here, id=oslo, importance=5, seen=same)
    assert changed["episode"] == seen | {"importance": 5}


async def test_tags_that_nobody_would_type_can_be_put_right() -> None:
    """An export that somebody edited is taken as it stands, also with such tags."""
    bot = await lived_in()
    here = await space(bot)
    file = {
        "format": "longtermmemory",
        "version": 1,
        "episodes": [{"content": "Lan sails", "tags": [" a ", "b", "b"]}],
    }
    await import_file(
        bot.service,
        json.dumps(file).encode(),
        into=Scope.of_session("group_77001", bot_uuid="b-01"),
        isolation=Isolation.SESSION,
    )
    lan = await id_of(bot, "Lan")
    seen = (await ask(bot, "/episode", space_id=here, id=lan))["episode"]["tags"]
    assert seen == [" a ", "b", "b"]
    changed = await ask(bot, "/episode_edit", space_id=here, id=lan, tags=seen, seen={"tags": seen})
    assert changed["episode"]["tags"] == ["a", "b"]


async def test_of_people_who_switched_memory_off_memories_can_be_deleted_and_not_changed() -> None:
    bot = await lived_in()
    here, cats = await space(bot), await id_of(bot, "cats")
    await bot.command("memory off", *HIS)
    assert (await refused(bot, "/episode_edit", space_id=here, id=cats, importance=1))[0] == "other_off"
    found = await ask(bot, "/episodes_change", space_id=here, ids=[cats], action="archive")
    assert (found["done"], len(found["failed"])) == ([], 1)
    offer = await ask(bot, "/episodes_change", space_id=here, ids=[cats], action="delete")
    done = await ask(bot, "/episodes_change", space_id=here, ids=[cats], action="delete", code=offer["code"])
    assert done["done"] == [cats]


# ---------------------------------------------------------------- one space, whatever is sent


async def test_no_request_reaches_another_space() -> None:
    bot = await lived_in()
    there, cats = await space(bot, "group_77002"), await id_of(bot, "cats")
    keys = {"user_key": GROUP.user_key, "scope_key": GROUP.scope_key, "session_name": "group_77001"}
    for body in ({}, keys):
        found = await ask(bot, "/episodes", space_id=there, statuses=EVERY, **body)
        assert [e["content"] for e in found["episodes"]] == ["The garden is in another space"]
        hits = (await ask(bot, "/episodes_search", space_id=there, query="allergic to cats", **body))["hits"]
        assert [h["episode"]["content"] for h in hits] == ["The garden is in another space"]
        assert (await refused(bot, "/episode", space_id=there, id=cats, **body))[0] == "id_unknown"
        edit = {"space_id": there, "id": cats, "content": "stolen", **body}
        assert (await refused(bot, "/episode_edit", **edit))[0] == "id_unknown"
        for action in ("archive", "restore", "delete"):
            change = {"space_id": there, "ids": [cats], "action": action, **body}
            assert (await ask(bot, "/episodes_change", **change))["done"] == []
        assert (await ask(bot, "/timeline", space_id=there, **body))["buckets"][0]["active"] == 1
    assert len(await listed(bot)) == 4
    for strange in ("0" * 32, "", "../..", "b-01:group_77001", GROUP.user_key, "'; drop"):
        assert (await refused(bot, "/episodes", space_id=strange))[0] == "space_unknown"


async def test_rows_of_another_space_that_the_store_returns_are_never_shown() -> None:
    bot = await lived_in()
    plant(bot, [record("Somebody else's", "m0000001", scope=OTHER)])
    bot.restart()
    bot.api.faults.ignore_filters = True
    here, own = await space(bot), 4
    for body in ({}, {"statuses": EVERY}):
        found = (await ask(bot, "/episodes", space_id=here, **body))["episodes"]
        assert {e["session_name"] for e in found} == {"group_77001"}
        assert len(found) == own + ("statuses" in body)
    hits = (await ask(bot, "/episodes_search", space_id=here, query="somebody else", k=50))["hits"]
    assert len(hits) == own


async def test_hostile_texts_come_back_as_they_are() -> None:
    bot = await new_bot()
    text = HOSTILE.replace("\u0000", "")
    await bot.remember(text, *HERS, tags=["<b>x</b>", "a,b"])
    here = await space(bot)
    found = await ask(bot, "/episodes", space_id=here, query="<IMG", tag="<b>x</b>")
    assert found["episodes"][0]["content"] == text
    for field in ("query", "tag", "sender_id", "source", "session"):
        assert (await ask(bot, "/episodes", space_id=here, **{field: HOSTILE}))["episodes"] == []
    await ask(bot, "/episodes_search", space_id=here, query=HOSTILE)


async def test_what_does_not_fit_is_one_clear_sentence() -> None:
    bot = await new_bot()
    here = await space(bot)
    cases: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("/episodes", {"size": 101}, "size: at most 100 is expected"),
        ("/episodes", {"page": 0}, "page: at least 1 is expected"),
        ("/episodes", {"page": "two"}, "page: a whole number is expected"),
        ("/episodes", {"statuses": []}, "statuses: at least 1 entry is expected"),
        ("/episodes", {"statuses": ["deleted"]}, "statuses.0: one of 'active'"),
        ("/episodes", {"sender_id": {"$ne": 1}}, "sender_id: one text is expected"),
        ("/episodes", {"query": None}, "query: one text is expected"),
        ("/episodes", {"importance_min": 6}, "importance_min: at most 5 is expected"),
        ("/episodes", {"facets": "perhaps"}, "facets: yes or no"),
        ("/episodes", {"query": "x" * 8_001}, "query: at most 8000 characters"),
        ("/episodes_search", {}, "query: this is missing"),
        ("/episodes_search", {"query": "x", "k": 51}, "k: at most 50 is expected"),
        ("/episode", {"id": 7}, "id: one text is expected"),
        ("/episodes_change", {"ids": [], "action": "archive"}, "ids: at least 1 entry"),
        ("/episodes_change", {"ids": ["a"] * 201, "action": "archive"}, "ids: at most 200 entries"),
        ("/episodes_change", {"ids": "all", "action": "archive"}, "ids: a list is expected"),
        ("/episodes_change", {"ids": ["a"], "action": "erase"}, "action: one of 'archive'"),
        ("/timeline", {"by": "hour"}, "by: one of 'auto'"),
        ("/timeline", {"utc_offset": 9_999}, "utc_offset: at most 840"),
    )
    for endpoint, body, expected in cases:
        code, text = await refused(bot, endpoint, space_id=here, **body)
        assert (code, expected in text) == ("bad_request", True), text
    code, text = await refused(bot, "/episodes", space_id=here, after="never")
    assert (code, text.startswith("after: ")) == ("parameter", True)
    assert "不能大于 100" in (await refused(bot, "/episodes", space_id=here, size=101, language="zh_Hans"))[1]


# ---------------------------------------------------------------- many


async def test_thousands_of_memories_cost_their_pages_once_and_then_nothing() -> None:
    bot = await new_bot()
    await bot.remember("The one that matters", *HERS)
    count, hidden = 3_000, 500
    plant(bot, (record(f"Note {n}", numbered_id(n), age_days=n / 24) for n in range(count)))
    plant(
        bot,
        (
            record(f"Old {n}", numbered_id(count + n), age_days=n, status=Status.ARCHIVED)
            for n in range(hidden)
        ),
    )
    bot.restart()
    here = await space(bot)

    async def cost(endpoint: str, **body: Any) -> int:
        with bot.api.calls.recording() as calls:
            await ask(bot, endpoint, space_id=here, **body)
        return sum(call.name.startswith("vector_") for call in calls.calls)

    bot.restart()  # deriving a space counts what is in it
    bot.service.spaces.name(GROUP)
    assert await cost("/episodes", size=100) <= 25
    assert await cost("/episodes", size=100, page=7, query="note", facets=False) == 0
    assert await cost("/spaces", counts=True) == 0
    assert await cost("/diagnostics") <= 2
    for costly in ({"statuses": EVERY}, {"statuses": ["archived"], "page": 3}):
        assert await cost("/episodes", **costly) <= 3
    assert await cost("/timeline", by="month") <= 3
    assert await cost("/episode", id=numbered_id(5)) <= 2
    assert await cost("/episodes_search", query="the one that matters") <= 3
    assert await cost("/injection") == 0
    assert await cost("/profiles") == 0
    assert await cost("/episode_edit", id=numbered_id(7), importance=5) <= 10
    assert await cost("/episodes_change", ids=[numbered_id(8)], action="archive") <= 10
    chosen = [numbered_id(n) for n in range(100, 300)]
    assert await cost("/episodes_change", ids=chosen, action="delete") <= 40
    count, hidden = count - 1, hidden + 1
    found = await ask(bot, "/episodes", space_id=here, statuses=EVERY, page=35, size=100)
    assert (found["total"], found["pages"], len(found["episodes"])) == (count + hidden + 1, 36, 100)
    seen: set[str] = set()
    for page in range(1, 31):
        seen |= {
            e["id"] for e in (await ask(bot, "/episodes", space_id=here, size=100, page=page))["episodes"]
        }
    assert len(seen) == count + 1


async def test_the_longest_texts_are_cut_in_lists_only() -> None:
    bot = await new_bot()
    await bot.remember("The one that matters", *HERS)
    long, whole = "长" * 8_000, Speaker("9001", "Mina")
    tags = tuple("标签" * 16 + str(n) for n in range(50))
    near = [1.0] * 384
    plant(bot, (record(long, numbered_id(n), speaker=whole, tags=tags, vector=near) for n in range(105)))
    bot.restart()
    here = await space(bot)
    found = (await ask(bot, "/episodes", space_id=here, size=100))["episodes"]
    assert len(found) == 100
    assert all(e["cut"] and e["length"] == 8_000 and len(e["content"]) >= 200 for e in found[1:])
    one = (await ask(bot, "/episode", space_id=here, id=found[-1]["id"]))["episode"]
    assert (one["content"], one["tags"], one["cut"]) == (long, list(tags), False)
    few = (await ask(bot, "/episodes", space_id=here, size=5))["episodes"]
    assert not any(e["cut"] for e in few)
    await ask(bot, "/episodes_search", space_id=here, query="长", k=50)
    part, left = 1, 1
    while part <= left:
        left = (await ask(bot, "/export", space_id=here, part=part))["parts"]
        part += 1
    assert left > 5
