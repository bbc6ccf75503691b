"""The health check: words, knowledge base, pipeline, storage, packages, embedding model, with faults injected."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from longterm_memory.chat.health_lines import health_lines
from longterm_memory.chat.voice import Voice
from longterm_memory.conversation import Conversation
from longterm_memory.errors import EmbeddingFailed, LongTermMemoryError, NotConfigured
from longterm_memory.health import Check, HealthReport, Level, check_health, surroundings
from longterm_memory.health.outcomes import ANYWHERE, OUTCOMES
from longterm_memory.health.report import sentence_key
from longterm_memory.knowledge_base import KB_KEY
from longterm_memory.recall.calibration import CANARY
from longterm_memory.records.traits import METRICS, StoreTraits, metric_of
from longterm_memory.words import load
from playground.embedders import HashedWords
from tests.support.health import MODEL, STORE, Keeping, check, failing, made_up, outcomes, wrong
from tests.support.memory import KB, Bot, new_bot
from tests.support.strict_host import StrictHost

# ---------------------------------------------------------------- words and shape


def test_every_outcome_has_its_words_and_no_words_are_left_over() -> None:
    used = {"head_ok", "head_warn", "head_error", "more", *(f"mark_{level}" for level in Level)}
    used |= {"line", "line_remedy", "line_fine", "line_unchecked", *(f"title_{name}" for name in OUTCOMES)}
    for name, levels in OUTCOMES.items():
        for outcome, level in {**ANYWHERE, **levels}.items():
            used.add(sentence_key(name, outcome))
            if level is not Level.OK:
                used.add(sentence_key(name, outcome, "_remedy"))
    there = {key.removeprefix("health.") for key in load("en_US") if key.startswith("health.")}
    assert used == there


def test_a_report_is_as_bad_as_its_worst_check() -> None:
    fine, odd = Check.of("settings", "ok"), Check.of("host", "silent", supported="x")
    bad = Check.of("storage", "failed")
    assert HealthReport.of([fine]).level is Level.OK
    assert HealthReport.of([odd, fine]).level is Level.WARN
    assert HealthReport.of([fine, bad, odd]).level is Level.ERROR
    assert [c.name for c in HealthReport.of([odd, bad, fine]).checks] == ["settings", "storage", "host"]


def test_lines_say_what_failed_first_and_fit_into_one_reply() -> None:
    report = HealthReport.of(
        [
            *(Check.unchecked(name, "embedding") for name in STORE),
            Check.of("settings", "ok"),
            Check.of("embedding", "down"),
            Check.of("host", "silent", supported="x"),
        ]
    )
    lines = health_lines(Voice(), report)
    assert lines[0] == "Health: 1 failed, 10 to look at, 1 fine."
    assert lines[1].startswith("[ERROR] Embedding model: ")
    assert lines[2].startswith("→ ")
    unchecked = [line for line in lines if line.startswith("[WARNING] Not checked")]
    assert len(unchecked) == 1
    assert "Searching memories" in unchecked[0]
    whole = len("\n".join(lines))
    for limit, last in ((whole - 1, "[OK] Settings"), (whole // 2, "… and ")):
        short = health_lines(Voice(limit=limit), report)
        assert short[:3] == lines[:3]
        assert short[-1].startswith(last)
        assert len("\n".join(short)) <= limit


# ---------------------------------------------------------------- all is well


async def test_all_is_well_and_nothing_is_left(caplog: pytest.LogCaptureFixture) -> None:
    bot = await new_bot()
    await bot.remember("my umbrella is behind the piano")
    await bot.prompt("where is my umbrella?")
    before = dict(bot.api.values), set(bot.api.rows[KB])
    with caplog.at_level(logging.INFO):
        report = await check(bot)
    assert report.level is Level.OK
    found = outcomes(report)
    assert set(found) == set(OUTCOMES) - {"knowledge_base_refused"}
    assert (found["embedding_model"], found["store_plain_filter"]) == ("same", "refused")
    contents = report.named("contents")
    assert contents is not None
    assert contents.values == {"spaces": 1, "profiles": 0}
    assert (dict(bot.api.values), set(bot.api.rows[KB])) == before
    assert health_lines(Voice(), report)[0].startswith("Health: everything is fine")
    lines = [r.getMessage() for r in caplog.records if "] health: " in r.getMessage()]
    assert len(lines) == 1
    assert "level=ok" in lines[0]
    assert "umbrella" not in caplog.text


async def test_metric_metadata_and_the_plain_filter_are_told_apart() -> None:
    modes: list[tuple[dict[str, Any], str, str, str]] = [
        ({"metric": "l2", "rich": True, "user_key_filter": "held"}, "l2", "Chroma", "held"),
        ({"metric": "cosine", "rich": True}, "cosine", "Qdrant", "refused"),
        ({"metric": "cosine", "user_key_filter": "dropped"}, "cosine", "pgvector", "dropped"),
        ({"metric": "similarity", "user_key_filter": "dropped"}, "similarity", "Milvus", "dropped"),
    ]
    for options, metric, backend, verdict in modes:
        report = await check(await new_bot(**options))
        assert report.level is Level.OK
        similarity = report.named("store_metric")
        assert similarity is not None
        assert (similarity.outcome, similarity.values["backend"]) == (metric, backend)
        assert outcomes(report)["store_plain_filter"] == verdict
    assert metric_of([(1.0, 0.3), (0.5, 0.7)]) == "unknown"
    assert metric_of([(1.0, None), (0.5, None)]) == metric_of([]) == "unknown"
    # At cosine 0.5 alone, three of the four readings would be 0.5 or 1.
    assert {name: metric_of([(c, f(c)) for c in (1.0, 0.5)]) for name, f in METRICS.items()} == {
        name: name for name in METRICS
    }
    assert StoreTraits("unknown", True).backend == ""
    assert StoreTraits("cosine", True).backend == "Qdrant / SeekDB"
    assert StoreTraits("cosine", True, counts_matches=True, finds_by_id=False).backend == "Valkey"


async def test_a_store_that_behaves_like_seekdb_is_named_with_a_warning_and_asked_one_at_a_time() -> None:
    bot = await new_bot(metric="cosine", rich=True, counts=False)
    report = await check(bot)
    assert report.level is Level.WARN
    similarity = report.named("store_metric")
    assert similarity is not None
    assert (similarity.outcome, similarity.values["backend"]) == ("mixes", "SeekDB")
    # What a chat sees of it without a health check: the first search tells, then calls go one at a time.
    bot.restart()
    await bot.remember("the rent is due on Friday")
    await bot.hear("when is the rent due?")
    bot.api.latency = 0.002
    with bot.api.calls.recording() as log:
        await asyncio.gather(*(bot.hear("when is the rent due?", "group_77001", s) for s in "abcd"))
    calls = sorted((c.start, c.end or 0) for c in log.calls if c.name.startswith("vector_"))
    assert len(calls) >= 4
    assert all(before[1] < after[0] for before, after in pairwise(calls))


# ---------------------------------------------------------------- knowledge base, pipeline, settings


async def test_the_knowledge_base() -> None:
    bot = Bot(StrictHost())
    report = await check(bot)
    assert wrong(report) == {"knowledge_base": "none"}
    assert all(outcomes(report)[name] == "unchecked" for name in (*MODEL, *STORE))
    assert not {c.name for c in bot.api.calls.calls} & {"vector_upsert", "vector_list", "vector_search"}
    report = await check_health(bot.service, await Conversation.of_turn(bot.turn("!memory health")))
    assert outcomes(report)["pipeline"] == "unchecked"

    bot = await new_bot()
    bot.api.bases = {KB: "memory"}
    assert await failing(bot) == {}
    bot.api.bases = {"other": "docs"}
    assert await failing(bot) == {"knowledge_base": "gone"}

    bot = await new_bot()
    bot.api.values[KB_KEY] = b"{"
    bot.restart()
    assert await failing(bot) == {"knowledge_base": "damaged"}

    bot = await new_bot()
    bot.restart()
    bot.api.faults.fail = {"get_plugin_storage"}
    assert await failing(bot) == {"knowledge_base": "unread", "storage": "unread"}

    bot = Bot(StrictHost())
    await bot.service.knowledge_bases.register(KB, {})
    assert await failing(bot) == {"knowledge_base": "no_model"}


async def test_a_refused_knowledge_base_is_named_until_one_is_taken() -> None:
    bot = await new_bot()
    with pytest.raises(NotConfigured):
        await bot.service.knowledge_base_created("kb-2", {"embedding_model_uuid": "m"})
    report = await check(bot)
    assert wrong(report) == {"knowledge_base_refused": "second"}
    named = report.named("knowledge_base_refused")
    assert named is not None
    assert KB in named.text("en_US")
    for error, outcome in (
        (NotConfigured("no_embedding_model"), "no_model"),
        (LongTermMemoryError("storage_down"), "failed"),
    ):
        bot.service.knowledge_bases.refused(error)
        assert await failing(bot) == {"knowledge_base_refused": outcome}
    await bot.service.knowledge_base_deleted(KB)
    await bot.service.knowledge_base_created("kb-3", {"embedding_model_uuid": "m"})
    assert await failing(bot) == {}


async def test_the_pipeline_of_the_message() -> None:
    bot = await new_bot()
    for attached, outcome in (
        ([KB], "attached"),
        (["docs"], "not_attached"),
        ([], "emptied"),
        (None, "hidden"),
    ):
        conversation = await Conversation.of_turn(bot.turn("!memory health", kb=attached))
        report = await check_health(bot.service, conversation)
        assert outcomes(report)["pipeline"] == outcome
        assert outcomes(report)["store_delete"] == "ok"
    assert outcomes(await check(bot))["pipeline"] == "elsewhere"


async def test_settings_that_cannot_be_used() -> None:
    bot = await new_bot(config={"timezone": "Mars", "recall_deadline_seconds": -5})
    report = await check(bot)
    assert wrong(report) == {"settings": "problems"}
    problems = report.named("settings")
    assert problems is not None
    assert problems.values["count"] == 2
    assert "timezone" in problems.text("zh_Hans")
    assert "Mars" not in str(report)


# ---------------------------------------------------------------- storage, host, packages


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    def version(name: str) -> str:
        if name not in versions:
            raise PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(surroundings, "version", version)


async def test_plugin_storage_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = await new_bot()
    key = f"{surroundings.STORAGE_PREFIX}{'ab' * 16}"
    fixed = SimpleNamespace(token_hex=lambda size: "ab" * size, token_bytes=lambda size: b"x" * size)
    monkeypatch.setattr(surroundings, "secrets", fixed)
    bot.api.faults.storage_full = True
    assert await failing(bot) == {"storage": "failed"}
    for version, outcome in (("2.1.0b1", "sqlalchemy"), ("2.0.46", "failed"), ("3", "sqlalchemy")):
        installed(monkeypatch, sqlalchemy=version)
        report = await check(bot)
        assert wrong(report) == {"storage": outcome}
        assert (version in report.checks[3].text("en_US")) is (outcome == "sqlalchemy")
    bot.api.faults.clear()
    assert await failing(bot) == {}, "with a storage that works, SQLAlchemy 3 is no trouble"
    bot.api.faults.fail = {"get_plugin_storage", "get_plugin_storage_keys"}
    assert await failing(bot) == {"storage": "unread", "contents": "unread"}
    bot.api.faults.clear()
    bot.api.faults.storage_corrupt = {key: b"something else"}
    assert await failing(bot) == {"storage": "differs"}
    bot.api.faults.clear()
    assert made_up(bot) == []
    bot.api.faults.fail = {"delete_plugin_storage"}
    assert await failing(bot) == {"storage": "kept"}
    bot = await Bot(Keeping()).create()
    assert await failing(bot) == {"storage": "kept"}


async def test_versions_of_the_host_and_of_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    for version, outcome in (("v4.10.11", "ok"), ("4.12.0", "untested"), ("", "silent")):
        assert outcomes(await check(await new_bot(version=version)))["host"] == outcome
    for versions, outcome in (
        ({"openai": "3.57.0", "litellm": "1.110.2"}, "streaming"),
        ({"openai": "3.57.0", "litellm": "1.88.1"}, "ok"),
        ({"openai": "2.41.1", "litellm": "1.110.2"}, "ok"),
        ({}, "unseen"),
    ):
        installed(monkeypatch, **versions)
        assert (await surroundings.packages()).outcome == outcome


# ---------------------------------------------------------------- embedding


class OtherModel(HashedWords):
    def embed(self, texts: list[str]) -> list[list[float]]:
        return [vector[::-1] for vector in super().embed(texts)]


def ragged(texts: list[str]) -> list[list[float]]:
    return [[1.0] * (384 + 128 * (number % 2)) for number, _ in enumerate(texts)]


async def test_embedding_models_that_fail() -> None:
    def faulty(**faults: Any) -> Callable[[Bot], None]:
        def switch_on(bot: Bot) -> None:
            for name, value in faults.items():
                setattr(bot.api.faults, name, value)

        return switch_on

    def model(embed: Any) -> Callable[[Bot], None]:
        return lambda bot: setattr(bot.api, "embed", embed)

    faults: list[tuple[Callable[[Bot], None], dict[str, str]]] = [
        (faulty(fail={"invoke_embedding"}), {"embedding": "down"}),
        (faulty(embedding="short"), {"embedding": "count"}),
        (faulty(embedding="long"), {"embedding": "count"}),
        (faulty(embedding="none"), {"embedding": "count"}),
        (faulty(embedding="nan"), {"embedding": "not_numbers"}),
        (faulty(embedding="zero"), {"embedding": "not_numbers"}),
        (model(ragged), {"embedding": "lengths"}),
        (faulty(dimension=512), {"embedding_model": "dimension"}),
        (model(OtherModel().embed), {"embedding_model": "changed"}),
        (
            model(lambda texts: HashedWords().embed([CANARY] * len(texts))),
            {"embedding": "alike"},
        ),
    ]
    for switch_on, expected in faults:
        bot = await new_bot()
        switch_on(bot)
        report = await check(bot)
        assert wrong(report) == expected
        # The store is tried all the same.
        assert outcomes(report)["store_delete"] == "ok"
        assert made_up(bot) == []


async def test_a_knowledge_base_filled_by_a_constant_model() -> None:
    bot = await new_bot(embed=lambda texts: HashedWords().embed([CANARY] * len(texts)))
    assert await failing(bot) == {"embedding": "alike"}


async def test_a_model_slower_than_a_turn_waits_is_pointed_out() -> None:
    bot = await new_bot(config={"recall_deadline_seconds": 0.2})
    bot.api.faults.slow = {"invoke_embedding": 0.25}
    assert await failing(bot) == {"embedding": "slow"}


async def test_the_model_is_asked_during_a_pause_and_a_good_answer_ends_it() -> None:
    bot = await new_bot()
    embeddings = (await bot.service.collection()).embeddings
    bot.api.faults.fail = {"invoke_embedding"}
    for _ in range(2):
        with pytest.raises(EmbeddingFailed):
            await embeddings.embed(["x"])
    left = embeddings.breaker.seconds_left()
    assert left > 0
    assert await failing(bot) == {"embedding": "down", "embedding_pause": "open"}
    assert embeddings.breaker.seconds_left() == left, "a health check makes no pause longer"
    bot.api.faults.clear()
    report = await check(bot)
    assert report.level is Level.OK
    assert outcomes(report)["embedding_pause"] == "ended"
    assert await embeddings.embed(["x"])


async def test_failed_health_checks_start_no_pause() -> None:
    bot = await new_bot()
    bot.api.faults.fail = {"invoke_embedding"}
    for _ in range(3):
        await check(bot)
    assert (await bot.service.collection()).embeddings.breaker.seconds_left() == 0


async def test_a_store_that_was_never_written_to_is_not_read() -> None:
    api = StrictHost()
    bot = Bot(api)
    api.faults.fail = {"invoke_embedding"}
    await bot.create()
    report = await check(bot)
    assert wrong(report) == {"embedding": "down"}
    assert all(outcomes(report)[name] == "unchecked" for name in STORE)
    assert not any(call.name.startswith("vector_") for call in api.calls.calls)
    # The double refuses a read before the first write, as Milvus should.
    api.faults.clear()
    report = await check(bot)
    assert report.level is Level.OK
    assert outcomes(report)["embedding_model"] == "first"
    assert outcomes(await check(bot))["embedding_model"] == "same"
    faults: list[tuple[str, int, dict[str, str]]] = [
        ("vector_upsert", 0, {"store_write": "refused"}),
        ("set_plugin_storage", 0, {"storage": "failed"}),
        ("invoke_embedding", 1, {}),  # works when asked, and no more when the first write needs it
    ]
    for fault, after, expected in faults:
        bot = Bot(StrictHost())
        await bot.service.knowledge_bases.register(KB, {"embedding_model_uuid": "m"})
        bot.api.faults.fail, bot.api.faults.let_pass = {fault}, {fault: after}
        report = await check(bot)
        assert wrong(report) == expected
        assert outcomes(report)["store_search"] == "unchecked"
        assert not any(call.name in ("vector_list", "vector_search") for call in bot.api.calls.calls)


async def test_a_mistake_of_ours_is_an_outcome_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a bug")

    bot = await new_bot()
    for where, expected in (
        ("longterm_memory.health.vector_store.metric_of", {"store_metric"}),
        ("longterm_memory.health.model._compared", set(MODEL)),
        ("longterm_memory.health.surroundings._installed", {"packages"}),
        ("longterm_memory.health.vector_store.StoreProbe._erased", {"store_cleanup"}),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(where, broken)
            found = await failing(bot)
        assert set(found) == expected, where
    assert await failing(bot) == {}


async def test_health_and_help_answer_in_chat_where_nothing_else_does() -> None:
    for spoil in ("down", "damaged"):
        bot = await new_bot()
        bot.restart()
        if spoil == "down":
            bot.api.faults.storage_down = True
        else:
            bot.api.values["ltm/kb"] = b"{broken"
        health = await bot.command("memory health")
        assert "[ERROR]" in health
        assert health.count("\n") > 3
        assert "!memory forget <id>" in await bot.command("memory help")
        assert "[ERROR]" not in await bot.command("memory list")
