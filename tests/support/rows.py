"""Rows as the record layer writes them, with contents that tests can predict."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from uuid import NAMESPACE_URL, uuid5

from longterm_memory.ports import VectorRecord

DIMENSION = 384


def file_id(scope: str) -> str:
    """Return an opaque key of a scope: lowercase hex."""
    return hashlib.sha256(scope.encode()).hexdigest()[:40]


def row_id(name: str) -> str:
    """Return a lowercase dashed UUID."""
    return str(uuid5(NAMESPACE_URL, name))


def at_cosine(cosine: float) -> list[float]:
    """Return a unit vector with that cosine to the first axis."""
    return [cosine, math.sqrt(1.0 - cosine * cosine)] + [0.0] * (DIMENSION - 2)


def spread(seed: str) -> list[float]:
    """Return a unit vector that depends on the seed alone."""
    raw = hashlib.shake_256(seed.encode()).digest(DIMENSION)
    values = [byte - 127.5 for byte in raw]
    length = math.sqrt(sum(v * v for v in values))
    return [v / length for v in values]


def row(scope: str, name: str, vector: list[float] | None = None, text: str | None = None) -> VectorRecord:
    """Return one row of a scope; ``text`` is a small JSON envelope with everything that gets escaped."""
    ident = row_id(f"{scope}/{name}")
    envelope = json.dumps({"scope": scope, "name": name, "content": 'it\'s "quoted" \\ 记忆\n\t🙂'})
    return VectorRecord(
        id=ident,
        vector=vector or spread(ident),
        metadata={
            "file_id": file_id(scope),
            "uuid": ident,
            "text": envelope if text is None else text,
            "user_key": scope,
            "episode_id": name,
            "importance": 2,
            "weight": 0.5,
            "pinned": True,
        },
        document=f"memory {name} 记忆",
    )


def rows(scope: str, number: int) -> list[VectorRecord]:
    """Return rows ``0 … number - 1`` of a scope."""
    return [row(scope, str(i)) for i in range(number)]


def ids(records: Iterable[VectorRecord]) -> set[str]:
    """Return the row ids."""
    return {record.id for record in records}


def with_metadata(record: VectorRecord, **fields: object) -> VectorRecord:
    """Return the row with metadata fields changed; ``None`` removes one. Nothing is checked."""
    metadata = {k: v for k, v in {**record.metadata, **fields}.items() if v is not None}
    return replace(record, metadata=metadata)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Columns:
    """Rows as the arguments of the host's ``vector_upsert``."""

    vectors: list[list[float]]
    ids: list[str]
    metadata: list[dict[str, object]]
    documents: list[str]

    @classmethod
    def of(cls, *records: VectorRecord) -> Columns:
        """Return the columns of some rows."""
        return cls(
            [list(r.vector) for r in records],
            [r.id for r in records],
            [dict(r.metadata) for r in records],
            [r.document for r in records],
        )
