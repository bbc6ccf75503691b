"""The in-memory index of a scope's active memories: lexical postings, quantized vectors, and what ranking looks at.

It is filled page by page while there is time to spare, kept up to date by our own writes (nobody else writes), bounded
in rows over all scopes (:class:`IndexCache`), and thrown away at will: everything in it can be read again.
"""

from __future__ import annotations

import asyncio
import math
import re
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..records.envelope import Record
from ..records.vectors import Vector
from ..text.fold import fold, same_text
from ..text.terms import terms

__all__ = ["INDEX_ROWS_MAX", "IndexCache", "ScopeIndex"]

INDEX_ROWS_MAX = 120_000
"""Rows kept over all scopes, least recently used scopes go first; about 2 KB a row at 512 dimensions."""

_K1, _B = 0.9, 0.4
"""BM25 for short texts: saturation and length influence below the usual 1.2 and 0.75 (as Anserini does for passages)."""

Slots = NDArray[np.int64]
Scores = NDArray[np.float32]


class ScopeIndex:
    """Index of one scope. A *slot* is the position of a record; freed slots are reused by nobody."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.complete = False
        """Whether every active record of the scope is in it."""
        self.shard: int | None = None
        """Shard being read, ``None`` while all shards are paged as one."""
        self.scanned = 0
        """Rows read so far (of the shard, if any), as the offset of the next page."""
        self.filling = asyncio.Lock()
        """Held while a page is read, so that two readers never read the same one."""
        self._slot_of: dict[str, int] = {}
        self._gone: set[str] = set()
        self._terms: list[frozenset[str]] = []
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._document_frequency: Counter[str] = Counter()
        self._claims: dict[str, int] = {}
        self._by_form: dict[str, set[str]] = {}
        self._names: dict[str, set[str]] = {}
        self._total_length = 0
        self._alive = np.zeros(64, dtype=bool)
        self._length = np.zeros(64, dtype=np.float32)
        self._time = np.zeros(64, dtype=np.float64)
        self._importance = np.zeros(64, dtype=np.float32)
        self._scale = np.zeros(64, dtype=np.float32)
        self._codes: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self._slot_of)

    # ------------------------------------------------------------ changes

    def put(self, record: Record) -> int:
        """Add a record or replace its older version; returns its slot."""
        known = self._slot_of.get(record.episode.id)
        if known is not None:
            if self.records[known].version >= record.version:
                return known
            self._kill(record.episode.id)
        slot = len(self.records)
        self._grow(slot, record.vector.dimension)
        counted = Counter(
            terms(record.episode.content) + [t for tag in record.episode.tags for t in terms(tag)]
        )
        self.records.append(record)
        self._terms.append(frozenset(counted))
        for term, times in counted.items():
            slots, counts = self._postings.setdefault(term, (array("i"), array("i")))
            slots.append(slot)
            counts.append(times)
            self._document_frequency[term] += 1
        length = sum(counted.values())
        self._total_length += length
        self._alive[slot], self._length[slot] = True, length
        self._time[slot] = record.episode.timestamp.timestamp()
        self._importance[slot] = record.episode.importance
        assert self._codes is not None  # noqa: S101 - _grow made it
        self._codes[slot], self._scale[slot] = record.vector.codes, record.vector.scale
        self._slot_of[record.episode.id] = slot
        self._claims.update(record.episode.supersedes)
        self._by_form.setdefault(same_text(record.episode.content), set()).add(record.episode.id)
        if name := fold(record.episode.sender_name):
            self._names.setdefault(name, set()).add(record.episode.sender_id)
        return slot

    def read(self, records: Iterable[Record]) -> None:
        """Add records that a page or search brought, except those that were discarded meanwhile."""
        for record in records:
            if record.episode.id not in self._gone:
                self.put(record)

    def discard(self, episode_id: str) -> None:
        """Take a memory out (deleted or no longer active)."""
        self._gone.add(episode_id)
        if episode_id in self._slot_of:
            self._kill(episode_id)
        # A row less in the store moves the later ones forward: step back so that no page skips any.
        self.scanned = max(0, self.scanned - 1)

    def changed(self, record: Record) -> None:
        """Put a record that this process just wrote; it counts even if an earlier version was discarded."""
        self._gone.discard(record.episode.id)
        self.put(record)

    def _kill(self, episode_id: str) -> None:
        slot = self._slot_of.pop(episode_id)
        self._alive[slot] = False
        self._total_length -= int(self._length[slot])
        for term in self._terms[slot]:
            self._document_frequency[term] -= 1
        self._terms[slot] = frozenset()
        form = same_text(self.records[slot].episode.content)
        self._by_form[form].discard(episode_id)
        if not self._by_form[form]:
            del self._by_form[form]

    def _grow(self, slot: int, dimension: int) -> None:
        if self._codes is None:
            self._codes = np.zeros((64, dimension), dtype=np.int8)
        if slot < len(self._alive):
            return
        size = len(self._alive) * 2
        for name in ("_alive", "_length", "_time", "_importance", "_scale", "_codes"):
            old = getattr(self, name)
            new = np.zeros((size, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    # ------------------------------------------------------------ reads

    def get(self, episode_id: str) -> Record | None:
        """Return an indexed memory."""
        slot = self._slot_of.get(episode_id)
        return None if slot is None else self.records[slot]

    def has(self, episode_id: str) -> bool:
        """Whether that memory is indexed."""
        return episode_id in self._slot_of

    def slots(self, episode_ids: Iterable[str]) -> Slots:
        """Return the slots of those memories that are indexed, in order, without repeats."""
        found = dict.fromkeys(self._slot_of[i] for i in episode_ids if i in self._slot_of)
        return np.fromiter(found, dtype=np.int64, count=len(found))

    def living(self) -> list[Record]:
        """Return all indexed memories that no correction of the scope claims to have replaced."""
        return [self.records[s] for s in self._slot_of.values() if not self.superseded(self.records[s])]

    def superseded(self, record: Record) -> bool:
        """Whether a correction replaced exactly this version, though a crash left its row active."""
        return self._claims.get(record.episode.id) == record.version

    def saying(self, text: str) -> list[Record]:
        """Return indexed memories that say literally the same (:func:`longterm_memory.text.fold.same_text`)."""
        ids = self._by_form.get(same_text(text), ())
        found = [self.get(i) for i in ids]
        return [r for r in found if r is not None and not self.superseded(r)]

    def idf(self, term: str) -> float:
        """Return the inverse document frequency (BM25+, never negative) of a term in this scope."""
        seen, total = self._document_frequency.get(term, 0), len(self._slot_of)
        return math.log(1.0 + (total - seen + 0.5) / (seen + 0.5))

    def lexical(self, query: Sequence[str]) -> Scores:
        """Return, per slot, the share (0..1) of the query's term weight that each memory holds (BM25, normalized).

        Args:
            query: terms of the question (:func:`longterm_memory.text.terms.terms`).
        """
        scores = np.zeros(len(self.records), dtype=np.float32)
        weights = {t: self.idf(t) * (0.5 if len(t) == 1 and not t.isascii() else 1.0) for t in set(query)}
        total = sum(weights.values())
        if not self._slot_of or total <= 0:
            return scores
        average = max(1.0, self._total_length / len(self._slot_of))
        for term, weight in weights.items():
            posting = self._postings.get(term)
            if posting is None:
                continue
            slots = np.frombuffer(posting[0], dtype=np.int32)
            counts = np.frombuffer(posting[1], dtype=np.int32).astype(np.float32)
            norm = _K1 * (1.0 - _B + _B * self._length[slots] / average)
            scores[slots] += weight * counts * (_K1 + 1.0) / (counts + norm)
        scores[~self._alive[: len(scores)]] = 0.0
        # A memory of average length that holds every term once scores the sum of the weights: that is a full share.
        return np.minimum(scores / total, 1.0).astype(np.float32)

    def cosines(self, query: Vector, slots: Slots) -> Scores:
        """Return the true cosine of each slot's memory with a unit query vector."""
        if self._codes is None or not slots.size:
            return np.zeros(0, dtype=np.float32)
        rows = self._codes[slots].astype(np.float32)
        return ((rows @ query) * self._scale[slots]).astype(np.float32)

    def times(self, slots: Slots) -> NDArray[np.float64]:
        """Return the timestamps (epoch seconds) of slots."""
        return self._time[slots]

    def importances(self, slots: Slots) -> Scores:
        """Return the importances 1..5 of slots."""
        found: Scores = self._importance[slots]
        return found

    def terms_of(self, slot: int) -> frozenset[str]:
        """Return the distinct terms of a slot's memory."""
        return self._terms[slot]

    def named(self, text: str) -> frozenset[str]:
        """Return the sender ids of speakers whose name stands in ``text``."""
        folded = fold(text)
        return frozenset(
            sender
            for name, senders in self._names.items()
            # A Latin name has to stand as a word of its own; "Al" is not in "also".
            if (re.search(rf"\b{re.escape(name)}\b", folded) if name.isascii() else name in folded)
            for sender in senders
        )


class IndexCache:
    """Indexes of many scopes, bounded by their total rows.

    Args:
        rows_max: rows over all scopes before the least recently used scope is dropped.
    """

    def __init__(self, rows_max: int = INDEX_ROWS_MAX) -> None:
        self._rows_max = rows_max
        self._indexes: OrderedDict[str, ScopeIndex] = OrderedDict()

    def of(self, user_key: str) -> ScopeIndex:
        """Return the index of a scope, a new empty one when there is none."""
        index = self._indexes.setdefault(user_key, ScopeIndex())
        self._indexes.move_to_end(user_key)
        rows = sum(len(i.records) for i in self._indexes.values())
        while rows > self._rows_max and len(self._indexes) > 1:
            _, dropped = self._indexes.popitem(last=False)
            rows -= len(dropped.records)
        return index

    def drop(self, user_key: str) -> None:
        """Forget a scope's index."""
        self._indexes.pop(user_key, None)

    def clear(self) -> None:
        """Forget all of them."""
        self._indexes.clear()
