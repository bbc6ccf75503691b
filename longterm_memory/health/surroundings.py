"""What the plugin runs in: its storage, the host's version, and packages that are known to break the host."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from ..errors import StorageFailed
from ..ports import Host, KeyValueStorage
from .report import Check
from .steps import Writes, detail, to_the_end
from .timing import Budget, Watch

__all__ = ["STORAGE_PREFIX", "SUPPORTED", "host", "packages", "storage"]

SUPPORTED = ("4.11.2", "4.10.11")
"""Versions of LangBot that every test runs on."""
STORAGE_PREFIX = "ltm/health/"
"""Start of the temporary storage key."""

_STORAGE_BREAKS = (2, 1)
"""With SQLAlchemy from 2.1 on, every write to plugin storage fails (seen with LangBot 4.11.2)."""
_STREAMING_BREAKS = {"openai": (3, 57), "litellm": (1, 110)}
"""From these versions on, together, the first streamed reply hangs the host."""


# ---------------------------------------------------------------- plugin storage


async def storage(values: KeyValueStorage, budget: Budget) -> Check:
    """Write a value, read it back, delete it, and see that it is gone; it is gone afterwards whatever happens."""
    key, writes = f"{STORAGE_PREFIX}{secrets.token_hex(16)}", Writes()
    try:
        return await _round_trip(values, key, writes)
    finally:
        await to_the_end(_removed(values, key, writes, budget.cleaning / 2), budget.cleaning)


async def _round_trip(values: KeyValueStorage, key: str, writes: Writes) -> Check:
    watch, value = Watch(), secrets.token_bytes(64)
    try:
        await writes.run(values.set(key, value))
    except StorageFailed as exc:
        culprit = _sqlalchemy()
        if culprit:
            return Check.of("storage", "sqlalchemy", version=culprit, detail=detail(exc))
        return Check.of("storage", "failed", detail=detail(exc))
    try:
        if await values.get(key) != value:
            return Check.of("storage", "differs")
    except StorageFailed as exc:
        return Check.of("storage", "unread", detail=detail(exc))
    try:
        await values.delete(key)
        if await values.get(key) is not None:
            return Check.of("storage", "kept")
    except StorageFailed as exc:
        return Check.of("storage", "kept", detail=detail(exc))
    return Check.of("storage", "ok", ms=watch.ms)


async def _removed(values: KeyValueStorage, key: str, writes: Writes, seconds: float) -> None:
    await writes.landed(seconds)
    # Nobody ever asks for this key again; what is wrong with the storage is in the report.
    with suppress(StorageFailed):
        await values.delete(key)


# ---------------------------------------------------------------- the host


async def host(known: Host) -> Check:
    """Look whether this version of LangBot is one that was tried."""
    found = (await known.version()).removeprefix("v")
    if not found:
        return Check.of("host", "silent", supported=", ".join(SUPPORTED))
    if found in SUPPORTED:
        return Check.of("host", "ok", version=found)
    return Check.of("host", "untested", version=found, supported=", ".join(SUPPORTED))


async def packages() -> Check:
    """Look for versions of the host's packages that are known to hang it.

    A plugin's worker runs on the host's Python, so it sees the packages of the host; in a container of its own
    it sees those that are there.
    """
    seen = {name: _installed(name) for name in ("sqlalchemy", "openai", "litellm")}
    if not any(seen.values()):
        return Check.of("packages", "unseen")
    if all(_numbers(seen[name]) >= least for name, least in _STREAMING_BREAKS.items()):
        return Check.of("packages", "streaming", **seen)
    return Check.of("packages", "ok", **seen)


def _sqlalchemy() -> str:
    """Return the version of SQLAlchemy when it is one that breaks plugin storage, else ``""``."""
    found = _installed("sqlalchemy")
    return found if _numbers(found) >= _STORAGE_BREAKS else ""


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, ``()`` for none: less than any."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()
