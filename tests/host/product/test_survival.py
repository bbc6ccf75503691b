"""What outlives a restart of the host, a killed worker, an upgrade and an uninstallation."""

from __future__ import annotations

import os
import re
import signal
import threading
import zipfile
from pathlib import Path

from playground import packages, processes
from playground.host import wait_until
from playground.model_server import Call, Rule
from tests.support.talk import Chat, MemoryHost, Turn

OSLO = "Ann moves to Oslo in May"
ASKED = "When does Ann move to Oslo?"
GONE = "Ann sold her bicycle in Oslo in May"


def lived_in(memory: MemoryHost) -> Chat:
    """Return a group with a memory, a profile of each kind and something forgotten."""
    group = memory.group()
    group.remember(OSLO)
    forgotten = group.remember(GONE)
    group.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    group.tool("update_profile", {"field": "notes", "action": "add", "value": "this group plans moves"})
    group.tool("forget", {"episode_id": forgotten})
    return group


def check(group: Chat) -> None:
    """See that everything is as ``lived_in`` left it."""
    turn = group.say(ASKED)
    assert turn.records == [OSLO]
    assert turn.profile.count("vegetarian") == 1
    assert turn.profile.count("this group plans moves") == 1
    assert GONE not in turn.seen
    recalled = group.tool("recall_memory", {"query": GONE})
    assert OSLO in recalled
    assert GONE not in recalled
    assert GONE not in group.command("!memory list --all-statuses")
    other = group.memory.group(group.bot)
    assert other.say(ASKED).records == []


def test_everything_survives_a_restart_of_the_host(memory: MemoryHost) -> None:
    group = lived_in(memory)
    before = group.say(ASKED).profile
    host = memory.stage.host
    installed, port, running = host.installed_plugins(), host.port, {row.pid for row in host.processes()}
    if host.generation >= (4, 11):
        # As an out-of-memory kill would; the demo restarts this version in order.
        host.kill()
        assert not running & set(processes.table())
        host.start()
        memory.stage.api.login()
    else:
        memory.stage.restart()
    assert (host.installed_plugins(), host.port) == (installed, port)
    check(group)
    assert group.say(ASKED).profile == before, "byte-equal, so that prompt caches hold"
    group.remember("Bo stays in Bergen")
    assert group.say("Does Bo stay in Bergen?").records == ["Bo stays in Bergen"]


def test_a_worker_killed_in_the_middle_of_writes_loses_nothing_acknowledged(memory: MemoryHost) -> None:
    group = memory.group(memory.new_bot(reply_timeout=12))
    first = group.remember(OSLO)
    facts = [f"The parcel number {n} stands in room {n}" for n in range(24)]
    host = memory.stage.host
    mark = host.log_mark()
    memory.stage.models.script(
        Rule("store all", calls=[Call("remember", {"content": fact}) for fact in facts], parallel=True)
    )
    turns: list[Turn] = []
    talking = threading.Thread(target=lambda: turns.append(group.say("store all")))
    talking.start()
    enough = wait_until(lambda: len(written(host.log_since(mark))) >= 5 or None, 30, every=0.02)
    assert enough
    kill_worker(memory)
    acknowledged = written(host.log_since(mark))
    talking.join(60)
    memory.stage.api.wait_plugins(memory.plugin)
    wait_until(lambda: worker_pid(memory), 30)

    pages = "\n".join(group.command(f"!memory list {page}") for page in range(1, 4))
    for memory_id in [first, *acknowledged]:
        assert pages.count(f"[{memory_id}]") >= 1, memory_id
    # Doing it all again adds only what was missing.
    memory.stage.models.script(
        Rule("store all", calls=[Call("remember", {"content": fact}) for fact in facts], parallel=True)
    )
    again = memory.group(memory.new_bot(), group.id) if not turns else group
    again.say("store all")
    assert f"{len(facts) + 1} memories" in group.command("!memory list")


def test_an_upgrade_keeps_everything(memory: MemoryHost, tmp_path: Path) -> None:
    group = lived_in(memory)
    built = packages.build_product()
    with zipfile.ZipFile(built) as package:
        package.extractall(tmp_path)
    memory.stage.api.install(packages.build_folder(tmp_path, version="99.0.0"))
    check(group)
    memory.stage.api.install(built)
    check(group)


def test_an_uninstallation_keeps_the_data(memory_411: MemoryHost) -> None:
    """4.11 only: 4.10 at times takes an uninstalled worker for a crashed one and starts it again."""
    group = lived_in(memory_411)
    memory_411.stage.api.uninstall(memory_411.plugin)
    assert group.say(ASKED).reply == f"ECHO: {ASKED}", "the bot goes on without memory"
    memory_411.stage.install_product()
    check(group)


def written(log: str) -> list[str]:
    """Return the ids of the memories that the log says are stored."""
    return re.findall(r"\[LongTermMemory\] episode written: episode_id=([0-9a-z]{8})", log)


def worker_pid(memory: MemoryHost) -> int | None:
    """Return the process that runs the product. 4.10 does not tag its workers, but each stands in its package."""
    name = memory.plugin.partition("/")[2]

    def runs_it(pid: int) -> bool:
        manifest = Path(f"/proc/{pid}/cwd/manifest.yaml")
        try:
            return f"name: {name}\n" in manifest.read_text("utf-8")
        except OSError:
            return False

    pids = [row.pid for row in memory.stage.host.processes() if "langbot_plugin" in row.command]
    return next(filter(runs_it, pids), None)


def kill_worker(memory: MemoryHost) -> None:
    pid = worker_pid(memory)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: worker_pid(memory) not in (pid, None), 30), "the runtime starts a new one"
