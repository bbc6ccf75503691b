"""Rows of another scope, without metadata, damaged or mixed up by the store: never shown, nothing of ours lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from longterm_memory.errors import StoreFailed
from longterm_memory.health import Level
from longterm_memory.ports import FileIds, RowIds, VectorRow
from longterm_memory.records.contact import Contact
from longterm_memory.records.envelope import encode
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.records.rows import RowReader, StoreHealth
from longterm_memory.records.store import RecordStore
from longterm_memory.records.trust import PAUSE_SECONDS, STRIKES, Trust
from tests.support.core import BASE, GROUP, OTHER, Core, core, numbered_id, record, row_of
from tests.support.health import check, outcomes
from tests.support.memory import Clock, new_bot
from tests.support.record_reads import ID, KEY, RECALLED, contents, embedded, listed, search


@pytest.fixture
async def memory() -> Core:
    found = await core()
    await found.collection.prepare()
    return found


async def test_rows_of_other_scopes_are_dropped_and_counted(
    memory: Core, caplog: pytest.LogCaptureFixture
) -> None:
    await memory.fill([record("ours", ID), record("theirs", "a0000001", scope=OTHER)])
    memory.api.faults.ignore_filters = True
    with caplog.at_level(logging.WARNING):
        answer = await memory.collection.records.search(KEY, embedded("theirs"), 10, RECALLED)
    assert contents(answer.records) == ["ours"]
    assert (answer.rows, answer.foreign) == (3, 2)
    assert memory.collection.records.health.foreign_rows > 0
    assert "theirs" not in caplog.text
    assert "rows dropped: foreign=2" in caplog.text


async def test_a_store_that_ignores_filters_never_shows_or_loses_anything(memory: Core) -> None:  # F1 (c)
    records = memory.collection.records
    await memory.fill(
        [record("ours", ID)] + [record(f"theirs {i}", numbered_id(i), scope=OTHER) for i in range(30)]
    )
    memory.api.faults.ignore_filters = True
    assert await listed(memory) == ["ours"]
    assert await listed(memory, OTHER.user_key) == sorted(f"theirs {i}" for i in range(30))
    for attempt in (
        records.find(KEY, [ID]),
        records.delete(KEY, [ID]),
        records.delete(KEY, [numbered_id(i) for i in range(100)]),
        records.erase(KEY),
        records.write([record("new", "b0000001")], [record("ours", ID)]),
    ):
        # Asked to delete, such a store might delete everything.
        with pytest.raises(StoreFailed, match=r"store_(un|dis)trusted"):
            await attempt
    assert memory.api.calls.counts["vector_delete"] == 0


async def test_rows_without_metadata_are_skipped(memory: Core) -> None:  # F9
    await memory.fill([record("kept", ID)])
    junk: list[dict[str, Any]] = [
        {"id": "x", "metadata": None},
        {"id": "y", "metadata": {}},
        {"id": "z"},
        {"id": None, "metadata": {"text": "hello"}},
    ]
    memory.api.faults.foreign = junk
    assert await search(memory) == ["kept"]
    assert await listed(memory) == ["kept"]


async def test_a_store_that_drops_metadata_gives_nothing_and_verifies_nothing() -> None:
    for fault in ("drop_metadata", "null_metadata"):
        memory = await core()
        records = memory.collection.records
        await memory.fill([record("x", ID)])
        setattr(memory.api.faults, fault, True)
        assert await search(memory) == []
        with pytest.raises(StoreFailed, match="write_unverified"):
            await records.write([record("y", "a0000001")])
        # The row can still be deleted: it is there under its id, readable or not.
        await records.delete(KEY, [ID])
        memory.api.faults.clear()
        assert await search(memory) == ["y"]


async def test_a_damaged_row_of_ours_is_counted_not_shown_and_can_be_deleted(memory: Core) -> None:
    many = [record(f"x {i}", numbered_id(i)) for i in range(60)]
    sent = encode(many[0])
    damaged = type(sent)(sent.id, sent.vector, {**sent.metadata, "text": "{}"}, "x")
    for others in ([], many[1:]):
        await memory.fill(others)
        await memory.host.upsert(BASE, [damaged])
        assert len(await listed(memory)) == len(others)
        assert memory.collection.records.health.unreadable_rows > 0
        await memory.collection.records.delete(KEY, [many[0].episode.id, *(r.episode.id for r in others)])
        assert memory.row_count == 0


class MixedUp:
    """A store that answers a search with another one's rows while two are on their way (as SeekDB does)."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._running: list[str] = []
        self.most = 0

    async def search(self, collection: str, vector: Sequence[float], k: int, where: Any) -> list[VectorRow]:
        rows: list[VectorRow] = await self._inner.search(collection, vector, k, where)
        return await self._mixed(where, rows)

    async def list_rows(self, collection: str, where: Any, limit: int, offset: int = 0) -> list[VectorRow]:
        rows: list[VectorRow] = await self._inner.list_rows(collection, where, limit, offset)
        return await self._mixed(where, rows)

    async def _mixed(self, where: Any, rows: list[VectorRow]) -> list[VectorRow]:
        self._running.append(where.values[0])
        self.most = max(self.most, len(self._running))
        await asyncio.sleep(0.001)
        crossed = len(set(self._running)) > 1
        await asyncio.sleep(0.001)
        self._running.remove(where.values[0])
        return [row_of(record("foreign", "a0000009", scope=OTHER))] if crossed else rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def test_mixed_up_answers_are_asked_for_again_one_at_a_time(memory: Core) -> None:
    scopes = [GROUP] + [type(GROUP)("b-01", "group", str(i)) for i in range(8)]
    await memory.fill([record(f"of {s.launcher_id}", ID, scope=s) for s in scopes])
    store = MixedUp(memory.host)
    records = RecordStore(store, BASE, dimension=lambda: 384)
    for _ in range(3):
        answers = await asyncio.gather(
            *(records.search(s.user_key, embedded("of"), 5, RECALLED) for s in scopes)
        )
        assert [contents(a.records) for a in answers] == [[f"of {s.launcher_id}"] for s in scopes]
        assert all(a.foreign == 0 for a in answers)
    assert store.most > 1  # before the first foreign row
    store.most = 0
    found = await asyncio.gather(*(records.find(s.user_key, [ID]) for s in scopes))
    assert all(ID in f for f in found)
    assert store.most == 1


async def test_calls_run_in_parallel_as_long_as_nothing_foreign_shows_up(memory: Core) -> None:
    await memory.fill([record("x", ID)])
    memory.api.latency = 0.005
    with memory.api.calls.recording() as log:
        await asyncio.gather(*(search(memory) for _ in range(5)))
    assert (log.total, log.rounds()) == (5, 1)


async def test_a_known_row_from_the_wrong_place_is_dropped_all_the_same(memory: Core) -> None:
    known = record("x", ID)
    await memory.fill([known])
    memory.api.faults.foreign = [{"id": known.row_id, "metadata": {"file_id": "elsewhere", "text": "{}"}}]
    answer = await memory.collection.records.search(KEY, embedded("x"), 5, RECALLED, {known.row_id: known})
    assert answer.records == [known]
    assert answer.foreign == 1


# ------------------------------------------------------------ a store that goes on like that


async def test_a_store_that_goes_on_like_that_is_not_asked_any_more_and_people_are_told() -> None:
    bot = await new_bot()
    await bot.remember("the rent is due on Friday")
    await bot.remember("their rent is paid", "group_77002")
    bot.api.faults.ignore_filters = True
    for _ in range(STRIKES):
        bot.restart_indexes()
        assert "their rent" not in await bot.prompt("when is the rent due?")
    asked = bot.api.calls.counts["vector_search"]
    # Not even rows of ours count now: what else there would be, nobody can know. L1 is there all the same.
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "plays chess"})
    heard = await bot.prompt("when is the rent due?")
    assert "rent is" not in heard
    assert "plays chess" in heard
    for said in (
        await bot.tool("recall_memory", {"query": "rent"}),
        await bot.command("memory search rent"),
        await bot.command("memory list"),
    ):
        assert "Recall is switched off here" in said
        assert "!memory health" in said
        assert "rent" not in said
    assert bot.api.calls.counts["vector_search"] == asked
    report = await check(bot)
    assert outcomes(report)["store_rows"] == "off"
    assert report.level is Level.ERROR
    # A clean answer brings it back: by a health check at once, else by a question after the pause.
    bot.api.faults.clear()
    assert "Recall is switched off" in await bot.command("memory search rent")
    bot.clock.move(seconds=PAUSE_SECONDS + 1)
    assert "due on Friday" in await bot.command("memory search rent")
    bot.api.faults.ignore_filters = True
    for _ in range(STRIKES):
        bot.restart_indexes()
        await bot.prompt("when is the rent due?")
    bot.api.faults.clear()
    assert outcomes(await check(bot))["store_rows"] == "seen"
    assert "due on Friday" in await bot.command("memory search rent")


def test_a_clean_answer_in_between_keeps_the_trust_and_a_trial_is_one_question() -> None:
    clock = Clock()
    trust = Trust(clock.monotonic)
    for _ in range(STRIKES - 1):
        trust.broken()
    trust.kept()
    for _ in range(STRIKES):
        trust.check(7)
        trust.broken()
    with pytest.raises(StoreFailed, match="store_distrusted") as refused:
        trust.check(7)
    assert refused.value.details == {"count": 7, "minutes": 5}
    clock.move(seconds=PAUSE_SECONDS)
    trust.check(7)
    with pytest.raises(StoreFailed, match="store_distrusted"):
        trust.check(7)  # the others wait for what the first one brings
    trust.kept()
    trust.check(7)


async def test_row_ids_that_a_store_does_not_filter_by_cost_no_trust(memory: Core) -> None:
    await memory.fill([record("ours", ID), record("theirs", "a0000001", scope=OTHER)])

    class FileIdsOnly:
        """Valkey: a filter on row ids is dropped."""

        async def list_rows(
            self, collection: str, where: Any, limit: int, offset: int = 0
        ) -> list[VectorRow]:
            if isinstance(where, RowIds):
                where = FileIds(
                    [f for s in (GROUP, OTHER) for f in file_ids(s.user_key, Visibility.RECALLED)]
                )
            return await memory.host.list_rows(collection, where, limit, offset)

    health, trust = StoreHealth(), Trust()
    reader = RowReader(FileIdsOnly(), BASE, health, trust)  # type: ignore[arg-type]
    for _ in range(STRIKES + 1):
        await reader.listing(RowIds([record("ours", ID).row_id]), 10)
    assert not reader.finds_by_id
    assert not trust.lost
    assert health.foreign_rows == 0
    assert (await reader.listing(FileIds(file_ids(KEY, Visibility.RECALLED)), 10)).foreign == 0


async def test_where_answers_are_mixed_up_one_nothing_is_not_believed(memory: Core) -> None:
    await memory.fill([record("ours", ID)])

    class Mixing:
        """Gives somebody else's empty answer now and then."""

        asked = 0

        async def list_rows(
            self, collection: str, where: Any, limit: int, offset: int = 0
        ) -> list[VectorRow]:
            self.asked += 1
            return [] if self.asked % 2 else await memory.host.list_rows(collection, where, limit, offset)

    where = FileIds(file_ids(KEY, Visibility.RECALLED))
    for caught, rows in ((False, 0), (True, 1)):
        contact = Contact(Mixing(), BASE)  # type: ignore[arg-type]
        if caught:
            contact.lane.narrow()
        reader = RowReader(Mixing(), BASE, StoreHealth(), Trust(), contact)  # type: ignore[arg-type]
        assert (await reader.listing(where, 10)).count == rows
