"""Ranking: relevance decides, everything else only leans; nothing irrelevant, nothing twice."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from longterm_memory.models import Hit, RecallQuery
from longterm_memory.recall import ranking
from longterm_memory.recall.calibration import SENTENCES, Calibration
from longterm_memory.recall.index import ScopeIndex
from longterm_memory.recall.ranking import WEIGHTS, Ranked, rank
from longterm_memory.records.envelope import Record
from longterm_memory.records.vectors import unit
from longterm_memory.scope import Speaker
from longterm_memory.settings import Settings
from longterm_memory.text.fold import same_text
from playground.embedders import HashedWords
from tests.support.core import MINA, NOW, TAO, core, numbered_id, record

CALIBRATION = Calibration.of([unit(v) for v in HashedWords().embed(list(SENTENCES))])
SMALL_TALK = (
    *("good morning everyone", "nice weather today", "haha that was fun", "see you later", "lunch was great"),
    *("I am so tired today", "what a day it was", "coffee time again", "happy friday all"),
    "the office is quiet today",
)


def ranked(records: list[Record], text: str, *, configured: Settings | None = None, **fields: Any) -> Ranked:
    index = ScopeIndex()
    for r in records:
        index.put(r)
    return rank(
        index,
        RecallQuery(text=text, **fields),
        unit(HashedWords().embed([text])[0]),
        wanted=lambda _: True,
        calibration=CALIBRATION,
        settings=configured or Settings(),
        now=NOW.timestamp(),
    )


def order(records: list[Record], text: str, **fields: Any) -> list[str]:
    return [hit.episode.content for hit in ranked(records, text, **fields).hits]


def only(record_: Record, text: str, **fields: Any) -> Hit:
    (hit,) = ranked([record_], text, **fields).hits
    return hit


ID = "k7m29xqd"


# ------------------------------------------------------------ relevance and time


def test_the_answer_from_last_year_beats_todays_small_talk() -> None:  # K1
    for half_life in (30.0, 0.001, 36_500.0):
        answer = record("The deploy password hint is the name of Tao's first cat", ID, age_days=400)
        noise = [record(text, numbered_id(i), importance=5) for i, text in enumerate(SMALL_TALK)]
        configured = replace_settings(recency_half_life_days=half_life)
        found = order([*noise, answer], "what is the deploy password hint today?", k=3, configured=configured)
        assert found[0] == answer.episode.content


def replace_settings(**values: Any) -> Settings:
    return Settings.model_validate({**Settings().model_dump(), **values})


async def test_the_order_is_by_relevance_whatever_the_distance_of_the_store_means() -> None:  # F2
    for metric in ("l2", "cosine", "similarity"):
        memory = await core(metric=metric)
        texts = {
            "the ferry to the island leaves at noon": 400,
            "the ferry leaves late": 200,
            "an island holiday": 1,
        }
        for number, (text, age) in enumerate(texts.items()):
            await memory.fill([record(text, numbered_id(number), age_days=age)])
        assert await memory.found("when does the ferry to the island leave", k=3, floor=False) == list(texts)
        # The threshold of a correction means the same on each of them.
        await memory.say("Mina loves cilantro")
        await memory.say("Mina's sister is Lan")
        await memory.say("Mina cannot stand cilantro", MINA, "correction")
        assert "Mina loves cilantro" not in await memory.listed()
        assert "Mina's sister is Lan" in await memory.listed()


def test_of_two_equal_memories_the_newer_comes_first_and_age_never_costs_relevance() -> None:
    new = record("rent is due", ID, speaker=MINA)
    old = record("rent is due", "a0000001", speaker=TAO, age_days=30)
    ancient = record("rent is due", "b0000001", speaker=Speaker("9003"), age_days=20_000)
    hits = ranked([ancient, old, new], "is the rent due", k=3).hits
    assert [h.episode.id for h in hits] == [ID, "a0000001", "b0000001"]
    recency = [h.score.boosts.get("recency", 0) for h in hits]
    assert recency[0] == pytest.approx(WEIGHTS.recency)
    assert recency[1] == pytest.approx(WEIGHTS.recency / 2)  # half at the half-life
    assert recency[2] == pytest.approx(0, abs=1e-6)
    assert len({round(h.score.vector, 5) for h in hits}) == 1


def test_the_future_gets_no_boost_above_now_and_the_distant_past_is_merely_old() -> None:  # J1
    now = only(record("rent is due", ID), "rent due").score
    for year in (2027, 2099, 2200):
        future = record("rent is due", ID, timestamp=datetime(year, 1, 1, tzinfo=UTC))
        assert only(future, "rent due").score == now
    past = only(record("rent is due", ID, timestamp=datetime(1, 1, 2, tzinfo=UTC)), "rent due")
    assert past.score.boosts.get("recency", 0) == pytest.approx(0, abs=1e-9)


# ------------------------------------------------------------ identifiers


def test_an_exact_identifier_finds_its_memory_and_its_neighbour_does_not() -> None:  # J0
    for text, query, other in (
        ("Tao fixes PROJ-123 on Friday", "PROJ-123", "PROJ-124"),
        ("the bug is in src/store.ts", "src/store.ts", "src/shop.ts"),
        ("getUserById is slow", "getUserById", "getUserByName"),
        ("we ship v1.2.10 next", "v1.2.10", "v1.2.11"), ("错误在 user_id 字段", "user_id", "user_name"),
    ):  # fmt: skip
        memory = [record(text, ID, age_days=300)]
        assert order(memory, query) == [text]
        assert order(memory, other) == []
        assert order(memory, f"{query}?") == [text]


def test_an_identifier_is_found_by_what_people_type_of_it_and_two_that_share_that_are_two() -> None:
    for text, shorter, others in (
        (
            "the bug is in src/store.ts:42",
            ("store.ts", "src/store.ts", "the store.ts?"),
            ("lib/store.ts", "tore.ts"),
        ),
        ("we ship v1.2.10 next", ("1.2.10", "version 1.2.10"), ("1.2", "2.10", "v1.2.1")),
        (
            "docs: https://example.com/docs/setup?x=1",
            ("example.com", "example.com/docs/setup"),
            ("example.org",),
        ),
        ("the gateway is 10.0.0.1:8080", ("10.0.0.1",), ("10.0.0.10", "10.0.0.1:9090")),
    ):
        memory = [record(text, ID, age_days=300)]
        for query in shorter:
            assert order(memory, query) == [text], query
        for query in others:
            assert order(memory, query) == [], query
    # It works the other way round, too.
    assert order([record("store.ts is broken", ID)], "src/store.ts") == ["store.ts is broken"]


def test_within_a_question_the_exact_identifier_comes_first_unless_that_is_switched_off() -> None:
    exact = record("PROJ-123 is done", ID, age_days=200)
    near = record("what is the state of PROJ-124 now, Mina asked about the state", "a0000001")
    assert order([near, exact], "what is the state of PROJ-123 now?")[0] == "PROJ-123 is done"
    off = replace_settings(exact_match_boost=False)
    assert "exact" not in only(exact, "PROJ-123", configured=off).score.boosts
    assert order([record("PROJ-124 is done", ID)], "PROJ-123", configured=off, floor=False)


def test_a_memory_is_found_by_its_own_id() -> None:
    for query in (f"[{ID}]", f"what is {ID}?", f"(id {ID.upper()})", f"“{ID}”"):
        others = [record(text, numbered_id(i)) for i, text in enumerate(SMALL_TALK)]
        found = ranked([*others, record("rent is due", ID)], query, k=1).hits
        assert [h.episode.id for h in found] == [ID]
        assert found[0].score.boosts["exact"] == WEIGHTS.episode_id


# ------------------------------------------------------------ boosts


def test_every_lean_is_small_and_named() -> None:
    plain = record("rent is due", ID)
    cases: dict[str, tuple[Record, dict[str, Any], str]] = {
        "speaker": (plain, {"speaker_id": "9001"}, "rent due"),
        "named": (plain, {}, "rent due Mina"),
        "tag": (record("rent is due", ID, tags=("Home",)), {}, "rent due at home"),
        "correction": (record("rent is due", ID, tags=("correction",)), {}, "rent due"),
        "importance": (record("rent is due", ID, importance=5), {}, "rent due"),
    }
    for name, (stored, fields, text) in cases.items():
        with_, without = only(stored, text, **fields), only(plain, text)
        assert with_.score.boosts[name] > 0, name
        assert name not in without.score.boosts or name == "named"
        assert with_.score.boosts[name] <= (0.15 if name == "named" else 0.06) + 1e-6
    assert only(record("rent is due", ID, importance=1), "rent due").score.boosts["importance"] < 0
    nobodys = record("rent is due", ID, speaker=Speaker())
    assert "speaker" not in only(nobodys, "rent due", speaker_id="").score.boosts


def test_all_leans_together_do_not_turn_a_clear_order() -> None:
    wanted = record("the northern ferry leaves at noon", ID, speaker=TAO, age_days=3_000, importance=1)
    loud = record("ferry", "a0000001", speaker=MINA, importance=5, tags=("correction", "ferry"))
    found = order([loud, wanted], "when does the northern ferry leave, Mina asks", speaker_id="9001", k=2)
    assert found[0] == wanted.episode.content


def test_the_score_is_the_sum_of_its_parts() -> None:
    vector = replace_settings(retrieval_strategy="vector")
    assert only(record("rent is due", ID), "rent due", configured=vector).score.lexical == 0
    configured = replace_settings(vector_weight=0.3)
    rng = random.Random(1)
    for number in range(30):
        stored = record(
            rng.choice(SMALL_TALK) + rng.choice([" PROJ-1", " rent", ""]),
            numbered_id(number),
            importance=rng.randint(1, 5),
            age_days=rng.random() * 500,
            tags=rng.choice([(), ("rent",), ("correction",)]),
        )
        for text in ("rent today", "PROJ-1", "PROJ-1 and the office Mina"):
            hit = only(stored, text, configured=configured, floor=False, speaker_id="9001")
            parts = 0.3 * hit.score.vector + 0.7 * hit.score.lexical + sum(hit.score.boosts.values())
            assert hit.score.total == pytest.approx(parts, abs=1e-5)


# ------------------------------------------------------------ floor


def test_what_is_not_relevant_is_left_out_and_counted() -> None:  # F3
    for text in ("zebra crossing", "QQQQ", "量子力学"):
        stored = [record("Tao's dentist is on Friday", ID, importance=5, speaker=TAO)]
        found = ranked(stored, text, speaker_id="9002")
        assert found.hits == ()
        assert found.below_floor == 1
        assert len(ranked(stored, text, floor=False).hits) == 1


def test_leans_never_lift_anything_over_the_floor() -> None:
    stored = [record("see you", ID, importance=5, tags=("zebra", "correction"))]
    high = replace_settings(relevance_floor=0.6)
    assert order(stored, "zebra says Mina", speaker_id="9001", configured=high) == []
    assert ranked([], "rent") == Ranked((), 0, 0)


# ------------------------------------------------------------ nothing twice


def test_nothing_is_said_twice_by_one_person_and_copies_use_up_no_places() -> None:  # D1, E2
    texts = (
        "Rent is due on the 15",
        "Rent is due on the 15 ",
        "rent  is due on the １５!",
        "Rent is due on the 16",
    )
    copies = [record(t, numbered_id(i), age_days=i) for i, t in enumerate(texts)]
    assert sorted(same_text(t) for t in order(copies, "when is rent due", k=4)) == [
        "rent is due on the 15",
        "rent is due on the 16",
    ]
    # The best of the copies stays.
    weighed = [
        record("rent is due", numbered_id(i), importance=i, tags=("correction",) if i == 3 else ())
        for i in (1, 5, 3)
    ]
    (hit,) = ranked(weighed, "rent due", k=5).hits
    assert hit.episode.id == numbered_id(5)
    many = [record("rent is due", numbered_id(i)) for i in range(30)]
    assert sorted(order([*many, record("rent contract", ID)], "rent", k=2)) == [
        "rent contract",
        "rent is due",
    ]
    lent = [record(t, numbered_id(i)) for i, t in enumerate(("Tao lent Bo a drill", "Bo lent Tao a drill"))]
    assert len(order(lent, "who lent a drill", k=5)) == 2
    near = (
        "The rent is due on Friday",
        "Rent's really due on Friday!",
        "Rent is not due on Friday",
        "房租到期了",
        "房租到期了啊！",
    )
    kept = [record(t, numbered_id(i), age_days=i) for i, t in enumerate(near)]
    assert sorted(order(kept, "when is the rent due? 房租到期了吗", k=9)) == sorted(
        (near[0], near[2], near[3])
    )
    flight = "My flight is Tuesday"
    assert len(order([record(flight, ID), record(flight, "a0000001", speaker=TAO)], "flight tuesday")) == 2


def test_a_sign_can_make_all_the_difference() -> None:
    pairs = (
        ("Mina likes C", "Mina likes C++"),
        ("It was 5 degrees", "It was -5 degrees"),
        ("I owe Tao $50", "I owe Tao €50"),
        ("Mina votes for 🍎", "Mina votes for 🍊"),
        ("We meet at 10:30", "We meet at 10 30"),
        ("Mina's blood type is A", "Mina's blood type is"),
        ("ฉันชอบกินข้าว", "ฉันชอบกินข่าว"),
        ("वह दिल्ली गया", "वह दिल्ली गयी"),
        ("Mina住在哈尔滨", "Mina住在尔滨"),
        ("Lan bán bàn", "Lan bạn bàn"),
        ("Er trinkt in Maßen", "Er trinkt in Massen"),
        ("Hún er á bát", "Hun er a bat"),
    )
    for one, other in pairs:
        kept = [record(one, ID), record(other, "a0000001")]
        assert len(order(kept, one, k=5, floor=False)) == 2, (one, other)


# ------------------------------------------------------------ order


def test_equal_scores_are_ordered_by_time_and_id() -> None:
    day = NOW.replace(hour=0)  # dated by the day, so that none of them stands in a talk
    same = [
        record("rent is due", i, speaker=Speaker(i), timestamp=day)
        for i in ("b0000001", "a0000001", "c0000001")
    ]
    future = record("rent is due", "d0000001", speaker=Speaker("d"), timestamp=day + timedelta(days=3))
    found = ranked([*same, future], "rent due", k=4).hits
    assert [h.episode.id for h in found] == ["d0000001", "a0000001", "b0000001", "c0000001"]


def test_stopping_early_changes_nothing() -> None:
    for seed in range(5):
        rng = random.Random(seed)
        words = [
            "rent",
            "due",
            "flight",
            "ferry",
            "island",
            "cats",
            "Mina",
            "contract",
            "paid",
            "口令",
            "PROJ-1",
        ]
        stored = [
            record(
                " ".join(rng.choices(words, k=rng.randint(1, 4))),
                numbered_id(i),
                speaker=rng.choice([MINA, TAO]),
                importance=rng.randint(1, 5),
                age_days=rng.random() * 200,
                tags=rng.choice([(), ("correction",), ("rent",)]),
            )
            for i in range(250)
        ]
        everything = ranked(stored, "rent for the ferry Mina", k=100, speaker_id="9001", floor=False).hits
        for k in (1, 3, 7, 20):
            assert (
                ranked(stored, "rent for the ferry Mina", k=k, speaker_id="9001", floor=False).hits
                == everything[:k]
            )


def test_many_alike_candidates_are_ranked_in_reasonable_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """All within reach of one another, none said twice: the work stays linear in their number."""
    made = 0
    whole = ranking._looked_at

    def counted(*args: Any) -> dict[str, float]:
        nonlocal made
        made += 1
        return whole(*args)

    monkeypatch.setattr(ranking, "_looked_at", counted)
    stored = [record("rent is due", numbered_id(i), speaker=Speaker(str(i))) for i in range(3_000)]
    assert len(order(stored, "rent due", k=5)) == 5
    assert made <= 3_000


# ------------------------------------------------------------ calibration


def test_a_model_that_finds_everything_alike_does_not_break_the_arithmetic() -> None:
    same = [unit([1.0, 0.0]) for _ in SENTENCES]
    flat = Calibration.of(same)
    assert flat.floor < 1
    assert flat.baseline(same[0]) < 1
    assert float(flat.closeness(np.ones(1, dtype=np.float32))[0]) == pytest.approx(1, abs=1e-3)


def test_a_calibration_is_read_back_as_it_was() -> None:
    back = Calibration.load(CALIBRATION.dump())
    assert back.dump() == CALIBRATION.dump()
    assert (back.mean, back.spread, back.dimension) == (CALIBRATION.mean, CALIBRATION.spread, 384)
    canary = unit(HashedWords().embed([SENTENCES[0]])[0])
    assert back.same_model(canary)
    assert not back.same_model(unit(HashedWords().embed([SENTENCES[1]])[0]))
    assert not back.same_model(canary[:10])


def test_a_damaged_calibration_is_not_read() -> None:
    for damage in (
        {"mean": float("nan")}, {"spread": float("inf")}, {"mean": "x"}, {"vectors": []},
        {"vectors": ["AAAA"]}, {"vectors": None}, {"vectors": [CALIBRATION.dump()["vectors"][0], "AQID"]},
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError, KeyError)):
            Calibration.load({**CALIBRATION.dump(), **damage})


def test_a_vague_question_has_a_higher_baseline() -> None:
    vague = unit(np.mean([unit(v) for v in HashedWords().embed(list(SENTENCES))], axis=0))
    sharp = unit(HashedWords().embed(["zebra xylophone"])[0])
    assert CALIBRATION.baseline(vague) > CALIBRATION.baseline(sharp) >= CALIBRATION.floor
    assert replace(CALIBRATION, mean=2.0).baseline(sharp) < 1
