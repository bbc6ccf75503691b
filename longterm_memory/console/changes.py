"""Changing memories of a space: archive, restore and delete a selection, edit one.

Each request works for a while and says what is left; the page sends that again. Deleting takes two requests.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from ..chat.ids import normalize_id
from ..drafts import Revision
from ..errors import EmbeddingFailed, LongTermMemoryError, StorageFailed, StoreFailed
from ..scoped import ScopedMemory
from ..text.times import parse_moment
from ..words import explain, joined, say
from .episode_answers import EpisodeAnswer
from .requests import Route, ShortText, SpaceRequest, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]

_SECONDS = 12.0
"""After how long no further memory is begun; the page waits 30 s, and one may take some."""
_AT_ONCE = 40
"""Memories that are deleted together: so many are looked up by their rows, for more the whole space would be read."""


# ---------------------------------------------------------------- a selection


class ChangeRequest(SpaceRequest):
    """What is to be done with a selection.

    Attributes:
        ids: 1 to 200 memories.
        action: ``archive`` and ``restore`` can be undone by each other; ``delete`` cannot.
        code: for ``delete``: that of the first answer, for the same ids.
    """

    ids: Annotated[list[ShortText], Field(min_length=1, max_length=200)]
    action: Literal["archive", "restore", "delete"]
    code: ShortText = ""


class Failure(BaseModel):
    """A memory that is as it was, as far as can be told, and why."""

    id: str
    text: str


class ChangeAnswer(BaseModel):
    """What was done.

    Attributes:
        done: ids of what was changed, or is deleted and seen to be gone; older versions that went with it too.
        failed: what is as it was, with the reason.
        remaining: what there was no time for, or no store: send these again (to delete them without a code first).
        text: a sentence about it.
        code: for a ``delete`` without one: the code that confirms it.
        count: how many memories that would delete.
        older: how many of them are older versions of what was chosen.
    """

    done: list[str] = []
    failed: list[Failure] = []
    remaining: list[str] = []
    text: str
    code: str = ""
    count: int = 0
    older: int = 0


async def _change(service: MemoryService, request: ChangeRequest) -> ChangeAnswer:
    memory = await request.memory(service)
    language = await spoken(service, request.language)
    ids, failed = list[str](), list[Failure]()
    for given in request.ids:
        try:
            ids.append(normalize_id(given))
        except LongTermMemoryError as exc:
            failed.append(Failure(id=given[:_SHOWN], text=explain(language, exc)))
    ids = list(dict.fromkeys(ids))
    if request.action == "delete":
        return await _delete(service, memory, request, ids, failed, language)
    done, remaining = list[str](), list[str]()
    until = service.clock() + _SECONDS
    change = memory.changes.archive if request.action == "archive" else memory.changes.restore
    for place, episode_id in enumerate(ids):
        if done and service.clock() > until:
            remaining = ids[place:]
            break
        try:
            await change(episode_id)
            done.append(episode_id)
        except LongTermMemoryError as exc:
            if exc.reason == "changed_but_snapshot":
                done.append(episode_id)
            failed.append(Failure(id=episode_id, text=explain(language, exc)))
            if isinstance(exc, (StoreFailed, StorageFailed, EmbeddingFailed)):
                # It would be the same for all of them.
                remaining = ids[place + 1 :]
                break
    return ChangeAnswer(
        done=done,
        failed=failed,
        remaining=remaining,
        text=_told(language, f"{request.action}d", len(done), len(failed)),
    )


async def _delete(
    service: MemoryService,
    memory: ScopedMemory,
    request: ChangeRequest,
    ids: list[str],
    failed: list[Failure],
    language: str,
) -> ChangeAnswer:
    chosen = hashlib.sha256(" ".join(sorted(ids)).encode()).hexdigest()
    subject = ("delete_episodes", memory.scope.space_id, chosen)
    if not request.code:
        found = {e.id for e in await memory.changes.chosen(ids, chains=True)}
        failed += _unknown(language, [i for i in ids if i not in found])
        if not found:
            return ChangeAnswer(failed=failed, text=_told(language, "deleted", 0, len(failed)))
        older = len(found - set(ids))
        text = _told(language, "would_delete", len(found), len(failed))
        return ChangeAnswer(
            failed=failed,
            text=joined(text, say(language, "console.older", count=older)) if older else text,
            code=service.confirmations.issue(*subject),
            count=len(found),
            older=older,
        )
    service.confirmations.redeem(request.code, *subject, otherwise="code_wrong_console")
    done, remaining, until = dict[str, None](), list[str](), service.clock() + _SECONDS
    for start in range(0, len(ids), _AT_ONCE):
        if done and service.clock() > until:
            remaining = ids[start:]
            break
        # What an earlier one of these took along is gone already.
        part = [i for i in ids[start : start + _AT_ONCE] if i not in done]
        try:
            done |= dict.fromkeys(await memory.changes.delete_chosen(part, chains=True))
            failed += _unknown(language, [i for i in part if i not in done])
        except LongTermMemoryError as exc:
            failed += [Failure(id=i, text=explain(language, exc)) for i in part]
            remaining = ids[start + _AT_ONCE :]
            break
    remaining = [i for i in remaining if i not in done]
    text = _told(language, "deleted", len(done), len(failed))
    return ChangeAnswer(done=list(done), failed=failed, remaining=remaining, text=text)


def _unknown(language: str, ids: list[str]) -> list[Failure]:
    return [Failure(id=i, text=say(language, "error.id_unknown", id=i)) for i in ids]


def _told(language: str, what: str, count: int, failed: int) -> str:
    text = say(language, f"console.{what}_one" if count == 1 else f"console.{what}", count=count)
    return joined(text, say(language, "console.not_done", count=failed)) if failed else text


_SHOWN = 64


# ---------------------------------------------------------------- one memory


class Fields(BaseModel):
    """What can be changed in a memory; what is left out stays.

    Attributes:
        content: its text.
        tags: all tags that it has.
        importance: 1..5.
        timestamp: when it happened; without a zone UTC.
    """

    content: str | None = None
    tags: Annotated[list[str], Field(max_length=100)] | None = None
    importance: Annotated[int, Field(ge=1, le=5)] | None = None
    timestamp: ShortText | None = None

    def revision(self, seen: Revision | None = None) -> Revision:
        """Return the change.

        Raises:
            BadArgument: ``timestamp`` names no time.
        """
        tags = None if self.tags is None else tuple(dict.fromkeys(t.strip() for t in self.tags if t.strip()))
        moment = None if self.timestamp is None else parse_moment(self.timestamp, parameter="timestamp")
        return Revision(self.content, tags, self.importance, moment, seen)

    def shown(self) -> Revision:
        """Return the values as a memory was shown with them, tags as they stand in it.

        Raises:
            BadArgument: ``timestamp`` names no time.
        """
        return replace(self.revision(), tags=None if self.tags is None else tuple(self.tags))


class EditRequest(Fields, SpaceRequest):
    """What changes in one memory.

    Attributes:
        id: which.
        seen: values that it was shown with: when it has others by now, nothing is changed.
    """

    id: ShortText
    seen: Fields = Fields()


class EditAnswer(BaseModel):
    """The memory as it is now, and a sentence about it."""

    episode: EpisodeAnswer
    text: str


async def _edit(service: MemoryService, request: EditRequest) -> EditAnswer:
    memory = await request.memory(service)
    revision = request.revision(request.seen.shown())
    episode = await memory.changes.revise(normalize_id(request.id), revision)
    language = await spoken(service, request.language)
    return EditAnswer(episode=EpisodeAnswer.of(episode), text=say(language, "console.edited"))


ROUTES = {
    "/episodes_change": Route(ChangeRequest, _change, reads=False),
    "/episode_edit": Route(EditRequest, _edit, reads=False),
}
