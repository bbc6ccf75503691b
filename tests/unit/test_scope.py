"""Scopes: who shares a key with whom (nobody), and what a key can be turned back into."""

from __future__ import annotations

from enum import Enum
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longterm_memory.errors import BadArgument
from longterm_memory.records.keys import Visibility, file_ids, row_id
from longterm_memory.scope import Isolation, Scope, Speaker, clean_id, escape_part

NASTY = (
    *(
        ":",
        "/",
        "_",
        "%",
        "%3A",
        "%5F",
        "a:b",
        "a/b",
        "a_b",
        "a%b",
        "a b",
        " a",
        "a ",
        "A",
        "a",
        "-",
        ".",
        "..",
    ),
    *("群1", "米娜🌙", "\ud83c", "\udf19\ud83c", "\n", "\x00", "x" * 300, "群" * 300),
    *("bot", "%62ot", "person", "group", "007", "7", "!room:example.org", "oc_ab_cd", "../x", "wx_abc"),
)
"""Ids that platforms hand out, and worse."""

any_ids = st.one_of(
    st.sampled_from(NASTY), st.text(alphabet=":/_%ab-. 群🌙\ud800", min_size=1, max_size=6).filter(str.strip)
)
"""Anything, lone surrogates too."""
ids = any_ids.filter(clean_id)
"""Anything that is an id."""


def _scopes(of: st.SearchStrategy[str]) -> st.SearchStrategy[Scope]:
    return st.builds(
        Scope,
        bot_uuid=st.one_of(st.just(""), of),
        launcher_type=st.one_of(st.sampled_from(["person", "group"]), of),
        launcher_id=of,
        isolation=st.sampled_from(Isolation),
    )


scopes, any_scopes = _scopes(ids), _scopes(any_ids)
speakers = st.builds(Speaker, id=any_ids)


def scope(session: str, bot: str = "b-01", isolation: Isolation = Isolation.SESSION) -> Scope:
    return Scope.of_session(session, bot_uuid=bot, isolation=isolation)


# ------------------------------------------------------------ injective keys


@given(any_scopes, any_scopes)
@settings(max_examples=200)
def test_two_conversations_never_share_a_session_key(one: Scope, two: Scope) -> None:
    same = (one.bot_uuid, one.launcher_type, one.launcher_id) == (
        two.bot_uuid,
        two.launcher_type,
        two.launcher_id,
    )
    assert (one.session_key == two.session_key) is same


@given(any_scopes, speakers, any_scopes, speakers)
@settings(max_examples=200)
@example(Scope("b-01", "group", "77"), Speaker("1:9"), Scope("b-01", "group", "77:1"), Speaker("9"))  # I1
@example(Scope("b-01", "group", "77"), Speaker("1/9"), Scope("b-01", "group", "77/1"), Speaker("9"))
def test_two_speakers_never_share_a_profile_key(one: Scope, a: Speaker, two: Scope, b: Speaker) -> None:
    same = one.session_key == two.session_key and a.id == b.id
    assert (one.speaker_key(a) == two.speaker_key(b)) is same
    assert one.speaker_key(a) != two.session_key


@given(any_scopes, any_scopes)
@settings(max_examples=200)
@example(Scope("bot", "group", "1"), Scope("group_1", "x", "y", Isolation.BOT))
@example(Scope("bot", "x", ""), Scope("x_", "g", "1", Isolation.BOT))
def test_episodes_are_shared_only_within_one_bot_that_is_configured_so(one: Scope, two: Scope) -> None:
    if one.shared and two.shared:
        assert (one.user_key == two.user_key) is (one.bot_uuid == two.bot_uuid)
    elif one.shared or two.shared:
        assert one.user_key != two.user_key
    else:
        assert (one.user_key == two.user_key) is (one.session_key == two.session_key)


def test_every_pair_of_nasty_ids_is_kept_apart_down_to_the_rows() -> None:
    keys = {
        Scope(bot, kind, ident).user_key
        for bot in ("", "b", "bot", "a:b", "群1")
        for kind in ("group", "a_b", "a:b")
        for ident in NASTY
    }
    assert len(keys) == 5 * 3 * len(NASTY)
    filters = [set(file_ids(key, v)) for key in list(keys)[:60] for v in Visibility]
    assert all(a.isdisjoint(b) for a, b in combinations(filters, 2))
    assert len({row_id(key, "k7m29xqd", 1) for key in keys}) == len(keys)


@given(st.text(alphabet=st.characters(), max_size=20), st.text(alphabet=st.characters(), max_size=20))
def test_escaping_is_injective_and_plain_ascii(one: str, two: str) -> None:
    a, b = escape_part(one), escape_part(two)
    assert (a == b) is (one == two)
    assert a.isascii() and ":" not in a and "/" not in a and " " not in a


def test_safe_ids_stand_verbatim() -> None:
    known = scope("group_oc_ab-cd.9")
    assert known.session_key == "b-01:group_oc_ab-cd.9"
    assert known.scope_key == known.session_key == known.user_key
    assert known.speaker_key(Speaker("9001")) == "b-01:group_oc_ab-cd.9/9001"
    assert scope("person_9001", bot="").session_key == "person_9001"
    assert scope("group_1", isolation=Isolation.BOT).user_key == "bot:b-01"
    # A bot called bot does not reach the shared keys.
    assert scope("group_1", bot="bot").user_key == "%62ot:group_1"
    assert scope("x_1", bot="group_1", isolation=Isolation.BOT).user_key == "bot:group_1"


def test_what_bot_isolation_shares() -> None:
    one, two = (scope(s, isolation=Isolation.BOT) for s in ("group_77001", "group_77002"))
    assert one.user_key == two.user_key
    assert one.session_key != two.session_key  # profiles stay in their conversation
    assert one.speaker_key(Speaker("9001")) != two.speaker_key(Speaker("9001"))
    alone = scope("group_1", bot="", isolation=Isolation.BOT)  # nothing to share it with
    assert not alone.shared
    assert alone.user_key == alone.session_key == "group_1"
    apart = [
        scope("group_1"),
        scope("group_1", isolation=Isolation.BOT),
        scope("group_2"),
        scope("group_1", "b"),
    ]
    assert len({s.space_id for s in apart}) == 4
    assert all(len(s.space_id) == 32 and set(s.space_id) <= set("0123456789abcdef") for s in apart)


# ------------------------------------------------------------ round trips


@given(scopes)
@settings(max_examples=200)
@example(Scope("team/42", "group", "team/42"))  # I2
def test_a_user_key_leads_back_to_its_scope(known: Scope) -> None:
    back = Scope.of_user_key(known.user_key)
    assert back.user_key == known.user_key
    assert back.bot_uuid == known.bot_uuid
    if not known.shared:
        assert (back.launcher_type, back.launcher_id) == (known.launcher_type, known.launcher_id)


def test_what_is_no_user_key_is_refused() -> None:
    for key in (
        "", "bot:", ":", "group", "_1", "b:group", "b:_", "b:a:group_1", "b:group_%3a", "b:%ff_1", "bot:a b",
        "bot:%41", "b:group_%E7%BE", "b:group_1/9", "b:group_%ED%A0%80", "bot:%ED%A0%80",
    ):  # fmt: skip
        with pytest.raises(BadArgument, match="scope_unknown"):
            Scope.of_user_key(key)


@given(ids, ids)
def test_a_session_name_leads_back_to_its_conversation(bot: str, ident: str) -> None:
    found = Scope.of_session(f"group_{ident}", bot_uuid=bot)
    assert found == Scope.of(bot_uuid=bot, launcher_type="group", launcher_id=ident)
    assert found.session_name == f"group_{ident}"


def test_an_id_of_300_characters_works() -> None:  # I2
    long = scope("group_" + "群" * 300)
    assert long.launcher_id == "群" * 300
    assert Scope.of_user_key(long.user_key) == long
    assert all(len(f) <= 64 for v in Visibility for f in file_ids(long.user_key, v))


# ------------------------------------------------------------ no scope, no memory


def test_without_type_or_id_there_is_no_scope() -> None:  # A6
    for name in (
        "",
        None,
        "77001",
        "_77001",
        "group_",
        "group_ ",
        77001,
        b"x",
        "群_1",
        ["group_1"],
        "group_\ud800",
    ):
        with pytest.raises(BadArgument, match="scope_unknown"):
            Scope.of_session(name, bot_uuid="b-01")
    for kind, ident in (
        ("", "1"), (None, "1"), ("group", ""), ("group", None), ("group", " "), ("group", True), ("group", "\ud800"),
    ):  # fmt: skip
        with pytest.raises(BadArgument, match="scope_unknown"):
            Scope.of(bot_uuid="b", launcher_type=kind, launcher_id=ident)
    # Without a bot there is a key of its own.
    for bot in ("", None, "  ", False, 1.5, {}):  # A7
        assert scope("group_1", bot=bot).session_key == "group_1"  # type: ignore[arg-type]


@given(scopes)
def test_nobody_has_no_profile(known: Scope) -> None:  # A7
    with pytest.raises(BadArgument, match="speaker_unknown"):
        known.speaker_key(Speaker())


@given(scopes, speakers)
def test_no_key_ends_in_a_separator_or_none(known: Scope, speaker: Speaker) -> None:  # A7
    for key in (known.session_key, known.user_key, known.speaker_key(speaker)):
        assert not key.endswith((":", ":None", "/", "/None"))


# ------------------------------------------------------------ ids


def test_ids_compare_as_strings() -> None:
    for given_, id_ in (
        (77001, "77001"), ("77001", "77001"), ("007", "007"), (-1, "-1"), (0, "0"), (" a", " a"), ("  ", ""),
        (None, ""), (True, ""), (7.0, ""), ([], ""), ({}, ""), ("a\ud800", ""), ("\ud83c\udf19", ""),
        ("🌙", "🌙"),
    ):  # fmt: skip
        assert clean_id(given_) == id_


def test_a_launcher_type_may_be_an_enum() -> None:
    class Kind(Enum):
        GROUP = "group"

    assert Scope.of(bot_uuid="", launcher_type=Kind.GROUP, launcher_id=1).session_key == "group_1"


def test_private_is_a_person_talking_in_their_own_chat() -> None:
    for session, sender, private in (
        ("person_9001", "9001", True), ("person_9001", "9002", False), ("group_9001", "9001", False),
        ("person_9001", "", False), ("person_web", "v1", False),
    ):  # fmt: skip
        assert scope(session).is_private(Speaker(sender)) is private
