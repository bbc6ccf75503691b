"""Which messages are not worth a recall, and which look like it and are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.fold import fold
from longterm_memory.text.small_talk import _PHRASES, skip_reason


def test_greetings_thanks_and_laughter_are_skipped() -> None:  # F3
    for text in (
        "hi", "  HELLO  ", "嗨", "嗨～", "你好！！", "ＨＩ", "👋 hello 👋", "thanks :)", "哈哈哈哈",
        "hahahaha", "LOL", "lololol", "2333333", "wwww", "สวัสดี", "สวัสดี 🙏", "xin chào!", "こんにちは。",
        "ok", "好的",
    ):  # fmt: skip
        assert skip_reason(text) == "greeting"


def test_messages_without_words_and_commands_are_skipped() -> None:
    for text in ("", " ", "...", "🌙🌙", "？！", "___", "\u200b", "!!"):
        assert skip_reason(text) == "no_text"
    for text in ("!memory list", "！memory", " !help", "!记住"):
        assert skip_reason(text) == "command"
    for text, prefixes, reason in (
        ("/memory", ("/",), "command"), ("!memory", ("/",), ""), ("memory", ("",), ""), ("memory", (), ""),
    ):  # fmt: skip
        assert skip_reason(text, prefixes) == reason


def test_questions_are_not() -> None:
    for text in (
        "hi, when is my flight?", "你好，我的航班是几点", "hello Mina", "what do you know about me?", "QQQQ",
        "PROJ-123", "口令", "here", "hehe where is my key", "5", "wax", "6 pm", "! important: when is it?",
        "!5", "his", "lo", "hot", "yes, the flight", "不行", "test results",
    ):  # fmt: skip
        assert skip_reason(text) == ""


def test_every_phrase_of_the_table_is_in_the_form_it_is_compared_in() -> None:
    assert all(phrase == fold(phrase) for phrase in _PHRASES)
    assert all(skip_reason(phrase) == "greeting" for phrase in _PHRASES)
    assert "" not in _PHRASES


@given(st.text(max_size=60))
def test_any_message_gets_an_answer(text: str) -> None:
    assert skip_reason(text) in {"", "command", "no_text", "greeting"}
