"""Terms: what counts as the same word, and what is matched exactly or not at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.corrections import CORRECTION_TAGS, is_correction, topic_overlap
from longterm_memory.text.fold import fold, same_text, well_formed
from longterm_memory.text.terms import content_terms, identifiers, is_blank, terms


def shared(one: str, two: str) -> set[str]:
    return set(terms(one)) & set(terms(two))


# ------------------------------------------------------------ identifiers


def test_an_identifier_is_found_as_such_whatever_surrounds_it() -> None:  # J0
    for identifier in (
        "PROJ-123", "src/store.ts", "getUserById", "v1.2.10", "user_id", "LongTermMemory", "a@b.com",
        "https://x.org/a", "C++", "c#", "10:30", "#/definitions/x1",
    ):  # fmt: skip
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


def test_similar_identifiers_are_two() -> None:  # J0
    for one, other in (
        ("PROJ-123", "PROJ-124"), ("PROJ-123", "PROJ-1234"), ("v1.2", "v1.3"),
        ("src/store.ts", "src/store.tsx"), ("getUserById", "getUserByName"), ("C++", "C#"), ("C++", "C"),
    ):  # fmt: skip
        assert not identifiers(one) & set(terms(other))


def test_the_form_of_an_identifier_does_not_matter_and_its_parts_are_found_too() -> None:
    for written in ("PROJ–123", "PROJ‑123", "ＰＲＯＪ－１２３", "proj-123"):
        assert identifiers(written) == identifiers("PROJ-123")
    for one, other in (
        ("src/store.ts", "the store"), ("getUserById", "user"), ("max_page_rows", "pages"),
        ("PROJ-123", "ticket 123"), ("getUserById", "getuserbyid"), ("YouTube", "youtube"),
        ("iPhone", "iphone"), ("HTTPServer", "httpserver"),
    ):  # fmt: skip
        assert shared(one, other)


def test_words_numbers_and_measures_are_no_identifiers() -> None:
    for text in (
        "mother-in-law", "he/she", "and/or", "e.g.", "a.m.", "YouTube", "iPhone", "McDonald", "15th", "5pm",
        "4K", "2 nd", "don't", "100", "…", "word—word", "阿明",
    ):  # fmt: skip
        assert identifiers(text) == frozenset()


# ------------------------------------------------------------ words


def test_forms_of_a_word_are_one_term() -> None:
    for forms in (
        "like likes liked liking", "love loves loved", "city cities", "study studies studied studying",
        "movie movies", "bus buses", "plan plans planned planning", "box boxes", "tree trees",
        "dance dances danced dancing", "address addresses", "run runs running", "name names named",
        "Tuesday TUESDAY ｔｕｅｓｄａｙ", "café CAFÉ cafe\u0301",
    ):  # fmt: skip
        (found,) = {tuple(terms(form)) for form in forms.split()}
        assert len(found) == 1
    for one, other in (("bus", "bush"), ("sing", "string"), ("red", "reed"), ("thing", "think")):
        assert terms(one) != terms(other)


def test_what_the_terms_of_a_sentence_are() -> None:
    assert terms("rent, cats, rent") == ["rent", "cat", "rent"]
    assert terms("What is it that she would do with this?") == []
    assert terms("does Mina like it") == terms("Mina liked")
    # Ordinals are numbers.
    assert shared("due on the 15th", "due on 15 May") >= {"15"}
    assert "16" not in terms("the 15th")


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


def test_scripts_without_spaces_are_found_by_words_and_characters() -> None:  # H1
    for memory, query in (
        ("阿明的口令是向日葵", "口令"), ("阿明的口令是向日葵", "口"), ("東京タワーに行った", "東京"),
        ("서울에서 만나자", "서울"), ("กรุงเทพมหานคร", "กรุงเทพ"), ("𠮷野家で食べた", "𠮷野家"),
    ):  # fmt: skip
        assert shared(memory, query)
    found = terms("阿明的口令")
    assert "口令" in found
    assert "的" not in found
    assert terms("的") == ["的"]  # alone it is all there is
    # Single characters are no topic beside pairs.
    assert content_terms("口令") == {"口令"}
    assert content_terms("口") == {"口"}


def test_vowels_and_points_that_are_signs_belong_to_their_word() -> None:
    assert terms("मीना कहाँ रहती है") == ["मीना", "कहाँ", "रहती", "है"]
    assert not shared("गीता का घर", "गाता की घड़ी")  # one word each, however many consonants they share
    assert shared("قِطَّةٌ صغيرة", "قطة")
    assert shared("שָׁלוֹם", "שלום")
    assert terms("Пу\u0301тин, e\u0301te\u0301 \u0301") == ["пу\u0301тин", "été"]


def test_scripts_side_by_side_are_split() -> None:  # H5
    assert set(terms("Mina去Berlin出差")) >= {"mina", "berlin", "出差"}
    assert set(terms("Met 阿明 at HQ")) >= {"阿明", "met"}


# ------------------------------------------------------------ blank


def test_without_a_word_there_is_nothing_to_search() -> None:
    for text in ("", " ", "\n\t", "...", "？！", "___", "—", "🌙", "👍🏽👍🏽", "\u200b", "\u0301", "(-_-)"):
        assert is_blank(text)
    for text in ("a", "口", "7", "１", "_x_", "ก", "ñ", "½"):
        assert not is_blank(text)
        assert terms(text) or text == "a"


# ------------------------------------------------------------ folding


def test_saying_it_again_is_the_same_text_and_another_fact_is_another() -> None:  # D1, D3
    for other in ("rent is due on the 15 ", "Rent  is due\non the 15.", "Rent is due on the １５!"):
        assert same_text(other) == same_text("Rent is due on the 15")
    for one, two in (
        ("Rent is due on the 15th", "Rent is due on the 16th"), ("阿明喜欢香菜", "阿明不喜欢香菜"),
        ("API v1.2 ships Friday", "API v1.3 ships Friday"), ("It is 5 degrees", "It is -5 degrees"),
        ("PIN 1.5", "PIN 15"), ("C++", "C"),
    ):  # fmt: skip
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


def test_a_correction_is_recognized_however_it_is_spelled() -> None:  # H3
    for tag in (
        "更正", "Correction", "correction ", "ｃorrection", "fact-update", "Fact_Update", "fact update",
        "profile-update", "preference-change", "clarification", "澄清", "  纠正 ", *CORRECTION_TAGS,
    ):  # fmt: skip
        assert is_correction(["work", tag])
    for tag in ("", "correct", "corrections", "work", "更", "no correction", "update"):
        assert not is_correction([tag])


def test_topics_overlap_by_their_words_not_by_who_talks() -> None:
    for one, two, same in (
        ("Mina loves cilantro", "Mina cannot stand cilantro", True),
        ("My flight is Tuesday", "My flight is Wednesday", True), ("阿明喜欢香菜", "阿明不喜欢香菜", True),
        ("Mina's sister is Lan", "Mina's brother is Bo, not Bin", False),
        ("Mina plays chess", "Mina moved to Berlin", False),
    ):  # fmt: skip
        overlap = topic_overlap(one, two, ignored=("Mina",))
        assert overlap == topic_overlap(two, one, ignored=("Mina",))
        assert (overlap >= 0.4) is same
    assert topic_overlap("", "Mina") == 0
    assert topic_overlap("Mina", "Mina", ignored=("Mina",)) == 0
