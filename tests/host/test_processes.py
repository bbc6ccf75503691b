"""Killed drivers and supervisors leave nothing behind that is in anybody's way: a host of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from playground import processes
from playground.envs import ROOT
from playground.host import wait_until


@pytest.mark.host
def test_no_process_outlives_a_killed_driver(tmp_path: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom playground.host import Host\n"
        "Host(Path(sys.argv[1])).start()\nprint('up', flush=True)\ntime.sleep(600)\n"
    )

    def drive() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, str(tmp_path)]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)

    def below(driver: subprocess.Popen[str]) -> list[processes.Process]:
        return processes.descendants(driver.pid)

    # The supervisor is killed with its driver: the host and its plugin runtime are left behind.
    driver = drive()
    assert wait_until(lambda: len(below(driver)) >= 3, 90)
    supervisor, *orphans = [row.pid for row in below(driver)]
    for pid in (supervisor, driver.pid):
        os.kill(pid, signal.SIGKILL)
    driver.wait()
    assert set(orphans) & set(processes.table())

    # It does not keep a new host from starting, and whose driver alone is killed leaves nothing.
    driver = drive()
    assert driver.stdout is not None
    assert driver.stdout.readline() == "up\n"
    assert not set(orphans) & set(processes.table())
    started = {row.pid for row in below(driver)}
    driver.kill()
    driver.wait()
    left = wait_until(lambda: not started & set(processes.table()), 30)
    assert left, [pid for pid in started if processes.alive(pid)]
