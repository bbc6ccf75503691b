"""The browser for the tests of the Memory Console's page.

    python -m playground.browser        # finds one, or has Playwright fetch one; exit code 1 when neither works

Debian's chromium (``apt install chromium fonts-noto-cjk``) or any other one on the PATH is taken before the one that
Playwright fetches.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["FLAGS", "BrowserMissing", "find", "main"]

FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--lang=en-US")
"""The page under test is our own, and containers often run as root, where chromium's sandbox does not start."""

_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_HELP = (
    "no browser for the tests of the Memory Console: install chromium (on Debian: apt install chromium fonts-noto-cjk),"
    " or set CHROMIUM to the path of one"
)


class BrowserMissing(RuntimeError):
    """There is no browser; the message says what to install."""


def find() -> str:
    """Return the path of a chromium: that of ``CHROMIUM``, one on the PATH, or the one Playwright has fetched.

    Raises:
        BrowserMissing: there is none.
    """
    named = os.environ.get("CHROMIUM", "")
    if named and not shutil.which(named):
        raise BrowserMissing(f"CHROMIUM={named} is no program; {_HELP}")
    found = named or next((path for name in _COMMANDS if (path := shutil.which(name))), "") or _fetched()
    if not found:
        raise BrowserMissing(_HELP)
    return found


def _fetched() -> str:
    # In a process of its own: who asks may have an event loop running, which Playwright's plain API does not go with.
    asked = (
        "import playwright.sync_api as p\nwith p.sync_playwright() as it: print(it.chromium.executable_path)"
    )
    told = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=False
    ).stdout.strip()
    return told if Path(told).is_file() else ""


def main() -> int:
    """Make sure that there is a browser; returns the exit code."""
    try:
        find()
    except BrowserMissing:
        print("[browser] none found: Playwright fetches one", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
        try:
            find()
        except BrowserMissing as error:
            print(f"[browser] error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
