"""Many people at once, slow calls and cancelled ones: nothing lost, nothing doubled, nothing in the wrong scope."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import defaultdict

import pytest

from longterm_memory.drafts import EpisodeDraft
from longterm_memory.errors import LongTermMemoryError, NotFound
from longterm_memory.models import Episode, Filters
from longterm_memory.records.keys import Visibility
from longterm_memory.scope import Scope, Speaker
from tests.support.core import BASE, Core, core

SCOPES = [Scope.of_session(f"group_{i}", bot_uuid="b") for i in range(3)]
PEOPLE = [Speaker(str(i), f"P{i}") for i in range(4)]
CALLS = ("vector_upsert", "vector_list", "vector_delete", "vector_search", "invoke_embedding")


class Crowd:
    """People who remember, correct, forget and ask, and a record of what they were told."""

    def __init__(self, memory: Core, seed: int, cancelling: float) -> None:
        self.memory = memory
        self.rng = random.Random(seed)
        self.cancelling = cancelling
        self.told: dict[str, dict[str, Episode]] = defaultdict(dict)
        """Acknowledged and not forgotten since, by scope and id."""
        self.unsure: set[tuple[str, str, str]] = set()
        """Memories (scope, speaker, content) whose change was cut off."""
        self.foreign = 0

    async def person(self, number: int, turns: int) -> None:
        for turn in range(turns):
            for call in CALLS:
                self.memory.api.faults.slow[call] = self.rng.choice([0, 0, 0, 0.001])
            scope, speaker = self.rng.choice(SCOPES), PEOPLE[number % len(PEOPLE)]
            await self.act(scope, speaker, f"{number}-{turn}")

    async def act(self, scope: Scope, speaker: Speaker, name: str) -> None:
        what = self.rng.choice(["say", "say", "correct", "forget", "ask", "import"])
        content = f"topic {self.rng.randrange(5)} is {name} in {scope.launcher_id}"
        mine = [e for e in self.told[scope.user_key].values() if e.sender_id == speaker.id]
        if what == "forget" and not mine:
            return
        gone = self.rng.choice(mine) if what == "forget" else None
        task = asyncio.ensure_future(self.change(what, scope, speaker, content, gone))
        if self.rng.random() < self.cancelling:
            await asyncio.sleep(self.rng.choice([0, 0.001, 0.003]))
            task.cancel()
        try:
            await task
        except NotFound:
            assert gone is not None  # somebody else forgot it at the same time
        except (asyncio.CancelledError, LongTermMemoryError):
            if gone is not None:
                self.unsure.add((scope.user_key, gone.sender_id, gone.content))
                self.told[scope.user_key].pop(gone.id, None)
            else:
                self.unsure.add((scope.user_key, speaker.id, content))

    async def change(
        self, what: str, scope: Scope, speaker: Speaker, content: str, gone: Episode | None
    ) -> None:
        key, episodes = scope.user_key, self.memory.episodes
        draft = EpisodeDraft(content, sender=speaker, tags=("correction",) if what == "correct" else ())
        if what == "ask":
            found = await self.memory.ask(content, scope)
            self.foreign += sum(e.user_key != key for e in found.episodes())
        elif what == "import":
            stored, _ = await self.memory.importer.add_many(scope, [draft])
            self.told[key] |= {e.id: e for e in stored}
        elif gone is not None:
            forgotten = await episodes.forget(scope, gone)
            for i in forgotten.ids:
                self.told[key].pop(i, None)
        else:
            outcome = await episodes.remember(scope, draft)
            for i in outcome.superseded:
                self.told[key].pop(i, None)
            self.told[key][outcome.episode.id] = outcome.episode


@pytest.mark.parametrize("cancelling", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
async def test_a_crowd_leaves_exactly_what_it_was_told(seed: int, cancelling: float) -> None:
    memory = await core()
    await memory.collection.prepare()
    crowd = Crowd(memory, seed, cancelling)
    await asyncio.gather(*(crowd.person(number, 12) for number in range(12)))
    for task in list(memory.recaller.filling.working):
        with contextlib.suppress(asyncio.CancelledError):
            await task
    memory.api.faults.clear()
    memory.time.seconds += 600
    fresh = await memory.restarted()
    for scope in SCOPES:
        key = scope.user_key
        told = {(e.sender_id, e.content) for e in crowd.told[key].values()}
        unsure = {(s, c) for k, s, c in crowd.unsure if k == key}
        for process in (memory, fresh):
            found = await process.episodes.select(key, Filters())
            held = {(e.sender_id, e.content) for e in found}
            # What was cut off may have happened or not; a correction among it may have replaced something told.
            assert held - unsure <= told
            assert told - held <= (told if unsure else set())
            assert len(found) == len(held)
            assert all(c.endswith(f"in {scope.launcher_id}") for _, c in held)
        assert await memory.listed(scope) == await fresh.listed(scope)
        rows = await fresh.collection.records.everything(key, Visibility.RECALLED)
        assert len(rows) >= len(await fresh.listed(scope))
    assert crowd.foreign == 0
    if not cancelling:
        assert not crowd.unsure
        assert memory.row_count == len(memory.api.rows[BASE]) - 1
    assert len(memory.collection._locks) == 0
    assert not memory.collection.records._pager.deletions
