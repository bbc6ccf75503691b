"""The driver against real hosts: chat, streaming, restart, kill. What it promises, every other host test
relies on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from playground import processes
from playground.api import TaskError
from playground.chat import Brain, add_agent, add_bot
from playground.envs import ROOT
from playground.host import Host, wait_until
from playground.model_server import Call, Rule
from playground.stage import Stage

LONG = "This reply is long enough to reach the reader in several pieces, as a model would send it. " * 3


def test_private_chat_answers_and_remembers_its_history(host: Stage) -> None:
    bot = host.bot()
    assert bot.say("driver-alice", "good morning", name="Alice") == "ECHO: good morning"
    assert bot.say("driver-alice", "and again", name="Alice") == "ECHO: and again"
    assert "good morning" in host.models.chats[-1].text("user")


def test_group_hears_two_people_and_keeps_groups_apart(host: Stage) -> None:
    bot = host.bot()
    assert bot.say("driver-g1", "I am Ann", "group", "ann", "Ann") == "ECHO: I am Ann"
    assert bot.say("driver-g1", "I am Bob", "group", "bob", "Bob") == "ECHO: I am Bob"
    assert "I am Ann" in host.models.chats[-1].text()
    assert bot.say("driver-g2", "who is here", "group", "bob", "Bob") == "ECHO: who is here"
    assert "I am Ann" not in host.models.chats[-1].text()


def test_group_without_trigger_is_not_answered(host: Stage) -> None:
    bot = host.bot(answer_all=False, reply_timeout=4)
    assert bot.send("driver-g3", "just talking", "group", "ann", "Ann").parts == []
    assert "ECHO" in bot.say("driver-g3", "ai are you there", "group", "ann", "Ann")


def test_streamed_reply_arrives_in_growing_snapshots(host: Stage) -> None:
    options = {"streaming": True} if host.host.generation >= (4, 11) else {}
    bot = host.bot(**options)
    host.models.script(Rule("talk", reply=LONG.strip()))
    reply = bot.send("driver-stream", "please talk")
    assert reply.text == LONG.strip()
    assert len(reply.texts) > 1
    assert all(later.startswith(text) for text, later in zip(reply.texts, reply.texts[1:], strict=False))


def test_scripted_tool_call_reaches_the_plugin(host: Stage) -> None:
    host.install("probe")
    bot = host.bot()
    host.models.script(Rule("use it", calls=[Call("probe_tool", {"value": "v"})], reply="it said {tool}"))
    assert "probed" in bot.say("driver-tool", "use it")
    assert "probe_tool" in host.models.chats[-1].tools


def test_agent_bound_bot_answers(host_411: Stage) -> None:
    agent = add_agent(host_411.api, Brain(llm=host_411.uuids.llm))
    bot = add_bot(host_411.api, agent, target_type="agent")
    assert bot.say("driver-agent", "hello agent") == "ECHO: hello agent"


def test_restart_keeps_data_and_brings_plugins_back(host: Stage) -> None:
    bot = host.bot()
    kept = bot.say("driver-restart", "before")
    installed = host.host.installed_plugins()
    host.restart()
    assert host.host.installed_plugins() == installed
    assert kept == "ECHO: before"
    assert bot.say("driver-restart", "after") == "ECHO: after"


def test_killed_worker_comes_back(host_411: Stage) -> None:
    bot = host_411.bot()
    runner = "playground/MiniRunner"
    killed = host_411.host.kill_worker(runner)
    back = wait_until(lambda: host_411.host.worker_pid(runner) not in (None, killed), 30)
    assert back
    host_411.api.wait_plugins(runner)
    assert bot.say("driver-worker", "still there?") == "ECHO: still there?"


def test_killed_host_starts_again_in_its_folder(host_411: Stage) -> None:
    bot = host_411.bot()
    before = {row.pid for row in host_411.host.processes()}
    host_411.host.kill()
    assert not before & set(processes.table())
    host_411.host.start()
    host_411.api.login()
    assert bot.say("driver-kill", "hello") == "ECHO: hello"


def test_failed_installation_says_why(host_411: Stage, tmp_path: Path) -> None:
    package = tmp_path / "playground-Broken-0.1.0.lbpkg"
    import zipfile

    with zipfile.ZipFile(package, "w") as content:
        content.writestr(
            "manifest.yaml", "metadata:\n  author: playground\n  name: Broken\n  version: 0.1.0\n"
        )
    with pytest.raises(TaskError):
        host_411.api.install(package)


@pytest.mark.host
def test_no_process_outlives_a_killed_driver(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom playground.host import Host\n"
        "Host(Path(sys.argv[1])).start()\nprint('up', flush=True)\ntime.sleep(600)\n"
    )

    def drive() -> subprocess.Popen[str]:
        driver = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert driver.stdout is not None
        assert driver.stdout.readline() == "up\n"
        return driver

    driver = drive()
    below = processes.descendants(driver.pid)
    assert any(row.command.endswith("-m langbot") for row in below)
    driver.kill()
    driver.wait()
    left = wait_until(lambda: not {row.pid for row in below} & set(processes.table()), 30)
    assert left, [row for row in below if processes.alive(row.pid)]

    # Worse: the supervisor is killed as well. What then stays behind must not keep a new host from starting.
    driver = drive()
    below = processes.descendants(driver.pid)
    supervisor = next(row.pid for row in below if "supervisor.py" in row.command)
    for pid in (supervisor, driver.pid):
        os.kill(pid, signal.SIGKILL)
    driver.wait()
    with Host(tmp_path) as host:
        assert host.running
        assert not {row.pid for row in below} & set(processes.table())
