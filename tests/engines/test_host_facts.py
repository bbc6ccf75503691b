"""What the record scheme relies on, measured on every backend through the host's own classes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

import pytest

from longterm_memory.ports import FileIds, RowFilter, RowIds, VectorRow
from tests.support.real_engines import Engine
from tests.support.rows import at_cosine, file_id, ids, row, row_id, rows

pytestmark = pytest.mark.engine

RICH = {"chroma", "seekdb", "qdrant"}
"""Backends that give back all metadata."""
DISTANCES = {
    "chroma": lambda cosine: 2 - 2 * cosine,
    "seekdb": lambda cosine: 1 - cosine,
    "qdrant": lambda cosine: 1 - cosine,
    "pgvector": lambda cosine: 1 - cosine,
    "milvus": lambda cosine: cosine,
}


async def listed(engine: Engine, where: RowFilter, limit: int = 1_000) -> list[VectorRow]:
    return await engine.host.list_rows(engine.collection, where, limit)


async def found(engine: Engine, where: FileIds, k: int = 1_000) -> list[VectorRow]:
    await engine.api.settle()
    return await engine.host.search(engine.collection, at_cosine(1.0), k, where)


def row_ids(found: Iterable[VectorRow]) -> set[str]:
    return {row.id for row in found}


async def test_filters_by_file_id_keep_scopes_apart(engine: Engine) -> None:
    a, b, c = rows("a", 5), rows("b", 4), rows("c", 3)
    await engine.host.upsert(engine.collection, a + b + c)
    for scopes, expected in (("a",), a), (("b",), b), (("a", "c"), a + c):
        where = FileIds([file_id(scope) for scope in scopes])
        assert row_ids(await listed(engine, where)) == ids(expected)
        assert row_ids(await found(engine, where)) == ids(expected)


async def test_sixteen_file_ids_in_one_filter(engine: Engine) -> None:
    scopes = [f"scope {i}" for i in range(16)]
    written = [row(scope, "only") for scope in scopes]
    await engine.host.upsert(engine.collection, [*written, *rows("other", 5)])
    where = FileIds([file_id(scope) for scope in scopes])
    assert row_ids(await listed(engine, where)) == ids(written)
    assert row_ids(await found(engine, where)) == ids(written)


async def test_filters_by_uuid_find_exactly_those_rows(engine: Engine) -> None:
    a, b = rows("a", 5), rows("b", 5)
    await engine.host.upsert(engine.collection, a + b)
    assert row_ids(await listed(engine, RowIds([a[2].id]))) == {a[2].id}
    several = [a[0].id, a[4].id, b[1].id, row_id("never written")]
    assert row_ids(await listed(engine, RowIds(several))) == set(several[:3])
    await engine.api.settle()
    for filters, expected in ({"uuid": b[0].id}, 1), ({"uuid": {"$in": several}}, 3):
        answer = await engine.api.vector_search(engine.collection, at_cosine(1.0), 10, filters)
        assert len(answer) == expected


async def test_many_ids_in_one_list_of_which_few_exist(engine: Engine) -> None:
    written = rows("a", 6)
    await engine.host.upsert(engine.collection, written)
    asked = [row_id(f"unknown {i}") for i in range(636)] + [r.id for r in written[:4]]
    assert row_ids(await listed(engine, RowIds(asked))) == ids(written[:4])


async def test_delete_by_one_uuid_and_by_several_deletes_exactly_those(engine: Engine) -> None:
    a, b = rows("a", 8), rows("b", 8)
    both = FileIds([file_id("a"), file_id("b")])
    await engine.host.upsert(engine.collection, a + b)
    await engine.host.delete_rows(engine.collection, RowIds([a[0].id]))
    assert row_ids(await listed(engine, both)) == ids(a[1:] + b)
    several = [a[1].id, a[2].id, b[0].id, row_id("never written")]
    await engine.host.delete_rows(engine.collection, RowIds(several))
    assert row_ids(await listed(engine, both)) == ids(a[3:] + b[1:])
    assert row_ids(await found(engine, both)) == ids(a[3:] + b[1:])
    many = [row_id(f"unknown {i}") for i in range(600)] + [r.id for r in b[1:4]]
    await engine.host.delete_rows(engine.collection, RowIds(many))
    assert row_ids(await listed(engine, both)) == ids(a[3:] + b[4:])


async def test_delete_by_file_ids_deletes_exactly_those(engine: Engine) -> None:
    a, b, c = rows("a", 5), rows("b", 5), rows("c", 5)
    await engine.host.upsert(engine.collection, a + b + c)
    everything = FileIds([file_id(scope) for scope in "abc"])
    await engine.host.delete_rows(engine.collection, FileIds([file_id("a"), file_id("unknown")]))
    assert row_ids(await listed(engine, everything)) == ids(b + c)
    await engine.host.delete_rows(engine.collection, FileIds([file_id("b"), file_id("c")]))
    assert await listed(engine, everything) == []
    assert await found(engine, everything) == []


async def test_deleting_what_is_not_there_is_fine(engine: Engine) -> None:
    written = rows("a", 2)
    await engine.host.upsert(engine.collection, written)
    for _ in range(2):
        await engine.host.delete_rows(engine.collection, RowIds([written[0].id]))
        await engine.host.delete_rows(engine.collection, FileIds([file_id("unknown")]))
    assert row_ids(await listed(engine, FileIds([file_id("a")]))) == {written[1].id}


async def test_counts_mean_nothing(engine: Engine) -> None:
    await engine.host.upsert(engine.collection, rows("a", 3))
    answer = await engine.api.vector_list(engine.collection, {"file_id": file_id("a")}, limit=2)
    assert answer["total"] == (-1 if engine.name in {"chroma", "seekdb"} else 3)
    unknown = await engine.api.vector_delete(engine.collection, file_ids=[file_id("x"), file_id("y")])
    assert unknown == 2  # nothing was deleted
    one = await engine.api.vector_delete(engine.collection, filters={"uuid": rows("a", 1)[0].id})
    assert one == (1 if engine.name == "pgvector" else 0)  # one was deleted
    assert len(await listed(engine, FileIds([file_id("a")]))) == 2


async def test_what_comes_back(engine: Engine) -> None:
    written = row("a", "0")
    await engine.host.upsert(engine.collection, [written])
    where = FileIds([file_id("a")])
    for answer in await listed(engine, where), await found(engine, where):
        (got,) = answer
        assert got.id == written.id
        assert {k: got.metadata[k] for k in ("text", "file_id", "uuid")} == {
            k: written.metadata[k] for k in ("text", "file_id", "uuid")
        }
        others = {k: v for k, v in got.metadata.items() if not k.startswith("_langbot_")}
        assert (others == written.metadata) == (engine.kind in RICH)
        assert set(others) <= set(written.metadata)
    assert json.loads(got.metadata["text"])["name"] == "0"


async def test_an_update_is_a_new_row_and_the_old_one_deleted(engine: Engine) -> None:
    old, new = row("a", "version 1"), row("a", "version 2")
    other = rows("a", 3)
    await engine.host.upsert(engine.collection, [old, *other])
    await engine.host.upsert(engine.collection, [new])
    await engine.host.delete_rows(engine.collection, RowIds([old.id]))
    where = FileIds([file_id("a")])
    assert row_ids(await listed(engine, where)) == ids([new, *other])
    assert row_ids(await found(engine, where)) == ids([new, *other])


async def test_distances_of_unit_vectors(engine: Engine) -> None:
    cosines = (1.0, 0.5, 0.0, -0.5)
    await engine.host.upsert(engine.collection, [row("a", str(c), at_cosine(c)) for c in cosines])
    answer = await found(engine, FileIds([file_id("a")]))
    assert [row.id for row in answer] == [row_id(f"a/{c}") for c in cosines]  # best first
    expected = [DISTANCES[engine.kind](c) for c in cosines]
    assert [row.distance for row in answer] == pytest.approx(expected, abs=2e-3)


async def test_a_list_shows_writes_and_deletes_at_once(engine: Engine) -> None:
    where = FileIds([file_id("a")])
    for i in range(5):
        one = row("a", str(i))
        await engine.host.upsert(engine.collection, [one])
        assert one.id in row_ids(await listed(engine, where))
        assert row_ids(await listed(engine, RowIds([one.id]))) == {one.id}
        if i % 2:
            await engine.host.delete_rows(engine.collection, RowIds([one.id]))
            assert await listed(engine, RowIds([one.id])) == []


async def test_a_long_envelope_comes_back_byte_equal(engine: Engine) -> None:
    content = "".join(chr(c) for c in range(1, 0x2FF)) + "记忆🙂\"'\\\u2028\ud800"
    bare = json.dumps({"content": content, "pad": ""})
    text = json.dumps({"content": content, "pad": "x" * (60_000 - len(bare))})
    assert len(text) == 60_000
    assert text.isascii()
    await engine.host.upsert(engine.collection, [row("a", "long", text=text)])
    where = FileIds([file_id("a")])
    (by_list,), (by_search,) = await listed(engine, where), await found(engine, where)
    assert by_list.metadata["text"] == text
    assert by_search.metadata["text"] == text


async def test_more_than_there_is_can_be_asked_for(engine: Engine) -> None:
    await engine.host.upsert(engine.collection, rows("a", 3) + rows("b", 30))
    where = FileIds([file_id("a")])
    assert len(await found(engine, where, k=1_000)) == 3
    assert len(await found(engine, FileIds([file_id("unknown")]), k=5)) == 0
    assert len(await engine.host.list_rows(engine.collection, where, 1_000)) == 3
    assert await engine.host.list_rows(engine.collection, where, 10, offset=100) == []


async def test_pages_are_stable_and_complete(engine: Engine) -> None:
    written = rows("a", 230)
    await engine.host.upsert(engine.collection, written + rows("b", 50))
    where = FileIds([file_id("a")])
    pages = [await engine.host.list_rows(engine.collection, where, 100, offset) for offset in (0, 100, 200)]
    assert [len(page) for page in pages] == [100, 100, 30]
    assert row_ids(r for page in pages for r in page) == ids(written)
    assert [r.id for page in pages for r in page] == [r.id for r in await listed(engine, where)]


async def test_fifty_parallel_calls_keep_scopes_apart(engine: Engine) -> None:
    scopes = [f"scope {i}" for i in range(10)]
    await engine.host.upsert(engine.collection, [r for scope in scopes for r in rows(scope, 4)])
    await engine.api.settle()

    async def one(i: int) -> None:
        scope = scopes[i % 10]
        where = FileIds([file_id(scope)])
        if i % 3:
            answer = await engine.host.search(engine.collection, at_cosine(1.0), 10, where)
        else:
            answer = await engine.host.list_rows(engine.collection, where, 10)
        assert row_ids(answer) == ids(rows(scope, 4))

    await asyncio.gather(*(one(i) for i in range(50)))
