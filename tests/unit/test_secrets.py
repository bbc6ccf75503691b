"""Finding secrets: how often it is right on a labelled list, by language (cases L3, H1), and how it is used."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.secret_rules import LABELLED, STATEMENT_RULES
from longterm_memory.text.secrets import KINDS, find_across, find_labelled, find_secret, redact

CASES = json.loads((Path(__file__).parent / "data" / "secrets.json").read_text("utf-8"))
"""Rows ``{text, lang, kind, set}``; ``kind`` null = no secret.

The rules were made with ``tuned``. ``fresh``, ``second`` and ``third`` were each written before they were first
tried, and then the kinds behind the misses were fixed. ``held_out`` was written last, and no rule was
changed for anything in it, nor may be, or it says nothing any more. The rates of each first try stand in
docs/decisions/0003-secret-detection.md.
"""

BOUNDS = {
    # Largest share of (secrets missed, other texts found) that passes.
    "tuned": (0.0, 0.0),
    "fresh": (0.0, 0.0),
    "second": (0.0, 0.0),
    "third": (0.04, 0.0),
    "held_out": (0.19, 0.0),
}


def test_the_list_is_large_and_mixed() -> None:
    sizes = Counter((case["lang"], case["kind"] is not None) for case in CASES)
    assert len(CASES) >= 730
    assert min(sizes.values()) >= 140
    held_out = Counter((c["lang"], c["kind"] is not None) for c in CASES if c["set"] == "held_out")
    assert min(held_out.values()) >= 30
    assert {case["kind"] for case in CASES} == {*KINDS, None}
    assert len({case["text"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", BOUNDS)
def test_the_rates(part: str, language: str) -> None:
    rows = [case for case in CASES if (case["set"], case["lang"]) == (part, language)]
    secrets, others = [r for r in rows if r["kind"]], [r for r in rows if not r["kind"]]
    missed = [r["text"] for r in secrets if not find_secret(r["text"])]
    falsely = [r["text"] for r in others if find_secret(r["text"])]
    most_missed, most_false = BOUNDS[part]
    # The texts of the held-out part are not shown, so that nobody tunes the rules on them by accident.
    shown = "held out" if part == "held_out" else (missed, falsely)
    assert len(missed) <= most_missed * len(secrets), shown
    assert len(falsely) <= most_false * len(others), shown


def test_the_kind_is_told() -> None:
    found = [(find_secret(c["text"]), c["kind"], c["text"]) for c in CASES if c["kind"]]
    wrong = [row for row in found if row[0] and row[0] != row[1]]
    assert len(wrong) <= 0.02 * len(found), wrong


def test_the_cases_from_the_field() -> None:
    for text, kind in (
        ("deploy key is sk-test-FAKE0123456789abcdef", "api_key"),
        ("验证码 482913", "one_time_code"),
        ("-----BEGIN RSA PRIVATE KEY-----", "private_key"),
        ("-----BEGIN CERTIFICATE-----\nMIIFAKE", "private_key"),
        ("password: hunter2", "password"),
        ("we have no API key in the build", None),
        ("阿明的口令是向日葵", None),
        ("the password was changed", None),
    ):
        assert find_secret(text) == kind, text


def test_no_statement_is_overlooked_for_want_of_a_label() -> None:
    for case in CASES:
        stated = any(rule.pattern.search(case["text"]) for rule in STATEMENT_RULES)
        assert not stated or LABELLED.search(case["text"]), case


# ---------------------------------------------------------------- redacting


def test_redacting_leaves_nothing_to_find_and_touches_nothing_else() -> None:
    for case in CASES:
        text, kinds = redact(case["text"])
        assert bool(kinds) is (find_secret(case["text"]) is not None), case
        assert find_secret(text) is None, case
        assert redact(text) == (text, ()), case


def test_redacting_keeps_everything_around_the_secret() -> None:
    for text, kept, kinds in (
        (
            "Mina's wifi password is hunter2, ask Tao",
            "Mina's wifi password is [password removed], ask Tao",
            ("password",),
        ),
        (
            "验证码：４８２９１３，五分钟内有效",
            "验证码：[one time code removed]，五分钟内有效",
            ("one_time_code",),
        ),
        (
            "ssh-\u200bkey sk-test-FA\u200bKE0123456789abcdef!",
            "ssh-\u200bkey [api key removed]!",
            ("api_key",),
        ),
        (
            "password: hunter2 and token=a1b2c3d4e5f6a7b8",
            "password: [password removed] and token=[token removed]",
            ("password", "token"),
        ),
        (
            "before -----BEGIN PRIVATE KEY-----\nMIIEFAKE\nxyz==\n-----END PRIVATE KEY----- after",
            "before [private key removed] after",
            ("private_key",),
        ),
        (
            "2FA backup codes: 8fk2-99ap, k3m1-7xqz, 0p4d-2ww8. Print them.",
            "2FA backup codes: [one time code removed]. Print them.",
            ("one_time_code",),
        ),
    ):
        assert redact(text) == (kept, kinds)


@given(st.text(max_size=200))
def test_any_text_can_be_searched_and_redacted(text: str) -> None:
    cleaned, kinds = redact(text)
    assert (find_secret(text) is None) == (kinds == ())
    assert kinds or cleaned == text


# ---------------------------------------------------------------- in pieces

PIECES = [
    ("wifi password:", "hunter2x", "password"),
    ("WiFi密码", "hunter2x", "password"),
    ("验证码：", "482913", "one_time_code"),
    ("API key", "a1b2c3d4e5f6a7b8c9d0", "api_key"),
    ("wifi password:", "sunshine", "password"),
]


def test_a_label_and_its_value_are_one_secret() -> None:
    for label, value, kind in PIECES:
        assert find_across(("Mina likes tea", label, value, "Tao plays chess")) == kind
        assert find_labelled(("home", label), value) == kind
    assert find_across(("hunter2x", "is my wifi password")) == "password"
    assert find_labelled(["password"], "home wifi: hunter2x") == "password"


def test_neighbours_that_say_something_else_are_none() -> None:
    for one, other in (
        ("wifi password:", "ask Tao for it"),
        ("Mina forgot her password again", "PROJ-123 ships on 2026-05-01"),
        ("the verification code never arrived", "order 482913 was shipped yesterday"),
        ("密码每九十天要换一次", "订单号 20260501482913 已发货"),
        # A secret that stands there alone is for find_secret to find.
        ("password: hunter2x", "Mina likes tea"),
    ):
        assert find_across((one, other)) is None, (one, other)
    for tag, content in (
        ("password", "the reset takes 2 days"),
        ("密码", "Mina 的航班是 LH714，周二上午九点起飞"),
    ):
        assert find_labelled([tag], content) is None, (tag, content)


def test_sentences_of_others_beside_each_other_are_hardly_ever_taken_for_one() -> None:
    """Each text of the list without a secret beside each, half of which speak of passwords: the worst neighbours."""
    clean = [case["text"] for case in CASES if not case["kind"]]
    pairs = [(one, clean[(i * 7 + 3) % len(clean)]) for i, one in enumerate(clean)]
    falsely = [pair for pair in pairs if find_across(pair)]
    assert len(falsely) <= 0.01 * len(pairs), falsely


# ---------------------------------------------------------------- cost


HOSTILE = (
    *(
        "a",
        "password ",
        "password is ",
        "a_",
        "-----BEGIN ",
        "sk-a-",
        "1",
        "密码是",
        "密码改",
        "x ",
        "a://",
        "?key=",
    ),
    *(
        "-",
        " ",
        "curl ",
        "mysql ",
        "login ",
        "seed phrase ",
        "abc ",
        "backup codes a1b2c3 ",
        "pass",
        "code sent ",
    ),
    *("password it's ", "password to ", "a/b ", "验证码了，", "PIN ", "key is ", "a.", "\n"),
)


def test_long_hostile_text_takes_no_longer_than_long_ordinary_text() -> None:
    def seconds(text: str) -> float:
        start = perf_counter()
        find_secret(text)
        find_labelled(["password"], text)
        find_across((text, "hunter2x"))
        return perf_counter() - start

    # With a word in it that makes all rules be tried.
    ordinary = "Mina left the key to the lake house with her sister and came home late. " * 110
    usual = min(seconds(ordinary) for _ in range(5))
    for piece in HOSTILE:
        assert min(seconds((piece * 8_000)[:8_000]) for _ in range(3)) < 30 * usual, piece
