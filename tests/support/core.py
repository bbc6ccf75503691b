"""The core of the memory on the strict double, with clocks that tests move by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from longterm_memory.collection import Collection
from longterm_memory.episodes import EpisodeDraft, EpisodeStore
from longterm_memory.ids import ALPHABET
from longterm_memory.importer import EpisodeImporter
from longterm_memory.knowledge_base import KnowledgeBaseRegistry
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.models import Episode, Filters, RecallQuery, RecallResult, Status
from longterm_memory.ports import VectorRow
from longterm_memory.recall.recaller import Fill, Recaller
from longterm_memory.records.envelope import Record, encode
from longterm_memory.records.vectors import Quantized, unit
from longterm_memory.scope import Scope, Speaker
from longterm_memory.settings import Settings
from playground.embedders import HashedWords
from tests.support.strict_host import StrictHost, _Row

__all__ = [
    "ALL",
    "BASE",
    "GROUP",
    "MINA",
    "NOW",
    "OTHER",
    "TAO",
    "Core",
    "Time",
    "core",
    "draft",
    "numbered_id",
    "record",
    "row_of",
]

BASE = "kb-1"
GROUP = Scope.of_session("group_77001", bot_uuid="b-01")
OTHER = Scope.of_session("group_77002", bot_uuid="b-01")
MINA = Speaker("9001", "Mina")
TAO = Speaker("9002", "Tao")
NOW = datetime(2026, 5, 10, 12, 0, tzinfo=UTC)
ALL = frozenset(Status)

_WORDS = HashedWords()


@dataclass
class Time:
    """One time for wall and deadlines; it stands still unless a test moves it."""

    seconds: float = 0.0

    def clock(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.seconds)

    def wall(self) -> float:
        return self.now().timestamp()


@dataclass
class Core:
    """Everything below the service, for one knowledge base."""

    api: StrictHost
    host: LangBotHost
    registry: KnowledgeBaseRegistry
    collection: Collection
    recaller: Recaller
    episodes: EpisodeStore
    importer: EpisodeImporter
    time: Time
    settings: Settings = field(default_factory=Settings)

    async def say(
        self, content: str, speaker: Speaker = MINA, *tags: str, scope: Scope = GROUP, **fields: Any
    ) -> Episode:
        """Remember something and return it as stored."""
        draft = EpisodeDraft(content, tags=tags, sender=speaker, **fields)
        return (await self.episodes.remember(scope, draft)).episode

    async def ask(
        self, text: str, scope: Scope = GROUP, *, fill: Fill = Fill.PAGE, **fields: Any
    ) -> RecallResult:
        """Recall."""
        return await self.recaller.recall(
            scope.user_key, RecallQuery(text=text, **fields), self.settings, fill=fill
        )

    async def found(self, text: str, scope: Scope = GROUP, **fields: Any) -> list[str]:
        """Recall and return the contents, best first."""
        return [e.content for e in (await self.ask(text, scope, **fields)).episodes()]

    async def listed(
        self, scope: Scope = GROUP, statuses: frozenset[Status] = frozenset({Status.ACTIVE})
    ) -> list[str]:
        """Return the contents of a listing, sorted."""
        return sorted(
            e.content for e in await self.episodes.select(scope.user_key, Filters(statuses=statuses))
        )

    async def active(self) -> list[str]:
        """Return the contents of a listing, sorted; the same for this process and for a new one."""
        here = await self.listed()
        assert here == await (await self.restarted()).listed()
        return here

    async def everything(self) -> list[tuple[str, str]]:
        """Return every memory and its status, sorted, as a new process sees them."""
        fresh = await self.restarted()
        found = await fresh.episodes.select(GROUP.user_key, Filters(statuses=ALL))
        return sorted((e.content, str(e.status)) for e in found)

    async def restarted(self) -> Core:
        """Return the same memory as a new process sees it."""
        return await core(self.api, self.time)

    async def fill(self, records: list[Record]) -> None:
        """Put records into the store as another process would have, behind the back of the index."""
        await self.collection.prepare()
        await self.host.upsert(BASE, [encode(r) for r in records])

    async def plant(self, records: list[Record]) -> None:
        """Put very many records into the store; what the double would refuse is not noticed."""
        await self.collection.prepare()
        for sent in map(encode, records):
            vector = np.asarray(sent.vector, dtype=np.float64)
            self.api.rows[BASE][sent.id] = _Row(sent.id, vector, dict(sent.metadata), sent.document)

    @property
    def row_count(self) -> int:
        """Number of rows in the store, the sentinel not counted."""
        rows = self.api.rows.get(BASE, {}).values()
        return sum(r.metadata["file_id"] != "ltm-sentinel" for r in rows)


async def core(api: StrictHost | None = None, time: Time | None = None, **options: Any) -> Core:
    """Return the core over a double, with one registered knowledge base."""
    api, time = api or StrictHost(**options), time or Time()
    host = LangBotHost(api)
    registry = KnowledgeBaseRegistry(host)
    await registry.register(BASE, {"embedding_model_uuid": "m"})
    collection = Collection(host, await registry.require(), registry, time.clock)
    recaller = Recaller(collection, time.wall, time.clock)
    episodes = EpisodeStore(collection, recaller, time.now)
    importer = EpisodeImporter(collection, recaller, time.now, time.clock)
    return Core(api, host, registry, collection, recaller, episodes, importer, time)


def draft(content: str, speaker: Speaker = MINA, **fields: Any) -> EpisodeDraft:
    """Return something to remember."""
    return EpisodeDraft(content, sender=speaker, **fields)


def numbered_id(number: int) -> str:
    """Return the legal episode id of a number."""
    digits = ""
    for _ in range(7):
        number, digit = divmod(number, 32)
        digits = ALPHABET[digit] + digits
    return "m" + digits


def record(
    content: str,
    episode_id: str,
    *,
    scope: Scope = GROUP,
    speaker: Speaker = MINA,
    version: int = 1,
    age_days: float = 0.0,
    vector: list[float] | None = None,
    **fields: Any,
) -> Record:
    """Return a record as the store holds it, embedded with hashed words."""
    moment = NOW - timedelta(days=age_days)
    episode = Episode(
        id=episode_id,
        content=content,
        timestamp=fields.pop("timestamp", moment),
        created_at=moment,
        user_key=scope.user_key,
        sender_id=speaker.id,
        sender_name=speaker.name,
        bot_uuid=scope.bot_uuid,
        session_name=scope.session_name,
        **fields,
    )
    return Record(episode, version, Quantized.of(unit(vector or _WORDS.embed([content])[0])), "m")


def row_of(stored: Record, **metadata: Any) -> VectorRow:
    """Return the row of a record as it comes back, with metadata changed; ``None`` removes a field."""
    sent = encode(stored)
    fields = {k: v for k, v in {**sent.metadata, **metadata}.items() if v is not None}
    return VectorRow(sent.id, fields)
