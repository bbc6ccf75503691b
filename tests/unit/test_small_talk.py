"""Which messages are not worth a recall, and which look like it and are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longterm_memory.text.fold import fold
from longterm_memory.text.small_talk import _PHRASES, skip_reason


@pytest.mark.parametrize(
    "text",
    [
        "hi",
        "Hi!",
        "  HELLO  ",
        "嗨",
        "嗨～",
        "你好！！",
        "ＨＩ",
        "👋 hello 👋",
        "thanks :)",
        "谢谢🙏",
        "哈哈哈哈",
        "hahahaha",
        "LOL",
        "lololol",
        "666",
        "2333333",
        "wwww",
        "สวัสดี",
        "สวัสดี 🙏",
        "xin chào!",
        "안녕하세요",
        "こんにちは。",
        "ok",
        "好的",
    ],
)
def test_greetings_thanks_and_laughter_are_skipped(text: str) -> None:  # F3
    assert skip_reason(text) == "greeting"


@pytest.mark.parametrize("text", ["", " ", "...", "🌙🌙", "？！", "___", "\u200b"])
def test_messages_without_words_are_skipped(text: str) -> None:
    assert skip_reason(text) == "no_text"


@pytest.mark.parametrize("text", ["!memory list", "！memory", " !help", "!记住"])
def test_commands_are_skipped(text: str) -> None:
    assert skip_reason(text) == "command"


def test_the_command_prefix_is_a_setting() -> None:
    assert skip_reason("/memory", ("/",)) == "command"
    assert skip_reason("!memory", ("/",)) == ""
    assert skip_reason("memory", ("",)) == ""
    assert skip_reason("memory", ()) == ""


@pytest.mark.parametrize(
    "text",
    [
        "hi, when is my flight?",
        "你好，我的航班是几点",
        "hello Mina",
        "what do you know about me?",
        "QQQQ",
        "PROJ-123",
        "口令",
        "here",
        "hehe where is my key",
        "56",
        "5",
        "wax",
        "6 pm",
        "! important: when is it?",
        "!!",
        "!5",
        "his",
        "lo",
        "hot",
        "yes, the flight",
        "不行",
        "test results",
    ],
)
def test_questions_are_not(text: str) -> None:
    assert skip_reason(text) in (("no_text",) if text == "!!" else ("",))


def test_every_phrase_of_the_table_is_in_the_form_it_is_compared_in() -> None:
    assert all(phrase == fold(phrase) for phrase in _PHRASES)
    assert all(skip_reason(phrase) == "greeting" for phrase in _PHRASES)
    assert "" not in _PHRASES


@given(st.text(max_size=60))
def test_any_message_gets_an_answer(text: str) -> None:
    assert skip_reason(text) in {"", "command", "no_text", "greeting"}
