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
from benchmarks.recall.comparing import compared
from benchmarks.recall.metrics import Result, averages, places, results
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
    each = results(report["places"]["tiny"]["words"])
    assert averages(each)["ndcg@10"] == found["ndcg@10"]
    told = [line for line in compared(report, report, "itself") if line.startswith("tiny")]
    assert len(told) == 6 and sum(line.endswith("the same") for line in told) == 4


def run_of(line: str, kept: float = 0.9) -> dict[str, Any]:
    of = {"ours usem3": {"questions": 9, "kept": kept, "of_others": 9, "suppressed": 0.5}}
    return {
        "data_sha256": {"ours": "a"},
        "recall": {"ours": {"usem3": averages(results(line))}},
        "places": {"ours": {"usem3": line}},
        "abstention": {"en": {"of": of}},
    }


def test_a_run_ends_with_what_a_change_cost_question_by_question() -> None:
    line = "0 0,3 +1 7 0,4+1"
    assert places(results(line)) == line
    assert Result.of("", ["a", "b", "a", "c"], ["c", "x"]).ranks == (2,)

    def told(before: dict[str, Any], now: dict[str, Any]) -> dict[str, str]:
        lines = (text for text in compared(before, now, "then") if text.startswith("ours"))
        return {text.split()[2]: text for text in lines}

    good, bad = run_of(" ".join(["0"] * 40)), run_of(" ".join(["8"] * 8 + ["0"] * 32), 0.8)
    assert "1.000  0.800  -0.200" in told(good, bad)["recall@5"]
    assert told(good, bad)["recall@5"].endswith("worse") and told(bad, good)["recall@5"].endswith("better")
    assert told(good, bad)["recall@10"].endswith("the same")
    assert "0.900  0.800  -0.100" in told(good, bad)["answered"]
    # The averages of these are as far apart as those of a hundred random questions; one question tells nothing.
    assert told(good, run_of(" ".join(["8"] + ["0"] * 39)))["recall@5"].endswith("may be chance")

    # Figures without places still have averages; other data or another model have nothing to be compared with.
    assert "-0.200" in told({**good, "places": {}}, bad)["recall@5"]
    for other in (
        {"data_sha256": {"ours": "b"}},
        {"recall": {"ours": {}}},
        {"recall": {}, "data_sha256": {}},
    ):
        text = list(compared({**good, **other}, bad, "then"))
        assert len(text) == 2 and "no figures" in text[1]
    assert list(compared(good, {"cost": {}}, "then")) == []


def test_a_run_with_one_model_leaves_the_figures_of_the_other() -> None:
    kept = json.loads(figures.KEPT.read_text(encoding="utf-8"))
    run = {part: {} for part in ("recall", "asked_after")}
    for part, found in run.items():
        for dataset, models in kept[part].items():
            found[dataset] = {"usem3": models["usem3"]}
    run["abstention"] = {
        "zh": {"of": {"madial_zh usem3": {"questions": 100, "kept": 0.5, "of_others": 0, "suppressed": 0}}}
    }
    new = figures.renewed(json.loads(json.dumps(kept)), run, kept["date"])
    assert new["recall"] == kept["recall"] and new["asked_after"] == kept["asked_after"]
    assert len(new["abstention"]["zh"]["of"]) == len(kept["abstention"]["zh"]["of"])
    assert new["abstention"]["zh"]["kept"] < kept["abstention"]["zh"]["kept"]
    assert new["abstention"]["en"] == kept["abstention"]["en"]


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
