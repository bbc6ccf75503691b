"""Ways in which a host can fail or lie, switched on by tests."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

VECTOR_CALLS = frozenset({"vector_upsert", "vector_search", "vector_list", "vector_delete"})
STORAGE_CALLS = frozenset(
    {"get_plugin_storage", "set_plugin_storage", "delete_plugin_storage", "get_plugin_storage_keys"}
)


@dataclass
class Faults:
    """Misbehaviour; everything is off by default.

    Attributes:
        fail: names of calls that fail at once, without effect.
        hang: names of calls that never answer, without effect.
        lose_answer: names of calls that take effect and then time out.
        slow: seconds that calls take longer, by name.
        let_pass: how many calls by that name still go well before ``fail``, ``hang`` or ``lose_answer``
            applies.
        error: raised by ``fail`` instead of a plausible error.
        embedding: ``"short"`` (one vector too few), ``"long"``, ``"nan"``, ``"zero"``, ``"none"`` (null
            answer).
        dimension: length that vectors are cut or padded to.
        ignore_filters: reads return rows of every scope.
        foreign: rows added in front of every read.
        drop_metadata: rows come back with ``{}``.
        null_metadata: rows come back with ``None``.
        duplicate_rows: every row comes back twice.
        reverse_rows: reads come back in reverse order.
        lie_counts: totals and delete counts are made up.
        delete_nothing: deletes report success and do nothing.
        storage_full: writes fail as on a full disk.
        storage_down: every storage call fails.
        storage_corrupt: what reads return instead, by key.
    """

    fail: set[str] = field(default_factory=set)
    hang: set[str] = field(default_factory=set)
    lose_answer: set[str] = field(default_factory=set)
    slow: dict[str, float] = field(default_factory=dict)
    let_pass: dict[str, int] = field(default_factory=dict)
    error: Exception | None = None
    embedding: str = ""
    dimension: int | None = None
    ignore_filters: bool = False
    foreign: list[dict[str, Any]] = field(default_factory=list)
    drop_metadata: bool = False
    null_metadata: bool = False
    duplicate_rows: bool = False
    reverse_rows: bool = False
    lie_counts: bool = False
    delete_nothing: bool = False
    storage_full: bool = False
    storage_down: bool = False
    storage_corrupt: dict[str, bytes] = field(default_factory=dict)

    def clear(self) -> None:
        """Switch everything off."""
        fresh = Faults()
        for item in fields(self):
            setattr(self, item.name, getattr(fresh, item.name))

    def due(self, name: str) -> bool:
        """Whether a switched-on failure applies to this call; counts ``let_pass`` down."""
        left = self.let_pass.get(name, 0)
        if left > 0 and name in self.fail | self.hang | self.lose_answer:
            self.let_pass[name] = left - 1
            return False
        return True

    def rows(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return rows as this host would give them."""
        found = [*self.foreign, *rows]
        if self.reverse_rows:
            found.reverse()
        if self.duplicate_rows:
            found = [row for row in found for _ in range(2)]
        if self.drop_metadata or self.null_metadata:
            found = [{**row, "metadata": {} if self.drop_metadata else None} for row in found]
        return found

    def vectors(self, vectors: list[list[float]]) -> Any:
        """Return embeddings as this host would give them."""
        if self.dimension is not None:
            size = self.dimension
            vectors = [(vector + [0.0] * size)[:size] for vector in vectors]
        match self.embedding:
            case "short":
                return vectors[:-1]
            case "long":
                return [*vectors, vectors[-1]]
            case "nan":
                return [[float("nan"), *vector[1:]] for vector in vectors]
            case "zero":
                return [[0.0] * len(vector) for vector in vectors]
            case "none":
                return None
        return vectors
