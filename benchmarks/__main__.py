"""``python -m benchmarks [--only cost,isolation] [--recalls N] [--backend chroma] [--out build/bench.json]``."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import cost, isolation

PARTS = ("cost", "isolation")
_PACKAGES = ("langbot", "langbot-plugin", "chromadb", "numpy", "pydantic")


def versions() -> dict[str, str]:
    """Return the versions that a figure depends on."""
    found = {"python": sys.version.split()[0]}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def rows(values: dict[str, Any], path: str = "") -> list[tuple[str, Any]]:
    """Flatten the report for the printed table."""
    found: list[tuple[str, Any]] = []
    for name, value in values.items():
        here = f"{path}.{name}" if path else name
        found += rows(value, here) if isinstance(value, dict) else [(here, value)]
    return found


async def run(only: list[str], folder: Path, backend: str, recalls: int) -> dict[str, Any]:
    """Run the chosen parts in empty folders below ``folder``."""
    report: dict[str, Any] = {"versions": versions(), "backend": backend}
    if "cost" in only:
        report["cost"] = await cost.measure(folder / "cost", backend)
    if "isolation" in only:
        report["isolation"] = await isolation.measure(folder / "isolation", recalls, backend)
    return report


def main() -> int:
    """Parse the command line, run, write the JSON and print it as a table."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", default=os.environ.get("ONLY") or ",".join(PARTS))
    parser.add_argument("--recalls", type=int, default=int(os.environ.get("RECALLS") or 100_000))
    parser.add_argument("--backend", default=os.environ.get("BACKEND") or "chroma")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"))
    given = parser.parse_args()
    only = [part.strip() for part in given.only.split(",") if part.strip()]
    unknown = [part for part in only if part not in PARTS]
    if unknown:
        print(
            f"unknown part {', '.join(unknown)}; there are {', '.join(PARTS)} (recall follows)",
            file=sys.stderr,
        )
        return 2
    folder = Path("build/bench")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    report = asyncio.run(run(only, folder, given.backend, given.recalls))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for name, value in rows(report):
        print(f"{name:45} {value}")
    print(f"written to {given.out}")
    return int(bool(report.get("isolation", {}).get("foreign")))


if __name__ == "__main__":
    sys.exit(main())
