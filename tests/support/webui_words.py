"""The words of LangBot's WebUI in its languages, read from the script that an installed LangBot serves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from playground import envs

__all__ = ["LANGUAGES", "ScriptError", "host_labels", "our_labels", "words"]

LANGUAGES: Final = {
    "en_US": "en-US",
    "zh_Hans": "zh-Hans",
    "zh_Hant": "zh-Hant",
    "ja_JP": "ja-JP",
    "vi_VN": "vi-VN",
    "th_TH": "th-TH",
    "es_ES": "es-ES",
}
"""Our languages, and the names the WebUI has for them."""

_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}
_QUOTED: Final = re.compile(r"""`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_NAME: Final = re.compile(r"[\w$]+")
_OTHER: Final = re.compile(r"[\w$!.]+(?:\[`[^`]*`\])?")
_SPREAD: Final = re.compile(r"\.\.\.([\w$]+)(?:\[`([^`]*)`\])?")
_ELSEWHERE: Final = re.compile(r"([\w$]+)\[`([^`]*)`\]")


class ScriptError(ValueError):
    """The script does not hold the words where they have been until now."""


class _Reference(str):
    """Anything in an object that is neither text, list nor object, as it stands in the script."""


class _Reader:
    """Reads object literals of minified JavaScript: quoted text, lists, objects, names of other objects."""

    def __init__(self, script: str, at: int) -> None:
        self._script = script
        self._at = at

    def value(self) -> Any:
        """Read what begins here: a dictionary, a list, a text or a ``_Reference``."""
        sign = self._script[self._at]
        if sign == "{":
            return self._object()
        if sign == "[":
            return self._list()
        if sign in "`\"'":
            return self._text()
        found = self._match(_OTHER)
        return _Reference(found[0])

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._script, self._at)
        if found is None:
            raise ScriptError(f"cannot be read: {self._script[self._at : self._at + 60]!r}")
        self._at = found.end()
        return found

    def _object(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while self._script[self._at] != "}":
            if self._script[self._at] == ".":
                spread = self._match(_SPREAD)
                found[spread[0]] = _Reference(spread[0])
            else:
                key = self._text() if self._script[self._at] in "`\"'" else self._match(_NAME)[0]
                self._match(re.compile(":"))
                found[key] = self.value()
            self._skip_comma()
        self._at += 1
        return found

    def _list(self) -> list[Any]:
        found = []
        self._at += 1
        while self._script[self._at] != "]":
            found.append(self.value())
            self._skip_comma()
        self._at += 1
        return found

    def _text(self) -> str:
        return _ESCAPE.sub(_plain, self._match(_QUOTED)[0][1:-1])

    def _skip_comma(self) -> None:
        if self._script[self._at] == ",":
            self._at += 1


def _plain(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPED.get(escape[2], escape[2])


@cache
def words(version: str) -> Mapping[str, Mapping[str, str]]:
    """Return the words of LangBot *version* by our language and the WebUI's own key, such as ``knowledge.title``.

    Raises:
        ScriptError: when the script is built otherwise than it used to be.
        FileNotFoundError: when that host environment has not been built.
    """
    [script] = _installed(version, "web/dist/assets/index-*.js")
    text = script.read_text("utf-8")
    start = re.search(r"\.init\(\{resources:(?=\{)", text)
    if start is None:
        raise ScriptError(f"no languages in {script}")
    languages = _Reader(text, start.end()).value()
    return {
        ours: dict(_flat(languages[theirs]["translation"], text, "")) for ours, theirs in LANGUAGES.items()
    }


def _flat(value: object, script: str, key: str) -> Iterator[tuple[str, str]]:
    """Yield the texts below *key*, what is kept elsewhere in the script too."""
    if isinstance(value, _Reference):
        if found := _SPREAD.fullmatch(value):
            whole = _named(found[1], script)
            yield from _flat(whole[found[2]] if found[2] else whole, script, key)
        elif found := _ELSEWHERE.fullmatch(value):
            yield from _flat(_named(found[1], script).get(found[2], {}), script, key)
    elif isinstance(value, dict):
        for name, inner in value.items():
            spread = name.startswith("...")
            yield from _flat(inner, script, key if spread else f"{key}.{name}".lstrip("."))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _flat(inner, script, f"{key}.{number}")
    elif isinstance(value, str):
        yield key, value


def _named(name: str, script: str) -> dict[str, Any]:
    found = re.search(rf"(?:var |,){re.escape(name)}=(?=\{{)", script)
    if found is None:
        raise ScriptError(f"no object {name} in the script")
    read = _Reader(script, found.end()).value()
    assert isinstance(read, dict)
    return read


@cache
def host_labels(version: str) -> list[Mapping[str, str]]:
    """Return the labels of the host's own pipeline settings, each by language (English and Simplified Chinese)."""
    return _labels(_installed(version, "templates/metadata/pipeline/*.yaml"))


@cache
def our_labels() -> list[Mapping[str, str]]:
    """Return the labels of our plugin, its settings, its knowledge engine and its page, each by language."""
    return _labels([envs.ROOT / "manifest.yaml", *sorted((envs.ROOT / "components").glob("*/**/*.yaml"))])


def _installed(version: str, pattern: str) -> list[Path]:
    folders = envs.site_folders(envs.python_of(f"host-{version}"))
    found = sorted(path for folder in folders for path in (folder / "langbot").glob(pattern))
    if not found:
        raise FileNotFoundError(
            f"LangBot {version} is not installed: python -m playground.envs host-{version}"
        )
    return found


def _labels(files: list[Path]) -> list[Mapping[str, str]]:
    return [label for path in files for label in _labels_in(yaml.safe_load(path.read_text("utf-8")))]


def _labels_in(value: object) -> Iterator[Mapping[str, str]]:
    if isinstance(value, dict):
        if isinstance(label := value.get("label"), dict):
            yield label
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _labels_in(inner)
