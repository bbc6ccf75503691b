"""Embeddings: usable vectors only, of the model that filled the store, and no waiting twice for a dead
service.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.embeddings import BREAK_SECONDS, CANARY_SECONDS, FAILURES_TO_BREAK, Breaker, Embeddings
from longterm_memory.errors import EmbeddingFailed
from longterm_memory.recall.calibration import CANARY, SENTENCES, Calibration
from longterm_memory.records.vectors import unit
from playground.embedders import HashedWords
from tests.support.core import GROUP, MINA, Time, core
from tests.support.strict_host import StrictHost

Answer = Callable[[list[str]], Any]


def words(texts: list[str]) -> list[list[float]]:
    return HashedWords().embed(texts)


def turned(texts: list[str]) -> list[list[float]]:
    """Another model of the same dimension."""
    return [list(reversed(v)) for v in words(texts)]


class Service:
    """An embedding service whose answers a test chooses; an exception is raised, ``None`` never comes."""

    def __init__(self) -> None:
        self.answer: Answer | Exception | None = words
        self.asked: list[list[str]] = []

    async def embed(self, model: str, texts: Sequence[str]) -> Any:
        assert model == "m"
        self.asked.append(list(texts))
        await asyncio.sleep(0)
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        assert self.answer is not None
        return self.answer(list(texts))


DOWN = EmbeddingFailed("embedding_down")


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def service() -> Service:
    return Service()


def of(service: Service, time: Time) -> Embeddings:
    return Embeddings(service, "m", Calibration.of([unit(v) for v in words(list(SENTENCES))]), time.clock)


@pytest.fixture
def embeddings(service: Service, time: Time) -> Embeddings:
    return of(service, time)


async def failing(embeddings: Embeddings, **options: Any) -> str:
    with pytest.raises(EmbeddingFailed) as caught:
        await embeddings.embed(["rent"], **options)
    return caught.value.reason


# ------------------------------------------------------------ answers


async def test_each_text_gets_its_unit_vector_in_order(embeddings: Embeddings) -> None:
    found = await embeddings.embed(["rent", "cats"])
    assert [v.tolist() for v in found] == [unit(v).tolist() for v in words(["rent", "cats"])]
    assert all(math.isclose(float(v @ v), 1, abs_tol=1e-5) for v in found)


async def test_unusable_vectors_are_refused(service: Service, time: Time) -> None:
    answers: list[Answer] = [
        lambda texts: words(texts)[:-1],
        lambda texts: [*words(texts), words(texts)[0]],
        lambda _: [],
        lambda _: None,
        lambda _: {"data": []},
        lambda _: "vectors",
        lambda texts: [*words(texts)[:-1], [math.nan] * 384],
        lambda texts: [[math.inf] * 384 for _ in texts],
        lambda texts: [[0.0] * 384 for _ in texts],
        lambda texts: [[] for _ in texts],
        lambda texts: [None for _ in texts],
        lambda texts: [["a"] * 384 for _ in texts],
        lambda texts: [[[1.0]] * 384 for _ in texts],
        lambda texts: [v[: 384 - i] for i, v in enumerate(words(texts))],
    ]
    for answer in answers:
        service.answer = answer
        embeddings = of(service, time)
        assert await failing(embeddings) == "embedding_unusable"
        # It counts as a failure of the service.
        assert await failing(embeddings) == "embedding_unusable"
        assert await failing(embeddings) == "embedding_pause"


# ------------------------------------------------------------ the breaker


async def test_two_failures_make_a_pause_and_one_trial_ends_it(
    embeddings: Embeddings, service: Service, time: Time
) -> None:
    service.answer = DOWN
    assert [await failing(embeddings) for _ in range(2)] == ["embedding_down"] * 2
    assert len(service.asked) == FAILURES_TO_BREAK
    time.seconds = 18.6
    with pytest.raises(EmbeddingFailed, match="embedding_pause") as caught:
        await embeddings.embed(["rent"])
    assert caught.value.details == {"seconds": 41}
    time.seconds = BREAK_SECONDS - 1
    assert await failing(embeddings) == "embedding_pause"
    time.seconds = BREAK_SECONDS  # a failed trial makes another pause
    assert await failing(embeddings) == "embedding_down"
    assert await failing(embeddings) == "embedding_pause"
    assert embeddings.breaker.seconds_left() == BREAK_SECONDS
    time.seconds = 2 * BREAK_SECONDS  # only one trial at a time
    service.answer = words
    answers = await asyncio.gather(*(embeddings.embed(["rent"]) for _ in range(5)), return_exceptions=True)
    assert [a.reason for a in answers if isinstance(a, EmbeddingFailed)] == ["embedding_pause"] * 4
    assert embeddings.breaker.seconds_left() == 0
    for _ in range(3):  # closed again: one failure is allowed, and a success starts the count anew
        service.answer = DOWN
        assert await failing(embeddings) == "embedding_down"
        service.answer = words
        await embeddings.embed(["rent"])


async def test_whatever_the_service_raises_counts(embeddings: Embeddings, service: Service) -> None:
    service.answer = RuntimeError("unexpected")
    for _ in range(2):
        with pytest.raises(RuntimeError):
            await embeddings.embed(["rent"])
    assert await failing(embeddings) == "embedding_pause"


# ------------------------------------------------------------ hanging


async def test_a_hang_is_paid_for_once(embeddings: Embeddings, service: Service) -> None:  # G3
    service.answer = None
    assert await failing(embeddings, timeout=0.01) == "embedding_down"
    assert await failing(embeddings, timeout=0.01) == "embedding_pause"
    assert len(service.asked) == 1


async def test_a_deadline_from_outside_is_a_hang_too(
    embeddings: Embeddings, service: Service, time: Time
) -> None:  # G3
    service.answer = None
    call = asyncio.create_task(embeddings.embed(["rent"], timeout=3))
    await asyncio.sleep(0.01)
    time.seconds = 2.9  # the turn gives up shortly before the call itself would
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await failing(embeddings, timeout=3) == "embedding_pause"


async def test_a_call_that_is_cancelled_early_says_nothing_about_the_service(
    embeddings: Embeddings, service: Service, time: Time
) -> None:
    service.answer = None
    for _ in range(3):
        call = asyncio.create_task(embeddings.embed(["rent"], timeout=45))
        await asyncio.sleep(0.01)
        time.seconds += 1
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    service.answer = words
    assert len(await embeddings.embed(["rent"])) == 1


async def test_a_cancelled_trial_does_not_block_the_next(
    embeddings: Embeddings, service: Service, time: Time
) -> None:
    service.answer = DOWN
    for _ in range(2):
        await failing(embeddings)
    time.seconds = BREAK_SECONDS
    service.answer = None
    trial = asyncio.create_task(embeddings.embed(["rent"], timeout=45))
    await asyncio.sleep(0.01)
    assert await failing(embeddings) == "embedding_pause"
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    service.answer = words
    assert len(await embeddings.embed(["rent"])) == 1


async def test_a_late_answer_ends_the_pause_and_a_late_failure_does_not(service: Service, time: Time) -> None:
    answer = service.embed
    for late in (words, DOWN):
        embeddings, slow = of(service, time), asyncio.Event()

        async def loading(model: str, texts: Sequence[str], slow: asyncio.Event = slow) -> Any:
            await slow.wait()
            return await answer(model, texts)

        service.embed, service.answer = loading, late  # type: ignore[method-assign]
        assert await failing(embeddings, timeout=0.01) == "embedding_down"
        assert await failing(embeddings, timeout=0.01) == "embedding_pause"
        slow.set()
        for _ in range(5):
            await asyncio.sleep(0)
        if late is words:
            assert len(await embeddings.embed(["rent"], timeout=0.5)) == 1
        else:
            assert await failing(embeddings, timeout=0.01) == "embedding_pause"


async def test_a_hang_of_a_turn_does_not_stop_whoever_has_more_time(
    embeddings: Embeddings, service: Service
) -> None:
    service.answer = None
    assert await failing(embeddings, timeout=0.02) == "embedding_down"
    service.answer = words
    assert await failing(embeddings, timeout=0.05) == "embedding_pause"
    assert len(await embeddings.embed(["rent"], timeout=0.06)) == 1
    assert embeddings.breaker.seconds_left() == 0


async def test_after_a_long_hang_nobody_waits(embeddings: Embeddings, service: Service) -> None:
    service.answer = None
    assert await failing(embeddings, timeout=0.02) == "embedding_down"
    assert await failing(embeddings, timeout=0.06) == "embedding_down"
    assert await failing(embeddings, timeout=0.06) == "embedding_pause"


def test_late_failures_lengthen_the_pause_only_from_now() -> None:
    time = Time()
    breaker = Breaker(time.clock)
    breaker.failed(hung_after=3)
    time.seconds = 50
    breaker.failed()
    assert breaker.seconds_left() == BREAK_SECONDS
    breaker.abandoned()
    assert breaker.seconds_left() == BREAK_SECONDS


# ------------------------------------------------------------ another model behind the name


async def test_another_dimension_is_noticed_at_once(embeddings: Embeddings, service: Service) -> None:  # G1
    service.answer = lambda texts: [[1.0, *[0.5] * 5] for _ in texts]
    with pytest.raises(EmbeddingFailed, match="'before': 384, 'now': 6") as caught:
        await embeddings.embed(["rent"])
    assert caught.value.reason == "model_changed"


async def test_another_model_of_the_same_dimension_is_noticed(
    embeddings: Embeddings, service: Service, time: Time
) -> None:  # G1
    await embeddings.embed(["rent"])
    service.answer = turned
    # What gets stored is always checked, a question once a minute.
    assert await failing(embeddings, stored=True) == "model_changed"
    # ... and every time from then on, until the model is back. It is no failure of the service.
    assert [await failing(embeddings) for _ in range(4)] == ["model_changed"] * 4
    service.answer = words
    assert len(await embeddings.embed(["rent"])) == 1
    service.answer = turned
    time.seconds = CANARY_SECONDS
    assert await failing(embeddings) == "model_changed"


async def test_the_canary_rides_along_once_a_minute_and_is_not_handed_out(
    embeddings: Embeddings, service: Service, time: Time
) -> None:
    for at in (0, 1, CANARY_SECONDS - 1, CANARY_SECONDS, CANARY_SECONDS + 1):
        time.seconds = at
        assert len(await embeddings.embed(["rent"])) == 1
    assert [CANARY in asked for asked in service.asked] == [True, False, False, True, False]
    embeddings.forget_verification()
    await embeddings.embed(["rent"])
    assert service.asked[-1] == ["rent", CANARY]


async def test_small_noise_is_no_other_model_and_before_the_store_was_filled_any_will_do(
    embeddings: Embeddings, service: Service, time: Time
) -> None:
    service.answer = lambda texts: [[x + 1e-3 * (-1) ** i for i, x in enumerate(v)] for v in words(texts)]
    assert len(await embeddings.embed(["rent"])) == 1
    fresh = Embeddings(service, "m", None, time.clock)
    service.answer = turned
    assert len(await fresh.embed(["rent"])) == 1
    assert service.asked[-1] == ["rent"]


async def test_a_changed_model_writes_nothing() -> None:  # G1
    embed: Any = words
    memory = await core(StrictHost(any_dimension=True, embed=lambda texts: embed(texts)))
    await memory.say("rent is due")
    rows = memory.row_count
    for other in (turned, lambda texts: [[1.0] * 6 for _ in texts]):
        embed = other
        with pytest.raises(EmbeddingFailed, match="model_changed"):
            await memory.say("cats are fine", MINA)
        with pytest.raises(EmbeddingFailed, match="model_changed"):
            await memory.importer.add_many(GROUP, [EpisodeDraft("dogs are fine", sender=MINA)])
    assert memory.row_count == rows
    assert await memory.listed() == ["rent is due"]  # what needs no model still works
