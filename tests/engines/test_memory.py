"""The record scheme and the episode store on every real vector database: write, recall, update, forget, isolation."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from longterm_memory.collection import Collection
from longterm_memory.episodes import EpisodeDraft, EpisodeStore
from longterm_memory.errors import NotFound
from longterm_memory.importer import EpisodeImporter
from longterm_memory.knowledge_base import KnowledgeBaseRegistry
from longterm_memory.models import Filters, RecallQuery, Status
from longterm_memory.recall.recaller import Fill, Recaller
from longterm_memory.records.envelope import encode
from longterm_memory.records.keys import Visibility
from longterm_memory.scope import Scope, Speaker
from longterm_memory.settings import Settings
from tests.support.real_engines import Engine

MINA, TAO = Speaker("9001", "Mina"), Speaker("9002", "Tao")
HERE = Scope.of_session("group_77001", bot_uuid="b-01")
THERE = Scope.of_session("group_77002", bot_uuid="b-01")
ALL = frozenset(Status) - {Status.DELETED}


class Memory:
    """The store and recall of one engine, as a freshly started plugin would have them."""

    def __init__(self, engine: Engine, collection: Collection) -> None:
        self.engine = engine
        self.collection = collection
        self.recaller = Recaller(collection)
        self.episodes = EpisodeStore(collection, self.recaller)
        self.importer = EpisodeImporter(collection, self.recaller)

    @classmethod
    async def start(cls, engine: Engine) -> Memory:
        registry = KnowledgeBaseRegistry(engine.host)
        await registry.register(engine.collection, {"embedding_model_uuid": "m"})
        return cls(engine, Collection(engine.host, await registry.require(), registry))

    async def say(self, text: str, who: Speaker = MINA, where: Scope = HERE, **more: object) -> str:
        outcome = await self.episodes.remember(where, EpisodeDraft(text, sender=who, **more))  # type: ignore[arg-type]
        return outcome.episode.id

    async def ask(
        self, text: str, where: Scope = HERE, fill: Fill = Fill.PAGE, **filters: object
    ) -> list[str]:
        await self.engine.api.settle()
        query = RecallQuery(text=text, k=10, filters=Filters(**filters))  # type: ignore[arg-type]
        result = await self.recaller.recall(where.user_key, query, Settings(), fill=fill)
        assert all(hit.episode.user_key == where.user_key for hit in result.hits)
        return [hit.episode.content for hit in result.hits]

    async def rows(self, where: Scope = HERE) -> int:
        records = self.collection.records
        cursors = [records.cursor(where.user_key, v) for v in Visibility]
        return sum([page.rows for cursor in cursors async for page in records.pages(cursor)])


@pytest.fixture
async def memory(engine: Engine) -> Memory:
    return await Memory.start(engine)


async def test_what_is_remembered_is_recalled_byte_for_byte(memory: Memory) -> None:
    texts = [
        "阿明的口令是向日葵 🌻",
        "a\x00b holds a null byte",
        "quotes \"x\" \\ and 'y'",
        "x" * 8_000,
        "😀" * 8_000,
    ]
    for text in texts:
        await memory.say(
            text, tags=("a,b", "旅行，工作"), importance=4, timestamp=datetime(2025, 5, 1, tzinfo=UTC)
        )
    restarted = await Memory.start(memory.engine)
    listed = await restarted.episodes.select(HERE.user_key, Filters())
    assert {e.content for e in listed} == set(texts)
    assert all(e.tags == ("a,b", "旅行，工作") and e.importance == 4 for e in listed)
    assert await restarted.ask("口令") == [texts[0]]


async def test_scopes_with_equal_texts_never_mix(memory: Memory) -> None:
    for who in (MINA, TAO):
        await memory.say("my flight is on Tuesday", who)
    other = await memory.say("my flight is on Tuesday", where=THERE)
    assert len(await memory.ask("flight")) == 2
    assert len(await memory.ask("flight", THERE)) == 1
    with pytest.raises(NotFound):
        await memory.episodes.find(HERE, other)
    await memory.collection.records.erase(HERE.user_key)
    assert await memory.rows(HERE) == 0
    assert await memory.rows(THERE) == 1
    assert memory.collection.records.health.foreign_rows == 0


async def test_a_correction_replaces_and_forgetting_it_takes_the_chain(memory: Memory) -> None:
    old = await memory.say("Mina loves cilantro")
    await memory.say("Mina's sister is Lan")
    new = await memory.say("Mina cannot stand cilantro", tags=("correction",))
    assert await memory.ask("cilantro") == ["Mina cannot stand cilantro"]
    superseded = await memory.episodes.find(HERE, old)
    assert (superseded.status, superseded.superseded_by) == (Status.SUPERSEDED, new)
    assert superseded.content == "Mina loves cilantro"
    assert await memory.rows() == 3
    forgotten = await memory.episodes.forget(HERE, await memory.episodes.find(HERE, new))
    assert forgotten.chain == (old,)
    assert await memory.rows() == 1
    for mem in (memory, await Memory.start(memory.engine)):
        assert await mem.ask("cilantro") == []
        assert [e.content for e in await mem.episodes.select(HERE.user_key, Filters(statuses=ALL))] == [
            "Mina's sister is Lan"
        ]


async def test_filters_hold_warm_and_cold(memory: Memory) -> None:
    await memory.say("Mina is allergic to nuts", importance=5, timestamp=datetime(2025, 5, 1, tzinfo=UTC))
    await memory.say("Tao is allergic to cats", TAO, importance=1, timestamp=datetime(2026, 5, 1, tzinfo=UTC))
    for fill in Fill:
        memory.collection.indexes.clear()
        assert await memory.ask("allergic", fill=fill, sender_id="9002") == ["Tao is allergic to cats"]
        assert await memory.ask("allergic", fill=fill, importance_min=4) == ["Mina is allergic to nuts"]
        bound = datetime(2026, 1, 1, tzinfo=UTC)
        assert await memory.ask("allergic", fill=fill, time_after=bound) == ["Tao is allergic to cats"]
        assert await memory.ask("allergic", fill=fill, time_before=bound) == ["Mina is allergic to nuts"]


async def test_leftovers_of_a_crash_are_read_right_and_repaired(memory: Memory) -> None:
    episode_id = await memory.say("the rent is due on the 15th")
    record = (await memory.collection.records.find(HERE.user_key, [episode_id]))[episode_id]
    edited = record.changed(content="the rent is due on the 16th")
    await memory.engine.host.upsert(
        memory.engine.collection, [encode(edited)]
    )  # died before the old row went
    restarted = await Memory.start(memory.engine)
    assert (await restarted.ask("rent due")) == ["the rent is due on the 16th"]
    assert (await restarted.episodes.find(HERE, episode_id)).content == "the rent is due on the 16th"
    assert await restarted.rows() == 1
    await restarted.episodes.forget(HERE, edited.episode)
    assert await restarted.rows() == 0


async def test_many_rows_page_and_import_twice(memory: Memory) -> None:
    drafts = [EpisodeDraft(f"memo {n} about topic {n % 7}", sender=TAO, source="import") for n in range(620)]
    stored, known = await memory.importer.add_many(HERE, drafts)
    assert (len(stored), known) == (620, 0)
    restarted = await Memory.start(memory.engine)
    stored, known = await restarted.importer.add_many(HERE, drafts)
    assert (len(stored), known) == (0, 620)
    assert len(await restarted.episodes.select(HERE.user_key, Filters())) == 620
    assert "memo 613 about topic 4" in await restarted.ask("memo 613")
