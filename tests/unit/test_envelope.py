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
from tests.support.core import GROUP, OTHER, core, record, row_of

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


@pytest.mark.parametrize(
    "content",
    [
        "\x00",
        "a\x00b\x1b",
        "🌙" * CONTENT_MAX,
        "群" * CONTENT_MAX,
        "\x00" * CONTENT_MAX,
        '"\\' * (CONTENT_MAX // 2),
        "'; drop",
        "line\r\nline\u2028line",
        "</mem>",
        "e\u0301 é",
    ],
)
def test_odd_text_is_stored_as_given(content: str) -> None:
    stored = record(content, ID)
    row = row_of(stored)
    assert same(there_and_back(stored), stored)
    assert row.metadata["text"].isascii()
    assert len(row.metadata["text"]) <= ENVELOPE_MAX


def test_the_worst_memory_still_fits() -> None:
    rng = random.Random(7)

    def noise(count: int) -> str:
        return "".join(chr(rng.randrange(0x10000, 0x110000)) for _ in range(count))

    vector = [rng.gauss(0, 1) for _ in range(3072)]
    stored = record(
        noise(CONTENT_MAX),
        ID,
        scope=Scope.of_session("group_" + noise(100), bot_uuid="b" * 36),
        speaker=Speaker(noise(100), noise(200)),
        tags=tuple(noise(100) for _ in range(20)),
        vector=vector,
    )
    assert same(there_and_back(stored), stored)


def test_a_record_beyond_the_limit_is_refused_with_its_size() -> None:
    rng = random.Random(7)
    noise = "".join(chr(rng.randrange(0x10000, 0x110000)) for _ in range(20_000))
    with pytest.raises(StoreFailed, match="too_large"):
        encode(record("x", ID, tags=(noise,)))


@pytest.mark.parametrize("odd", ["\x00", "🌙", "a,b", '["x"]'])
async def test_the_strictest_store_takes_every_field(odd: str) -> None:
    memory = await core()
    stored = record(f"x{odd}", ID, speaker=Speaker("9001", odd), tags=(odd, "a,b"), source=odd)
    await memory.fill([stored])
    found = await memory.collection.records.find(GROUP.user_key, [ID])
    assert same(found[ID], stored)


def test_tags_with_commas_survive() -> None:
    stored = record("x", ID, tags=("a,b", "旅行，工作", "", '"'))
    back = there_and_back(stored)
    assert back is not None
    assert back.episode.tags == ("a,b", "旅行，工作", "", '"')


def test_times_are_written_in_utc() -> None:
    moment = datetime(2026, 5, 1, 10, tzinfo=timezone(timedelta(hours=8)))
    stored = record("x", ID, timestamp=moment)
    assert row_of(stored).metadata["timestamp"] == "2026-05-01T02:00:00Z"
    back = there_and_back(stored)
    assert back is not None
    assert back.episode.timestamp == moment


def test_the_promised_names_stand_beside_the_envelope() -> None:
    row = row_of(record("x", ID, tags=("work",), importance=4))
    assert row.metadata["episode_id"] == ID
    assert row.metadata["user_key"] == GROUP.user_key
    assert (row.metadata["importance"], row.metadata["status"]) == (4, "active")
    assert json.loads(row.metadata["tags"]) == ["work"]
    assert all(isinstance(v, (str, int, float, bool)) for v in row.metadata.values())


def test_a_record_without_status_counts_as_active() -> None:
    stored = record("x", ID)
    assert "status" not in json.loads(row_of(stored).metadata["text"])
    back = there_and_back(stored)
    assert back is not None
    assert back.episode.status is Status.ACTIVE


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


def test_the_forging_helper_alone_leaves_a_readable_row() -> None:
    assert decode(forged(), GROUP.user_key) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"user_key": OTHER.user_key},
        {"user_key": None},
        {"user_key": 1},
        {"scheme": 2},
        {"scheme": None},
        {"content": None},
        {"content": ""},
        {"content": 5},
        {"content": "x" * (CONTENT_MAX + 1)},
        {"episode_id": None},
        {"episode_id": "a0000001"},
        {"episode_id": "../x"},
        {"episode_id": "\ud800"},
        {"episode_id": ["k7m29xqd"]},
        {"version": None},
        {"version": 2},
        {"version": 0},
        {"version": -63},
        {"version": float("inf")},
        {"version": float("nan")},
        {"version": "1"},
        {"version": True},
        {"version": 65.5},
        {"status": "archived"},
        {"status": "weird"},
        {"importance": 9},
        {"importance": "high"},
        {"tags": "abc"},
        {"tags": [["x"]]},
        {"supersedes": [["k7m29xqd"]]},
        {"supersedes": [["k7m29xqd", float("inf")]]},
        {"timestamp": None},
        {"timestamp": "yesterday"},
        {"timestamp": "2026-05-01T10:00:00"},
        {"created_at": "2026-05-01"},
        {"vector": None},
        {"vector": "***"},
        {"vector": ""},
        {"vector": base64.b64encode(bytes(384)).decode()},
        {"model": None},
    ],
)
def test_a_forged_or_damaged_row_is_no_record(changes: dict[str, Any]) -> None:  # F9
    assert decode(forged(**changes), GROUP.user_key) is None


@pytest.mark.parametrize(
    "envelope",
    [
        None,
        "",
        "null",
        "[]",
        "{}",
        "5",
        "not json",
        "[" * 100_000,
        '{"scheme":1}',
        '{"packed":5}',
        '{"packed":"!"}',
        json.dumps({"packed": base64.b64encode(b"no zlib").decode()}),
        json.dumps({"packed": base64.b64encode(zlib.compress(b"null")).decode()}),
        json.dumps({"packed": base64.b64encode(zlib.compress(b"\xff\xfe")).decode()}),
        json.dumps({"packed": base64.b64encode(zlib.compress(b" " * 50_000_000)).decode()}),
    ],
)
def test_a_row_without_a_readable_envelope_is_no_record(envelope: str | None) -> None:  # F9
    assert decode(row_of(record("x", ID), text=envelope), GROUP.user_key) is None


def test_a_row_in_the_wrong_place_is_no_record() -> None:
    good = row_of(record("x", ID))
    hidden = file_id(GROUP.user_key, Visibility.HIDDEN, ID)
    other_shard = next(
        f for f in file_ids(GROUP.user_key, Visibility.RECALLED) if f != good.metadata["file_id"]
    )
    for row in (
        VectorRow("00000000-0000-0000-0000-000000000000", good.metadata),
        VectorRow("", good.metadata),
        VectorRow(good.id, {}),
        row_of(record("x", ID), file_id=hidden),
        row_of(record("x", ID), file_id=other_shard),
        row_of(record("x", ID), file_id=None),
    ):
        assert decode(row, GROUP.user_key) is None
    assert decode(good, OTHER.user_key) is None


def test_another_scope_cannot_pass_its_row_off_by_naming_ours() -> None:
    theirs = record("x", ID, scope=OTHER)
    data = json.loads(row_of(theirs).metadata["text"]) | {"user_key": GROUP.user_key}
    assert decode(row_of(theirs, text=json.dumps(data)), GROUP.user_key) is None
