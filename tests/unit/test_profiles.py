"""Profiles in storage: keys, isolation, reading, listing, deleting (cases A7, B6, E3, I1, K7, M4)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.errors import BadArgument, StorageFailed
from longterm_memory.injection.blocks import render_profile_block
from longterm_memory.models import Profile, ProfileChange
from longterm_memory.profile_records import KEY_LENGTH_MAX, SCHEMA_VERSION, StoredProfile, profile_key
from longterm_memory.profiles import ProfileStore
from longterm_memory.scope import Isolation, Scope, Speaker
from tests.support.memory_storage import MemoryStorage
from tests.support.profiles import GROUP, MINA, MINAS_KEY, TAO, add, new_store


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def store(storage: MemoryStorage) -> ProfileStore:
    return new_store(storage)


# ------------------------------------------------------------ where it goes


async def test_each_profile_has_its_own_readable_key(store: ProfileStore, storage: MemoryStorage) -> None:
    await add(store, "likes hiking")
    await add(store, "release group", field="notes")
    assert sorted(storage.values) == ["ltm/profile/session/b-01:group_77001", MINAS_KEY]
    stored = json.loads(storage.values[MINAS_KEY])
    assert stored == {
        "schema_version": SCHEMA_VERSION,
        "target": "speaker",
        "bot_uuid": "b-01",
        "session_name": "group_77001",
        "launcher_type": "group",
        "launcher_id": "77001",
        "sender_id": "9001",
        "sender_name": "Mina",
        "profile": {"traits": ["likes hiking"], "updated_at": "2025-03-16T12:00:00Z"},
    }


async def test_profiles_live_in_their_conversation_whatever_the_isolation(store: ProfileStore) -> None:
    await add(store, "a")
    assert (await store.speaker(Scope("b-01", "group", "77001", Isolation.BOT), MINA)).traits == ("a",)
    for bot, group in (("b-01", "77002"), ("b-02", "77001"), ("", "77001")):
        assert (await store.speaker(Scope(bot, "group", group), MINA)).empty
    # Nor is it anybody else's of that name (B6).
    await add(store, "b", speaker=Speaker("wx_abc", "Mina"))
    assert (await store.speaker(GROUP, Speaker("wx_abc"))).traits == ("b",)
    assert (await store.speaker(GROUP, MINA)).traits == ("a",)


async def test_a7_without_a_sender_nothing_is_read_or_written(
    store: ProfileStore, storage: MemoryStorage
) -> None:
    nobody = Speaker("", "Mina")
    for options in ({}, {"target": "speaker", "field": "notes"}, {"field": "name", "action": "set"}):
        with pytest.raises(BadArgument) as caught:
            await add(store, "x", speaker=nobody, **options)
        assert caught.value.reason == "speaker_unknown"
    with pytest.raises(BadArgument):
        await store.speaker(GROUP, nobody)
    assert storage.values == {}
    await add(store, "x", speaker=nobody, field="notes")
    assert not any(key.endswith((":", "/", "None")) for key in storage.values)


async def test_m4_what_is_unclear_is_refused_and_never_lands_in_the_session(storage: MemoryStorage) -> None:
    for options in ({"field": "mood"}, {"action": "update"}, {"target": "user"}, {"values": ""}):
        given_: dict[str, Any] = {"field": "traits", "action": "add", "values": "x", **options}
        with pytest.raises(BadArgument):
            await new_store(storage).update(GROUP, MINA, **given_)
    assert storage.calls == []


LONG = "x" * 300


async def test_keys_stay_short() -> None:
    for scope, speaker, key in (
        (Scope("b", "group", "1"), None, "ltm/profile/session/b:group_1"),
        (Scope("b", "group", "!r:x.org"), MINA, "ltm/profile/speaker/b:group_%21r%3Ax.org/9001"),
        (Scope("b", "group", LONG), None, "ltm/profile/session/~"),
        (Scope("b", "group", "1"), Speaker(LONG), "ltm/profile/speaker/b:group_1/~"),
        (Scope("b", "group", "g" * 150), MINA, f"ltm/profile/speaker/b:group_{'g' * 150}/9001"),
        (Scope("b", "group", LONG), MINA, "ltm/profile/speaker/~"),
    ):
        store = new_store(MemoryStorage())
        found = profile_key(scope, speaker)
        assert found.startswith(key) if key.endswith("~") else found == key
        assert len(found) <= KEY_LENGTH_MAX
        target = "speaker" if speaker else "session"
        await add(store, "kept", scope=scope, speaker=speaker or MINA, target=target)
        store.forget_cache()
        assert [stored.key for stored in (await store.list_profiles(scope))[0]] == [found]


IDS = st.text(max_size=12) | st.sampled_from(
    ["1:9", "1", "9", "/", "%2F", "~", "None", "👩", "x" * 250, "x" * 251]
)
PLACES = st.tuples(IDS, st.sampled_from(["group", "person"]), IDS.filter(str.strip), IDS)


@given(PLACES, PLACES)
def test_i1_different_places_have_different_keys(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    keys = []
    for bot, kind, ident, sender in (one, other):
        scope, speaker = Scope(bot, kind, ident), Speaker(sender) if sender else None
        key = profile_key(scope, speaker)
        assert len(key) <= KEY_LENGTH_MAX
        stored = StoredProfile.empty(scope, speaker)
        assert StoredProfile.load(key, stored.dump()) == stored
        keys.append(key)
    assert (keys[0] == keys[1]) == (one == other)


# ------------------------------------------------------------ reading


async def test_what_is_written_is_there_after_a_restart(store: ProfileStore, storage: MemoryStorage) -> None:
    await add(store, "Osaka", fact_key="city")
    await add(store, "Berlin", fact_key="City ")
    await add(store, "欧阳 Mina", field="name", action="set")
    again = new_store(MemoryStorage(storage.values))
    assert await again.speaker(GROUP, MINA) == await store.speaker(GROUP, MINA)
    before = render_profile_block(Profile(), await store.speaker(GROUP, MINA), MINA, budget=3_000)
    after = render_profile_block(Profile(), await again.speaker(GROUP, MINA), MINA, budget=3_000)
    assert before == after


async def test_a_profile_in_use_costs_no_call(store: ProfileStore, storage: MemoryStorage) -> None:
    await add(store, "a")
    await store.session(GROUP)
    storage.calls.clear()
    for _ in range(3):
        await store.session(GROUP)
        await store.speaker(GROUP, MINA)
    assert storage.calls == []
    await add(store, "b")
    assert storage.calls == ["set"]
    await add(store, "b")
    assert storage.calls == ["set"]  # nothing changed, nothing written
    store.forget_cache()
    assert (await store.speaker(GROUP, MINA)).traits == ("a", "b")
    assert storage.calls == ["set", "get"]


async def test_memory_is_bounded(storage: MemoryStorage) -> None:
    store = new_store(storage, cached=5)
    people = [Speaker(str(n)) for n in range(40)]
    await asyncio.gather(*(add(store, "x", speaker=speaker) for speaker in people))
    assert len(store._cache) <= 5
    assert store._locks == {}
    assert [(await store.speaker(GROUP, speaker)).traits for speaker in people] == [("x",)] * 40
    assert len(store._cache) <= 5


async def test_an_answer_from_before_forget_cache_is_not_kept(
    store: ProfileStore, storage: MemoryStorage
) -> None:
    await add(store, "a")
    store.forget_cache()
    storage.slow = 0.02
    reading = asyncio.create_task(store.speaker(GROUP, MINA))
    await asyncio.sleep(0.005)
    store.forget_cache()
    await reading
    assert store._cache == {}


async def test_listing(store: ProfileStore, storage: MemoryStorage) -> None:
    await add(store, "a")
    await add(store, "a", speaker=TAO)
    await add(store, "n", field="notes")
    await add(store, "x", scope=Scope("b-01", "group", "770011"))
    storage.values["ltm/kb"] = b"{}"
    storage.values["ltm/snapshot/b-01:group_77001"] = b"{}"
    found, failed = await store.list_profiles(GROUP)
    assert failed == []
    assert [(s.target, s.sender_id, s.scope.session_key) for s in found] == [
        ("session", "", "b-01:group_77001"),
        ("speaker", "9001", "b-01:group_77001"),
        ("speaker", "9002", "b-01:group_77001"),
    ]
    assert found[1].speaker == MINA
    everything, _ = await store.list_profiles()
    assert len(everything) == 4
    assert await store.keys() == sorted(s.key for s in everything)
    assert await store.read(MINAS_KEY) == found[1]
    assert await store.read(MINAS_KEY + "0") is None


async def test_the_name_at_the_last_write_is_remembered(store: ProfileStore) -> None:
    for name in ("Mina", "米娜🌙", ""):
        await add(store, f"as {name}", speaker=Speaker("9001", name))
    found = await store.read(MINAS_KEY)
    assert found is not None
    assert found.sender_name == "米娜🌙"


# ------------------------------------------------------------ changing and deleting


async def test_a_whole_profile_can_be_put_back_and_a_change_that_raises_writes_nothing(
    store: ProfileStore, storage: MemoryStorage
) -> None:
    def raises(profile: Profile) -> ProfileChange:
        raise BadArgument("content_empty")

    with pytest.raises(BadArgument):
        await store.change(GROUP, MINA, raises)
    assert storage.values == {}
    assert store._locks == {}
    # What an import does, under the same lock as everything else.
    await add(store, "a")
    whole = Profile(name="Mina", traits=("x",))
    change = await store.change(GROUP, MINA, lambda _: ProfileChange(whole, "speaker", "set"))
    assert change.profile is whole
    assert await store.speaker(GROUP, MINA) == whole


async def test_deleting(store: ProfileStore, storage: MemoryStorage) -> None:
    await add(store, "a")
    await add(store, "a", speaker=TAO)
    assert await store.delete(GROUP, MINA) is True
    assert await store.delete(GROUP, MINA) is False
    assert (await store.speaker(GROUP, MINA)).empty
    assert (await store.speaker(GROUP, TAO)).traits == ("a",)
    assert MINAS_KEY not in storage.values
    await add(store, "b")
    assert (await store.speaker(GROUP, MINA)).traits == ("b",)

    async def pretend(key: str) -> None:
        pass

    storage.delete = pretend  # type: ignore[method-assign]
    with pytest.raises(StorageFailed) as caught:
        await store.delete(GROUP, MINA)
    assert caught.value.reason == "delete_unverified"
    assert (await store.speaker(GROUP, MINA)).traits == ("b",)
