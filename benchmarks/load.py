"""Many conversations at once: what a turn costs then, and whether everything stored is there, each in its own.

A turn is what the listener does for one message (``injector.prepare``: profiles, recall with one embedding call,
search, what it leaves for tools and snapshots); after some of them the agent stores a memory or changes the profile of
the conversation. All conversations share one knowledge base and hold memories that differ by one word each.

*Overhead* is the time from the moment a message is there until its blocks are, without the embedding model: the model
is one that answers after :data:`MODEL_SECONDS`, which are taken off. What its answer is later than that counts, and so
do the host's searches and storage, and waiting for other turns.

Measured are one conversation that talks alone, all of them as fast as they get answers (the throughput), and all of
them with messages that come at half that rate whether the ones before are answered or not (open loop): there the clock
of a message starts when it should have come, so a jam shows in full. They take turns in :data:`ROUNDS` rounds, so that
a machine that is busier for a while favours none of them.

A vector database lets searches wait while it writes, whoever asks. So the same rhythm is measured with nothing but the
host's own calls, one embedding and one search a turn and one written row for as many turns as here store something
(``p95_ratio_raw``), and the conversations once more when nobody stores anything (``p95_ratio_reading``).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from longterm_memory.chat.tools import call_tool
from longterm_memory.episodes import EpisodeDraft
from longterm_memory.importer import EpisodeImporter
from longterm_memory.models import Filters
from longterm_memory.recall.recaller import CANDIDATES
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.scope import Scope, Speaker
from playground.embedders import HashedWords
from playground.turn import LocalTurn

from .world import KB, World, open_world

__all__ = ["MEMORIES", "Session", "measure", "missing"]

SESSIONS = 20
TURNS = 2_000
"""Of all conversations, as fast as they go, and again at half that rate."""
ALONE_TURNS = 400
ROUNDS = 4
MEMORIES = 100
"""Memories of each conversation before it starts."""
MODEL_SECONDS = 0.02
"""What the embedding model takes for a call; services over the network take 20 to 300 ms."""
_REMEMBER, _PROFILE, _STORES = 10, 20, 3
"""Every so manieth turn of a conversation stores a memory, and another one changes its profile; not all of them at the
same time.
"""

_ROW_CHARACTERS = 900
"""Text of a row of ours, vector included."""

_TOPICS = ("ferry tickets", "red bicycle", "dentist", "release notes", "kitchen shelf", "harbour museum")
_ASKED = ("what about the {}?", "did anybody take care of the {}?", "when was the {} settled?")


@dataclass
class Session:
    """One conversation.

    Attributes:
        number: which, from 0.
        turns: that it took so far.
        facts: that were stored meanwhile and acknowledged.
        traits: that were acknowledged.
    """

    number: int
    turns: int = 0
    facts: list[str] = field(default_factory=list)
    traits: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As the host calls it."""
        return f"group_{52_000 + self.number}"

    @property
    def scope(self) -> Scope:
        """Where its memories are."""
        return Scope.of_session(self.name, bot_uuid="b-01")

    @property
    def word(self) -> str:
        """The word that stands in all of its texts and in no other's."""
        return f"quay{self.number:02d}"


@dataclass
class Talk:
    """What came of the turns of some conversations.

    Attributes:
        overheads: of the turns, in seconds.
        wrong_scope: turns that were given a record or a word of another conversation.
        recall_failed: turns whose recall did not come through, by what the snapshot says.
        refused: memories and profile changes that were not acknowledged.
    """

    overheads: list[float] = field(default_factory=list)
    wrong_scope: int = 0
    recall_failed: int = 0
    refused: int = 0

    @property
    def p95(self) -> float:
        """Seconds that 95 of 100 turns do not exceed."""
        return float(np.percentile(self.overheads, 95))


async def measure(folder: Path, backend: str = "chroma", turns: int = TURNS) -> dict[str, Any]:
    """Run the conversations on a real backend; returns the ``cost.load`` part of the report.

    Args:
        folder: below it the backend keeps its files.
        backend: which.
        turns: of all conversations together, once as fast as they go and once at half that rate.
    """
    alone, closed, opened, reading = Talk(), Talk(), Talk(), Talk()
    raw_alone, raw_opened, seconds = Talk(), Talk(), 0.0
    async with _open(backend, folder) as (world, [single, *sessions]):
        everybody = [single, *sessions]
        for _ in range(ROUNDS):
            await _closed(world, everybody, [single], alone, ALONE_TURNS // ROUNDS)
            began = perf_counter()
            await _closed(world, everybody, sessions, closed, turns // ROUNDS)
            took = perf_counter() - began
            seconds += took
            many, rate = turns // ROUNDS, turns // ROUNDS / took / 2
            await _opened(sessions, many, rate, partial(_turn, world, everybody, opened))
            await _opened(sessions, many, rate, partial(_turn, world, everybody, reading, stores=False))
            for _ in range(ALONE_TURNS // ROUNDS):
                await _raw_turn(world, raw_alone, single, perf_counter())
            await _opened(sessions, many, rate, partial(_raw_turn, world, raw_opened))
        lost, astray = await missing(world, everybody)
    talks = (alone, closed, opened, reading)
    return {
        "sessions": SESSIONS,
        "turns": turns,
        "lost_writes": lost,
        "wrong_scope": astray + sum(talk.wrong_scope for talk in talks),
        "recall_failed": sum(talk.recall_failed for talk in talks),
        "refused": sum(talk.refused for talk in talks),
        "p95_ratio": round(opened.p95 / alone.p95, 2),
        "p95_ratio_raw": round(raw_opened.p95 / raw_alone.p95, 2),
        "p95_ratio_reading": round(reading.p95 / alone.p95, 2),
        "p95_ratio_closed": round(closed.p95 / alone.p95, 2),
        "p95_alone_ms": round(alone.p95 * 1000, 1),
        "throughput_per_s": round(turns / seconds, 1),
    }


@asynccontextmanager
async def _open(backend: str, folder: Path) -> AsyncIterator[tuple[World, list[Session]]]:
    """Open a backend with the conversations, each with its memories."""
    words = HashedWords()

    async def embed(texts: list[str]) -> list[list[float]]:
        began = perf_counter()
        vectors = words.embed(texts)
        await asyncio.sleep(MODEL_SECONDS - (perf_counter() - began))
        return vectors

    async with open_world(backend, folder, embed=embed) as world:
        collection = await world.service.collection()
        importer = EpisodeImporter(collection, world.service.recaller(collection))
        sessions = [Session(number) for number in range(SESSIONS + 1)]
        for session in sessions:
            pick = random.Random(session.number)
            texts = [
                f"{pick.choice(_TOPICS)} number {n} was left at {session.word} by the crew"
                for n in range(MEMORIES)
            ]
            drafts = [EpisodeDraft(text, sender=Speaker("9001", "Mina")) for text in texts]
            await importer.add_many(session.scope, drafts)
        # Memory of the imports is not what conversations find after a start.
        collection.indexes.clear()
        yield world, sessions


# ---------------------------------------------------------------- talking


async def _closed(
    world: World, everybody: list[Session], talking: list[Session], talk: Talk, turns: int
) -> None:
    """Let conversations talk, each as soon as it has its answer."""

    async def one(session: Session) -> None:
        for _ in range(turns // len(talking)):
            await _turn(world, everybody, talk, session, perf_counter())

    await asyncio.gather(*map(one, talking))


async def _opened(
    sessions: list[Session],
    turns: int,
    rate: float,
    turn: Callable[[Session, float], Coroutine[Any, Any, None]],
) -> None:
    """Let messages come at a steady rate, the conversations in turn, whether earlier ones are answered or not."""
    running: list[asyncio.Task[None]] = []
    began = perf_counter()
    for number in range(turns):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - perf_counter()))
        running.append(asyncio.create_task(turn(sessions[number % len(sessions)], due)))
    await asyncio.gather(*running)


async def _raw_turn(world: World, talk: Talk, session: Session, due: float) -> None:
    """Do what a turn cannot do without: one embedding, one search; and write a row now and then."""
    number, session.turns = session.turns, session.turns + 1
    [vector] = await world.api.invoke_embedding("bench", [f"what about number {number}?"])
    places = [place for visibility in Visibility for place in file_ids(session.scope.user_key, visibility)]
    await world.api.vector_search(KB, vector, CANDIDATES, {"file_id": {"$in": places}})
    talk.overheads.append(perf_counter() - due - MODEL_SECONDS)
    if (number + session.number) % _REMEMBER == _STORES:
        row = f"raw-{session.number}-{number}"
        metadata = {"file_id": "raw", "uuid": row, "text": "x" * _ROW_CHARACTERS}
        await world.api.vector_upsert(KB, [vector], [row], [metadata], [row])


async def _turn(
    world: World, sessions: list[Session], talk: Talk, session: Session, due: float, *, stores: bool = True
) -> None:
    """Take one message in, then let the agent store something now and then."""
    number, session.turns = session.turns, session.turns + 1
    pick = random.Random(f"{session.number}-{number}")
    question = pick.choice(_ASKED).format(pick.choice(_TOPICS))
    sender = pick.choice((("9001", "Mina"), ("9002", "Tao")))

    def message(text: str) -> LocalTurn:
        return LocalTurn(world.api, text, kb=[KB], session=session.name, sender=sender[0], name=sender[1])

    injection = await world.service.injector.prepare(message(question))
    talk.overheads.append(perf_counter() - due - MODEL_SECONDS)
    shown = injection.snapshot.episodes if injection.snapshot else ()
    talk.recall_failed += injection.snapshot is None or injection.snapshot.recall != "ok"
    text = "\n".join(injection.blocks)
    others = any(other.word in text for other in sessions if other is not session)
    talk.wrong_scope += others or any(session.word not in episode.content for episode in shown)
    step = number + session.number
    if not stores:
        return
    if step % _REMEMBER == _STORES:
        fact = f"fact {number} of {session.word}: the key hangs behind door {number}"
        answer = await call_tool(world.service, message(question), "remember", {"content": fact})
        _noted(talk, session.facts, fact, "[" in answer)
    elif step % _PROFILE == 7:
        trait = f"meets at {session.word} since week {number}"
        asked = {"field": "traits", "action": "add", "value": trait, "scope": "session"}
        answer = await call_tool(world.service, message(question), "update_profile", asked)
        _noted(talk, session.traits, trait, answer.endswith("(profile of this conversation)"))


def _noted(talk: Talk, kept: list[str], text: str, acknowledged: bool) -> None:
    if acknowledged:
        kept.append(text)
    else:
        talk.refused += 1


# ---------------------------------------------------------------- what is stored in the end


async def missing(world: World, sessions: list[Session]) -> tuple[int, int]:
    """Return how much that was acknowledged is not stored, and how much is stored with a conversation it is not of."""
    await world.api.settle()
    service = world.fresh_service()
    episodes = service.episodes(await service.collection())
    lost = astray = 0
    for session in sessions:
        texts = [e.content for e in await episodes.select(session.scope.user_key, Filters())]
        profile = await service.profiles.session(session.scope)
        lost += sum(text not in texts for text in session.facts)
        lost += sum(trait not in profile.traits for trait in session.traits)
        lost += MEMORIES + len(session.facts) > len(texts)
        astray += sum(session.word not in text for text in (*texts, *profile.traits))
    return lost, astray
