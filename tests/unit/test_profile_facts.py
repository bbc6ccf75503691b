"""Facts with a key: one current value, a history, and statements that name no key (case E3)."""

from __future__ import annotations

from longterm_memory.injection.blocks import render_profile_block
from longterm_memory.models import Profile, Slot, SlotValue
from longterm_memory.profile_changes import HISTORY_MAX
from longterm_memory.profile_changes.statements import stated
from longterm_memory.scope import Speaker
from tests.support.profiles import LATER, STAMP, STAMP_LATER, after, change, history


def test_a_keyed_fact_has_one_value_and_a_history() -> None:
    first = change(Profile(), "set", "Osaka", fact_key="city")
    assert first.outcome == "set_key"
    assert first.profile.trait_slots == {"city": Slot(value="Osaka", updated_at=STAMP)}
    second = change(first.profile, "add", "Berlin", fact_key="City ", at=LATER)
    assert second.outcome == "replaced"
    assert second.details["old"] == "<<Osaka>>"
    assert second.profile.traits == ("Berlin",)
    assert second.profile.trait_slots == {
        "city": Slot(
            value="Berlin",
            updated_at=STAMP_LATER,
            history=(SlotValue(value="Osaka", updated_at=STAMP_LATER, reason="replaced"),),
        )
    }
    assert change(second.profile, "set", "Berlin", fact_key="city").outcome == "unchanged"


def test_spellings_of_a_key_are_one_key() -> None:
    for key in (
        "favorite color", "Favorite  Color", " ＦＡＶＯＲＩＴＥ　color ", "favorite_color", "favorite-color:",
    ):  # fmt: skip
        slots = after(Profile(), ("set", "green", "favorite color"), ("set", "blue", key)).trait_slots
        assert list(slots) == ["favorite color"]
        assert slots["favorite color"].value == "blue"


def test_keys_of_traits_and_preferences_are_apart() -> None:
    profile = change(Profile(), "set", "tea", field="preferences", fact_key="drink").profile
    profile = change(profile, "set", "coffee", fact_key="drink").profile
    assert (profile.traits, profile.preferences) == (("coffee",), ("tea",))


def test_a_keyed_value_keeps_its_place_and_a_new_spelling_is_no_new_value() -> None:
    profile = after(Profile(), ("add", "a"), ("set", "osaka", "city"), ("add", "b"), ("set", "Osaka", "city"))
    assert profile.traits == ("a", "Osaka", "b")
    assert profile.trait_slots["city"].history == ()
    assert change(profile, "set", "Oslo", fact_key="city").profile.traits == ("a", "Oslo", "b")
    free = after(Profile(), ("add", "Berlin"), ("add", "b"), ("set", "berlin", "city"))
    assert free.traits == ("berlin", "b")  # what stood there without a key
    assert change(free, "add", "Berlin").outcome == "unchanged"


def test_the_history_is_bounded_newest_first() -> None:
    profile = after(Profile(), *(("set", f"v{n}", "city") for n in range(12)))
    assert history(profile.trait_slots["city"]) == [f"v{n}" for n in range(10, 10 - HISTORY_MAX, -1)]


def test_contradicting_free_form_entries_go_with_the_old_value() -> None:
    profile = Profile(traits=("Osaka", "drinks coffee"), preferences=("coffee, black",))
    profile = change(profile, "set", "Osaka-shi", fact_key="city").profile
    profile = change(profile, "set", "tea", fact_key="drink", previous_value="Drinks coffee.").profile
    assert profile.traits == ("Osaka", "Osaka-shi", "tea")
    assert history(profile.trait_slots["drink"]) == ["drinks coffee"]
    assert profile.trait_slots["drink"].history[0].reason == "corrected"
    other = change(profile, "set", "cocoa", fact_key="drink", previous_value="coffee, black").profile
    assert other.preferences == ()
    assert history(other.trait_slots["drink"]) == ["coffee, black", "tea", "drinks coffee"]
    twice = Profile(traits=("Osaka", "Osaka"), trait_slots={"city": Slot(value="Osaka")})
    assert change(twice, "set", "Berlin", fact_key="city").profile.traits == ("Berlin",)


def test_remove_takes_the_value_out_of_list_slot_and_history() -> None:
    profile = after(Profile(), ("set", "Osaka", "city"), ("set", "Berlin", "city"), ("set", "Oslo", "city"))
    slot = change(profile, "remove", "osaka").profile.trait_slots["city"]
    assert (slot.value, history(slot)) == ("Oslo", ["Berlin"])
    gone = change(profile, "remove", "Oslo", fact_key="CITY").profile
    assert gone.traits == ()
    assert gone.trait_slots["city"].value == ""
    assert history(gone.trait_slots["city"]) == ["Berlin", "Osaka"]
    assert gone.empty
    back = change(gone, "set", "Rome", fact_key="city").profile
    assert (back.traits, history(back.trait_slots["city"])) == (("Rome",), ["Berlin", "Osaka"])
    assert change(profile, "remove", fact_key="city").profile.trait_slots == {}
    assert change(profile, "remove", "Berlin", "Osaka", "Oslo").profile.trait_slots == {}
    only = after(Profile(), ("set", "Osaka", "city"), ("remove", "Osaka", "city"))
    assert only.trait_slots == {}


def test_remove_with_a_key_touches_nothing_else() -> None:
    profile = after(Profile(), ("set", "blue", "car"), ("set", "blue", "bike"), ("add", "x"))
    assert profile.traits == ("blue", "blue", "x")
    one = change(profile, "remove", "blue", fact_key="car").profile
    assert (one.traits, list(one.trait_slots)) == (("blue", "x"), ["bike"])
    for value, key in (("blue", "boat"), ("red", "car"), ("x", "car")):
        assert change(profile, "remove", value, fact_key=key).outcome == "no_match"


def test_e3_one_current_city_in_the_prompt() -> None:
    profile = after(Profile(), ("set", "Osaka", "city"), ("set", "Berlin", "City "))
    moved = change(profile, "add", "lives in Oslo")
    assert moved.outcome == "restated"
    assert moved.details["old"] == "<<Berlin>>"
    assert moved.profile.traits == ("lives in Oslo",)
    slot = moved.profile.trait_slots["city"]
    assert (slot.value, history(slot)) == ("lives in Oslo", ["Berlin", "Osaka"])
    prompt = render_profile_block(Profile(), moved.profile, Speaker("9001", "Mina"), budget=3_000)
    assert "Oslo" in prompt
    assert "Berlin" not in prompt
    assert "Osaka" not in prompt


def test_the_other_way_round_the_statement_goes_to_the_history() -> None:
    profile = change(Profile(traits=("lives in Oslo", "x")), "set", "Berlin", fact_key="city").profile
    assert profile.traits == ("x", "Berlin")
    assert history(profile.trait_slots["city"]) == ["lives in Oslo"]
    same = change(Profile(traits=("lives in Berlin",)), "set", "Berlin", fact_key="city").profile
    assert same.traits == ("Berlin",)
    assert same.trait_slots["city"].history == ()


def test_a_statement_finds_the_fact_in_the_other_list_and_is_not_stored_twice() -> None:
    profile = after(Profile(), ("set", "Berlin", "city"))
    moved = change(profile, "add", "住在上海", field="preferences")
    assert (moved.profile.traits, moved.profile.preferences) == (("住在上海",), ())
    assert change(profile, "add", "lives in BERLIN.").outcome == "unchanged"


def test_a_statement_without_a_fact_to_contradict_is_an_entry() -> None:
    assert after(Profile(), ("add", "lives in Oslo")).traits == ("lives in Oslo",)
    emptied = [("set", "A", "city"), ("set", "B", "city"), ("remove", "B", "city"), ("add", "lives in Oslo")]
    assert after(Profile(), *emptied).traits == ("lives in Oslo",)


KEYS = ("city", "favorite color", "dog", "employer", "age", "生日", "最喜欢的颜色")


def test_which_fact_a_text_states() -> None:
    for text, key, value in (
        ("lives in Oslo", "city", "oslo"), ("Mina lives in Oslo", "city", "oslo"), ("31岁", "age", "31"),
        ("I live in Oslo now", "city", "oslo"), ("has moved to Oslo", "city", "oslo"),
        ("She's currently based in Bergen, Norway", "city", "bergen, norway"), ("住在上海", "city", "上海"),
        ("我现在住在上海", "city", "上海"), ("her current city is Oslo", "city", "oslo"),
        ("City: Oslo", "city", "oslo"), ("Mina's favorite color is green", "favorite color", "green"),
        ("favorite_color：green", "favorite color", "green"), ("dog: Rex", "dog", "rex"),
        ("works at ACME", "employer", "acme"), ("在华为工作", "employer", "华为"),
        ("I'm 31 years old", "age", "31"), ("生日是5月1日", "生日", "5月1日"),
        ("最喜欢的颜色是绿色", "最喜欢的颜色", "绿色"),
    ):  # fmt: skip
        assert dict(stated(text, KEYS, "Mina")) == {key: value}
    # Somebody else, the past, the future, a negation, more than one thing, or no value.
    for text in (
        "her sister lives in Oslo", "她妹妹住在上海", "used to live in Oslo", "lived in Oslo", "以前住在上海",
        "moved to Oslo in 2010", "wants to live in Oslo", "does not live in Oslo", "city isn't Oslo",
        "city is not Oslo", "lives in Oslo and works at ACME", "lives in Oslo, where she works",
        "lives in a small flat", "住在上海时学会了游泳", "works at night", "dog is afraid of thunder",
        "最喜欢的颜色是什么", "likes hiking", "", "lives in " + "x" * 100,
    ):  # fmt: skip
        assert stated(text, KEYS, "Mina") == []
    assert stated("x: y", ["x"]) == []  # a key of one letter is stated by nothing
    # A name with the signs of a pattern is only a name.
    assert stated("M(i lives in Oslo", ["city"], "M(i") == [("city", "oslo")]
    assert stated("x lives in Oslo", ["city"], ".*") == []
