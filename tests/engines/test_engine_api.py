"""The in-process engines themselves: opening, closing, faults in front of a real backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from longterm_memory.langbot import LangBotHost
from longterm_memory.ports import FileIds
from playground.engines import EngineApi, HostError, open_backend, open_engine
from tests.support.rows import at_cosine, file_id, ids, rows

pytestmark = pytest.mark.engine

A = FileIds([file_id("a")])


def test_an_unknown_backend_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown backend 'redis'; known are chroma"):
        open_backend("redis", tmp_path)


async def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    async with open_engine("chroma", tmp_path) as api:
        await LangBotHost(api).upsert("kb", rows("a", 3))
    async with open_engine("chroma", tmp_path) as api:
        assert {r.id for r in await LangBotHost(api).list_rows("kb", A, 10)} == ids(rows("a", 3))


async def test_two_views_of_one_backend_share_rows_and_nothing_else(tmp_path: Path) -> None:
    backend = open_backend("chroma", tmp_path)
    async with EngineApi(backend) as one, EngineApi(backend, owned=False) as two:
        await LangBotHost(one).upsert("kb", rows("a", 3))
        await one.set_plugin_storage("k", b"v")
        assert len(await LangBotHost(two).list_rows("kb", A, 10)) == 3
        assert (two.calls.total, two.values) == (1, {})


async def test_faults_stand_in_front_of_a_real_backend(tmp_path: Path) -> None:
    async with open_engine("chroma", tmp_path) as api:
        host = LangBotHost(api)
        await host.upsert("kb", rows("a", 3) + rows("b", 2))
        api.faults.ignore_filters = True
        assert len(await host.list_rows("kb", A, 10)) == 5
        assert len(await host.search("kb", at_cosine(1.0), 10, A)) == 5
        api.faults.clear()
        api.faults.delete_nothing = True
        await host.delete_rows("kb", A)
        api.faults.clear()
        assert len(await host.list_rows("kb", A, 10)) == 3


async def test_errors_carry_the_text_that_the_host_sends(tmp_path: Path) -> None:
    async with open_engine("chroma", tmp_path) as api:
        with pytest.raises(HostError, match=r"\[VectorStoreError/ValueError\] \[collection_id=kb\]"):
            await api.vector_upsert("kb", [[1.0]], ["a", "b"], None, None)

        async def broken(_texts: list[str]) -> list[list[float]]:
            raise RuntimeError("model is loading")

        api.embed = broken
        with pytest.raises(HostError, match=r"\[EmbeddingError/RuntimeError\].*model is loading"):
            await api.invoke_embedding("m", ["text"])
