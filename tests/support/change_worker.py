"""Plugin processes that write and change memories on a real engine for ever, for tests that kill them.

``python -m tests.support.change_worker <backend> <folder> <knowledge base> [<address of PostgreSQL>]`` makes a process
for each seed that it reads, so that what takes long is imported once. Each holds engine and plugin, and leads a process
group with whatever the engine starts. What they say is a line of JSON each:

``["pid", <pid>]``
``["found", [[id, content, status, number of rows, whether show says the same], …]]``
``["try", id or "" for a new one, content, status]``: what it is about to make of a memory
``["done", id, content, status]``: that is acknowledged
``["gone"]``: the process is no more

With the seed ``look`` a process changes nothing and ends.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import random
import sys
import traceback
from collections import Counter
from itertools import count
from pathlib import Path

from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.records.keys import Visibility
from tests.support.memory import Bot, RealTime
from tests.support.on_disk import OnDisk

LOOK = "look"
DONE = {"edit": "Changed", "archive": "Archived", "restore": "["}
"""How the reply begins that acknowledges a command."""
MOST = 12
"""Memories; from then on they are only changed."""
MODULES = {"qdrant-edge": "qdrant", "pgvector": "pgvector_db", "milvus-3": "milvus"}
"""Modules of the host's classes that are not called as the backend."""


async def _main(name: str, folder: Path, base: str, postgres: str | None, seed: str) -> None:
    dice, parent = random.Random(seed), os.getppid()
    async with OnDisk(name, folder, postgres=postgres) as api:
        bot = await Bot(api, kb=base, clock=RealTime()).create()
        known = await _found(bot)
        for number in count() if seed != LOOK else ():
            if os.getppid() != parent:
                # Nobody is left to kill it.
                return
            text = f"{seed} {number}"
            if not known or (len(known) < MOST and dice.random() < 0.5):
                _say("try", "", text, "active")
                one = await bot.remember(text)
                known[one] = (text, "active")
            else:
                one = dice.choice(sorted(known))
                content, status = known[one]
                verb = dice.choice(["edit", "restore" if status == "archived" else "archive"])
                known[one] = {
                    "edit": (f"{one} reads {text}", status),
                    "archive": (content, "archived"),
                    "restore": (content, "active"),
                }[verb]
                _say("try", one, *known[one])
                reply = await bot.command(f"memory {verb} {one} {known[one][0] if verb == 'edit' else ''}")
                if not reply.startswith(DONE[verb]):
                    raise RuntimeError(reply)
            _say("done", one, *known[one])


async def _found(bot: Bot) -> dict[str, tuple[str, str]]:
    memory = await bot.memory()
    listed = await memory.select(Filters(statuses=KEPT_STATUSES))
    shown = {e.id: await memory.show(e.id) for e in listed}
    records = (await bot.service.collection()).records
    rows = Counter(
        [
            record.episode.id
            for visibility in Visibility
            async for page in records.pages(records.cursor(memory.scope.user_key, visibility))
            for record in page.records
        ]
    )
    strays = rows.keys() - shown.keys()
    if strays:
        raise RuntimeError(f"rows of memories that no list shows: {strays}")
    _say("found", [[e.id, e.content, e.status, rows[e.id], shown[e.id] == e] for e in listed])
    return {e.id: (e.content, str(e.status)) for e in listed}


def _say(*what: object) -> None:
    print(json.dumps(what), flush=True)


def _serve(name: str, folder: Path, base: str, postgres: str | None = None) -> None:
    importlib.import_module(f"langbot.pkg.vector.vdbs.{MODULES.get(name, name)}")
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            os.setpgid(0, 0)
            _say("pid", os.getpid())
            try:
                asyncio.run(_main(name, folder, base, postgres, line.strip()))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        os.waitpid(pid, 0)
        _say("gone")


if __name__ == "__main__":
    _serve(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
