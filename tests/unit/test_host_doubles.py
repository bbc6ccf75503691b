"""What tests rely on in the doubles of the host: counting, rounds, faults, the connection's limits."""

from __future__ import annotations

import asyncio

import pytest

from longterm_memory.langbot import LangBotHost
from longterm_memory.ports import FileIds
from playground.engines import CallLog, Faults, HostError, HostTimeoutError, PluginApi
from tests.support.rows import Columns, at_cosine, file_id, ids, row, rows
from tests.support.strict_host import StrictHost

A = FileIds([file_id("a")])


@pytest.fixture
async def api() -> StrictHost:
    api = StrictHost()
    await LangBotHost(api).upsert("kb", rows("a", 3) + rows("b", 2))
    return api


async def listed(api: PluginApi) -> list[dict[str, object]]:
    found: list[dict[str, object]] = (await api.vector_list("kb", {"file_id": file_id("a")}, 100, 0))["items"]
    return found


# ---------------------------------------------------------------- rounds


async def test_calls_made_together_are_one_round(api: StrictHost) -> None:
    with api.calls.recording() as seen:
        await asyncio.gather(listed(api), api.invoke_embedding("m", ["x"]), api.set_plugin_storage("k", b""))
    assert (seen.total, seen.rounds()) == (3, 1)


async def test_calls_that_wait_for_one_another_are_rounds(api: StrictHost) -> None:
    with api.calls.recording() as seen:
        await listed(api)
        await listed(api)
        await asyncio.gather(listed(api), api.set_plugin_storage("k", b""))
    assert (seen.total, seen.rounds()) == (4, 3)


async def test_a_chain_beside_a_long_call_counts_its_links(api: StrictHost) -> None:
    api.faults.slow["set_plugin_storage"] = 0.05

    async def chain() -> None:
        await listed(api)
        await listed(api)

    with api.calls.recording() as seen:
        await asyncio.gather(api.set_plugin_storage("k", b""), chain())
    assert (seen.total, seen.rounds()) == (3, 2)


async def test_counts_and_durations(api: StrictHost) -> None:
    api.calls.clear()
    api.latency = 0.01
    await listed(api)
    with pytest.raises(HostError):
        await api.get_plugin_storage("missing")
    assert api.calls.counts == {"vector_list": 1, "get_plugin_storage": 1}
    assert [call.failed for call in api.calls.calls] == [False, True]
    assert all(call.seconds >= 0.01 for call in api.calls.calls)
    assert api.calls.running == 0
    assert CallLog().rounds() == 0


# ---------------------------------------------------------------- the connection


async def test_only_json_crosses_the_connection(api: StrictHost) -> None:
    with pytest.raises(TypeError):
        await api.vector_search("kb", at_cosine(1.0), 3, {"file_id": {1, 2}})
    metadata = {"file_id": file_id("a")}
    await api.vector_list("kb", metadata, 1, 0)
    answer = await api.vector_list("kb", metadata, 1, 0)
    answer["items"][0]["metadata"]["text"] = "changed"
    assert (await listed(api))[0]["metadata"] != {"text": "changed"}


async def test_messages_have_a_size_limit(api: StrictHost) -> None:
    with pytest.raises(HostError, match="16777216 byte limit"):
        await api.set_plugin_storage("k", b"x" * 13_000_000)


async def test_the_connection_takes_128_calls_at_once(api: StrictHost) -> None:
    answers = await asyncio.gather(*(listed(api) for _ in range(130)), return_exceptions=True)
    refused = [str(a) for a in answers if isinstance(a, HostError)]
    assert refused == ["Runtime connection is busy (max 128 concurrent actions)"] * 2


# ---------------------------------------------------------------- faults


async def test_a_call_can_fail_hang_or_lose_its_answer(api: StrictHost) -> None:
    api.faults.fail.add("vector_delete")
    with pytest.raises(HostError):
        await api.vector_delete("kb", [file_id("a")])
    assert len(await listed(api)) == 3
    api.faults.clear()
    api.faults.hang.add("vector_delete")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(api.vector_delete("kb", [file_id("a")]), 0.01)
    assert len(await listed(api)) == 3
    api.faults.clear()
    api.faults.lose_answer.add("vector_delete")
    api.faults.let_pass["vector_delete"] = 1
    await api.vector_delete("kb", [file_id("b")])
    with pytest.raises(HostTimeoutError):
        await api.vector_delete("kb", [file_id("a")])
    assert await listed(api) == []
    api.faults.clear()
    assert api.faults == Faults()


async def test_reads_can_lie(api: StrictHost) -> None:
    api.faults.ignore_filters = True
    assert len(await listed(api)) == 5
    assert len(await api.vector_search("kb", at_cosine(1.0), 9, {"file_id": file_id("a")})) == 5
    api.faults.clear()
    api.faults.foreign = [{"id": "x", "metadata": {"file_id": file_id("a")}, "distance": 0.0}]
    assert (await listed(api))[0]["id"] == "x"
    assert len(await listed(api)) == 4
    api.faults.clear()
    api.faults.drop_metadata = True
    assert all(item["metadata"] == {} for item in await listed(api))
    api.faults.clear()
    api.faults.null_metadata = True
    assert all(item["metadata"] is None for item in await listed(api))
    api.faults.clear()
    plain = await listed(api)
    api.faults.duplicate_rows = True
    assert len(await listed(api)) == 6
    api.faults.clear()
    api.faults.reverse_rows = True
    assert await listed(api) == plain[::-1]


async def test_counts_can_lie_and_deletes_do_nothing(api: StrictHost) -> None:
    api.faults.delete_nothing = True
    api.faults.lie_counts = True
    assert await api.vector_delete("kb", [file_id("a")]) == 4_711
    assert (await api.vector_list("kb", {"file_id": file_id("a")}, 1, 0))["total"] == 4_711
    assert len(await listed(api)) == 3


async def test_embeddings_can_have_another_dimension(api: StrictHost) -> None:
    for dimension in 100, 500:
        api.faults.dimension = dimension
        assert [len(v) for v in await api.invoke_embedding("m", ["x", "y"])] == [dimension] * 2


async def test_storage_can_be_corrupt(api: StrictHost) -> None:
    await api.set_plugin_storage("k", b"{}")
    api.faults.storage_corrupt["k"] = b"{"
    assert await api.get_plugin_storage("k") == b"{"
    api.faults.clear()
    assert await api.get_plugin_storage("k") == b"{}"


# ---------------------------------------------------------------- the strict double itself


async def test_metrics() -> None:
    for metric, expected in (("l2", [0, 1, 2]), ("cosine", [0, 0.5, 1]), ("similarity", [1, 0.5, 0])):
        api = StrictHost(metric=metric)  # type: ignore[arg-type]
        await LangBotHost(api).upsert("kb", [row("a", str(c), at_cosine(c)) for c in (0.5, 0.0, 1.0)])
        found = await api.vector_search("kb", at_cosine(1.0), 5, {"file_id": file_id("a")})
        assert [item["distance"] for item in found] == pytest.approx(expected, abs=1e-9)


async def test_poor_and_rich_metadata(api: StrictHost) -> None:
    assert {frozenset(item["metadata"]) for item in await listed(api)} == {  # type: ignore[call-overload]
        frozenset({"text", "file_id", "uuid"})
    }
    api.rich = True
    for item in await listed(api):
        assert item["metadata"]["user_key"] == "a"  # type: ignore[index]


async def test_a_refused_batch_leaves_nothing_behind(api: StrictHost) -> None:
    columns = Columns.of(row("a", "new"), row("a", "0"))
    with pytest.raises(HostError, match="RefusedError"):
        await api.vector_upsert("kb", columns.vectors, columns.ids, columns.metadata, columns.documents)
    assert {item["id"] for item in await listed(api)} == ids(rows("a", 3))


async def test_blank_texts_are_not_embedded(api: StrictHost) -> None:
    for texts in ([], [""], [" \n"], ["ok", ""]):
        with pytest.raises(HostError, match="RefusedError"):
            await api.invoke_embedding("m", texts)
        with pytest.raises(HostError, match="RefusedError"):
            await api.invoke_embedding("", ["text"])
