"""One allowance of time for everything, so that no service that hangs can hold the answer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import perf_counter

__all__ = ["Budget", "Watch"]

_CLEANING_SHARE = 0.2
"""Share of the time that is kept back for removing what was written."""
_STEP_SHARE = 0.25
"""Most that one step may take of it, so that one that hangs leaves time for the others."""


@dataclass(frozen=True, slots=True)
class Budget:
    """So many seconds from now on.

    Attributes:
        seconds: all of them.
        end: when they are over, in the event loop's time.
    """

    seconds: float
    end: float

    @classmethod
    def of(cls, seconds: float) -> Budget:
        """Start the time; less than a second is taken for one."""
        seconds = max(seconds, 1.0)
        return cls(seconds, asyncio.get_running_loop().time() + seconds)

    @property
    def left(self) -> float:
        """Seconds for checks, without what is kept for cleaning up; at least 0."""
        return max(0.0, self.end - self.cleaning - asyncio.get_running_loop().time())

    @property
    def cleaning(self) -> float:
        """Seconds kept for cleaning up."""
        return self.seconds * _CLEANING_SHARE

    @property
    def step(self) -> float:
        """Seconds for the next step."""
        return min(self.left, self.seconds * _STEP_SHARE)


class Watch:
    """Measures how long something takes."""

    def __init__(self) -> None:
        self._started = perf_counter()

    @property
    def ms(self) -> int:
        """Milliseconds since it was made."""
        return round((perf_counter() - self._started) * 1000)
