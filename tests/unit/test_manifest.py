"""The YAML files that LangBot reads say what the code does, in every language."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from xml.etree import ElementTree

import annotated_types
import pytest
import yaml

from longterm_memory.chat import tool_input
from longterm_memory.scope import Isolation
from longterm_memory.settings import CREATION_SETTINGS, Settings

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ["en_US", "zh_Hans", "zh_Hant", "ja_JP", "vi_VN", "th_TH", "es_ES"]
COMPONENTS = {
    "KnowledgeEngine": ["components/knowledge_engine/memory_engine.yaml"],
    "EventListener": ["components/event_listener/memory_injector.yaml"],
    "Tool": [f"components/tools/{t}.yaml" for t in ("forget", "recall_memory", "remember", "update_profile")],
    "Command": ["components/commands/memory.yaml"],
    "Page": ["components/pages/memory_console/memory_console.yaml"],
}
FILES = ["manifest.yaml", *(file for files in COMPONENTS.values() for file in files)]
CLASSES = {
    "memory_engine": "MemoryEngine",
    "memory_injector": "MemoryInjector",
    "remember": "Remember",
    "recall_memory": "RecallMemory",
    "update_profile": "UpdateProfile",
    "forget": "Forget",
    "memory": "Memory",
    "memory_console": "MemoryConsole",
}
FORM_TYPES = {"integer", "float", "boolean", "string", "select", "array[string]", "embedding-model-selector"}
"""What the forms of LangBot 4.10 and 4.11 can both show, as far as we use it."""


def read(file: str) -> dict[str, Any]:
    found = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


MANIFEST = read("manifest.yaml")
ENGINE = read(COMPONENTS["KnowledgeEngine"][0])
CONFIG = {field["name"]: field for field in MANIFEST["spec"]["config"]}
CREATION = {field["name"]: field for field in ENGINE["spec"]["creation_schema"]}
RETRIEVAL = {field["name"]: field for field in ENGINE["spec"]["retrieval_schema"]}
OVERRIDES = [name for name in CREATION_SETTINGS if name != "embedding_model_uuid"]
ALL_FIELDS = [
    *(pytest.param(field, id=f"config-{name}") for name, field in CONFIG.items()),
    *(pytest.param(field, id=f"creation-{name}") for name, field in CREATION.items()),
    *(pytest.param(field, id=f"retrieval-{name}") for name, field in RETRIEVAL.items()),
]


def texts(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Every label and description below a node."""
    if isinstance(node, dict):
        for key, value in node.items():
            # The description of a tool's parameter is one text, for the model.
            if key in ("label", "description") and not isinstance(value, str):
                yield f"{path}.{key}", value
            else:
                yield from texts(value, f"{path}.{key}")
    elif isinstance(node, list):
        for at, value in enumerate(node):
            yield from texts(value, f"{path}[{at}]")


def bounds(name: str) -> tuple[float | None, float | None]:
    """Lowest and highest value of a numeric setting."""
    info = Settings.model_fields[name]
    lowest = highest = None
    for rule in _rules(info.metadata):
        if isinstance(rule, annotated_types.Ge):
            lowest = rule.ge
        elif isinstance(rule, annotated_types.Gt):
            lowest = rule.gt
        elif isinstance(rule, annotated_types.Le):
            highest = rule.le
    return lowest, highest  # type: ignore[return-value]


def _rules(metadata: list[Any]) -> Iterator[Any]:
    for rule in metadata:
        yield rule
        yield from getattr(rule, "metadata", [])


def plain(number: float) -> str:
    return f"{number:g}"


# ---------------------------------------------------------------- identity


def test_the_manifest_names_the_plugin() -> None:
    metadata = MANIFEST["metadata"]
    assert (MANIFEST["apiVersion"], MANIFEST["kind"]) == ("v1", "Plugin")
    assert (metadata["author"], metadata["name"]) == ("ltm-founders", "LongTermMemory")
    assert re.fullmatch(r"\d+\.\d+\.\d+", metadata["version"])
    assert MANIFEST["execution"]["python"] == {"path": "main.py", "attr": "LongTermMemory"}
    assert hasattr(importlib.import_module("main"), "LongTermMemory")


def test_versions_agree() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{MANIFEST["metadata"]["version"]}"' in project


def test_it_declares_the_shared_runtime() -> None:
    assert MANIFEST["execution"]["sharedRuntime"] == "shared-runtime-v1"
    assert MANIFEST["execution"]["componentModel"] == "stateless-v1"


def test_the_icon_is_a_small_self_contained_drawing() -> None:
    file = ROOT / MANIFEST["metadata"]["icon"]
    drawing = ElementTree.fromstring(file.read_bytes())
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawing.get("viewBox") == "0 0 64 64"
    assert file.stat().st_size < 4_000
    text = file.read_text(encoding="utf-8")
    assert "<script" not in text
    assert not re.search(r"(href|src)=", text)


# ---------------------------------------------------------------- languages


@pytest.mark.parametrize("file", FILES)
def test_labels_and_descriptions_exist_in_all_languages(file: str) -> None:
    found = list(texts(read(file)))
    assert len(found) >= 2
    for path, words in found:
        assert list(words) == LANGUAGES, path
        for language, text in words.items():
            assert isinstance(text, str) and text.strip() == text != "", f"{path} {language}"
        # Translated, not copied; names of languages and loan words are the same everywhere.
        if len(words["en_US"]) > 12:
            assert list(words.values()).count(words["en_US"]) == 1, path


@pytest.mark.parametrize("file", FILES)
def test_chinese_is_written_in_its_own_characters(file: str) -> None:
    simplified, traditional = set("记忆检索开启设创对话词语权与"), set("記憶檢索開啟設創對話詞語權與")
    for path, words in texts(read(file)):
        if len(set(words.values())) == 1:
            continue
        assert not traditional & set(words["zh_Hans"]) - simplified, path
        assert not simplified & set(words["zh_Hant"]) - traditional, path


# ---------------------------------------------------------------- components


def test_the_manifest_lists_every_component_file() -> None:
    listed = {
        kind: sorted(
            str(file.relative_to(ROOT))
            for folder in group["fromDirs"]
            for file in (ROOT / folder["path"]).glob("*.yaml")
        )
        for kind, group in MANIFEST["spec"]["components"].items()
    }
    assert listed == {kind: sorted(files) for kind, files in COMPONENTS.items()}
    assert {str(file.relative_to(ROOT)) for file in (ROOT / "components").rglob("*.yaml")} == set(FILES[1:])


@pytest.mark.parametrize(
    ("kind", "file"), [(kind, file) for kind, files in COMPONENTS.items() for file in files]
)
def test_a_component_names_its_class(kind: str, file: str) -> None:
    component = read(file)
    name = component["metadata"]["name"]
    assert component["apiVersion"] == "v1"
    assert component["kind"] == kind
    assert name == Path(file).stem
    where = component["execution"]["python"]
    assert where == {"path": f"{name}.py", "attr": CLASSES[name]}
    module = importlib.import_module(f"{Path(file).parent.as_posix().replace('/', '.')}.{name}")
    assert getattr(module, CLASSES[name]).__kind__ == kind


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize("field", ALL_FIELDS)
def test_a_field_has_what_a_form_needs(field: dict[str, Any]) -> None:
    assert {"name", "type", "required", "label", "description"} <= set(field)
    assert field["type"] in FORM_TYPES
    assert field["required"] is (field["name"] == "embedding_model_uuid")
    if field["type"] == "select":
        names = [option["name"] for option in field["options"]]
        # The form leaves out options without a name.
        assert all(names)
        assert field["default"] in names


def test_every_setting_is_in_the_plugin_config() -> None:
    assert set(CONFIG) == set(Settings.model_fields) - {"embedding_model_uuid"}


@pytest.mark.parametrize("name", [n for n in CONFIG if n not in OVERRIDES])
def test_a_default_is_the_settings_default(name: str) -> None:
    default = Settings.model_fields[name].default
    assert CONFIG[name]["default"] == (list(default) if isinstance(default, tuple) else default)
    assert Settings.load({name: CONFIG[name]["default"]}, {}) == (Settings(), ())


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_can_stay_empty(name: str) -> None:
    """A cleared number field is saved as 0, an untouched switch as off: either would override silently."""
    field = CONFIG[name]
    assert field["type"] == "string"
    assert "default" not in field
    assert "Leave empty to use what the knowledge base was created with." in field["description"]["en_US"]
    for language, words in {"zh_Hans": "留空", "zh_Hant": "留空", "ja_JP": "空欄", "es_ES": "vacío"}.items():
        assert words in field["description"][language]
    created = {name: CREATION[name]["default"]}
    assert Settings.load({name: ""}, created) == Settings.load({}, created)
    if "options" in field:
        assert field["options"][0]["name"] == ""


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_override_takes_what_the_form_offers(name: str) -> None:
    for option in CONFIG[name].get("options", []):
        settings, problems = Settings.load({name: option["name"]}, {})
        assert problems == ()
        if option["name"]:
            shown = str(getattr(settings, name))
            assert shown.lower() == option["name"]


def test_what_an_untouched_form_saves_changes_nothing() -> None:
    """As both hosts were seen to save it: text fields without a default as an empty text."""
    saved = {name: field.get("default", "") for name, field in CONFIG.items()}
    created = {name: field["default"] for name, field in CREATION.items()} | {
        "isolation": "bot",
        "vector_weight": 0.9,
    }
    assert Settings.load(saved, created) == Settings.load({}, created)
    assert Settings.load(saved, created)[1] == ()


def test_the_creation_form_is_the_creation_settings() -> None:
    assert tuple(CREATION) == CREATION_SETTINGS
    assert CREATION["embedding_model_uuid"]["type"] == "embedding-model-selector"
    for name in OVERRIDES:
        assert CREATION[name]["default"] == Settings.model_fields[name].default
    assert Settings.load({}, {n: f["default"] for n, f in CREATION.items()}) == (Settings(), ())


def test_the_retrieval_form_asks_for_a_number_of_memories() -> None:
    assert list(RETRIEVAL) == ["top_k"]
    assert RETRIEVAL["top_k"]["default"] == 5


def choices(name: str) -> list[str] | None:
    annotation = Settings.model_fields[name].annotation
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [member.value for member in annotation]
    return ["true", "false"] if annotation is bool else None


@pytest.mark.parametrize("field", ALL_FIELDS)
def test_choices_are_all_offered(field: dict[str, Any]) -> None:
    if field["name"] not in Settings.model_fields or field["type"] == "boolean":
        return
    wanted = choices(field["name"])
    offered = [option["name"] for option in field.get("options", []) if option["name"]]
    assert offered == (wanted or [])


@pytest.mark.parametrize("field", ALL_FIELDS)
def test_descriptions_say_range_and_default(field: dict[str, Any]) -> None:
    if field["name"] not in Settings.model_fields or Settings.model_fields[field["name"]].annotation not in (
        int,
        float,
    ):
        return
    numbers = [plain(number) for number in bounds(field["name"]) if number is not None]
    assert len(numbers) == 2
    if "default" in field:
        numbers.append(plain(field["default"]))
    for language, text in field["description"].items():
        said = re.findall(r"\d+(?:\.\d+)?", text)
        assert [n for n in numbers if n not in said] == [], language


def test_isolation_is_the_enum() -> None:
    assert [o["name"] for o in CREATION["isolation"]["options"]] == [i.value for i in Isolation]


# ---------------------------------------------------------------- tools


TOOLS = {Path(file).stem: read(file)["spec"] for file in COMPONENTS["Tool"]}
REQUIRED = {
    "remember": ["content"],
    "recall_memory": ["query"],
    "update_profile": ["field", "action", "value"],
    "forget": ["episode_id"],
}


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_describes_what_the_code_reads(tool: str) -> None:
    parameters = TOOLS[tool]["parameters"]
    assert parameters["type"] == "object"
    assert set(parameters["properties"]) == set(tool_input.PARAMETERS[tool])
    assert parameters["required"] == REQUIRED[tool]
    for name, parameter in parameters["properties"].items():
        assert parameter["type"] in ("string", "integer", "array"), name
        assert len(parameter["description"]) > 20, name
        # Some providers refuse schemas with keywords that they do not know.
        assert set(parameter) <= {"type", "description", "enum", "items"}, name


@pytest.mark.parametrize("tool", TOOLS)
def test_a_prompt_is_short(tool: str) -> None:
    prompt = TOOLS[tool]["llm_prompt"]
    assert 80 < len(prompt) < 800
    assert "  " not in prompt
    assert "\n" not in prompt


def test_prompts_carry_the_write_policy() -> None:
    remember, profile = TOOLS["remember"]["llm_prompt"], TOOLS["update_profile"]["llm_prompt"]
    for word in (
        "event",
        "plan",
        "decision",
        "correction",
        "small talk",
        "secrets",
        "gossip",
        "update_profile",
    ):
        assert word in remember
    for word in ("stable facts", "fact_key", "remember", "small talk", "secrets"):
        assert word in profile
    assert "correction" in TOOLS["forget"]["llm_prompt"]


@pytest.mark.parametrize(
    ("tool", "parameter", "words"),
    [
        ("recall_memory", "status", ["active", "superseded", "archived", "all"]),
        ("update_profile", "scope", list(get_args(tool_input.ProfileTarget))),
        ("update_profile", "field", list(get_args(tool_input.ProfileField))),
        ("update_profile", "action", list(get_args(tool_input.ProfileAction))),
    ],
)
def test_enums_are_the_words_of_the_code(tool: str, parameter: str, words: list[str]) -> None:
    assert sorted(TOOLS[tool]["parameters"]["properties"][parameter]["enum"]) == sorted(words)
    for word in words:
        given: dict[str, Any] = {
            "query": "x",
            "field": "traits",
            "action": "set",
            "value": "x",
            parameter: word,
        }
        (tool_input.read_recall if tool == "recall_memory" else tool_input.read_profile)(given)


def test_the_readme_lists_every_setting_with_its_default() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", readme, re.MULTILINE)
    listed = {name: default.strip("`") for name, default, _ in rows}
    fields = {name: info for name, info in Settings.model_fields.items() if name != "embedding_model_uuid"}
    assert set(listed) == set(fields)
    for name, info in fields.items():
        default = info.default
        if isinstance(default, tuple):
            shown = " ".join(default) or "empty"
        elif isinstance(default, bool):
            shown = str(default).lower()
        else:
            shown = f"{default:g}" if isinstance(default, float) else str(default)
        assert listed[name] == shown, name
