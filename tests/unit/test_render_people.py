"""Replies about scope and people: overview, profile, me; hostile names and facts break none of them."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from longterm_memory.chat import render
from longterm_memory.chat.voice import Voice
from longterm_memory.errors import StorageFailed, StoreFailed
from longterm_memory.listing import Page
from longterm_memory.models import Filters, Profile, Slot, SlotValue
from longterm_memory.policy import Actor
from longterm_memory.scope import Isolation, Scope, Speaker
from longterm_memory.scoped import Overview, ProfileView
from longterm_memory.settings import Settings
from tests.support.replies import (
    EN,
    GROUP,
    HOSTILE,
    MINA,
    VOICES,
    episode,
    group_actor,
    harmless,
    hits,
    page,
    worst,
)

PRIVATE = Scope("b-01", "person", "9001")
SHARED = Scope("b-01", "group", "77001", Isolation.BOT)
PROFILE = Profile(
    name="Mina",
    traits=("vegetarian", "lives in Berlin"),
    preferences=("tea",),
    notes="first line\n</mem> second line",
    updated_at="2026-05-01T22:00:00Z",
    trait_slots={
        "city": Slot(
            value="lives in Berlin",
            history=(SlotValue(value="lives in Osaka", updated_at="2026-04-01T00:00:00Z", reason="moved"),),
        ),
        "job": Slot(value="", history=(SlotValue(value="baker"),)),
    },
)


def overview_of(**changes: object) -> Overview:
    fields: dict[str, object] = {
        "scope": GROUP,
        "actor": group_actor(),
        "settings": Settings(),
        "kb_id": "kb-1",
        "profiles": ProfileView(
            Profile(notes="a\nb"), Profile(name="Mina", traits=("x",), preferences=("y", "z"))
        ),
        "active": 132,
        "hidden": 7,
        **changes,
    }
    return Overview(**fields)  # type: ignore[arg-type]


def test_overview_names_mode_session_keys_speaker_counts_and_settings() -> None:
    for voice in VOICES:
        text = render.overview(voice, overview_of())
        for part in (
            *("group_77001", "isolation: session", "Mina (9001)", "132", "7", "b-01:group_77001", "kb-1"),
            *("30", "auto", "0.5", "owner_or_admin", "!memory help"),
        ):
            assert part in text
        harmless(text)
    off = Settings(auto_recall_top_k=0, retrieval_strategy="vector")
    text = render.overview(EN, overview_of(settings=off))
    assert "Automatic recall: off" in text
    assert "vector weight 1;" in text


def test_overview_of_a_memory_admin_and_of_nobody() -> None:
    assert "Mina (9001), memory admin" in render.overview(
        EN, overview_of(actor=group_actor(memory_admins=("9001",)))
    )
    text = render.overview(
        EN, overview_of(actor=group_actor(Speaker()), profiles=ProfileView(Profile(), None))
    )
    assert "You: an unknown speaker" in text
    assert "Profiles: of this conversation: (empty); yours: (empty)." in text


def test_overview_says_how_far_memories_are_shared() -> None:
    shared = Settings(isolation=Isolation.BOT)
    text = render.overview(EN, overview_of(scope=SHARED, settings=shared))
    assert "isolation: bot" in text
    assert "user_key bot:b-01" in text
    assert "scope_key b-01:group_77001" in text
    unknown_bot = Scope("", "group", "77001", Isolation.BOT)
    assert "the bot is not known" in render.overview(EN, overview_of(scope=unknown_bot, settings=shared))


def test_overview_when_something_cannot_be_read() -> None:
    broken = ProfileView(None, None, (StorageFailed("profile_unreadable", key="k"),))
    text = render.overview(
        EN, overview_of(active=None, hidden=None, problem=StoreFailed("store_down"), profiles=broken)
    )
    assert "Memories: can't be read now. The vector store did not answer" in text
    assert "of this conversation: can't be read; yours: can't be read" in text


def test_profile_with_keyed_facts_and_what_they_were_before() -> None:
    voice = Voice(zone=ZoneInfo("Asia/Shanghai"))
    text = render.profile(voice, ProfileView(Profile(), PROFILE), group_actor())
    assert text.splitlines() == [
        "Profile of this conversation:",
        "(empty)",
        "Your profile, Mina (9001), changed 2026-05-02:",
        "Name: Mina",
        "Traits:",
        "- vegetarian",
        "- lives in Berlin (key: city)",
        "    earlier: lives in Osaka (2026-04-01, moved)",
        "- (no current value) (key: job)",
        "    earlier: baker (unknown)",
        "Preferences:",
        "- tea",
        "Notes:",
        "> first line",
        "> ‹/mem> second line",
    ]


def test_profiles_that_cannot_be_read_are_named_and_nothing_is_made_up() -> None:
    both = (StorageFailed("profile_unreadable", key="k1"), StorageFailed("profile_unreadable", key="k2"))
    for voice in VOICES:
        damaged = ProfileView(Profile(name="Crew"), None, both[:1])
        text = render.profile(voice, damaged, group_actor(Speaker()))
        for part in ("Crew", "k1", voice.say("profile_nobody")):
            assert part in text
        text = render.profile(voice, ProfileView(None, None, both), group_actor())
        assert text.splitlines() == [voice.explain(problem) for problem in both]
        told = render.me(voice, GROUP, group_actor(), ProfileView(None, None, both[1:]), page([]))
        assert "k2" in told
        assert voice.say("profile_empty") not in told


def test_a_long_profile_goes_over_pages_and_nothing_is_lost() -> None:
    for voice in VOICES:
        full = Profile(
            name=HOSTILE,
            traits=tuple(f"trait {i} {HOSTILE}" for i in range(20)),
            preferences=tuple(f"preference {i} {HOSTILE}" for i in range(10)),
            notes=(HOSTILE + "\n") * 25,
            updated_at="not a date",
        )
        seen = ""
        for number in range(1, 20):
            text = render.profile(voice, ProfileView(full, full), group_actor(), number)
            harmless(text)
            seen += text
            if f"!memory profile {number + 1}" not in text:
                break
        assert number > 2
        assert all(f"trait {i} " in seen for i in range(20))
        assert render.profile(voice, ProfileView(full, full), group_actor(), 99) == text


def test_me() -> None:
    for voice in VOICES:
        own = page([episode(i) for i in range(10)], total=23)
        text = render.me(voice, GROUP, group_actor(), ProfileView(None, PROFILE), own)
        assert "Mina (9001)" in text
        assert "lives in Berlin" in text
        assert "[k7m29x00]" in text
        assert "23" in text
        assert "!memory me 2" in text
        assert voice.say("me_seen_group") in text
        assert voice.say("me_seen_shared") not in text
        second = render.me(
            voice, GROUP, group_actor(), ProfileView(None, PROFILE), page([episode(11)], number=3, total=21)
        )
        assert "Berlin" not in second
        assert "!memory me 4" not in second


def test_me_says_who_can_see_it() -> None:
    nothing = page([])
    alone = Actor.of(PRIVATE, MINA, "command")
    assert EN.say("me_seen_private") in render.me(EN, PRIVATE, alone, ProfileView(None, Profile()), nothing)
    shared = render.me(EN, SHARED, group_actor(), ProfileView(None, Profile()), nothing)
    assert EN.say("me_seen_shared") in shared
    assert "No memories of what you said." in shared
    assert render.me(EN, GROUP, group_actor(Speaker()), ProfileView(None, None), nothing) == EN.say(
        "me_nobody"
    )


def test_hostile_text_stays_in_its_line() -> None:
    for voice in VOICES:
        many = [worst(i) for i in range(10)]
        harmless(render.listing(voice, Page(tuple(many), 99, 3, 10, 69), Filters(), here="group_77001"))
        harmless(render.search(voice, hits(*many, episode(20)), Filters(tag="x"), here="group_77001"))
        harmless(
            render.me(
                voice, GROUP, group_actor(Speaker(HOSTILE, HOSTILE)), ProfileView(None, PROFILE), page(many)
            )
        )
        for number in range(1, 9):
            harmless(render.show(voice, many[0], number))
        listed = render.listing(voice, page(many), Filters())
        assert len(listed.splitlines()) == 11, "one line each"
        scope = Scope(HOSTILE, "group", HOSTILE * 30)
        harmless(
            render.overview(voice, overview_of(scope=scope, actor=group_actor(Speaker(HOSTILE, HOSTILE))))
        )
