"""What a turn was given: noted for as long as it lasts, and never what was forgotten meanwhile."""

from __future__ import annotations

import asyncio

import pytest

from longterm_memory.errors import StorageFailed
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.models import Hit, Score, Snapshot, SnapshotEpisode
from longterm_memory.recent import RECENT_SECONDS, RecentIds
from longterm_memory.scope import Scope, Speaker
from longterm_memory.snapshots import SnapshotStore, snapshot_key
from longterm_memory.turns import AGENT_WINDOW_SECONDS, RESERVE, TURN_WINDOW_SECONDS, TurnWindow
from tests.support.core import GROUP, MINA, OTHER, TAO, Time, numbered_id, record
from tests.support.strict_host import StrictHost

KEY = GROUP.scope_key


def hits(count: int) -> tuple[Hit, ...]:
    return tuple(Hit(record(f"m {i}", numbered_id(i)).episode, Score(1.0 - i / 100)) for i in range(count))


def ids(found: tuple[Hit, ...] | None) -> list[str] | None:
    return None if found is None else [hit.episode.id for hit in found]


# ------------------------------------------------------------ recently forgotten


def test_ids_are_recent_for_a_minute() -> None:
    time = Time()
    recent = RecentIds(time.clock)
    recent.add(["a"])
    time.seconds = 30
    recent.add(["b", "a"])  # again
    time.seconds = RECENT_SECONDS + 1
    assert ("a" in recent, "b" in recent, "c" in recent) == (True, True, False)
    time.seconds = RECENT_SECONDS + 30
    assert ("a" in recent, len(recent)) == (False, 0)


# ------------------------------------------------------------ turns


def test_a_turn_is_the_speakers_in_a_conversation_for_a_while() -> None:
    time = Time()
    turns = TurnWindow(time.clock)
    note = turns.begin(GROUP, MINA, query_id="q", text="Hello  World", shown=["a"])
    assert turns.current(GROUP, MINA) is note
    assert note.shown == {"a"}
    for scope, speaker in ((GROUP, TAO), (OTHER, MINA), (GROUP, Speaker())):
        assert turns.current(scope, speaker) is None
    time.seconds = TURN_WINDOW_SECONDS
    assert turns.current(GROUP, MINA) is note
    time.seconds += 1
    assert turns.current(GROUP, MINA) is None
    turns.begin(GROUP, MINA, query_id="", text="x")  # without a listener it is short
    time.seconds += AGENT_WINDOW_SECONDS + 1
    assert turns.current(GROUP, MINA) is None
    # The next message ends it.
    turns.begin(GROUP, MINA, query_id="q1", text="one", shown=["a"])
    note = turns.begin(GROUP, MINA, query_id="q2", text="two")
    assert turns.current(GROUP, MINA) is note
    assert note.shown == set()


def test_notes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.turns._NOTES_MAX", 10)
    turns = TurnWindow(Time().clock)
    scopes = [Scope.of_session(f"group_{i}", bot_uuid="b") for i in range(30)]
    for scope in scopes:
        turns.begin(scope, MINA, query_id="q", text="x")
    assert len(turns._notes) == 10
    assert turns.current(scopes[0], MINA) is None
    assert turns.current(scopes[-1], MINA) is not None


def test_what_waits_is_for_whoever_asks_with_the_message_itself() -> None:
    turns = TurnWindow(Time().clock)
    note = turns.begin(GROUP, MINA, query_id="q", text="When is RENT due?", waiting=hits(3))
    assert turns.take_waiting(note, "something else", 5) is None
    assert ids(turns.take_waiting(note, "when is  rent due?", 2)) == [numbered_id(0), numbered_id(1)]
    assert ids(turns.take_waiting(note, "when is rent due?", 9)) == [numbered_id(i) for i in range(3)]
    nothing = turns.begin(GROUP, MINA, query_id="q", text="x")
    assert turns.take_waiting(nothing, "x", 5) is None
    # A full reserve may not be all there is.
    full = turns.begin(GROUP, MINA, query_id="q", text="x", waiting=hits(RESERVE))
    assert turns.take_waiting(full, "x", RESERVE + 1) is None
    assert len(turns.take_waiting(full, "x", RESERVE) or ()) == RESERVE


def test_what_is_in_the_prompt_nowhere_else_is_handed_out_once() -> None:
    turns = TurnWindow(Time().clock)
    note = turns.begin(GROUP, MINA, query_id="q", text="x", waiting=hits(3), once=True)
    assert len(turns.take_waiting(note, "x", 1) or ()) == 3
    assert turns.take_waiting(note, "x", 1) == ()
    assert note.shown == {numbered_id(i) for i in range(3)}


def test_what_was_forgotten_waits_nowhere() -> None:
    time = Time()
    turns = TurnWindow(time.clock)
    before = turns.begin(GROUP, MINA, query_id="q", text="x", waiting=hits(3))
    turns.begin(GROUP, TAO, query_id="q", text="x")
    turns.forget(GROUP.user_key, [numbered_id(1)])
    after = turns.begin(OTHER, MINA, query_id="q", text="x", waiting=hits(3))  # recalled before, noted after
    for note in (before, after):
        assert ids(turns.take_waiting(note, "x", 5)) == [numbered_id(0), numbered_id(2)]


# ------------------------------------------------------------ snapshots


def snapshot(*episodes: str, scope_key: str = KEY) -> Snapshot:
    return Snapshot(
        scope_key=scope_key,
        injected=True,
        blocks=("profile", "\n".join(f"(id {i}) secret {i}" for i in episodes)),
        episodes=tuple(SnapshotEpisode(id=i, content=f"secret {i}", score=1.0) for i in episodes),
    )


@pytest.fixture
def api() -> StrictHost:
    return StrictHost()


@pytest.fixture
def store(api: StrictHost) -> SnapshotStore:
    return SnapshotStore(LangBotHost(api).storage)


async def test_the_latest_of_each_conversation_is_kept(api: StrictHost, store: SnapshotStore) -> None:
    assert await store.get(KEY) is None
    await store.put(snapshot("a0000001"))
    await store.put(snapshot("b0000001"))
    await store.put(snapshot("c0000001", scope_key=OTHER.scope_key))
    fresh = SnapshotStore(LangBotHost(api).storage)
    assert await fresh.get(KEY) == snapshot("b0000001")
    assert await fresh.get(OTHER.scope_key) == snapshot("c0000001", scope_key=OTHER.scope_key)


async def test_long_keys_are_shortened_and_stay_apart(store: SnapshotStore) -> None:  # I2
    keys = [Scope.of_session(f"group_{'群' * 300}{i}", bot_uuid="b").scope_key for i in range(2)]
    for key in keys:
        await store.put(snapshot("a0000001", scope_key=key))
        assert len(snapshot_key(key)) < 200
    assert len({snapshot_key(key) for key in keys}) == 2
    found = await store.get(keys[0])
    assert found is not None
    assert found.scope_key == keys[0]


async def test_what_was_forgotten_is_in_no_snapshot(api: StrictHost, store: SnapshotStore) -> None:
    await store.put(snapshot("a0000001", "b0000001"))
    await store.forget(GROUP, ["a0000001", "z0000001"])
    kept = await store.get(KEY)
    assert kept is not None
    assert [e.id for e in kept.episodes] == ["b0000001"]
    assert "secret a0000001" not in api.values[snapshot_key(KEY)].decode()
    assert kept.blocks == ("profile",)  # the block that showed it went whole
    with api.calls.recording() as log:
        await store.forget(GROUP, ["z0000001"])
        await store.forget(OTHER, ["z0000001"])
    assert log.counts["set_plugin_storage"] == 0


async def test_a_turn_that_publishes_late_does_not_bring_it_back(
    api: StrictHost, store: SnapshotStore
) -> None:
    await store.forget(GROUP, ["a0000001"])
    await store.put(snapshot("a0000001", "b0000001"))
    assert "secret a0000001" not in api.values[snapshot_key(KEY)].decode()
    kept = await store.get(KEY)
    assert kept is not None
    assert [e.id for e in kept.episodes] == ["b0000001"]


async def test_forgetting_does_not_undo_a_newer_snapshot(api: StrictHost, store: SnapshotStore) -> None:
    await store.put(snapshot("a0000001", "b0000001"))
    api.faults.slow = {"get_plugin_storage": 0.01}
    forgetting = asyncio.create_task(store.forget(GROUP, ["a0000001"]))
    await asyncio.sleep(0.003)
    await store.put(snapshot("c0000001"))
    await forgetting
    kept = await store.get(KEY)
    assert kept is not None
    assert [e.id for e in kept.episodes] == ["c0000001"]
    assert len(store._locks) == 0


async def test_what_cannot_be_read_is_reported_and_forgetting_removes_a_damaged_one(
    api: StrictHost, store: SnapshotStore
) -> None:
    api.values[snapshot_key(KEY)] = b"{"
    with pytest.raises(StorageFailed, match="profile_unreadable"):
        await store.get(KEY)
    await store.forget(GROUP, ["a0000001"])
    assert snapshot_key(KEY) not in api.values
    await store.put(snapshot("b0000001"))
    api.faults.storage_down = True
    for attempt in (store.get(KEY), store.put(snapshot()), store.forget(GROUP, ["b0000001"])):
        with pytest.raises(StorageFailed, match="storage_down"):
            await attempt
