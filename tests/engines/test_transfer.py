"""Export and import on real engines, and imports that are cut off in the middle."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.models import KEPT_STATUSES, Episode, Filters, Status
from longterm_memory.records.keys import Visibility
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.service import MemoryService
from longterm_memory.transfer.exporting import document, to_json
from longterm_memory.transfer.importing import import_file
from tests.support.import_worker import HERE, bring_in, opened
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine

MINA, TAO = Speaker("9001", "Mina"), Speaker("9002", "Tao")
ROOT = Path(__file__).parents[2]


async def everything(service: MemoryService, scope: Scope = HERE) -> list[Episode]:
    store = service.episodes(await service.collection())
    return await store.select(scope.user_key, Filters(statuses=KEPT_STATUSES))


async def started(engine: Engine) -> MemoryService:
    service = MemoryService(engine.host)
    if await service.knowledge_bases.get() is None:
        await service.knowledge_base_created(engine.collection, {"embedding_model_uuid": "m"})
    return service


async def exported(engine: Engine) -> str:
    """The export that a freshly started plugin makes."""
    await engine.api.settle()
    service = await started(engine)
    profiles, _ = await service.profiles.list_profiles()
    return to_json(document(await everything(service), profiles))


@pytest.mark.parametrize("engine", ["chroma", "milvus"], indirect=True)
async def test_export_wipe_import_gives_the_same_bytes(engine: Engine) -> None:
    service = await started(engine)
    store = service.episodes(await service.collection())
    for text, who, more in (
        ("My flight is Tuesday", MINA, {"tags": ("a,b", "旅行"), "importance": 5}),
        ("My flight is Wednesday", MINA, {"tags": ("correction",)}),
        ("quotes \" \\ ' \x00 \u2028 😀", TAO, {"timestamp": datetime(2001, 2, 3, 4, 5, 6, 789, UTC)}),
        ("Mina plays chess", MINA, {}),
        ("😀" * 8_000, TAO, {}),
    ):
        await store.remember(HERE, EpisodeDraft(text, sender=who, **more))  # type: ignore[arg-type]
        await engine.api.settle()
    chess = next(e for e in await everything(service) if "chess" in e.content)
    await store.changes.set_status(HERE, chess.id, Status.ARCHIVED)
    for value in ("Osaka", "Berlin"):
        await service.profiles.update(
            HERE, MINA, field="traits", action="set", values=value, fact_key="city", target="session"
        )
    before = await exported(engine)
    assert {row["status"] for row in json.loads(before)["episodes"]} == {"active", "archived", "superseded"}
    service = await started(engine)
    await service.episodes(await service.collection()).delete_many(HERE, await everything(service))
    await service.profiles.delete(HERE)
    assert json.loads(await exported(engine))["episodes"] == []
    for accepted, profiles in ((5, 1), (0, 0)):
        service = await started(engine)
        report = await import_file(service, before.encode(), into=None, isolation=Isolation.SESSION)
        assert (report.accepted, report.profiles, report.rejected, report.error) == (
            accepted,
            profiles,
            (),
            None,
        )
        assert await exported(engine) == before


async def test_a_big_import_that_is_killed_twice_ends_with_every_row_once(tmp_path: Path) -> None:
    rows = [{"id": n, "content": f"note {n} of the long list", "sender_id": "9001"} for n in range(10_000)]
    (tmp_path / "file.json").write_text(json.dumps(rows))
    # The process is gone in the middle of a write.
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.support.import_worker", str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stdout is not None
        for line in worker.stdout:
            if int(line.split()[0]) >= 2_000:
                break
        await asyncio.sleep(0.05)
        worker.send_signal(signal.SIGKILL)
    finally:
        worker.kill()
        assert worker.wait() == -signal.SIGKILL
    # The next one is cancelled, as a call is whose caller went away.
    reached: list[int] = []
    async with opened(tmp_path) as service:
        running = asyncio.ensure_future(
            bring_in(service, tmp_path, progress=lambda done, _: reached.append(done))
        )
        while not reached or reached[-1] < 5_000:
            await asyncio.sleep(0.01)
            assert not running.done()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert 5_000 <= len(await everything(service)) < 10_000
    async with opened(tmp_path) as service:
        report = await bring_in(service, tmp_path)
        assert (report.accepted + report.skipped, report.remaining, report.ok) == (10_000, 0, True)
        assert report.skipped >= 5_000
        assert report.accepted > 0
        found = await everything(service)
        assert sorted(e.content for e in found) == sorted(str(row["content"]) for row in rows)
        records = (await service.collection()).records
        stored = [
            r
            for v in Visibility
            async for page in records.pages(records.cursor(HERE.user_key, v))
            for r in page.records
        ]
        # A scope of that size is read from its start again once it turns out to be large.
        assert len({record.row_id for record in stored}) == 10_000
