"""When a vector store is no longer asked, because it keeps answering with rows of others.

Every row is checked, so no answer of such a store ever showed anybody's memory to somebody else. But what it leaves
out nobody can know: "nothing found" would be a guess, and so would "deleted". After a few questions in a row whose
answers held rows of other scopes although each was asked alone, questions are refused with the reason; after a while
one is let through to see, and a health check tries at once.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ..errors import StoreFailed
from ..logs import get_logger

__all__ = ["PAUSE_SECONDS", "STRIKES", "Trust"]

logger = get_logger(__name__)

STRIKES = 3
"""Questions in a row, each asked alone and several times, whose answers held rows of others."""
PAUSE_SECONDS = 300.0
"""How long nothing is asked then."""


class Trust:
    """Whether one knowledge base's store is asked.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._strikes = 0
        self._until = 0.0

    @property
    def lost(self) -> bool:
        """Whether the store is not asked at the moment, or was not until a trial that is still to come."""
        return self._strikes >= STRIKES

    def check(self, dropped: int) -> None:
        """Let a question through, or not.

        Args:
            dropped: rows of others so far, for the sentence.

        Raises:
            StoreFailed: ``store_distrusted``.
        """
        if not self.lost:
            return
        left = self._until - self._clock()
        if left > 0:
            raise StoreFailed("store_distrusted", count=dropped, minutes=max(1, round(left / 60)))
        # One question finds out; the others wait for what it brings.
        self._until = self._clock() + PAUSE_SECONDS

    def kept(self) -> None:
        """Hear of an answer without rows of others."""
        if self.lost:
            logger.info("vector store is asked again")
        self._strikes = 0

    def broken(self) -> None:
        """Hear of an answer that held rows of others though its question was asked alone."""
        self._strikes += 1
        if self._strikes == STRIKES:
            logger.error("vector store is not asked any more: answers_with_foreign_rows=%d", self._strikes)
        if self.lost:
            self._until = self._clock() + PAUSE_SECONDS

    def try_again(self) -> None:
        """Ask again from now on (a health check does): one more answer like that ends it, a clean one mends it."""
        self._strikes = min(self._strikes, STRIKES - 1)
