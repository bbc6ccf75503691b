"""The help: what there is, how to type it, and examples that work."""

from __future__ import annotations

import re

from longterm_memory.chat.command_line import CommandLine, parse
from longterm_memory.chat.help_lines import help_text
from longterm_memory.chat.verbs import AVAILABLE, VERBS, Verb
from longterm_memory.chat.voice import Voice
from longterm_memory.settings import Settings
from tests.support.replies import EN, HOSTILE, VOICES, harmless


def test_help_lists_what_this_release_has_and_how_to_type_it_in_a_group() -> None:
    for voice in VOICES:
        text = help_text(voice, CommandLine(Verb.HELP))
        for verb in AVAILABLE:
            assert f"!memory {verb}".strip() in text
        for verb in set(VERBS) - set(AVAILABLE):
            assert f"!memory {verb}" not in text.replace("!memory forget", "")
        assert "@" in text
        harmless(text)


def test_help_on_each_verb_has_working_examples() -> None:
    for voice in VOICES:
        for verb in AVAILABLE:
            text = help_text(Voice(voice.language, prefix="/"), CommandLine(Verb.HELP, topic=verb))
            harmless(text)
            assert "!" not in text
            examples = [line for line in text.splitlines() if re.match(r"(Example: |例如：)?/memory", line)][
                1:
            ]
            for example in examples:
                assert parse(re.sub("^(Example: |例如：)", "", example)).verb is verb or verb is Verb.HELP
            assert examples or verb is Verb.OVERVIEW
            for option in VERBS[verb].options:
                assert f"--{option}" in text
            for alias in VERBS[verb].aliases:
                assert f"/memory {alias}" in text


def test_help_on_a_word_that_is_none_and_on_one_of_a_later_release() -> None:
    text = help_text(EN, parse("memory lst"))
    assert text.splitlines()[:2] == ['"lst" is not a subcommand of !memory.', "Did you mean !memory list?"]
    for verb in set(VERBS) - set(AVAILABLE):
        text = help_text(EN, parse(f"memory {verb} l2"))
        assert text.splitlines()[0] == f"!memory {verb} is not available yet in this version."
        assert "!memory search" in text
    harmless(help_text(EN, parse("memory " + HOSTILE.replace(" ", "_"))))


def test_voice_of_settings() -> None:
    voice = Voice.of(Settings(language="zh_Hans", timezone="Asia/Shanghai", command_prefixes=("#", "!")))
    assert (voice.language, voice.command, str(voice.zone)) == ("zh_Hans", "#memory", "Asia/Shanghai")
