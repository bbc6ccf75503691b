"""The envelope: what comes back is what was stored, and nothing foreign or forged is taken for ours."""

from __future__ import annotations

import base64
import json
import random
import zlib
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longterm_memory.errors import StoreFailed
from longterm_memory.models import CONTENT_MAX, Status
from longterm_memory.ports import VectorRow
from longterm_memory.records.envelope import ENVELOPE_MAX, Record, decode, encode
from longterm_memory.records.keys import VERSION_SLOTS, Visibility, file_id, file_ids, row_id, row_ids
from longterm_memory.scope import Scope, Speaker
from tests.support.core import GROUP, OTHER, core, numbered_id, record, row_of

ID = "k7m29xqd"


def there_and_back(stored: Record, keep: tuple[str, ...] = ("text", "file_id", "uuid")) -> Record | None:
    """Store and read a record on a backend that keeps only these fields."""
    row = row_of(stored)
    through_json = json.loads(json.dumps({k: row.metadata[k] for k in keep}))
    return decode(VectorRow(row.id, through_json), stored.episode.user_key)


def same(one: Record | None, two: Record) -> bool:
    return one is not None and (one.episode, one.version, one.model, one.vector.encode()) == (
        two.episode,
        two.version,
        two.model,
        two.vector.encode(),
    )


text = st.text(min_size=1, max_size=40)
label = st.text(max_size=20)


@given(
    content=text,
    tags=st.lists(label, max_size=4),
    importance=st.integers(1, 5),
    name=label,
    sender=label,
    source=label,
    status=st.sampled_from(Status),
    version=st.integers(1, 500),
    moment=st.datetimes(
        min_value=datetime(1970, 1, 2), max_value=datetime(2199, 1, 1), timezones=st.just(UTC)
    ),
)
@settings(max_examples=300)
def test_every_field_comes_back_equal(
    content: str,
    tags: list[str],
    importance: int,
    name: str,
    sender: str,
    source: str,
    status: Status,
    version: int,
    moment: datetime,
) -> None:
    stored = record(
        content,
        ID,
        speaker=Speaker(sender, name),
        version=version,
        tags=tuple(tags),
        importance=importance,
        source=source,
        status=status,
        timestamp=moment,
        superseded_by="a0000001",
        supersedes=(("b0000001", 3),),
        document_id=name,
        imported_episode_id=sender,
    )
    assert same(there_and_back(stored), stored)
    row = row_of(stored)
    assert same(decode(row, GROUP.user_key), stored)


def test_odd_text_is_stored_as_given() -> None:
    for content in (
        "\x00", "a\x00b\x1b", "🌙" * CONTENT_MAX, "群" * CONTENT_MAX, "\x00" * CONTENT_MAX,
        '"\\' * (CONTENT_MAX // 2), "line\r\nline\u2028line", "e\u0301 é",
    ):  # fmt: skip
        stored = record(content, ID)
        row = row_of(stored)
        assert same(there_and_back(stored), stored)
        assert row.metadata["text"].isascii()
        assert len(row.metadata["text"]) <= ENVELOPE_MAX


def test_the_worst_memory_still_fits_and_more_is_refused_with_its_size() -> None:
    rng = random.Random(7)

    def noise(count: int) -> str:
        return "".join(chr(rng.randrange(0x10000, 0x110000)) for _ in range(count))

    stored = record(
        noise(CONTENT_MAX),
        ID,
        scope=Scope.of_session("group_" + noise(100), bot_uuid="b" * 36),
        speaker=Speaker(noise(100), noise(200)),
        tags=tuple(noise(100) for _ in range(20)),
        vector=[rng.gauss(0, 1) for _ in range(3072)],
    )
    assert same(there_and_back(stored), stored)
    with pytest.raises(StoreFailed, match="too_large"):
        encode(record("x", ID, tags=(noise(20_000),)))


async def test_the_strictest_store_takes_every_field() -> None:
    memory = await core()
    odd = [
        record(
            f"x{o}", numbered_id(n), speaker=Speaker("9001", o), tags=(o, "a,b", "旅行，工作", ""), source=o
        )
        for n, o in enumerate(("\x00", "🌙", "a,b", '["x"]'))
    ]
    await memory.fill(odd)
    found = await memory.collection.records.find(GROUP.user_key, [r.episode.id for r in odd])
    assert all(same(found[stored.episode.id], stored) for stored in odd)


def test_the_promised_names_stand_beside_the_envelope() -> None:
    moment = datetime(2026, 5, 1, 10, tzinfo=timezone(timedelta(hours=8)))
    row = row_of(record("x", ID, tags=("work",), importance=4, timestamp=moment))
    assert row.metadata["episode_id"] == ID
    assert row.metadata["user_key"] == GROUP.user_key
    assert row.metadata["timestamp"] == "2026-05-01T02:00:00Z"  # in UTC
    assert (row.metadata["importance"], row.metadata["status"]) == (4, "active")
    assert json.loads(row.metadata["tags"]) == ["work"]
    assert all(isinstance(v, (str, int, float, bool)) for v in row.metadata.values())
    assert "status" not in json.loads(row.metadata["text"])  # one without counts as active


# ------------------------------------------------------------ a change


def test_a_change_keeps_every_other_field() -> None:
    stored = record("x", ID, tags=("a,b",), importance=5, source="import", document_id="d")
    changed = stored.changed(status=Status.ARCHIVED)
    assert changed.version == 2
    assert changed.row_id != stored.row_id
    assert changed.episode.model_copy(update={"status": Status.ACTIVE}) == stored.episode
    assert changed.vector is stored.vector
    assert row_of(changed).metadata["file_id"] != row_of(stored).metadata["file_id"]


def test_hidden_records_live_where_recall_does_not_search() -> None:
    for status in Status:
        where = Visibility.RECALLED if status is Status.ACTIVE else Visibility.HIDDEN
        place = row_of(record("x", ID, status=status)).metadata["file_id"]
        assert place == file_id(GROUP.user_key, where, ID)
        assert place in file_ids(GROUP.user_key, where)
    assert not set(file_ids(GROUP.user_key, Visibility.RECALLED)) & set(
        file_ids(GROUP.user_key, Visibility.HIDDEN)
    )


def test_every_version_has_its_row_among_the_rows_of_the_episode() -> None:
    rows = row_ids(GROUP.user_key, ID)
    assert len(set(rows)) == VERSION_SLOTS
    assert all(row_id(GROUP.user_key, ID, version) in rows for version in range(1, 200))


# ------------------------------------------------------------ what is not ours


def forged(**changes: Any) -> VectorRow:
    """A row of ours with something in its envelope changed; ``None`` removes a field."""
    data = json.loads(row_of(record("Mina's secret", ID)).metadata["text"])
    data = {k: v for k, v in {**data, **changes}.items() if v is not None}
    return row_of(record("Mina's secret", ID), text=json.dumps(data))


def test_a_forged_or_damaged_row_is_no_record() -> None:  # F9
    assert decode(forged(), GROUP.user_key) is not None  # the helper alone leaves a readable row
    for changes in (
        {"user_key": OTHER.user_key}, {"user_key": 1}, {"scheme": 2}, {"content": None}, {"content": ""},
        {"content": "x" * (CONTENT_MAX + 1)}, {"episode_id": None}, {"episode_id": "a0000001"},
        {"episode_id": "../x"}, {"episode_id": "\ud800"}, {"episode_id": ["k7m29xqd"]}, {"version": 2},
        {"version": 0}, {"version": float("nan")}, {"version": "1"}, {"version": 65.5},
        {"status": "archived"}, {"status": "weird"}, {"importance": 9}, {"importance": "high"},
        {"tags": "abc"}, {"supersedes": [["k7m29xqd"]]}, {"supersedes": [["k7m29xqd", float("inf")]]},
        {"timestamp": None}, {"timestamp": "yesterday"}, {"timestamp": "2026-05-01T10:00:00"},
        {"created_at": "2026-05-01"}, {"vector": None}, {"vector": "***"}, {"vector": ""},
        {"vector": base64.b64encode(bytes(384)).decode()}, {"model": None},
    ):  # fmt: skip
        assert decode(forged(**changes), GROUP.user_key) is None, changes


def test_a_row_without_a_readable_envelope_is_no_record() -> None:  # F9
    for envelope in (
        None, "", "null", "{}", "not json", "[" * 100_000, '{"scheme":1}', '{"packed":5}', '{"packed":"!"}',
        json.dumps({"packed": base64.b64encode(b"no zlib").decode()}),
        json.dumps({"packed": base64.b64encode(zlib.compress(b"null")).decode()}),
        json.dumps({"packed": base64.b64encode(zlib.compress(b"\xff\xfe")).decode()}),
        json.dumps({"packed": base64.b64encode(zlib.compress(b" " * 50_000_000)).decode()}),
    ):  # fmt: skip
        assert decode(row_of(record("x", ID), text=envelope), GROUP.user_key) is None


def test_a_row_in_the_wrong_place_is_no_record() -> None:
    good = row_of(record("x", ID))
    hidden = file_id(GROUP.user_key, Visibility.HIDDEN, ID)
    shards = set(file_ids(GROUP.user_key, Visibility.RECALLED)) - {good.metadata["file_id"]}
    # Another scope cannot pass its row off as ours by naming us.
    theirs = record("x", ID, scope=OTHER)
    data = json.loads(row_of(theirs).metadata["text"]) | {"user_key": GROUP.user_key}
    for row in (
        VectorRow("00000000-0000-0000-0000-000000000000", good.metadata),
        VectorRow("", good.metadata),
        VectorRow(good.id, {}),
        row_of(record("x", ID), file_id=hidden),
        row_of(record("x", ID), file_id=shards.pop()),
        row_of(record("x", ID), file_id=None),
        row_of(theirs, text=json.dumps(data)),
    ):
        assert decode(row, GROUP.user_key) is None
    assert decode(good, OTHER.user_key) is None
