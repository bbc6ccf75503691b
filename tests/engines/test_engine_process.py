"""An engine in a process of its own: the same answers and errors, and a death that is told, not shared."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from longterm_memory.langbot import LangBotHost
from longterm_memory.ports import FileIds
from playground.engines import HostError, open_backend, open_engine
from playground.engines.process import ProcessBackend
from tests.support.rows import at_cosine, file_id, ids, row, rows

pytestmark = pytest.mark.engine

A = FileIds([file_id("a")])


async def test_it_answers_like_one_in_this_process_dies_alone_and_is_started_again(tmp_path: Path) -> None:
    async with open_engine("chroma", tmp_path, process=True) as api:
        backend, host = api.backend, LangBotHost(api)
        assert isinstance(backend, ProcessBackend)
        await host.upsert("kb", rows("a", 3) + rows("b", 2))
        searches = [host.search("kb", at_cosine(1.0), 10, A) for _ in range(20)]
        assert all({r.id for r in found} == ids(rows("a", 3)) for found in await asyncio.gather(*searches))
        with pytest.raises(HostError, match=r"\[VectorStoreError/ValueError\] \[collection_id=kb\]"):
            await api.vector_upsert("kb", [[1.0]], ["a", "b"], None, None)
        for refused in (
            "a\ud800b",
            float("nan"),
        ):  # what JSON can say and an engine cannot take arrives there
            with pytest.raises(HostError, match="VectorStoreError"):
                await api.vector_upsert("kb", [[float("nan")] * 384], ["x"], [{"text": refused}], None)

        os.kill(
            backend.pid, signal.SIGSTOP
        )  # it hangs: whoever asks can give up, and nothing else stands still
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(api.vector_list("kb", None, 5), 0.2)
        waiting = [asyncio.ensure_future(api.vector_list("kb", None, 5)) for _ in range(3)]
        await asyncio.sleep(0.1)
        backend.kill()
        gone = "the process of chroma is gone: killed by SIGKILL"
        for lost in [*waiting, api.vector_list("kb", None, 5)]:
            with pytest.raises(HostError, match=gone):
                await lost

        backend.restart()
        assert {r.id for r in await host.list_rows("kb", A, 10)} == ids(rows("a", 3))
        await host.upsert("kb", [row("a", "after")])
        assert await backend.count("kb", [file_id("a"), file_id("b")]) == 6
        assert await backend.count("never written", [file_id("a")]) == 0


def test_what_opening_raised_is_raised_here(tmp_path: Path) -> None:
    (tmp_path / "milvus.db").mkdir()
    with pytest.raises(Exception, match="Open local milvus failed") as caught:
        open_backend("milvus", tmp_path, process=True)
    assert type(caught.value).__name__ == "ConnectionConfigException"
