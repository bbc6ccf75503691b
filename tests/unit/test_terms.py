"""Terms: what counts as the same word, and what is matched exactly or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.corrections import CORRECTION_TAGS, is_correction, topic_overlap
from longterm_memory.text.fold import fold, same_text, well_formed
from longterm_memory.text.terms import content_terms, identifiers, is_blank, terms


def shared(one: str, two: str) -> set[str]:
    return set(terms(one)) & set(terms(two))


# ------------------------------------------------------------ identifiers


@pytest.mark.parametrize(
    "identifier",
    [
        "PROJ-123",
        "src/store.ts",
        "getUserById",
        "v1.2.10",
        "user_id",
        "LongTermMemory",
        "gpt-4o",
        "a@b.com",
        "https://x.org/a",
        "3.14",
        "C++",
        "c#",
        "node.js",
        "10:30",
        "B2B",
        "#/definitions/x1",
    ],
)
def test_an_identifier_is_found_as_such_whatever_surrounds_it(identifier: str) -> None:  # J0
    wanted = identifiers(identifier)
    assert wanted
    for text in (
        f"Tao closed {identifier} today.",
        f"({identifier})",
        f"“{identifier}”，好了",
        f"见{identifier}。",
        identifier if identifier.isalpha() else identifier.upper(),
    ):
        assert wanted <= set(terms(text)), text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PROJ-123", "PROJ-124"),
        ("PROJ-123", "PROJ-1234"),
        ("v1.2.10", "v1.2.1"),
        ("v1.2", "v1.3"),
        ("src/store.ts", "src/store.tsx"),
        ("getUserById", "getUserByName"),
        ("C++", "C#"),
        ("C++", "C"),
        ("10:30", "10:31"),
        ("a@b.com", "a@b.org"),
    ],
)
def test_similar_identifiers_are_two(one: str, other: str) -> None:  # J0
    assert not identifiers(one) & set(terms(other))


@pytest.mark.parametrize("written", ["PROJ–123", "PROJ‑123", "ＰＲＯＪ－１２３", "proj-123"])
def test_dashes_width_and_case_of_an_identifier_do_not_matter(written: str) -> None:
    assert identifiers(written) == identifiers("PROJ-123")


@pytest.mark.parametrize(
    "text",
    [
        "mother-in-law",
        "he/she",
        "and/or",
        "e.g.",
        "U.S.",
        "a.m.",
        "YouTube",
        "iPhone",
        "WeChat",
        "McDonald",
        "15th",
        "5pm",
        "3kg",
        "4K",
        "2 nd",
        "Mina's",
        "don't",
        "100",
        "…",
        "word—word",
        "阿明",
    ],
)
def test_words_numbers_and_measures_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == frozenset()


def test_parts_of_an_identifier_are_found_too() -> None:
    assert shared("src/store.ts", "the store")
    assert shared("getUserById", "user")
    assert shared("max_page_rows", "pages")
    assert shared("PROJ-123", "ticket 123")
    assert shared("getUserById", "getuserbyid")


@pytest.mark.parametrize(
    ("one", "two"), [("YouTube", "youtube"), ("iPhone", "iphone"), ("HTTPServer", "httpserver")]
)
def test_names_are_found_however_their_letters_are_cased(one: str, two: str) -> None:
    assert shared(one, two)


# ------------------------------------------------------------ words


@pytest.mark.parametrize(
    "forms",
    [
        "like likes liked liking",
        "love loves loved",
        "city cities",
        "study studies studied studying",
        "movie movies",
        "bus buses",
        "plan plans planned planning",
        "box boxes",
        "dance dances danced dancing",
        "address addresses",
        "tree trees",
        "run runs running",
        "name names named",
        "Tuesday TUESDAY ｔｕｅｓｄａｙ",
        "café CAFÉ cafe\u0301",
    ],
)
def test_forms_of_a_word_are_one_term(forms: str) -> None:
    found = {tuple(terms(form)) for form in forms.split()}
    assert len(found) == 1
    assert len(found.pop()) == 1


@pytest.mark.parametrize(
    "words",
    ["bus bush", "sing string", "red reed", "thing think", "flight flights-of-fancy x"],
)
def test_different_words_stay_different(words: str) -> None:
    first, second, *_ = words.split()
    assert terms(first) != terms(second)


def test_function_words_say_nothing() -> None:
    assert terms("What is it that she would do with this?") == []
    assert terms("does Mina like it") == terms("Mina liked")


def test_numbers_count_and_ordinals_are_numbers() -> None:
    assert shared("due on the 15th", "due on 15 May") >= {"15"}
    assert "16" not in terms("the 15th")


def test_terms_repeat_in_order() -> None:
    assert terms("rent, cats, rent") == ["rent", "cat", "rent"]


@given(st.text(alphabet="abAB c+#-_./:@19 \n'", max_size=40))
def test_plain_text_gives_the_same_terms_beside_other_scripts(text: str) -> None:
    """Plain ASCII takes a quicker way to the same end."""
    assert terms(f"{text} 口") == [*terms(text), "口"]


@given(st.text(max_size=80))
def test_any_text_gives_terms_that_are_stable_and_hold_no_space(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert all(t and not any(ch.isspace() for ch in t) for t in found)
    assert set(terms(fold(text).upper())) is not None
    assert content_terms(text) <= set(found)
    if is_blank(text):
        assert found == []


# ------------------------------------------------------------ CJK and other scripts without spaces


@pytest.mark.parametrize("query", ["口令", "口", "向日葵", "阿明"])
def test_chinese_is_found_by_words_and_characters(query: str) -> None:  # H1
    assert shared("阿明的口令是向日葵", query)


def test_chinese_pairs_count_and_function_characters_do_not() -> None:
    found = terms("阿明的口令")
    assert "口令" in found
    assert "的" not in found
    assert terms("的") == ["的"]  # alone it is all there is


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("東京タワーに行った", "東京"),
        ("서울에서 만나자", "서울"),
        ("กรุงเทพมหานคร", "กรุงเทพ"),
        ("𠮷野家で食べた", "𠮷野家"),
    ],
)
def test_other_scripts_without_spaces_are_found(memory: str, query: str) -> None:
    assert shared(memory, query)


def test_scripts_side_by_side_are_split() -> None:  # H5
    assert set(terms("Mina去Berlin出差")) >= {"mina", "berlin", "出差"}
    assert set(terms("Met 阿明 at HQ")) >= {"阿明", "met"}


def test_single_characters_are_no_topic_beside_pairs() -> None:
    assert content_terms("口令") == {"口令"}
    assert content_terms("口") == {"口"}


# ------------------------------------------------------------ blank


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\t", "...", "？！", "___", "—", "🌙", "👍🏽👍🏽", "\u200b", "\u0301", "，、。", "(-_-)"],
)
def test_without_a_word_there_is_nothing_to_search(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "口", "7", "１", "_x_", "ก", "ñ", "½"])
def test_one_word_is_something(text: str) -> None:
    assert not is_blank(text)
    assert terms(text) or text == "a"


# ------------------------------------------------------------ folding


@pytest.mark.parametrize(
    "other",
    [
        "Rent is due on the 15",
        "rent is due on the 15 ",
        "Rent  is due\non the 15.",
        "Rent is due on the １５!",
    ],
)
def test_saying_it_again_is_the_same_text(other: str) -> None:  # D1
    assert same_text(other) == same_text("Rent is due on the 15")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Rent is due on the 15th", "Rent is due on the 16th"),
        ("阿明喜欢香菜", "阿明不喜欢香菜"),
        ("API v1.2 ships Friday", "API v1.3 ships Friday"),
        ("It is 5 degrees", "It is -5 degrees"),
        ("PIN 1.5", "PIN 15"),
        ("C++", "C"),
    ],
)
def test_another_fact_is_another_text(one: str, two: str) -> None:  # D3
    assert same_text(one) != same_text(two)


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert same_text(same_text(text)) == same_text(text)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=20))
def test_well_formed_text_can_be_written_and_other_text_is_kept(text: str) -> None:
    found = well_formed(text)
    found.encode()
    if not any(0xD800 <= ord(ch) < 0xE000 for ch in text):
        assert found == text


# ------------------------------------------------------------ corrections


@pytest.mark.parametrize(
    "tag",
    [
        "更正",
        "Correction",
        "correction ",
        "ｃorrection",
        "CORRECTION",
        "fact-update",
        "Fact_Update",
        "fact update",
        "profile-update",
        "preference-change",
        "clarification",
        "澄清",
        "  纠正 ",
    ],
)
def test_a_correction_is_recognized_however_it_is_spelled(tag: str) -> None:  # H3
    assert is_correction(["work", tag])


@pytest.mark.parametrize("tag", ["", "correct", "corrections", "work", "更", "no correction", "update"])
def test_other_tags_correct_nothing(tag: str) -> None:
    assert not is_correction([tag])


def test_the_table_of_correction_tags_is_in_the_form_it_is_compared_in() -> None:
    assert all(is_correction([tag]) for tag in CORRECTION_TAGS)


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("Mina loves cilantro", "Mina cannot stand cilantro", True),
        ("My flight is Tuesday", "My flight is Wednesday", True),
        ("阿明喜欢香菜", "阿明不喜欢香菜", True),
        ("Mina's sister is Lan", "Mina's brother is Bo, not Bin", False),
        ("Mina plays chess", "Mina moved to Berlin", False),
    ],
)
def test_topics_overlap_by_their_words_not_by_who_talks(one: str, two: str, same: bool) -> None:
    overlap = topic_overlap(one, two, ignored=("Mina",))
    assert overlap == topic_overlap(two, one, ignored=("Mina",))
    assert (overlap >= 0.4) is same


def test_texts_without_words_share_no_topic() -> None:
    assert topic_overlap("", "Mina") == 0
    assert topic_overlap("Mina", "Mina", ignored=("Mina",)) == 0
