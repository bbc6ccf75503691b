"""The process that holds engine and plugin is killed again and again while it writes and changes memories."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest

from playground.engines.backends import ENVIRONMENTS
from playground.envs import ROOT, python_of
from tests.support.change_worker import LOOK
from tests.support.real_engines import Engine, SharedEngines

pytestmark = pytest.mark.engine

LIVES = 6


class Worker:
    """The process that makes those that are killed."""

    def __init__(self, engine: Engine, folder: Path, shared: SharedEngines) -> None:
        python = python_of(ENVIRONMENTS[engine.name]) if engine.name in ENVIRONMENTS else sys.executable
        arguments = [engine.name, str(folder), str(uuid4())]
        if engine.name == "pgvector":
            # The database server is not what is killed here; it outlives LangBot.
            arguments.append(shared.postgres().address)
        self._process = subprocess.Popen(
            [str(python), "-m", "tests.support.change_worker", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def look(self) -> list[list[object]]:
        """What a process finds."""
        self._begin(LOOK)
        found = self._heard()
        assert self._line() == ["gone"]
        return found[1]  # type: ignore[return-value]

    def killed(self, seed: str, seconds: float, part: float) -> tuple[list[list[object]], list[list[str]]]:
        """What a process found, and what it said until it was killed: after that many seconds, when a part of a
        change was done.
        """
        pid = self._begin(seed)
        _, found = self._heard()
        said: list[list[str]] = []
        heard: list[float] = []
        while not said or said[-1][0] != "try" or heard[-1] - heard[0] <= seconds:
            said.append(self._heard())  # type: ignore[arg-type]
            heard.append(time.monotonic())
        a_change = max((after - before for before, after in pairwise(heard[-9:])), default=0.01)
        time.sleep(part * a_change)
        os.killpg(pid, signal.SIGKILL)
        while (more := self._line()) != ["gone"]:
            said.append(more)
        return found, said  # type: ignore[return-value]

    def _begin(self, seed: str) -> int:
        assert self._process.stdin is not None
        print(seed, file=self._process.stdin, flush=True)
        word, pid = self._heard()
        assert word == "pid"
        return pid  # type: ignore[return-value]

    def _heard(self) -> list[object]:
        line = self._line()
        assert line != ["gone"], "it ended by itself; its error output says why"
        return line

    def _line(self) -> list:  # type: ignore[type-arg]
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process that makes them is gone"
        return json.loads(line)  # type: ignore[no-any-return]


@pytest.mark.check("killed")
@pytest.mark.timeout(600)
async def test_every_acknowledged_memory_is_there_once(
    engine: Engine, tmp_path: Path, shared_engines: SharedEngines
) -> None:
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    acknowledged: dict[str, set[tuple[str, str]]] = {}
    begun: set[str] = set()
    changes = 0

    def check(found: list[list[object]], life: int) -> dict[str, set[tuple[str, str]]]:
        now = {str(one): (str(content), str(status)) for one, content, status, _, _ in found}
        assert len(now) == len(found), (seed, life)
        for one, _, _, rows, same in found:
            assert (rows, same) == (1, True), (seed, life, one)
        for one, possible in acknowledged.items():
            assert now.get(one) in possible, (seed, life, one)
        # What was on its way when it was killed may be there or not.
        unknown = [now[one][0] for one in now.keys() - acknowledged.keys()]
        assert len(unknown) <= 1, (seed, life)
        assert set(unknown) <= begun, (seed, life)
        return {one: {state} for one, state in now.items()}

    with Worker(engine, tmp_path / "killed", shared_engines) as worker:
        for life in range(LIVES):
            found, said = worker.killed(f"{seed}-{life}", dice.uniform(0, 0.3), dice.random())
            acknowledged = check(found, life)
            begun = set()
            for word, one, content, status in said:
                if word == "done":
                    acknowledged[one] = {(content, status)}
                    begun.discard(content)
                    changes += 1
                elif one:
                    acknowledged[one] |= {(content, status)}
                else:
                    begun.add(content)
        check(worker.look(), LIVES)
    assert changes > LIVES
