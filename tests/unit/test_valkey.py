"""The memory on LangBot's Valkey class, over a double of the server: what reaches it, and what cannot go wrong
there.

Not verified on a server. The class, its filters and the client's command builders are the real ones.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from longterm_memory.drafts import Revision
from longterm_memory.errors import NotFound, StoreFailed
from longterm_memory.models import Filters, Status
from longterm_memory.ports import FileIds, RowIds
from longterm_memory.records.envelope import emptied, encode
from longterm_memory.records.keys import Visibility, file_id, grave_id
from playground.engines import EngineApi
from playground.engines.valkey import NotUnderstoodError, ValkeyDouble, open_valkey_double
from tests.support.core import ALL, BASE, GROUP, OTHER, TAO, Core, core, draft, numbered_id, record
from tests.support.record_reads import ID, KEY, listed

MATCH_ALL = "-@file_id:{__langbot_match_all_sentinel__}"
MARK = r"@file_id:{ltm\-sentinel}"
"""The row that tells an empty store from a lost one; the class itself escapes the dash."""
PLACES = re.compile(
    rf"(@file_id:\{{t?[0-9a-f]{{47,48}}(\|t?[0-9a-f]{{47,48}})*\}}|{re.escape(MARK)})"
    r"(=>\[KNN \d+ @vector \$BLOB AS __vec_score\])?"
)
GRAVE = grave_id(KEY)


class Valkey:
    """A memory over the double."""

    def __init__(self, api: EngineApi, server: ValkeyDouble, memory: Core) -> None:
        self.api = api
        self.server = server
        self.memory = memory
        self.records = memory.collection.records

    @classmethod
    async def start(cls, api: EngineApi, server: ValkeyDouble) -> Valkey:
        memory = await core(api)  # type: ignore[arg-type]
        await memory.collection.prepare()
        return cls(api, server, memory)

    async def restarted(self) -> Valkey:
        """The same data as a new process sees it, which has yet to find out what this store is like."""
        return await self.start(self.api, self.server)

    @property
    def rows(self) -> int:
        """Rows in the server, the sentinel not counted."""
        return len(self.server.hashes) - 1

    def holds(self, text: str) -> bool:
        """Whether any field of any row has that text in it."""
        return any(text.encode() in value for row in self.server.hashes.values() for value in row.values())


@pytest.fixture
async def valkey(tmp_path: Path) -> Valkey:
    backend, server = open_valkey_double(tmp_path)
    return await Valkey.start(EngineApi(backend), server)


# ------------------------------------------------------------ the facts


async def test_the_hosts_class_drops_row_ids_from_listings_and_deletes(valkey: Valkey) -> None:
    """If this fails, LangBot's class has changed, and docs/decisions/0005-valkey.md has to."""
    ours, theirs = record("ours", ID), record("theirs", ID, scope=OTHER)
    host = valkey.memory.host
    await host.upsert(BASE, [encode(ours), encode(theirs)])
    asked = RowIds([ours.row_id])
    assert {theirs.row_id, ours.row_id} < {row.id for row in await host.list_rows(BASE, asked, 10)}
    await host.delete_rows(BASE, asked)
    assert valkey.rows == 2
    (found,) = await host.list_rows(BASE, FileIds([file_id(KEY, Visibility.RECALLED, ID)]), 10)
    assert found.id == ours.row_id
    assert found.metadata.items() >= encode(ours).metadata.items()


async def test_the_double_refuses_what_the_hosts_class_never_sends(valkey: Valkey) -> None:
    index, send = "idx:lb_1", valkey.server.custom_command
    create = "ON HASH PREFIX 1 kb:lb_1: SCHEMA vector VECTOR HNSW 6 DIM 3 DISTANCE_METRIC COSINE TYPE FLOAT32"
    page = ["LIMIT", "0", "1", "DIALECT", "2"]
    assert await send(["FT.CREATE", index, *create.split(), "file_id", "TAG", "document", "TEXT"]) == "OK"
    for command in (
        ["FT._LIST"],
        ["FT.CREATE", "idx:lb_2", *create.split(), "uuid", "TAG"],
        ["FT.SEARCH", index, "*", "NOCONTENT", *page],
        ["FT.SEARCH", index, "@uuid:{a}", "NOCONTENT", *page],
        ["FT.SEARCH", index, "@file_id:{a} | @file_id:{b}", "NOCONTENT", *page],
        ["FT.SEARCH", index, '@file_id:{a"}', "NOCONTENT", *page],
        ["FT.SEARCH", index, "@file_id:{}", "NOCONTENT", *page],
        ["FT.SEARCH", index, "@file_id:{a}", *page],
        ["FT.SEARCH", index, "@file_id:{a}", "NOCONTENT", "SORTBY", "file_id", *page],
        ["FT.SEARCH", index, "@file_id:{a}=>[KNN 3 @vector $BLOB AS __vec_score]", "NOCONTENT", *page],
    ):
        with pytest.raises(NotUnderstoodError):
            await send(command)


# ------------------------------------------------------------ what reaches it


async def test_every_question_names_places_once_the_store_is_known(valkey: Valkey) -> None:
    memory, server = valkey.memory, valkey.server
    assert await valkey.records.find(KEY, [ID]) == {}
    # Asked by row id, which the class makes "everything"; then by place.
    assert [query for query in server.queries if not PLACES.fullmatch(query)] == [MATCH_ALL] * 3
    server.commands.clear()
    vault = 'the "vault" \\ code is {heron} | @file_id'
    said = [await memory.say(text) for text in (vault, "Mina loves cilantro", "rent is due")]
    assert await memory.found("vault") == [vault]
    assert len(await memory.listed()) == 3
    await memory.episodes.changes.set_status(GROUP, said[1].id, Status.ARCHIVED)
    await memory.episodes.changes.edit(GROUP, said[2].id, Revision("rent is overdue"))
    await memory.episodes.forget(GROUP, said[0])
    await valkey.records.delete(KEY, [e.id for e in said])
    await valkey.records.erase(KEY)
    assert all(PLACES.fullmatch(query) for query in server.queries)
    assert not any(set("\"'\\") & set(query.replace(MARK, "")) for query in server.queries)
    assert {command[0] for command in server.commands} == {"FT.SEARCH", "HSET", "DEL"}
    assert valkey.rows == 0


async def test_a_delete_empties_the_row_moves_it_and_deletes_where_it_was_moved_to(valkey: Valkey) -> None:
    stored = record("the vault code is heron", ID, tags=("secret",))
    assert await valkey.records.find(KEY, [ID]) == {}  # so that it is known what this store is like
    await valkey.records.write([stored])
    valkey.server.commands.clear()
    with valkey.api.calls.recording() as calls:
        await valkey.records.delete(KEY, [ID])
    writes = [command for command in valkey.server.commands if command[0] in ("HSET", "DEL")]
    (_, key, *pairs), deleted = writes
    assert deleted == ("DEL", key)
    assert key.endswith(stored.row_id)
    fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
    assert (fields["file_id"], fields["document"]) == (GRAVE, "-")
    assert not any(word in " ".join(pairs) for word in ("heron", "secret", KEY, "Mina", "group_77001"))
    assert encode(stored).metadata.keys() == emptied("x", GRAVE, 3).metadata.keys()
    places = [query for query in valkey.server.queries if GRAVE in query]
    assert places == [f"@file_id:{{{GRAVE}}}"] * 2  # deleted by it, and read back
    # Looked up, emptied, deleted, and read back in both places.
    assert [call.name for call in calls.calls] == [
        "vector_list",
        "vector_upsert",
        "vector_delete",
        "vector_list",
        "vector_list",
    ]
    assert valkey.rows == 0


# ------------------------------------------------------------ finding out


async def test_whatever_a_new_process_does_first_it_does_right(valkey: Valkey) -> None:
    """Until a question by row ids was asked, nobody knows that this store drops them."""
    ids = [numbered_id(number) for number in range(60)]
    theirs = [record(f"m {i}", i, scope=OTHER) for i in ids]

    async def bulk(fresh: Valkey) -> None:
        await fresh.records.delete(KEY, ids)

    async def one(fresh: Valkey) -> None:
        await fresh.records.delete(KEY, ids[:1])
        assert list(await fresh.records.find(KEY, ids[:2])) == [ids[1]]
        await fresh.records.delete(KEY, ids)

    async def change(fresh: Valkey) -> None:
        new = [old.changed(content="new") for old in found]
        await fresh.records.write(new, found)
        assert await listed(fresh.memory) == ["new"] * 60
        await fresh.records.erase(KEY)

    for act in (bulk, one, change):
        found = [record(f"m {i}", i) for i in ids]
        await valkey.memory.fill([*found, *theirs])
        fresh = await valkey.restarted()
        await act(fresh)
        assert valkey.rows == 60
        assert len(await listed(fresh.memory, OTHER.user_key)) == 60
        assert fresh.records.health.foreign_rows == 0


async def test_a_store_that_keeps_to_no_place_either_is_asked_to_delete_nothing(valkey: Valkey) -> None:
    stored = [record("x", ID), record("theirs", ID, scope=OTHER)]
    await valkey.memory.fill(stored)
    for known in (False, True):
        memory = await valkey.restarted()
        if known:
            assert list(await memory.records.find(KEY, [ID])) == [ID]
        memory.api.faults.ignore_filters = True
        for act in (memory.records.delete(KEY, [ID]), memory.records.erase(KEY)):
            with pytest.raises(StoreFailed, match=r"store_untrusted|store_lost"):
                await act
        memory.api.faults.clear()
        assert all(valkey.server.row(one.row_id) for one in stored)
        # Nothing was learned about row ids from a store that kept to nothing.
        assert memory.records.traits.finds_by_id is not known


# ------------------------------------------------------------ what a crash leaves


async def test_a_deletion_cut_short_leaves_an_empty_row_that_the_next_one_takes(valkey: Valkey) -> None:
    async def forget(memory: Valkey) -> None:
        await memory.records.delete(KEY, ["a0000001"])

    async def erase(memory: Valkey) -> None:
        await memory.records.erase(KEY)

    nexts: list[Callable[[Valkey], Awaitable[None]]] = [forget, erase]
    for following in nexts:
        await valkey.memory.fill([record("the vault code is heron", ID), record("y", "a0000001")])
        memory = await valkey.restarted()
        memory.api.faults.fail = {"vector_delete"}
        with pytest.raises(StoreFailed, match="store_down"):
            await memory.records.delete(KEY, [ID])
        memory.api.faults.clear()
        assert valkey.rows == 2
        assert not valkey.holds("heron")
        restarted = await valkey.restarted()
        for reader in (memory, restarted):
            assert await reader.records.find(KEY, [ID]) == {}
            assert await reader.records.rows_of(KEY, [ID]) == {}
            assert await listed(reader.memory) == ["y"]
        assert await restarted.memory.found("the vault code is heron") == []
        await following(restarted)
        assert valkey.rows == 0


async def test_a_deletion_that_the_store_does_not_carry_out_is_found_out(valkey: Valkey) -> None:
    await valkey.memory.fill([record("x", ID)])
    valkey.api.faults.delete_nothing = True
    with pytest.raises(StoreFailed, match="delete_unverified"):
        await valkey.records.delete(KEY, [ID])
    assert valkey.records.health.unverified_deletes == 1


# ------------------------------------------------------------ rows by place


async def test_reading_by_place_misses_nothing_while_rows_go(
    valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longterm_memory.records.paging.PAGE_ROWS", 7)
    monkeypatch.setattr("longterm_memory.records.paging._SMALLEST_PAGE", 7)
    ids = [numbered_id(number) for number in range(120)]
    kept, gone = ids[::2], ids[1::2]
    await valkey.memory.fill([record(f"m {i}", i) for i in ids])
    assert len(await valkey.records.find(KEY, kept)) == 60

    async def deleting() -> None:
        for start in range(0, 60, 3):
            await valkey.records.delete(KEY, gone[start : start + 3])

    async def finding() -> None:
        while not done.done():
            assert set(await valkey.records.find(KEY, kept)) == set(kept)

    done = asyncio.ensure_future(deleting())
    await asyncio.gather(done, finding(), finding())
    assert valkey.rows == 60
    assert await valkey.records.find(KEY, gone) == {}


async def test_rows_that_cannot_be_read_are_deleted_by_place_too(valkey: Valkey) -> None:
    stored = encode(record("x", ID))
    broken = type(stored)(stored.id, stored.vector, {**stored.metadata, "text": "{"}, "x")
    await valkey.memory.host.upsert(BASE, [broken])
    with pytest.raises(StoreFailed, match="store_untrusted"):
        await valkey.records.find(KEY, [ID])
    assert await valkey.records.rows_of(KEY, [ID]) == {ID: [stored.id]}
    await valkey.records.delete(KEY, [ID])
    assert valkey.rows == 0


async def test_two_speakers_and_two_scopes_with_equal_texts_are_kept_apart(valkey: Valkey) -> None:
    memory = valkey.memory
    for scope in (GROUP, OTHER):
        await memory.say("my flight is on Tuesday", scope=scope)
        await memory.say("my flight is on Tuesday", TAO, scope=scope)
    theirs = (await memory.episodes.select(OTHER.user_key, Filters(statuses=ALL)))[0]
    with pytest.raises(NotFound):
        await memory.episodes.find(GROUP, theirs.id)
    await valkey.records.delete(KEY, [theirs.id])
    assert valkey.rows == 4
    await memory.importer.add_many(GROUP, [draft(f"note {number}") for number in range(60)])
    assert (await memory.importer.add_many(GROUP, [draft(f"note {n}") for n in range(60)]))[1] == 60
    await valkey.records.erase(KEY)
    assert valkey.rows == 2
    assert await memory.found("flight", OTHER) == ["my flight is on Tuesday"] * 2
    assert valkey.records.health.foreign_rows == 0
