"""A process that is killed again and again while it edits, archives and restores memories on a real engine."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.records.keys import Visibility
from tests.support.change_worker import MINA
from tests.support.import_worker import HERE, opened

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
LIVES = 12


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    arguments = [sys.executable, "-m", "tests.support.change_worker", str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(arguments, cwd=ROOT, **pipes) as started:  # type: ignore[call-overload]
        yield started
        started.stdin.close()


def killed(worker: subprocess.Popen[str], seed: str, seconds: float, part: float) -> list[list[str]]:
    """What a process said until it was killed: after that many seconds, when a part of a change was done."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    print(seed, file=worker.stdin, flush=True)
    word, pid = json.loads(worker.stdout.readline())
    assert word == "pid"
    said: list[list[str]] = []
    heard: list[float] = []
    for line in worker.stdout:
        said.append(json.loads(line))
        heard.append(time.monotonic())
        assert said[-1] != ["gone"], "it ended by itself; its error output says why"
        if said[-1][0] == "try" and heard[-1] - heard[0] > seconds:
            break
    a_change = max(after - before for before, after in pairwise(heard[-9:]))
    time.sleep(part * a_change)
    os.kill(pid, signal.SIGKILL)
    for line in worker.stdout:
        more = json.loads(line)
        if more == ["gone"]:
            return said
        said.append(more)
    raise AssertionError("the process that makes them is gone")


async def test_killed_in_the_middle_of_changes_every_memory_is_there_once(
    worker: subprocess.Popen[str], tmp_path: Path
) -> None:
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    async with opened(tmp_path) as service:
        store = service.episodes(await service.collection())
        for n in range(4):
            await store.remember(HERE, EpisodeDraft(f"memory number {n}", sender=MINA))
        found = await store.select(HERE.user_key, Filters(statuses=KEPT_STATUSES))
    acknowledged = {e.id: (e.content, str(e.status)) for e in found}
    changes = 0
    for life in range(LIVES):
        possible = {one: {as_it_was} for one, as_it_was in acknowledged.items()}
        for word, one, content, status in killed(
            worker, f"{seed}-{life}", dice.uniform(0, 0.1), dice.random()
        ):
            made = (content, status)
            possible[one] = {made} if word == "done" else possible[one] | {made}
            changes += word == "done"
        async with opened(tmp_path) as service:
            store = service.episodes(await service.collection())
            found = await store.select(HERE.user_key, Filters(statuses=KEPT_STATUSES))
            now = {e.id: (e.content, str(e.status)) for e in found}
            assert len(found) == len(now) == 4, (seed, life)
            for one, state in now.items():
                assert state in possible[one], (seed, life)
                shown = await store.find(HERE, one)
                assert (shown.content, str(shown.status)) == state, (seed, life)
            records = (await service.collection()).records
            rows = [
                record.episode.id
                for visibility in Visibility
                async for page in records.pages(records.cursor(HERE.user_key, visibility))
                for record in page.records
            ]
            assert sorted(rows) == sorted(now), (seed, life)
            acknowledged = now
    assert changes > LIVES
