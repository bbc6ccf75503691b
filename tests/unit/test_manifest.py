"""The YAML files that LangBot reads say what the code does, in every language."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import yaml

from longterm_memory.chat import tool_input
from longterm_memory.retrieval import _top_k

ROOT = Path(__file__).resolve().parents[2]
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
FORM_TYPES = {
    *("integer", "float", "boolean", "string", "select", "array[string]"),
    *("embedding-model-selector", "rerank-model-selector"),
}
"""What the forms of LangBot 4.10 and 4.11 can both show, as far as we use it."""


def read(file: str) -> dict[str, Any]:
    found = yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


MANIFEST = read("manifest.yaml")
LANGUAGES = list(MANIFEST["metadata"]["label"])
"""Those of the plugin's own name; everything else in the forms has to have the same."""
ENGINE = read(COMPONENTS["KnowledgeEngine"][0])
CONFIG = {field["name"]: field for field in MANIFEST["spec"]["config"]}
CREATION = {field["name"]: field for field in ENGINE["spec"]["creation_schema"]}
RETRIEVAL = {field["name"]: field for field in ENGINE["spec"]["retrieval_schema"]}
ALL_FIELDS = [*CONFIG.values(), *CREATION.values(), *RETRIEVAL.values()]


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


def test_labels_and_descriptions_exist_in_all_languages() -> None:
    for file in FILES:
        found = list(texts(read(file)))
        assert len(found) >= 2
        for path, words in found:
            assert list(words) == LANGUAGES, path
            for language, text in words.items():
                assert isinstance(text, str) and text.strip() == text != "", f"{path} {language}"
            # Translated, not copied; names of languages and loan words are the same everywhere.
            if len(words["en_US"]) > 12:
                assert list(words.values()).count(words["en_US"]) == 1, path


def test_chinese_is_written_in_its_own_characters() -> None:
    for file in FILES:
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


def test_a_component_names_its_class() -> None:
    for kind, file in [(kind, file) for kind, files in COMPONENTS.items() for file in files]:
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


def test_a_field_has_what_a_form_needs() -> None:
    for field in ALL_FIELDS:
        assert {"name", "type", "required", "label", "description"} <= set(field)
        assert field["type"] in FORM_TYPES
        assert field["required"] is (field["name"] == "embedding_model_uuid")
        if field["type"] == "select":
            names = [option["name"] for option in field["options"]]
            # The form leaves out options without a name.
            assert all(names)
            assert field["default"] in names


def test_the_retrieval_form_asks_for_a_number_of_memories() -> None:
    assert list(RETRIEVAL) == ["top_k"]
    field = RETRIEVAL["top_k"]
    lowest, highest, default = _top_k(-1), _top_k(10**9), _top_k(None)
    assert (field["type"], field["default"]) == ("integer", default)
    for language, text in field["description"].items():
        assert re.findall(r"\d+", text) == [str(lowest), str(highest), str(default)], language


# ---------------------------------------------------------------- tools


TOOLS = {Path(file).stem: read(file)["spec"] for file in COMPONENTS["Tool"]}
REQUIRED = {
    "remember": ["content"],
    "recall_memory": ["query"],
    "update_profile": ["field", "action", "value"],
    "forget": ["episode_id"],
}


def test_a_tool_describes_what_the_code_reads() -> None:
    for tool in TOOLS:
        parameters = TOOLS[tool]["parameters"]
        assert parameters["type"] == "object"
        assert set(parameters["properties"]) == set(tool_input.PARAMETERS[tool])
        assert parameters["required"] == REQUIRED[tool]
        for name, parameter in parameters["properties"].items():
            assert parameter["type"] in ("string", "integer", "array"), name
            assert len(parameter["description"]) > 20, name
            # Some providers refuse schemas with keywords that they do not know.
            assert set(parameter) <= {"type", "description", "enum", "items"}, name


def test_a_prompt_is_short() -> None:
    for tool in TOOLS:
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


def test_enums_are_the_words_of_the_code() -> None:
    for tool, parameter, words in (
        ("recall_memory", "status", ["active", "superseded", "archived", "all"]),
        ("update_profile", "scope", list(get_args(tool_input.ProfileTarget))),
        ("update_profile", "field", list(get_args(tool_input.ProfileField))),
        ("update_profile", "action", list(get_args(tool_input.ProfileAction))),
    ):  # fmt: skip
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
