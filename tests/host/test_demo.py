"""The demo as a stranger runs it, once: a host of its own, since it restarts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from playground import processes
from playground.envs import ROOT, ensure


@pytest.mark.host
@pytest.mark.timeout(600)
def test_the_demo_proves_that_memory_works(tmp_path: Path) -> None:
    ensure("models")
    unwanted = ("SERVE", "OPENAI_API_KEY")
    environ = {key: value for key, value in os.environ.items() if key not in unwanted}
    # A proxy that leads nowhere: nothing of the demo may need it, or ask it for this machine.
    environ |= {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    played = subprocess.run(
        [sys.executable, "-m", "playground.demo", "--folder", str(tmp_path)],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        encoding="utf-8",
        timeout=580,
    )
    assert played.returncode == 0, played.stdout[-6_000:] + played.stderr
    assert "✗" not in played.stdout
    verdict = re.search(r"^Memory worked: (\d+) of (\d+) checks", played.stdout, re.MULTILINE)
    assert verdict and verdict[1] == verdict[2] and int(verdict[2]) >= 14
    assert (tmp_path / "transcript.txt").read_text("utf-8") == played.stdout
    # It shows what was injected, with scores, and what the tools answered.
    assert re.search(
        r"\[\w{8}\] score \d\.\d\d, 2027-05-12, Mina: The group decided to fly to Lisbon", played.stdout
    )
    assert re.search(r"tool +forget\(episode_id=(\w{8})\)\n +-> Deleted \1", played.stdout)
    assert "\x1b" not in played.stdout
    assert not processes.working_in(tmp_path, "langbot")
