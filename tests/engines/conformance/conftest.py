"""What the conformance tests share, and a note of how each check went on each engine.

A test that stands for named checks (``playground/compatibility_facts.py``) says so: ``@pytest.mark.check("write")``.
Once every check of an engine was run, its outcomes are written to ``build/conformance/<engine>.json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from playground.compatibility import FOUND
from playground.compatibility_facts import Difference, difference
from tests.support.conformance import Outcomes, new_bot
from tests.support.memory import Bot
from tests.support.real_engines import Engine

_BY_ENGINE = pytest.StashKey[dict[str, Outcomes]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "check(*names): which named checks of the conformance suite it stands for"
    )
    config.stash[_BY_ENGINE] = {}


def _outcomes(config: pytest.Config, engine: str) -> Outcomes:
    return config.stash[_BY_ENGINE].setdefault(engine, Outcomes())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report: pytest.TestReport = yield  # type: ignore[misc,assignment]
    parameters = getattr(item, "callspec", None)
    if parameters is not None and "engine" in parameters.params and (call.when == "call" or report.failed):
        engine = parameters.params["engine"]
        for mark in item.iter_markers("check"):
            for name in mark.args:
                expected = difference(engine, name)
                outcome = expected.what if expected else "holds"
                _outcomes(item.config, engine).note(name, outcome if report.passed else "fails")
    return report  # type: ignore[return-value]


def pytest_sessionfinish(session: pytest.Session) -> None:
    for engine, found in session.config.stash[_BY_ENGINE].items():
        if found.complete:
            FOUND.mkdir(parents=True, exist_ok=True)
            text = json.dumps(found.as_json() | {"measured": found.measured}, indent=2, ensure_ascii=False)
            (FOUND / f"{engine}.json").write_text(text + "\n")


@pytest.fixture
async def outcomes(engine: Engine, request: pytest.FixtureRequest) -> Outcomes:
    """What this run found out about the engine so far."""
    found = _outcomes(request.config, engine.name)
    found.versions = found.versions or await engine.versions()
    return found


@pytest.fixture
def differs(engine: Engine) -> Callable[[str], Difference | None]:
    """What this engine is known to do otherwise in a check."""
    return lambda check: difference(engine.name, check)


@pytest.fixture
async def bot(engine: Engine) -> Bot:
    """An installation on the engine, whose knowledge base was just created."""
    return await new_bot(engine)
