"""Embedding services as they really are: limits on requests and batches, vectors of any length and dimension, models
that find everything alike.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from longterm_memory.embeddings import Embeddings
from longterm_memory.errors import EmbeddingFailed
from longterm_memory.langbot import LangBotHost
from longterm_memory.models import Episode, RecallQuery
from longterm_memory.scope import Isolation, Scope
from longterm_memory.transfer.importing import import_file
from longterm_memory.words import explain
from playground.embedders import HashedWords
from playground.engines import HostError
from tests.support.core import Time
from tests.support.memory import Bot, new_bot
from tests.support.spy import Spy

HERE = Scope.of_session("group_77001", bot_uuid="b-01")
PLACE = "ActionCallError: [EmbeddingError/RequesterError] [embedding_model_uuid=0429a6d2-429f-4429-8429-1c429b66c429] "
NEW, OLD = f"{PLACE}Model request failed: ", f"{PLACE}模型请求失败: "
BUSY = HostError(f"{NEW}Rate limit exceeded or insufficient balance")
TOO_MANY = HostError(f"{NEW}Invalid request parameters")

Embed = Callable[[list[str]], Any]


def words(texts: list[str]) -> list[list[float]]:
    return HashedWords().embed(texts)


# ------------------------------------------------------------ why a call failed


async def test_the_reason_of_a_failure_is_read_from_what_both_hosts_say() -> None:
    """As seen when an OpenAI-compatible service answers with that HTTP status."""
    quoted = "litellm.{0}: {0}: OpenAIException - Error code: {1} - {{'error': {{'message': '{2}'}}}}"
    limit = "batch size is invalid, it should not be larger than 10"
    for reason, texts in {
        "embedding_busy": [
            f"{NEW}Rate limit exceeded or insufficient balance",
            f"{PLACE}模型请求失败: 请求过于频繁或余额不足",
            f"{PLACE}モデルリクエストに失敗しました: リクエスト制限を超えたか、残高が不足しています",
            f"{OLD}请求过于频繁或余额不足: " + quoted.format("RateLimitError", 429, "rate limit reached"),
            "ActionCallError: [EmbeddingError/RateLimitError] 429 Too Many Requests",
        ],
        "embedding_refused": [
            f"{NEW}Invalid request parameters",
            f"{NEW}Context length exceeded",
            f"{NEW}API error",
            f"{PLACE}模型请求失败: 请求参数错误",
            f"{OLD}请求参数错误: " + quoted.format("BadRequestError", 400, limit),
            f"{OLD}API 错误: " + quoted.format("APIError", 413, "input too long"),
        ],
        "embedding_down": [
            f"{NEW}Unknown error",
            f"{NEW}Connection failed",
            f"{NEW}Request timed out",
            f"{NEW}Invalid API key",
            f"{NEW}Invalid model or endpoint",
            f"{OLD}未知错误: " + quoted.format("InternalServerError", 500, limit),
            f"{OLD}未知错误: " + quoted.format("ServiceUnavailableError", 503, "too large a queue"),
            "ActionCallTimeoutError: Action invoke_embedding call timed out",
            "ActionCallError: Embedding model with embedding_model_uuid 429 not found".replace("429", "m"),
        ],
    }.items():
        for text in texts:
            with pytest.raises(EmbeddingFailed) as caught:
                await LangBotHost(Spy(raising(HostError(text)))).embed("m", ["t"])
            assert caught.value.reason == reason, text
            assert "Error code" not in explain("en_US", caught.value)
            assert "{" not in explain("zh_Hans", caught.value)


def raising(error: Exception) -> Callable[..., Any]:
    def answer(*_: Any, **__: Any) -> Any:
        raise error

    return answer


# ------------------------------------------------------------ too many requests


class Limited:
    """A service that takes ``calls`` calls in ``seconds``, on a clock that tests move."""

    def __init__(self, now: Callable[[], float], calls: int, seconds: float) -> None:
        self.now, self.calls, self.seconds = now, calls, seconds
        self.taken: list[float] = []
        self.refused = 0

    def __call__(self, texts: list[str]) -> Any:
        self.taken = [at for at in self.taken if at > self.now() - self.seconds]
        if len(self.taken) >= self.calls:
            self.refused += 1
            raise BUSY
        self.taken.append(self.now())
        return words(texts)


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that were made; they take no time, and move the clock that is put into ``clocks``."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        for clock in clocks:
            clock.move(seconds=seconds)
        await asyncio.sleep(0)

    clocks.clear()
    monkeypatch.setattr("longterm_memory.embeddings.sleep", sleep)
    return pauses


clocks: list[Any] = []


async def limited(calls: int, seconds: float, **config: Any) -> tuple[Bot, Limited]:
    """Return a bot that remembers something, whose service is now limited."""
    bot = await new_bot(config=config)
    clocks.append(bot.clock)
    await bot.remember("The rent is due on Friday")
    service = Limited(bot.clock.monotonic, calls, seconds)
    bot.api.embed = service
    return bot, service


async def breaker(bot: Bot) -> float:
    return (await bot.service.collection()).embeddings.breaker.seconds_left()


async def test_a_limit_that_clears_costs_a_turn_a_moment_and_nothing_else(slept: list[float]) -> None:
    bot, service = await limited(1, 1.0)
    for turn in range(6):
        injection = await bot.hear("when is the rent due")
        assert injection.snapshot is not None
        assert injection.snapshot.recall == "ok"
        assert [e.content for e in injection.snapshot.episodes] == ["The rent is due on Friday"]
        assert await breaker(bot) == 0
        if turn == 3:
            assert service.refused >= 3
    assert 0 < sum(slept) < 12


async def test_a_limit_that_holds_is_told_and_makes_no_pause_for_others(slept: list[float]) -> None:
    bot, service = await limited(0, 60.0)
    for _ in range(4):
        injection = await bot.hear("when is the rent due")
        assert injection.snapshot is not None
        assert injection.snapshot.recall == "failed:embedding_busy"
    assert sum(slept) < 4 * 3.0
    assert await breaker(bot) == 0
    # Until the pause is over a short turn does not even ask.
    asked = service.refused
    await bot.hear("when is the rent due")
    assert service.refused == asked
    said = await bot.tool("recall_memory", {"query": "rent"})
    assert "no more requests" in said
    assert "no memor" not in said.lower()
    assert "no more requests" in await bot.tool("remember", {"content": "Tao plays the violin"})
    service.calls = 9
    bot.clock.move(seconds=60)
    injection = await bot.hear("when is the rent due")
    assert injection.snapshot is not None
    assert injection.snapshot.recall == "ok"


async def test_pauses_grow_are_never_the_same_and_are_shared(slept: list[float]) -> None:
    random.seed(7)
    time, calls = Time(), 0

    class Service:
        async def embed(self, model: str, texts: Any) -> Any:
            nonlocal calls
            calls += 1
            await asyncio.sleep(0)
            time.seconds += 0.01
            if calls <= 5:
                raise EmbeddingFailed("embedding_busy", seconds=1)
            return words(list(texts))

    class Moved:
        def move(self, seconds: float) -> None:
            time.seconds += seconds

    clocks.append(Moved())
    embeddings = Embeddings(Service(), "m", None, time.clock)
    await embeddings.embed(["rent"], timeout=20, patience=100)
    assert len(slept) == 5
    for pause, nominal in zip(slept, (0.5, 1, 2, 4, 8), strict=True):
        assert 0.8 * nominal <= pause <= 1.2 * nominal
    assert len({pause / nominal for pause, nominal in zip(slept, (0.5, 1, 2, 4, 8), strict=True)}) == 5
    # A call that gets through does not make it forgotten.
    calls = 4
    await embeddings.embed(["rent"], timeout=20, patience=100)
    assert 0.8 * 4 <= slept[-1] <= 1.2 * 4
    # Five calls on their way together meet the limit once.
    calls = 0
    slept.clear()
    embeddings = Embeddings(Service(), "m", None, time.clock)
    together = [embeddings.embed(["rent"], timeout=20, patience=100) for _ in range(5)]
    assert len(await asyncio.gather(*together)) == 5
    assert max(slept) <= 0.5 * 1.2
    assert calls == 10


async def test_an_import_slows_down_for_a_limit_and_loses_nothing(slept: list[float]) -> None:
    for calls, seconds in ((3, 20.0), (1, 10.0), (3, 60.0)):
        bot, service = await limited(calls, seconds)
        lines = "\n".join(f'{{"content": "note number {n}"}}' for n in range(700))
        report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
        assert (report.accepted, report.remaining, report.ok) == (700, 0, True), report
        assert service.refused > 0
        assert await breaker(bot) == 0
        assert service.refused <= 60
        bot.clock.move(seconds=60)
        assert len(await shown(bot, "note number 437", k=1)) == 1
    assert sum(slept) > 60


async def test_a_limit_that_never_clears_ends_an_import_with_a_sentence(slept: list[float]) -> None:
    bot, service = await limited(5, math.inf)
    lines = "\n".join(f'{{"content": "note number {n}"}}' for n in range(700))
    report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
    assert report.accepted == 495
    assert report.remaining == 205
    assert report.error is not None
    assert "no more requests" in explain("en_US", report.error)
    assert service.refused <= 12
    service.calls = 99
    bot.clock.move(seconds=60)
    report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
    assert (report.accepted, report.skipped, report.ok) == (205, 495, True)


# ------------------------------------------------------------ batches


async def test_a_limit_of_the_batch_size_is_found_and_remembered() -> None:
    for error in (
        TOO_MANY,
        HostError(f"{NEW}API error"),
        HostError(f"{OLD}请求参数错误: batch size is invalid, it should not be larger than 10"),
        HostError(f"{NEW}Unknown error"),
    ):
        for most in (1, 2, 10, 16, 25, 64):
            if most < 3 and "Unknown" in str(error):
                continue  # a server that breaks on two texts is down
            taken: list[int] = []

            def service(texts: list[str], most: int = most, taken: list[int] = taken) -> Any:
                taken.append(len(texts))
                if len(texts) > most:
                    raise error  # noqa: B023 - called within the iteration
                return words(texts)

            bot = await new_bot(embed=service)
            await bot.remember("The rent is due on Friday")
            lines = "\n".join(f'{{"content": "note number {n}"}}' for n in range(150))
            report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
            assert (report.accepted, report.rejected, report.ok) == (150, (), True), (error, most)
            taken.clear()
            lines = lines.replace("note", "other note")
            report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
            assert report.accepted == 150
            assert max(taken) <= most  # nothing is tried that was refused before
            assert max(taken) > most // 4
            assert await breaker(bot) == 0


async def test_one_text_that_is_too_long_is_said_to_be_and_makes_no_batches_smaller() -> None:
    taken: list[int] = []

    def service(texts: list[str]) -> Any:
        taken.append(len(texts))
        if any(len(text) > 500 for text in texts):
            raise HostError(f"{NEW}Context length exceeded")
        return words(texts)

    bot = await new_bot(embed=service)
    for _ in range(3):
        said = await bot.tool("remember", {"content": "a very long story " * 40})
        assert "refused the text" in said
        assert "Stored" not in said
    # It is nobody else's problem.
    await bot.remember("The rent is due on Friday")
    assert await breaker(bot) == 0
    lines = "\n".join(f'{{"content": "note {n} {"x " * 300 if n in (3, 77) else ""}"}}' for n in range(150))
    report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
    assert [(r.line, r.reason.reason) for r in report.rejected] == [
        (4, "row_not_embedded"),
        (78, "row_not_embedded"),
    ]
    assert report.accepted == 148
    taken.clear()
    lines = "\n".join(f'{{"content": "another note {n}"}}' for n in range(90))
    await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
    assert max(taken) == 91


async def test_of_a_message_that_is_too_long_for_the_model_the_beginning_is_the_question() -> None:
    def service(texts: list[str]) -> Any:
        if any(len(text) > 600 for text in texts):
            raise HostError(f"{NEW}API error")
        return words(texts)

    bot, long = await new_bot(embed=service), "When is the rent due? " + "?! " * 600
    await bot.remember("The rent is due on Friday")
    for _ in range(3):
        injection = await bot.hear(long)
        assert injection.snapshot is not None
        assert injection.snapshot.recall == "ok"
        assert [e.content for e in injection.snapshot.episodes] == ["The rent is due on Friday"]
    bot.api.embed = raising(HostError(f"{NEW}API error"))
    injection = await bot.hear(long)
    assert injection.snapshot is not None
    assert injection.snapshot.recall == "failed:embedding_refused"


async def test_a_service_that_is_down_is_not_asked_again_and_again_with_less() -> None:
    asked = 0

    def down(texts: list[str]) -> Any:
        nonlocal asked
        asked += 1
        raise HostError(f"{NEW}Unknown error")

    bot = await new_bot()
    await bot.remember("The rent is due on Friday")
    bot.api.embed = down
    (await bot.service.collection()).embeddings.forget_verification()
    for _ in range(4):
        injection = await bot.hear("when is the rent due")
        assert injection.snapshot is not None
        assert injection.snapshot.recall in ("failed:embedding_down", "failed:embedding_pause")
    assert asked == 2


# ------------------------------------------------------------ vectors


async def shown(bot: Bot, question: str, k: int = 3, *, floor: bool = True) -> list[Episode]:
    memory = await bot.memory()
    return list((await memory.recall(RecallQuery(text=question, k=k, floor=floor))).episodes())


FACTS = {
    "when is the rent due": "The rent is due on Friday",
    "who plays the violin": "Tao plays the violin in an orchestra",
    "where did we leave the green tent": "The green tent is in the cellar",
    "猫叫什么名字": "阿明的猫叫小花，是一个好名字",
    "which train goes to Oslo": "The night train goes to Oslo at ten",
}


def a_model(dimension: int, *, alike: float = 0.0, norms: tuple[float, float] = (1.0, 1.0)) -> Embed:
    """Return a model of any dimension: words turned at random, with a part that all texts share (so that unlike texts
    have a cosine around ``alike``), and vectors of any length.
    """
    turn = np.random.default_rng(11).standard_normal((384, dimension))
    turn /= np.sqrt(dimension)
    shared = np.random.default_rng(12).standard_normal(dimension)
    shared /= np.linalg.norm(shared)

    def embed(texts: list[str]) -> list[list[float]]:
        vectors = []
        for text in texts:
            own = np.asarray(words([text])[0]) @ turn
            vector = math.sqrt(alike) * shared + math.sqrt(1 - alike) * own / np.linalg.norm(own)
            length = random.Random(text).uniform(*norms)
            vectors.append((vector / np.linalg.norm(vector) * length).tolist())
        return vectors

    return embed


async def test_any_dimension_and_any_length_of_vectors_comes_back_right() -> None:
    for dimension in (256, 384, 512, 768, 1024, 1536, 2048, 3072):
        bot = await new_bot(any_dimension=True, embed=a_model(dimension, norms=(0.1, 50)))
        for fact in FACTS.values():
            await bot.remember(fact)
        for restart in (False, True):
            if restart:
                bot.restart()
            for question, fact in FACTS.items():
                assert [e.content for e in await shown(bot, question, k=1)] == [fact], (dimension, question)
        assert "already" in (await bot.tool("remember", {"content": FACTS["when is the rent due"]})).lower()


async def test_vectors_that_say_nothing_are_refused_with_a_clear_sentence() -> None:
    for vector, said in (
        ([0.0] * 384, "a vector of zeros"),
        ([math.nan, *[0.1] * 383], "not finite numbers"),
        ([math.inf, *[0.1] * 383], "not finite numbers"),
        ([], "not finite numbers"),
    ):
        bot = await new_bot()
        await bot.remember("The rent is due on Friday")
        bot.api.embed = lambda texts, vector=vector: [vector for _ in texts]  # type: ignore[misc]
        for answer in (
            await bot.tool("remember", {"content": "Tao plays the violin"}),
            await bot.tool("recall_memory", {"query": "rent"}),
        ):
            assert f"unusable vectors ({said})" in answer
        assert "violin" not in await bot.command("memory list")


async def test_one_vector_of_zeros_costs_an_import_one_row() -> None:
    def service(texts: list[str]) -> Any:
        return [[0.0] * 384 if "☃" in text else v for text, v in zip(texts, words(texts), strict=True)]

    bot = await new_bot(embed=service)
    lines = "\n".join(f'{{"content": "note {n}{"☃" if n == 41 else ""}"}}' for n in range(120))
    report = await import_file(bot.service, lines.encode(), into=HERE, isolation=Isolation.SESSION)
    assert [(r.line, r.reason.reason) for r in report.rejected] == [(42, "row_not_embedded")]
    assert (report.accepted, report.ok) == (119, True)


async def test_a_model_that_finds_everything_alike_still_finds_the_right_memory_and_nothing_else() -> None:
    """Like many real ones, which put unlike texts at .75 to .9; questions and memories by the same endpoint."""
    for alike in (0.0, 0.75, 0.85, 0.95):
        bot = await new_bot(any_dimension=True, embed=a_model(768, alike=alike, norms=(0.1, 50)))
        for fact in FACTS.values():
            await bot.remember(fact)
        for n in range(30):
            await bot.remember(f"Shelf {n} holds {n * 7} jars of marmalade")
        for question, fact in FACTS.items():
            found = await shown(bot, question)
            assert found, (alike, question)
            assert found[0].content == fact, (alike, question)
        assert await shown(bot, "quantum chromodynamics lattice") == [], alike
        assert await shown(bot, "多少钱买股票") == [], alike
