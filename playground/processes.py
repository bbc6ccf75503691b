"""The process table, as much of it as stopping a host completely needs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One row of the process table."""

    pid: int
    parent: int
    command: str
    """Command line with spaces between the arguments; empty for a zombie."""


def table() -> dict[int, Process]:
    """Return the running processes by pid; zombies are left out, they hold nothing any more."""
    return _from_proc() if (_PROC / "self" / "stat").exists() else _from_ps()


def descendants(pid: int, processes: dict[int, Process] | None = None) -> list[Process]:
    """Return everything below *pid*, parents before children, without *pid* itself."""
    rows = table() if processes is None else processes
    children: dict[int, list[Process]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row)
    found: list[Process] = []
    todo = [pid]
    while todo:
        below = children.get(todo.pop(0), [])
        found += below
        todo += [row.pid for row in below]
    return found


def working_in(folder: Path, needle: str) -> list[Process]:
    """Return processes whose current folder is *folder* or below it and whose command line holds *needle*.

    Finds what an earlier run left behind after both the host and its supervisor were killed. Without
    ``/proc`` it finds nothing.
    """
    inside = os.path.realpath(folder)
    found = []
    for row in table().values():
        with contextlib.suppress(OSError):
            current = os.readlink(_PROC / str(row.pid) / "cwd").removesuffix(" (deleted)")
            if (current == inside or current.startswith(inside + os.sep)) and needle in row.command:
                found.append(row)
    return found


def alive(pid: int) -> bool:
    """Say whether *pid* runs (a zombie does not)."""
    return pid in table()


def end(pids: Iterable[int], *, grace: float = 5.0) -> None:
    """Ask *pids* to stop, wait up to *grace* seconds, then kill what is left and wait for that too."""
    left = set(pids)
    for sign, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, sign)
        deadline = time.monotonic() + seconds
        while left and time.monotonic() < deadline:
            _reap(left)
            left &= set(table())
            if left:
                time.sleep(0.05)


def _reap(pids: Iterable[int]) -> None:
    """Collect our own finished children; others are collected by their parents."""
    for pid in list(pids):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def _from_proc() -> dict[int, Process]:
    rows: dict[int, Process] = {}
    for entry in os.listdir(_PROC):
        if not entry.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError):
            # The command name in field 2 may hold spaces and brackets: count fields after the last one.
            fields = (_PROC / entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if fields[0] in "ZX":
                continue
            command = (
                (_PROC / entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            )
            rows[int(entry)] = Process(int(entry), int(fields[1]), command)
    return rows


def _from_ps() -> dict[int, Process]:
    listed = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,stat=,command="], capture_output=True, text=True, check=True
    ).stdout
    rows: dict[int, Process] = {}
    for line in listed.splitlines():
        pid, parent, state, command = [*line.split(None, 3), "", "", "", ""][:4]
        if not state.startswith("Z"):
            rows[int(pid)] = Process(int(pid), int(parent), command)
    return rows
