"""A process that is killed again and again while it edits, archives and restores memories on a real engine."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.records.keys import Visibility
from tests.support.change_worker import MINA
from tests.support.import_worker import HERE, opened

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]


def killed(folder: Path, seed: str, seconds: float) -> list[list[str]]:
    """What a process said until it was killed that long after its first change."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.support.change_worker", str(folder), seed],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stdout is not None
        said = [worker.stdout.readline()]
        time.sleep(seconds)
        worker.send_signal(signal.SIGKILL)
        said += worker.stdout.readlines()
    finally:
        worker.kill()
        assert worker.wait() == -signal.SIGKILL
    return [json.loads(line) for line in said if line.endswith("\n")]


async def test_killed_in_the_middle_of_changes_every_memory_is_there_once(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    async with opened(tmp_path) as service:
        store = service.episodes(await service.collection())
        for n in range(4):
            await store.remember(HERE, EpisodeDraft(f"memory number {n}", sender=MINA))
        found = await store.select(HERE.user_key, Filters(statuses=KEPT_STATUSES))
    acknowledged = {e.id: (e.content, str(e.status)) for e in found}
    changes = 0
    for life in range(2):
        possible = {one: {as_it_was} for one, as_it_was in acknowledged.items()}
        for word, one, content, status in killed(tmp_path, f"{seed}-{life}", dice.uniform(0.05, 0.6)):
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
    assert changes > 3
