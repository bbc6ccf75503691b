"""What ranking costs without host calls, against one numpy cosine and its best fifty over the same rows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from longterm_memory.models import Episode, RecallQuery
from longterm_memory.recall.calibration import SENTENCES, Calibration
from longterm_memory.recall.index import ScopeIndex
from longterm_memory.recall.ranking import rank
from longterm_memory.records.envelope import Record
from longterm_memory.records.vectors import Quantized, unit
from longterm_memory.settings import Settings

from .cost import sentences

__all__ = ["measure"]

_ROWS, _DIMENSION, _ROUNDS, _TOP = 5_000, 384, 50, 50
_QUESTION = "who booked the ferry tickets last May?"


def measure(rows: int = _ROWS, rounds: int = _ROUNDS) -> dict[str, Any]:
    """Rank a question among so many memories, over and over.

    Returns:
        The ratio of both medians and their milliseconds.
    """
    rng = np.random.default_rng(5)
    now = datetime(2026, 5, 10, tzinfo=UTC)
    index, vectors = ScopeIndex(), []
    for number, text in enumerate(sentences(rows)):
        vectors.append(unit(rng.normal(size=_DIMENSION)))
        episode = Episode(id=f"m{number:07}", content=text, timestamp=now, created_at=now, user_key="bench")
        index.put(Record(episode, 1, Quantized.of(vectors[-1]), "bench"))
    matrix, question = np.stack(vectors), unit(rng.normal(size=_DIMENSION))
    calibration = Calibration.of([unit(rng.normal(size=_DIMENSION)) for _ in SENTENCES])
    index.read_words()

    def ours() -> None:
        rank(
            index,
            RecallQuery(text=_QUESTION, k=3),
            question,
            wanted=lambda _: True,
            calibration=calibration,
            settings=Settings(),
            now=now.timestamp(),
        )

    def raw() -> None:
        cosines = matrix @ question
        best = np.argpartition(-cosines, _TOP)[:_TOP]
        best[np.argsort(-cosines[best])]

    ours()
    raw()
    times = [(_seconds(ours), _seconds(raw)) for _ in range(rounds)]
    mine, plain = (median(column) for column in zip(*times, strict=True))
    return {
        "rows": rows,
        "ratio": round(mine / plain, 1),
        "ms": round(1_000 * mine, 2),
        "cosine_ms": round(1_000 * plain, 2),
    }


def _seconds(run: Callable[[], None]) -> float:
    began = perf_counter()
    run()
    return perf_counter() - began
