"""Who opted out or was erased, and when: what was on its way then may not land after.

A piece of work (a message, a command, an import) takes the time, :meth:`Withdrawals.now`, when it begins; whoever
writes for it asks right before the write, under the lock of what is written, whether somebody withdrew since. Time is
counted in withdrawals, and only in memory: no work survives its process.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from .errors import Forbidden
from .reach import keys_of
from .scope import Scope

__all__ = ["Check", "Withdrawal", "Withdrawals", "unchecked"]

_KEPT_MAX = 10_000
"""Withdrawals that are told apart. Work that began before those that were dropped is refused whoever it is of."""

Check = Callable[[], None]
"""Called under the lock of what is to be written, right before; raises when it may not be written any more."""


def unchecked() -> None:
    """Let the write pass: nobody can withdraw from it."""


class Withdrawal(StrEnum):
    """What somebody did."""

    OFF = "speaker_off"
    """Switched memory off."""
    ERASED = "erased_meanwhile"
    """Had themselves erased, or an operator erased them or the whole space."""


class Withdrawals:
    """The withdrawals of one installation."""

    def __init__(self) -> None:
        self._count = 0
        self._floor = 0
        self._last: OrderedDict[tuple[str, str], tuple[int, Withdrawal]] = OrderedDict()
        self._going_on: Counter[tuple[str, str]] = Counter()

    def now(self) -> int:
        """Return the time at which a piece of work begins."""
        return self._count

    def opted_out(self, key: str, sender_id: str) -> None:
        """Note that somebody switched memory off under a key of :func:`.reach.keys_of`."""
        self._note((key, sender_id), Withdrawal.OFF)

    @contextmanager
    def erasing(self, keys: Iterable[str] = ("",), sender_id: str = "") -> Iterator[None]:
        """Note that somebody is being erased: until it is over nothing of them is written, nor later by work that
        began before its end.

        Args:
            keys: where, of :func:`.reach.keys_of`; ``""`` is everywhere.
            sender_id: who; ``""`` is everything of those keys.
        """
        erased = [(key, sender_id) for key in keys]
        self._going_on.update(erased)
        try:
            yield
        finally:
            self._going_on -= Counter(erased)
            for one in erased:
                self._note(one, Withdrawal.ERASED)

    def since(self, began: int, keys: Iterable[str], sender_id: str) -> Withdrawal | None:
        """Return what keeps work from being written, ``None`` when nothing does.

        Args:
            began: when the work began.
            keys: the keys of where it goes.
            sender_id: whose it is.
        """
        asked = [("", sender_id), *(pair for key in keys for pair in ((key, sender_id), (key, "")))]
        if began < self._floor or any(one in self._going_on for one in asked):
            return Withdrawal.ERASED
        found = [self._last[one] for one in asked if one in self._last and self._last[one][0] > began]
        return max(found)[1] if found else None

    def check(self, began: int, scope: Scope, sender_id: str, *, own: bool = True) -> None:
        """Refuse work of somebody who withdrew since it began.

        Args:
            began: when the work began.
            scope: the conversation it is of.
            sender_id: whose it is.
            own: whether it is the work of that person themselves.

        Raises:
            Forbidden: ``speaker_off``, ``other_off`` or ``erased_meanwhile``.
        """
        found = self.since(began, keys_of(scope), sender_id)
        if found is not None:
            raise Forbidden("other_off" if found is Withdrawal.OFF and not own else found.value)

    def _note(self, who: tuple[str, str], what: Withdrawal) -> None:
        self._count += 1
        self._last[who] = self._count, what
        self._last.move_to_end(who)
        while len(self._last) > _KEPT_MAX:
            self._floor = max(self._floor, self._last.popitem(last=False)[1][0])
