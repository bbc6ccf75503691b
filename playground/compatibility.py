"""The compatibility of vector backends, from what the conformance suite found: documents and the README's table.

python -m playground.compatibility            # build/conformance/*.json → docs/backends.json → documents
python -m playground.compatibility --check    # whether the documents are what docs/backends.json gives
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import readme_blocks
from .compatibility_facts import BACKENDS, CHECKS, DIFFERENCES, MILVUS, NOT_RUN, Setup
from .envs import ROOT

__all__ = ["FOUND", "KEPT", "committed", "details", "documents", "table"]

FOUND = ROOT / "build" / "conformance"
"""Where the suite writes what it found, one file per engine."""
KEPT = ROOT / "docs" / "backends.json"
"""What is committed of that."""
DETAILS = ROOT / "docs" / "backends.md"

_Results = Mapping[str, Mapping[str, Any]]


def committed() -> dict[str, Any]:
    """Return what is committed: per engine ``versions`` and ``checks``."""
    found: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def collected() -> dict[str, Any]:
    """Return the committed results, replaced by those of engines that were run since."""
    known = committed() if KEPT.exists() else {}
    for name in BACKENDS:
        file = FOUND / f"{name}.json"
        if file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
            known[name] = {"versions": found["versions"], "checks": found["checks"]}
    return {name: known[name] for name in BACKENDS if name in known}


# ---------------------------------------------------------------- what it looks like


def table(results: _Results) -> str:
    """Return the table of the README."""
    lines = [
        "| backend | run here | what holds | set LangBot to it |",
        "|---|---|---|---|",
    ]
    for name, setup in BACKENDS.items():
        found = results.get(name)
        ran = _versions(found["versions"]) if found else "not run"
        lines.append(f"| {setup.title} | {ran} | {_summary(found)} | {_settings(setup)} |")
    for setup in NOT_RUN.values():
        lines.append(f"| {setup.title} | {setup.ran} | | {_settings(setup)} |")
    return "\n".join(lines)


def details(results: _Results) -> str:
    """Return docs/backends.md."""
    parts = [_HEAD, "## What is checked\n", "| check | means |\n|---|---|"]
    parts[-1] += "".join(f"\n| {_spoken(name)} | {meaning} |" for name, meaning in CHECKS.items())
    parts.append("\n## Results\n")
    parts.append(_matrix(results))
    parts.append("\n## The backends")
    for name, setup in BACKENDS.items():
        parts.append(_section(name, setup, results.get(name)))
    for name, setup in NOT_RUN.items():
        parts.append(_section(name, setup, None))
    parts.append("\n## What Milvus does differently\n")
    parts.append("And what the plugin does about it ([decision 1](decisions/0001-record-scheme.md)):\n")
    parts += [f"- {fact}" for fact in MILVUS]
    return "\n".join(parts).rstrip() + "\n"


_HEAD = """# Vector backends

Made by `make backends` from `docs/backends.json`; not to be edited by hand. The suite (`tests/engines/conformance`)
drives the memory service over LangBot's own `RAGRuntimeService`, `VectorDBManager` and backend classes, on the real
engines. Nothing is skipped: what a backend cannot do is listed, tested to be exactly that, and told to people in the
words below.

LangBot reads its backend from `data/config.yaml` or from environment variables, once, at its start. All knowledge
bases are on that one backend. Changing it leaves behind what the other one holds: make a backup in the console before,
create the knowledge base anew, and restore the backup. For what outgrows one machine see
[large deployments](large-deployments.md).
"""


def _matrix(results: _Results) -> str:
    names = [name for name in BACKENDS if name in results]
    lines = [
        "| | " + " | ".join(BACKENDS[name].title for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for check in CHECKS:
        cells = [_cell(name, check, results[name]["checks"]) for name in names]
        lines.append(f"| {_spoken(check)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(name: str, check: str, checks: Mapping[str, str]) -> str:
    outcome = checks.get(check, "not run")
    return {"holds": "yes", "fails": "**no**", "not run": "not run"}.get(outcome, "see below")


def _section(name: str, setup: Setup, found: Mapping[str, Any] | None) -> str:
    lines = [f"\n### {setup.title}\n"]
    ran = f"Run: {setup.ran}" if name in BACKENDS else f"Not run: {setup.ran}"
    versions = f" ({_versions(found['versions'])})" if found else ""
    lines.append(f"{ran}{versions}.\n")
    lines += [f"- {note}" for note in setup.notes]
    for (backend, check), known in DIFFERENCES.items():
        if backend == name:
            lines.append(f"- **{_spoken(check)}**: {known.what}")
            if known.sentence:
                lines.append(f"  People read: “{known.sentence}”")
    if found:
        failed = [_spoken(check) for check, outcome in found["checks"].items() if outcome == "fails"]
        lines += [f"- **does not hold**: {', '.join(failed)}"] if failed else []
    lines.append("")
    if setup.install:
        lines.append(f"Beside LangBot: `{setup.install}`\n")
    lines.append("```yaml\n" + setup.config + "\n```\n")
    lines.append("or " + ", ".join(f"`{line}`" for line in setup.environment))
    return "\n".join(lines)


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{package} {version}" for package, version in versions.items())


def _summary(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return ""
    checks: Mapping[str, str] = found["checks"]
    failed = [_spoken(name) for name in checks if checks[name] == "fails"]
    other = [_spoken(name) for name in checks if checks[name] not in ("holds", "fails")]
    said = (
        "everything"
        if not failed and not other
        else f"{len(checks) - len(failed) - len(other)} of {len(checks)}"
    )
    said += f"; [otherwise](docs/backends.md): {', '.join(other)}" if other else ""
    return said + (f"; **not**: {', '.join(failed)}" if failed else "")


def _settings(setup: Setup) -> str:
    first = f"`{setup.environment[0]}`"
    return f"{first}, `{setup.install}`" if setup.install else first


def _spoken(check: str) -> str:
    return check.replace("_", " ")


# ---------------------------------------------------------------- where it goes


def documents(results: _Results) -> dict[Path, str]:
    """Return the files that follow from the results, with their text."""
    return {DETAILS: details(results), **readme_blocks.documents("backends", table(results))}


def main(arguments: list[str]) -> int:
    """Write the documents, or with ``--check`` say which are not as they should be."""
    checking = arguments == ["--check"]
    results = committed() if checking else collected()
    stale = []
    if not checking:
        KEPT.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, text in documents(results).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not checking:
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(
            f"{name}: {'is not what docs/backends.json gives; run make backends' if checking else 'written'}"
        )
    return 1 if checking and stale else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
