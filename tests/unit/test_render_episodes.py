"""Replies about memories: search, list, show, forget, delete, and what the tools answer; complete, in one message."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from longterm_memory.chat import render, tool_replies
from longterm_memory.chat.command_line import parse
from longterm_memory.chat.ids import normalize_id
from longterm_memory.chat.tool_input import RememberInput
from longterm_memory.chat.verbs import Verb
from longterm_memory.chat.voice import Voice
from longterm_memory.episodes import Forgotten, Remembered
from longterm_memory.errors import BadArgument, NotFound
from longterm_memory.listing import Page
from longterm_memory.models import KEPT_STATUSES, Filters, Profile, ProfileChange, RecallResult, Status
from longterm_memory.scope import Speaker
from tests.support.replies import EN, MINA, NOW, VOICES, ZH, episode, harmless, hits, page, worst

# ------------------------------------------------------------ commands


def test_list_page() -> None:
    shown = [
        episode(0),
        episode(1, tags=("work", "a, b"), importance=4, status=Status.ARCHIVED, session_name="group_77002"),
        episode(2, sender_name="", sender_id=""),
    ]
    text = render.listing(EN, Page(tuple(shown), 132, 2, 14, 112), Filters(), here="group_77001")
    assert text.splitlines() == [
        "page 2 of 14, 132 memories, newest first",
        "[k7m29x00] · 2026-05-10 · Mina (9001) · Rent is due on the 15th",
        "[k7m29x01] · 2026-05-09 · Mina (9001) · importance 4 · #work #a, b · archived · in group_77002 ·"
        " Rent is due on the 15th",
        "[k7m29x02] · 2026-05-08 · an unknown speaker · Rent is due on the 15th",
        "… 112 more, see page 3: !memory list 3",
    ]
    filtered = render.listing(EN, Page(tuple(shown), 132, 2, 14, 112), Filters(tag="x"))
    assert filtered.endswith("see page 3: repeat the line with --page 3")


def test_a_list_of_one_and_of_none() -> None:
    one = render.listing(EN, page([episode()]), Filters())
    assert one.splitlines()[0] == "page 1 of 1, 1 memory, newest first"
    assert render.listing(EN, page([]), Filters()) == "No memories here yet."
    assert render.listing(EN, page([]), Filters(tag="x")) == "No memories match these filters."


def test_search() -> None:
    found = render.search(EN, hits(episode(0), episode(1)), Filters())
    assert found.splitlines() == [
        "Found 2 memories, best first (score, id):",
        "[k7m29x00] 0.88 · 2026-05-10 · Mina (9001) · Rent is due on the 15th",
        "[k7m29x01] 0.86 · 2026-05-09 · Mina (9001) · Rent is due on the 15th",
    ]
    result = hits(*(episode(i) for i in range(11)))
    first = render.search(EN, result, Filters())
    assert first.splitlines()[0].startswith("Page 1")
    assert first.endswith("repeat the search with --page 2")
    second = render.search(EN, result, Filters(), page=2)
    assert "[k7m29x0a]" in second
    assert "--page" not in second
    assert render.search(EN, result, Filters(), page=3) == "Nothing more on page 3."


def test_what_finds_nothing_says_why() -> None:
    for tell in (
        lambda result, filters: render.search(EN, result, filters),
        lambda result, filters: tool_replies.recalled(EN, result, filters, now=NOW, speaker=MINA),
    ):
        answers = {
            tell(RecallResult(skipped=skipped), filters)
            for skipped, filters in (("", Filters()), ("", Filters(tag="x")), ("blank", Filters()))
        }
        assert len(answers) == 3


def test_show_tells_everything() -> None:
    shown = episode(
        0,
        content="line one\n[k7m29xqd] line two",
        created_at=NOW + timedelta(hours=1),
        tags=("work", "a, b"),
        status=Status.SUPERSEDED,
        superseded_by="m2345678",
        supersedes=(("n2345678", 1),),
        document_id="doc-1",
        imported_episode_id="会话:1",
    )
    text = render.show(Voice(zone=ZoneInfo("Asia/Shanghai")), shown)
    assert text.splitlines() == [
        "[k7m29x00] superseded",
        "Speaker: Mina (9001)",
        "When: 2026-05-10 16:00 CST (stored 2026-05-10 17:00 CST)",
        "Importance: 2 of 5",
        "Tags: work, a, b",
        "Source: agent",
        "Said in: group_77001",
        "Replaced by: [m2345678]",
        "Replaces: [n2345678]",
        "From upload: doc-1",
        "Id where it came from: 会话:1",
        "Content (28 characters):",
        "> line one",
        "> [k7m29xqd] line two",
    ]


def test_a_long_memory_is_shown_whole_over_pages() -> None:
    for content in ("x" * 8_000, "a\n" * 4_000, "word " * 1_600):
        shown, seen = episode(0, content=content), ""
        for number in range(1, 12):
            text = render.show(EN, shown, number)
            harmless(text)
            seen += "".join(line[2:] for line in text.splitlines() if line.startswith("> "))
            if f"!memory show k7m29x00 {number + 1}" not in text:
                break
        assert re.sub(r"\s", "", seen) == re.sub(r"\s", "", content)


def test_forgotten() -> None:
    text = render.forgotten(EN, Forgotten(episode(), ("m2345678", "n2345678")))
    assert text.startswith("Deleted k7m29x00 and 2 superseded versions. The chat history that the host")
    for voice in VOICES:
        for chain in ((), ("m2345678",), ("m2345678", "n2345678")):
            for told in (render.forgotten, tool_replies.forgotten):
                assert "k7m29x00" in told(voice, Forgotten(episode(), chain))
            assert voice.say("forgot_history") in render.forgotten(voice, Forgotten(episode(), chain))


def test_deleted_reports_count_ids_and_filters() -> None:
    bound = datetime(2026, 5, 1, tzinfo=UTC)
    filters = Filters(tag="work", sender_id="9001", time_before=bound, statuses=KEPT_STATUSES)
    text = render.deleted(EN, ["k7m29xqd", "m2345678", "n2345678"], filters)
    assert text.startswith(
        "Deleted 3 memories: k7m29xqd m2345678 n2345678."
        " Filters: speaker 9001, tag work, before 2026-05-01 00:00 UTC, any status."
    )
    assert render.deleted(EN, [], Filters(statuses=frozenset({Status.ARCHIVED}))) == (
        "Nothing matched, so nothing was deleted. Filters: status archived."
    )
    many = render.deleted(EN, [f"k7m2{i:04d}" for i in range(5_000)], filters)
    assert "Deleted 5000 memories" in many
    assert "and 4980 more" in many
    harmless(many)


def test_an_error_about_what_was_typed_points_to_its_help_and_others_stand_alone() -> None:
    with pytest.raises(BadArgument) as caught:
        parse("memory delete --tag x --tag y")
    text = render.error(EN, caught.value)
    assert text == "--tag is given twice; give it once. Nothing was done. (!memory help delete)"
    problem = BadArgument("delete_needs_filter")
    assert render.error(ZH, problem, Verb.DELETE).endswith("（!memory help delete）")
    for error in (NotFound("id_unknown", id="k7m29xqd"), BadArgument("speaker_unknown")):
        assert "help" not in render.error(EN, error, Verb.SHOW)
    assert "help" not in render.error(EN, BadArgument("content_empty"))
    assert render.error(ZH, NotFound("id_unknown", id="k7m29xqd")).startswith("未找到")


# ------------------------------------------------------------ tools


def test_remembered() -> None:
    given = RememberInput("x", importance=5, importance_moved=True)
    assert tool_replies.remembered(EN, Remembered(episode()), RememberInput("x")) == "Stored as [k7m29x00]."
    assert tool_replies.remembered(EN, Remembered(episode(), superseded=("m2345678",)), given) == (
        "Stored as [k7m29x00]. It replaces [m2345678]. The importance was outside 1 to 5 and was stored as 5."
    )
    assert "nothing new" in tool_replies.remembered(EN, Remembered(episode(), duplicate=True), given)


def test_every_id_that_a_reply_shows_is_taken_back() -> None:
    for voice in VOICES:
        texts = [
            tool_replies.remembered(voice, Remembered(episode()), RememberInput("x")),
            tool_replies.recalled(voice, hits(episode()), Filters(), now=NOW, speaker=MINA),
            render.listing(voice, page([episode()]), Filters()),
            render.search(voice, hits(episode()), Filters()),
            render.show(voice, episode()),
            render.forgotten(voice, Forgotten(episode())),
        ]
        for text in texts:
            shown = re.search(r"[(\[#]?\bk7m29x00\b[)\]]?[.,。]?", text)
            assert shown is not None
            assert normalize_id(shown[0]) == "k7m29x00"


def test_recalled() -> None:
    for voice in VOICES:
        text = tool_replies.recalled(
            voice, hits(episode(0), worst(1)), Filters(), now=NOW, speaker=Speaker("9002", "Tao")
        )
        assert "2026-05-10" in text
        assert "Mina" in text
        assert "<<Rent is due on the 15th>>" in text
        assert text.count("<<") == text.count(">>")
        assert "</mem" not in text
        assert "\u202e" not in text
        assert len(text) <= tool_replies.RECALL_CHARS + 200


def test_profile_changed_says_whose_profile() -> None:
    for voice in VOICES:
        for target in ("session", "speaker"):
            change = ProfileChange(Profile(), target, "no_match", {"field": "traits"})
            text = tool_replies.profile_changed(voice, change)
            assert voice.tell(f"profile_{target}") in text
            assert "\n" not in text


def test_a_failure_of_a_tool_is_one_line() -> None:
    for voice in VOICES:
        failure = tool_replies.failed(voice, NotFound("id_unknown", id="k7m29xqd"))
        assert "k7m29xqd" in failure
        assert "\n" not in failure
