"""Relevance: a store that does not know stays silent, whatever its size, language and embedding model."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from longterm_memory.models import Filters, RecallQuery
from longterm_memory.recall.calibration import SENTENCES, Calibration
from longterm_memory.recall.index import ScopeIndex
from longterm_memory.recall.question import Question
from longterm_memory.recall.ranking import Ranked, rank
from longterm_memory.records.vectors import Quantized, Vector, unit
from longterm_memory.settings import Settings
from playground.embedders import HashedWords
from tests.support.core import MINA, NOW, TAO, numbered_id, record

FACTS = (
    "Mina keeps the spare key of the boathouse in a blue teapot",
    "Tao is allergic to peanuts",
    "the release of PROJ-123 moves to Thursday",
    "阿明下个月要搬到杭州去住",
    "Mina's daughter starts school in Porto",
)
Model = Callable[[list[float]], Vector]
"""Makes a model's unit vector of one."""
KNOWN = (
    "where is the spare key of the boathouse?",
    "is Tao allergic to peanuts?",
    "when is the release of PROJ-123?",
    "阿明要搬到哪里去住？",
    "where does Mina's daughter start school?",
)
UNKNOWN = (
    "which composer wrote the opera about the flying castle?",
    "did Gwendolyn find the keyring of the sailing club?",
    "what does Orlando feed his tortoises?",
    "王小川最喜欢什么颜色的自行车？",
    "how many vineyards has Ferdinand sold?",
)


def narrow(vector: list[float]) -> Vector:
    """As a model gives it that finds everything alike: all cosines between .7 and 1."""
    wide = unit(vector)
    away = np.zeros_like(wide)
    away[0] = 1.6
    return unit((wide + away).tolist())


def usual(vector: list[float]) -> Vector:
    return unit(vector)


def indexed(texts: Sequence[str], model: Model = usual) -> ScopeIndex:
    index = ScopeIndex()
    for number, (text, vector) in enumerate(zip(texts, HashedWords().embed(list(texts)), strict=True)):
        index.put(replace(record(text, numbered_id(number)), vector=Quantized.of(model(vector))))
    return index


def asked(index: ScopeIndex, question: str, model: Model = usual, floor: float = 0.5) -> Ranked:
    embed = HashedWords().embed
    return rank(
        index,
        RecallQuery(text=question, k=9),
        model(embed([question])[0]),
        wanted=lambda _: True,
        calibration=Calibration.of([model(v) for v in embed(list(SENTENCES))]),
        settings=Settings(relevance_floor=floor),
        now=NOW.timestamp(),
    )


@pytest.mark.parametrize("model", [usual, narrow])
@pytest.mark.parametrize("size", [5, 50, 5_000])
def test_what_is_known_is_answered_and_what_is_not_is_not(size: int, model: Model) -> None:
    rng = random.Random(size)
    words = [f"{a}{b}" for a in ("bar", "lin", "mos", "tre", "vok", "zel") for b in ("do", "ka", "mi", "ru")]
    filler = [f"{' '.join(rng.sample(words, 6))} on shelf {n}" for n in range(size - len(FACTS))]
    index = indexed([*FACTS, *filler], model)
    for fact, question in zip(FACTS, KNOWN, strict=True):
        found = asked(index, question, model)
        assert found.hits and found.hits[0].episode.content == fact, (question, found.answered)
        assert found.answered >= 0.5
    for question in UNKNOWN:
        found = asked(index, question, model)
        assert found.hits == (), (question, found.answered)
        assert found.below_floor == size


def test_a_name_that_nobody_here_has_speaks_against_an_answer() -> None:
    facts = indexed(["Mina sold the old bicycle to a student", *FACTS])
    known = asked(facts, "yesterday somebody asked: did Mina sell the bicycle?")
    strange = asked(facts, "yesterday somebody asked: did Gwendolyn sell the bicycle?")
    assert known.answered > strange.answered + 0.1
    # Somebody who only speaks here is known too, and a title names nobody.
    index = ScopeIndex()
    index.put(record("the old bicycle is sold", numbered_id(1), speaker=TAO))

    def strangers(text: str) -> float:
        query = RecallQuery(text=text)
        return Question.of(query, index, NOW.timestamp(), Settings().zone).evidence.strangers

    assert strangers("did Tao sell the bicycle?") == 0
    assert strangers("did Tao sell it to Orlando?") == 0.5
    assert strangers("What Is The Best Way To Sell A Bicycle") == 0
    assert strangers("what happened on Monday 3 May?") == 0


def test_what_only_asks_speaks_for_nothing() -> None:
    index = indexed(["小兰问停哪儿好，是几号来着", "谁知道怎么走？什么时候到？", *FACTS])

    def share(question: str) -> float:
        found = Question.of(RecallQuery(text=question), index, NOW.timestamp(), Settings().zone)
        return float(index.lexical(found.telling).max())

    for question in (
        "车停哪了？",
        "比赛是几号？",
        "誰的自行車？什麼時候買的？",
        "那是谁啊？是什么？怎么办呢？",
    ):
        assert share(question) < 0.25, question
        assert asked(index, question).hits == ()
    # What it asks about counts as ever, also for a surname that asks elsewhere.
    assert share("小兰几号来着？") > 0.4 and share("花生过敏是什么？") == 0
    # Searching for nothing but such a word is about it.
    index.put(record("谁谁乐队下个月来演出", numbered_id(91)))
    search = RecallQuery(text="谁谁", k=3, searched=True)
    for query, telling in ((search, {"谁谁"}), (RecallQuery(text="谁谁"), set())):
        found = Question.of(query, index, NOW.timestamp(), Settings().zone)
        assert set(found.telling) - {"谁"} == telling
    index.put(record("何老师住在苏州", numbered_id(90)))
    assert share("何老师住哪儿？") > 0.7


def test_a_memory_that_names_the_day_is_asked_for_by_it() -> None:
    facts = indexed(["Mina is flying to Lisbon on 3 July", "Tao sold a boat to a student", *FACTS])
    july = asked(facts, "who goes where in July?")
    assert [hit.episode.content for hit in july.hits] == ["Mina is flying to Lisbon on 3 July"]
    assert asked(facts, "who goes where in October?").hits == ()


def test_a_question_about_a_day_alone_is_answered_by_what_happened_on_it() -> None:
    """It is Sunday, 10 May 2026."""
    days = {
        "the boiler failed": datetime(2026, 5, 6, 9, tzinfo=UTC),
        "a parcel came for the office": datetime(2026, 4, 30, tzinfo=UTC),
        "会议室换了新的投影仪": datetime(2026, 5, 9, 8, tzinfo=UTC),
        "the ferry was late today": datetime(2025, 5, 14, tzinfo=UTC),
    }
    index = indexed(list(FACTS))
    for number, (text, when) in enumerate(days.items(), 50):
        (vector,) = HashedWords().embed([text])
        planted = record(text, numbered_id(number))
        dated = planted.episode.model_copy(update={"timestamp": when})
        index.put(replace(planted, episode=dated, vector=Quantized.of(usual(vector))))
    for question, said in (
        ("what happened last Wednesday?", ["the boiler failed"]),
        ("what happened on 2026-05-06?", ["the boiler failed"]),
        ("上周四发生了什么事？", ["a parcel came for the office"]),
        ("我们昨天聊了什么？", ["会议室换了新的投影仪"]),
        ("yesterday", ["会议室换了新的投影仪"]),
        ("what was going on in May 2025?", ["the ferry was late today"]),
        ("what happened last Sunday?", []),
        ("前天发生了什么", []),
        # About something else, on that day.
        ("which composer died last Wednesday?", []),
        ("I'm so tired today", []),
        ("昨天谁赢了网球比赛？", []),
    ):
        assert [hit.episode.content for hit in asked(index, question).hits] == said, question


def test_only_what_speaks_for_itself_is_part_of_an_answer() -> None:
    texts = ["Tao is allergic to peanuts and almonds", "Mina paints boats", "the ferry leaves at noon"]
    found = asked(indexed(texts), "is Tao allergic to peanuts?")
    assert [hit.episode.content for hit in found.hits] == texts[:1]
    assert found.below_floor == 2


def test_a_fact_that_many_told_is_no_less_telling() -> None:
    for question, told in (
        ("where did Mina move?", "Mina moved to Rotterdam"),
        ("阿明搬去哪里？", "阿明搬到杭州了"),
    ):
        answers = []
        for copies in (1, 2, 10, 40):
            texts = [told + "!" * (n % 3) for n in range(copies)]
            index = indexed([*FACTS, *texts])
            answers.append(asked(index, question).answered)
            assert index.distinct == len(FACTS) + 1
        assert answers == pytest.approx([answers[0]] * 4, abs=0.02)
        assert answers[0] > 0.5


def test_the_floor_reaches_from_everything_to_almost_nothing() -> None:
    index = indexed(FACTS)
    counts = [len(asked(index, KNOWN[0], floor=floor).hits) for floor in (0, 0.2, 0.5, 0.9, 1)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == len(FACTS)
    assert len(asked(index, UNKNOWN[0], floor=0).hits) == len(FACTS)
    assert [hit.episode.content for hit in asked(index, "PROJ-123").hits] == [FACTS[2]]


def test_what_filters_keep_out_does_not_make_an_answer() -> None:
    index = ScopeIndex()
    index.put(record("the spare key of the boathouse is in the teapot", numbered_id(1), speaker=MINA))
    for number in range(2, 12):
        index.put(record(f"Tao painted boat number {number}", numbered_id(number), speaker=TAO))
    question = "where is the spare key of the boathouse?"

    def answered(filters: Filters) -> Ranked:
        return rank(
            index,
            RecallQuery(text=question, k=5, filters=filters),
            unit(HashedWords().embed([question])[0]),
            wanted=lambda slot: filters.keeps(index.at(slot).episode),
            calibration=Calibration.of([unit(v) for v in HashedWords().embed(list(SENTENCES))]),
            settings=Settings(),
            now=NOW.timestamp(),
        )

    assert len(answered(Filters()).hits) == 1
    assert answered(Filters(sender_id=MINA.id)).hits
    of_tao = answered(Filters(sender_id=TAO.id))
    assert of_tao.hits == () and of_tao.answered < 0.5
