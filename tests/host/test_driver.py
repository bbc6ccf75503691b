"""The driver against real hosts: chat, triggers, kill. What it promises, every other host test relies on.

Restarts of a host are in ``product/test_survival.py``, around what has to survive them.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from playground.api import TaskError
from playground.host import wait_until
from playground.stage import Stage


def test_chats_answer_remember_their_history_and_keep_apart(host: Stage) -> None:
    bot = host.bot()
    assert bot.say("driver-alice", "good morning", name="Alice") == "ECHO: good morning"
    assert bot.say("driver-alice", "and again", name="Alice") == "ECHO: and again"
    assert "good morning" in host.models.chats[-1].text("user")
    assert bot.say("driver-g1", "I am Ann", "group", "ann", "Ann") == "ECHO: I am Ann"
    assert bot.say("driver-g1", "I am Bob", "group", "bob", "Bob") == "ECHO: I am Bob"
    assert "I am Ann" in host.models.chats[-1].text()
    assert bot.say("driver-g2", "who is here", "group", "bob", "Bob") == "ECHO: who is here"
    assert "I am Ann" not in host.models.chats[-1].text()


def test_group_without_trigger_is_not_answered(host_411: Stage) -> None:
    bot = host_411.bot(answer_all=False, reply_timeout=4)
    assert bot.send("driver-g3", "just talking", "group", "ann", "Ann").parts == []
    assert "ECHO" in bot.say("driver-g3", "ai are you there", "group", "ann", "Ann")


def test_killed_worker_comes_back(host_411: Stage) -> None:
    bot = host_411.bot()
    runner = "playground/MiniRunner"
    killed = host_411.host.kill_worker(runner)
    assert wait_until(lambda: host_411.host.worker_pid(runner) not in (None, killed), 30)
    host_411.api.wait_plugins(runner)
    assert bot.say("driver-worker", "still there?") == "ECHO: still there?"


def test_failed_installation_says_why(host_411: Stage, tmp_path: Path) -> None:
    package = tmp_path / "playground-Broken-0.1.0.lbpkg"
    with zipfile.ZipFile(package, "w") as content:
        content.writestr(
            "manifest.yaml", "metadata:\n  author: playground\n  name: Broken\n  version: 0.1.0\n"
        )
    with pytest.raises(TaskError):
        host_411.api.install(package)
