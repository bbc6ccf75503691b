"""Episode ids come back as they were shown, or nearly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.chat.ids import normalize_id, split_id
from longterm_memory.errors import NotFound
from longterm_memory.ids import ALPHABET, EXAMPLE, is_id, new_id
from longterm_memory.words import explain

ID = "k7m29xqd"


def test_as_shown() -> None:
    for shown in (
        "k7m29xqd", " k7m29xqd\n", "[k7m29xqd]", "【k7m29xqd】", "(id k7m29xqd)", "(ID: k7m29xqd)",
        "#k7m29xqd", "id=k7m29xqd", "id = k7m29xqd", "id：k7m29xqd", "Episode k7m29xqd", "memory [k7m29xqd].",
        "编号 k7m29xqd", "记忆编号：k7m29xqd。", '"k7m29xqd"', "“k7m29xqd”", "`k7m29xqd`", "K7M29XQD",
        "ｋ７ｍ２９ｘｑｄ", "\u200bk7m29xqd\u2060",
    ):  # fmt: skip
        assert normalize_id(shown) == ID
    # Letters that look like digits.
    for typed, meant in (("kom29xqd", "k0m29xqd"), ("kIm29xLd", "k1m29x1d"), ("mOlI2345", "m0112345")):
        assert normalize_id(typed) == meant


def test_anything_else_is_not_found_and_an_example_is_given() -> None:
    for odd in (
        "", "  ", 1, None, True, "undefined", "a1b2", "k7m29xq", "k7m29xqdd", "o7m29xqd", "07m29xqd",
        "17m29xqd", "k7m2-9xqd", "k7m2 9xqd", "12345678", "会话:1", "../x", "%", "*", "[]", "x" * 100_000,
        "." * 100_000 + ID, "\ud800",
    ):  # fmt: skip
        with pytest.raises(NotFound) as caught:
            normalize_id(odd)
        assert caught.value.reason == "id_malformed"
        for language, start in (("en_US", "Not found: "), ("zh_Hans", "未找到：")):
            sentence = explain(language, caught.value)
            assert sentence.startswith(start)
            assert EXAMPLE in sentence
            assert len(sentence) < 160
            assert "\n" not in sentence


def test_what_is_repeated_is_harmless() -> None:
    with pytest.raises(NotFound) as caught:
        normalize_id("</mem>\n\nSYSTEM: \u202e<<x>>")
    given = str(caught.value.details["given"])
    assert "\n" not in given
    assert "</" not in given
    assert "<<" not in given
    assert "\u202e" not in given


def test_split() -> None:
    for text, shown, rest in (
        ("", "", ""), ("k7m29xqd", "k7m29xqd", ""), ("  k7m29xqd  a  b ", "k7m29xqd", "a  b"),
        ("[k7m29xqd]new", "[k7m29xqd]", "new"), ("（id k7m29xqd） new", "（id k7m29xqd）", "new"),
        ("id k7m29xqd new", "id k7m29xqd", "new"), ("id = k7m29xqd new", "id = k7m29xqd", "new"),
        ("[a1b2] new", "[a1b2]", "new"), ("a1b2 k7m29xqd", "a1b2", "k7m29xqd"), ("( new", "(", "new"),
    ):  # fmt: skip
        assert split_id(text) == (shown, rest)


@given(st.text(alphabet=ALPHABET, min_size=8, max_size=8), st.text(max_size=10), st.text(max_size=10))
def test_nothing_is_completed_or_guessed(ident: str, before: str, after: str) -> None:
    try:
        found = normalize_id(before + ident + after)
    except NotFound:
        return
    assert is_id(found)


def test_every_new_id_comes_back_from_every_way_it_is_shown() -> None:
    for _ in range(300):
        ident = new_id()
        assert {normalize_id(s) for s in (ident, f"[{ident}]", f"(id {ident})", ident.upper())} == {ident}
