"""The in-memory index of a scope's active memories: lexical postings, quantized vectors, and what ranking
looks at.

It is filled page by page while there is time to spare, kept up to date by our own writes (nobody else
writes), and thrown away at will: everything in it can be read again.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from time import monotonic

import numpy as np

from ..records.envelope import Record
from ..records.keys import Visibility
from ..records.paging import Cursor
from ..records.vectors import Vector
from ..text.fold import same_text
from ..text.terms import terms
from .codes import CodeMatrix
from .columns import FIRST, Columns
from .lexicon import SINGLE, Lexicon, Scores, Slots

__all__ = ["GONE_SECONDS", "ScopeIndex"]

GONE_SECONDS = 300.0
"""How long a memory that was taken out stays out, whatever reads bring: longer than any read is on its way,
and than an engine's vector index lags behind its deletes.
"""
_HIDDEN_WEIGHT = 16
"""How many noted versions of hidden memories need as much as one row."""
_SINGLY = 8
"""Up to one in so many memories are compared one by one; for more it is cheaper to compare all."""
_FURTHER = 4
"""How many times further down is looked when too few of the nearest are wanted."""


def _counted(record: Record) -> Counter[str]:
    """Return the terms of a memory and its tags, with their numbers."""
    found = Counter(terms(record.episode.content))
    for tag in record.episode.tags:
        found.update(terms(tag))
    return found


class ScopeIndex:
    """Index of one scope. A *slot* is the position of a record; slots change when the index is compacted.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.cursor: Cursor | None = None
        """How far the store has been read; ``None`` before the first page."""
        self.filling = asyncio.Lock()
        """Held while a page is read, so that two readers never read the same one."""
        self.reading_on = asyncio.Lock()
        """Held while the whole of it is read with nobody waiting for it."""
        self._clock = clock
        self._records: list[Record | None] = []
        self._slot_of: dict[str, int] = {}
        self._by_row: dict[str, Record] = {}
        self._gone: OrderedDict[str, float] = OrderedDict()
        self._hidden: dict[str, int] = {}
        """Versions of archived and superseded memories: an older active row of one is a leftover."""
        self._twice: set[str] = set()
        """Memories that were met both active and hidden."""
        self._deleted: set[str] = set()
        self._lexicon = Lexicon()
        self._read_words = 0
        """Slots below this are in the lexicon."""
        self._claims_of: dict[str, tuple[tuple[str, int], ...]] = {}
        self._claims: Counter[tuple[str, int]] = Counter()
        self._by_form: dict[int, tuple[str, ...]] = {}
        self.columns = Columns()
        """When, who, how important: a row per slot."""
        self._codes = CodeMatrix()

    def __len__(self) -> int:
        return len(self._slot_of)

    @property
    def complete(self) -> bool:
        """Whether every active record of the scope is in it."""
        return self.cursor is not None and self.cursor.done

    @property
    def met(self) -> int:
        """How many memories of the scope are known by now, hidden ones included."""
        return len(self) + len(self._hidden)

    @property
    def weight(self) -> int:
        """Rows it keeps memory for, dead ones included, and what an empty one costs."""
        return len(self._records) + len(self._hidden) // _HIDDEN_WEIGHT + FIRST

    @property
    def rows(self) -> Mapping[str, Record]:
        """The indexed records by row id: whoever reads one of these rows need not decode it again."""
        return self._by_row

    # ------------------------------------------------------------ changes

    def put(self, record: Record) -> None:
        """Add a record or replace its older version."""
        known = self.get(record.episode.id)
        if self.outdated(record):
            self._twice.add(record.episode.id)
            return
        if known is not None and known.version == record.version:
            return
        if known is not None:
            self._take_out(record.episode.id)
            self._compact()
        slot = self.columns.add(record)
        self._records.append(record)
        self._slot_of[record.episode.id] = slot
        self._by_row[record.row_id] = record
        self._codes.add(slot, record.vector)
        self._claim(record)
        form = hash(same_text(record.episode.content))
        self._by_form[form] = (*self._by_form.get(form, ()), record.episode.id)

    def read(self, records: Iterable[Record]) -> None:
        """Add records that a page or search brought, except memories that were taken out meanwhile; of hidden ones
        only the version is noted, so that what a broken-off change left active does not count.
        """
        self._forget_gone()
        for record in records:
            if record.episode.id in self._gone:
                continue
            if record.visibility is Visibility.RECALLED:
                self.put(record)
            else:
                self._hide(record)

    def changed(self, record: Record) -> None:
        """Put a record that this process just wrote; it counts even if an earlier version was taken out."""
        self._gone.pop(record.episode.id, None)
        self._deleted.discard(record.episode.id)
        self._hidden.pop(record.episode.id, None)
        self.put(record)

    def hidden(self, record: Record) -> None:
        """Take out a memory of which this process just wrote a version that is not active."""
        self.discard(record.episode.id)
        self._hide(record)

    def _hide(self, record: Record) -> None:
        episode_id, known = record.episode.id, self.get(record.episode.id)
        self._hidden[episode_id] = max(record.version, self._hidden.get(episode_id, 0))
        if known is not None:
            self._twice.add(episode_id)
            if known.version < record.version:
                self._take_out(episode_id)
                self._compact()

    def discard(self, episode_id: str) -> None:
        """Take out a memory that is no longer active; what it replaced stays replaced."""
        self._forget_gone()
        self._gone[episode_id] = self._clock()
        self._gone.move_to_end(episode_id)
        if episode_id in self._slot_of:
            self._take_out(episode_id)
            self._compact()

    def deleted(self, episode_ids: Iterable[str]) -> None:
        """Take out memories that no longer exist, and what they claimed to replace."""
        for episode_id in episode_ids:
            self.discard(episode_id)
            self._deleted.add(episode_id)
            self._hidden.pop(episode_id, None)
            self._claims.subtract(self._claims_of.pop(episode_id, ()))
        self._claims = +self._claims

    def was_deleted(self, episode_id: str) -> bool:
        """Whether that memory was deleted a short time ago; an engine may still find it."""
        self._forget_gone()
        return episode_id in self._deleted

    def read_words(self, most: int | None = None) -> bool:
        """Take up the words of memories that were put; questions do it by themselves when it was not done
        before.

        Args:
            most: how many memories; ``None`` for all.

        Returns:
            Whether some are left.
        """
        end = len(self._records) if most is None else min(len(self._records), self._read_words + most)
        for slot in range(self._read_words, end):
            record = self._records[slot]
            if record is None:
                self._lexicon.skip()
            else:
                self._lexicon.add(slot, _counted(record))
        self._read_words = end
        return end < len(self._records)

    def _claim(self, record: Record) -> None:
        claims = record.episode.supersedes
        if claims and record.episode.id not in self._claims_of:
            self._claims_of[record.episode.id] = claims
            self._claims.update(claims)

    def _forget_gone(self) -> None:
        due = self._clock() - GONE_SECONDS
        while self._gone and next(iter(self._gone.values())) <= due:
            self._deleted.discard(self._gone.popitem(last=False)[0])

    def _take_out(self, episode_id: str) -> None:
        slot = self._slot_of.pop(episode_id)
        record = self._records[slot]
        assert record is not None  # noqa: S101 - _slot_of knows only living slots
        self._records[slot] = None
        self.columns.take_out(slot)
        del self._by_row[record.row_id]
        if slot < self._read_words:
            self._lexicon.remove(_counted(record))
        form = hash(same_text(record.episode.content))
        left = tuple(i for i in self._by_form[form] if i != episode_id)
        if left:
            self._by_form[form] = left
        else:
            del self._by_form[form]

    def _compact(self) -> None:
        """Give the memory of dead slots back once they outnumber the living."""
        if len(self._records) - len(self) <= max(FIRST, len(self)):
            return
        self.read_words()
        living = self.columns.compact()
        moved = np.where(living, np.cumsum(living) - 1, -1).astype(np.int32)
        self._lexicon.compact(moved)
        self._records = [r for r in self._records if r is not None]
        self._read_words = len(self._records)
        self._slot_of = {r.episode.id: slot for slot, r in enumerate(self._records) if r is not None}
        self._codes = CodeMatrix()
        for slot, record in enumerate(self._records):
            if record is not None:
                self._codes.add(slot, record.vector, move=True)

    # ------------------------------------------------------------ reads

    def get(self, episode_id: str) -> Record | None:
        """Return an indexed memory."""
        slot = self._slot_of.get(episode_id)
        return None if slot is None else self._records[slot]

    def at(self, slot: int) -> Record:
        """Return the memory at a living slot.

        Raises:
            KeyError: it holds none.
        """
        record = self._records[slot]
        if record is None:
            raise KeyError(slot)
        return record

    def outdated(self, record: Record) -> bool:
        """Whether a newer version of that memory is known, so that this one is a leftover of a change."""
        known = self.get(record.episode.id)
        newest = max(known.version if known else 0, self._hidden.get(record.episode.id, 0))
        return newest > record.version

    def has(self, episode_id: str) -> bool:
        """Whether that memory is indexed."""
        return episode_id in self._slot_of

    def slots(self, episode_ids: Iterable[str]) -> Slots:
        """Return the slots of those memories that are indexed, in order, without repeats."""
        found = dict.fromkeys(self._slot_of[i] for i in episode_ids if i in self._slot_of)
        return np.fromiter(found, dtype=np.int64, count=len(found))

    def all_slots(self) -> Slots:
        """Return the slots of all indexed memories."""
        return np.fromiter(self._slot_of.values(), dtype=np.int64, count=len(self._slot_of))

    def living(self) -> list[Record]:
        """Return all indexed memories that no correction of the scope claims to have replaced."""
        found = (self._records[slot] for slot in self._slot_of.values())
        return [r for r in found if r is not None and not self.superseded(r)]

    def superseded(self, record: Record) -> bool:
        """Whether a correction replaced exactly this version, though a crash left its row active."""
        return bool(self._claims) and (record.episode.id, record.version) in self._claims

    def leftovers(self) -> list[tuple[Record, str]]:
        """Return the indexed records of which :meth:`superseded` holds, each with the id of the
        correction.
        """
        if not self._claims:
            return []
        claimed = ((self.get(i), v, winner) for winner, found in self._claims_of.items() for i, v in found)
        return [(record, winner) for record, v, winner in claimed if record and record.version == v]

    def met_twice(self) -> list[str]:
        """Return the memories of which rows of two versions were met since this was last asked: changes that broke
        off.
        """
        found = sorted(self._twice)
        self._twice.clear()
        return found

    def claimed_versions(self) -> dict[str, int]:
        """Return, per episode that a correction replaced, the highest version that one claims to have
        replaced.
        """
        found: dict[str, int] = {}
        for episode_id, version in self._claims:
            found[episode_id] = max(version, found.get(episode_id, 0))
        return found

    def saying(self, text: str) -> list[Record]:
        """Return indexed memories that say literally the same
        (:func:`longterm_memory.text.fold.same_text`).
        """
        form = same_text(text)
        found = (self.get(i) for i in self._by_form.get(hash(form), ()))
        return [
            r
            for r in found
            if r is not None and not self.superseded(r) and same_text(r.episode.content) == form
        ]

    @property
    def distinct(self) -> int:
        """How many memories are indexed; those that say the same count as one."""
        self.read_words()
        return self._lexicon.distinct

    def knows(self, term: str) -> bool:
        """Whether any memory holds a term."""
        self.read_words()
        return self._lexicon.seen(term) > 0

    def lexical(self, query: Iterable[str], heaviest: int | None = None, single: float = SINGLE) -> Scores:
        """Return, per slot, the share (0..1) of the query's term weight that each memory holds; 0 where there
        is none.

        Args:
            query: terms of the question (:func:`longterm_memory.text.terms.terms`).
            heaviest: the share is of the weight of the so many heaviest of them; ``None``: of all.
            single: weight of a single CJK character, 0..1.
        """
        self.read_words()
        scores = self._lexicon.scores(query, heaviest, single)
        scores[~self.columns.alive[: len(scores)]] = 0.0
        return scores

    def holding(self, found: Iterable[str]) -> Slots:
        """Return the slots of memories that hold any of these terms."""
        self.read_words()
        holding = [self._lexicon.holding(term) for term in found]
        slots = np.unique(np.concatenate(holding)) if holding else np.zeros(0, dtype=np.int64)
        living: Slots = slots[self.columns.alive[slots]]
        return living

    def cosines(self, query: Vector, slots: Slots) -> Scores:
        """Return the true cosine of each slot's memory with a unit query vector; 0 for vectors of another
        model's length.
        """
        if len(slots) > len(self._records) // _SINGLY:
            found: Scores = self._codes.cosines(query, len(self._records))[slots]
            return found
        cosines = np.zeros(len(slots), dtype=np.float32)
        codes = [self.at(slot).vector.codes for slot in slots.tolist()]
        fitting = np.array([c.shape == query.shape for c in codes], dtype=bool)
        if fitting.any():
            rows = np.stack([c for c in codes if c.shape == query.shape]).astype(np.float32)
            cosines[fitting] = (rows @ query) / np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return cosines

    def nearest(self, query: Vector, count: int, wanted: Callable[[int], bool]) -> Slots:
        """Return the slots of the ``count`` memories nearest to a unit query vector, of those that are wanted, nearest
        first: exact over what is indexed.

        Args:
            query: the question.
            count: how many.
            wanted: whether a slot's memory may be among them.
        """
        cosines = self._codes.cosines(query, len(self._records))
        cosines[~self.columns.alive[: len(cosines)]] = -np.inf
        reach, kept = 0, list[int]()
        while len(kept) < count and reach < len(self):
            reach = min(len(self), max(count, _FURTHER * reach))
            best = np.argpartition(-cosines, reach - 1)[:reach]
            kept = [slot for slot in best[np.argsort(-cosines[best], kind="stable")].tolist() if wanted(slot)]
        return np.array(kept[:count], dtype=np.int64)

    def all_cosines(self, query: Vector) -> Scores:
        """Return the true cosine of every slot's memory with a unit query vector; 0 where there is none of its
        dimension.
        """
        return self._codes.cosines(query, len(self._records))

    def word_counts(self) -> Scores:
        """Return how many terms each slot's memory has."""
        self.read_words()
        return self._lexicon.lengths()
