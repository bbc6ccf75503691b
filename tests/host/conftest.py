"""Real hosts for the tests, one per supported version, started once per session and only when a test wants
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from playground import processes
from playground.envs import ROOT
from playground.host import VERSIONS, erase_folder
from playground.stage import Stage

HOSTS = ROOT / "build" / "hosts"
_FIXTURES = {"4.11.2": "host_411", "4.10.11": "host_410"}


def pytest_itemcollected(item: pytest.Item) -> None:
    if {"host", *_FIXTURES.values()} & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.host)


def _stage(version: str) -> Iterator[Stage]:
    # One folder per run, so that runs do not get in each other's way. It stays, with the log, for whoever has
    # to look into a failure, until the next run.
    for old in HOSTS.glob(f"tests-{version}-*"):
        if not processes.alive(int(old.name.rpartition("-")[2])):
            erase_folder(old)
    with Stage(HOSTS / f"tests-{version}-{os.getpid()}", version) as stage:
        yield stage


@pytest.fixture(scope="session")
def stage_411() -> Iterator[Stage]:
    yield from _stage("4.11.2")


@pytest.fixture(scope="session")
def stage_410() -> Iterator[Stage]:
    yield from _stage("4.10.11")


@pytest.fixture
def host_411(stage_411: Stage) -> Stage:
    """LangBot 4.11.2, shared by the session; rules, faults and recorded requests start empty."""
    stage_411.models.reset()
    return stage_411


@pytest.fixture
def host_410(stage_410: Stage) -> Stage:
    """LangBot 4.10.11, shared by the session; rules, faults and recorded requests start empty."""
    stage_410.models.reset()
    return stage_410


@pytest.fixture(params=VERSIONS)
def host(request: pytest.FixtureRequest) -> Stage:
    """Each supported host in turn."""
    stage: Stage = request.getfixturevalue(_FIXTURES[request.param])
    return stage
