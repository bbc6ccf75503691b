"""Writes whose outcome nobody knows: a call that was given up may still take effect a little later.

The row of such a write has the id of its version. The next change of that episode therefore takes a version
beyond it: when the given-up row lands, it is an older version, which readers ignore. A memory that was deleted
meanwhile is deleted once more when nothing can land any longer.

A whole scope is deleted by where it lives, so such a call that was given up may take along what is written meanwhile:
until it can no longer take effect, nothing is written there.

Kept in memory: a host that is still carrying out a call of the process before this one, after the restart *and*
after somebody changed the same memory again, has not been seen, and nothing is done about it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import ceil
from time import monotonic

from ..errors import StoreFailed
from .envelope import Record

__all__ = ["UNSETTLED_SECONDS", "Due", "Erasing", "Unsettled"]

UNSETTLED_SECONDS = 240.0
"""How long a write that was given up may still land: the host itself gives up after 60 s. Shorter than an index keeps
what was taken out away from readers.
"""
_ENTRIES_MAX = 5_000


@dataclass(slots=True)
class _Attempt:
    version: int
    until: float
    due: bool = True
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """Episodes of a scope that have to be looked at before it is read.

    Attributes:
        kept: those that may exist in several versions.
        gone: those that were deleted, of which a late row may have come.
    """

    kept: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.kept or self.gone)


class Erasing:
    """A block in which all rows of a scope are deleted.

    Args:
        failed: called when it fails or is cancelled.

    Attributes:
        begun: whether it was entered, so that some rows may be gone.
    """

    def __init__(self, failed: Callable[[], None]) -> None:
        self.begun = False
        self._failed = failed

    def __enter__(self) -> None:
        self.begun = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._failed()


class Unsettled:
    """What was attempted in one knowledge base.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._attempts: OrderedDict[str, OrderedDict[str, _Attempt]] = OrderedDict()
        self._erasing: dict[str, float] = {}

    def attempted(self, records: Iterable[Record]) -> None:
        """Note records whose write failed, was given up or was cancelled."""
        for record in records:
            scope = self._attempts.setdefault(record.episode.user_key, OrderedDict())
            version = max(record.version, self.version(record.episode.user_key, record.episode.id))
            scope[record.episode.id] = _Attempt(version, self._clock() + UNSETTLED_SECONDS)
            scope.move_to_end(record.episode.id)
            self._attempts.move_to_end(record.episode.user_key)
        while sum(map(len, self._attempts.values())) > _ENTRIES_MAX:
            self._attempts.popitem(last=False)

    def version(self, user_key: str, episode_id: str) -> int:
        """Return the highest version that may still land, 0 when there is none."""
        attempt = self._of(user_key).get(episode_id)
        return attempt.version if attempt else 0

    def deleted(self, user_key: str, episode_ids: Iterable[str]) -> None:
        """Hear that episodes were deleted: what lands of them later has to go as well."""
        scope = self._of(user_key)
        for episode_id in episode_ids:
            if episode_id in scope:
                scope[episode_id].gone, scope[episode_id].due = True, False

    def written(self, records: Iterable[Record]) -> None:
        """Hear that records were written: a memory that had been deleted is back, and what lands late is older."""
        for record in records:
            attempt = self._of(record.episode.user_key).get(record.episode.id)
            if attempt is not None:
                attempt.gone = False

    # ------------------------------------------------------------ whole scopes

    def erasing(self, user_key: str) -> Erasing:
        """Return a block to delete all rows of a scope in; after a failure in it nothing is written there for a
        while.
        """
        return Erasing(lambda: self._erasing.update({user_key: self._clock() + UNSETTLED_SECONDS}))

    def erased(self, user_key: str) -> None:
        """Hear that everything of a scope was deleted: whatever lands of it later has to go as well."""
        self.deleted(user_key, list(self._of(user_key)))

    def check(self, user_key: str) -> None:
        """Let a scope be written to, or not.

        Raises:
            StoreFailed: ``erasure_unsettled``: it was being erased, and what is written now might be erased too.
        """
        now = self._clock()
        self._erasing = {key: until for key, until in self._erasing.items() if until > now}
        if user_key in self._erasing:
            raise StoreFailed("erasure_unsettled", minutes=ceil((self._erasing[user_key] - now) / 60))

    def is_gone(self, user_key: str, episode_id: str) -> bool:
        """Whether that episode was deleted, so that a row of it can only be a late one."""
        attempt = self._of(user_key).get(episode_id)
        return attempt is not None and attempt.gone

    def due(self, user_key: str, most: int) -> Due:
        """Return what has to be looked at now, at most so many episodes: what failed since the last look, and what
        can no longer land.
        """
        now, scope = self._clock(), self._of(user_key)
        found = [(i, a) for i, a in scope.items() if a.due or a.until <= now][:most]
        return Due(tuple(i for i, a in found if not a.gone), tuple(i for i, a in found if a.gone))

    def looked_at(self, user_key: str, episode_ids: Iterable[str]) -> None:
        """Hear that those episodes were read and put in order."""
        now, scope = self._clock(), self._of(user_key)
        for episode_id in episode_ids:
            attempt = scope.get(episode_id)
            if attempt is not None and attempt.until <= now:
                del scope[episode_id]
            elif attempt is not None:
                attempt.due = False
        if not scope:
            self._attempts.pop(user_key, None)

    def _of(self, user_key: str) -> OrderedDict[str, _Attempt]:
        return self._attempts.get(user_key) or OrderedDict()
