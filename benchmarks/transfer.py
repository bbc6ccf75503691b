"""What bringing memories in and taking them out costs, against the raw operations in the same process."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from longterm_memory.models import Episode
from longterm_memory.policy import Actor
from longterm_memory.ports import VectorRecord
from longterm_memory.records.envelope import Record, encode
from longterm_memory.records.store import PAGE_ROWS
from longterm_memory.records.vectors import Quantized, unit
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.transfer.exporting import document, to_json
from longterm_memory.transfer.importing import import_file

from .world import World

__all__ = ["measure_export", "measure_import"]

_RAW = "raw-kb"
_LETTERS = "abcdefghjk"


async def measure_import(world: World, scope: Scope, texts: list[str]) -> dict[str, Any]:
    """Import a file of these texts; embed and upsert the same rows raw into another collection.

    One half of the raw rows goes before the import and one behind it, so that a machine that is getting slower or
    faster meanwhile favours neither.
    """
    rows = await _rows(world, scope, texts)
    file = json.dumps(
        [{"content": text, "sender_id": "9001", "sender_name": "Mina"} for text in texts]
    ).encode()
    half = len(rows) // 2
    raw = await _raw_import(world, rows[:half])
    before, began = _resident(), perf_counter()
    report = await import_file(world.service, file, into=scope, isolation=Isolation.SESSION)
    ours = perf_counter() - began
    grown = _resident() - before
    raw += await _raw_import(world, rows[half:])
    if report.accepted != len(texts):
        raise RuntimeError(f"imported {report.accepted} of {len(texts)}: {report.error}")
    return {"ratio": round(ours / raw, 2), "rows": len(texts), "memory_mb": round(grown / 2**20)}


async def _rows(world: World, scope: Scope, texts: list[str]) -> list[VectorRecord]:
    """Return rows as an import writes them."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    found: list[VectorRecord] = []
    for start in range(0, len(texts), PAGE_ROWS):
        batch = texts[start : start + PAGE_ROWS]
        for text, vector in zip(batch, await world.api.invoke_embedding("bench", batch), strict=True):
            episode = Episode(
                id=_id(len(found)),
                content=text,
                timestamp=now,
                created_at=now,
                user_key=scope.user_key,
                sender_id="9001",
                sender_name="Mina",
                bot_uuid=scope.bot_uuid,
                session_name=scope.session_name,
                source="import",
            )
            found.append(encode(Record(episode, 1, Quantized.of(unit(vector)), "bench")))
    return found


def _id(number: int) -> str:
    return "m" + "".join(_LETTERS[int(digit)] for digit in f"{number:07d}")


async def _raw_import(world: World, records: list[VectorRecord]) -> float:
    """Embed the texts and upsert the rows, nothing else; returns the seconds."""
    began = perf_counter()
    for start in range(0, len(records), PAGE_ROWS):
        batch = records[start : start + PAGE_ROWS]
        await world.api.invoke_embedding("bench", [record.document for record in batch])
        vectors = [list(record.vector) for record in batch]
        metadata = [dict(record.metadata) for record in batch]
        documents = [record.document for record in batch]
        await world.api.vector_upsert(_RAW, vectors, [record.id for record in batch], metadata, documents)
    return perf_counter() - began


async def measure_export(world: World, scope: Scope) -> dict[str, float]:
    """Return the seconds that an export takes as the console makes it, with the index in memory and read anew."""
    collection = await world.service.collection()
    memory = await world.service.space(scope, Actor.of(scope, Speaker(), "console"))

    async def once() -> float:
        began = perf_counter()
        found = await memory.transfer.export("all")
        to_json(document(found.episodes, found.profiles))
        return perf_counter() - began

    await once()
    warm = min([await once() for _ in range(3)])
    cold = []
    for _ in range(3):
        collection.indexes.clear()
        # The words of the index before are still being taken up.
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        cold.append(await once())
    return {"warm": warm, "cold": min(cold)}


def _resident() -> int:
    """Return the resident memory of this process in bytes, 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
