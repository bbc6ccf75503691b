"""Files of all shapes and encodings, read into rows."""

from __future__ import annotations

import codecs
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from longterm_memory.errors import BadArgument
from longterm_memory.transfer.formats import Parsed, read_file

PLAIN = {"user_key": "b-01:group_77001", "content": "阿明喜欢香菜", "tags": ["food"]}


def contents(parsed: Parsed) -> list[Any]:
    return [row.value["content"] if isinstance(row.value, dict) else row.value for row in parsed.episodes]


def read(text: str) -> Parsed:
    return read_file(text.encode())


# ------------------------------------------------------------ shapes

MEM0 = {
    "id": "9c1e",
    "memory": "Mina is allergic to nuts",
    "hash": "h",
    "user_id": "9001",
    "created_at": "2024-07-20T01:30:36.275141-07:00",
    "updated_at": None,
    "metadata": {"category": "health", "session_name": "group_77001", "bot_uuid": "b-01"},
    "categories": ["food"],
}
LANCEDB = {
    "id": "7",
    "text": "Tao prefers the window seat",
    "vector": [0.1],
    "category": "preference",
    "scope": "user:9002",
    "importance": 0.75,
    "timestamp": 1777600000000,
    "metadata": '{"session_name": "group_77001"}',
}
PROFILE = {"type": "session", "scope_key": "b-01:group_77001", "profile": {"notes": "tea at four"}}

SHAPES: dict[str, tuple[object, str, list[str], int]] = {
    "list": ([PLAIN], "longtermmemory", ["阿明喜欢香菜"], 0),
    "object": (PLAIN, "longtermmemory", ["阿明喜欢香菜"], 0),
    "episodes": ({"episodes": [PLAIN, PLAIN]}, "longtermmemory", ["阿明喜欢香菜"] * 2, 0),
    "both": ({"episodes": [PLAIN], "profiles": [PROFILE]}, "longtermmemory", ["阿明喜欢香菜"], 1),
    "profiles": ({"profiles": [PROFILE, PROFILE]}, "plain", [], 2),
    "profiles in a list": ([PLAIN, PROFILE], "longtermmemory", ["阿明喜欢香菜"], 1),
    "one profile": (PROFILE, "plain", [], 1),
    "mem0": ({"results": [MEM0]}, "mem0", ["Mina is allergic to nuts"], 0),
    "mem0 list": ([MEM0, MEM0 | {"id": "2"}], "mem0", ["Mina is allergic to nuts"] * 2, 0),
    "mem0 text": ([{"text": "likes tea", "user_id": "9001"}], "mem0", ["likes tea"], 0),
    "lancedb": (
        {"version": "1.0", "memories": [LANCEDB]},
        "memory-lancedb",
        ["Tao prefers the window seat"],
        0,
    ),
    "mixed": (
        [1, "a", None, PLAIN, MEM0],
        "longtermmemory",
        [1, "a", None, "阿明喜欢香菜", MEM0["memory"]],
        0,
    ),
    "nothing": ([], "plain", [], 0),
    "empty object": ({}, "plain", [], 0),
}


def test_every_shape_is_told_by_its_fields() -> None:
    for name, (value, format_, found, profiles) in SHAPES.items():
        parsed = read(json.dumps(value, ensure_ascii=False, indent=1))
        assert (parsed.format, contents(parsed), len(parsed.profiles)) == (format_, found, profiles), name
        assert [row.line for row in parsed.episodes] == [
            n for n, v in enumerate(value if isinstance(value, list) else found, 1) if v is not PROFILE
        ], name
        assert not parsed.exact


def test_foreign_fields_become_ours() -> None:
    row = read(json.dumps([MEM0])).episodes[0].value
    assert row == {
        "id": "9c1e",
        "content": "Mina is allergic to nuts",
        "tags": ["food", "health"],
        "timestamp": MEM0["created_at"],
        "created_at": MEM0["created_at"],
        "sender_id": "9001",
        "session_name": "group_77001",
        "bot_uuid": "b-01",
    }
    row = read(json.dumps({"memories": [LANCEDB]})).episodes[0].value
    assert row == {
        "id": "7",
        "content": "Tao prefers the window seat",
        "tags": ["preference"],
        "importance": 4,
        "timestamp": 1777600000000,
        "created_at": 1777600000000,
        "sender_id": "9002",
        "session_name": "group_77001",
    }
    ends = [{"text": "x", "importance": i, "scope": "agent:main"} for i in (0, 1, 3, "high")]
    rows = [r.value for r in read(json.dumps({"memories": ends})).episodes]
    assert [r["importance"] for r in rows if isinstance(r, dict)] == [1, 5, 3, "high"]
    assert isinstance(rows[0], dict)
    assert rows[0]["tags"] == ["agent:main"]


def test_every_encoding_reads_the_same() -> None:
    text = json.dumps([PLAIN], ensure_ascii=False)
    bare = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
    files = [text.encode(name) for name in bare] + [codecs.BOM_UTF16_BE + text.encode("utf-16-be")]
    files.append("- 阿明喜欢香菜".encode("utf-16-le"))
    assert all(contents(read_file(data)) == ["阿明喜欢香菜"] for data in files)


def test_json_lines_keep_their_line_numbers() -> None:
    odd = json.dumps({"content": "a\u2028b"}, ensure_ascii=False)
    parsed = read(f'{json.dumps(PLAIN)}\n\n{{"content": "br\r\n{odd}\n{json.dumps(PROFILE)}\n17\n')
    assert [(row.line, row.problem is not None) for row in parsed.episodes] == [
        (1, False),
        (3, True),
        (4, False),
        (6, False),
    ]
    assert contents(parsed)[2] == "a\u2028b"
    assert [row.line for row in parsed.profiles] == [5]


def test_parts_put_behind_one_another_are_one_file() -> None:
    part = '{"format":"longtermmemory","version":1,"episodes":[\n{"content":"a"},\n{"content":"b"}\n]}\n'
    parsed = read(part + "\n" + part)
    assert contents(parsed) == ["a", "b", "a", "b"]
    assert [row.line for row in parsed.episodes] == [1, 2, 3, 4]
    assert parsed.exact
    assert not read(part + '[{"content":"c"}]').exact


RUBBISH: dict[bytes, str] = {
    b"": "file_unreadable",
    b"x": "file_unreadable",
    b'"x"': "file_unreadable",
    b"17": "file_unreadable",
    b"null": "file_unreadable",
    b"[1, 2": "file_damaged",
    b'{"episodes": [{"content": "a"},\n {"content": ': "file_damaged",
    b'{"format":"longtermmemory","version":1,"episodes":[\n{"content":"a"},\n{"content":"b"},\n{"con': "file_damaged",
    b'[{"content": "a"}] [1': "file_damaged",
    b"\xff\xfe\x00": "file_unreadable",
    b"\xd6\xd0\xce\xc4": "file_unreadable",
    codecs.BOM_UTF8: "file_unreadable",
    b'{"format":"longtermmemory","version":2,"episodes":[]}': "file_newer",
    b'{"format":"longtermmemory","episodes":[]}': "file_unreadable",
    b'{"format":"longtermmemory","version":"1","episodes":[]}': "file_unreadable",
    b"[" * 100_000: "file_unreadable",
    b'[{"content": "a", "importance": ' + b"9" * 5_000 + b"}]": "file_unreadable",
}


def test_rubbish_is_refused_and_named() -> None:
    for data, reason in RUBBISH.items():
        with pytest.raises(BadArgument) as caught:
            read_file(data)
        assert caught.value.reason == reason, data[:40]
    with pytest.raises(BadArgument) as caught:
        read('{"episodes": [\n  {"content": "a"},\n  {"content" 5}]}')
    assert caught.value.details == {"line": 3, "column": 14}


# ------------------------------------------------------------ Markdown

MEMORY_MD = """---
title: notes
---
# MEMORY.md

Kept by the bot.

---

## Preferences

- Mina likes **green** tea
  and drinks it at four
- 阿明
  不喜欢香菜
* Trip to Oslo
  - hotel: Bristol
    - room 12
  - flight on Friday

  Second paragraph of the trip.
1. Numbered
- [x] renewed the pass

<!-- a comment
- not a memory -->

## 2026-05-01 Work & plans

- Release went out
- 2026-05-03 10:00: hotfix

### Details ###

A paragraph
over two lines.

> quoted words

```
- code, not a bullet
# nor a heading
```

## May 4, 2026

- party
-

---

## 2026年6月

+ 搬家
"""


def test_a_memory_md_becomes_memories_with_tags_and_dates() -> None:
    parsed = read(MEMORY_MD)
    rows = [(r.line, r.value) for r in parsed.episodes if isinstance(r.value, dict)]
    assert [(line, row["content"], row["tags"]) for line, row in rows] == [
        (6, "Kept by the bot.", []),
        (12, "Mina likes **green** tea and drinks it at four", ["Preferences"]),
        (14, "阿明不喜欢香菜", ["Preferences"]),
        (
            16,
            "Trip to Oslo\n- hotel: Bristol\n- room 12\n- flight on Friday\n\nSecond paragraph of the trip.",
            ["Preferences"],
        ),
        (22, "Numbered", ["Preferences"]),
        (23, "renewed the pass", ["Preferences", "done"]),
        (30, "Release went out", ["Work & plans"]),
        (31, "2026-05-03 10:00: hotfix", ["Work & plans"]),
        (35, "A paragraph over two lines.", ["Work & plans", "Details"]),
        (38, "quoted words", ["Work & plans", "Details"]),
        (40, "```\n- code, not a bullet\n# nor a heading\n```", ["Work & plans", "Details"]),
        (47, "party", []),
        (54, "搬家", []),
    ]
    times = {row["content"]: row.get("timestamp") for _, row in rows}
    assert times["Mina likes **green** tea and drinks it at four"] is None
    assert times["Release went out"] == times["quoted words"] == datetime(2026, 5, 1, tzinfo=UTC)
    assert times["2026-05-03 10:00: hotfix"] == datetime(2026, 5, 3, 10, tzinfo=UTC)
    assert times["party"] == datetime(2026, 5, 4, tzinfo=UTC)
    assert times["搬家"] == datetime(2026, 6, 1, tzinfo=UTC)


def test_markdown_in_other_hands() -> None:
    parsed = read(
        "Facts\n=====\n\n* one\n\n# Second\n- two\n\nMore\n----\n- three\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    assert [(r.value["content"], r.value["tags"]) for r in parsed.episodes if isinstance(r.value, dict)] == [
        ("one", ["Facts"]),
        ("two", ["Second"]),
        ("three\n| a | b |\n| 1 | 2 |", ["Second", "More"]),
    ]
    assert contents(read("- a\r\n- b\r\n")) == ["a", "b"]
    assert contents(read("# only a title")) == []


def test_files_that_are_made_to_take_long_do_not() -> None:
    long = 200_000
    nasty = [
        "# " + " \t" * long + "x",
        "-" + " " * long + "x",
        "|" * long + "x",
        "- x\n" + "<!--" * long,
        "- x\n-->" + "<!--" * long,
        "* " * long + "x",
        "- [k7m29xqd · " + "(" * long + "]",
        "- x\n  [k7m29xqd · 2026-01-01 · " + " (a" * 3_000 + "]",
        "- x\n" + ">" * long,
        "a line of a paragraph without an end\n" * long,
        "".join(f"{' ' * n}- {n}\n" for n in range(1_000)),
    ]
    for text in nasty:  # gone over again for each of its characters, one of them would take hours
        assert len(read("- y\n" + text).episodes) >= 1
    for text in ("[" + "1," * 200_001 + "1]", '{"a":1}\n' * 200_002):
        with pytest.raises(BadArgument, match="file_too_many"):
            read(text)
