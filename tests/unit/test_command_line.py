"""What people type after ``!memory``, and what it must never be taken for."""

from __future__ import annotations

import contextlib
import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longterm_memory.chat.command_line import CommandLine, parse
from longterm_memory.chat.verbs import AVAILABLE, OPTIONS, VERBS, OptionKind, Place, Verb
from longterm_memory.errors import BadArgument, LongTermMemoryError, NotFound
from longterm_memory.models import KEPT_STATUSES, Filters, Status
from longterm_memory.words import explain

ALL = tuple(VERBS)


def refused(line: str) -> str:
    """The reason why a line is refused; every refusal has words in both languages."""
    with pytest.raises((BadArgument, NotFound)) as caught:
        parse(line, available=ALL)
    for language in ("en_US", "zh_Hans"):
        sentence = explain(language, caught.value)
        assert sentence
        assert "\n" not in sentence
    return caught.value.reason


# ---------------------------------------------------------------- verbs


def test_nothing_after_the_command_is_the_overview() -> None:
    for line in ("", "memory", "！memory", "memory\n", "ＭＥＭＯＲＹ", "/Memory"):
        assert parse(line) == CommandLine(Verb.OVERVIEW)


def test_verbs_and_their_short_forms() -> None:
    for typed, verb in (
        ("p", Verb.PROFILE), ("ls", Verb.LIST), ("LIST", Verb.LIST), ("ｌｉｓｔ", Verb.LIST),
        ('"list"', Verb.LIST), ("\u200blist", Verb.LIST), ("me", Verb.ME), ("h", Verb.HELP), ("?", Verb.HELP),
        ("？", Verb.HELP), ("--help", Verb.HELP), ("-h", Verb.HELP), ("f k7m29xqd", Verb.FORGET),
        ("e k7m29xqd x", Verb.EDIT),
    ):  # fmt: skip
        assert parse(f"memory {typed}", available=ALL).verb is verb


def test_verb_after_odd_space_and_a_newline() -> None:
    assert parse("！memory　　list\n2").page == 2
    assert parse("memory  \t list   ２") == CommandLine(Verb.LIST, page=2)


def test_an_unknown_verb_gets_the_help_and_the_nearest_name() -> None:
    for word, suggestion in (
        ("lst", Verb.LIST), ("serach", Verb.SEARCH), ("delet", Verb.DELETE), ("喂", None),
    ):  # fmt: skip
        line = parse(f"memory {word} --tag x")
        assert (line.verb, line.unknown, line.suggestion) == (Verb.HELP, f'"{word}"', suggestion)
    assert parse("memory help serch") == CommandLine(Verb.HELP, unknown='"serch"', suggestion=Verb.SEARCH)


def test_a_verb_of_a_later_release_is_named_whatever_follows_it() -> None:
    for verb in VERBS:
        if verb not in AVAILABLE:
            assert parse(f"memory {verb} --nonsense") == CommandLine(Verb.HELP, topic=verb)


def test_help_on_one_verb() -> None:
    for line in ("memory help list", "memory h LS", "memory list --help", "memory ls -h"):
        assert parse(line) == CommandLine(Verb.HELP, topic=Verb.LIST)


def test_the_word_repeated_in_the_help_is_one_short_line() -> None:
    unknown = parse("memory " + "x\u2028\u202ey" + "z" * 300).unknown
    assert len(unknown) <= 42
    assert unknown.isprintable()


# ---------------------------------------------------------------- options


def test_every_spelling_of_an_option() -> None:
    for option in (
        "--tag work", "--tag=work", "--tag:work", "--TAG work", "—tag work", "–tag=work", "——tag work",
        "－－tag work", "−−tag work", "-tag work", "﹣tag work", "--ｔａｇ＝work", '--tag "work"', "--tag='work'",
        "--tag “work”", "--tag=”work”", "--tag 「work」", "\u200b--tag work", "--tag\nwork", "--tag　work",
    ):  # fmt: skip
        for verb in ("delete", "list"):
            line = parse(f"memory {verb} {option}")
            assert line.filters.tag == "work"
            assert line.options == {"tag"}


def test_quoted_values_stand_as_they_are() -> None:
    assert parse('memory delete --tag "a  b, — c"').filters.tag == "a  b, — c"
    assert parse("memory delete --tag=「旅行　计划」").filters.tag == "旅行　计划"
    assert parse('memory delete --tag "--status"').filters.tag == "--status"
    assert parse('memory delete --tag "it\'s"').filters.tag == "it's"


def test_full_width_digits_of_an_id_are_plain_ones_and_other_ids_stand_as_they_are() -> None:
    assert parse("memory delete --speaker ９００１").filters.sender_id == "9001"
    assert parse("memory delete --speaker 007").filters.sender_id == "007"
    assert parse("memory delete --speaker ou_Ａb:1/x").filters.sender_id == "ou_Ａb:1/x"
    assert parse("memory delete --speaker '９００１'").filters.sender_id == "９００１"
    assert parse("memory delete --speaker -100123").filters.sender_id == "-100123"


def test_filters_of_a_listing() -> None:
    line = parse(
        "memory list --speaker 9001 --speaker-name Mina --tag work --source Import --importance ４"
        " --after 2026-05-01 --before 2026-05-31 --include-superseded 3"
    )
    assert line.filters == Filters(
        sender_id="9001",
        sender_name="Mina",
        tag="work",
        source="import",
        importance_min=4,
        time_after=datetime(2026, 5, 1, tzinfo=UTC),
        time_before=datetime(2026, 6, 1, tzinfo=UTC),
        statuses=frozenset({Status.ACTIVE, Status.SUPERSEDED}),
    )
    assert line.page == 3


def test_statuses() -> None:
    for options, statuses in (
        ("", {Status.ACTIVE}), ("--status archived", {Status.ARCHIVED}),
        ("--status=Superseded，archived", {Status.SUPERSEDED, Status.ARCHIVED}),
        ("--status 已归档", {Status.ARCHIVED}), ("--status all", KEPT_STATUSES),
        ("--all-statuses", KEPT_STATUSES), ("--all_statuses", KEPT_STATUSES),
        ("--include-superseded", {Status.ACTIVE, Status.SUPERSEDED}),
        ("--include-archived --include-superseded", KEPT_STATUSES),
        ("--status archived --include-superseded", {Status.ARCHIVED, Status.SUPERSEDED}),
    ):  # fmt: skip
        assert parse(f"memory list {options}").filters.statuses == statuses
        assert parse(f"memory search {options} rent").filters.statuses == statuses


def test_times() -> None:
    for value, bound in (
        ("2026-05-01", datetime(2026, 5, 2, tzinfo=UTC)), ("２０２６－０５－０１", datetime(2026, 5, 2, tzinfo=UTC)),
        ("2026–05–01", datetime(2026, 5, 2, tzinfo=UTC)),
        ("2026-05-01 10:00", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01 10:00+08:00", datetime(2026, 5, 1, 2, tzinfo=UTC)),
        ("'2026-05-01 10:00'", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        ("2026-05-01T10:00:00Z", datetime(2026, 5, 1, 10, tzinfo=UTC)),
    ):  # fmt: skip
        assert parse(f"memory list --before {value}").filters.time_before == bound
        assert parse(f"memory list --before={value}").filters.time_before == bound


def test_delete_keeps_the_day_it_names_and_reaches_every_status() -> None:
    line = parse("memory delete --before 2026-05-01")
    assert line.filters == Filters(time_before=datetime(2026, 5, 1, tzinfo=UTC), statuses=KEPT_STATUSES)
    assert parse("memory delete --tag x --status archived").filters.statuses == {Status.ARCHIVED}


def test_a_broken_option_is_an_error_and_never_no_filter() -> None:
    for rest, reason in (
        ("--tag", "option_value_missing"), ("--tag=", "option_value_missing"),
        ("--tag = work", "option_value_missing"), ('--tag ""', "option_value_missing"),
        ('--tag="  "', "option_value_missing"), ("--tag “”", "option_value_missing"),
        ("--tag \u200b", "option_value_missing"), ("--tag \u3164", "option_value_missing"),
        ('--tag "\u200d\u3000"', "option_value_missing"),
        ("--before 2026-05-01 --tag", "option_value_missing"),
        ("--tag --speaker 9001", "option_value_option"), ("--tag —speaker 9001", "option_value_option"),
        ("--tag -speaker 9001", "option_value_option"), ("--tag=--speaker", "option_value_option"),
        ("--tag -- work", "option_value_option"), ("--tag --bogus", "option_value_option"),
        ('--tag "work', "option_quote_open"), ("--tag=「work", "option_quote_open"),
        ("--tag work --tag play", "option_twice"), ("--tag work -tag=play", "option_twice"),
        ("--bogus work", "option_unknown"), ("--tga work", "option_near"), ("--标签 work", "option_unknown"),
        ("--tag,work", "option_unknown"), ("--status deleted", "option_status"),
        ("--status nonsense", "option_status"), ("--status active,", "option_status"),
        ("--before yesterday", "expected_time"), ("--before 2026-13-45", "expected_time"),
        ("--before null", "expected_time"),
    ):  # fmt: skip
        for verb in ("delete", "list"):
            assert refused(f"memory {verb} {rest}") == reason


def test_broken_listings() -> None:
    for rest, reason in (
        ("--importance 6", "option_importance"), ("--importance high", "option_importance"),
        ("--all-statuses=yes", "option_flag_value"),
        ("--status active --all-statuses", "option_conflict"), ("--page 0", "page_number"),
        ("2 --page 3", "option_twice"), ("-1", "page_number"), ("0", "page_number"),
        ("9" * 5000, "page_number"), ("work", "page_number"), ("2 3", "words_left_over"),
        ("—tga work", "option_near"),
    ):  # fmt: skip
        assert refused(f"memory list {rest}") == reason


def test_delete_without_a_usable_filter_deletes_nothing() -> None:
    for rest, reason in (
        ("", "delete_needs_filter"), ("work", "words_left_over"), ("-- --tag work", "words_left_over"),
        ("— tag work", "words_left_over"), ("--tag work play", "words_left_over"),
        ("--status all", "option_status"), ("--all-statuses", "option_near"), ("--page 2", "option_unknown"),
        ("--after 2026-01-01", "option_unknown"), ("-x", "words_left_over"),
    ):  # fmt: skip
        assert refused(f"memory delete {rest}") == reason


def test_options_before_a_verb_or_at_a_verb_without_options() -> None:
    assert refused("memory --tag work") == "option_none"
    assert refused("memory me --tag work") == "option_none"
    assert refused("memory -- list") == "words_left_over"
    assert refused("memory stats 3") == "words_left_over"


# ---------------------------------------------------------------- content


def test_a_query_is_what_is_left_byte_for_byte() -> None:
    for rest, query in (
        ("  what did  Mina\nsay? ", "what did  Mina\nsay?"), ("--tag work rent　due", "rent　due"),
        ("rent --tag work due", "rent due"), ("rent due --tag work", "rent due"),
        ('"rent  due"', "rent  due"), ("“静夜思”", "静夜思"), ('he said "hi"', 'he said "hi"'),
        ('"a" or "b"', '"a" or "b"'), ("don't know", "don't know"), ("'tis", "'tis"),
        ('"--tag work"', "--tag work"), ("-- --tag work", "--tag work"), ("— --tag", "--tag"),
        ("rent -- --due", "rent --due"), ("rent — due", "rent — due"), ("rent -5 -x", "rent -5 -x"),
        ("——你好吗", "——你好吗"), ("我说过——你记得吗", "我说过——你记得吗"), ("a---b --- c", "a---b --- c"),
    ):  # fmt: skip
        assert parse(f"memory search {rest}").text == query
        assert parse(f"memory why {rest}", available=ALL).text == query


def test_a_search_needs_a_query() -> None:
    for rest in ("", "--tag work", '""', "'  '", "--"):
        assert refused(f"memory search {rest}") == "query_missing"


def test_the_text_of_an_edit_is_kept() -> None:
    for rest, text in (
        ("k7m29xqd  Rent is  due —\non the 16th --tag x ", "Rent is  due —\non the 16th --tag x"),
        ("(id k7m29xqd) new", "new"), ("[ k7m29xqd ] new", "new"), ("【k7m29xqd】new", "new"),
        ("id = k7m29xqd new", "new"), ("k7m29xqd: new", "new"), ('K7M29XQD "Rent  is due"', "Rent  is due"),
        ("k7m29xqd -- --dashes", "--dashes"), ("k7m29xqd — said Mina", "— said Mina"),
    ):  # fmt: skip
        line = parse(f"memory edit {rest}", available=ALL)
        assert (line.id, line.text) == ("k7m29xqd", text)


def test_json_is_kept_with_its_inner_spaces_and_line_breaks() -> None:
    content = '{"episodes": [\n  {"content": "a  --tag b"} ]}'
    line = parse(f"memory import l2 {content}\n", available=ALL)
    assert (line.choice, line.text) == ("l2", content)
    assert parse('memory import L2 "x"', available=ALL).text == '"x"'


def test_what_is_missing_is_named() -> None:
    for rest, reason in (
        ("edit", "id_missing"), ("edit k7m29xqd", "text_missing"), ('edit k7m29xqd ""', "text_missing"),
        ("edit a1b2 text", "id_malformed"), ("forget", "id_missing"), ("forget a1b2", "id_malformed"),
        ("forget k7m29xqd m2345678", "words_left_over"), ("show k7m29xqd x", "page_number"),
        ("import", "choice_missing"), ('import {"a":1}', "choice_missing"), ("import l2", "json_missing"),
        ("consolidate", "choice_missing"), ("candidate accept", "id_missing"),
        ("candidate k7m29xqd", "choice_missing"),
    ):  # fmt: skip
        assert refused(f"memory {rest}") == reason


def test_choices_ids_codes_and_pages() -> None:
    assert parse("memory export ALL --status archived", available=ALL).choice == "all"
    assert parse("memory export", available=ALL).choice == ""
    assert parse("memory audit export", available=ALL).choice == "export"
    assert parse("memory audit 3", available=ALL).page == 3
    assert parse("memory candidate reject [k7m29xqd]", available=ALL).id == "k7m29xqd"
    assert parse("memory forgetme 4711", available=ALL).text == "4711"
    assert parse("memory show `k7m29xqd` ２").page == 2
    assert parse("memory forget 「Ｋ7M29XQD」").id == "k7m29xqd"


def test_half_characters_are_replaced() -> None:
    assert parse("memory delete --tag a\ud800").filters.tag == "a\ufffd"
    assert parse("memory search a\ud83d\ude00\udc00").text == "a😀\ufffd"


# ---------------------------------------------------------------- the tables


def test_every_row_of_the_tables_is_sound() -> None:
    words = [w for spec in VERBS.values() for w in (spec.verb.value, *spec.aliases)]
    assert len(words) == len(set(words))
    assert set(VERBS) == set(Verb)
    for spec in VERBS.values():
        assert set(spec.options) <= set(OPTIONS)
        assert bool(spec.choices) == (Place.CHOICE in spec.places)
    for option in OPTIONS.values():
        assert bool(option.example) == (option.kind is not OptionKind.FLAG)


def test_a_very_long_line_takes_no_long_time() -> None:
    for piece in ('"x ', "'x “y ", "—a ", "[ ( ", "--", "\u200b", '--tag="', "word "):
        for verb in ("search", "delete", "show", "edit", "import l2"):
            started = time.process_time()
            with contextlib.suppress(LongTermMemoryError):
                parse(f"memory {verb} {piece * 20_000}", available=ALL)
            assert time.process_time() - started < 5, "quadratic: minutes"


# ---------------------------------------------------------------- anything at all

_PIECES = st.sampled_from(
    [
        *(v.value for v in Verb),
        *(f"{dash}{name}{end}" for name in OPTIONS for dash, end in (("--", ""), ("—", ""), ("--", "="))),
        *("--", "—", '"', "「", "」", "'", "=", "[", "{}", "－－", "ｔａｇ", "\n", "　", "\u200b", "\ud800"),
        *("l2", "k7m29xqd", "2026-05-01", "10:00", "9001", "archived"),
    ]
)
_LINES = st.lists(st.one_of(_PIECES, st.text(max_size=8)), max_size=12).flatmap(
    lambda parts: st.sampled_from([" ".join(parts), "".join(parts), "delete " + " ".join(parts)])
)


@settings(max_examples=600, deadline=None)
@given(_LINES)
def test_any_line_is_a_command_or_a_sentence(rest: str) -> None:
    try:
        line = parse(f"memory {rest}", available=ALL)
    except LongTermMemoryError as error:
        assert explain("en_US", error)
        assert explain("zh_Hans", error)
        return
    assert line.page >= 1
    if line.verb is Verb.DELETE:
        explicit = line.filters.model_copy(update={"statuses": frozenset({Status.ACTIVE})}).narrows
        assert explicit or "status" in line.options
