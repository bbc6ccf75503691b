"""Living with a service that says "too many requests": waiting longer each time, and never all at the same moment.

The pause is shared by everybody who asks the same model, so nobody runs into a limit that another one has just met: who
has less time than is left of it is told so at once, and the rest wait. A call that gets through makes the next
pause shorter, but does not forget the limit: what comes right after it would meet it again.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from random import uniform

__all__ = ["Allowance", "RateLimit"]

_FIRST_SECONDS = 0.5
_MOST_SECONDS = 30.0
"""The longest pause: two of them outlast a limit per minute."""
_JITTER = (0.8, 1.2)
_FOR_WAITING = 0.75
_LEAST_SECONDS = 0.05


class RateLimit:
    """When the next call makes sense.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._level = 0
        self._hit_at = float("-inf")
        self._until = float("-inf")

    @property
    def seconds_left(self) -> float:
        """How long to wait before calling, 0 for not at all."""
        return max(0.0, self._until - self._clock())

    @property
    def seconds_said(self) -> int:
        """The same as people are told it."""
        return max(1, ceil(self.seconds_left))

    def met(self, asked_at: float) -> None:
        """Note that a call was refused.

        Args:
            asked_at: when it was made; calls that were on their way together meet the limit once.
        """
        if asked_at < self._hit_at:
            return
        pause = min(_MOST_SECONDS, _FIRST_SECONDS * 2**self._level) * uniform(*_JITTER)
        self._level = min(self._level + 1, 10)
        self._hit_at = self._clock()
        self._until = self._hit_at + pause

    def passed(self, asked_at: float) -> None:
        """Note that a call got through."""
        if asked_at >= self._hit_at:
            self._level = max(0, self._level - 2)
            self._until = float("-inf")


class Allowance:
    """How much time one request may take, waiting included.

    Args:
        clock: seconds, monotonic.
        seconds: for everything.
        patience: seconds of waiting for a limit that do not count; ``None``: waiting counts, and leaves a quarter of
            what is left for the call.
    """

    def __init__(self, clock: Callable[[], float], seconds: float, patience: float | None) -> None:
        self._clock = clock
        self._seconds = seconds
        self._patience = patience
        self._began = clock()
        self._waited = 0.0

    @property
    def left(self) -> float:
        """Seconds left for calls, a few hundredths at least: a call without any would be no call."""
        gone = self._clock() - self._began
        gone = max(gone, self._waited) if self._patience is None else gone - self._waited
        return max(self._seconds - max(0.0, gone), min(_LEAST_SECONDS, self._seconds))

    def wait(self, seconds: float) -> bool:
        """Whether waiting that long is allowed; then it counts as done."""
        allowed = self.left * _FOR_WAITING if self._patience is None else self._patience - self._waited
        if seconds > allowed:
            return False
        self._waited += seconds
        return True
