"""The product on hosts that keep their vectors elsewhere than in Chroma, which all other host tests run on.

Each host is configured as an operator does it and has what an operator installs for it (requirements/host-*-engines).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from playground.engines import Postgres
from playground.envs import ROOT, python_of
from playground.host import VERSIONS, erase_folder
from playground.processes import alive
from playground.stage import Stage
from tests.support.talk import MemoryHost

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"
LOVES, HATES = "Ann loves cilantro", "Ann cannot stand cilantro"
CILANTRO = "What does Ann think of cilantro?"


@contextmanager
def seekdb() -> Iterator[dict[str, str]]:
    """SeekDB embedded: the defaults."""
    yield {"VDB__USE": "seekdb"}


@contextmanager
def milvus() -> Iterator[dict[str, str]]:
    """Milvus-lite: a file instead of the address of a server."""
    yield {"VDB__USE": "milvus", "VDB__MILVUS__URI": "./data/milvus.db"}


@contextmanager
def pgvector() -> Iterator[dict[str, str]]:
    """PostgreSQL with the pgvector extension in reach; the host makes its table itself."""
    server = Postgres()
    try:
        port = server.listen("langbot")
        yield {
            "VDB__USE": "pgvector",
            "VDB__PGVECTOR__HOST": "127.0.0.1",
            "VDB__PGVECTOR__PORT": str(port),
            "VDB__PGVECTOR__DATABASE": "langbot",
            "VDB__PGVECTOR__USER": "postgres",
            "VDB__PGVECTOR__PASSWORD": "postgres",
        }
    finally:
        server.stop()


BACKENDS: dict[str, tuple[Callable[[], AbstractContextManager[dict[str, str]]], str]] = {
    "seekdb": (seekdb, "SeekDB"),
    "pgvector": (pgvector, "pgvector"),
    "milvus": (milvus, "Milvus"),
}
"""How a host is configured for a backend, and what health calls it."""


@pytest.fixture(scope="module", params=[f"{version}-{name}" for version in VERSIONS for name in BACKENDS])
def deployment(request: pytest.FixtureRequest) -> Iterator[MemoryHost]:
    """The product on each host with each backend, in a folder of its own."""
    version, _, name = request.param.partition("-")
    folders = ROOT / "build" / "hosts"
    for old in folders.glob(f"backend-{request.param}-*"):
        if not alive(int(old.name.rpartition("-")[2])):
            erase_folder(old)
    home = folders / f"backend-{request.param}-{os.getpid()}"
    configured, _ = BACKENDS[name]
    python = python_of(f"host-{version}-engines")
    with configured() as env, Stage(home, version, env=env, python=python) as stage:
        yield MemoryHost.installed(stage, before=())


@pytest.mark.timeout(900)  # two starts of a host, which take minutes when the machine is busy
def test_a_memory_lives_as_it_does_on_chroma(request: pytest.FixtureRequest, deployment: MemoryHost) -> None:
    group, stage = deployment.group(), deployment.stage
    mark = stage.host.log_mark()
    assert group.say("Good morning").reply == "ECHO: Good morning"
    memory_id = group.remember(OSLO)
    turn = group.say(ASKED, "bob")
    assert turn.records == [OSLO]
    assert OSLO not in turn.history, "it comes from the store alone"
    for other in (deployment.group(), deployment.private(name="ann")):
        assert other.say(ASKED).records == []
        assert OSLO not in other.tool("recall_memory", {"query": OSLO})

    group.remember(LOVES)
    group.remember(HATES, tags=["correction"])
    assert group.say(CILANTRO).records == [HATES]

    assert f"Deleted {memory_id}" in group.tool("forget", {"episode_id": memory_id})
    assert group.say(ASKED).records == []
    for answer in (
        group.command("!memory list --all-statuses"),
        group.tool("recall_memory", {"query": OSLO}),
    ):
        assert OSLO not in answer

    _, name = BACKENDS[request.node.callspec.params["deployment"].partition("-")[2]]
    deployment.bot.add_admin(group.id, "group")
    health = group.command("!memory health")
    assert name in health, health
    assert not re.search("❌|failed", health), health

    # What comes first after a restart is a read.
    stage.restart()
    assert group.say(CILANTRO).records == [HATES]
    assert group.say(ASKED).records == []
    kept = group.remember("Bo stays in Bergen")
    assert group.say("Does Bo stay in Bergen?").ids == [kept]
    assert "rows dropped: foreign" not in stage.host.log_since(mark)
