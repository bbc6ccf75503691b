"""Build ``.lbpkg`` packages: the product, or one of the playground's plugins.

    python -m playground.packages                  # the product -> build/dist/<author>-<name>-<version>.lbpkg
    python -m playground.packages mini_runner      # playground/plugins/mini_runner

A package holds only what its include list names; the same files always give the same bytes. Standard library
only, so that it runs without any environment.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder of the project."""

DIST = ROOT / "build" / "dist"
PLUGINS = ROOT / "playground" / "plugins"

PRODUCT_FILES = (
    "manifest.yaml",
    "main.py",
    "components",
    "longterm_memory",
    "assets",
    "readme",
    "requirements.txt",
    "README.md",
    "LICENSE",
)
"""What an operator installs; tests, benchmarks and the playground stay out."""

PLUGIN_FILES = ("manifest.yaml", "main.py", "components", "assets", "requirements.txt")

_SKIPPED_FOLDERS = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules"}
_KINDS = {".py", ".yaml", ".json", ".html", ".svg", ".png", ".md", ".js", ".css"}
"""What a folder may bring into a package; whatever else lies there by chance stays out."""
_SOURCES = re.compile(r"components/pages/[^/]+/(?:src|i18n)/")
"""What a page is built from (:mod:`playground.console`): the built file holds all of it but the licences of others."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold: the same for every file, so packages compare equal."""


class PackageError(RuntimeError):
    """A package cannot be built; the message is one line."""


def build_product() -> Path:
    """Build the product's package and return its path.

    Raises:
        PackageError: when a file is missing or the manifest lacks author, name or version.
    """
    return _build(ROOT, PRODUCT_FILES)


def build_plugin(folder: str) -> Path:
    """Build the package of ``playground/plugins/<folder>`` and return its path.

    Raises:
        PackageError: as ``build_product``.
    """
    return _build(PLUGINS / folder, PLUGIN_FILES)


def build_folder(folder: Path, *, version: str | None = None) -> Path:
    """Build a package from a plugin *folder* elsewhere (all its files), optionally under another *version*.

    Raises:
        PackageError: as ``build_product``.
    """
    return _build(folder, tuple(sorted(entry.name for entry in folder.iterdir())), version=version)


def plugin_of(package: Path) -> str:
    """Return ``author/name`` of the plugin in *package*."""
    with zipfile.ZipFile(package) as content:
        author, name, _ = identity(content.read("manifest.yaml").decode("utf-8"))
    return f"{author}/{name}"


def identity(manifest: str) -> tuple[str, str, str]:
    """Return author, name and version out of the text of a ``manifest.yaml``.

    The three are read line by line out of the ``metadata`` block, not with a YAML parser.

    Raises:
        PackageError: when one is missing.
    """
    block = re.search(r"^metadata:\s*\n((?:[ \t]+.*\n|\s*\n)+)", manifest + "\n", re.MULTILINE)
    fields = dict(
        re.findall(r"^ {2}(author|name|version):\s*['\"]?([^'\"#\n]+?)['\"]?\s*(?:#.*)?$", block[1], re.M)
        if block
        else []
    )
    missing = [key for key in ("author", "name", "version") if key not in fields]
    if missing:
        raise PackageError(f"manifest.yaml: metadata lacks {', '.join(missing)}")
    return fields["author"], fields["name"], fields["version"]


def _build(source: Path, include: tuple[str, ...], *, version: str | None = None) -> Path:
    absent = [name for name in include if not (source / name).exists()]
    if absent:
        raise PackageError(f"{source.name}: missing for the package: {', '.join(absent)}")
    manifest = (source / "manifest.yaml").read_text(encoding="utf-8")
    author, name, own_version = identity(manifest)
    if version is not None:
        manifest = re.sub(r"^( {2}version:).*$", rf"\1 {version}", manifest, count=1, flags=re.MULTILINE)
    DIST.mkdir(parents=True, exist_ok=True)
    target = DIST / f"{author}-{name}-{version or own_version}.lbpkg"
    partial = target.with_suffix(f".{os.getpid()}.partial")
    with zipfile.ZipFile(partial, "w") as package:
        for path in sorted(files(source, include)):
            entry = zipfile.ZipInfo(path.relative_to(source).as_posix(), _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            content = manifest.encode() if path == source / "manifest.yaml" else path.read_bytes()
            package.writestr(entry, content)
    partial.replace(target)
    return target


def files(source: Path, include: tuple[str, ...] = PRODUCT_FILES) -> Iterator[Path]:
    """Return the files of *source* that go into a package: those named in *include*, and what belongs of folders."""
    for name in include:
        path = source / name
        yield from (
            [path] if path.is_file() else (found for found in path.rglob("*") if _belongs(source, found))
        )


def _belongs(source: Path, path: Path) -> bool:
    if _SOURCES.match(path.relative_to(source).as_posix()) and not path.name.startswith("LICENSE"):
        return False
    return (
        path.is_file()
        and path.suffix in _KINDS
        and not path.name.startswith(".")
        and not _SKIPPED_FOLDERS.intersection(path.parts)
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m playground.packages", description="Build .lbpkg packages."
    )
    parser.add_argument(
        "plugins", nargs="*", metavar="PLUGIN", help="folders of playground/plugins; default: the product"
    )
    options = parser.parse_args(arguments)
    try:
        for path in [build_plugin(name) for name in options.plugins] or [build_product()]:
            print(path)
    except PackageError as error:
        print(f"[package] error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
