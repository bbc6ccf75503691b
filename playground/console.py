"""Build the Memory Console's page: one self-contained file out of ``src/`` and ``i18n/``.

    python -m playground.console            # writes components/pages/memory_console/index.html
    python -m playground.console --check    # exit code 1 when that file is not what the sources give

LangBot shows the page from a blob: URL, where nothing beside it can be loaded; only the host's own page SDK
comes from outside. So style, words and scripts are inlined. The scripts are ES modules that name what they
import from each other; here they are put in order, each after what it needs, into one function. The same
sources always give the same bytes. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from playground.packages import ROOT

PAGE = ROOT / "components" / "pages" / "memory_console"
"""The folder of the page."""

TARGET = PAGE / "index.html"
"""The file that the host serves."""

ENTRY = "main.js"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |class |const |let )", re.MULTILINE)
_TOP_LEVEL = re.compile(
    r"^(?:export )?(?:(?:async )?function|class|const|let) +(\w+|\{[^}]*\}|\[[^\]]*\])", re.MULTILINE
)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const|let) +(\w+)", re.MULTILINE)
_NOTICE = "<!-- Built by `python -m playground.console` from src/ and i18n/: change those. -->\n"


class ConsoleError(RuntimeError):
    """The page cannot be built; the message is one line."""


def build(page: Path = PAGE) -> str:
    """Return the page that the sources in folder *page* give.

    Raises:
        ConsoleError: a placeholder is missing, an import has no file or no such export, or two scripts use
            one name.
    """
    sources = page / "src"
    html = (sources / "page.html").read_text(encoding="utf-8")
    style = (sources / "style.css").read_text(encoding="utf-8")
    parts = {
        "style": f"<style>\n{style}</style>",
        "i18n": f'<script type="application/json" id="i18n">{words(page / "i18n")}</script>',
        "script": f'<script>\n(() => {{\n"use strict";\n{scripts(sources)}}})();\n</script>',
    }
    for name, part in parts.items():
        placeholder = f"<!-- build:{name} -->"
        if html.count(placeholder) != 1:
            raise ConsoleError(f"page.html: {placeholder} must stand there once")
        html = html.replace(placeholder, part)
    return html.replace("<!doctype html>\n", f"<!doctype html>\n{_NOTICE}", 1)


def words(folder: Path) -> str:
    """Return the words of all languages as one JSON text that cannot end the element it stands in."""
    languages = {
        file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))
    }
    text = json.dumps(languages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def scripts(sources: Path) -> str:
    """Return all scripts that ``main.js`` needs, in the order in which they can run, without imports and
    exports.

    Raises:
        ConsoleError: as :func:`build`.
    """
    texts: dict[str, str] = {}
    _collect(sources, ENTRY, texts, ())
    owners: dict[str, str] = {}
    for name, text in texts.items():
        for top in _TOP_LEVEL.findall(text):
            if owners.setdefault(top, name) != name:
                raise ConsoleError(f"{name}: {top} is also a top-level name of {owners[top]}")
        if "</script" in text.lower():
            raise ConsoleError(f"{name}: must not hold the text </script")
    return "\n".join(
        f"// {name}\n{_EXPORT.sub('', _IMPORT.sub('', text)).strip()}\n" for name, text in texts.items()
    )


def _collect(sources: Path, name: str, texts: dict[str, str], path: tuple[str, ...]) -> None:
    """Add script *name* to *texts*, after everything it imports."""
    if name in path:
        raise ConsoleError(f"scripts import each other: {' -> '.join([*path, name])}")
    if name in texts:
        return
    file = sources / name
    if not file.is_file():
        raise ConsoleError(f"{path[-1] if path else 'the page'}: there is no {name}")
    text = file.read_text(encoding="utf-8")
    for wanted, other in _IMPORT.findall(text):
        _collect(sources, other, texts, (*path, name))
        exported = set(_EXPORTED.findall(texts[other]))
        for missing in sorted({part.strip() for part in wanted.split(",") if part.strip()} - exported):
            raise ConsoleError(f"{name}: {other} does not export {missing}")
    texts[name] = text


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m playground.console", description="Build the Memory Console's page."
    )
    parser.add_argument("--check", action="store_true", help="only say whether the built file is current")
    options = parser.parse_args(arguments)
    try:
        html = build()
    except ConsoleError as error:
        print(f"[console] error: {error}", file=sys.stderr)
        return 2
    if not options.check:
        TARGET.write_text(html, encoding="utf-8")
        print(TARGET.relative_to(ROOT))
    elif not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != html:
        print(
            f"[console] {TARGET.relative_to(ROOT)} is out of date: run python -m playground.console",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
