"""The adapter when the host fails: every failure arrives as one of ours, cancellation passes."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest

from longterm_memory.errors import EmbeddingFailed, LongTermMemoryError, StorageFailed, StoreFailed
from longterm_memory.langbot import LangBotHost
from longterm_memory.ports import FileIds, Host
from playground.embedders import HashedWords
from playground.engines import HostError
from tests.support.rows import at_cosine, file_id, rows
from tests.support.spy import Spy
from tests.support.strict_host import StrictHost

A = FileIds([file_id("a")])


@pytest.fixture
def api() -> StrictHost:
    return StrictHost()


@pytest.fixture
def host(api: StrictHost) -> Host:
    adapter: Host = LangBotHost(api)
    return adapter


VECTOR_CALLS: dict[str, Any] = {
    "vector_upsert": lambda host: host.upsert("kb", rows("b", 1)),
    "vector_search": lambda host: host.search("kb", at_cosine(1.0), 3, A),
    "vector_list": lambda host: host.list_rows("kb", A, 3),
    "vector_delete": lambda host: host.delete_rows("kb", A),
}
STORAGE_CALLS: dict[str, Any] = {
    "get_plugin_storage": lambda host: host.storage.get("k"),
    "set_plugin_storage": lambda host: host.storage.set("k", b"v"),
    "delete_plugin_storage": lambda host: host.storage.delete("k"),
    "get_plugin_storage_keys": lambda host: host.storage.keys(),
}
FAILURES: list[tuple[str, Any, type[LongTermMemoryError], str]] = [
    *((name, run, StoreFailed, "store_down") for name, run in VECTOR_CALLS.items()),
    *((name, run, StorageFailed, "storage_down") for name, run in STORAGE_CALLS.items()),
    ("invoke_embedding", lambda host: host.embed("m", ["t"]), EmbeddingFailed, "embedding_down"),
]


@pytest.mark.parametrize(
    ("name", "run", "error", "reason"), FAILURES, ids=lambda v: v if isinstance(v, str) else ""
)
async def test_failures_of_the_host_arrive_as_ours_and_cancelling_passes_through(
    name: str, run: Any, error: type[LongTermMemoryError], reason: str
) -> None:
    for how in ("fail", "timeout", "lose_answer", "hang"):
        api = StrictHost()
        host: Host = LangBotHost(api)
        await host.upsert("kb", rows("a", 1))
        await host.storage.set("k", b"v")
        setattr(api.faults, how.replace("timeout", "fail"), {name})
        if how == "hang":
            task = asyncio.ensure_future(run(host))
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            continue
        if how == "timeout":
            api.faults.error = TimeoutError("too slow")
        with pytest.raises(error) as failure:
            await run(host)
        assert failure.value.reason == reason
        assert isinstance(failure.value.__cause__, TimeoutError if how == "timeout" else HostError)


async def test_a_failure_in_the_middle_of_a_batch_is_reported(api: StrictHost, host: Host) -> None:
    api.faults.fail.add("vector_upsert")
    api.faults.let_pass["vector_upsert"] = 1
    with pytest.raises(StoreFailed):
        await host.upsert("kb", rows("a", 700))
    assert len(api.rows["kb"]) == 500


async def test_reading_before_the_first_write_is_an_error_not_a_crash(host: Host) -> None:
    for run in VECTOR_CALLS["vector_search"], VECTOR_CALLS["vector_list"], VECTOR_CALLS["vector_delete"]:
        with pytest.raises(StoreFailed):
            await run(host)


async def test_a_busy_connection_is_asked_again_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.langbot.host.BUSY_PAUSES", (0.0, 0.0))
    refused = 2

    def answer(*_: Any) -> list[Any]:
        nonlocal refused
        refused -= 1
        if refused >= 0:
            raise HostError("Runtime connection is busy (max 128 concurrent actions)")
        return []

    for tries, ends in ((2, False), (9, True)):
        refused, spy = tries, Spy(answer)
        with pytest.raises(StoreFailed) if ends else contextlib.nullcontext():
            assert await LangBotHost(spy).search("kb", at_cosine(1.0), 3, A) == []
        assert len(spy.calls) == 3


async def test_more_calls_at_once_than_the_connection_takes(api: StrictHost, host: Host) -> None:
    await host.upsert("kb", rows("a", 1))
    api.latency = 0.01
    answers = await asyncio.gather(*(host.list_rows("kb", A, 3) for _ in range(300)))
    assert all(len(answer) == 1 for answer in answers)


async def test_unusable_embeddings_are_handed_on_for_the_caller_to_see(api: StrictHost, host: Host) -> None:
    for fault in ("short", "long", "nan", "zero", "none"):
        api.faults.embedding = fault
        got = await host.embed("m", ["one", "two"])
        good = HashedWords().embed(["one", "two"])
        assert json.dumps(got) == json.dumps(api.faults.vectors(good))


async def test_a_wrong_count_in_one_of_several_calls_is_not_smoothed_over(
    api: StrictHost, host: Host
) -> None:
    for fault in ("short", "long", "none"):
        api.faults.embedding = fault
        with pytest.raises(EmbeddingFailed) as failure:
            await host.embed("m", [f"text {i}" for i in range(150)])
        assert failure.value.reason == "embedding_unusable"
