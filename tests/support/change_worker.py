"""Plugin processes that change memories of a knowledge base on disk for ever, for tests that kill them.

``python -m tests.support.change_worker <folder>`` makes a process for each seed that it reads, so that what takes long
is imported once. Each edits, archives and restores whatever it finds there, and prints ``["pid", <pid>]``, then what it
is about to make of a memory and, once that is acknowledged, what it made: ``["try" | "done", id, content, status]``;
``["gone"]`` comes when it is no more. A line of JSON each.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import random
import sys
from itertools import count
from pathlib import Path

from longterm_memory.chat.commands import run_command
from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.scope import Speaker
from playground.turn import LocalTurn
from tests.support.import_worker import HERE, opened
from tests.support.strict_host import StrictHost

__all__ = ["MINA"]

MINA = Speaker("9001", "Mina")


DONE = {"edit": "Changed", "archive": "Archived", "restore": "["}
"""How the reply begins that acknowledges a command."""


async def _main(folder: Path, seed: str) -> None:
    dice = random.Random(seed)
    async with opened(folder) as service:
        store = service.episodes(await service.collection())
        found = await store.select(HERE.user_key, Filters(statuses=KEPT_STATUSES))
        known = {e.id: (e.content, str(e.status)) for e in found}
        for number in count():
            one = dice.choice(sorted(known))
            content, status = known[one]
            if dice.random() < 0.5:
                verb, wanted = "edit", (f"{one} reads {seed} {number}", status)
            elif status == "archived":
                verb, wanted = "restore", (content, "active")
            else:
                verb, wanted = "archive", (content, "archived")
            line = f"memory {verb} {one} {wanted[0] if verb == 'edit' else ''}"
            _say("try", one, *wanted)
            reply = await run_command(service, LocalTurn(StrictHost(), f"!{line}", kb=["kb-1"]), line)
            if not reply.startswith(DONE[verb]):
                raise RuntimeError(reply)
            _say("done", one, *wanted)
            known[one] = wanted


def _say(*what: object) -> None:
    print(json.dumps(what), flush=True)


def _serve(folder: Path) -> None:
    importlib.import_module("langbot.pkg.vector.vdbs.chroma")
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _say("pid", os.getpid())
            try:
                asyncio.run(_main(folder, line.strip()))
            finally:
                os._exit(1)
        os.waitpid(pid, 0)
        _say("gone")


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
