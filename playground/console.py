"""Build the Memory Console's page: one self-contained file out of ``src/`` and ``i18n/``.

    python -m playground.console            # writes components/pages/memory_console/index.html
    python -m playground.console --check    # exit code 1 when that file is not what the sources give

LangBot shows the page from a blob: URL, where nothing beside it can be loaded; only the host's own page SDK
comes from outside. So styles, words and scripts are inlined: every script that ``main.js`` needs, those of other
people in ``src/vendor/`` among them (see :mod:`playground.console_scripts`). The same sources always give the same
bytes. Standard library only: neither node nor a package registry is needed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from playground.console_scripts import ConsoleError, bundle, vendored
from playground.packages import ROOT

__all__ = ["LIMIT", "PAGE", "TARGET", "ConsoleError", "build", "main", "styles", "words"]

PAGE = ROOT / "components" / "pages" / "memory_console"
"""The folder of the page."""

TARGET = PAGE / "index.html"
"""The file that the host serves."""

LIMIT = 400_000
"""Largest size of that file, in bytes: it comes along with every opening of the console."""

_NOTICE = "<!-- Built by `python -m playground.console` from src/ and i18n/: change those. -->\n"


def build(page: Path = PAGE) -> str:
    """Return the page that the sources in folder *page* give.

    Raises:
        ConsoleError: a placeholder is missing, an import has no file or no such export, a script of other people is not
            what its note says, or the page is larger than :data:`LIMIT`.
    """
    sources = page / "src"
    html = (sources / "page.html").read_text(encoding="utf-8")
    parts = {
        "style": f"<style>\n{styles(sources / 'style')}</style>",
        "i18n": f'<script type="application/json" id="i18n">{words(page / "i18n")}</script>',
        "script": f'<script>\n(() => {{\n"use strict";\n{bundle(sources)}}})();\n</script>',
    }
    for name, part in parts.items():
        placeholder = f"<!-- build:{name} -->"
        if html.count(placeholder) != 1:
            raise ConsoleError(f"page.html: {placeholder} must stand there once")
        html = html.replace(placeholder, part)
    html = html.replace("<!doctype html>\n", f"<!doctype html>\n{_NOTICE}{_credits(sources)}", 1)
    size = len(html.encode())
    if size > LIMIT:
        raise ConsoleError(f"the page has {size} bytes, {LIMIT} is the limit")
    return html


def styles(folder: Path) -> str:
    """Return the style sheets one after the other."""
    sheets = sorted(folder.glob("*.css"))
    return "".join(f"/* {sheet.name} */\n{sheet.read_text(encoding='utf-8')}" for sheet in sheets)


def words(folder: Path) -> str:
    """Return the words of all languages as one JSON text that cannot end the element it stands in."""
    languages = {
        file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))
    }
    text = json.dumps(languages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _credits(sources: Path) -> str:
    """Say whose scripts are in the page, and under which licence."""
    lines = sorted(
        {f"{v.package} {v.version} ({v.licence}, {v.copyright})" for v in vendored(sources).values()}
    )
    return f"<!-- Holds {'; '.join(lines)}. Their licences are in src/vendor/. -->\n"


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
        print(f"{TARGET.relative_to(ROOT)} {len(html.encode()):,} bytes")
    elif not TARGET.is_file() or TARGET.read_text(encoding="utf-8") != html:
        print(
            f"[console] {TARGET.relative_to(ROOT)} is out of date: run python -m playground.console",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
