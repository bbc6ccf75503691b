"""Files of other products and of this one, read into rows: a small module a format, and a table that recognizes them.

=====================  ====================================================================================
file                   rows
=====================  ====================================================================================
JSON                   a list, one object, or an object with a list under one of :data:`CONTAINERS`, and
                       ``profiles``; several such documents behind one another are read one after the other
JSON Lines             an object a line; a line that is none is rejected with its number
Markdown               :mod:`.markdown`: bullets and paragraphs, headings as tags
=====================  ====================================================================================

An object is told by its fields (:data:`ROW_FORMATS`), so a list may be mixed. All of it in UTF-8 with or without
byte order mark, or UTF-16.
"""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import BadArgument
from .lancedb import LANCEDB
from .markdown import is_markdown, read_markdown
from .mem0 import MEM0
from .ours import FORMAT, PLAIN, VERSION, check_version, is_profile
from .rows import Parsed, RawRow, RowFormat

__all__ = ["CONTAINERS", "FORMAT", "ROWS_MAX", "ROW_FORMATS", "VERSION", "Parsed", "RawRow", "read_file"]

CONTAINERS = ("episodes", "memories", "results")
"""Keys under which an object may hold its list of memories."""

ROW_FORMATS: tuple[RowFormat, ...] = (PLAIN, MEM0, LANCEDB)
"""The first that fits an object reads it."""

ROWS_MAX = 200_000
"""Most rows of a file: one of 10 MB, the most that the host takes, has fewer if they say anything."""

_DAMAGED = (ValueError, RecursionError)


def read_file(data: bytes) -> Parsed:
    """Return the rows of a file.

    Raises:
        BadArgument: ``file_unreadable`` when it is of no format known here, ``file_damaged`` when it is JSON that
            breaks off or is broken, ``file_newer`` for an export of a newer plugin, ``file_too_many``.
    """
    text = _decoded(data).strip("\ufeff \t\r\n")
    if text[:1] not in ("{", "["):
        return _no_json(text)
    try:
        return _of_documents([json.loads(text)])
    except _DAMAGED:
        lines = _json_lines(text)
        return _of_lines(lines) if lines else _of_documents(list(_stream(text)))


def _decoded(data: bytes) -> str:
    encoding = "utf-8-sig"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif len(data) > 1 and not data[1] and data[0]:
        encoding = "utf-16-le"
    elif len(data) > 1 and not data[0] and data[1]:
        encoding = "utf-16-be"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as exc:
        raise BadArgument("file_unreadable", detail="not_text") from exc


def _no_json(text: str) -> Parsed:
    if is_markdown(text):
        return read_markdown(text)
    try:
        json.loads(text)
    except _DAMAGED as exc:
        raise BadArgument("file_unreadable", detail="no_json_no_markdown") from exc
    raise BadArgument("file_unreadable", detail="no_list_no_object")


def _json_lines(text: str) -> list[RawRow]:
    """Return the lines of a JSON Lines file, nothing when it is none: most of its lines have to be objects."""
    rows: list[RawRow] = []
    _not_too_many(text.count("\n"))
    # Not splitlines(): JSON may hold U+2028 and the like inside a text.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                rows.append(RawRow(number, json.loads(line)))
            except _DAMAGED:
                rows.append(RawRow(number, None, BadArgument("row_not_json")))
    objects = sum(isinstance(row.value, Mapping) for row in rows)
    return rows if len(rows) > 1 and objects * 2 >= len(rows) else []


def _stream(text: str) -> Iterator[Any]:
    """Yield JSON documents that stand behind one another, as the parts of an export do once put together."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as exc:
            raise BadArgument("file_damaged", line=exc.lineno, column=exc.colno) from exc
        except _DAMAGED as exc:
            raise BadArgument("file_unreadable", detail="not_json") from exc
        yield value
        while at < len(text) and text[at].isspace():
            at += 1


def _of_documents(documents: list[Any]) -> Parsed:
    parsed = Parsed()
    ours = [isinstance(d, Mapping) and check_version(d) for d in documents]
    parsed.exact = bool(ours) and all(ours)
    episodes: list[Any] = []
    profiles: list[Any] = []
    for document in documents:
        rows, kept, others = _rows(document)
        episodes += rows
        profiles += kept
        parsed.left_out |= {name: parsed.left_out.get(name, 0) + count for name, count in others.items()}
    _not_too_many(len(episodes) + len(profiles))
    _sort(parsed, [RawRow(n, value) for n, value in enumerate(episodes, 1)])
    parsed.profiles += [RawRow(n, value) for n, value in enumerate(profiles, 1)]
    return parsed


def _rows(document: Any) -> tuple[list[Any], list[Any], dict[str, int]]:
    """Return the rows and the profiles of one document, and how many entries its other lists have."""
    if isinstance(document, list):
        return document, [], {}
    if not isinstance(document, Mapping):
        raise BadArgument("file_unreadable", detail="no_list_no_object")
    lists = {name: value for name, value in document.items() if isinstance(value, list)}
    known = [name for name in (*CONTAINERS, "profiles") if name in lists]
    if not known:
        return ([document] if document else []), [], {}
    others = {name: len(value) for name, value in lists.items() if name not in known and value}
    rows = [row for name in CONTAINERS for row in lists.get(name, ())]
    return rows, lists.get("profiles", []), others


def _of_lines(lines: list[RawRow]) -> Parsed:
    parsed = Parsed()
    _sort(parsed, lines)
    return parsed


def _sort(parsed: Parsed, rows: list[RawRow]) -> None:
    """Tell profiles from episodes, and put the episodes into our field names."""
    formats: Counter[str] = Counter()
    for row in rows:
        if is_profile(row.value):
            parsed.profiles.append(row)
        elif isinstance(row.value, Mapping):
            known = next((f for f in ROW_FORMATS if f.fits(row.value)), PLAIN)
            formats[known.name] += 1
            value, left_out = known.read(row.value)
            parsed.episodes.append(row._replace(value=value, left_out=left_out))
        else:
            parsed.episodes.append(row)
    if formats:
        parsed.format = formats.most_common(1)[0][0]


def _not_too_many(rows: int) -> None:
    if rows > ROWS_MAX:
        raise BadArgument("file_too_many", rows=rows, limit=ROWS_MAX)
