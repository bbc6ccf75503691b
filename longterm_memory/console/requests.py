"""What every request of the page has in common: its language, the space it is about, and the operator as actor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ..errors import LongTermMemoryError, NotFound
from ..policy import Actor
from ..scope import Isolation, Scope, Speaker
from ..spaces import found_spaces
from ..words import nearest

if TYPE_CHECKING:
    from ..scoped import ScopedMemory
    from ..service import MemoryService

__all__ = ["LongText", "Request", "Route", "ShortText", "SpaceRequest", "operator", "spoken"]

ShortText = Annotated[str, Field(max_length=1_000)]
"""A name, an id, a code, a time."""
LongText = Annotated[str, Field(max_length=8_000)]
"""A question, an entry, notes."""


class Request(BaseModel):
    """What every request may carry."""

    model_config = ConfigDict(extra="ignore")

    language: str = ""
    """Language of the page, for the words of errors; empty: the configured one."""


class SpaceRequest(Request):
    """A request about one space, named by the id that the page was given for it."""

    space_id: str

    async def memory(self, service: MemoryService) -> ScopedMemory:
        """Return the memory of the space, for the operator.

        Raises:
            NotFound: ``space_unknown``: no such space exists, and nobody derived it since the start.
            NotConfigured, StorageFailed: there is no memory to speak of.
        """
        scope = service.spaces.named(self.space_id)
        for isolation in () if scope else Isolation:
            found = await found_spaces(service.host.storage, service.profiles, isolation, reads=None)
            scope = next((f.scope for f in found.spaces.values() if f.scope.space_id == self.space_id), scope)
        if scope is None:
            raise NotFound("space_unknown")
        return await operator(service, scope)


async def operator(service: MemoryService, scope: Scope) -> ScopedMemory:
    """Return the memory of a space for whoever operates the bot.

    Raises:
        NotConfigured, StorageFailed: there is no memory to speak of.
    """
    return await service.space(scope, Actor.of(scope, Speaker(), "console"))


async def spoken(service: MemoryService, language: object) -> str:
    """Return the language to answer in: the page's or the nearest one that has words, without one the configured one,
    ``""`` when that cannot be read.
    """
    if isinstance(language, str) and language.strip():
        return nearest(language)
    try:
        return (await service.settings()).language
    except LongTermMemoryError:
        return ""


@dataclass(frozen=True, slots=True)
class Route:
    """What an endpoint takes, and who answers it; one that only reads may be cut off when it takes too long."""

    request: type[Request]
    run: Callable[[MemoryService, Any], Awaitable[BaseModel]]
    reads: bool = True
