"""What tests rely on in the doubles of the host: counting, rounds, faults, the connection's limits."""

from __future__ import annotations

import asyncio
from typing import Any

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


async def test_rounds_are_counted_by_what_waits_for_what(api: StrictHost) -> None:
    async def chain() -> None:
        await listed(api)
        await listed(api)

    def store() -> Any:
        return api.set_plugin_storage("k", b"")

    with api.calls.recording() as together:
        await asyncio.gather(listed(api), api.invoke_embedding("m", ["x"]), store())
    assert (together.total, together.rounds()) == (3, 1)
    with api.calls.recording() as waiting:
        await chain()
        await asyncio.gather(listed(api), store())
    assert (waiting.total, waiting.rounds()) == (4, 3)
    api.faults.slow["set_plugin_storage"] = 0.05
    with api.calls.recording() as beside_a_long_one:
        await asyncio.gather(store(), chain())
    assert (beside_a_long_one.total, beside_a_long_one.rounds()) == (3, 2)


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


async def test_the_connection_has_its_limits(api: StrictHost) -> None:
    with pytest.raises(HostError, match="16777216 byte limit"):
        await api.set_plugin_storage("k", b"x" * 13_000_000)
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
    async def with_fault(**fault: Any) -> list[dict[str, Any]]:
        api.faults.clear()
        for name, value in fault.items():
            setattr(api.faults, name, value)
        return await listed(api)

    plain = await with_fault()
    assert len(await with_fault(ignore_filters=True)) == 5
    assert len(await api.vector_search("kb", at_cosine(1.0), 9, {"file_id": file_id("a")})) == 5
    foreign = await with_fault(foreign=[{"id": "x", "metadata": {"file_id": file_id("a")}, "distance": 0.0}])
    assert (foreign[0]["id"], len(foreign)) == ("x", 4)
    assert all(item["metadata"] == {} for item in await with_fault(drop_metadata=True))
    assert all(item["metadata"] is None for item in await with_fault(null_metadata=True))
    assert len(await with_fault(duplicate_rows=True)) == 6
    assert await with_fault(reverse_rows=True) == plain[::-1]
    # So can counts, and deletes do nothing.
    await with_fault(delete_nothing=True, lie_counts=True)
    assert await api.vector_delete("kb", [file_id("a")]) == 4_711
    assert (await api.vector_list("kb", {"file_id": file_id("a")}, 1, 0))["total"] == 4_711
    assert len(await listed(api)) == 3


async def test_embeddings_can_have_another_dimension_and_storage_be_corrupt(api: StrictHost) -> None:
    for dimension in (100, 500):
        api.faults.dimension = dimension
        assert [len(v) for v in await api.invoke_embedding("m", ["x", "y"])] == [dimension] * 2
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
