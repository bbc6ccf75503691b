"""Statements: what kind of fact a sentence tells, of whom, what it denies, and whether two tell the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.facets import SELF, facets, holders, same_holder
from longterm_memory.text.measures import measures
from longterm_memory.text.statements import compare, denied, is_version_of


def test_the_kind_of_a_fact_is_told_whatever_the_words_and_the_language() -> None:
    for kind, sentences in (
        ("home", ("Mina lives in Osaka", "Mina moved to Oslo", "小美搬到重庆了", "我住在大阪")),
        ("job", ("Tao works at Acme", "Tao quit", "阿涛辞了工作", "我换工作了")),
        ("diet", ("Tao is a vegetarian", "Tao eats fish again", "阿涛吃素")),
        ("taste", ("Mina likes karaoke", "Mina can't stand karaoke", "小美讨厌唱K")),
    ):
        assert all(kind in facets(sentence) for sentence in sentences)
    assert facets("The wifi is slow") == frozenset()


def test_of_whom_a_sentence_speaks() -> None:
    for text, expected in (
        ("Mina lives in Hanoi", (SELF,)), ("Mina's sister lives in Hanoi", ("sister",)),
        ("my mom's phone number", ("mother",)), ("我妈妈住在苏州", ("妈妈",)), ("阿涛的老婆是医生", ("老婆",)),
        ("Lan and Marco broke up, her boyfriend is Felix", (SELF, "boyfriend")),
        ("Omar has two children", (SELF,)), ("小美喜欢妈妈做的菜", (SELF,)), ("", (SELF,)),
    ):  # fmt: skip
        assert holders(text) == expected
    for memory, correction, same in (
        ("My sister Lan lives in Hanoi", "Lan moved to Oslo", True),
        ("我姐姐住在大阪", "My sister moved to Oslo", True),
        ("Lan's boyfriend is Marco", "Lan and Marco broke up, she is single", True),
        ("Mina lives in Hanoi", "Mina's sister moved to Oslo", False), ("我妹妹住在大阪", "我姐姐搬到奥斯陆了", False),
        ("My mother lives in Hue", "My mother-in-law moved to Hue", False),
    ):  # fmt: skip
        assert same_holder(memory, correction) is same


def test_what_a_sentence_denies() -> None:
    for text, expected in (
        ("My dog is called Brisket, not Biscuit", {"biscuit"}), ("Mina left Acme and works at Umbrella", {"acm"}),
        ("The Iceland trip is cancelled", {"iceland"}), ("小美的弟弟叫小波，不叫小宾", {"小宾"}),
        ("阿涛把本田卖了，买了特斯拉", {"本田"}), ("小美对花生不过敏", {"花生"}),
        ("医生把药减到25毫克", set()), ("My flight is on Friday", set()),
    ):  # fmt: skip
        assert denied(text) == expected
    likeness = compare("Tao is no longer in the chess club", "Tao is in the rowing club", ["Tao"])
    assert likeness.denied_elsewhere
    assert not compare("阿涛不在象棋社了", "Tao is in the chess club", ["Tao"]).denied_elsewhere


def test_dates_and_numbers_tell_two_events_apart_only_where_the_correction_names_one() -> None:
    assert measures("Monday 3 March, 9:00")["weekday"] == {"monday"}
    assert measures("3月24号周二十点") == {
        "weekday": {"周二"},
        "month": {"3月"},
        "clock": {"十点"},
        "number": {"24", "十"},
    }
    best, other = "Yoga is on Tuesday at 7", "Yoga is on Thursday at 7"
    assert is_version_of(other, best, "Yoga is at 8")
    assert not is_version_of(other, best, "Yoga on Tuesday is at 8")
    assert not is_version_of("The yoga teacher is Jan", best, "Yoga is at 8")


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared(one: str, two: str) -> None:
    likeness = compare(one, two, ["Mina"])
    assert 0 <= likeness.words <= 1
    assert 0 <= likeness.kind <= 1
    assert is_version_of(one, two, two) in (True, False)
