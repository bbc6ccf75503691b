"""pgvector with the index that LangBot's own database gives it: the host's search loses rows, recall does not.

The index is a graph over everybody's rows of which a search looks at forty, and then at which of them are of the asked
scope. PostgreSQL uses it once a collection is large; here it is told to use it at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import sqlalchemy

from benchmarks.scoped_recall import create_langbot_index
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.models import RecallQuery
from longterm_memory.ports import FileIds
from longterm_memory.recall.recaller import Fill
from longterm_memory.records.envelope import Record, encode
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Scope
from playground.engines import EngineApi, open_engine
from tests.support.core import BASE, MINA, Core, core, draft, numbered_id, record
from tests.support.real_engines import SharedEngines
from tests.support.rows import spread

DATABASE = "hnsw"
SMALL, LARGE, REST = (Scope.of_session(f"group_{n}", bot_uuid="b-01") for n in (1, 2, 3))
SIZES = {SMALL: 20, LARGE: 1_200, REST: 1_300}
AS_IF_LARGE = (
    "enable_sort = off",
    "enable_seqscan = off",
    "enable_bitmapscan = off",
    "plan_cache_mode = force_custom_plan",
)


@pytest.fixture
async def api(shared_engines: SharedEngines, tmp_path: Path) -> AsyncIterator[EngineApi]:
    """A database of its own on the shared server."""
    address = shared_engines.postgres().address
    administration = sqlalchemy.create_engine(address, isolation_level="AUTOCOMMIT")
    with administration.connect() as connection:
        connection.execute(sqlalchemy.text(f"DROP DATABASE IF EXISTS {DATABASE}"))
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {DATABASE}"))
        for setting in AS_IF_LARGE:
            connection.execute(sqlalchemy.text(f"ALTER DATABASE {DATABASE} SET {setting}"))
    own = address.replace("/postgres?", f"/{DATABASE}?")
    async with open_engine("pgvector", tmp_path, postgres=own) as api:
        yield api
    with administration.connect() as connection:
        connection.execute(sqlalchemy.text(f"DROP DATABASE {DATABASE}"))
    administration.dispose()


@pytest.fixture
async def stored(api: EngineApi) -> dict[Scope, list[Record]]:
    """Memories of three scopes, behind the back of any index of ours."""
    memory = await core(cast("Any", api))
    await memory.collection.prepare()
    found: dict[Scope, list[Record]] = {}
    for at, (scope, size) in enumerate(SIZES.items()):
        numbers = range(at * 2_000, at * 2_000 + size)
        found[scope] = [
            record(f"word{n}", numbered_id(n), scope=scope, vector=spread(f"memory {n}")) for n in numbers
        ]
        for start in range(0, size, 500):
            await LangBotHost(api).upsert(BASE, [encode(r) for r in found[scope][start : start + 500]])
    create_langbot_index(api, 384)
    return found


def exact(stored: list[Record], question: str) -> list[str]:
    cosines = np.stack([r.vector.vector() for r in stored]) @ unit(spread(question))
    return [stored[at].episode.id for at in np.argsort(-cosines)[:10]]


async def ten_nearest(memory: Core, scope: Scope, question: str) -> tuple[list[str], bool]:
    vector = unit(spread(question))
    query = RecallQuery(text="something else", k=10)
    found = await memory.recaller.candidates(scope.user_key, query, vector=vector, fill=Fill.PAGE)
    best = found.slots[np.argsort(-found.index.cosines(vector, found.slots), kind="stable")][:10]
    return [found.index.at(int(slot)).episode.id for slot in best], found.complete


async def test_rows_that_the_index_loses_are_recalled(
    api: EngineApi, stored: dict[Scope, list[Record]]
) -> None:
    host, questions = LangBotHost(api), [f"question {n}" for n in range(10)]
    for scope, k in ((SMALL, 10), (LARGE, 50)):
        where = FileIds(file_ids(scope.user_key, Visibility.RECALLED))
        counts = [len(await host.search(BASE, spread(q), k, where)) for q in questions]
        assert max(counts) < k  # what this is about: nothing in the host's answer says so
    for question in questions:
        fresh = await core(cast("Any", api))
        assert await ten_nearest(fresh, SMALL, question) == (exact(stored[SMALL], question), True)
    memory = await core(cast("Any", api))
    _, complete = await ten_nearest(memory, LARGE, questions[0])
    assert not complete
    assert memory.collection.records.health.short_answers == 1
    await memory.recaller.loaded(LARGE.user_key)
    for question in questions:
        assert await ten_nearest(memory, LARGE, question) == (exact(stored[LARGE], question), True)


async def test_what_the_index_loses_is_not_remembered_twice(
    api: EngineApi, stored: dict[Scope, list[Record]]
) -> None:
    known = stored[LARGE][700].episode
    for scope, said in ((LARGE, known.content), (SMALL, stored[SMALL][11].episode.content)):
        fresh = await core(cast("Any", api))
        again = await fresh.episodes.remember(scope, draft(said))
        assert again.duplicate
    fresh = await core(cast("Any", api))
    fact = await fresh.episodes.remember(LARGE, draft("Mina's flight to Oslo is on Tuesday"))
    fresh = await core(cast("Any", api))
    corrected = await fresh.episodes.remember(
        LARGE, draft("Mina's flight to Oslo is on Friday", MINA, tags=("correction",))
    )
    assert corrected.superseded == (fact.episode.id,)
