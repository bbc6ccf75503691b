"""How rows, filters and batches look on the host's side."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..ports import FileIds, RowFilter, VectorRecord, VectorRow

__all__ = ["batches", "filters", "rows"]

BATCH_ROWS = 500
"""Rows per upsert; Chroma refuses more than about 5 400."""
BATCH_BYTES = 8 * 1024 * 1024
"""Estimated bytes per upsert; the SDK refuses messages above 16 MiB."""
FLOAT_BYTES = 26
"""Longest JSON form of one float and its separator, e.g. ``-1.2345678901234567e-05, ``."""


def filters(where: RowFilter) -> dict[str, Any]:
    """Return the filter as the host takes it: one key, equality or a non-empty ``$in``."""
    key = "file_id" if isinstance(where, FileIds) else "uuid"
    values = where.values
    return {key: values[0]} if len(values) == 1 else {key: {"$in": list(values)}}


def batches(records: Sequence[VectorRecord]) -> Iterator[list[VectorRecord]]:
    """Split rows so that each part is one message of the SDK and one statement of every backend."""
    batch: list[VectorRecord] = []
    size = 0
    for record in records:
        length = FLOAT_BYTES * len(record.vector) + len(record.id) + _json_length(record.document)
        for name, value in record.metadata.items():
            length += len(name) + 6 + (_json_length(value) if isinstance(value, str) else FLOAT_BYTES)
        if batch and (len(batch) == BATCH_ROWS or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += length
    if batch:
        yield batch


def _json_length(text: str) -> int:
    """Return at least the bytes that a text has as JSON; encoding it to know would cost as much as sending it."""
    if not text.isascii():
        return 12 * len(text) + 2  # an emoji becomes two escapes of six characters
    if not text.isprintable():
        return 6 * len(text) + 2
    return len(text) + text.count('"') + text.count("\\") + 2


def rows(answer: Any) -> list[VectorRow]:
    """Read the rows of an answer: a list, ``{"items", "total"}``, or items and total as a pair.

    What is no row becomes one without id and metadata, for the caller to count and drop.

    Raises:
        TypeError: it is none of these.
    """
    items = answer.get("items") if isinstance(answer, Mapping) else answer
    if isinstance(items, (list, tuple)) and len(items) == 2 and isinstance(items[0], (list, tuple)):
        items = items[0]
    if not isinstance(items, (list, tuple)):
        raise TypeError(f"rows expected, got {type(items).__name__}")
    return [_row(item) for item in items]


def _row(item: Any) -> VectorRow:
    if not isinstance(item, Mapping):
        return VectorRow(id="", metadata={})
    given = item.get("metadata")
    metadata: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    text = metadata.get("text")
    if not isinstance(text, str):
        text = item.get("document")
    if isinstance(text, str):
        metadata["text"] = _unescaped(text)
    ident, distance = item.get("id"), item.get("distance")
    number = isinstance(distance, (int, float)) and not isinstance(distance, bool) and math.isfinite(distance)
    return VectorRow(
        id=ident if isinstance(ident, str) else "",
        metadata=metadata,
        distance=float(distance) if number and distance is not None else None,
    )


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_ESCAPED = re.compile(r"\\(.)|''", re.DOTALL)


def _unescaped(text: str) -> str:
    r"""Undo what LangBot 4.10 does to strings on their way into SeekDB and not on the way back.

    There every backslash, quote and line break is stored escaped. What we write is a JSON object, which
    never starts with ``{\"``, so a text that does has been escaped; any other is left as it is.
    """
    if not text.startswith('{\\"'):
        return text
    return _ESCAPED.sub(lambda m: "'" if m[0] == "''" else _ESCAPES.get(m[1], m[1]), text)
