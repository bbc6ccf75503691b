"""Times that people, models and files give (case J1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.errors import BadArgument
from longterm_memory.text.times import ago, day, iso, parse_bound, parse_moment, parse_moment_or_none
from longterm_memory.words import explain

SHANGHAI = ZoneInfo("Asia/Shanghai")


def test_a_moment_is_read() -> None:
    for value, expected in (
        ("2026-05-01T10:00:00", "2026-05-01T10:00:00Z"), ("2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
        ("2026-05-01T10:00:00+08:00", "2026-05-01T02:00:00Z"),
        ("2026-05-01T10:00:00 +0800", "2026-05-01T02:00:00Z"),
        ("2026-05-01T10:00:00-05:30", "2026-05-01T15:30:00Z"),
        ("2026-05-01 10:00 GMT", "2026-05-01T10:00:00Z"),
        ("2026-05-01T10:00:00−08:00", "2026-05-01T18:00:00Z"),
        ("2026-05-01T10:00:00.123456789Z", "2026-05-01T10:00:00Z"),
        ("20260501T100000Z", "2026-05-01T10:00:00Z"), ("2026-05-01", "2026-05-01T00:00:00Z"),
        ("2026/05/01 9:05", "2026-05-01T09:05:00Z"), ("2026.05.01", "2026-05-01T00:00:00Z"),
        ("2026年5月1日", "2026-05-01T00:00:00Z"), ("2026年5月1日10:00", "2026-05-01T10:00:00Z"),
        ("２０２６－０５－０１", "2026-05-01T00:00:00Z"), ("2026—05—01", "2026-05-01T00:00:00Z"),
        ('"2026-05-01"', "2026-05-01T00:00:00Z"), ("20260501", "2026-05-01T00:00:00Z"),
        ("2026-05", "2026-05-01T00:00:00Z"), ("2099", "2099-01-01T00:00:00Z"),
        (1777600000, "2026-05-01T01:46:40Z"), ("1777600000", "2026-05-01T01:46:40Z"),
        ("１７７７６０００００", "2026-05-01T01:46:40Z"), (1777600000.75, "2026-05-01T01:46:40Z"),
        (1777600000123, "2026-05-01T01:46:40Z"), (1777600000123456789, "2026-05-01T01:46:40Z"),
        (datetime(2026, 5, 1, 10, tzinfo=timezone(timedelta(hours=8))), "2026-05-01T02:00:00Z"),
        (datetime(2026, 5, 1, 10), "2026-05-01T10:00:00Z"), ("1970-01-01", "1970-01-01T00:00:00Z"),
        ("2200-12-31T23:59:59Z", "2200-12-31T23:59:59Z"),
    ):  # fmt: skip
        assert iso(parse_moment(value)) == expected


def test_fractions_are_kept_to_microseconds() -> None:
    assert parse_moment("2026-05-01T10:00:00.123456789").microsecond == 123456
    assert parse_moment(1777600000123456789).microsecond == 123456
    assert parse_moment("1777600000.5").microsecond == 500000
    assert parse_moment("2026-05-01T10:00:00,5").microsecond == 500000


def test_a_time_without_a_zone_is_in_the_given_one() -> None:
    assert iso(parse_moment("2026-05-01T10:00", zone=SHANGHAI)) == "2026-05-01T02:00:00Z"
    assert iso(parse_moment("2026-05-01", zone=SHANGHAI)) == "2026-04-30T16:00:00Z"
    assert iso(parse_moment("2026-05-01T10:00Z", zone=SHANGHAI)) == "2026-05-01T10:00:00Z"
    assert iso(parse_moment(1777600000, zone=SHANGHAI)) == "2026-05-01T01:46:40Z"
    assert iso(parse_moment(datetime(2026, 5, 1, 10), zone=SHANGHAI)) == "2026-05-01T02:00:00Z"


UNUSABLE = (
    *("tomorrow", "yesterday 10:00", "01.05.2026", "5/1/2026", "202605", "9" * 10_000),
    *("2026-13-01", "2026-02-30", "2026-05-01T25:00", "2026-05-01T10:61", "2026-05-01T10:00+99:00"),
    *("2026-05T10:00", "1969-12-31", "2201-01-01", "2200-12-31T23:59:59-01:00", "1970-01-01T00:00+01:00"),
    *("0001-01-01T00:00:00+14:00", 0, 5, -1777600000, 1e30, 10**400, int("9" * 4000) ** 2),
    *(float("nan"), float("inf"), True, [], {"time": 1}, b"2026-05-01"),
)


def test_what_names_no_moment_is_an_error_that_says_what_is_expected() -> None:
    for value in UNUSABLE:
        for read in (parse_moment, parse_moment_or_none):
            with pytest.raises(BadArgument) as caught:
                read(value, parameter="when")
            assert caught.value.reason == "parameter"
            assert caught.value.details["parameter"] == "when"
            assert "2026-05-01T10:00:00Z" in explain("en_US", caught.value)


def test_nothing_is_no_moment() -> None:
    for value in (None, "", "  ", "null", "None", "n/a", '"null"', "　"):
        assert parse_moment_or_none(value) is None
        with pytest.raises(BadArgument):
            parse_moment(value)
        with pytest.raises(BadArgument):
            parse_bound(value, parameter="before", end=False)


def test_a_bare_date_as_a_bound_covers_its_day() -> None:
    for value, start, end in (
        ("2026-05-01", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"),
        ("2026-12-31", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2026-12", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("2026-05-01T10:00", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
        (1777600000, "2026-05-01T01:46:40Z", "2026-05-01T01:46:40Z"),
        ("2999-01-01", "2999-01-01T00:00:00Z", "2999-01-02T00:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z"),
        ("9998-12-31", "9998-12-31T00:00:00Z", "9999-01-01T00:00:00Z"),
    ):  # fmt: skip
        assert iso(parse_bound(value, parameter="p", end=False)) == start
        assert iso(parse_bound(value, parameter="p", end=True)) == end


def test_a_day_of_a_bound_is_a_day_of_its_zone_also_when_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start = parse_bound("2026-03-29", parameter="p", end=False, zone=berlin)
    end = parse_bound("2026-03-29", parameter="p", end=True, zone=berlin)
    assert end - start == timedelta(hours=23)


def test_a_bound_that_cannot_be_read_is_an_error() -> None:
    for value in ("9999-01-01", "0000-01-01", "--tag", "soon"):
        with pytest.raises(BadArgument) as caught:
            parse_bound(value, parameter="time_before", end=True)
        assert caught.value.details["parameter"] == "time_before"


def test_writing() -> None:
    moment = datetime(2025, 3, 16, 20, 0, 0, 999_999, tzinfo=SHANGHAI)
    assert iso(moment) == "2025-03-16T12:00:00Z"
    assert day(datetime(2025, 3, 16, 20, tzinfo=UTC), SHANGHAI) == "2025-03-17"
    assert day(datetime(2025, 3, 16, 20, tzinfo=UTC)) == "2025-03-16"
    for write in (iso, day):
        with pytest.raises(ValueError, match="without a zone"):
            write(datetime(2025, 3, 16))


def test_how_long_ago() -> None:
    for days, hint in (
        (0, "today"), (1, "1d ago"), (13, "13d ago"), (14, "2w ago"), (36, "5w ago"), (62, "8w ago"),
        (63, "2mo ago"), (250, "8mo ago"), (730, "2y ago"), (-1, "ahead"),
    ):  # fmt: skip
        now = datetime(2026, 5, 1, 12, tzinfo=UTC)
        assert ago(now - timedelta(days=days), now) == hint


def test_today_is_a_day_of_the_zone() -> None:
    now = datetime(2026, 5, 1, 1, tzinfo=UTC)
    evening = now - timedelta(hours=3)
    assert ago(evening, now) == "1d ago"
    assert ago(evening, now, SHANGHAI) == "today"
    assert ago(now + timedelta(hours=2), now) == "today"


@given(st.datetimes(datetime(1970, 1, 2), datetime(2200, 12, 30), timezones=st.timezones()))
def test_what_is_written_is_read_back(moment: datetime) -> None:
    assert parse_moment(iso(moment)) == moment.astimezone(UTC).replace(microsecond=0)
    offset = moment.utcoffset()
    assert offset is not None
    if not offset.seconds % 60:  # zones of long ago had seconds, which no text of a time has
        assert parse_moment(moment.isoformat()) == moment.astimezone(UTC)


@given(st.text(max_size=40) | st.floats() | st.integers() | st.none() | st.lists(st.integers()))
def test_nothing_crashes(value: object) -> None:
    for read in (lambda: parse_moment_or_none(value), lambda: parse_bound(value, parameter="p", end=True)):
        try:
            found = read()
        except BadArgument:
            continue
        assert found is None or found.tzinfo is UTC
