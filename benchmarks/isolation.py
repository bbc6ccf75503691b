"""Adversarial recalls: look-alike scopes with identical texts, asked for each other's memories, by text and by id."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from longterm_memory.episodes import EpisodeDraft
from longterm_memory.errors import NotFound
from longterm_memory.importer import EpisodeImporter
from longterm_memory.models import Filters, RecallQuery, Status
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.settings import Settings

from .world import World, open_world

__all__ = ["EVERYTHING", "QUESTIONS", "SCOPES", "SENDERS", "SPEAKERS", "fill_scopes", "measure", "probe"]

_TEXTS = (
    "Mina is planning a surprise party for Tao",
    "the door code is kept in the blue folder",
    "阿明喜欢香菜",
    "PROJ-123 ships on Friday",
    "the flight to Oslo is on Tuesday",
    "Tao is allergic to cats",
)
QUESTIONS = [*_TEXTS, "who knows the code?", "cilantro 香菜", "PROJ-124"]
SENDERS = ("", "9001", "1:9", "9")
"""Senders that recalls are narrowed to; nobody is called "9"."""
EVERYTHING = frozenset(Status) - {Status.DELETED}

SCOPES = tuple(
    Scope.of(bot_uuid=bot, launcher_type=kind, launcher_id=ident, isolation=isolation)
    for isolation in Isolation
    for bot, kind, ident in (
        ("b-01", "group", "77001"),
        ("b-01", "group", "77002"),
        ("b-01", "person", "9001"),
        ("b-01", "person", "77001"),
        ("b-01:group_77", "group", "1"),
        ("b-01", "group", "77:1"),
        ("", "group", "77001"),
        ("bot", "person", "b-01"),
        ("b-02", "group", "77001"),
        ("b-01", "group", "007"),
        ("b-01", "group", "7"),
        ("b-01", "group", "群1"),
        ("b-01", "group", "a/b"),
        ("b-01", "group", "a b"),
        ("b-01", "group", "a%20b"),
    )
)
SPEAKERS = (Speaker("9001", "Mina"), Speaker("9002", "Tao"), Speaker("1:9", "Mina"))


async def measure(folder: Path, recalls: int = 100_000, backend: str = "chroma") -> dict[str, Any]:
    """Run the adversarial recalls on a real backend; returns the ``isolation`` part of the report."""
    async with open_world(backend, folder) as world:
        return await probe(world, recalls)


async def fill_scopes(world: World) -> dict[str, str]:
    """Store the same texts in every scope; returns the user key of each stored id."""
    collection = await world.service.collection()
    importer = EpisodeImporter(collection, world.service.recaller(collection))
    ids: dict[str, str] = {}
    for scope in {scope.user_key: scope for scope in SCOPES}.values():
        drafts = [EpisodeDraft(text, sender=who) for text in _TEXTS for who in SPEAKERS]
        stored, _ = await importer.add_many(scope, drafts)
        ids |= {e.id: scope.user_key for e in stored}
    return ids


async def probe(world: World, recalls: int) -> dict[str, Any]:
    """Fill every scope with the same texts, then ask at random; counts records of other scopes that came back."""
    pick = random.Random(7)
    ids = await fill_scopes(world)
    collection = await world.service.collection()
    episodes, recaller = world.service.episodes(collection), world.service.recaller(collection)
    vectors = {
        q: unit(v)
        for q, v in zip(QUESTIONS, await world.api.invoke_embedding("bench", QUESTIONS), strict=True)
    }
    settings = Settings()
    foreign = answered = 0
    for n in range(recalls):
        scope, question = pick.choice(SCOPES), pick.choice(QUESTIONS)
        if n % 10 == 0:
            foreign += await _foreign_by_id(episodes, scope, pick.choice(list(ids)), ids)
            continue
        filters = Filters(
            sender_id=pick.choice(SENDERS),
            statuses=pick.choice([EVERYTHING, Filters().statuses]),
        )
        ask = RecallQuery(text=question, k=5, filters=filters, floor=False)
        result = await recaller.recall(
            scope.user_key, ask, settings, fill=pick.choice(list(Fill)), vector=vectors[question]
        )
        answered += bool(result.hits)
        foreign += sum(
            hit.episode.user_key != scope.user_key or ids[hit.episode.id] != scope.user_key
            for hit in result.hits
        )
    return {"recalls": recalls, "foreign": foreign, "answered": answered, "scopes": len(SCOPES)}


async def _foreign_by_id(episodes: Any, scope: Scope, episode_id: str, ids: dict[str, str]) -> int:
    try:
        found = await episodes.find(scope, episode_id)
    except NotFound:
        return int(ids[episode_id] == scope.user_key)  # not finding one's own is a fault as well
    return int(ids[found.id] != scope.user_key)
