"""A record of the calls that reached a host, to count them and the rounds they took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter


@dataclass
class Call:
    """One call: ``start`` and ``end`` are places in one common order of events, ``seconds`` its duration."""

    name: str
    start: int
    end: int | None = None
    failed: bool = False
    seconds: float = 0.0


@dataclass
class CallLog:
    """Calls in the order they started."""

    calls: list[Call] = field(default_factory=list)
    running: int = 0
    """Number of calls that have not ended."""
    _clock: count[int] = field(default_factory=count, repr=False)

    @contextmanager
    def call(self, name: str) -> Iterator[Call]:
        """Record one call around a block."""
        entry = Call(name, next(self._clock))
        self.calls.append(entry)
        self.running += 1
        began = perf_counter()
        try:
            yield entry
        except BaseException:
            entry.failed = True
            raise
        finally:
            entry.end = next(self._clock)
            self.running -= 1
            entry.seconds = perf_counter() - began

    @contextmanager
    def recording(self) -> Iterator[CallLog]:
        """Yield a log that holds, once the block is left, the calls that started inside it."""
        seen = CallLog()
        first = len(self.calls)
        try:
            yield seen
        finally:
            seen.calls.extend(self.calls[first:])

    @property
    def counts(self) -> Counter[str]:
        """Number of calls by name."""
        return Counter(call.name for call in self.calls)

    @property
    def total(self) -> int:
        """Number of calls."""
        return len(self.calls)

    def rounds(self) -> int:
        """Return how many calls at least had to wait for one another.

        That is the longest chain in which each call started after the one before it had ended; calls that all
        overlap are one round.
        """
        found, last = 0, -1
        for call in sorted(self.calls, key=lambda c: float("inf") if c.end is None else c.end):
            if call.start > last:
                found += 1
                last = call.end if call.end is not None else call.start
        return found

    def clear(self) -> None:
        """Forget all calls."""
        self.calls.clear()
