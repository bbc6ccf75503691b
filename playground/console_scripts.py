"""Put ES modules one after the other into one script, each in a function of its own that returns its exports.

Only what our sources and the vendored files use is understood: named imports and exports, ``as``, exports from
elsewhere, and one default export. Anything else is left as it is and stops the browser, not just a feature.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["ENTRY", "VENDOR", "ConsoleError", "Vendored", "bundle", "vendored"]

ENTRY = "main.js"
"""The script that starts the page."""

VENDOR = "vendor"
"""Folder of the scripts of other people, unchanged, and of ``packages.json`` that says which they are.

Another version: ``npm pack <package>@<version>``, copy the file at ``path`` and the licence out of the archive, and
write version and sha256 into ``packages.json``.
"""

_IMPORT = re.compile(r'^import (?:\{([^}]*)\}|(\w+)) from "(\.{1,2}/[\w./-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |class |const |let )", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const|let) +(\w+)", re.MULTILINE)
_MIN_IMPORT = re.compile(r'import\{([^}]*)\}from"([^"]+)";')
_MIN_FROM = re.compile(r'export\{([^}]*)\}from"([^"]+)";')
_MIN_EXPORT = re.compile(r"export\{([^}]*)\};?")
_MIN_DEFAULT = re.compile(r"export default (?=function)")
_SOURCE_MAP = re.compile(r"//# sourceMappingURL=\S+")


class ConsoleError(RuntimeError):
    """The page cannot be built; the message is one line."""


@dataclass(frozen=True, slots=True)
class Vendored:
    """A script of other people.

    Attributes:
        module: the name that other scripts in the folder import it by.
        package: npm package it comes from.
        version: pinned version of that package.
        path: where it lies in the package.
        sha256: of the file.
        licence: short name of its licence, whose text is in ``LICENSE-<…>.md`` beside it.
        copyright: who has the rights.
    """

    module: str
    package: str
    version: str
    path: str
    sha256: str
    licence: str
    copyright: str


@dataclass(slots=True)
class _Module:
    """A module as it goes into the page: the code of its function, and what it exports (name: expression)."""

    code: str
    exports: dict[str, str] = field(default_factory=dict)


def vendored(sources: Path) -> dict[str, Vendored]:
    """Return the scripts of other people by file name, all of them as they came.

    Raises:
        ConsoleError: a file is not what ``packages.json`` says.
    """
    folder = sources / VENDOR
    notes = json.loads((folder / "packages.json").read_text(encoding="utf-8"))
    found = {name: Vendored(**note) for name, note in notes.items()}
    for name, script in found.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != script.sha256:
            raise ConsoleError(f"{VENDOR}/{name} is not that of {script.package} {script.version}")
    return found


def bundle(sources: Path) -> str:
    """Return one script of all that ``main.js`` needs, in the order in which they can run.

    Raises:
        ConsoleError: an import has no file or no such export, scripts import each other, or one of them would end the
            element that it stands in.
    """
    modules: dict[str, _Module] = {}
    known = {f"{VENDOR}/{name}": script for name, script in vendored(sources).items()}
    _collect(sources, ENTRY, modules, known, ())
    return "\n".join(_function(name, module) for name, module in modules.items())


def _function(name: str, module: _Module) -> str:
    given = ", ".join(f"{exported}: {value}" for exported, value in module.exports.items())
    head = "" if name == ENTRY else f"const {_variable(name)} = "
    tail = f"return {{ {given} }};\n" if given else ""
    return f"// {name}\n{head}(() => {{\n{module.code.strip()}\n{tail}}})();\n"


def _variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _collect(
    sources: Path,
    name: str,
    modules: dict[str, _Module],
    known: dict[str, Vendored],
    path: tuple[str, ...],
) -> None:
    """Add script *name* to *modules*, after everything it imports."""
    if name in path:
        raise ConsoleError(f"scripts import each other: {' -> '.join([*path, name])}")
    if name in modules:
        return
    file = sources / name
    if not file.is_file():
        raise ConsoleError(f"{path[-1] if path else 'the page'}: there is no {name}")
    text = file.read_text(encoding="utf-8")
    if "</script" in text.lower():
        raise ConsoleError(f"{name}: must not hold the text </script")
    others = _vendored_imports(text, known) if name in known else _imports(name, text)
    for other in others.values():
        _collect(sources, other, modules, known, (*path, name))
    modules[name] = _vendored(text, others) if name in known else _own(name, text, modules)


# ---------------------------------------------------------------- our scripts


def _imports(name: str, text: str) -> dict[str, str]:
    """Return the scripts that are imported, by how they are named there."""
    folder = posixpath.dirname(name)
    return {path: posixpath.normpath(posixpath.join(folder, path)) for _, _, path in _IMPORT.findall(text)}


def _own(name: str, text: str, modules: dict[str, _Module]) -> _Module:
    others = _imports(name, text)

    def imported(match: re.Match[str]) -> str:
        named, default, path = match.groups()
        names = [part.strip() for part in named.split(",") if part.strip()] if named else ["default"]
        exports = modules[others[path]].exports
        for wanted in names:
            if wanted.partition(" as ")[0] not in exports:
                raise ConsoleError(f"{name}: {others[path]} does not export {wanted}")
        given = ", ".join(part.replace(" as ", ": ") for part in names) if named else f"default: {default}"
        return f"const {{ {given} }} = {_variable(others[path])};\n"

    exports = {exported: exported for exported in _EXPORTED.findall(text)}
    return _Module(_EXPORT.sub("", _IMPORT.sub(imported, text)), exports)


# ---------------------------------------------------------------- those of other people


def _vendored_imports(text: str, known: dict[str, Vendored]) -> dict[str, str]:
    """Return the scripts that are imported, by the names of their modules."""
    files = {script.module: file for file, script in known.items()}
    wanted = [module for pattern in (_MIN_IMPORT, _MIN_FROM) for _, module in pattern.findall(text)]
    for module in wanted:
        if module not in files:
            raise ConsoleError(f"{VENDOR}: there is no {module}")
    return {module: files[module] for module in wanted}


def _vendored(text: str, others: dict[str, str]) -> _Module:
    exports: dict[str, str] = {}

    def imported(match: re.Match[str]) -> str:
        return f"const{{{match[1].replace(' as ', ':')}}}={_variable(others[match[2]])};"

    def handed_on(match: re.Match[str]) -> str:
        exports.update({n: f"{_variable(others[match[2]])}.{n}" for n in match[1].split(",")})
        return ""

    def exported(match: re.Match[str]) -> str:
        for part in match[1].split(","):
            value, _, name = part.strip().partition(" as ")
            exports[name or value] = value
        return ""

    def default(_: re.Match[str]) -> str:
        exports["default"] = "$default"
        return "const $default="

    text = _MIN_IMPORT.sub(imported, _SOURCE_MAP.sub("", text))
    text = _MIN_EXPORT.sub(exported, _MIN_FROM.sub(handed_on, text))
    return _Module(_MIN_DEFAULT.sub(default, text), exports)
