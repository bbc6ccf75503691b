"""Tool parameters as models really send them: taken as clearly meant, or refused with one sentence (M1, M4)."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from longterm_memory.chat.tool_input import (
    PARAMETERS,
    TOP_K_MAX,
    ForgetInput,
    ProfileInput,
    RecallInput,
    RememberInput,
    read_forget,
    read_profile,
    read_recall,
    read_remember,
)
from longterm_memory.errors import BadArgument, LongTermMemoryError, NotFound
from longterm_memory.models import Filters, Status
from longterm_memory.words import explain


def refused(read: Any, params: object) -> tuple[str, str]:
    """The reason of a refusal and the parameter it names; it is one sentence in both languages."""
    with pytest.raises((BadArgument, NotFound)) as caught:
        read(params)
    for language in ("en_US", "zh_Hans"):
        assert "\n" not in explain(language, caught.value)
    return caught.value.reason, str(caught.value.details.get("parameter", ""))


# ---------------------------------------------------------------- the whole


def test_the_whole_as_json_text_and_unknown_parameters() -> None:
    for params in (
        {"content": "hi", "tags": ["a"]}, '{"content": "hi", "tags": ["a"]}',
        {"Content": "hi", "TAGS": ["a"]},
        {"content": "hi", "tags": ["a"], "user_key": "bot:x", "filters": {"a": 1}, "scope": "all"},
    ):  # fmt: skip
        assert read_remember(params) == RememberInput("hi", ("a",))


def test_what_is_no_object_is_refused() -> None:
    for params in (None, "", "hi", "[1]", 5, '"x"', "[" * 100_000):
        for read in (read_remember, read_recall, read_profile, read_forget):
            assert refused(read, params)[0] == "expected_object"


def test_what_is_read_is_what_the_models_are_told() -> None:
    for tool, names in PARAMETERS.items():
        path = Path(__file__).parents[2] / "components" / "tools" / f"{tool}.yaml"
        told = yaml.safe_load(path.read_text("utf-8"))["spec"]["parameters"]["properties"]
        assert tuple(told) == names


# ---------------------------------------------------------------- remember


def test_content() -> None:
    for content, read in (
        ("  a\n b  ", "  a\n b  "), ({"text": "hi"}, "hi"), ({"content": {"text": "hi"}}, "hi"), (["a"], "a"),
        (["a", "b"], "a\nb"), ([{"type": "text", "text": "hi"}], "hi"), (5.0, "5"), (0.5, "0.5"),
        ('{"a": 1}', '{"a": 1}'),
    ):  # fmt: skip
        assert read_remember({"content": content}).content == read


def test_empty_content() -> None:
    for content in (None, "", "  \n", "null", "undefined", [None], {"text": None}):
        assert refused(read_remember, {"content": content})[0] == "content_empty"
        assert refused(read_remember, {})[0] == "content_empty"


def test_content_that_is_no_text() -> None:
    for content in (True, {"a": 1}, [[[[[["x"]]]]]], math.nan, 10**400):
        assert refused(read_remember, {"content": content}) == ("expected_text", "content")


def test_tags() -> None:
    for tags, read in (
        (["a", "b"], ("a", "b")), ('["a","b"]', ("a", "b")), ("['a', 'b']", ("a", "b")),
        ("travel", ("travel",)), ("旅行，工作", ("旅行", "工作")),
        ("旅行、工作; x,, y；z", ("旅行", "工作", "x", "y", "z")),
        (None, ()), ("", ()), ("null", ()), ([], ()), ({}, ()), ({"0": "a"}, ("a",)), ('{"0":"a"}', ("a",)),
        ({"tags": ["a"]}, ("a",)), ([1, None, ["x"]], ("1", "x")), (["a,b", "c，d"], ("a,b", "c，d")),
        (["Work", "work ", "ＷＯＲＫ", "  "], ("Work",)), (7, ("7",)),
    ):  # fmt: skip
        assert read_remember({"content": "x", "tags": tags}).tags == read


def test_tags_that_are_none() -> None:
    for tags in (True, {"a": 1}, [True], [{"a": "b"}], [[[[[["x"]]]]]]):
        assert refused(read_remember, {"content": "x", "tags": tags}) == ("expected_tags", "tags")


def test_importance() -> None:
    for importance, read in (
        (None, 2), ("", 2), (4, 4), ("4", 4), ("4.0", 4), ([4], 4), ("4/5", 4), ("high", 4), ("高", 4),
        ("low", 1), ("critical", 5), ("非常重要", 5), (0.8, 4), (0.01, 1), (0.5, 3), (0.99, 5), (1.0, 1),
        (3.5, 4),
    ):  # fmt: skip
        found = read_remember({"content": "x", "importance": importance})
        assert (found.importance, found.importance_moved) == (read, False)


def test_importance_out_of_range_is_moved_and_said() -> None:
    for importance, read in ((99, 5), ("10", 5), (0, 1), (5.5, 5), (1e300, 5)):
        found = read_remember({"content": "x", "importance": importance})
        assert (found.importance, found.importance_moved) == (read, True)


def test_importance_that_is_none() -> None:
    for importance in (True, "very", {"a": 1}, math.inf, math.nan, "4 or 5", 10**400):
        reason = refused(read_remember, {"content": "x", "importance": importance})
        assert reason == ("expected_importance", "importance")


def test_event_time() -> None:
    for value in (None, "", "null", "  "):
        assert read_remember({"content": "x", "event_time": value}).event_time is None
    day = datetime(2026, 5, 1, tzinfo=UTC)
    for given_ in ("2026-05-01", "2026-05-01T08:00:00+08:00", 1777593600):
        assert read_remember({"content": "x", "event_time": given_}).event_time == day
    for odd in ("tomorrow", True, {"a": 1}, "2026-99-99", [], math.nan):
        assert refused(read_remember, {"content": "x", "event_time": odd}) == ("expected_time", "event_time")


# ---------------------------------------------------------------- recall


def test_top_k() -> None:
    for top_k, k in (
        (None, 5), ("", 5), ("3", 3), (3.7, 3), ("３", 3), (0, 5), (-1, 5), (1e9, TOP_K_MAX),
        ("1e9", TOP_K_MAX), ("all", TOP_K_MAX), ("全部", TOP_K_MAX), ([7], 7),
    ):  # fmt: skip
        assert read_recall({"query": "x", "top_k": top_k}).k == k


def test_top_k_that_is_none() -> None:
    for top_k in (True, "three", {}, math.nan):
        assert refused(read_recall, {"query": "x", "top_k": top_k}) == ("expected_count", "top_k")


def test_what_is_left_out_has_a_default() -> None:
    assert read_recall({"query": "x"}, default_k=9) == RecallInput("x", 9)
    assert read_recall({"query": "x", "importance_min": 0}).filters == Filters()
    for query in ("", "  ", "null"):  # a blank one is for recall to answer
        assert not read_recall({"query": query}).query.strip()


def test_blank_filters_are_no_filters() -> None:
    for nothing in (None, "", "null", "undefined", [""]):
        names = (
            "speaker_id",
            "speaker_name",
            "time_after",
            "time_before",
            "importance_min",
            "source",
            "status",
        )
        given = {name: nothing for name in names if not (isinstance(nothing, list) and "time" in name)}
        assert read_recall({"query": "house", **given}) == RecallInput("house", 5)


def test_filters() -> None:
    found = read_recall(
        {
            "query": "x",
            "speaker_id": 9001,
            "speaker_name": " Mina ",
            "time_after": "2026-05-01",
            "time_before": "2026-05-01",
            "importance_min": "high",
            "source": "Import",
            "status": "archived, superseded",
        }
    )
    assert found.filters == Filters(
        sender_id="9001",
        sender_name="Mina",
        time_after=datetime(2026, 5, 1, tzinfo=UTC),
        time_before=datetime(2026, 5, 2, tzinfo=UTC),
        importance_min=4,
        source="import",
        statuses=frozenset({Status.ARCHIVED, Status.SUPERSEDED}),
    )


def test_speaker_ids() -> None:
    for value, sender in (
        (9001.0, "9001"), (123456789012345678, "123456789012345678"), ("007", "007"), (["9001"], "9001"),
    ):  # fmt: skip
        assert read_recall({"query": "x", "speaker_id": value}).filters.sender_id == sender


def test_all_statuses_are_those_of_kept_memories() -> None:
    for status in ("all", ["all"], "any", "全部"):
        statuses = read_recall({"query": "x", "status": status}).filters.statuses
        assert statuses == frozenset(Status) - {Status.DELETED}


def test_an_unusable_filter_is_an_error_and_never_no_filter() -> None:
    for params, reason in (
        ({"speaker_id": ["9001", "9002"]}, ("expected_text", "speaker_id")),
        ({"speaker_id": {"id": "9001"}}, ("expected_text", "speaker_id")),
        ({"speaker_id": 10**400}, ("expected_text", "speaker_id")),
        ({"speaker_id": 1e300}, ("expected_text", "speaker_id")),
        ({"speaker_name": 1.5}, ("expected_text", "speaker_name")),
        ({"time_after": "soon"}, ("expected_time", "time_after")),
        ({"importance_min": 99}, ("expected_importance", "importance_min")),
        ({"importance_min": "x"}, ("expected_importance", "importance_min")),
        ({"status": "deleted"}, ("expected_choice", "status")),
        ({"status": "active, gone"}, ("expected_choice", "status")),
        ({"status": {"$ne": "active"}}, ("expected_tags", "status")),
        ({"source": {"$in": []}}, ("expected_text", "source")), ({"query": True}, ("expected_text", "query")),
        ({"query": None}, ("expected_text", "query")),
    ):  # fmt: skip
        assert refused(read_recall, {"query": "x", **params}) == reason


def test_half_characters_are_replaced() -> None:
    assert read_remember({"content": "a\ud800", "tags": ["b\udc00"]}) == RememberInput(
        "a\ufffd", ("b\ufffd",)
    )
    found = read_recall({"query": "\ud83d", "speaker_name": "x\ud800", "source": "\udc00"})
    assert (found.query, found.filters.sender_name, found.filters.source) == ("\ufffd", "x\ufffd", "\ufffd")


# ---------------------------------------------------------------- update_profile


def test_whose_profile() -> None:
    words = {
        "speaker": ("user", "User ", "speaker", "SELF", "用户"),
        "session": ("session", "Group", "chat", "群"),
    }
    for target, scopes in words.items():
        for scope in scopes:
            params = {"scope": scope, "field": "notes", "action": "add", "value": "x"}
            assert read_profile(params).target == target
    for field in ("name", "traits", "preferences", "notes"):
        for nothing in (None, "", "null"):
            params = {"scope": nothing, "field": field, "action": "set", "value": "x"}
            assert read_profile(params).target == ("session" if field == "notes" else "speaker")


def test_any_other_scope_is_refused() -> None:
    for scope in ("global", "bot", "b-01:group_1", True, 1, {}, ["user", "x"]):
        params = {"scope": scope, "field": "notes", "action": "add", "value": "x"}
        assert refused(read_profile, params) == ("expected_choice", "scope")


def test_fields_and_actions() -> None:
    for field, action, read in (
        ("preference", "ADD", ("preferences", "add")), ("Trait", "append", ("traits", "add")),
        ("NOTE", "delete", ("notes", "remove")), ("Names", "update", ("name", "set")),
        ("name", "add", ("name", "set")), ("偏好", "添加", ("preferences", "add")),
        ("traits", "replace", ("traits", "set")),
    ):  # fmt: skip
        found = read_profile({"field": field, "action": action, "value": "x"})
        assert (found.field, found.action) == read


def test_an_update_of_one_fact_is_a_set_and_of_a_whole_list_refused() -> None:
    params = {"scope": "user", "field": "preference", "action": "UPDATE", "value": "tea"}
    assert refused(read_profile, params)[0] == "expected_fact_key"
    assert read_profile({**params, "fact_key": "drink"}) == ProfileInput(
        "speaker", "preferences", "set", ("tea",), "drink"
    )
    assert read_profile({**params, "previous_value": "coffee"}).action == "set"
    assert refused(read_profile, {**params, "field": "notes"})[0] == "expected_fact_key"
    assert read_profile({**params, "field": "notes", "previous_value": "x"}).action == "set"


def test_an_empty_value() -> None:
    for value in (None, "", "null", [None]):
        for field, action in (("traits", "set"), ("traits", "add"), ("name", "set"), ("notes", "remove")):
            params = {"field": field, "action": action, "value": value}
            assert refused(read_profile, params) == ("expected_value", "value")
        assert read_profile({"field": "name", "action": "remove", "value": value}).values == ()
        params = {"field": "traits", "action": "remove", "value": value, "fact_key": "city"}
        assert read_profile(params).value == ""
        params = {"field": "traits", "action": "remove", "value": value, "previous_value": "tea"}
        assert read_profile(params).values == ("tea",)


def test_several_values_are_for_lists() -> None:
    found = read_profile({"field": "traits", "action": "set", "value": '["a, b", "c"]'})
    assert found.values == ("a, b", "c")
    assert read_profile({"field": "traits", "action": "add", "value": ["a"]}).value == "a"
    assert read_profile({"field": "traits", "action": "add", "value": ["a", "b"]}).values == ("a", "b")
    for more in ({"field": "name"}, {"field": "notes"}, {"fact_key": "k"}):
        params = {"field": "traits", "action": "set", "value": ["a", "b"], **more}
        assert refused(read_profile, params) == ("expected_one", "value")


def test_what_is_not_clear_is_refused() -> None:
    for params, reason in (
        ({"action": "set", "value": "x"}, ("expected_choice", "field")),
        ({"field": "mood", "action": "set", "value": "x"}, ("expected_choice", "field")),
        ({"field": "name", "value": "x"}, ("expected_choice", "action")),
        ({"field": "name", "action": "merge", "value": "x"}, ("expected_choice", "action")),
        ({"field": "name", "action": "set", "value": True}, ("expected_text", "value")),
        ({"field": "traits", "action": "add", "value": {"city": "Berlin"}}, ("expected_text", "value")),
        ({"field": "traits", "action": "add", "value": "x", "fact_key": ["a", "b"]}, ("expected_text", "fact_key")),
    ):  # fmt: skip
        assert refused(read_profile, params) == reason


# ---------------------------------------------------------------- forget


def test_forget() -> None:
    for value in ("k7m29xqd", "[K7M29XQD]", "(id k7m29xqd)", ["k7m29xqd"], {"value": "#k7m29xqd"}):
        assert read_forget({"episode_id": value}) == ForgetInput("k7m29xqd")
        assert read_forget({"episodeId": value}) == ForgetInput("k7m29xqd")


def test_forget_something_that_is_no_id() -> None:
    for value in ("1", 0, "episode_id", "undefined", "k7m29xqd, m2345678", "../x"):
        assert refused(read_forget, {"episode_id": value})[0] == "id_malformed"
    for params in ({}, {"episode_id": None}, {"episode_id": ""}, {"episode_id": []}):
        assert refused(read_forget, params) == ("expected_id", "episode_id")


# ---------------------------------------------------------------- anything at all

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_NAMES = sorted({name for names in PARAMETERS.values() for name in names})


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=8), st.booleans())
def test_any_parameters_are_an_input_or_a_sentence(params: dict[str, object], as_text: bool) -> None:
    given_params: object = json.dumps(params) if as_text else params
    for read in (read_remember, read_recall, read_profile, read_forget):
        try:
            read(given_params)
        except LongTermMemoryError as error:
            assert explain("en_US", error)
            assert explain("zh_Hans", error)
