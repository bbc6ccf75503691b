"""Codes that confirm what cannot be undone: shown first, typed back within ten minutes, good once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from .errors import BadArgument
from .ids import new_id

__all__ = ["CODE_SECONDS", "Confirmations"]

CODE_SECONDS = 600.0
_CODE_LENGTH = 6
_OPEN_MAX = 1_000


@dataclass(frozen=True, slots=True)
class _Code:
    code: str
    until: float


class Confirmations:
    """Open codes of one installation, in memory only: after a restart one simply asks again.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._open: dict[tuple[str, ...], _Code] = {}

    def issue(self, *subject: str) -> str:
        """Return a fresh code for a subject (what, where, who); an earlier one of it is void."""
        self._open.pop(subject, None)
        while len(self._open) >= _OPEN_MAX:
            del self._open[next(iter(self._open))]
        code = new_id()[:_CODE_LENGTH]
        self._open[subject] = _Code(code, self._clock() + CODE_SECONDS)
        return code

    def redeem(self, code: str, *subject: str, otherwise: str = "code_wrong") -> None:
        """Take a code back.

        Args:
            code: as it was typed.
            subject: what it is to confirm.
            otherwise: reason of the refusal; it says where a new one comes from.

        Raises:
            BadArgument: ``code_wrong`` (or ``otherwise``) when it is not the open one of that subject, or too old.
        """
        known = self._open.get(subject)
        if (
            known is None
            or known.code != code.strip().strip("[]\"'`<>").lower()
            or known.until < self._clock()
        ):
            raise BadArgument(otherwise)
        del self._open[subject]
