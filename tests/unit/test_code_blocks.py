"""Every fenced code block in every Markdown file of the repository does what its language promises.

A block is checked by the language behind its fence (:data:`CHECKS`), so a new document needs no line here. What is not
to be checked is marked as ``text``; JSON that leaves something out (``…``) or has comments as ``jsonc``.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import contextlib
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from longterm_memory.chat.command_line import parse
from longterm_memory.chat.verbs import find_verb
from longterm_memory.errors import LongTermMemoryError
from longterm_memory.transfer.formats import CONTAINERS
from longterm_memory.transfer.uploads import upload
from tests.support.memory import Bot, new_bot

ROOT = Path(__file__).resolve().parents[2]
_SKIPPED = {"build", "node_modules", ".git", ".venv"}
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<mark>`{3,}|~{3,})(?P<language>[^\n`]*)\n(?P<body>.*?)^ *(?P=mark)[ ]*$", re.M | re.S
)
_ELIDED = "…"


class Block(NamedTuple):
    where: str
    language: str
    text: str


def documents() -> list[Path]:
    found = ROOT.rglob("*.md")
    return sorted(path for path in found if not _SKIPPED.intersection(path.relative_to(ROOT).parts))


def blocks_of(path: Path) -> Iterator[Block]:
    text = path.read_text("utf-8")
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
    for found in _FENCE.finditer(text):
        where = f"{name}:{text.count(chr(10), 0, found.start()) + 1}"
        yield Block(where, found["language"].strip(), textwrap.dedent(found["body"]))


BLOCKS = [block for path in documents() for block in blocks_of(path)]


# ---------------------------------------------------------------- JSON


def check_json(block: Block) -> None:
    assert _ELIDED not in block.text, 'leaves something out: mark it as "jsonc"'
    value = json.loads(block.text)
    if not _is_import(value):
        return

    async def imported() -> None:
        bot = await new_bot()
        report = await upload(bot.service, block.text.encode(), "d1")
        assert report.ok and not report.rejected and not report.notes, report

    asyncio.run(imported())


def _is_import(value: Any) -> bool:
    """Whether it is a file to import: memories, or what holds them."""
    if isinstance(value, Mapping):
        return (
            any(isinstance(value.get(name), list) for name in (*CONTAINERS, "profiles")) or "content" in value
        )
    return isinstance(value, list) and all(isinstance(row, Mapping) and "content" in row for row in value)


def check_json_lines(block: Block) -> None:
    check_json(
        block._replace(
            text=json.dumps([json.loads(line) for line in block.text.splitlines() if line.strip()])
        )
    )


def check_jsonc(block: Block) -> None:
    plain = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda found: found[1] or "", block.text)
    quoted = re.sub(r'("(?:\\.|[^"\\])*")|…', lambda found: found[1] or '"…"', plain)
    # In an object what is left out has no name, and a comma may stand before the end.
    json.loads(re.sub(r",(\s*[\]}])", r"\1", re.sub(r'(?<=[{,])(\s*)"…"(?=\s*[,}])', r'\1"…": null', quoted)))


# ---------------------------------------------------------------- Python


class Asked:
    """The event context of a consumer."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables
        self.event = types.SimpleNamespace(default_prompt=[])

    async def get_query_vars(self) -> Mapping[str, Any]:
        return self._variables


GIVEN = ("event_context", "context")
"""Names that a snippet may use without making them: the context of the event that it handles."""
ODD: tuple[Any, ...] = ("text", [], {}, {"speaker": None, "speaker_profile": 5, "episodes": None})
"""What another plugin may have written into the variable."""


def check_python(block: Block) -> None:
    """Compile it; run it, in a folder with the example files, when it needs nothing but the standard library."""
    tree = ast.parse("async def snippet():\n" + textwrap.indent(block.text, "    ") + "\n    return locals()")
    if not _runs(tree) or (_free(tree) and "_ltm_context" not in block.text):
        compile(tree, block.where, "exec")
        return
    real = asyncio.run(real_contexts())
    for values in ({}, *({"_ltm_context": context} for context in (*real, *ODD)))[
        : None if _careful(block) else 1 + len(real)
    ]:
        made = _run(tree, block, values)
        if callable(function := made.get("style_line")):
            for context in (None, *real, *ODD[:3]):
                assert isinstance(function(context), str)
    _check_keys(block, real[0])


def _careful(block: Block) -> bool:
    """Whether it checks what it gets, so that it may be given anything."""
    return "isinstance(context, dict)" in block.text


def _runs(tree: ast.AST) -> bool:
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return all(name.partition(".")[0] in sys.stdlib_module_names for name in names)


def _free(tree: ast.AST) -> set[str]:
    """Names that a snippet takes from code around it, which is not shown."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    made = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | {*dir(builtins), *GIVEN}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).partition(".")[0])
    return {node.id for node in names} - made


def _run(tree: ast.AST, block: Block, variables: Mapping[str, Any]) -> dict[str, Any]:
    asked = Asked(variables)
    namespace: dict[str, Any] = {"__name__": "snippet", **dict.fromkeys(GIVEN, asked)}
    exec(compile(tree, block.where, "exec"), namespace)
    made: dict[str, Any] = asyncio.run(namespace["snippet"]()) or {}
    return made


async def real_contexts() -> list[dict[str, Any]]:
    """What LongTermMemory publishes: in full, with no data yet, with nobody known as the speaker."""
    bot = await new_bot()
    for field in ("traits", "preferences"):
        await bot.tool("update_profile", {"field": field, "action": "add", "value": f"some {field}"})
    await bot.remember("Mina moves to Oslo in May", tags=["moving"])
    asked = "When does Mina move to Oslo?"
    return [
        await published(bot, asked),
        await published(bot, asked, "group_5"),
        await published(bot, asked, "group_5", ""),
    ]


async def published(bot: Bot, *message: str) -> dict[str, Any]:
    turn = bot.turn(*message)
    await bot.service.injector.prepare(turn)
    context: dict[str, Any] = turn.values["_ltm_context"]
    return context


def _check_keys(block: Block, context: Mapping[str, Any]) -> None:
    """The keys that comments beside a context name are those that it really has."""
    real = {frozenset(context[name]) for name in ("speaker", "session_profile", "speaker_profile")}
    real.add(frozenset(context["episodes"][0]))
    if '"_ltm_context"' in block.text:
        for comment in re.findall(r"#.*?\[?(\{.*\})", block.text):
            assert frozenset(re.findall(r'[{,]\s*"(\w+)"', comment)) in real, comment


# ---------------------------------------------------------------- shell

_TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
_PATH = re.compile(r"\.{0,2}/?[\w.@+-]+(/[\w.@+-]+)*/?")
_FILE = re.compile(r"[\w.-]+\.(py|md|json|jsonl|txt|ya?ml|toml|sh|cfg)")


def check_shell(block: Block) -> None:
    text = re.sub(r"<[\w ./-]+>", "placeholder", block.text)
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|(?<!\S)#.*", "", text)
    assert _ELIDED not in plain, 'leaves something out: mark it as "text"'
    syntax = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    assert syntax.returncode == 0, syntax.stderr
    folder = ROOT
    for words in _commands(text):
        folder = _check_command(words, folder)


def _commands(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(
        text.replace("\\\n", " ").replace("\n", "\n;\n"), posix=True, punctuation_chars=";|&()"
    )
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word and set(word) <= set(";|&()"):
            while words and re.fullmatch(r"\w+=.*", words[0], re.S):
                words.pop(0)
            if words:
                yield words
            words = []
        else:
            words.append(word)


def _check_command(words: list[str], folder: Path) -> Path:
    command, *others = words
    if command == "cd":
        assert (folder / others[0]).is_dir(), f"no folder {others[0]}"
        return folder / others[0]
    if command == "make":
        for word in others:
            name, _, value = word.partition("=")
            known = name in (ROOT / "Makefile").read_text("utf-8") if value else name in _TARGETS
            assert known, f"make has no {name}"
    elif command.rpartition("/")[2].startswith("python") and "-m" in others:
        module = others[others.index("-m") + 1]
        with contextlib.suppress(ModuleNotFoundError):  # of a parent
            assert importlib.util.find_spec(module), f"no module {module}"
            return folder
        raise AssertionError(f"no module {module}")
    missing = [w for w in (command, *others) if _is_ours(w, folder) and not (folder / w).exists()]
    assert not missing, f"no such path: {missing}"
    return folder


def _is_ours(word: str, folder: Path) -> bool:
    """Whether a word is a path of the repository, and not one that the command makes."""
    if not _PATH.fullmatch(word) or word.startswith("/") or "build" in Path(word).parts[:3]:
        return False
    first = word.partition("/")[0]
    placed = "/" in word and (first in (".", "..") or (ROOT / first).exists())
    return placed or bool(_FILE.fullmatch(word))


# ---------------------------------------------------------------- others


def check_yaml(block: Block) -> None:
    yaml.safe_load(block.text)


def check_sql(block: Block) -> None:
    for statement in filter(str.strip, block.text.split(";")):
        assert re.match(
            r"\s*(CREATE|ALTER|DROP|SELECT|INSERT|UPDATE|DELETE|SET|ANALYZE|VACUUM)\b", statement
        ), statement
        assert statement.count("(") == statement.count(")"), statement


def check_text(block: Block) -> None:
    for line in _typed(block.text):
        check_command_line(line)


def _typed(text: str) -> Iterator[str]:
    """The ``!memory`` lines of a text, each with the lines that belong to it: down to the next one or a blank one."""
    for found in re.finditer(
        r"^(?:@\S+ )?[!！](memory\b.*?)(?=\n\s*\n|\n(?:@\S+ )?[!！]|\Z)", text, re.M | re.S
    ):
        yield found[1].strip()


PLACEHOLDERS = {
    "id": "k7m29xqd",
    "json": '[{"content": "x"}]',
    "code": "123456",
    "time": "2026-05-01",
    "status": "active",
}


def check_command_line(line: str) -> None:
    filled = re.sub(r"<([^<>]*)>", lambda found: PLACEHOLDERS.get(found[1], "word"), line)
    try:
        found = parse(filled)
    except LongTermMemoryError as exc:
        raise AssertionError(f"!{line}: {exc}") from exc
    assert not found.unknown, f"!{line}: no such subcommand"


CHECKS: dict[str, Callable[[Block], None]] = {
    "json": check_json,
    "jsonc": check_jsonc,
    "jsonl": check_json_lines,
    "python": check_python,
    "sh": check_shell,
    "sql": check_sql,
    "yaml": check_yaml,
    "text": check_text,
}
"""What a block in each language has to stand."""


@pytest.fixture
def beside_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files of ``examples/import``, where snippets read and write."""
    for path in (ROOT / "examples" / "import").iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.where} {block.language}")
def test_every_code_block_is_what_it_says(block: Block, beside_the_examples: None) -> None:
    assert block.language in CHECKS, (
        f"{block.where}: nobody checks {block.language or 'a block without a language'}; one of {', '.join(CHECKS)},"
        f" or a check of its own in {Path(__file__).name}"
    )
    try:
        CHECKS[block.language](block)
    except Exception as exc:
        raise AssertionError(f"{block.where}: {type(exc).__name__}: {exc}") from exc


def test_every_command_in_running_text_is_one() -> None:
    for path in documents():
        text = _FENCE.sub("", path.read_text("utf-8"))
        for code in re.findall(r"`[^`\n]*[!！]memory ([^`\n]+)`", text):
            word = re.split(r"[\s|,\\]", code.strip())[0]
            assert not re.match(r"\w", word) or find_verb(word), f"{path.relative_to(ROOT)}: !memory {code}"


BROKEN = {
    "json": ['{"a": 1,}', '[{"content": "a"}]', '{"a": "…"}', '{"user_key": "b-01:group_1", "content": "a", "b": 1}'],
    "jsonc": ['{"a": }', '{"a": 1 … }'],
    "jsonl": ['{"a": 1}\n{"a"'],
    "python": [
        "x = (",
        "import json\njson.lods('')",
        'event_context.get_query_var("_ltm_context")',
        'c = (await event_context.get_query_vars()).get("_ltm_context")\nc["speaker"]',
        'c = (await event_context.get_query_vars()).get("_ltm_context") or {}\nc.get("speaker")  # {"id", "title"}',
        'c = (await event_context.get_query_vars()).get("_ltm_context")\nif c:\n    c["speaker_profile"]["traits"]',
    ],
    "sh": ["make gone", "make test NOWHERE=1", "python -m playground.gone", "python3 -m gone.x", "cat docs/gone.md",
           "cd nowhere", "if true; then", "pip install -r requirements/gone.txt", "ls …", "ls ./gone && true"],
    "sql": ["CREATE INDEX i ON t (a", "CREAT INDEX i;"],
    "yaml": ["a: [1"],
    "text": ["!memory delete", "@bot !memory frobnicate", "a\n!memory list --tag\n"],
}  # fmt: skip


def test_the_checks_find_what_is_broken(beside_the_examples: None) -> None:
    assert BROKEN.keys() == CHECKS.keys()
    for language, texts in BROKEN.items():
        for text in texts:
            with pytest.raises(Exception) as caught:
                CHECKS[language](Block("here", language, text))
            assert caught.value, text
    for language, text in {
        "jsonc": '{"a": "x … // y", "b": […], "c": …, … } // all of it',
        "sh": "cd examples/import\ncat memories.json | grep -c a\nmake test ARGS='-k x' && cat ../README.md",
        "text": 'as typed:\n\n@bot !memory list --tag=work 2\n!memory import l2 [\n  {"content": "a"}]\n',
    }.items():
        CHECKS[language](Block("here", language, text))
    nested = "1. Do\n\n   ```sh\n   make test\n   ```\n\n~~~~\n```json\n~~~~\n"
    path = Path("nested.md")
    path.write_text(nested, "utf-8")
    found = list(blocks_of(path.absolute()))
    assert [(b.where, b.language, b.text) for b in found] == [
        ("nested.md:3", "sh", "make test\n"),
        ("nested.md:7", "", "```json\n"),
    ]
