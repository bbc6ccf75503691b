"""A plugin process that changes memories of a knowledge base on disk for ever, for tests that kill it.

``python -m tests.support.change_worker <folder> <seed>`` edits, archives and restores whatever it finds there. It
prints what it is about to make of a memory and, once that is acknowledged, what it made: ``["try" | "done", id,
content, status]``, a line each.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path

from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.policy import Actor
from longterm_memory.scope import Speaker
from tests.support.import_worker import HERE, opened

__all__ = ["MINA"]

MINA = Speaker("9001", "Mina")


async def _main(folder: Path, seed: str) -> None:
    dice = random.Random(seed)
    async with opened(folder) as service:
        memory = await service.space(HERE, Actor.of(HERE, MINA, "command"))
        known = {
            e.id: (e.content, str(e.status)) for e in await memory.select(Filters(statuses=KEPT_STATUSES))
        }
        number = 0
        while True:
            number += 1
            one = dice.choice(sorted(known))
            content, status = known[one]
            if dice.random() < 0.5:
                wanted = (f"{one} reads {seed} {number}", status)
                change = memory.edit(one, wanted[0])
            else:
                wanted = (content, "active" if status == "archived" else "archived")
                change = memory.restore(one) if status == "archived" else memory.archive(one)
            print(json.dumps(["try", one, *wanted]), flush=True)
            await change
            print(json.dumps(["done", one, *wanted]), flush=True)
            known[one] = wanted


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), sys.argv[2]))
