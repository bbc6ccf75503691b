"""Reading all rows of a scope page by page while rows come and go.

Backends page by position, each in its own stable order. A row that is deleted while somebody pages moves all
later rows one place forward, so the next page would skip one of them. A :class:`Cursor` therefore hears of
every deletion before it is made and steps back as far; stepping back too far only reads a row twice. New rows
need nothing: whoever writes them knows them already.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..errors import StoreFailed
from ..ports import FileIds
from .keys import SHARDS, Visibility, file_ids

__all__ = ["PAGEABLE", "Cursor", "Place"]

PAGEABLE = 16_000
"""Milvus and SeekDB page no further than row 16 384 of one filter; beyond, the shards are read one by one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a cursor stood, and how many rows had been deleted by then."""

    shard: int | None
    offset: int
    done: bool
    removed: int


@dataclass(slots=True, weakref_slot=True, eq=False)
class Cursor:
    """How far the reading of a scope's rows has come.

    Attributes:
        user_key: the scope.
        visibilities: which of its rows.
        shard: shard being read, ``None`` while all shards are paged as one.
        offset: every row before this position has been read, in the order in which the backend lists them
            now.
        done: whether every row has been read.
    """

    user_key: str
    visibilities: tuple[Visibility, ...]
    shard: int | None = None
    offset: int = 0
    done: bool = False
    _removed: int = field(default=0, repr=False)
    """Rows whose deletion was ever announced."""
    _disturbed: bool = field(default=False, repr=False)
    """Whether a deletion began while the page on its way was read."""
    _late: int = field(default=0, repr=False)
    """Deletions that were on their way when that page was asked for: they may take effect after it was
    made.
    """

    def where(self, limit: int, late: int) -> FileIds:
        """Return the filter of the next page; goes over to single shards when the rows become too many for
        one.

        Args:
            limit: rows of that page.
            late: rows whose deletion is on its way already; it may take effect after the page was made.

        Raises:
            StoreFailed: the rows do not come to an end.
        """
        if self.shard is None and self.offset + limit > PAGEABLE:
            self.shard, self.offset = 0, 0
        elif self.offset + limit > PAGEABLE:
            # More rows than a shard ever gets from us: this store does not page as asked.
            raise StoreFailed("store_down")
        self._disturbed, self._late = False, late
        values = [file_ids(self.user_key, visibility) for visibility in self.visibilities]
        return FileIds(
            [f for v in values for f in (v if self.shard is None else v[self.shard : self.shard + 1])]
        )

    def read(self, rows: int, limit: int) -> None:
        """Move on after a page.

        Args:
            rows: rows that came back, readable or not.
            limit: rows that were asked for; fewer mean that nothing comes after them.
        """
        if self._disturbed:
            # The rows before this page may have moved under it; it is read again from where removing()
            # stepped back to.
            return
        if rows >= limit:
            self.offset = max(0, self.offset + rows - self._late)
        elif self.shard is None or self.shard == SHARDS - 1:
            self.done = True
        else:
            self.shard, self.offset = self.shard + 1, 0

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.shard, self.offset, self.done, self._removed)

    def twin(self) -> Cursor:
        """Return another cursor at the same place, to read ahead with; it has to hear of deletions too."""
        return replace(self)

    def move_to(self, place: Place) -> None:
        """Stand where a twin stood, less what was deleted since."""
        self.shard, self.done = place.shard, place.done
        self.offset = max(0, place.offset - (self._removed - place.removed))

    def removing(self, rows: int) -> None:
        """Hear that up to so many rows of the scope are about to be deleted."""
        self.offset = max(0, self.offset - rows)
        self._removed += rows
        self._disturbed = True
