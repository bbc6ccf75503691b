"""The memory spaces that exist, and the one that a person names."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field

from ..errors import LongTermMemoryError
from ..logs import get_logger
from ..scope import Isolation, Scope
from ..spaces import FoundSpace, found_spaces
from ..text.fold import fold
from .requests import Request, Route, ShortText, operator

if TYPE_CHECKING:
    from ..scoped import ScopedMemory
    from ..service import MemoryService

__all__ = ["ROUTES", "DeriveRequest", "Space", "SpacesAnswer", "SpacesRequest"]

logger = get_logger(__name__)

_COUNT_SECONDS = 8.0
"""Time for counting memories of all spaces; spaces left over are answered without a number."""
_READ_SECONDS = 6.0
"""Time for reading when each space was last active."""
_READS = 16
"""Storage reads under way at once; one takes about 8 ms."""


class SpacesRequest(Request):
    """Which spaces to list.

    Attributes:
        search: text that must stand in the bot, session or a key, in any case; empty: all.
        sort: ``activity``: last active first; ``name``: by session name.
        counts: whether to count the memories of those on the page too; that reads whole spaces the first time.
        page: from 1; one beyond the last is the last one.
        size: spaces on a page, 1..100.
    """

    search: ShortText = ""
    sort: Literal["activity", "name"] = "activity"
    counts: bool = False
    page: Annotated[int, Field(ge=1)] = 1
    size: Annotated[int, Field(ge=1, le=100)] = 50


class DeriveRequest(Request):
    """A space as a person names it; no ``isolation`` means the configured one."""

    bot_uuid: ShortText = ""
    session_name: ShortText = ""
    isolation: Isolation | None = None


class Space(BaseModel):
    """A memory space, as the page shows it.

    Attributes:
        space_id: what the page sends instead of keys.
        bot_uuid: ``""`` when unknown.
        session_name: ``{launcher_type}_{launcher_id}``.
        isolation: effective isolation.
        scope_key: profiles, injection and audit live under it.
        user_key: memories live under it.
        profiles: stored profiles: of the conversation and of its speakers.
        episodes: active memories under ``user_key``; ``None`` when they were not counted.
        last_activity: time of the last injection, or without one of the last change of the conversation's profile,
            ISO-8601, ``""`` when not known.
    """

    space_id: str
    bot_uuid: str
    session_name: str
    isolation: Isolation
    scope_key: str
    user_key: str
    profiles: int = 0
    episodes: int | None = None
    last_activity: str = ""

    @classmethod
    def of(cls, scope: Scope, **facts: Any) -> Space:
        """Describe a scope."""
        return cls(
            space_id=scope.space_id,
            bot_uuid=scope.bot_uuid,
            session_name=scope.session_name,
            isolation=scope.isolation,
            scope_key=scope.scope_key,
            user_key=scope.user_key,
            **facts,
        )


class KnowledgeBaseAnswer(BaseModel):
    """The knowledge base in use."""

    id: str
    has_model: bool


class SpacesAnswer(BaseModel):
    """A page of the spaces that exist; ``total`` counts all that match.

    ``untold`` counts spaces with long names that are in neither: there was no time to read whose they are, or that
    is not readable.
    """

    spaces: list[Space]
    total: int
    page: int
    pages: int
    untold: int
    knowledge_base: KnowledgeBaseAnswer | None


class DeriveAnswer(BaseModel):
    """The space that was named, and whether anything is stored in it."""

    space: Space
    known: bool


# ---------------------------------------------------------------- spaces


def _matches(found: FoundSpace, search: str) -> bool:
    scope = found.scope
    shown = (scope.bot_uuid, scope.session_name, scope.scope_key, scope.user_key)
    return any(search in text.casefold() for text in shown)


async def _spaces(service: MemoryService, request: SpacesRequest) -> SpacesAnswer:
    base = await service.knowledge_bases.get()
    isolation = (await service.settings()).isolation
    search = request.search.strip().casefold()
    known = await found_spaces(service.host.storage, service.profiles, isolation)
    found = [f for f in known.spaces.values() if _matches(f, search)]
    active = await _last_activities(service, found)
    spaces = [
        Space.of(f.scope, profiles=f.profiles, last_activity=active.get(f.scope.scope_key, "")) for f in found
    ]
    spaces.sort(key=lambda s: (fold(s.session_name), s.scope_key))
    if request.sort == "activity":
        spaces.sort(key=lambda s: s.last_activity, reverse=True)
    total, pages = len(spaces), max(1, -(-len(spaces) // request.size))
    page = min(request.page, pages)
    spaces = spaces[(page - 1) * request.size : page * request.size]
    if request.counts and base is not None:
        scopes = {f.scope.space_id: f.scope for f in found}
        counted = await _counts(service, [scopes[s.space_id] for s in spaces])
        spaces = [s.model_copy(update={"episodes": counted.get(s.user_key)}) for s in spaces]
    used = KnowledgeBaseAnswer(id=base.id, has_model=bool(base.model)) if base else None
    return SpacesAnswer(
        spaces=spaces, total=total, page=page, pages=pages, untold=len(known.untold), knowledge_base=used
    )


async def _derive(service: MemoryService, request: DeriveRequest) -> DeriveAnswer:
    isolation = request.isolation or (await service.settings()).isolation
    scope = Scope.of_session(request.session_name, bot_uuid=request.bot_uuid, isolation=isolation)
    service.spaces.name(scope)
    known = await found_spaces(service.host.storage, service.profiles, isolation, reads=None)
    found = known.spaces.get(scope.scope_key) or FoundSpace(scope)
    active = await _last_activities(service, [found])
    counted = await _counts(service, [scope]) if await service.knowledge_bases.get() else {}
    episodes = counted.get(scope.user_key)
    space = Space.of(
        scope, profiles=found.profiles, episodes=episodes, last_activity=active.get(scope.scope_key, "")
    )
    return DeriveAnswer(space=space, known=bool(found.profiles or found.snapshot or found.audit or episodes))


async def _last_activities(service: MemoryService, found: list[FoundSpace]) -> dict[str, str]:
    """Return when each conversation was last active, by scope key; what is not read in time is left out."""
    times: dict[str, str] = {}
    reading = asyncio.Semaphore(_READS)

    async def read(entry: FoundSpace) -> None:
        async with reading:
            try:
                at = await service.snapshots.at(entry.scope.scope_key) if entry.snapshot else ""
                if not at and entry.session:
                    at = (await service.profiles.session(entry.scope)).updated_at
                times[entry.scope.scope_key] = at
            except LongTermMemoryError as exc:
                logger.debug(
                    "last activity not known: scope_key=%s reason=%s", entry.scope.scope_key, exc.reason
                )

    with suppress(TimeoutError):
        async with asyncio.timeout(_READ_SECONDS):
            await asyncio.gather(*(read(entry) for entry in found))
    return times


async def _counts(service: MemoryService, scopes: list[Scope]) -> dict[str, int]:
    """Return the number of active memories by user key, without those that there was no time for.

    One after the other: a busy bot should not feel that somebody opened a page.
    """
    counted: dict[str, int | None] = {}
    with suppress(TimeoutError):
        async with asyncio.timeout(_COUNT_SECONDS):
            for scope in scopes:
                if scope.user_key not in counted:
                    memory = await operator(service, scope)
                    counted[scope.user_key] = await _count(memory)
    return {key: number for key, number in counted.items() if number is not None}


async def _count(memory: ScopedMemory) -> int | None:
    try:
        return await memory.browsing.count()
    except LongTermMemoryError as exc:
        logger.info("memories not counted: user_key=%s reason=%s", memory.scope.user_key, exc.reason)
        return None


ROUTES = {"/spaces": Route(SpacesRequest, _spaces), "/derive": Route(DeriveRequest, _derive)}
