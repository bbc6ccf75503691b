"""The adapter between the ports and the SDK: shapes, sizes, errors."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace
from typing import Any

import pytest

from longterm_memory.errors import StorageFailed, StoreFailed
from longterm_memory.langbot import HostApi, LangBotHost
from longterm_memory.ports import FileIds, Host, RowIds
from playground.engines import HostError
from tests.support.rows import at_cosine, file_id, ids, row, row_id, rows
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


# ---------------------------------------------------------------- shapes


def test_the_sdk_has_what_the_adapter_uses() -> None:
    from langbot_plugin.api.proxies.langbot_api import LangBotAPIProxy

    for name, ours in inspect.getmembers(HostApi, inspect.isfunction):
        if name.startswith("_"):
            continue
        theirs = list(inspect.signature(getattr(LangBotAPIProxy, name)).parameters)
        for place, parameter in enumerate(inspect.signature(ours).parameters):
            assert theirs[place] == parameter, name


async def test_rows_go_in_and_come_out(host: Host) -> None:
    await host.upsert("kb", rows("a", 3) + rows("b", 2))
    by_list = await host.list_rows("kb", A, 10)
    assert {r.id for r in by_list} == ids(rows("a", 3))
    assert all(r.distance is None for r in by_list)
    best, *rest = await host.search("kb", row("a", "1").vector, 3, A)
    assert best.id == row("a", "1").id
    assert best.metadata["text"] == row("a", "1").metadata["text"]
    assert best.distance == pytest.approx(0)
    assert len(rest) == 2


async def test_filters_and_deletes_have_one_key() -> None:
    x, y = row_id("x"), row_id("y")
    for where, expected in (
        (FileIds(["aa"]), {"file_id": "aa"}), (FileIds(["aa", "bb"]), {"file_id": {"$in": ["aa", "bb"]}}),
        (RowIds([x]), {"uuid": x}), (RowIds([x, y]), {"uuid": {"$in": [x, y]}}),
    ):  # fmt: skip
        spy = Spy({"items": [], "total": 0})
        await LangBotHost(spy).list_rows("kb", where, 7, 2)
        assert spy.calls == [("vector_list", ("kb", expected, 7, 2), {})]
    spy = Spy(0)
    await LangBotHost(spy).delete_rows("kb", FileIds(["aa", "bb"]))
    await LangBotHost(spy).delete_rows("kb", RowIds([x]))
    assert spy.calls == [
        ("vector_delete", ("kb",), {"file_ids": ["aa", "bb"]}),
        ("vector_delete", ("kb",), {"filters": {"uuid": x}}),
    ]


async def test_deleting_very_many_rows_takes_several_calls(api: StrictHost, host: Host) -> None:
    written = rows("a", 1_100)
    await host.upsert("kb", written)
    with api.calls.recording() as seen:
        await host.delete_rows("kb", RowIds([r.id for r in written[:1_099]]))
    assert seen.counts == {"vector_delete": 3}
    assert [r.id for r in await host.list_rows("kb", A, 10)] == [written[-1].id]


async def test_a_delete_that_the_store_takes_too_long_for_is_made_in_parts(
    api: StrictHost, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = rows("a", 400)
    await host.upsert("kb", written)
    delete, refused = api._delete, []

    async def slow(collection_id: str, file_ids: Any, filters: Any) -> int:
        if len(filters["uuid"]["$in"]) > 120:
            refused.append(filters)
            raise TimeoutError("Timeout, query has reached the maximum query timeout: 10000000(us)")
        return await delete(collection_id, file_ids, filters)

    monkeypatch.setattr(api, "_delete", slow)
    await host.delete_rows("kb", RowIds([r.id for r in written[:-1]]))
    assert [r.id for r in await host.list_rows("kb", A, 10)] == [written[-1].id]
    assert len(refused) == 2  # it is remembered what was too much


async def test_a_length_that_the_store_has_no_place_for_is_named(host: Host) -> None:
    with pytest.raises(StoreFailed) as failure:
        await host.upsert("kb", [replace(rows("a", 1)[0], vector=[1.0] + [0.0] * 99)])
    assert (failure.value.reason, failure.value.details) == ("dimension_refused", {"dimension": 100})


async def test_answers_in_every_shape_seen() -> None:
    item = {"id": "1", "metadata": {"text": "t"}, "document": "d"}
    for answer in ({"items": [item], "total": 1}, ([item], 1), [[item], 1], [{**item, "document": None}]):
        (got,) = await LangBotHost(Spy(answer)).list_rows("kb", A, 10)
        assert (got.id, got.metadata, got.distance) == ("1", {"text": "t"}, None)
    for odd in (None, "rows", 7, {"total": 1}, {"items": None}):
        with pytest.raises(StoreFailed) as failure:
            await LangBotHost(Spy(odd)).list_rows("kb", A, 10)
        assert failure.value.reason == "store_down"
        assert isinstance(failure.value.__cause__, TypeError)


async def test_odd_rows_become_rows_that_nobody_can_take_for_a_record() -> None:
    answer: list[Any] = [
        None,
        "x",
        {},
        {"id": None, "metadata": None, "distance": float("nan")},
        {"metadata": []},
    ]
    found = await LangBotHost(Spy(answer)).search("kb", at_cosine(1.0), 10, A)
    assert [dict(r.metadata) for r in found] == [{}] * 5
    assert [r.distance for r in found] == [None] * 5
    assert {r.id for r in found} == {""}
    # The document stands in for a missing text.
    answer = [{"id": "1", "metadata": {"file_id": "aa"}, "document": "{}"}, {"id": "2", "document": "d"}]
    found = await LangBotHost(Spy(answer)).list_rows("kb", A, 10)
    assert [r.metadata["text"] for r in found] == ["{}", "d"]
    # Distances are finite numbers or none.
    for given, number in (
        (0, 0.0),
        (0.5, 0.5),
        (True, None),
        ("0.5", None),
        (None, None),
        (float("inf"), None),
    ):
        answer = [{"id": "1", "metadata": {}, "distance": given}]
        (got,) = await LangBotHost(Spy(answer)).search("kb", at_cosine(1.0), 1, A)
        assert got.distance == number


def test_what_langbot_4_10_does_to_texts_in_seekdb_is_undone() -> None:
    from longterm_memory.langbot.rows import rows as read

    # The table of LangBot 4.10.11's SeekDB class; it escapes on the way in only.
    table = str.maketrans(
        {"\x00": "", "\\": "\\\\", "'": "''", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    )
    for content in ["it's", "''", "a\\'b", '\\"', "\n\\n\r\t", "C:\\new\\table", "记忆🙂", "\\\\n", "'\"'"]:
        for text in json.dumps({"c": content}), json.dumps({"c": content}, ensure_ascii=False):
            for stored in text, text.translate(table):
                (got,) = read([{"id": "1", "metadata": {"text": stored}}])
                assert got.metadata["text"] == text
    (got,) = read([{"id": "1", "metadata": {"text": "plain \\n text"}}])
    assert got.metadata["text"] == "plain \\n text"


# ---------------------------------------------------------------- sizes


async def test_many_rows_go_in_several_batches(api: StrictHost, host: Host) -> None:
    with api.calls.recording() as seen:
        await host.upsert("kb", rows("a", 1_201))
    assert seen.counts == {"vector_upsert": 3}
    assert len(api.rows["kb"]) == 1_201
    wide = [1.0 / 3_072**0.5] * 3_072
    long = [replace(row("a", str(i), text="x" * 60_000), vector=wide) for i in range(300)]
    with api.calls.recording() as seen:  # never a message too long
        await host.upsert("wide", long)
    assert len(api.rows["wide"]) == 300
    assert seen.counts["vector_upsert"] == 6
    with api.calls.recording() as seen:
        await host.upsert("kb", [])
    assert seen.total == 0


async def test_long_lists_come_in_pages(api: StrictHost, host: Host) -> None:
    await host.upsert("kb", rows("a", 3_250))
    with api.calls.recording() as seen:
        found = await host.list_rows("kb", A, 5_000, 10)
    assert len(found) == len({r.id for r in found}) == 3_240
    assert seen.counts == {"vector_list": 3}
    with api.calls.recording() as seen:
        assert len(await host.list_rows("kb", A, 500)) == 500
    assert seen.counts == {"vector_list": 1}


async def test_pages_shrink_when_an_answer_is_too_long_for_one_message(api: StrictHost, host: Host) -> None:
    # Metadata text and document: 120 kB a row, so 300 rows are twice what a message may hold.
    await host.upsert("kb", [row("a", f"{i:03}", text=f"{i:03}" + "x" * 60_000) for i in range(300)])
    found = await host.list_rows("kb", A, 300)
    assert len({r.id for r in found}) == len(found) == 300
    few = await host.search("kb", at_cosine(1.0), 300, A)
    assert 100 <= len(few) < 300


async def test_what_lies_outside_the_window_of_milvus_is_a_mistake_of_ours(host: Host) -> None:
    for limit, offset in ((0, 0), (-1, 0), (5, -1), (10, 16_380)):
        with pytest.raises(ValueError, match="limit and offset"):
            await host.list_rows("kb", A, limit, offset)
    for k in (0, 16_385):
        with pytest.raises(ValueError, match="k must be"):
            await host.search("kb", at_cosine(1.0), k, A)


async def test_a_backend_that_returns_too_much_is_cut(api: StrictHost, host: Host) -> None:
    await host.upsert("kb", rows("a", 5))
    api.faults.duplicate_rows = True
    assert len(await host.search("kb", at_cosine(1.0), 3, A)) == 3
    assert len(await host.list_rows("kb", A, 4)) == 4


async def test_numpy_numbers_reach_the_host_as_floats(api: StrictHost, host: Host) -> None:
    import numpy as np

    vector = np.asarray(at_cosine(0.6), dtype=np.float32)
    await host.upsert("kb", [replace(row("a", "0"), vector=vector)])  # type: ignore[arg-type]
    (got,) = await host.search("kb", vector, 1, A)  # type: ignore[arg-type]
    assert got.distance == pytest.approx(0, abs=1e-3)


async def test_many_texts_are_embedded_in_several_calls(api: StrictHost, host: Host) -> None:
    texts = [f"text {i}" for i in range(250)]
    with api.calls.recording() as seen:
        vectors = await host.embed("model", texts)
    assert vectors == api.embed(texts)
    assert seen.counts == {"invoke_embedding": 3}


# ---------------------------------------------------------------- storage, version


async def test_storage_keeps_bytes(host: Host) -> None:
    assert await host.storage.get("missing") is None
    await host.storage.set("k", b"\x00\xff")
    await host.storage.set("l", b"")
    assert await host.storage.get("k") == b"\x00\xff"
    assert await host.storage.get("l") == b""
    assert await host.storage.keys() == ["k", "l"]
    await host.storage.delete("k")
    await host.storage.delete("k")
    assert await host.storage.get("k") is None


async def test_a_missing_key_is_none_and_nothing_else_is(api: StrictHost, host: Host) -> None:
    for key in ("k", "a b", "键", "x" * 500, "%s {0}", "not found"):
        assert await host.storage.get(key) is None
        api.faults.storage_down = True
        with pytest.raises(StorageFailed):
            await host.storage.get(key)
        api.faults.clear()
    for text in ("Storage with key other not found", "Plugin installation setting was not found"):
        with pytest.raises(StorageFailed):
            await LangBotHost(Spy(HostError(text))).storage.get("k")
    with pytest.raises(StorageFailed):
        await LangBotHost(Spy(HostError("Storage with key other not found"))).storage.delete("k")
    await LangBotHost(Spy(HostError("Storage with key k not found"))).storage.delete("k")


async def test_values_beyond_the_limit_are_refused_with_the_sizes(api: StrictHost, host: Host) -> None:
    async def refused(storage: Any, value: bytes) -> tuple[str, dict[str, object]]:
        with pytest.raises(StorageFailed) as failure:
            await storage.set("k", value)
        return failure.value.reason, dict(failure.value.details)

    limit = 10 * 1024 * 1024
    await host.storage.set("k", b"x" * limit)
    with api.calls.recording() as seen:
        sizes = {"length": limit + 1, "limit": limit}
        assert await refused(host.storage, b"x" * (limit + 1)) == ("too_large", sizes)
    assert seen.total == 0
    for text in (  # an operator may have set a smaller one
        "ActionCallError: Binary storage value exceeds the 1024-byte limit",
        "ActionCallError: Binary storage value exceeds limit (2000 > 1024 bytes)",
    ):
        smaller = LangBotHost(Spy(HostError(text))).storage
        assert await refused(smaller, b"x" * 2_000) == ("too_large", {"length": 2_000, "limit": 1_024})
    api.faults.storage_full = True
    assert (await refused(host.storage, b"v"))[0] == "storage_down"


async def test_the_version_and_the_knowledge_bases_may_be_unknown(api: StrictHost, host: Host) -> None:
    api.faults.fail.add("get_langbot_version")
    assert await host.version() == ""
    api.faults.clear()
    assert [await host.version() for _ in range(3)] == ["4.11.2"] * 3
    assert api.calls.counts["get_langbot_version"] == 2
    assert await host.knowledge_bases() is None
    for bases in ({"kb-1": "Memory", "kb-2": "Docs"}, {}):
        api.bases = bases
        assert await host.knowledge_bases() == frozenset(bases)
