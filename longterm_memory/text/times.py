"""Reading times that people, models and files give, and writing them the one way we write them.

Inside, a time is a timezone-aware ``datetime`` in UTC. Accepted are ISO-8601 in its usual spellings (also
with ``/``,
``.`` or 年月日 between the parts, full-width digits, typographic dashes, fractions down to nanoseconds, an
offset or
``Z``) and epoch numbers in seconds, milliseconds, microseconds or nanoseconds, as numbers or as text. A time
without an offset is in the given zone, UTC by default. Years run from 1970 to 2200.

There is no clock in here, so no "tomorrow": relative dates are for whoever knows when they were said.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from ..errors import BadArgument

__all__ = [
    "BOUND_YEARS",
    "MOMENT_YEARS",
    "ago",
    "day",
    "iso",
    "parse_bound",
    "parse_moment",
    "parse_moment_or_none",
]

MOMENT_YEARS = (1970, 2200)
"""First and last year (UTC) of a time that gets stored."""

BOUND_YEARS = (1, 9998)
"""First and last year of a filter bound: it is only compared, so "before 2999-01-01" is as good as any."""

_NOTHING = frozenset({"", "null", "none", "nil", "undefined", "n/a"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_MIN = 100_000_000
"""Smaller numbers (before March 1973) are years, days or counters sent by mistake, never epoch times."""

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—―−", "-"))
_PERIOD = re.compile(
    r"(?P<year>\d{4})(?:年)?"
    r"(?:[-/.]?(?<=[-/.年])(?P<month>\d{1,2})月?"
    r"(?:[-/.]?(?<=[-/.月])(?P<day>\d{1,2})日?)?)?"
)
_DATE = re.compile(r"\d[\d/.年月-]*日?")
_COMPACT = re.compile(r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)")
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):?(?P<minute>\d\d)(?::?(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,18}))?)?"
    r"\s*(?P<zone>Z|UTC|GMT|(?:UTC|GMT)?(?P<sign>[+-])(?P<off_hour>\d\d)(?::?(?P<off_minute>\d\d))?)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<whole>\d{1,30})(?:\.(?P<fraction>\d{1,18}))?")


def parse_moment(value: object, *, zone: tzinfo = UTC, parameter: str = "event_time") -> datetime:
    """Return the time that ``value`` names, in UTC.

    Args:
        value: text, an epoch number or a ``datetime``. A bare date, month or year means its first instant.
            The unit of an epoch number follows from its size: below 1e11 seconds, below 1e14 milliseconds,
            below 1e17 microseconds, else nanoseconds. ``20260501`` and ``2026`` are a date and a year, in
            text and as numbers.
        zone: zone of values that do not name one.
        parameter: name to use in the error.

    Raises:
        BadArgument: ``parameter``, when it names no time or one outside :data:`MOMENT_YEARS`.
    """
    found = _read(value, zone)
    if found is None or not MOMENT_YEARS[0] <= found[0].year <= MOMENT_YEARS[1]:
        raise _no_moment(parameter, MOMENT_YEARS)
    return found[0]


def parse_moment_or_none(
    value: object, *, zone: tzinfo = UTC, parameter: str = "event_time"
) -> datetime | None:
    """Return the time that ``value`` names, or ``None`` when it says that there is none.

    ``None``, blank text and the words that models send for it (``null``, ``none``, ``undefined`` …) are no
    time.

    Raises:
        BadArgument: ``parameter``, as :func:`parse_moment`.
    """
    if value is None or (isinstance(value, str) and _tidy(value).lower() in _NOTHING):
        return None
    return parse_moment(value, zone=zone, parameter=parameter)


def parse_bound(value: object, *, parameter: str, end: bool, zone: tzinfo = UTC) -> datetime:
    """Return a bound of a time filter (bounds are inclusive after, exclusive before).

    A bare date covers its whole day, a bare month or year all of it. Which side of it is meant depends on the
    filter:

    ===================  =========  =================================================
    filter               ``end``    ``2026-05-01`` becomes
    ===================  =========  =================================================
    recall, time_after   ``False``  ``2026-05-01T00:00Z``: that day is in
    recall, time_before  ``True``   ``2026-05-02T00:00Z``: that day is in
    delete, --before     ``False``  ``2026-05-01T00:00Z``: strictly before that day
    ===================  =========  =================================================

    Args:
        value: as for :func:`parse_moment`; a value with a time of day is taken as it stands.
        parameter: name to use in the error.
        end: whether a bare date means its end (the first instant after it) instead of its start.
        zone: zone of values that do not name one.

    Raises:
        BadArgument: ``parameter``, when it names no time or one outside :data:`BOUND_YEARS`; an
            empty value too, so that a broken option never turns into "no filter".
    """
    found = _read(value, zone)
    if found is None:
        raise _no_moment(parameter, BOUND_YEARS)
    return found[1] if end else found[0]


def _no_moment(parameter: str, years: tuple[int, int]) -> BadArgument:
    return BadArgument("parameter", parameter=parameter, expected="moment", first=years[0], last=years[1])


def iso(moment: datetime) -> str:
    """Return a time as ``2025-03-16T12:00:00Z``: UTC, whole seconds (fractions are dropped).

    Raises:
        ValueError: the time has no zone.
    """
    return f"{_utc(moment).replace(microsecond=0, tzinfo=None).isoformat()}Z"


def day(moment: datetime, zone: tzinfo = UTC) -> str:
    """Return the date of a time in ``zone`` as ``2025-03-16``.

    Raises:
        ValueError: the time has no zone.
    """
    return _utc(moment).astimezone(zone).date().isoformat()


def ago(moment: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """Return a compact hint how long ago a time is, by calendar days of ``zone``.

    ``today``, ``1d ago`` … ``13d ago``, ``2w ago`` … ``8w ago``, ``2mo ago`` … ``23mo ago``, ``2y ago`` …; a
    later day than today is ``ahead``.

    Raises:
        ValueError: a time has no zone.
    """
    days = (_utc(now).astimezone(zone).date() - _utc(moment).astimezone(zone).date()).days
    if days < 0:
        return "ahead"
    if days == 0:
        return "today"
    if days < 14:
        return f"{days}d ago"
    if days < 63:
        return f"{days // 7}w ago"
    if days < 730:
        return f"{int(days / 30.44)}mo ago"
    return f"{days // 365}y ago"


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment.astimezone(UTC)


def _tidy(text: str) -> str:
    """Full-width digits and signs as ASCII, every dash as ``-``, single spaces, no quotes around."""
    plain = unicodedata.normalize("NFKC", text).translate(_DASHES)
    return " ".join(plain.split()).strip("\"'`“”‘’ ")


def _read(value: object, zone: tzinfo) -> tuple[datetime, datetime] | None:
    """Return the first instant that ``value`` names and the first after it, in UTC; ``None`` if none."""
    try:
        if isinstance(value, datetime):
            moment = (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
            return moment, moment
        if isinstance(value, str):
            return _read_text(_tidy(value), zone)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # repr() keeps what was sent; infinities, NaN, negative and astronomic numbers match no pattern.
            return _read_text(f"{value:.9f}" if isinstance(value, float) else str(value)[:40], zone)
    except (ValueError, OverflowError):  # month 13, 30 February, 25:00, an offset of 99 h, beyond year 9998
        return None
    return None


def _read_text(text: str, zone: tzinfo) -> tuple[datetime, datetime] | None:
    number = _NUMBER.fullmatch(text)
    if number and int(number["whole"]) >= _EPOCH_MIN:
        moment = _epoch(int(number["whole"]), number["fraction"] or "")
        return moment, moment
    if number and number["fraction"] and not number["fraction"].strip("0"):
        text = number["whole"]  # 2099.0 and 20260501.0: whole numbers that went through a float
    date, clock = _split(text)
    period = _COMPACT.fullmatch(date) or _PERIOD.fullmatch(date)
    if period is None:
        return None
    year, month, day_ = (int(period[part] or 0) for part in ("year", "month", "day"))
    if not BOUND_YEARS[0] <= year <= BOUND_YEARS[1]:
        return None
    if clock:
        time_ = _CLOCK.fullmatch(clock)
        if time_ is None or not day_:
            return None
        moment = _at(year, month, day_, time_, zone)
        return moment, moment
    first = datetime(year, month or 1, day_ or 1, tzinfo=zone)
    if day_:
        after = first + timedelta(days=1)
    elif month:
        after = first.replace(year=year + month // 12, month=month % 12 + 1)
    else:
        after = first.replace(year=year + 1)
    return first.astimezone(UTC), after.astimezone(UTC)


def _split(text: str) -> tuple[str, str]:
    """Split date and time of day, which ``T``, a space or 日 keeps apart."""
    date = _DATE.match(text)
    if date is None:
        return text, ""
    return date[0], text[date.end() :].lstrip("Tt ")


def _at(year: int, month: int, day_: int, clock: re.Match[str], zone: tzinfo) -> datetime:
    micro = int((clock["fraction"] or "")[:6].ljust(6, "0"))
    if clock["sign"]:
        offset = timedelta(hours=int(clock["off_hour"]), minutes=int(clock["off_minute"] or 0))
        zone = timezone(-offset if clock["sign"] == "-" else offset)
    elif clock["zone"]:
        zone = UTC
    return datetime(
        year, month, day_, int(clock["hour"]), int(clock["minute"]), int(clock["second"] or 0), micro, zone
    ).astimezone(UTC)


def _epoch(whole: int, fraction: str) -> datetime:
    """Seconds, milli-, micro- or nanoseconds since 1970, told apart by size (each from March 1973 on)."""
    for limit, digits in ((10**11, 0), (10**14, 3), (10**17, 6), (10**20, 9)):
        if whole < limit:
            micro = int(f"{whole}{fraction.ljust(6, '0')[:6]}") // 10**digits
            return _EPOCH + timedelta(microseconds=micro)
    raise OverflowError
