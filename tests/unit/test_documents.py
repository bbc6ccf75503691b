"""The documents as a whole: links lead somewhere, and what they name exists (their code: ``test_code_blocks.py``)."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from longterm_memory.chat.verbs import Verb

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ROOMS = ("longterm_memory", "components", "playground", "benchmarks", "tests")
ABOUT_CODE = ("contributors.md", "how-isolation-works.md")
"""Documents that walk through the code: every name in them has to be there."""
NO_DOCUMENTS = {"build", "data", "vendor", "node_modules", "__pycache__"}


def texts(*folders: str, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files of the repository with these suffixes, without what is built or hidden."""
    for folder in folders:
        for where, inner, files in os.walk(ROOT / folder):
            inner[:] = sorted(
                name for name in inner if name not in NO_DOCUMENTS and (name[0] != "." or name == ".github")
            )
            for name in sorted(files):
                if name.endswith(suffixes):
                    yield Path(where, name)


DOCUMENTS = list(texts("", suffixes=(".md",)))


def named(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


@cache
def prose(document: Path) -> str:
    """Return a document without its code blocks."""
    return re.sub(r"^```.*?^```$", "", document.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def spans(document: Path) -> list[str]:
    """Return what stands in backticks outside code blocks."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(document))


# ---------------------------------------------------------------- links


@cache
def anchors(document: Path) -> frozenset[str]:
    """Return the anchors that the headings of a document get on a Git host, and those it sets itself."""
    found: set[str] = set(re.findall(r'<a (?:id|name)="([^"]+)"', prose(document)))
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", prose(document), re.MULTILINE):
        text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        kept = (ch for ch in text if ch in "-_ " or unicodedata.category(ch)[0] in "LM" or ch.isdecimal())
        anchor, number = "".join(kept).replace(" ", "-"), 0
        while (unique := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(unique)
    return frozenset(found)


def test_every_link_leads_somewhere() -> None:
    complaints = []
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", prose(document)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            where = (document.parent / path).resolve() if path else document
            if not where.exists():
                complaints.append(f"{named(document)}: {target} does not exist")
            elif anchor and where.suffix == ".md" and anchor not in anchors(where):
                complaints.append(f"{named(document)}: {target}: no such heading")
    assert complaints == []


def test_every_document_is_in_the_index() -> None:
    listed = set(re.findall(r"\]\(([\w./-]+\.md)\)", prose(DOCS / "README.md")))
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"README.md"}
    assert sorted(there - listed) == [], "add a line for each to docs/README.md"


# ---------------------------------------------------------------- names


def paths(document: Path, path: str) -> bool:
    """Whether a path that a document names exists: in the repository, the package or beside the document.

    ``<name>`` and ``*`` stand for any name.
    """
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
    starts = (ROOT, ROOT / "longterm_memory", document.parent)
    return any(next(start.glob(pattern), None) is not None for start in starts)


def test_every_path_that_a_document_names_exists() -> None:
    known = "|".join((*ROOMS, "docs", "readme", "requirements", "constraints", "assets", "examples"))
    complaints = [
        f"{named(document)}: {path}"
        for document in DOCUMENTS
        for path in re.findall(rf"`((?:{known})/[\w./*<>-]+)(?:::\w+)?`", prose(document))
        if not paths(document, path)
    ]
    assert complaints == []


def test_every_test_that_a_document_names_exists() -> None:
    complaints, count = [], 0
    for document in DOCUMENTS:
        for path, test in re.findall(r"`(tests/[\w./]+\.py)::(\w+)`", prose(document)):
            count += 1
            if not re.search(rf"^ *(?:async )?def {test}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE):
                complaints.append(f"{named(document)}: {path}::{test}")
    assert complaints == []
    assert count


@cache
def sources() -> str:
    """Return everything in which a name of ours can stand."""
    files = texts(*ROOMS, suffixes=(".py", ".js", ".json", ".yaml"))
    loose = [ROOT / name for name in ("main.py", "manifest.yaml", "Makefile", "pyproject.toml")]
    return "\n".join(file.read_text("utf-8") for file in [*files, *loose])


def found(dotted: str) -> bool:
    """Whether ``module.name.attribute`` exists, its module counted from the package or the repository."""
    for prefix in ("longterm_memory.", ""):
        parts = (prefix + dotted).split(".")
        for end in range(len(parts), 0, -1):
            module = loaded(".".join(parts[:end]))
            if module is not None:
                if has(module, parts[end:]):
                    return True
                break
    return False


def loaded(name: str) -> ModuleType | None:
    if name.partition(".")[0] not in (*ROOMS, "main"):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def has(holder: Any, names: list[str]) -> bool:
    if not names:
        return True
    name, *rest = names
    if hasattr(holder, name):
        return has(getattr(holder, name), rest)
    if not isinstance(holder, type) or rest:
        return False
    fields = {*getattr(holder, "model_fields", {}), *getattr(holder, "__annotations__", {})}
    return name in fields or f"self.{name} = " in inspect.getsource(holder)


def unknown(document: Path, span: str) -> str:
    """Return what is wrong with something in backticks, an empty text when nothing is."""
    first, *others = span.split()
    if first == "!memory":
        verb = others[0] if others else ""
        return "" if verb.startswith(("<", "…")) or verb in set(Verb) else "no subcommand"
    if first == "make":
        return "" if not others or others[0] in targets() else "no target of the Makefile"
    if others:
        return ""
    span = span.partition("::")[0].strip("…")
    if span.startswith("ltm/"):
        return "" if span in sources() else "no storage key"
    if span.startswith("build/"):
        return ""  # made by the Makefile and by tests: a fresh clone has none of it
    if "/" in span or re.fullmatch(r"[\w-]+\.(?:py|md|json|ya?ml|js|css|html|txt|toml)", span):
        return "" if paths(document, span) else "no such path"
    called = span.removesuffix("()")
    if re.fullmatch(r"\w+(?:\.\w+)+", called):
        return "" if found(called) else "no such name"
    if called != span:
        defined = re.search(rf"\bdef {re.escape(called)}\(", sources())
        return "" if defined else "no such function"
    if re.fullmatch(r"[A-Za-z_]\w{2,}", span):
        return "" if re.search(rf"\b{span}\b", sources()) else "nowhere in the code"
    return ""


@cache
def targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", ABOUT_CODE)
def test_every_name_in_a_walk_through_the_code_is_there(name: str) -> None:
    document = DOCS / name
    complaints = [
        f"{name}: `{span}`: {wrong}" for span in spans(document) if (wrong := unknown(document, span))
    ]
    assert complaints == []
    assert unknown(document, "longterm_memory/nowhere.py")
    assert unknown(document, "policy.COMMANDMENTS")
    assert unknown(document, "unheard_of()")


def test_every_room_has_its_line() -> None:
    """Each package in the tree of contributors.md, and each module that stands beside them in longterm_memory."""
    told = set(spans(DOCS / "contributors.md"))
    rooms = {path.parent for path in texts(*ROOMS, suffixes=(".py",))}
    rooms -= {room for room in rooms if "plugins" in room.parts or "data" in room.parts}
    wanted = {f"{room.relative_to(ROOT).as_posix()}/" for room in rooms}
    modules = {path.name for path in (ROOT / "longterm_memory").glob("*.py")} - {"__init__.py"}
    assert sorted(wanted - told) == [], "give each of these packages a line in docs/contributors.md"
    assert sorted(modules - told) == [], "give each of these modules a line in docs/contributors.md"


# ---------------------------------------------------------------- log events


def log_lines() -> Iterator[tuple[str, str]]:
    """Yield level and format of every line that the plugin logs."""
    for file in [*texts("longterm_memory", "components", suffixes=(".py",)), ROOT / "main.py"]:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if getattr(node.func.value, "id", "") != "logger" or not node.args:
                continue
            here = list(constants(node.args[node.func.attr == "log"]))  # behind a level
            assert here, f"{file.name}:{node.lineno}: a log line without a format"
            yield from ((node.func.attr, text) for text in here)


def constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "%s" for part in node.values)


def event(text: str) -> str:
    """Return the event of a log line: what stands before the first colon."""
    return text.partition(":")[0]


def events() -> dict[str, list[str]]:
    """Return the rows of the tables of log events in operating.md: event to what else is in backticks."""
    rows: dict[str, list[str]] = {}
    text = prose(DOCS / "operating.md").partition("\n## Logs\n")[2].partition("\n## ")[0]
    for row in re.findall(r"^\| (`.+)$", text, re.MULTILINE):
        cells = re.split(r"(?<!\\)\|", row)
        keys = re.findall(r"`(\w+)`", cells[1])
        rows |= {name: keys for name in re.findall(r"`([^`]+)`", cells[0])}
    return rows


def test_log_events_that_operators_are_told_of_exist() -> None:
    lines = [text for _, text in log_lines()]
    # Some lines are handed to a function that logs them.
    lines += re.findall(r"\"(\w[\w ]+: \w+=[^\"]*)\"", sources())
    for name, keys in events().items():
        fitting = [text for text in lines if logged_as(name, text)]
        assert fitting, f"docs/operating.md: nothing logs {name!r}"
        for key in keys:
            assert any(f"{key}=" in text for text in fitting), f"docs/operating.md: {name}: no key {key}"


def test_every_warning_and_error_is_told_with_what_to_do() -> None:
    told = events()
    untold = {
        event(text)
        for level, text in log_lines()
        if level in ("warning", "error", "exception") and not any(logged_as(name, text) for name in told)
    }
    assert sorted(untold) == [], "docs/operating.md: give each of these a row in the table of log events"


def logged_as(name: str, text: str) -> bool:
    """Whether an event is what a line with that format says."""
    return re.fullmatch(re.escape(event(text)).replace("%s", r"\S+"), name) is not None


# ---------------------------------------------------------------- forms


def test_forms_for_issues_are_complete() -> None:
    forms = [
        path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"
    ]
    assert len(forms) >= 3
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert {"name", "description", "body"} <= set(form), path.name
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert all(field["attributes"]["label"] for field in fields), path.name
        assert len({field["id"] for field in fields}) == len(fields), path.name
        assert any(field.get("validations", {}).get("required") for field in fields), path.name
