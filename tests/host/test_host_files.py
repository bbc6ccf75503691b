"""What the documents say about LangBot, read from the files of both installed versions: no host is started.

It needs the host environments' files, like ``test_webui_labels.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from playground import envs
from playground.host import VERSIONS
from tests.support.set_up_section import shown

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "examples" / "README.md"]


@pytest.fixture(params=VERSIONS)
def langbot(request: pytest.FixtureRequest) -> Path:
    """The folder of LangBot's package, of each version in turn."""
    [folder] = [
        site / "langbot"
        for site in envs.site_folders(envs.python_of(f"host-{request.param}"))
        if (site / "langbot").is_dir()
    ]
    return folder


def columns(langbot: Path, model: str) -> set[str]:
    """Return the columns of a table, by the name of its class."""
    for file in (langbot / "pkg" / "entity" / "persistence").glob("*.py"):
        found = re.search(
            rf"^class {model}\(.*?(?=^class |\Z)", file.read_text("utf-8"), re.DOTALL | re.MULTILINE
        )
        if found:
            return set(re.findall(r"^    (\w+) = sqlalchemy\.Column", found[0], re.MULTILINE))
    return set()


def test_monitoring_keeps_messages_and_tool_calls_with_their_texts(langbot: Path) -> None:
    assert columns(langbot, "MonitoringMessage") >= {"message_content", "session_id", "bot_id", "user_name"}
    assert columns(langbot, "MonitoringToolCall") >= {"arguments", "result", "session_id", "bot_id"}
    tools = (langbot / "pkg/provider/tools/toolmgr.py").read_text("utf-8")
    assert "arguments=parameters" in tools and "result=result" in tools
    service = (langbot / "pkg/api/http/service/monitoring.py").read_text("utf-8")
    assert "payload: object, max_length: int = 20000" in service
    # 4.11 keeps messages and replies a second time.
    newer = "4.11" in str(langbot)
    for model, some in (
        ("Transcript", "content"),
        ("EventLog", "input_json"),
        ("AgentRunEvent", "data_json"),
    ):
        assert (some in columns(langbot, model)) == newer, model


def test_monitoring_is_deleted_after_a_time_and_by_nobody_else(langbot: Path) -> None:
    config: dict[str, Any] = yaml.safe_load((langbot / "templates" / "config.yaml").read_text("utf-8"))
    assert list(config["monitoring"]) == ["query_limits", "auto_cleanup"], (
        "a new setting: can it be switched off?"
    )
    assert config["monitoring"]["auto_cleanup"] == {
        "enabled": True,
        "retention_days": 30,
        "check_interval_hours": 1,
        "delete_batch_size": 1000,
        "max_batches_per_table_per_run": 4,
    }
    routes = (langbot / "pkg/api/http/controller/groups/monitoring.py").read_text("utf-8")
    assert "'GET'" in routes and not re.search("'(DELETE|PUT|PATCH)'", routes)
    # The one thing that 4.11 changes there empties the context of a conversation; the history stays.
    assert len(re.findall("'POST'", routes)) == routes.count("'/sessions/reset-context'")
    service = (langbot / "pkg/api/http/service/monitoring.py").read_text("utf-8")
    cleaned = set(re.findall(r"^ {16}'(monitoring_\w+)',$", service, re.MULTILINE))
    assert cleaned >= {"monitoring_messages", "monitoring_tool_calls"}
    # Nothing calls what would delete the second copy of 4.11.
    for file in (langbot / "pkg").rglob("*.py"):
        calls = re.findall(r"\.cleanup_(?:transcripts|events)_older_than\(", file.read_text("utf-8"))
        assert calls == [], file.name


def test_where_vectors_are_kept(langbot: Path) -> None:
    """What is left of a knowledge base, and how it is found."""
    folder = langbot / "pkg" / "vector"
    assert "return f'lb_{collection_uuid.hex}'" in (folder / "mgr.py").read_text("utf-8")
    pgvector = (folder / "vdbs" / "pgvector_db.py").read_text("utf-8")
    assert "__tablename__ = 'langbot_vectors'" in pgvector
    assert re.search(r"^    knowledge_base_uuid = sqlalchemy\.Column", pgvector, re.MULTILINE)
    valkey = (folder / "vdbs" / "valkey_search.py").read_text("utf-8")
    assert "return f'idx:{collection}'" in valkey and "return f'kb:{collection}:'" in valkey
    assert "config.get('database', 'langbot')" in (folder / "vdbs" / "seekdb.py").read_text("utf-8")


def test_ways_through_the_screen_are_there() -> None:
    """Every label in ``*a* → *b*`` is on LangBot's screen or in our console, in both versions."""
    console = json.loads((ROOT / "components/pages/memory_console/i18n/en_US.json").read_text("utf-8"))
    ours, ways = set(console.values()), 0
    for document in DOCUMENTS:
        for way in re.findall(r"(?:\S+|\*[^*]+\*)(?:\s→\s\*[^*]+\*)+", document.read_text("utf-8")):
            ways += 1
            for label in (" ".join(found.split()) for found in re.findall(r"\*([^*]+)\*", way)):
                missing = [
                    version for version in VERSIONS if label not in ours | set(shown(version, "en_US"))
                ]
                assert missing == [], f"{document.name}: {label!r} of {way!r}"
    assert ways > 5


def test_labels_that_operating_names_are_there() -> None:
    text = " ".join((ROOT / "docs" / "operating.md").read_text("utf-8").split())
    for label in (
        "Also delete plugin configuration and persistence storage",
        "Dashboard",
        "Extensions",
        "Enable All Plugins",
    ):
        assert f"*{label}*" in text
        assert all(label in shown(version, "en_US") for version in VERSIONS), label
