"""The benchmarks notice what they are there to notice; their figures would be worth nothing otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks import recall
from benchmarks.__main__ import Wanted, faults
from benchmarks.isolation import SCOPES
from benchmarks.load import MEMORIES, Session, missing
from benchmarks.parallel import Storm
from benchmarks.recall import figures
from benchmarks.recall.vectors import CachedModel
from benchmarks.world import KB, World
from longterm_memory.episodes import EpisodeDraft
from longterm_memory.importer import EpisodeImporter
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.recall.recaller import Recaller
from longterm_memory.service import MemoryService
from playground.engines import EngineApi
from tests.support.strict_host import StrictHost


async def world() -> World:
    api = StrictHost()
    service = MemoryService(LangBotHost(api))
    await service.knowledge_base_created(KB, {"embedding_model_uuid": "bench"})
    return World(cast("EngineApi", api), service)


async def test_parallel_recalls_on_a_good_store_are_all_answered() -> None:
    report = await Storm(await world(), 250).run()
    assert report["facts"]["told"] >= 1
    assert report["recalls"] == report["answered"] >= 250
    assert report["empty"] == report["rows_dropped"] == 0 and not faults({"parallel": report})


async def test_a_recall_that_answers_from_another_scope_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    recall = Recaller.recall

    async def elsewhere(self: Recaller, user_key: str, *given: Any, **how: Any) -> Any:
        other = next(scope.user_key for scope in SCOPES if scope.user_key != user_key)
        return await recall(self, other, *given, **how)

    monkeypatch.setattr(Recaller, "recall", elsewhere)
    report = await Storm(await world(), 100).run()
    assert report["foreign"] > 0
    assert "parallel.foreign" in faults({"parallel": report})


async def test_a_store_that_shows_nothing_is_no_empty_memory() -> None:
    here = await world()

    class Forgetful(Storm):
        async def _add_documents(self) -> None:
            await super()._add_documents()
            for rows in here.api.rows.values():  # type: ignore[attr-defined]
                rows.clear()

    report = await Forgetful(here, 100).run()
    failed = sum(report["failed"].values())
    assert report["empty"] + failed > 0 and report["answered"] + report["empty"] + failed == report["recalls"]


async def test_load_tells_what_is_lost_and_what_is_with_somebody_else() -> None:
    here = await world()
    collection = await here.service.collection()
    importer = EpisodeImporter(collection, here.service.recaller(collection))
    sessions = [Session(0), Session(1)]
    for session in sessions:
        texts = [f"note {n} of {session.word}" for n in range(MEMORIES)]
        await importer.add_many(session.scope, [EpisodeDraft(text) for text in texts])
    assert await missing(here, sessions) == (0, 0)

    sessions[0].facts.append("never stored in quay00")
    assert await missing(here, sessions) == (2, 0), "the fact, and one memory less than there should be"
    await importer.add_many(sessions[0].scope, [EpisodeDraft("a secret of quay01")])
    assert await missing(here, sessions) == (1, 1)


def test_what_is_asked_for_is_read_or_refused_in_one_line() -> None:
    wanted = Wanted.read("isolation, cost", "all", "50k,1k", 10, 20)
    assert wanted.parts == ("isolation", "cost") and wanted.backends[0] == "chroma"
    assert list(wanted.sizes.items()) == [("1k", 1_000), ("50k", 50_000)]
    for only, backend, sizes in (
        ("isolated", "chroma", "1k"),
        ("cost", "oracle", "1k"),
        ("cost", "chroma", "1000"),
        ("", "chroma", "1k"),
    ):
        with pytest.raises(ValueError, match=r"unknown (part|backend|size) .*[;:]"):
            Wanted.read(only, backend, sizes, 1, 1)


async def test_recall_is_measured_beside_simpler_rankings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole of it on the tiny data set, with hashed words for a model."""
    monkeypatch.setattr(
        "benchmarks.recall.measuring.CachedModel", lambda name: CachedModel(name, tmp_path / "vectors")
    )
    report = await recall.measure(tmp_path / "db", None, ["words"], say=lambda _: None)
    found = report["recall"]["tiny"]["words"]
    assert found["n"] == 25
    assert found["r@5"] > 0.5
    assert set(found["baselines"]) == {"decay", "vector", "bm25", "fusion"}
    assert set(found["by_category"]) >= {"single", "exact"}
    assert report["asked_after"]["tiny"]["words"]["1d"]["ours"]["n"] > 10
    assert report["abstention"]


def test_the_documents_show_the_figures_that_are_kept() -> None:
    assert figures.stale() == []
    kept = json.loads(figures.KEPT.read_text(encoding="utf-8"))
    copy = json.loads(json.dumps(kept))
    with pytest.raises(ValueError, match="tiny"):
        figures.renewed(copy, {"recall": {}, "data_sha256": {"tiny": ""}}, kept["date"])
    other = json.loads(json.dumps(kept["weights"]))
    next(iter(next(iter(other.values())).values()))["as it is"]["r@5"] += 0.01
    with pytest.raises(ValueError, match="another ranking"):
        figures.renewed(copy, {"weights": other}, kept["date"])
