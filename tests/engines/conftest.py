"""Each real vector database in turn, as ``engine``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from longterm_memory.langbot import LangBotHost
from playground.engines import EngineApi, open_engine
from tests.support.real_engines import ENGINES, Engine, SharedEngines, missing


@pytest.fixture(scope="session")
def shared_engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedEngines]:
    """Backends that are started at most once."""
    shared = SharedEngines(tmp_path_factory.mktemp("engines"))
    yield shared
    shared.close()


@pytest.fixture(params=ENGINES)
async def engine(
    request: pytest.FixtureRequest, shared_engines: SharedEngines, tmp_path: Path
) -> AsyncIterator[Engine]:
    """Each of the real backends in turn, empty."""
    name: str = request.param
    if needed := missing(name):
        pytest.fail(f"{needed} is not installed; make test sets it up")
    if name == "pgvector":
        # Its connections belong to the test's event loop, so only the server is shared.
        api = open_engine(name, tmp_path, postgres=shared_engines.postgres())
    elif name.startswith("qdrant"):
        api = open_engine(name, tmp_path)
    else:
        api = EngineApi(shared_engines.backend(name), serial=name == "seekdb", owned=False)
    async with api:
        yield Engine(name, api, LangBotHost(api), str(uuid4()))
