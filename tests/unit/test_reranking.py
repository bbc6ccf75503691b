"""The rerank model has the last word on the order of the best memories, and on nothing else."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from longterm_memory.embeddings import BREAK_SECONDS
from longterm_memory.langbot import LangBotHost
from longterm_memory.models import RecallQuery, RecallResult
from longterm_memory.recall.reranking import DOCUMENT_CHARS
from playground.engines import HostError
from tests.support.memory import Bot, new_bot

ASKED = "where is the rent paid"
FACTS = ("The rent is paid at the bank", "The rent of the garage is paid", "Rent is due on Friday")
ON = {"rerank_model_uuid": "rr"}


class Model:
    """A rerank model whose answer a test chooses; remembers what it was asked."""

    def __init__(self, answer: Callable[[list[str]], Any]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str]]] = []

    def __call__(self, query: str, documents: list[str]) -> Any:
        self.asked.append((query, documents))
        return self.answer(documents)


def liking(*words: str) -> Callable[[list[str]], list[dict[str, Any]]]:
    """Score documents by the first of the words they hold, the first word best; the others get 0."""
    scores = {word: 1 - place / 10 for place, word in enumerate(words)}

    def answer(documents: list[str]) -> list[dict[str, Any]]:
        found = [next((s for word, s in scores.items() if word in text), 0.0) for text in documents]
        return [{"index": n, "relevance_score": score} for n, score in enumerate(found)]

    return answer


async def bot(answer: Callable[[list[str]], Any] | None, **config: Any) -> Bot:
    made = await new_bot(config=ON | {"relevance_floor": 0.1} | config)
    made.api.rerank = Model(answer) if answer else None
    for fact in FACTS:
        await made.remember(fact)
    await made.remember("Tao bought a violin", "group_77001", "9002")
    return made


async def recalled(made: Bot, *, k: int = 3, floor: bool = True, timeout: float = 20.0) -> RecallResult:
    memory = await made.memory()
    return await memory.recall(RecallQuery(text=ASKED, k=k, floor=floor), timeout=timeout)


def texts(result: RecallResult) -> list[str]:
    return [episode.content for episode in result.episodes()]


async def ours(k: int = 3) -> list[str]:
    return texts(await recalled(await bot(None, rerank_model_uuid=""), k=k))


def model(made: Bot) -> Model:
    assert isinstance(made.api.rerank, Model)
    return made.api.rerank


# ------------------------------------------------------------ its order


async def test_the_best_are_in_the_order_of_the_model_and_the_others_follow() -> None:
    usual = await ours()
    wanted = list(reversed(usual))
    made = await bot(liking(*wanted))
    result = await recalled(made)
    assert texts(result) == wanted != usual
    assert (result.reranked, result.rerank_failed) == (3, None)
    assert [hit.score.rerank for hit in result.hits] == [1.0, 0.9, 0.8]
    totals = [hit.score.total for hit in result.hits]
    assert totals == sorted(totals, reverse=True)
    # Any two of its places are told apart by the sum of the parts.
    plain = await recalled(await bot(None, rerank_model_uuid=""))
    assert totals == [hit.score.total for hit in plain.hits]
    gained = [hit.score.boosts.get("rerank", 0.0) for hit in result.hits]
    assert gained[0] > 0 > gained[-1]
    assert sum(gained) == pytest.approx(0)
    # Of two candidates only those two change places.
    made = await bot(liking(*wanted), rerank_candidates=2)
    assert texts(await recalled(made)) == [usual[1], usual[0], usual[2]]


async def test_a_candidate_beyond_the_wanted_number_can_come_first() -> None:
    usual = await ours()
    made = await bot(liking(usual[2]))
    assert texts(await recalled(made, k=1)) == [usual[2]]


async def test_what_it_says_nothing_about_stays_behind_in_our_order() -> None:
    usual = await ours()
    made = await bot(lambda documents: [a for a in liking(usual[2])(documents) if a["relevance_score"]])
    result = await recalled(made)
    assert texts(result) == [usual[2], usual[0], usual[1]]
    assert result.reranked == 1
    assert [hit.score.rerank for hit in result.hits] == [1.0, None, None]
    # Equal scores say nothing either.
    made = await bot(liking())
    assert texts(await recalled(made)) == usual


async def test_it_reads_who_said_what_when_and_no_more_than_it_can_take() -> None:
    made = await bot(liking())
    await made.remember("rent " * 500 + "paid", "group_77001", "9002")
    await recalled(made, k=5)
    query, documents = model(made).asked[-1]
    assert query == ASKED
    assert "[2026-05-10] Mina: The rent is paid at the bank" in documents
    assert max(map(len, documents)) == DOCUMENT_CHARS


async def test_only_relevant_memories_of_this_conversation_are_sent() -> None:
    made = await bot(liking("violin"))
    await made.remember("The rent is paid at the harbour", "group_77002")
    for floor in (True, False):
        result = await recalled(made, k=9, floor=floor)
        # The floor stays ours, whatever the model thinks of what is below it.
        assert ("Tao bought a violin" in texts(result)) is not floor
        assert not floor or all(hit.relevant for hit in result.hits)
    sent = "\n".join(text for _, documents in model(made).asked for text in documents)
    assert "violin" not in sent
    assert "harbour" not in sent
    # What a person who opted out said goes nowhere.
    await made.command("memory off", "group_77001", "9001")
    model(made).asked.clear()
    await made.hear(ASKED, "group_77001", "9002")
    assert model(made).asked == []


async def test_without_a_model_or_a_choice_nobody_is_asked() -> None:
    made = await bot(liking())
    made.config["rerank_model_uuid"] = ""
    await recalled(made)
    made.config["rerank_model_uuid"] = "rr"
    memory = await made.memory()
    assert len((await memory.recall(RecallQuery(text="violin", k=3))).hits) == 1
    assert model(made).asked == []


# ------------------------------------------------------------ failing


UNUSABLE: Sequence[Callable[[list[str]], Any]] = (
    lambda _: [],
    lambda documents: [*liking()(documents), {"index": 0, "relevance_score": 1}],
    lambda documents: [*liking()(documents)[:-1], {"index": 0, "relevance_score": 1}],
    lambda documents: [{"index": len(documents), "relevance_score": 1}],
    lambda _: [{"index": -1, "relevance_score": 1}],
    lambda _: [{"index": True, "relevance_score": 1}],
    lambda _: [{"index": "0", "relevance_score": 1}],
    lambda _: [{"relevance_score": 1}],
    lambda _: [{"index": 0}],
    lambda _: [{"index": 0, "relevance_score": math.nan}],
    lambda _: [{"index": 0, "relevance_score": math.inf}],
    lambda _: [{"index": 0, "relevance_score": 10**400}],
)


async def test_unusable_scores_leave_our_order() -> None:
    usual = await ours()
    for answer in UNUSABLE:
        result = await recalled(await bot(answer))
        assert texts(result) == usual
        assert result.rerank_failed is not None
        assert result.rerank_failed.reason == "rerank_unusable"
        assert all(hit.score.rerank is None for hit in result.hits)
        assert all("rerank" not in hit.score.boosts for hit in result.hits)
    shapes: list[Any] = [None, "scores", {"results": []}, [["0", 1]], ["0"], [{"index": 0}]]
    for shape in [*shapes, [{"index": 0, "relevance_score": "1"}]]:
        made = await bot(None)

        async def odd(*_: Any, shape: Any = shape, **__: Any) -> Any:
            return shape

        made.api.invoke_rerank = odd  # type: ignore[method-assign]
        result = await recalled(made)
        assert texts(result) == usual
        assert result.rerank_failed is not None
        assert result.rerank_failed.reason == "rerank_unusable"


async def test_a_model_that_fails_is_left_alone_after_two_failures_and_tried_again() -> None:
    usual = await ours()
    made = await bot(liking(usual[2]))
    made.api.faults.fail.add("invoke_rerank")
    reasons = []
    for _ in range(3):
        result = await recalled(made)
        assert texts(result) == usual
        assert result.rerank_failed is not None
        reasons.append(result.rerank_failed.reason)
    assert reasons == ["rerank_down", "rerank_down", "rerank_pause"]
    assert made.api.calls.counts["invoke_rerank"] == 2
    made.api.faults.clear()
    assert texts(await recalled(made)) == usual
    made.clock.move(seconds=BREAK_SECONDS)
    assert texts(await recalled(made))[0] == usual[2]


async def test_a_slow_model_costs_no_more_than_its_deadline_and_never_more_than_is_left() -> None:
    usual = await ours()
    made = await bot(liking(usual[2]), rerank_deadline_seconds=0.1)
    made.api.faults.hang.add("invoke_rerank")
    loop = asyncio.get_running_loop()
    started = loop.time()
    result = await recalled(made)
    assert loop.time() - started < 5
    assert texts(result) == usual
    assert result.rerank_failed is not None
    assert (result.rerank_failed.reason, result.rerank_failed.details) == ("rerank_late", {"seconds": "0.1"})
    made.config["rerank_deadline_seconds"] = 20
    result = await asyncio.wait_for(recalled(made, timeout=0.5), 5)
    assert texts(result) == usual
    assert result.rerank_failed is not None
    assert result.rerank_failed.reason == "rerank_late"
    # That was no fault of the model, so one more failure is allowed.
    made.api.faults.clear()
    assert texts(await recalled(made))[0] == usual[2]


async def test_without_time_the_model_is_not_asked() -> None:
    usual = await ours()
    made = await bot(liking(usual[2]))
    embed = made.api.embed

    def slow(texts: list[str]) -> Any:
        made.clock.move(seconds=3)
        return embed(texts)

    made.api.embed = slow
    result = await recalled(made, timeout=3)
    assert texts(result) == usual
    assert result.rerank_failed is not None
    assert result.rerank_failed.reason == "rerank_no_time"
    assert model(made).asked == []


async def test_a_turn_with_a_hanging_model_has_its_memories_within_its_deadline() -> None:
    made = await bot(liking(), recall_deadline_seconds=1.0, rerank_deadline_seconds=20)
    made.api.faults.hang.add("invoke_rerank")
    injection = await made.hear(ASKED)
    assert injection.snapshot is not None
    assert injection.snapshot.recall == "ok"
    assert len(injection.snapshot.episodes) == 3
    assert injection.snapshot.notes == ("rerank:rerank_late",)


async def test_a_host_that_cannot_rerank_is_named() -> None:
    usual = await ours()
    made = await bot(None)

    class Old:
        def __getattr__(self, name: str) -> Any:
            if name == "invoke_rerank":
                raise AttributeError(name)
            return getattr(made.api, name)

    made.service.host = LangBotHost(Old())
    made.service.reranking._models = made.service.host
    result = await recalled(made)
    assert texts(result) == usual
    assert "update langbot" in (await made.command(f"memory why {ASKED}")).lower()


# ------------------------------------------------------------ explained


async def test_why_shows_what_the_model_said_and_what_that_changed() -> None:
    usual = await ours()
    made = await bot(liking(usual[2], usual[0]))
    reply = await made.command(f"memory why {ASKED}")
    first = reply.split("\n")[1:4]
    assert usual[2] in first[0]
    assert "+ rerank 0." in first[1]
    assert first[2].strip() == "The rerank model gave it 1."
    assert "the best 3 memories is that of the rerank model" in reply
    injection = await made.hear(ASKED)
    assert injection.snapshot is not None
    why = injection.snapshot.episodes[0].why
    assert why["rerank_score"] == 1
    assert why["rerank"] > 0


async def test_why_says_what_kept_the_model_out() -> None:
    for language, said in (("en_US", "Not reranked"), ("zh_Hans", "没有重排")):
        made = await bot(liking(), language=language)
        assert said not in await made.command(f"memory why {ASKED}")
        made.api.faults.fail.add("invoke_rerank")
        made.api.faults.error = HostError(
            "ActionCallError: [RerankError/RequesterError] [rerank_model_uuid=rr] secret text"
        )
        reply = await made.command(f"memory why {ASKED}")
        assert said in reply
        assert "secret text" not in reply
