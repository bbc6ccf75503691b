"""The page that LangBot serves is what its sources give, and needs nothing from outside."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from playground import console
from tests.unit.test_manifest import LANGUAGES

SOURCES = console.PAGE / "src"
WORDS = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in (console.PAGE / "i18n").glob("*.json")
}
SDK = '<script src="/api/v1/plugins/_sdk/page-sdk.js"></script>'
TEXTS = {file.name: file.read_text(encoding="utf-8") for file in SOURCES.iterdir()}
SCRIPTS = {name: text for name, text in TEXTS.items() if name.endswith(".js")}


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """A copy of the sources that a test may spoil."""
    shutil.copytree(SOURCES, tmp_path / "src")
    shutil.copytree(console.PAGE / "i18n", tmp_path / "i18n")
    return tmp_path


def test_the_built_page_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.main(["--check"]) == 0, capsys.readouterr().err


def test_building_twice_gives_the_same(page: Path) -> None:
    assert console.build(page) == console.build(page) == console.TARGET.read_text(encoding="utf-8")


def test_only_the_sdk_comes_from_outside() -> None:
    html = console.TARGET.read_text(encoding="utf-8")
    assert html.count(SDK) == 1
    rest = html.replace(SDK, "")
    assert not re.search(r"https?://", rest)
    assert not re.search(r"""\b(src|href|action|srcset)\s*=\s*["']""", rest)
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|\bimport\b.*\bfrom\b", rest)
    assert "default-src 'none'" in rest


def test_the_sdk_stands_before_the_scripts() -> None:
    html = console.TARGET.read_text(encoding="utf-8")
    assert html.index('id="i18n"') < html.index(SDK) < html.index("window.langbot")


def test_text_is_never_markup_and_nothing_is_used_that_the_frame_refuses() -> None:
    markup = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|\.on\w+\s*="
    )
    dialogs, storage = r"\b(alert|confirm|prompt)\(", r"localStorage|sessionStorage|document\.cookie"
    refused = rf"{dialogs}|{storage}|navigator\.clipboard|window\.open"
    for name, text in TEXTS.items():
        assert not re.search(markup, text), name
        assert name not in SCRIPTS or not re.search(refused, text), name


def test_all_languages_have_the_same_words() -> None:
    assert sorted(WORDS) == sorted(LANGUAGES)
    for language, words in WORDS.items():
        assert list(words) == list(WORDS["en_US"]), language
        for key, text in words.items():
            assert isinstance(text, str) and text.strip() == text != "", f"{language} {key}"
            wanted = re.findall(r"\{\w+\}", WORDS["en_US"][key])
            assert sorted(re.findall(r"\{\w+\}", text)) == sorted(wanted), f"{language} {key}"


def test_every_word_is_used_and_every_used_word_exists() -> None:
    known = set(WORDS["en_US"])
    quoted = {
        key for text in TEXTS.values() for key in re.findall(r"""["'`]([a-z]\w*(?:\.\w+)*)["'`]""", text)
    }
    made = {key for key in known if key.split(".")[0] in ("kind", "error", "isolation")}
    assert known - quoted - made == set()
    asked = {key for text in SCRIPTS.values() for key in re.findall(r"""\bt\(["']([^"']+)["']""", text)}
    asked |= set(re.findall(r'data-t(?:-\w+)?="([^"]+)"', TEXTS["page.html"]))
    assert asked - known == set()


def test_words_cannot_end_their_element(page: Path) -> None:
    file = page / "i18n" / "en_US.json"
    words = WORDS["en_US"] | {"title": "</script><b>\u2028"}
    file.write_text(json.dumps(words), encoding="utf-8")
    built = console.words(page / "i18n")
    assert "<" not in built
    assert json.loads(built)["en_US"]["title"] == "</script><b>\u2028"


def test_scripts_run_after_what_they_import() -> None:
    script = console.scripts(SOURCES)
    order = re.findall(r"^// (\w+\.js)$", script, re.MULTILINE)
    assert order[-1] == "main.js"
    assert sorted(order) == sorted(SCRIPTS)
    for name, text in SCRIPTS.items():
        for other in re.findall(r'from "\./(\w+\.js)"', text):
            assert order.index(other) < order.index(name)
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)


@pytest.mark.parametrize(
    ("file", "find", "put", "why"),
    [
        ("main.js", './dom.js"', './gone.js"', "there is no gone.js"),
        ("main.js", "import { ask }", "import { beg }", "does not export beg"),
        ("spaces.js", "function row(", "function load(", "also a top-level name"),
        (
            "dom.js",
            "/** Return the element",
            'import { t } from "./i18n.js";\n/** Return the element',
            "import each other",
        ),
        ("dom.js", "/** Return the element", "// </script>\n/** Return the element", "must not hold"),
        ("page.html", "<!-- build:i18n -->", "", "must stand there once"),
    ],
)
def test_mistakes_are_named(page: Path, file: str, find: str, put: str, why: str) -> None:
    source = page / "src" / file
    text = source.read_text(encoding="utf-8")
    assert find in text
    source.write_text(text.replace(find, put, 1), encoding="utf-8")
    with pytest.raises(console.ConsoleError, match=why):
        console.build(page)


def test_a_stale_page_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "index.html"
    stale.write_text("old", encoding="utf-8")
    monkeypatch.setattr(console, "TARGET", stale)
    monkeypatch.setattr(console, "ROOT", tmp_path)
    assert console.main(["--check"]) == 1
    assert console.main([]) == 0
    assert console.main(["--check"]) == 0


def test_the_script_is_valid() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    script = f"(() => {{\n{console.scripts(SOURCES)}}})();"
    subprocess.run([node, "--check", "-"], input=script.encode(), check=True)
