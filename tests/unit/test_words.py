"""The words files: complete in every language, with every sentence that the code asks for."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from longterm_memory.chat.audit_lines import FACTS, OPERATIONS, VALUES, VIAS
from longterm_memory.chat.statuses import STATUS_NAMES, STATUS_WORDS
from longterm_memory.chat.verbs import AVAILABLE, OPTIONS, Group, Verb
from longterm_memory.chat.why_lines import PARTS
from longterm_memory.errors import BadArgument, LongTermMemoryError
from longterm_memory.models import Status
from longterm_memory.policy import COMMANDS, Action, Who
from longterm_memory.profile_changes.lists import REASONS
from longterm_memory.scope import Isolation
from longterm_memory.settings import LANGUAGES
from longterm_memory.text.fold import fold
from longterm_memory.text.secrets import KINDS
from longterm_memory.words import FALLBACK, areas, explain, joined, load, say

PACKAGE = Path(__file__).parents[2] / "longterm_memory"
ERRORS = {"LongTermMemoryError", *(c.__name__ for c in LongTermMemoryError.__subclasses__())}
GIVEN_BY_VOICE = {"c"}
"""Placeholders that are filled for every reply and every error: the command as it is typed here."""


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def calls() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def constants(node: ast.expr) -> Iterator[str]:
    """The texts that an argument can be: a constant, or either side of a condition."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def asked_for() -> Iterator[tuple[str, str, set[str] | None]]:
    """Every sentence asked for: where, its key, the values given (``None`` when they are not written out)."""
    for where, call in calls():
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        spread = any(k.arg is None for k in call.keywords)
        given = None if spread else {k.arg for k in call.keywords if k.arg}
        if name in ERRORS and call.args:
            prefix, argument = "error.", call.args[0]
            given = None if given is None else given | GIVEN_BY_VOICE
        elif name in {"say", "tell"} and len(call.args) == 1:
            prefix, argument = {"say": "command.", "tell": "tool."}[name], call.args[0]
            given = None if given is None else given | (GIVEN_BY_VOICE if name == "say" else set())
        elif name == "say" and len(call.args) == 2:
            prefix, argument = "", call.args[1]
        else:
            continue
        for text in constants(argument):
            yield where, prefix + text, given


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_every_sentence_and_its_placeholders(language: str) -> None:
    assert areas(language) == areas(FALLBACK)
    ours, english = load(language), load(FALLBACK)
    assert set(ours) == set(english)
    differing = {key for key in ours if placeholders(ours[key]) != placeholders(english[key])}
    assert differing == set()
    assert all(text.strip() == text and text for key, text in ours.items() if key != "command.profile_before")


def test_a_language_is_added_by_adding_a_folder(tmp_path: Path) -> None:
    """In a copy of the package, as installed: settings take it, what it lacks is said in English."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    added = tmp_path / PACKAGE.name / "words" / "xx_XX"
    added.mkdir()
    (added / "error.json").write_text('{"content_empty": "Rien à retenir."}', "utf-8")
    (tmp_path / PACKAGE.name / "words" / "empty").mkdir()
    code = (
        "from longterm_memory.settings import LANGUAGES, Settings; from longterm_memory.words import say, load;"
        "print(*LANGUAGES); print(Settings.load({'language': 'xx-xx'}, {})[0].language, *load('xx_XX'));"
        "print(say('xx_XX', 'error.content_empty')); print(say('xx_XX', 'error.code_wrong', c='!memory'));"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    languages, setting, own, english = done.stdout.splitlines()
    assert languages.split() == sorted([*LANGUAGES, "xx_XX"])
    assert setting == "xx_XX error.content_empty"
    assert own == "Rien à retenir."
    assert english == load(FALLBACK)["error.code_wrong"].format(c="!memory")


def test_the_languages_are_the_folders() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("words/*/*.json")}
    assert set(LANGUAGES) == folders >= {"en_US", "zh_Hans"}
    assert areas("../longterm_memory") == areas("xx_XX") == []


def test_the_word_for_a_status_can_be_typed_and_read_back_in_every_language() -> None:
    for language in LANGUAGES:
        for name in STATUS_NAMES:
            word = say(language, f"command.status_{name}")
            assert STATUS_WORDS.get(fold(word)) == name, f"{language}: {word}"


def test_sentences_of_one_line_are_apart_as_their_script_wants_it() -> None:
    assert joined("Gone.", "Filters: a.", "Kept.") == "Gone. Filters: a. Kept."
    assert joined("已删除。", "筛选条件：甲。", "LangBot 不变。") == "已删除。筛选条件：甲。LangBot 不变。"
    assert joined("[完]", "好。") == "[完] 好。"


def test_secrets_are_named_in_the_language_of_the_reader() -> None:
    for language in LANGUAGES:
        names = {explain(language, BadArgument("content_secret", kind=kind)) for kind in KINDS}
        assert len(names) == len(KINDS)
        assert not any("{" in name or "_" in name for name in names)
    assert "API 密钥" in explain("zh_Hans", BadArgument("content_secret", kind="api_key"))


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("words/*/*.json")), ids=lambda p: "/".join(p.parts[-2:]))
def test_no_key_stands_twice_in_a_file(path: Path) -> None:
    pairs: list[tuple[str, object]] = json.loads(path.read_text("utf-8"), object_pairs_hook=list)
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != FALLBACK])
def test_another_language_is_really_another(language: str) -> None:
    ours, english = load(language), load(FALLBACK)
    typed = "|".join([*(verb for verb in Verb if verb), r"--[a-z-]+", r"\{\w+\}", "<id>"])
    same = {
        key
        for key in ours
        if ours[key] == english[key] and re.search("[a-z]{2}", re.sub(typed, "", ours[key]))
    }
    assert same == set()


def test_no_reply_sentence_is_left_over() -> None:
    """Replies ask for sentences by name, or by a name made of a verb, an option, a status, an isolation."""
    used = {key for _, key, _ in asked_for()}
    used |= {
        f"command.{part}_{verb.value or 'overview'}"
        for part in ("usage", "about", "more")
        for verb in AVAILABLE
    }
    used |= {f"command.option_help_{name}" for name in OPTIONS}
    used |= {f"command.status_{status}" for status in Status}
    used |= {f"command.help_group_{group}" for group in Group}
    used |= {f"command.audit_op_{operation}" for operation in OPERATIONS}
    used |= {f"command.audit_via_{via}" for via in VIAS}
    used |= {f"command.audit_fact_{fact}" for fact in FACTS}
    used |= {f"command.audit_value_{value}" for value in VALUES}
    used |= {f"command.why_{part}" for part in PARTS}
    used |= {f"command.overview_{isolation}" for isolation in (*Isolation, "bot_fallback")}
    used |= {"command.profile_traits", "command.profile_preferences"}
    used |= {f"command.reason_{reason}" for reason in REASONS}
    used |= {"tool.profile_session", "tool.profile_speaker"}
    used |= {"command.deleted", "command.deleted_more"}
    assert {key for key in load(FALLBACK) if key.startswith(("command.", "tool."))} - used == set()


def test_every_sentence_that_the_code_asks_for_exists_and_gets_its_values() -> None:
    sentences = load(FALLBACK)
    found = list(asked_for())
    assert len(found) > 80
    missing = [(where, key) for where, key, _ in found if key not in sentences]
    assert missing == []
    unfilled = [
        (where, key, sorted(placeholders(sentences[key]) - given))
        for where, key, given in found
        if given is not None and not placeholders(sentences[key]) <= given
    ]
    assert unfilled == []


def test_no_error_carries_english_words_into_a_sentence_of_another_language() -> None:
    """What an error names beside its reason is a value, or a key of words (``detail.<key>``) with all it needs."""
    sentences, used = load(FALLBACK), set()
    for where, call in calls():
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        for keyword in call.keywords if name in ERRORS else ():
            given = {k.arg for k in call.keywords}
            if keyword.arg in ("detail", "expected") and isinstance(keyword.value, ast.Constant):
                key = f"detail.{keyword.value.value}"
                used.add(key)
                assert placeholders(sentences[key]) <= given, where
            elif isinstance(keyword.value, (ast.Constant, ast.JoinedStr)):
                texts = [str(n.value) for n in ast.walk(keyword.value) if isinstance(n, ast.Constant)]
                assert not any(re.search("[a-z]{2} +[a-z]{2}", text) for text in texts), where
    by_name = {"detail.zeros", "detail.not_finite", "detail.dimensions", "detail.other_vectors"}
    assert {key for key in sentences if key.startswith("detail.")} == used | by_name
    assert "不是 JSON" in explain("zh_Hans", BadArgument("file_unreadable", detail="not_json"))


def test_every_refusal_of_the_policy_has_a_sentence() -> None:
    for action in Action:
        cells = {cell for mode in ("owner_or_admin", "everyone") for cell in COMMANDS[action][mode]}
        assert (Who.ADMIN in cells) is (f"error.forbidden_{action}" in load(FALLBACK))
