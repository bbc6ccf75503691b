"""The index of a scope: equal to a fresh one whatever happened to it, and bounded."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longterm_memory.recall.cache import IndexCache
from longterm_memory.recall.index import GONE_SECONDS, ScopeIndex
from longterm_memory.records.envelope import Record
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Speaker
from longterm_memory.text.terms import terms
from playground.embedders import HashedWords
from tests.support.core import GROUP, MINA, TAO, Time, numbered_id, record

KEY = GROUP.user_key
QUERIES = ("rent due", "Mina's cats", "PROJ-123", "阿明 口令", "cafe cats", "nothing of this", "tuesday")
CONTENTS = (
    "rent is due on the 15th",
    "Mina's cats are called PROJ-123",
    "阿明的口令是向日葵",
    "flight on Tuesday",
    "Rent is due on the 15th!",
    "cats cats cats",
    "le café, le cafè",
    "…",
)


def view(index: ScopeIndex) -> dict[str, Any]:
    """Everything that can be asked of an index, by episode id instead of slot."""
    ids = sorted(r.episode.id for r in index.living())
    slots = index.slots(ids)
    vectors = [unit(HashedWords().embed([q])[0]) for q in QUERIES]
    return {
        "ids": ids,
        "size": len(index),
        "distinct": index.distinct,
        "lexical": [index.lexical(terms(q))[slots].round(5).tolist() for q in QUERIES],
        "cosines": [index.cosines(v, slots).round(5).tolist() for v in vectors],
        "times": index.columns.time[slots].tolist(),
        "importances": index.columns.importance[slots].tolist(),
        "beside": [
            index.columns.timeline.beside(index.all_cosines(v), 1)[slots].round(5).tolist() for v in vectors
        ],
        "saying": [sorted(r.episode.id for r in index.saying(c)) for c in CONTENTS],
        "holding": [sorted(index.at(int(s)).episode.id for s in index.holding(terms(q))) for q in QUERIES],
        "named": sorted(named(index, "what did Mina and Tao say to 米娜")),
        "rows": sorted(index.rows),
        "all": sorted(index.at(int(s)).episode.id for s in index.all_slots()),
    }


def named(index: ScopeIndex, text: str) -> set[str]:
    """Ids of the speakers whose name stands in a text."""
    numbers = index.columns.speakers_named(text)
    slots = [s for s in index.all_slots().tolist() if int(index.columns.speaker[s]) in numbers]
    return {index.at(s).episode.sender_id for s in slots}


def built(records: Iterable[Record]) -> ScopeIndex:
    index = ScopeIndex()
    for r in records:
        index.put(r)
    return index


people = st.sampled_from([MINA, TAO, Speaker("9003", "米娜"), Speaker()])
steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "read", "change", "discard", "delete"]),
        st.integers(0, 12),
        st.sampled_from(CONTENTS),
        people,
        st.integers(1, 5),
    ),
    max_size=60,
)


@given(steps)
@settings(max_examples=120, deadline=None)
def test_an_index_that_was_changed_equals_a_fresh_one(
    changes: list[tuple[str, int, str, Speaker, int]],
) -> None:
    index, truth = ScopeIndex(), dict[str, Record]()
    for what, number, content, speaker, importance in changes:
        ident = numbered_id(number)
        known = truth.get(ident)
        version = known.version + 1 if known else 1
        new = record(content, ident, speaker=speaker, importance=importance, version=version, age_days=number)
        match what:
            case "put" | "change":
                # What this process wrote counts, whatever was taken out before.
                index.changed(new)
                truth[ident] = new
            case "read":
                # An old page brings nothing that was taken out, and no older version.
                index.read([known] if known else [])
            case "discard":
                index.discard(ident)
                truth.pop(ident, None)
            case "delete":
                index.deleted([ident])
                truth.pop(ident, None)
    assert view(index) == view(built(truth.values()))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6)), max_size=12))
def test_the_highest_version_counts_in_whatever_order_versions_come(versions: list[tuple[int, int]]) -> None:
    index = ScopeIndex()
    for number, version in versions:
        index.put(record(f"version {version}", numbered_id(number), version=version))
    highest = {n: max(v for m, v in versions if m == n) for n, _ in versions}
    assert {r.episode.content for r in index.living()} == {f"version {v}" for v in highest.values()}
    assert len(index) == len(highest)


# ------------------------------------------------------------ bounded memory


def test_a_scope_that_keeps_changing_does_not_grow() -> None:
    index = ScopeIndex()
    for turn in range(3_000):
        ident = numbered_id(turn % 20)
        index.changed(record(f"version {turn}", ident, version=turn + 1))
    for turn in range(1_000):
        index.changed(record(f"once {turn}", numbered_id(1_000 + turn)))
        index.deleted([numbered_id(1_000 + turn)])
    assert len(index) == 20
    assert index.weight < 300
    assert len(index.lexical(["x"])) < 150
    assert view(index) == view(built(index.living()))


def test_what_was_taken_out_is_remembered_for_a_while_only() -> None:
    time = Time()
    index = ScopeIndex(time.clock)
    gone = record("gone", "k7m29xqd")
    index.put(gone)
    index.deleted(["k7m29xqd"])
    time.seconds = GONE_SECONDS - 1
    index.read([gone])
    assert not index.has("k7m29xqd")
    assert index.was_deleted("k7m29xqd")
    for turn in range(5_000):
        time.seconds += 1
        index.discard(numbered_id(turn))
    assert not index.was_deleted("k7m29xqd")
    assert len(index._gone) <= GONE_SECONDS + 1
    assert not index._deleted


def test_indexes_are_bounded_over_all_scopes_and_the_least_used_goes_first() -> None:
    cache = IndexCache(rows_max=1_000)
    for number in range(200):
        index = cache.of(f"scope {number}")
        for i in range(20):
            index.put(record(f"m {i}", numbered_id(i)))
        cache.of("scope 0")
    del index
    gc.collect()
    assert len(cache.of("scope 0")) == 20
    assert len(cache.of("scope 5")) == 0
    assert len(cache._kept) <= 1_000 // 64 + 1
    assert len(cache._alive) <= 1_000 // 64 + 1


def test_an_index_in_use_is_never_doubled_and_a_dropped_one_is_not_found_again() -> None:
    cache = IndexCache(rows_max=10)
    huge = cache.of("huge")
    for i in range(100):
        huge.put(record(f"m {i}", numbered_id(i)))
    assert cache.of("huge") is huge  # whatever its size
    held = cache.of("a")
    for other in "bcdefgh":
        cache.of(other)
    assert "a" not in cache._kept
    cache.of("a").put(record("x", "k7m29xqd"))
    assert held.has("k7m29xqd")
    cache.drop("a")
    assert cache.of("a") is not held
    cache.drop("never seen")
    again = cache.of("a")
    cache.clear()
    assert cache.of("a") is not again


# ------------------------------------------------------------ claims


def correction(ident: str, *claims: tuple[str, int], content: str = "new") -> Record:
    return record(content, ident, supersedes=claims, tags=("correction",))


def test_a_claimed_version_is_not_living_and_another_version_is() -> None:  # E1
    old = record("old", "k7m29xqd")
    index = built([old, correction("a0000001", ("k7m29xqd", 1))])
    assert [r.episode.content for r in index.living()] == ["new"]
    assert index.saying("old") == []
    assert index.leftovers() == [(old, "a0000001")]
    index.changed(old.changed().changed())  # superseded, then restored
    assert len(index.living()) == 2
    assert index.leftovers() == []


def test_a_claim_holds_until_its_correction_is_deleted() -> None:
    corrected = built([correction("a0000001", ("k7m29xqd", 1))])
    corrected.discard("a0000001")  # corrected in turn
    corrected.read([record("old", "k7m29xqd")])
    assert corrected.living() == []
    index = built([correction("a0000001", ("k7m29xqd", 1)), correction("b0000001", ("k7m29xqd", 4))])
    assert index.claimed_versions() == {"k7m29xqd": 4}
    index = built([correction("a0000001", ("k7m29xqd", 1)), correction("b0000001", ("k7m29xqd", 1))])
    index.deleted(["a0000001"])
    index.put(record("old", "k7m29xqd"))
    assert len(index.living()) == 1
    index.discard("b0000001")
    index.deleted(["b0000001"])  # superseded first, deleted later
    assert [r.episode.content for r in index.living()] == ["old"]
    assert index.claimed_versions() == {}


# ------------------------------------------------------------ odd records


def test_a_vector_of_another_length_is_kept_but_close_to_nothing() -> None:
    index = built(
        [record("four", "k7m29xqd", vector=[1, 0, 0, 0]), record("six", "a0000001", vector=[1] * 6)]
    )
    slots = index.slots(["k7m29xqd", "a0000001"])
    assert index.cosines(unit([1, 0, 0, 0]), slots).tolist() == [pytest.approx(1), 0]
    assert index.cosines(unit([1] * 6), slots).tolist() == [0, pytest.approx(1)]
    assert index.cosines(unit([1] * 5), slots).tolist() == [0, 0]
    assert index.lexical(terms("six"))[slots].tolist() == [0, pytest.approx(1)]


def test_an_empty_index_and_a_dead_slot_answer() -> None:
    index, none = ScopeIndex(), np.zeros(0, dtype=np.int64)
    for found in (index.lexical(["x"]), index.cosines(unit([1.0]), none), index.holding(["x"])):
        assert found.size == 0
    assert (index.living(), index.saying("x"), index.leftovers()) == ([], [], [])
    assert (index.get("x"), index.has("x"), index.complete, named(index, "x")) == (None, False, False, set())
    index = built([record("x", "k7m29xqd"), record("y", "a0000001")])
    slot = int(index.slots(["k7m29xqd"])[0])
    index.discard("k7m29xqd")
    with pytest.raises(KeyError):
        index.at(slot)
    assert index.lexical(terms("x"))[slot] == 0


def test_speakers_are_recognized_by_name() -> None:
    for name, text, found in (
        ("Al", "what did Al say?", True), ("Al", "also", False), ("Al", "al_x", False), ("Al", "AL!", True),
        ("Al", "also by al", True), ("米娜", "米娜喜欢什么", True), ("Mina K.", "did mina  k. call", True),
        ("  ", "any text", False), ("🌙", "🌙 said", True),
        ("Zoé", "what did Zoe say?", True), ("Zoe", "où est Zoé ?", True), ("Jürgen", "juergen's bike", True),
        ("Má", "mà là gì?", False),
    ):  # fmt: skip
        index = built([record("x", "k7m29xqd", speaker=Speaker("9001", name))])
        assert named(index, text) == ({"9001"} if found else set())


def test_a_word_without_its_accents_finds_it_and_the_other_way_round() -> None:
    for written, asked in (
        ("the café by the river", "cafe"), ("the cafe by the river", "café"), ("two cafés", "CAFES"),
        ("Müller called", "muller"), ("Müller called", "Mueller"), ("Muller called", "Müller"), ("Straße", "strasse"),
        ("quả bưởi ở chợ Đồng Xuân", "buoi"), ("cho dong xuan", "chợ Đồng Xuân"), ("smørrebrød", "smorrebrod"),
        ("İstanbul'a gitti", "istanbul"), ("Diyarbakır", "DIYARBAKIR"), ("Diyarbakır", "DİYARBAKIR"), ("Łódź", "lodz"),
        ("ещё один ёж", "еж"), ("Пу́шкин", "пушкин"), ("η άνοιξη", "ανοιξη"), ("أحمد في البيت", "احمد"),
        ("ｃａｆé", "cafe"), ("ｺｰﾋｰが好き", "コーヒー"), ("Cæsar", "caesar"), ("café", "café"),
    ):  # fmt: skip
        index = built(
            [record(written, "k7m29xqd"), *(record(f"other {n}", numbered_id(n)) for n in range(9))]
        )
        scores = index.lexical(terms(asked))
        assert int(scores.argmax()) == 0 and scores[0] > 0.3, (written, asked)
        assert not scores[1:].any() and all(map(index.knows, terms(asked)))
        index.deleted(["k7m29xqd"])
        assert not any(map(index.knows, terms(asked)))
    # Whoever types accents means them; as it is written comes first.
    for texts, asked in (
        (("con ma", "con má", "con mà"), "má"), (("Jose", "José", "Josè"), "José"), (("мои", "мой"), "мой"),
    ):  # fmt: skip
        index = built([record(text, numbered_id(n)) for n, text in enumerate(texts)])
        scores = index.lexical(terms(asked))
        assert int(scores.argmax()) == 1, texts
        assert scores[2:].sum() == 0, "another accent is another word"
    index = built([record(text, numbered_id(n)) for n, text in enumerate(("con má", "con ma", "con mà"))])
    scores = index.lexical(terms("ma"))
    assert scores[1] > scores[0] == scores[2] > 0


def test_rare_words_weigh_more_and_full_matches_are_full_shares() -> None:
    index = built(
        [record(f"cats number {i}", numbered_id(i)) for i in range(20)] + [record("a parrot", "k7m29xqd")]
    )
    scores = index.lexical(terms("cats parrot"))
    cat, parrot = (float(scores[index.slots([i])[0]]) for i in (numbered_id(0), "k7m29xqd"))
    assert parrot > 3 * cat > 0
    assert float(index.lexical(terms("parrot")).max()) == pytest.approx(1, abs=0.05)
    assert index.lexical(terms("zebra")).max() == 0
