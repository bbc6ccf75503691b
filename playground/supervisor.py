"""Keep one host process and everything it starts on a leash.

    python supervisor.py <folder> -- <command> [argument ...]

The driver holds the other end of our standard input. When that pipe closes, for whatever reason (the driver
stopped us, ended, crashed or was killed), the command and all its descendants are ended. On Linux the
supervisor is a
*subreaper*: processes whose parent dies become its children, so none escapes the tree. When the command ends
by itself, what it left running is ended as well and the supervisor exits with the command's code.

Run as a script (not with ``-m``): it must not depend on the current folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playground import processes

_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.2
_GRACE = 10.0
"""Seconds a host gets to close its databases before it is killed."""


class _Stopped(Exception):
    """A signal asked the supervisor to stop."""


def _on_signal(number: int, frame: FrameType | None) -> None:
    raise _Stopped


def _become_subreaper() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _driver_gone(leash: int) -> bool:
    """Wait a moment; True once the driver's end of the pipe is closed."""
    readable, _, _ = select.select([leash], [], [], _POLL)
    return bool(readable) and os.read(leash, 1024) == b""


def _end_everything(host: subprocess.Popen[bytes]) -> None:
    if host.poll() is None:
        # The host first and alone: it stops its plugin runtime in order and closes its databases.
        host.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            host.wait(_GRACE)
    # Killed parents hand their children to us, so look again until nothing is left.
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        left = processes.descendants(os.getpid())
        if not left:
            break
        processes.end([row.pid for row in left], grace=3.0)


def main(arguments: list[str]) -> int:
    """Supervise the command in *arguments*; returns its exit code (128+n for signal n)."""
    folder, command = Path(arguments[0]), arguments[2:]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _on_signal)
    _become_subreaper()
    leash = os.dup(0)
    host = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL)
    (folder / "host.pid").write_text(str(host.pid), encoding="utf-8")
    try:
        while host.poll() is None:
            if _driver_gone(leash):
                break
    except _Stopped:
        pass
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        _end_everything(host)
    code = host.returncode
    return code if code is not None and code >= 0 else 128 - (code or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
