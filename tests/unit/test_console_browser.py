"""The browser for the tests of the console's page is found, or it is said what to install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from playground import browser


def test_a_missing_browser_is_said_and_fetched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        return subprocess.CompletedProcess(command, 0, stdout="/nowhere/chrome\n")

    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(browser.BrowserMissing, match="install chromium"):
        browser.find()
    assert browser.main() == 1
    assert [sys.executable, "-m", "playwright", "install", "chromium"] in ran
    assert "install chromium" in capsys.readouterr().err


def test_the_one_that_is_named_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "chrome"
    monkeypatch.setenv("CHROMIUM", str(own))
    with pytest.raises(browser.BrowserMissing, match="is no program"):
        browser.find()
    own.write_text("#!/bin/sh\n", encoding="utf-8")
    own.chmod(0o755)
    assert browser.find() == str(own)
