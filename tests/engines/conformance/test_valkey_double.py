"""The conformance suite once more, on a double of a Valkey server behind the host's own class for it.

Not verified on a server, so nothing of it goes into the table of what holds on which backend. The tests are those
of the real engines, taken over as they are; left out are the ones that kill a process, which this server lives in,
and the sixteen thousand memories, which would only say how fast the double is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from longterm_memory.langbot import LangBotHost
from playground.engines import EngineApi
from playground.engines.valkey import open_valkey_double
from tests.engines.conformance import test_content, test_memories, test_starting, test_together
from tests.support.real_engines import Engine

for module in (test_content, test_memories, test_starting, test_together):
    globals().update({name: test for name, test in vars(module).items() if name.startswith("test_")})


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """The double, empty."""
    backend, _ = open_valkey_double(tmp_path)
    async with EngineApi(backend) as api:
        yield Engine(backend.name, api, LangBotHost(api), str(uuid4()))
