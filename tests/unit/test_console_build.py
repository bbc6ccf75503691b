"""The page that LangBot serves is what its sources give, and needs nothing from outside."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground import console, console_scripts, packages

SOURCES = console.PAGE / "src"
WORDS = {
    file.stem: json.loads(file.read_text(encoding="utf-8")) for file in (console.PAGE / "i18n").glob("*.json")
}
SDK = '<script src="/api/v1/plugins/_sdk/page-sdk.js"></script>'
VENDOR = SOURCES / console_scripts.VENDOR
TEXTS = {
    file.relative_to(SOURCES).as_posix(): file.read_text(encoding="utf-8")
    for file in SOURCES.rglob("*.*")
    if file.is_file() and VENDOR not in file.parents
}
"""Everything that is ours."""
SCRIPTS = {name: text for name, text in TEXTS.items() if name.endswith(".js")}
NAMESPACES = ("2000/svg", "1999/xhtml", "1998/Math/MathML")
"""Names that look like addresses; the library makes elements with them, and nothing is fetched."""


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
    for namespace in NAMESPACES:
        rest = rest.replace(f"http://www.w3.org/{namespace}", "")
    assert not re.search(r"https?://", rest)
    assert not re.search(r"""\b(src|href|srcset)\s*=\s*["']""", rest)
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|sourceMappingURL", rest)
    assert not re.search(r"^(import|export) |\bimport\s*\(", rest, re.MULTILINE)
    assert "default-src 'none'" in rest


def test_the_page_comes_fast() -> None:
    assert console.TARGET.stat().st_size <= console.LIMIT == 400_000


def test_no_file_is_about_everything() -> None:
    for name, text in TEXTS.items():
        assert text.count("\n") <= 250, name


def test_scripts_of_others_are_pinned_and_come_with_their_licences(page: Path) -> None:
    known = console_scripts.vendored(SOURCES)
    assert {f"{VENDOR.name}/{name}" for name in known} <= set(_modules(console_scripts.bundle(SOURCES)))
    html = console.TARGET.read_text(encoding="utf-8")
    for name, script in known.items():
        [licence] = VENDOR.glob(f"LICENSE-{re.sub('@|-core', '', script.package).replace('/', '-')}.md")
        assert script.copyright in licence.read_text(encoding="utf-8"), name
        assert f"{script.package} {script.version} ({script.licence}" in html
    changed = page / "src" / VENDOR.name / "preact.js"
    changed.write_text(changed.read_text(encoding="utf-8") + " ", encoding="utf-8")
    with pytest.raises(console.ConsoleError, match="is not that of preact"):
        console.build(page)


def test_the_package_holds_the_built_page_and_the_licences_but_no_sources() -> None:
    held = {path.relative_to(packages.ROOT).as_posix() for path in packages.files(packages.ROOT)}
    page = {
        name.removeprefix(f"{console.PAGE.relative_to(packages.ROOT).as_posix()}/")
        for name in held
        if "pages/memory_console" in name
    }
    licences = {f"src/{VENDOR.name}/{file.name}" for file in VENDOR.glob("LICENSE-*")}
    assert page == {"__init__.py", "index.html", "memory_console.py", "memory_console.yaml"} | licences
    assert "longterm_memory/words/en_US/console.json" in held


def test_the_sdk_stands_before_the_scripts() -> None:
    html = console.TARGET.read_text(encoding="utf-8")
    assert html.index('id="i18n"') < html.index(SDK) < html.index("window.langbot")


def test_text_is_never_markup_and_nothing_is_used_that_the_frame_refuses() -> None:
    markup = (
        r"[iI]nnerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|\.on\w+\s*="
        r"|srcdoc|createContextualFragment|\bhref="
    )
    dialogs, storage = r"\b(alert|confirm|prompt)\(", r"localStorage|sessionStorage|document\.cookie"
    refused = rf"{dialogs}|{storage}|navigator\.clipboard|window\.open"
    for name, text in TEXTS.items():
        assert not re.search(markup, text), name
        assert name not in SCRIPTS or not re.search(refused, text), name


def test_all_languages_have_the_same_words() -> None:
    assert len(WORDS) > 1
    for language, words in WORDS.items():
        assert list(words) == list(WORDS["en_US"]), language
        for key, text in words.items():
            assert isinstance(text, str) and text.strip() == text != "", f"{language} {key}"
            wanted = set(re.findall(r"\{\w+\}", WORDS["en_US"][key]))
            for form in text.split("|"):  # one, several
                assert set(re.findall(r"\{\w+\}", form)) == wanted, f"{language} {key}"


def test_every_word_is_used_and_every_used_word_exists() -> None:
    known = set(WORDS["en_US"])
    script = "\n".join(SCRIPTS.values())
    quoted = set(re.findall(r"""["'`]([a-z]\w*(?:\.\w+)*)["'`]""", script))
    made = set(re.findall(r"`([a-z_]\w*)\.\$\{", script))
    assert {key for key in known - quoted if key.split(".")[0] not in made} == set()
    asked = set(re.findall(r"""\bt\(["']([^"']+)["']""", script))
    asked |= {
        key
        for pair in re.findall(r"\bt\([^()]*\?([^()]*)\)", script)
        for key in re.findall(r'"([a-z][\w.]*)"', pair)
    }
    assert asked - known == set()
    assert {key.split(".")[0] for key in known} >= made


def test_words_cannot_end_their_element(page: Path) -> None:
    file = page / "i18n" / "en_US.json"
    words = WORDS["en_US"] | {"title": "</script><b>\u2028"}
    file.write_text(json.dumps(words), encoding="utf-8")
    built = console.words(page / "i18n")
    assert "<" not in built
    assert json.loads(built)["en_US"]["title"] == "</script><b>\u2028"


def _modules(script: str) -> list[str]:
    return re.findall(r"^// ([\w/-]+\.js)$", script, re.MULTILINE)


def _imports(name: str, text: str) -> Iterator[str]:
    for path in re.findall(r'from "(\.[^"]+)";', text):
        yield (SOURCES / name).parent.joinpath(path).resolve().relative_to(SOURCES).as_posix()


def test_scripts_run_after_what_they_import() -> None:
    order = _modules(console_scripts.bundle(SOURCES))
    assert order[-1] == "main.js"
    assert {name for name in order if not name.startswith(VENDOR.name)} == set(SCRIPTS)
    for name, text in SCRIPTS.items():
        for other in _imports(name, text):
            assert order.index(other) < order.index(name)


@pytest.mark.parametrize(
    ("file", "find", "put", "why"),
    [
        ("main.js", './app.js"', './gone.js"', "there is no gone.js"),
        ("spaces.js", "import { ask }", "import { beg }", "does not export beg"),
        (
            "html.js",
            "/** Template tag",
            'import { App } from "./app.js";\n/** Template tag',
            "import each other",
        ),
        ("html.js", "/** Template tag", "// </script>\n/** Template tag", "must not hold"),
        ("page.html", "<!-- build:i18n -->", "", "must stand there once"),
        ("style/base.css", "* {", "/*" + "x" * 400_000 + "*/\n* {", "is the limit"),
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
