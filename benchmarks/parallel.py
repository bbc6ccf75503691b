"""Many recalls at once on one backend, while facts are written and somebody else searches another knowledge base.

The look-alike scopes of :mod:`.isolation` hold the same texts; :data:`IN_FLIGHT` people ask at random, by text and by
id, with indexes in memory and with cold ones, and now and then tell something new. Beside them plain searches go
through the same connection to another knowledge base, as documents of other plugins are searched: our own care about
the order of calls does not reach those, and one backend (SeekDB, as the host drives it) mixes up the answers of
parallel calls, hangs, or takes its process down.

A recall may fail with a clear error; it may never show a record of another scope. What the backend mixed up is counted
where the product dropped it. Afterwards, with nobody else there, a fresh service looks for every fact that was
acknowledged: in its own scope it has to be recalled, no row of another scope may hold it, and the other knowledge base
may hold nothing of ours.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import uuid4

from longterm_memory.episodes import EpisodeDraft
from longterm_memory.errors import LongTermMemoryError, NotFound
from longterm_memory.models import Episode, Filters, RecallQuery
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.records.vectors import Vector, unit
from longterm_memory.scope import Scope
from longterm_memory.settings import Settings
from playground.engines import HostError

from .isolation import EVERYTHING, QUESTIONS, SCOPES, SENDERS, SPEAKERS, fill_scopes
from .world import KB, World, open_world

__all__ = ["Storm", "measure"]

IN_FLIGHT = 16
"""Recalls at a time."""
PAUSE_SECONDS = 0.01
"""Between two searches in the other knowledge base."""
SEEKDB_PAUSE_SECONDS = 3.0
"""The same on SeekDB: more often its connection breaks right after every start, and hardly a recall is answered."""
RECALL_SECONDS = 10.0
"""How long one recall may take; then it counts as failed."""
LIMIT_SECONDS = 1_800.0
"""When fewer recalls than wanted came to an end in this time, the report says how many did."""
BROKEN_AFTER = 2 * IN_FLIGHT
"""After so many recalls in a row that brought nothing whoever runs the host would restart it."""

_DOCUMENTS = "bench-documents"
_BY_ID, _COLD, _TELL = 10, 40, 100
"""Every so manieth step asks by id, finds the index cold, tells something new."""


class Found(Enum):
    """What a recall brought, by what is known to be there."""

    RECORDS = "records"
    NOTHING = "rightly nothing"
    TOO_LITTLE = "nothing, though there is something"

    @classmethod
    def of(cls, something: bool, there: bool) -> Found:
        """Judge an answer with or without records where there are some or none."""
        if something:
            return cls.RECORDS
        return cls.TOO_LITTLE if there else cls.NOTHING


@dataclass
class Tally:
    """What was counted.

    Attributes:
        asked: recalls begun.
        answered: recalls that came back with what is there, or rightly with nothing.
        failed: recalls that failed with an error of ours, by reason.
        foreign: records of other scopes that were shown. Has to be 0.
        empty: recalls that came back with nothing although the scope holds what was asked for.
        told: facts whose writing was acknowledged.
        refused: facts whose writing failed, by reason; they may be stored or not.
        searches: in the other knowledge base that were answered.
        mixed_up: rows that those were given and that are none of it.
        broken: searches there that failed.
        crashes: times that the backend's process died by itself.
        restarts: times that it was started again: after a crash, or when nothing was answered any more.
        distrusted: times that the product stopped asking the store and was told to try again, as ``health`` does.
    """

    asked: int = 0
    answered: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    foreign: int = 0
    empty: int = 0
    told: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    searches: int = 0
    mixed_up: int = 0
    broken: int = 0
    crashes: int = 0
    restarts: int = 0
    distrusted: int = 0


async def measure(folder: Path, recalls: int, backend: str) -> dict[str, Any]:
    """Run the parallel recalls on one backend, as it is: nothing but the product itself serializes calls.

    The backend runs in a process of its own, so that a crash is counted and not the end of it.
    """
    async with open_world(backend, folder, serial=False, process=True) as world:
        report = await Storm(world, recalls).run()
        return report | {"versions": await world.backend.versions() if world.backend else {}}


class Storm:
    """Parallel recalls in one world.

    Args:
        world: an empty one.
        recalls: how many have to be answered.
        seed: of the random choices.
    """

    def __init__(self, world: World, recalls: int, seed: int = 7) -> None:
        self._world = world
        self._recalls = recalls
        self._seed = seed
        self._steps = count(1)
        self._owners: dict[str, str] = {}
        """User key of each id."""
        self._ids: list[str] = []
        self._facts: dict[str, str] = {}
        """User key of each fact that was told, acknowledged or not."""
        self._vectors: dict[str, Vector] = {}
        self._mending = asyncio.Lock()
        self._unanswered = 0
        self.tally = Tally()

    async def run(self) -> dict[str, Any]:
        """Fill, ask, look at what is stored; returns one backend's part of the report."""
        service = self._world.service
        self._collection = await service.collection()
        self._episodes, self._recaller = (
            service.episodes(self._collection),
            service.recaller(self._collection),
        )
        self._owners = await fill_scopes(self._world)
        self._ids = list(self._owners)
        await self._add_documents()
        self._vectors = await self._embedded(QUESTIONS)
        await self._world.api.settle()
        began = monotonic()
        self._until = began + LIMIT_SECONDS
        neighbour = asyncio.create_task(self._search_documents())
        try:
            await asyncio.gather(*(self._ask(n) for n in range(IN_FLIGHT)))
        finally:
            neighbour.cancel()
            await asyncio.wait({neighbour})
        seconds = monotonic() - began
        return self._report(await self._look_at_facts(), seconds)

    def _report(self, facts: dict[str, int], seconds: float) -> dict[str, Any]:
        tally = self.tally
        return {
            "recalls": tally.asked,
            "answered": tally.answered,
            "failed": dict(tally.failed),
            "foreign": tally.foreign,
            "empty": tally.empty,
            "rows_dropped": self._collection.records.health.foreign_rows,
            "facts": {"told": len(tally.told), "refused": dict(tally.refused), **facts},
            "neighbour": {
                "searches": tally.searches,
                "failed": tally.broken,
                "foreign_rows": tally.mixed_up,
            },
            "crashes": tally.crashes,
            "restarts": tally.restarts,
            "distrusted": tally.distrusted,
            "seconds": round(seconds),
        }

    # ------------------------------------------------------------ who asks

    async def _ask(self, number: int) -> None:
        """Ask until enough recalls were answered."""
        pick = random.Random(f"{self._seed}-{number}")
        while self.tally.asked < self._recalls and monotonic() < self._until:
            step, scope = next(self._steps), pick.choice(SCOPES)
            if step % _TELL == 0:
                await self._tell(step, scope, pick)
                continue
            if step % _COLD == 0:
                self._collection.indexes.clear()
            self.tally.asked += 1
            try:
                async with asyncio.timeout(RECALL_SECONDS):
                    recall = self._recall_by_text if step % _BY_ID else self._recall_by_id
                    found = await recall(scope, pick)
            except LongTermMemoryError as exc:
                self.tally.failed[exc.reason] += 1
                await self._mend()
            except TimeoutError:
                self.tally.failed["deadline"] += 1
                await self._mend()
            else:
                self.tally.answered += found is not Found.TOO_LITTLE
                self.tally.empty += found is Found.TOO_LITTLE
                if found is Found.TOO_LITTLE:
                    await self._mend()
                elif found is Found.RECORDS:
                    self._unanswered = 0

    async def _recall_by_text(self, scope: Scope, pick: random.Random) -> Found:
        question, sender = pick.choice(QUESTIONS), pick.choice(SENDERS)
        filters = Filters(sender_id=sender, statuses=pick.choice([EVERYTHING, Filters().statuses]))
        ask = RecallQuery(text=question, k=5, filters=filters, floor=False)
        result = await self._recaller.recall(
            scope.user_key, ask, Settings(), fill=pick.choice(list(Fill)), vector=self._vectors[question]
        )
        self.tally.foreign += sum(
            self._owner(hit.episode) != scope.user_key or hit.episode.user_key != scope.user_key
            for hit in result.hits
        )
        there = not sender or any(who.id == sender for who in SPEAKERS)
        return Found.of(bool(result.hits), there)

    def _owner(self, episode: Episode) -> str | None:
        """Return whose a record is: by id or, while the writing of a fact is not acknowledged, by text."""
        return self._owners.get(episode.id) or self._facts.get(episode.content)

    async def _recall_by_id(self, scope: Scope, pick: random.Random) -> Found:
        episode_id = pick.choice(self._ids)
        own = self._owners[episode_id] == scope.user_key
        try:
            found = await self._episodes.find(scope, episode_id)
        except NotFound:
            return Found.of(False, own)
        self.tally.foreign += not own or found.id != episode_id or found.user_key != scope.user_key
        return Found.RECORDS

    async def _tell(self, step: int, scope: Scope, pick: random.Random) -> None:
        """Have a new fact remembered; it counts once that was acknowledged."""
        text = (
            f"the locker of visitor {step} is opened with the {pick.choice(('red', 'blue', 'brass'))} token"
        )
        self._facts[text] = scope.user_key
        try:
            async with asyncio.timeout(3 * RECALL_SECONDS):
                done = await self._episodes.remember(scope, EpisodeDraft(text, sender=pick.choice(SPEAKERS)))
        except LongTermMemoryError as exc:
            self.tally.refused[exc.reason] += 1
            await self._mend()
        except TimeoutError:
            self.tally.refused["deadline"] += 1
            await self._mend()
        else:
            self.tally.told.append(text)
            self._owners[done.episode.id] = scope.user_key
            self._ids.append(done.episode.id)

    # ------------------------------------------------------------ who runs the host

    async def _mend(self) -> None:
        """Do what whoever runs the host would do about a recall that brought nothing: start it again when it died or
        answers nobody, and look at ``health`` when recall is off, which has the store asked again.
        """
        self._unanswered += 1
        async with self._mending:
            if not self._world.alive or self._unanswered >= BROKEN_AFTER:
                await self._restart()
            trust = self._collection.records.trust
            if trust.lost:
                self.tally.distrusted += 1
                trust.try_again()

    async def _restart(self) -> None:
        self.tally.crashes += not self._world.alive
        self.tally.restarts += 1
        await self._world.restart()
        self._unanswered = 0

    # ------------------------------------------------------------ the other knowledge base

    async def _add_documents(self) -> None:
        vectors = await self._embedded([f"paragraph {n} of the handbook" for n in range(60)])
        ids = [str(uuid4()) for _ in vectors]
        metadata = [
            {"file_id": f"document-{n % 5}", "uuid": row, "text": text}
            for n, (row, text) in enumerate(zip(ids, vectors, strict=True))
        ]
        rows = [vector.tolist() for vector in vectors.values()]
        await self._world.api.vector_upsert(_DOCUMENTS, rows, ids, metadata, list(vectors))

    async def _search_documents(self) -> None:
        """Search the documents again and again, as naive RAG of another knowledge base does."""
        pick = random.Random(f"{self._seed}-neighbour")
        name = self._world.backend.name if self._world.backend else ""
        pause = SEEKDB_PAUSE_SECONDS if name == "seekdb" else PAUSE_SECONDS
        asked = [
            vector.tolist() for vector in (await self._embedded(["which paragraph?", "handbook"])).values()
        ]
        while True:
            try:
                async with asyncio.timeout(RECALL_SECONDS):
                    found = await self._world.api.vector_search(_DOCUMENTS, pick.choice(asked), 5)
                self.tally.mixed_up += sum(
                    not str((row.get("metadata") or {}).get("file_id", "")).startswith("document-")
                    for row in found
                )
                self.tally.searches += 1
            except (HostError, TimeoutError):
                self.tally.broken += 1
            await asyncio.sleep(pause)
            async with self._mending:
                pass  # Nobody asks a host that is being started.

    async def _embedded(self, texts: list[str]) -> dict[str, Vector]:
        vectors = await self._world.api.invoke_embedding("bench", texts)
        return {text: unit(vector) for text, vector in zip(texts, vectors, strict=True)}

    # ------------------------------------------------------------ what is stored in the end

    async def _look_at_facts(self) -> dict[str, int]:
        """Look, alone and with nothing in memory, for every acknowledged fact; returns what is ``lost``, ``astray`` in
        another scope, and ``elsewhere`` in the other knowledge base.
        """
        if not self._world.alive or self._unanswered or self.tally.restarts:
            # What broke once may have broken again; what counts here is what is stored.
            await self._restart()
        await self._world.api.settle()
        service = self._world.fresh_service()
        recaller = service.recaller(await service.collection())
        lost = 0
        for text in self.tally.told:
            ask = RecallQuery(text=text, k=5, floor=False)
            hits = (await recaller.recall(self._facts[text], ask, Settings())).hits
            lost += text not in [hit.episode.content for hit in hits]
        return {"lost": lost, **await self._misplaced()}

    async def _misplaced(self) -> dict[str, int]:
        """Return how many stored rows hold a fact of another scope, or lie in the other knowledge base, by what the
        backend itself lists.
        """
        astray = elsewhere = 0
        for user_key in {scope.user_key for scope in SCOPES}:
            where = {"file_id": {"$in": [f for v in Visibility for f in file_ids(user_key, v)]}}
            items = (await self._world.api.vector_list(KB, where, 500, 0))["items"]
            stored = [str(item["metadata"]["text"]) for item in items]
            astray += sum(
                text in row for row in stored for text, owner in self._facts.items() if owner != user_key
            )
            elsewhere += len((await self._world.api.vector_list(_DOCUMENTS, where, 500, 0))["items"])
        return {"astray": astray, "elsewhere": elsewhere}
