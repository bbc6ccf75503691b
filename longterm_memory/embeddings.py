"""The one way to embeddings: checked vectors, a breaker for a service that is down, patience with one that is busy,
batches as large as it takes them, and a watch on the model.

Every answer is checked (one finite, non-zero vector per text, the dimension of the store). After two failures
in a row, or one call that hung until its deadline, nothing is asked for 60 seconds; then one call is let
through as a trial. A hang says only that the service needs longer than its caller had: whoever has much more
time is let through all the same, and an answer that comes late ends the pause (the first call after a start
makes many services load their model).

"Too many requests" is no failure: the call is made again after a pause (:mod:`.rate_limit`) as long as the caller has
time. A service that refuses a batch gets smaller ones; what it took is remembered as long as the process runs. A
single text that is refused is that text's fault, not the service's.

With vectors that get stored, and else once a minute, the canary sentence rides along in the same call, so a
model that was swapped under the same name is noticed before its vectors mix with the old ones.
"""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import Callable, Sequence
from time import monotonic

from .errors import EmbeddingFailed
from .logs import get_logger
from .ports import Embedder
from .rate_limit import Allowance, RateLimit
from .recall.calibration import CANARY, Calibration
from .records.vectors import Vector, unit

__all__ = ["BREAK_SECONDS", "FAILURES_TO_BREAK", "Breaker", "Embeddings"]

logger = get_logger(__name__)

BREAK_SECONDS = 60.0
FAILURES_TO_BREAK = 2
_PATIENCE = 0.5
"""Share of its time after which a call that is cancelled counts as hung."""
MORE_PATIENT = 3.0
"""How many times as long as the one that hung a caller must be willing to wait to be let through."""
CANARY_SECONDS = 60.0
"""How long a verified model is believed."""
_SHORT = 200
"""A question of that many characters is not too long for any model."""
_SMALL = 2
"""Batches up to this size are not made smaller on a failure of the server itself: it is hardly their size."""


class _Hung(EmbeddingFailed):
    """No answer came in time; the breaker knows."""


class Breaker:
    """Stops calling a service that keeps failing.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0
        self._hung_after = 0.0
        self._trial = False

    def seconds_left(self) -> float:
        """Return how long calls are still refused, 0 when one may be made."""
        left = self._open_until - self._clock()
        if left > 0:
            return left
        return 1.0 if self._trial else 0.0

    def enter(self, patience: float = 0.0) -> None:
        """Ask for permission to call.

        Args:
            patience: seconds that the caller will wait.

        Raises:
            EmbeddingFailed: ``embedding_pause`` while the breaker is open or a trial is on its way.
        """
        left = self.seconds_left()
        if left > 0:
            if 0 < self._hung_after * MORE_PATIENT <= patience:
                return
            raise EmbeddingFailed("embedding_pause", seconds=max(1, round(left)))
        self._trial = self._failures >= FAILURES_TO_BREAK

    def succeeded(self) -> None:
        """Close the breaker."""
        self._failures, self._open_until, self._hung_after, self._trial = 0, 0.0, 0.0, False

    def failed(self, *, hung_after: float = 0.0) -> None:
        """Count a failure; a hang counts as enough of them, so that the next turn does not wait again.

        Args:
            hung_after: seconds that the caller waited in vain, 0 for an error.
        """
        self._trial = False
        self._failures += FAILURES_TO_BREAK if hung_after else 1
        self._hung_after = max(hung_after, self._hung_after) if hung_after else 0.0
        if self._failures >= FAILURES_TO_BREAK:
            self._open_until = self._clock() + BREAK_SECONDS

    def abandoned(self) -> None:
        """The caller went away without an outcome; a trial may be made again."""
        self._trial = False


class Embeddings:
    """Embeds texts with one model of the host.

    Args:
        embedder: the host.
        model: uuid of the embedding model.
        calibration: what the store was filled with; ``None`` before first use.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        embedder: Embedder,
        model: str,
        calibration: Calibration | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.model = model
        self.calibration = calibration
        self.breaker = Breaker(clock)
        self._embedder = embedder
        self._clock = clock
        self._limit = RateLimit(clock)
        self._batch: int | None = None
        self._verified_until = float("-inf")

    async def embed(
        self,
        texts: Sequence[str],
        *,
        timeout: float = 20.0,  # noqa: ASYNC109 - running into it counts as a hang
        stored: bool = False,
        patience: float | None = None,
    ) -> list[Vector]:
        """Return one unit vector per text, in one call to the service if it takes them all at once.

        Args:
            texts: at least one, not blank.
            timeout: seconds to wait; a longer wait for an answer counts as a hang.
            stored: whether the vectors will be written; the model is then checked in the same call every
                time.
            patience: seconds to wait, beyond ``timeout``, while the service takes no more requests; ``None``: such
                waiting is part of ``timeout``.

        Raises:
            EmbeddingFailed: ``embedding_pause``, ``embedding_down``, ``embedding_busy``, ``embedding_refused``,
                ``embedding_unusable`` or ``model_changed``.
        """
        self.breaker.enter(timeout)
        watch = self.calibration is not None and (stored or self._clock() >= self._verified_until)
        asked = [*texts, CANARY] if watch else list(texts)
        try:
            vectors = await self._in_batches(asked, Allowance(self._clock, timeout, patience))
            if len({v.shape for v in vectors}) > 1:
                raise EmbeddingFailed("embedding_unusable", detail="vectors_lengths")
        except _Hung:
            raise
        except EmbeddingFailed as exc:
            if exc.reason in ("embedding_busy", "embedding_refused"):
                # It works, and tells so.
                self.breaker.abandoned()
            else:
                self.breaker.failed()
            raise
        except asyncio.CancelledError:
            self.breaker.abandoned()
            raise
        except BaseException:
            self.breaker.failed()
            raise
        self.breaker.succeeded()
        self._check_model(vectors, watch)
        return vectors[: len(texts)]

    async def question(self, text: str, *, timeout: float = 20.0) -> Vector:  # noqa: ASYNC109 - as above
        """Return the unit vector of a question; of one that is too long for the model, that of its beginning.

        Args:
            text: not blank.
            timeout: seconds to wait, for all attempts.

        Raises:
            EmbeddingFailed: as :meth:`embed`.
        """
        began = self._clock()
        while True:
            left = timeout - (self._clock() - began)
            try:
                return (await self.embed([text], timeout=left))[0]
            except EmbeddingFailed as exc:
                if exc.reason != "embedding_refused" or len(text) <= _SHORT or left <= 0:
                    raise
                text = text[: len(text) // 2]

    async def _in_batches(self, texts: list[str], time: Allowance) -> list[Vector]:
        """Embed texts, in batches that get smaller when the service refuses them."""
        size = min(self._batch or len(texts), len(texts))
        smaller, vectors = False, list[Vector]()
        while len(vectors) < len(texts):
            batch = texts[len(vectors) : len(vectors) + size]
            try:
                vectors += await self._when_it_can(batch, time)
            except EmbeddingFailed as exc:
                if not _perhaps_too_many(exc, len(batch)):
                    raise
                size, smaller = len(batch) // 2, True
        if smaller:
            # Every one of the texts was taken in the end, so it was their number.
            self._batch = size
            logger.info("embedding batches made smaller: texts=%d", size)
        return vectors

    async def _when_it_can(self, texts: list[str], time: Allowance) -> list[Vector]:
        """Make one call, and again after a pause while the service takes no more requests."""
        while True:
            pause = self._limit.seconds_left
            if pause:
                if not time.wait(pause):
                    raise EmbeddingFailed("embedding_busy", seconds=self._limit.seconds_said)
                await sleep(pause)
            asked_at = self._clock()
            try:
                vectors = await self._once(texts, time.left)
            except EmbeddingFailed as exc:
                if exc.reason != "embedding_busy":
                    raise
                self._limit.met(asked_at)
                logger.debug(
                    "embedding service busy: texts=%d seconds=%d", len(texts), self._limit.seconds_said
                )
                continue
            self._limit.passed(asked_at)
            return vectors

    async def _once(self, texts: list[str], seconds: float) -> list[Vector]:
        started = self._clock()
        call = asyncio.ensure_future(self._embedder.embed(self.model, texts))
        try:
            done, _ = await asyncio.wait({call}, timeout=seconds)
        except asyncio.CancelledError:
            # Whoever cancels late in the call had a deadline of its own: for the next one that is a hang like
            # any other.
            if self._clock() - started >= seconds * _PATIENCE:
                self._run_on(call, seconds)
            else:
                call.cancel()
            raise
        if not done:
            self._run_on(call, seconds)
            raise _Hung("embedding_down")
        return self._checked(call.result(), len(texts))

    def forget_verification(self) -> None:
        """Have the next call check the model again."""
        self._verified_until = float("-inf")

    def _run_on(self, call: asyncio.Future[list[list[float]]], waited: float) -> None:
        """Note a hang, but let the call run on: its answer, however late, tells that the service works again."""
        self.breaker.failed(hung_after=waited)

        def answered(late: asyncio.Future[list[list[float]]]) -> None:
            if not late.cancelled() and late.exception() is None:
                self.breaker.succeeded()

        call.add_done_callback(answered)

    @staticmethod
    def _checked(answer: object, wanted: int) -> list[Vector]:
        if not isinstance(answer, (list, tuple)) or len(answer) != wanted:
            got = len(answer) if isinstance(answer, (list, tuple)) else 0
            raise EmbeddingFailed("embedding_unusable", detail="vectors_count", got=got, wanted=wanted)
        vectors: list[Vector] = []
        for values in answer:
            try:
                vectors.append(unit(values))
            except (ValueError, TypeError) as exc:
                zeros = isinstance(values, (list, tuple)) and values and all(x == 0 for x in values)
                detail = "zeros" if zeros else "not_finite"
                raise EmbeddingFailed("embedding_unusable", detail=detail) from exc
        return vectors

    def _check_model(self, vectors: list[Vector], watched: bool) -> None:
        known = self.calibration
        if known is None:
            return
        dimension = int(vectors[0].shape[0])
        if dimension != known.dimension:
            changed = "dimensions"
        elif watched and not known.same_model(vectors[-1]):
            changed = "other_vectors"
        else:
            if watched:
                self._verified_until = self._clock() + CANARY_SECONDS
            return
        self.forget_verification()
        raise EmbeddingFailed("model_changed", detail=changed, before=known.dimension, now=dimension)


def _perhaps_too_many(exc: EmbeddingFailed, texts: int) -> bool:
    """Whether fewer texts at once may be taken."""
    if exc.reason == "embedding_down":
        # Some servers break on what they should refuse.
        return bool(exc.details.get("answered")) and texts > _SMALL
    return exc.reason == "embedding_refused" and texts > 1
