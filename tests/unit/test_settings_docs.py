"""The settings model, the two forms that LangBot shows and the README say the same, in both directions.

The model (:mod:`longterm_memory.settings`) is the source. What is wrong is told as a list of complaints, so that the
check can be tried on doctored copies: a check that never complains proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from enum import Enum
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import annotated_types
import pytest
import yaml

from longterm_memory.settings import CREATION_SETTINGS, LANGUAGES, Settings

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = yaml.safe_load((ROOT / "manifest.yaml").read_text("utf-8"))
ENGINE = yaml.safe_load((ROOT / "components/knowledge_engine/memory_engine.yaml").read_text("utf-8"))
README = (ROOT / "README.md").read_text("utf-8")

MODEL_SELECTOR = "embedding_model_uuid"
"""The one setting that the knowledge base alone has."""
OVERRIDES = tuple(name for name in CREATION_SETTINGS if name != MODEL_SELECTOR)
"""Settings of the knowledge base that the plugin's configuration overrides."""
UNITS = {"_days": "days", "_seconds": "seconds", "_chars": "characters"}
ORDER = [
    option["name"]
    for field in MANIFEST["spec"]["config"]
    if field["name"] == "language"
    for option in field["options"]
]
"""Languages as the form lists them, and the README after it."""
UNIT_WORDS = {
    "en_US": {"days": "days", "seconds": "seconds", "characters": "characters"},
    "zh_Hans": {"days": "天", "seconds": "秒", "characters": "字符"},
    "zh_Hant": {"days": "天", "seconds": "秒", "characters": "字元"},
    "ja_JP": {"days": "日数", "seconds": "秒", "characters": "文字"},
    "vi_VN": {"days": "ngày", "seconds": "giây", "characters": "ký tự"},
    "th_TH": {"days": "วัน", "seconds": "วินาที", "characters": "อักขระ"},
    "es_ES": {"days": "días", "seconds": "segundos", "characters": "caracteres"},
}
"""What the units are called, by language. Of a language that is not here it is not checked that they are named."""
FREE = {
    "memory_admins": "sender ids",
    "timezone": "IANA names, such as `Asia/Shanghai`",
    "command_prefixes": "one or more",
    "rerank_model_uuid": "a rerank model of LangBot",
}
"""What the README says is allowed where the model has neither bounds nor choices."""


class Spec(NamedTuple):
    """What the model says about a setting."""

    form: str
    default: Any
    options: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    above: bool = False
    """Whether the lowest value itself is not allowed."""
    unit: str = ""

    @property
    def numbers(self) -> list[str]:
        """Bounds and default as texts say them."""
        return [f"{n:g}" for n in (self.low, self.high) if n is not None]


def spec(name: str) -> Spec:
    info = Settings.model_fields[name]
    kind, default = info.annotation, info.default
    unit = next((word for suffix, word in UNITS.items() if name.endswith(suffix)), "")
    if name == MODEL_SELECTOR:
        return Spec("embedding-model-selector", default)
    if name == "rerank_model_uuid":
        return Spec("rerank-model-selector", default)
    if name == "language":
        return Spec("select", default, tuple(sorted(LANGUAGES, key=[*ORDER, *LANGUAGES].index)))
    if get_origin(kind) is Literal:
        return Spec("select", default, get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Spec("select", default.value, tuple(member.value for member in kind))
    if kind is bool:
        return Spec("boolean", default, ("true", "false"))
    if kind in (int, float):
        rules = list(_rules(info.metadata))
        low = next((r for r in rules if isinstance(r, (annotated_types.Ge, annotated_types.Gt))), None)
        high = next((r for r in rules if isinstance(r, annotated_types.Le)), None)
        assert low is not None, f"{name}: a number has bounds"
        assert high is not None, f"{name}: a number has bounds"
        above = isinstance(low, annotated_types.Gt)
        lowest: Any = low.gt if isinstance(low, annotated_types.Gt) else low.ge
        form, highest = ("integer" if kind is int else "float"), high.le
        return Spec(form, default, (), lowest, highest, above, unit)  # type: ignore[arg-type]
    return Spec("array[string]" if isinstance(default, tuple) else "string", default)


def _rules(metadata: list[Any]) -> Iterator[Any]:
    for rule in metadata:
        yield rule
        yield from getattr(rule, "metadata", [])


# ---------------------------------------------------------------- the forms


def form_complaints(manifest: dict[str, Any], engine: dict[str, Any]) -> Iterator[str]:
    config = {field["name"]: field for field in manifest["spec"]["config"]}
    creation = {field["name"]: field for field in engine["spec"]["creation_schema"]}
    yield from _names(
        "manifest.yaml", list(config), [n for n in Settings.model_fields if n != MODEL_SELECTOR]
    )
    yield from _names("memory_engine.yaml", list(creation), list(CREATION_SETTINGS))
    if tuple(name for name in creation if name in CREATION_SETTINGS) != CREATION_SETTINGS:
        yield "memory_engine.yaml: its order is not that of CREATION_SETTINGS"
    if tuple(name for name in config if name in OVERRIDES) != OVERRIDES:
        yield "manifest.yaml: the overrides are not in the order of CREATION_SETTINGS"
    for where, fields, override in (("manifest.yaml", config, True), ("memory_engine.yaml", creation, False)):
        for name in (n for n in fields if n in Settings.model_fields):
            yield from (
                f"{where}: {name}: {what}"
                for what in _field(fields[name], spec(name), override=override and name in OVERRIDES)
            )


def _names(where: str, found: list[str], wanted: list[str]) -> Iterator[str]:
    yield from (f"{where}: {name} is missing" for name in wanted if name not in found)
    yield from (f"{where}: {name} is no setting" for name in found if name not in wanted)
    yield from (f"{where}: {name} stands there twice" for name in set(found) if found.count(name) > 1)


def _field(field: dict[str, Any], said: Spec, *, override: bool) -> Iterator[str]:
    numbers = [*said.numbers, *([f"{said.default:g}"] if said.numbers and not override else [])]
    yield from _override(field, said) if override else _own(field, said)
    for language, text in field["description"].items():
        told = re.findall(r"\d+(?:\.\d+)?", text)
        if not set(numbers) <= set(told):
            yield f"{language} says {told} instead of {numbers}"
        if said.unit and UNIT_WORDS.get(language, {}).get(said.unit, "") not in text:
            yield f"{language} does not name the unit ({said.unit})"
    if said.above and f"Above {said.low:g}" not in field["description"]["en_US"]:
        yield f"does not say that it is above {said.low:g}"


def _override(field: dict[str, Any], said: Spec) -> Iterator[str]:
    # A cleared number field is saved as 0, an untouched switch as off: either would override silently.
    if field["type"] != "string" or "default" in field:
        yield "an override is a text without a default"
    if said.options and _options(field) != ["", *said.options]:
        yield f"offers {_options(field)} instead of nothing or {said.options}"


def _own(field: dict[str, Any], said: Spec) -> Iterator[str]:
    default = list(said.default) if isinstance(said.default, tuple) else said.default
    if field["type"] != said.form:
        yield f"is a field for {field['type']} instead of {said.form}"
    if field.get("default") != default:
        yield f"has the default {field.get('default')!r} instead of {default!r}"
    if said.form == "select" and _options(field) != list(said.options):
        yield f"offers {_options(field)} instead of {said.options}"


def _options(field: dict[str, Any]) -> list[str]:
    return [option["name"] for option in field.get("options", [])]


# ---------------------------------------------------------------- the README


def readme_complaints(readme: str, manifest: dict[str, Any]) -> Iterator[str]:
    table = readme.partition("\n## Settings\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        for row in re.findall(r"^\| `.*\|$", table, re.M)
    ]
    names = [row[0].strip("`") for row in rows]
    order = [field["name"] for field in manifest["spec"]["config"]]
    yield from _names("README.md", names, [n for n in Settings.model_fields if n != MODEL_SELECTOR])
    if names != order and sorted(names) == sorted(order):
        yield "README.md: the order is not that of the form"
    for name, row in zip(names, rows, strict=True):
        if name not in Settings.model_fields:
            continue
        if len(row) != 4 or not row[3]:
            yield f"README.md: {name}: has not the four cells setting, default, allowed, means"
            continue
        said = spec(name)
        for what, found, wanted in (
            ("default", row[1], _shown(said)),
            ("allowed", row[2], _allowed(name, said)),
        ):
            if found != wanted:
                yield f"README.md: {name}: {what} is {found!r} instead of {wanted!r}"


def _shown(said: Spec) -> str:
    """Return a default as the README writes it."""
    if isinstance(said.default, tuple):
        return f"`{' '.join(said.default)}`" if said.default else "empty"
    if said.default == "":
        return "empty"
    if isinstance(said.default, bool):
        return f"`{str(said.default).lower()}`"
    return f"{said.default:g}" if isinstance(said.default, (int, float)) else f"`{said.default}`"


def _allowed(name: str, said: Spec) -> str:
    if said.options:
        return ", ".join(f"`{option}`" for option in said.options)
    if said.low is None:
        return FREE.get(name, f"(say in FREE of {Path(__file__).name} what is allowed)")
    start = "above " if said.above else ""
    return f"{start}{said.low:g} to {said.high:g}{' ' if said.unit else ''}{said.unit}"


# ---------------------------------------------------------------- the tests


def complaints(manifest: dict[str, Any], engine: dict[str, Any], readme: str) -> list[str]:
    return [*form_complaints(manifest, engine), *readme_complaints(readme, manifest)]


def test_model_forms_and_readme_say_the_same() -> None:
    assert complaints(MANIFEST, ENGINE, README) == []
    assert set(CREATION_SETTINGS) <= set(Settings.model_fields)


def _config(name: str, /, **changes: Any) -> tuple[dict[str, Any], dict[str, Any], str]:
    manifest = deepcopy(MANIFEST)
    next(f for f in manifest["spec"]["config"] if f["name"] == name).update(changes)
    return manifest, ENGINE, README


def _creation(name: str, /, **changes: Any) -> tuple[dict[str, Any], dict[str, Any], str]:
    engine = deepcopy(ENGINE)
    next(f for f in engine["spec"]["creation_schema"] if f["name"] == name).update(changes)
    return MANIFEST, engine, README


def _readme(old: str, new: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    assert README.count(old) == 1, old
    return MANIFEST, ENGINE, README.replace(old, new)


def _without(kind: str, name: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    manifest, engine = deepcopy(MANIFEST), deepcopy(ENGINE)
    fields = manifest["spec"]["config"] if kind == "config" else engine["spec"]["creation_schema"]
    fields[:] = [field for field in fields if field["name"] != name]
    return manifest, engine, README


def _description(file: dict[str, Any], part: str, name: str, old: str, new: str) -> dict[str, str]:
    field = next(f for f in file["spec"][part] if f["name"] == name)
    assert any(old in text for text in field["description"].values())
    return {language: text.replace(old, new) for language, text in field["description"].items()}


def test_the_check_notices() -> None:
    rows = re.findall(
        r"^\| `\w+` \|.*\|\n", README.partition("\n## Settings\n")[2].partition("\n## ")[0], re.M
    )
    for what, doctored in {
        "a setting missing in the form": _without("config", "relevance_floor"),
        "a setting missing in the engine": _without("creation", "vector_weight"),
        "a setting missing in the README": _readme(rows[3], ""),
        "an unknown one in the form": _config("timezone", name="time_zone"),
        "an unknown one in the README": _readme(rows[3], rows[3] + "| `magic` | 3 | 1 to 5 | more of it |\n"),
        "another order in the README": _readme(rows[3] + rows[4], rows[4] + rows[3]),
        "another default in the form": _config("max_profile_traits", default=25),
        "another default in the engine": _creation("auto_recall_top_k", default=5),
        "another default in the README": _readme(
            "| `recall_deadline_seconds` | 3 |", "| `recall_deadline_seconds` | 5 |"
        ),
        "another bound in the form": _config(
            "relevance_floor", description=_description(MANIFEST, "config", "relevance_floor", "1", "2")
        ),
        "another bound in the engine": _creation(
            "auto_recall_top_k",
            description=_description(ENGINE, "creation_schema", "auto_recall_top_k", "20", "50"),
        ),
        "another bound in the README": _readme("0.2 to 30 seconds", "0.2 to 60 seconds"),
        "another unit in the README": _readme("0.2 to 30 seconds", "0.2 to 30 minutes"),
        "another unit in the form": _config(
            "profile_budget_chars",
            description=_description(MANIFEST, "config", "profile_budget_chars", "characters", "tokens"),
        ),
        "an option that is not offered": _config(
            "command_policy", options=[{"name": "everyone"}, {"name": "admin"}]
        ),
        "a language that is not offered": _config("language", options=[{"name": "en_US"}]),
        "an option of an override": _config("isolation", options=[{"name": ""}, {"name": "session"}]),
        "a switch that overrides silently": _config("exact_match_boost", type="boolean", default=True),
        "another kind of field": _config("max_profile_traits", type="string"),
    }.items():
        assert complaints(*doctored), what


# ---------------------------------------------------------------- what forms save


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_can_stay_empty(name: str) -> None:
    field = next(f for f in MANIFEST["spec"]["config"] if f["name"] == name)
    assert "Leave empty to use what the knowledge base was created with." in field["description"]["en_US"]
    for language, words in {"zh_Hans": "留空", "zh_Hant": "留空", "ja_JP": "空欄", "es_ES": "vacío"}.items():
        assert words in field["description"][language]
    created = {name: next(f for f in ENGINE["spec"]["creation_schema"] if f["name"] == name)["default"]}
    assert Settings.load({name: ""}, created) == Settings.load({}, created)
    for option in field.get("options", []):
        settings, problems = Settings.load({name: option["name"]}, {})
        assert problems == ()
        assert not option["name"] or str(getattr(settings, name)).lower() == option["name"]


def test_what_an_untouched_form_saves_changes_nothing() -> None:
    """As both hosts were seen to save it: text fields without a default as an empty text."""
    saved = {field["name"]: field.get("default", "") for field in MANIFEST["spec"]["config"]}
    defaults = {field["name"]: field["default"] for field in ENGINE["spec"]["creation_schema"]}
    assert Settings.load({}, defaults) == (Settings(), ())
    created = defaults | {"isolation": "bot", "vector_weight": 0.9}
    assert Settings.load(saved, created) == Settings.load({}, created)
    assert Settings.load(saved, created)[1] == ()
