"""The documents about vector backends are what the committed results give, and name everything that is checked."""

from __future__ import annotations

import re

from playground.compatibility import committed, details, documents, table
from playground.compatibility_facts import BACKENDS, CHECKS, DIFFERENCES, NOT_RUN
from playground.engines import BACKENDS as ENGINES


def test_documents_are_what_the_results_give() -> None:
    for path, text in documents(committed()).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run make backends"


def test_every_engine_has_every_check_and_none_fails() -> None:
    results = committed()
    assert tuple(BACKENDS) == ENGINES == tuple(results)
    for name, found in results.items():
        assert list(found["checks"]) == list(CHECKS)
        assert found["versions"]
        for check, outcome in found["checks"].items():
            known = DIFFERENCES.get((name, check))
            assert outcome == (known.what if known else "holds"), (name, check)


def test_what_is_otherwise_and_what_was_not_run_is_said() -> None:
    results = committed()
    text, short = details(results), table(results)
    for (name, check), known in DIFFERENCES.items():
        section = text[text.index(f"### {BACKENDS[name].title}\n") :]
        assert known.what in section
        assert known.sentence in section
        row = next(line for line in short.splitlines() if line.startswith(f"| {BACKENDS[name].title} |"))
        assert check.replace("_", " ") in row
    for setup in NOT_RUN.values():
        assert re.search(rf"^\| {re.escape(setup.title)} \| [^|]*not verified", short, re.MULTILINE)
    for name in (*BACKENDS, *NOT_RUN):
        setup = {**BACKENDS, **NOT_RUN}[name]
        assert setup.config in text
        assert all(f"`{line}`" in text for line in setup.environment)


def test_a_check_that_fails_is_shown_as_that() -> None:
    results = committed()
    results["chroma"]["checks"]["forget"] = "fails"
    assert "**not**: forget" in table(results)
    assert "**does not hold**: forget" in details(results)
    assert "| forget | **no** |" in details(results)
