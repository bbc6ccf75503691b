"""What the plugin runs on, beside the health check: versions, the store as it behaves, latencies, counts, settings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from ..errors import LongTermMemoryError
from ..recall.calibration import CANARY
from ..records.keys import Visibility
from ..spaces import found_spaces
from ..words import explain, say
from .requests import Request, Route, spoken

if TYPE_CHECKING:
    from ..collection import Collection
    from ..service import MemoryService

__all__ = ["ROUTES"]

_CALL_SECONDS = 5.0
"""How long one measured call may take."""
_COUNT_SECONDS = 8.0
"""Time for counting the memories of all spaces; those that are loaded cost nothing."""


class BackendAnswer(BaseModel):
    """The vector database, told by how it behaves.

    Attributes:
        name: which of LangBot's it is, as far as that can be told; ``""`` when not yet.
        behaviour: what was seen of it, in sentences.
        counters: since the start: ``foreign_rows``, ``unreadable_rows``, ``unverified_deletes``, ``short_answers``.
    """

    name: str = ""
    behaviour: list[str] = []
    counters: dict[str, int] = {}


class ModelAnswer(BaseModel):
    """The embedding model; ``dimension`` is 0 before its first use, ``name`` empty: LangBot tells plugins none."""

    uuid: str = ""
    name: str = ""
    dimension: int = 0


class LatencyAnswer(BaseModel):
    """Milliseconds of one call each, made just now; ``None``: not made, or it failed (then ``problems`` says why)."""

    embed_ms: int | None = None
    search_ms: int | None = None
    storage_ms: int | None = None
    problems: list[str] = []


class CountsAnswer(BaseModel):
    """How much there is.

    Attributes:
        episodes: active memories of everything that was counted.
        uncounted: keys of memories that there was no time for, or that could not be read.
    """

    spaces: int = 0
    profiles: int = 0
    episodes: int = 0
    uncounted: int = 0


class SettingAnswer(BaseModel):
    """A setting in force, and where its value comes from."""

    name: str
    value: Any
    source: Literal["config", "knowledge_base", "default"]


class DiagnosticsAnswer(BaseModel):
    """What the plugin runs on.

    Attributes:
        version: of the plugin.
        host: version of LangBot, ``""`` when it does not say.
        knowledge_base: id of the one in use, ``""`` without one.
        metric: ``l2``, ``cosine``, ``similarity``, ``unknown``, or ``""`` before an answer told.
        settings: all of them, in the order of the documentation.
        problems: settings that cannot be used as they were given, a line each.
    """

    version: str
    host: str
    knowledge_base: str
    backend: BackendAnswer
    metric: str
    embedding_model: ModelAnswer
    latency: LatencyAnswer
    counts: CountsAnswer
    settings: list[SettingAnswer]
    problems: list[str]


async def _diagnostics(service: MemoryService, request: Request) -> DiagnosticsAnswer:
    language = await spoken(service, request.language)
    base = await service.knowledge_bases.get()
    collection = await service.collection() if base and base.model else None
    keys = await service.spaces.user_keys()
    latency = await _latency(service, collection, keys, language)
    settings, problems = service.configuration(base)
    sources = service.sources(base)
    values = settings.model_dump(mode="json")
    traits = collection.records.traits if collection else None
    return DiagnosticsAnswer(
        version=version(),
        host=(await service.host.version()).removeprefix("v"),
        knowledge_base=base.id if base else "",
        backend=_backend(collection, language),
        metric=traits.metric if traits else "",
        embedding_model=ModelAnswer(
            uuid=base.model if base else "",
            dimension=collection.calibration.dimension if collection and collection.filled else 0,
        ),
        latency=latency,
        counts=await _counts(service, collection, keys),
        settings=[SettingAnswer(name=name, value=values[name], source=sources[name]) for name in values],
        problems=list(problems),
    )


def _backend(collection: Collection | None, language: str) -> BackendAnswer:
    if collection is None:
        return BackendAnswer()
    traits, health = collection.records.traits, collection.records.health
    seen = [f"metric_{traits.metric or 'unseen'}"]
    if traits.metric:
        seen.append("metadata_whole" if traits.whole_metadata else "metadata_poor")
    if traits.counts_matches is not None:
        seen.append("counts_true" if traits.counts_matches else "counts_none")
    if not traits.finds_by_id:
        seen.append("ids_ignored")
    return BackendAnswer(
        name=traits.backend,
        behaviour=[say(language, f"console.store_{key}") for key in seen],
        counters={
            "foreign_rows": health.foreign_rows,
            "unreadable_rows": health.unreadable_rows,
            "unverified_deletes": health.unverified_deletes,
            "short_answers": health.short_answers,
        },
    )


async def _latency(
    service: MemoryService, collection: Collection | None, keys: list[str], language: str
) -> LatencyAnswer:
    problems = list[str]()

    async def timed(call: Awaitable[object]) -> int | None:
        began = perf_counter()
        try:
            await asyncio.wait_for(call, _CALL_SECONDS)
        except TimeoutError:
            problems.append(say(language, "console.call_late", seconds=round(_CALL_SECONDS)))
            return None
        except LongTermMemoryError as exc:
            problems.append(explain(language, exc))
            return None
        return round((perf_counter() - began) * 1000)

    answer = LatencyAnswer(storage_ms=await timed(service.host.storage.get("ltm/health/none")))
    if collection is not None:
        answer.embed_ms = await timed(service.host.embed(collection.base.model, [CANARY]))
        if collection.filled and keys:
            # In a scope that holds something, so that the answer also tells the metric.
            near = collection.calibration.vectors[0]
            answer.search_ms = await timed(collection.records.search(keys[0], near, 5, [Visibility.RECALLED]))
    answer.problems = problems
    return answer


async def _counts(service: MemoryService, collection: Collection | None, keys: list[str]) -> CountsAnswer:
    settings = await service.settings()
    found = await found_spaces(service.host.storage, service.profiles, settings.isolation)
    counted: dict[str, int] = {}
    if collection is not None:
        episodes = service.episodes(collection)
        with suppress(TimeoutError):
            async with asyncio.timeout(_COUNT_SECONDS):
                for key in keys:
                    with suppress(LongTermMemoryError):
                        counted[key] = await episodes.count(key, timeout=_COUNT_SECONDS)
    return CountsAnswer(
        spaces=len(found.spaces) + len(found.untold),
        profiles=len(await service.profiles.keys()),
        episodes=sum(counted.values()),
        uncounted=len(keys) - len(counted) if collection else len(keys),
    )


@cache
def version() -> str:
    """Return the version of the plugin as its manifest says, ``""`` when that is not there."""
    try:
        text = (Path(__file__).parents[2] / "manifest.yaml").read_text("utf-8")
    except OSError:
        return ""
    match = re.search(r"^  version: *['\"]?([^'\"\s]+)", text, re.MULTILINE)
    return match[1] if match else ""


ROUTES = {"/diagnostics": Route(Request, _diagnostics)}
