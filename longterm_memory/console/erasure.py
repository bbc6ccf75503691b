"""Erasing a space, or a person everywhere; asked for twice, the second time with the code of the first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from ..erasure import Traces, erase_person, traces_of_person, traces_of_space
from ..errors import BadArgument
from ..scope import clean_id
from .requests import Request, Route, SpaceRequest

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]


class EraseSpaceRequest(SpaceRequest):
    """Without a code: say what would be erased. With it: erase."""

    code: str = ""


class ErasePersonRequest(Request):
    """The same, for everything of one sender in all spaces."""

    sender_id: str
    code: str = ""


class ErasureAnswer(BaseModel):
    """What would be erased (``code`` set) or was erased and is seen to be gone (``erased`` true)."""

    episodes: int
    profiles: int
    snapshots: int
    audit_entries: int
    spaces: int
    code: str = ""
    erased: bool = False

    @classmethod
    def of(cls, traces: Traces, *, code: str = "") -> ErasureAnswer:
        """Tell what is there, with the code that confirms its erasure, or what was erased."""
        return cls(
            episodes=traces.episodes,
            profiles=traces.profiles,
            snapshots=traces.snapshots,
            audit_entries=traces.audit,
            spaces=traces.spaces,
            code=code,
            erased=not code,
        )


async def _space(service: MemoryService, request: EraseSpaceRequest) -> ErasureAnswer:
    memory = await request.memory(service)
    subject = ("erase_space", memory.scope.space_id)
    if not request.code:
        traces = await traces_of_space(service, memory.scope)
        return ErasureAnswer.of(traces, code=service.confirmations.issue(*subject))
    service.confirmations.redeem(request.code, *subject, otherwise="code_wrong_console")
    return ErasureAnswer.of(await memory.privacy.erase_space())


async def _person(service: MemoryService, request: ErasePersonRequest) -> ErasureAnswer:
    sender_id = clean_id(request.sender_id)
    if not sender_id:
        raise BadArgument("speaker_unknown")
    subject = ("erase_person", sender_id)
    if not request.code:
        traces = await traces_of_person(service, sender_id)
        return ErasureAnswer.of(traces, code=service.confirmations.issue(*subject))
    service.confirmations.redeem(request.code, *subject, otherwise="code_wrong_console")
    return ErasureAnswer.of(await erase_person(service, sender_id))


ROUTES = {
    "/erase_space": Route(EraseSpaceRequest, _space, reads=False),
    "/erase_person": Route(ErasePersonRequest, _person, reads=False),
}
