"""Settings: bad values fall back with one line, the plugin config wins over frozen creation settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.scope import Isolation
from longterm_memory.settings import CREATION_SETTINGS, Settings

DEFAULTS = Settings()


def load(plugin: Mapping[str, Any] | None = None, creation: Mapping[str, Any] | None = None) -> Settings:
    return Settings.load(plugin or {}, creation or {})[0]


def test_nothing_given_is_the_defaults_without_a_problem() -> None:
    assert Settings.load({}, {}) == (DEFAULTS, ())
    assert (DEFAULTS.isolation, DEFAULTS.recency_half_life_days, DEFAULTS.auto_recall_top_k) == (
        "session",
        30,
        3,
    )
    assert (DEFAULTS.max_profile_traits, DEFAULTS.max_profile_preferences) == (20, 10)
    assert (DEFAULTS.timezone, DEFAULTS.command_policy) == ("UTC", "owner_or_admin")


def test_a_bad_number_falls_back_with_one_line() -> None:  # K1
    for name in (
        "recency_half_life_days", "auto_recall_top_k", "vector_weight", "max_profile_traits",
        "recall_deadline_seconds", "relevance_floor", "episode_budget_chars",
    ):  # fmt: skip
        for bad in (-5, "-5", "abc", True, [], {}, float("nan"), float("inf"), 1e30, "9" * 5000, "1;2"):
            settings, problems = Settings.load({name: bad}, {})
            assert getattr(settings, name) == getattr(DEFAULTS, name)
            assert len(problems) == 1
            assert problems[0].startswith(f"{name}: ")


def test_an_empty_value_is_not_set() -> None:  # K1
    for empty in ("", "  ", None):
        for name in list(Settings.model_fields):
            settings, problems = Settings.load({name: empty}, {name: empty})
            assert settings == DEFAULTS
            assert problems == ()


def test_a_half_life_of_zero_falls_back() -> None:  # K1
    settings, problems = Settings.load({"recency_half_life_days": 0}, {})
    assert settings.recency_half_life_days == 30
    assert len(problems) == 1


def test_a_bad_choice_falls_back_with_one_line() -> None:
    for name, bad in (
        ("isolation", "global"), ("isolation", 1), ("retrieval_strategy", "magic"),
        ("episode_placement", "prompt"), ("command_policy", "nobody"), ("language", "xx"),
        ("timezone", "Mars/Olympus"), ("timezone", "../../etc/passwd"), ("timezone", "Europe"),
        ("timezone", 8), ("command_prefixes", []), ("command_prefixes", ["!", ""]),
        ("command_prefixes", {"!": 1}), ("memory_admins", {"9001": True}), ("memory_admins", 9001),
        ("exact_match_boost", "maybe"),
    ):  # fmt: skip
        settings, problems = Settings.load({name: bad}, {})
        assert getattr(settings, name) == getattr(DEFAULTS, name)
        assert len(problems) == 1


@given(
    st.dictionaries(
        st.sampled_from(list(Settings.model_fields)),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=4,
        ),
    )
)
def test_whatever_is_configured_nothing_raises_and_every_value_is_usable(config: dict[str, Any]) -> None:
    settings, _ = Settings.load(config, config)
    assert Settings.model_validate(settings.model_dump()) == settings
    assert datetime(2026, 1, 1, tzinfo=settings.zone).tzinfo is not None
    assert 0 <= settings.vector_weight_effective <= 1


def test_a_problem_names_the_setting_and_never_the_value() -> None:
    secret = "sk-test-FAKE0123456789abcdef"
    for name in Settings.model_fields:
        _, problems = Settings.load({name: {"key": secret}}, {})
        assert all(secret not in p for p in problems)


def test_numbers_may_be_text() -> None:
    for value in ("45", " 45 ", "45.0", 45, 45.0, "４５", "4.5e1"):
        assert load({"recency_half_life_days": value}).recency_half_life_days == 45


def test_flags_may_be_words() -> None:
    for value, flag in (
        ("off", False), ("0", False), ("No", False), (False, False), ("TRUE", True), ("on", True), (1, True),
        ("１", True),
    ):  # fmt: skip
        assert load({"exact_match_boost": value}).exact_match_boost is flag


# ------------------------------------------------------------ precedence


def test_the_plugin_config_wins_where_it_is_set() -> None:
    settings = load(
        {"isolation": "bot", "auto_recall_top_k": ""}, {"isolation": "session", "auto_recall_top_k": 7}
    )
    assert settings.isolation is Isolation.BOT
    assert settings.auto_recall_top_k == 7


def test_a_bad_override_falls_back_to_the_creation_setting() -> None:
    settings, problems = Settings.load({"vector_weight": 7}, {"vector_weight": "0.8"})
    assert settings.vector_weight == 0.8
    assert len(problems) == 1


def test_zero_is_set() -> None:
    assert load({"auto_recall_top_k": 0}, {"auto_recall_top_k": 5}).auto_recall_top_k == 0


def test_the_embedding_model_is_never_overridden() -> None:
    given_ = {"embedding_model_uuid": "m"}
    assert load({"embedding_model_uuid": "other"}, given_).embedding_model_uuid == "m"
    assert load({"embedding_model_uuid": "other"}).embedding_model_uuid == ""


def test_what_belongs_to_the_plugin_is_not_taken_from_the_knowledge_base() -> None:
    given_ = {"memory_admins": ["9001"], "language": "zh_Hans", "relevance_floor": 0.9}
    assert load({}, given_) == DEFAULTS
    assert set(CREATION_SETTINGS) <= set(Settings.model_fields)


def test_frozen_config_is_read() -> None:
    frozen = MappingProxyType({"memory_admins": ("9001", 9002), "command_prefixes": ("!",)})
    settings = load(frozen)
    assert settings.memory_admins == ("9001", "9002")
    assert settings.command_prefixes == ("!",)


def test_a_config_that_is_no_mapping_counts_as_empty() -> None:
    assert Settings.load(None, ["x"]) == (DEFAULTS, ())  # type: ignore[arg-type]


def test_unknown_names_are_ignored() -> None:
    assert Settings.load({"secret": "x", "model_fields": 1}, {"load": 2}) == (DEFAULTS, ())


# ------------------------------------------------------------ single settings


def test_admins_are_a_list_of_ids_in_any_spelling() -> None:
    for value in (
        "9001, 9002", "9001，9002", "9001、9002", "9001\n9002\n", ["9001", "9002"],
        (9001, "9002", " ", None, "9001"),
    ):  # fmt: skip
        assert load({"memory_admins": value}).memory_admins == ("9001", "9002")


def test_admins_007_and_7_are_two() -> None:
    assert load({"memory_admins": "007,7"}).memory_admins == ("007", "7")


def test_prefixes_may_be_one_line() -> None:
    assert load({"command_prefixes": "! /"}).command_prefixes == ("!", "/")


def test_the_zone_is_a_time_zone() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert moment.astimezone(load({"timezone": " Asia/Shanghai "}).zone).hour == 8
    assert moment.astimezone(DEFAULTS.zone).hour == 0


def test_the_zone_works_without_a_time_zone_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(key: str) -> None:
        raise KeyError(key)

    monkeypatch.setattr("longterm_memory.settings.ZoneInfo", missing)
    settings, problems = Settings.load({"timezone": "UTC"}, {})
    assert problems == ()
    assert settings.zone is UTC


def test_the_weights_follow_the_strategy() -> None:
    for strategy, weight, vector, lexical in (
        ("auto", 0.5, 0.5, 0.5), ("hybrid", 0.25, 0.25, 0.75), ("hybrid", 0, 0, 1), ("vector", 0.25, 1, 0),
    ):  # fmt: skip
        settings = load({"retrieval_strategy": strategy, "vector_weight": weight})
        assert settings.vector_weight_effective == pytest.approx(vector)
        assert settings.lexical_weight == pytest.approx(lexical)
