"""The record of the one knowledge base, and its first use."""

from __future__ import annotations

import asyncio
import json
from types import MappingProxyType
from typing import Any

import pytest

from longterm_memory.collection import Collection
from longterm_memory.errors import EmbeddingFailed, NotConfigured, StorageFailed, StoreFailed
from longterm_memory.knowledge_base import KB_KEY, KnowledgeBaseRegistry
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.recall.calibration import SENTENCES
from tests.support.core import BASE, GROUP, core
from tests.support.strict_host import StrictHost

CREATION = {"embedding_model_uuid": "m", "isolation": "bot", "auto_recall_top_k": 5}


@pytest.fixture
def api() -> StrictHost:
    return StrictHost()


@pytest.fixture
def registry(api: StrictHost) -> KnowledgeBaseRegistry:
    return KnowledgeBaseRegistry(LangBotHost(api))


def restarted(api: StrictHost) -> KnowledgeBaseRegistry:
    return KnowledgeBaseRegistry(LangBotHost(api))


def collection(api: StrictHost, registry: KnowledgeBaseRegistry, base: Any) -> Collection:
    return Collection(LangBotHost(api), base, registry)


# ------------------------------------------------------------ one, and it is remembered


async def test_without_one_everything_that_needs_it_says_so(registry: KnowledgeBaseRegistry) -> None:
    assert await registry.get() is None
    with pytest.raises(NotConfigured, match="not_configured"):
        await registry.require()


async def test_it_is_known_after_a_restart_and_read_once(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:  # P3
    made = await registry.register(BASE, CREATION)
    assert made.model == "m"
    fresh = restarted(api)
    with api.calls.recording() as seen:
        for _ in range(3):
            assert await fresh.require() == made
    assert seen.counts["get_plugin_storage"] == 1


async def test_without_a_model_it_cannot_be_used(registry: KnowledgeBaseRegistry) -> None:
    for settings in ({}, {"embedding_model_uuid": ""}, {"embedding_model_uuid": None}):
        await registry.unregister(BASE)
        await registry.register(BASE, settings)
        with pytest.raises(NotConfigured, match="no_embedding_model"):
            await registry.require()


async def test_a_second_one_is_refused_while_the_first_exists(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    await registry.register(BASE, CREATION)
    for bases in ({BASE: "memory", "kb-2": "new"}, None):  # None: the host does not say
        api.bases = bases
        with pytest.raises(NotConfigured, match="second_knowledge_base") as caught:
            await registry.register("kb-2", CREATION)
        assert caught.value.details == {"existing": BASE}
    assert (await registry.require()).id == BASE


async def test_one_that_the_host_does_not_know_any_more_blocks_nothing(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    await registry.register(BASE, CREATION)
    api.bases = {"kb-2": "new"}
    assert (await registry.register("kb-2", CREATION)).id == "kb-2"
    assert (await restarted(api).require()).id == "kb-2"


async def test_two_at_once_are_one(api: StrictHost, registry: KnowledgeBaseRegistry) -> None:
    api.bases = {"kb-1": "", "kb-2": ""}
    made = await asyncio.gather(
        registry.register("kb-1", CREATION), registry.register("kb-2", CREATION), return_exceptions=True
    )
    assert sum(isinstance(m, NotConfigured) for m in made) == 1
    assert (await restarted(api).require()).id == (await registry.require()).id


async def test_registering_again_keeps_what_is_known(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    made = collection(api, registry, await registry.register(BASE, CREATION))
    await made.prepare()
    again = await registry.register(BASE, {"embedding_model_uuid": "other"})
    assert (again.model, again.calibration is not None) == ("m", True)


async def test_a_lost_record_is_learned_again_from_a_call(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    await registry.adopt("", CREATION)
    await registry.adopt(BASE, {})
    assert await registry.get() is None
    await registry.adopt(BASE, CREATION)
    await registry.adopt("kb-2", CREATION)
    assert (await restarted(api).require()).id == BASE


async def test_deleting_it_makes_room(api: StrictHost, registry: KnowledgeBaseRegistry) -> None:
    await registry.register(BASE, CREATION)
    await registry.unregister("kb-2")  # another one's
    assert (await registry.require()).id == BASE
    await registry.unregister(BASE)
    await registry.unregister(BASE)
    assert KB_KEY not in api.values
    assert await registry.get() is await restarted(api).get() is None
    assert (await registry.register("kb-2", CREATION)).id == "kb-2"


async def test_frozen_settings_are_stored(api: StrictHost, registry: KnowledgeBaseRegistry) -> None:
    frozen = MappingProxyType({**CREATION, "more": MappingProxyType({"a": (1, 2)}), "set": frozenset({"x"})})
    await registry.register(BASE, frozen)
    kept = (await restarted(api).require()).creation_settings
    assert kept == {**CREATION, "more": {"a": [1, 2]}, "set": ["x"]}


# ------------------------------------------------------------ storage that fails


async def test_a_damaged_record_is_reported_and_left_alone(api: StrictHost) -> None:
    for raw in (
        b"", b"\xff", b"null", b"{}", b'{"id": 1}', b'{"id":"x","creation_settings":5,"calibration":null}',
        b'{"id":"x","creation_settings":{},"calibration":{"mean":0}}', b"[" * 100_000,
        b'{"id":"x","creation_settings":{},"calibration":{"mean":"x","spread":0,"vectors":["AQID"]}}',
    ):  # fmt: skip
        api.values[KB_KEY] = raw
        registry = restarted(api)
        for _ in range(2):
            with pytest.raises(StorageFailed, match="profile_unreadable"):
                await registry.get()
        assert api.values[KB_KEY] == raw
        # It blocks neither a new one nor the deletion of the old one.
        assert (await registry.register("kb-2", CREATION)).id == "kb-2"
        api.values[KB_KEY] = raw
        registry = restarted(api)
        await registry.unregister("whichever")
        assert KB_KEY not in api.values


async def test_storage_that_is_down_never_replaces_a_good_record(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    await registry.register(BASE, CREATION)
    fresh = restarted(api)
    api.faults.fail = {"get_plugin_storage"}  # only reading is down
    with pytest.raises(StorageFailed, match="storage_down"):
        await fresh.register("kb-2", CREATION)
    with pytest.raises(StorageFailed, match="storage_down"):
        await fresh.unregister(BASE)
    api.faults.clear()
    assert (await fresh.require()).id == BASE


async def test_what_could_not_be_stored_is_not_believed(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    api.faults.storage_full = True
    with pytest.raises(StorageFailed):
        await registry.register(BASE, CREATION)
    assert await registry.get() is None
    api.faults.clear()
    assert (await registry.register(BASE, CREATION)).id == BASE


# ------------------------------------------------------------ first use


async def test_preparing_measures_the_model_and_writes_one_row(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    made = collection(api, registry, await registry.register(BASE, CREATION))
    assert not made.filled
    with pytest.raises(RuntimeError):
        made.calibration  # noqa: B018
    await asyncio.gather(*(made.prepare() for _ in range(5)))
    assert made.filled
    assert made.calibration.dimension == 384
    assert len(api.rows[BASE]) == 1
    assert api.calls.counts["invoke_embedding"] == 1
    kept = await restarted(api).require()
    assert kept.calibration is not None
    assert kept.calibration.dump() == made.calibration.dump()
    assert len(json.loads(api.values[KB_KEY])["calibration"]["vectors"]) == len(SENTENCES)


async def test_preparing_can_be_repeated_after_a_failure() -> None:
    for call, error in (
        ("invoke_embedding", EmbeddingFailed), ("vector_upsert", StoreFailed),
        ("set_plugin_storage", StorageFailed),
    ):  # fmt: skip
        for way in ("fail", "lose_answer"):
            api = StrictHost()
            registry = restarted(api)
            made = collection(api, registry, await registry.register(BASE, CREATION))
            setattr(api.faults, way, {call})
            with pytest.raises(error):
                await made.prepare()
            assert not made.filled
            api.faults.clear()
            await made.prepare()
            assert made.filled
            # A new process agrees, and can read and write.
            fresh = await core(api)
            await fresh.say("rent is due")
            assert await fresh.found("rent due") == ["rent is due"]


async def test_a_preparation_that_is_cancelled_does_not_block_the_next(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    made = collection(api, registry, await registry.register(BASE, CREATION))
    for call in ("invoke_embedding", "vector_upsert", "set_plugin_storage"):
        api.faults.hang = {call}
        task = asyncio.create_task(made.prepare())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    api.faults.clear()
    await made.prepare()
    assert made.filled


async def test_preparing_a_knowledge_base_that_was_deleted_meanwhile_does_not_bring_it_back(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    made = collection(api, registry, await registry.register(BASE, CREATION))
    api.faults.slow = {"vector_upsert": 0.02}
    preparing = asyncio.create_task(made.prepare())
    await asyncio.sleep(0.01)
    await registry.unregister(BASE)
    with pytest.raises(NotConfigured):
        await preparing
    assert await restarted(api).get() is None


async def test_a_record_that_was_lost_is_measured_again_and_the_memories_are_found(api: StrictHost) -> None:
    memory = await core(api)
    await memory.say("rent is due")
    del api.values[KB_KEY]
    fresh = await core(api)  # learns the id from the host again
    assert await fresh.found("rent due") == ["rent is due"]
    assert await fresh.listed(GROUP) == ["rent is due"]


async def test_preparing_has_the_time_of_whoever_waits(
    api: StrictHost, registry: KnowledgeBaseRegistry
) -> None:
    made = collection(api, registry, await registry.register(BASE, CREATION))
    api.faults.hang = {"invoke_embedding"}
    with pytest.raises(EmbeddingFailed, match="embedding_down"):
        await made.prepare(timeout=0.01)
    with pytest.raises(EmbeddingFailed, match="embedding_pause"):
        await made.prepare(timeout=0.01)


async def test_a_store_without_a_column_for_the_model_says_so_at_once(
    registry: KnowledgeBaseRegistry,
) -> None:
    api = StrictHost(embed=lambda texts: [[1.0, *[float(len(t) % 7)] * 5] for t in texts])
    memory = await core(api)
    with pytest.raises(StoreFailed):
        await memory.say("rent is due")
    assert KB_KEY in api.values
    assert (await restarted(api).require()).calibration is None
