"""The health check on every real vector database: it finds what was measured by hand, and leaves nothing."""

from __future__ import annotations

import pytest

from longterm_memory.health import Level, check_health
from longterm_memory.health.vector_store import USER_KEY_PREFIX
from longterm_memory.service import MemoryService
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine

METRIC = {
    "chroma": "l2",
    "seekdb": "cosine",
    "qdrant": "cosine",
    "pgvector": "cosine",
    "milvus": "similarity",
}
PLAIN_FILTER = {
    "chroma": "held",
    "seekdb": "held",
    "qdrant": "held",
    "pgvector": "dropped",
    "milvus": "dropped",
}
LOOKS_LIKE = {
    "chroma": "Chroma",
    "seekdb": "SeekDB",
    "qdrant": "Qdrant",
    "pgvector": "pgvector",
    "milvus": "Milvus",
}


async def test_what_it_finds_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    service = MemoryService(engine.host)
    await service.knowledge_bases.register(engine.collection, {"embedding_model_uuid": "m"})
    written: list[str] = []
    upsert = engine.host.upsert

    async def noting(collection: str, records) -> None:  # type: ignore[no-untyped-def]
        written.extend(record.id for record in records)
        await upsert(collection, records)

    monkeypatch.setattr(engine.host, "upsert", noting)
    # The first check makes the first write of the knowledge base; the second one finds it filled.
    for model in ("first", "same"):
        report = await check_health(service)
        wrong = {c.name: c.outcome for c in report.checks if c.level is not Level.OK}
        assert wrong == ({"store_metric": "mixes"} if engine.kind == "seekdb" else {})
        outcomes = {check.name: check.outcome for check in report.checks}
        assert outcomes["embedding_model"] == model
        assert outcomes["store_plain_filter"] == PLAIN_FILTER[engine.kind]
        metric = report.named("store_metric")
        assert metric is not None
        assert metric.values["metric"] == METRIC[engine.kind]
        assert metric.values["backend"] == LOOKS_LIKE[engine.kind]
        collection = await service.collection()
        assert collection.records.health.foreign_rows == 0

    sentinel, *made_up = written
    assert len(made_up) == 4
    rows = await engine.api.vector_list(engine.collection, {"uuid": {"$in": written}}, 100, 0)
    assert [row["id"] for row in rows["items"]] == [sentinel]
    everything = (await engine.api.vector_list(engine.collection, None, 100, 0))["items"]
    assert [row["id"] for row in everything] == [sentinel]
    assert not any(USER_KEY_PREFIX in str(row) for row in everything)
    assert [key for key in engine.api.values if "health" in key] == []
