"""A plugin process that imports a file into a knowledge base on disk, for tests that kill it.

``python -m tests.support.import_worker <folder>`` imports ``<folder>/file.json`` and prints a line per batch. The
vectors are in real Chroma, plugin storage in a file: both survive the process, as on a host.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from longterm_memory.langbot.host import LangBotHost
from longterm_memory.scope import Isolation, Scope
from longterm_memory.service import MemoryService
from longterm_memory.transfer.importing import ImportReport, import_file
from playground.embedders import HashedWords
from tests.support.on_disk import OnDisk

__all__ = ["HERE", "bring_in", "opened"]

HERE = Scope.of_session("group_77001", bot_uuid="b-01")
_WORDS = HashedWords()
_SIZE = 24
"""Dimensions: few, so that thousands of rows are quickly written."""


def _small(texts: list[str]) -> list[list[float]]:
    return [[sum(vector[n::_SIZE]) + 0.01 * n for n in range(_SIZE)] for vector in _WORDS.embed(texts)]


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[MemoryService]:
    """Open the knowledge base in a folder, a new one when there is none."""
    async with OnDisk("chroma", folder, embed=_small) as api:
        service = MemoryService(LangBotHost(api))
        if await service.knowledge_bases.get() is None:
            await service.knowledge_base_created("kb-1", {"embedding_model_uuid": "m"})
        yield service


async def bring_in(service: MemoryService, folder: Path, **how: Any) -> ImportReport:
    """Import the file of a folder."""
    data = (folder / "file.json").read_bytes()
    return await import_file(service, data, into=HERE, isolation=Isolation.SESSION, **how)


async def _main(folder: Path) -> None:
    async with opened(folder) as service:
        await bring_in(service, folder, progress=lambda done, total: print(done, total, flush=True))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
