"""The playground's own parts that need no host: packages, script, model server, environments."""

from __future__ import annotations

import json
import math
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import pytest

from playground import chat, envs, packages, processes
from playground.chat_script import Answer, Call, Rule, answer
from playground.embedders import HashedWords
from playground.embedding_process import EmbeddingProcess
from playground.model_server import ModelServer


def request(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def post(url: str, body: dict[str, Any]) -> Any:
    data = json.dumps(body).encode()
    asked = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=10) as response:
        return json.loads(response.read())


class TestScript:
    def test_echoes_without_a_rule(self) -> None:
        assert answer(request(user("hi")), []).text == "ECHO: hi"

    def test_calls_first_then_replies_with_the_results(self) -> None:
        rules = [
            Rule("go", calls=[Call("a", {"x": 1}), Call("b", {"id": "{tool:id=(\\w+)}"})], reply="got {tool}")
        ]
        first = answer(request(user("go")), rules)
        assert [call.tool for call in first.calls] == ["a"]
        turn = [user("go"), first.message(1), {"role": "tool", "content": "id=e7"}]
        second = answer(request(*turn), rules)
        assert second.calls == [Call("b", {"id": "e7"})]
        turn += [second.message(2), {"role": "tool", "content": "fine"}]
        assert answer(request(*turn), rules) == Answer(text="got id=e7 | fine")

    def test_parallel_calls_go_out_together(self) -> None:
        rules = [Rule("go", calls=[Call("a"), Call("b")], parallel=True)]
        assert [call.tool for call in answer(request(user("go")), rules).calls] == ["a", "b"]

    def test_matches_only_what_the_user_said(self) -> None:
        wrapped = "<context>secret go</context>\n<user_message>\nhello\n</user_message>"
        assert answer(request(user([{"type": "text", "text": wrapped}])), [Rule("go")]).text == "ECHO: hello"

    def test_broken_arguments_are_sent_as_they_stand(self) -> None:
        [call] = Answer(calls=[Call("a", "{not json")]).message(1)["tool_calls"]
        assert call["function"]["arguments"] == "{not json"


class TestModelServer:
    def test_records_requests_exactly(self) -> None:
        body = request(user("hi")) | {"odd": {"nested": [1, None]}}
        with ModelServer() as server:
            given = post(f"{server.url}/chat/completions", body)
            assert given["choices"][0]["message"]["content"] == "ECHO: hi"
            assert server.chats[0].body == body

    def test_failing_embeddings(self) -> None:
        faults: dict[Any, int] = {"down": 500, "rate_limit": 429}
        with ModelServer() as server:
            for fault, status in faults.items():
                server.faults.embeddings = fault
                with pytest.raises(urllib.error.HTTPError) as caught:
                    post(f"{server.url}/embeddings", {"input": ["x"]})
                assert caught.value.code == status
                server.faults.embeddings = ""
                answer_ = post(f"{server.url}/embeddings", {"input": "x"})
                assert len(answer_["data"][0]["embedding"]) == 384
            assert [asked.fault for asked in server.embeddings] == ["down", "", "rate_limit", ""]

    def test_spoilt_embeddings(self) -> None:
        with ModelServer() as server:
            server.faults.embeddings = "short"
            assert len(post(f"{server.url}/embeddings", {"input": ["x", "y"]})["data"]) == 1
            server.faults.embeddings = "nan"
            assert math.isnan(post(f"{server.url}/embeddings", {"input": "x"})["data"][0]["embedding"][0])
            server.faults.embeddings = "dimension"
            assert len(post(f"{server.url}/embeddings", {"input": "x"})["data"][0]["embedding"]) == 192
            server.faults.only = "other text"
            assert len(post(f"{server.url}/embeddings", {"input": "x"})["data"][0]["embedding"]) == 384

    def test_words_make_texts_near(self) -> None:
        a, b, c = HashedWords().embed(["Alice likes tea", "Alice likes coffee", "火箭"])
        near = sum(x * y for x, y in zip(a, b, strict=True))
        far = sum(x * y for x, y in zip(a, c, strict=True))
        assert near > 0.4 > abs(far)


class TestPackages:
    def test_same_files_same_bytes(self) -> None:
        first = packages.build_plugin("probe").read_bytes()
        assert packages.build_plugin("probe").read_bytes() == first

    def test_only_included_files(self) -> None:
        with zipfile.ZipFile(packages.build_plugin("mini_runner")) as package:
            names = package.namelist()
        assert "components/runner/default.py" in names
        assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]

    def test_other_version_of_a_folder(self, tmp_path: Path) -> None:
        built = packages.build_folder(packages.PLUGINS / "probe", version="9.9.9")
        with zipfile.ZipFile(built) as package:
            assert packages.identity(package.read("manifest.yaml").decode())[2] == "9.9.9"
        built.unlink()

    def test_missing_metadata_is_named(self) -> None:
        with pytest.raises(packages.PackageError, match="name, version"):
            packages.identity("metadata:\n  author: a\nspec: {}\n")


def test_streamed_snapshots_count_once() -> None:
    parts = [{"type": "Plain", "text": text} for text in ("He", "Hello", "Hello you", "Second")]
    assert chat._final_text(parts) == "Hello you\nSecond"
    assert chat._final_text([]) == ""


def test_unsupported_python_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(envs, "SUPPORTED", ((2, 7),))
    with pytest.raises(envs.EnvError) as caught:
        envs.ensure("models")
    assert "\n" not in str(caught.value)


def test_unknown_environment_is_refused() -> None:
    with pytest.raises(envs.EnvError, match="unknown environment"):
        envs.ensure("nothing")


def test_descendants_are_found_below_a_process() -> None:
    rows = {n: processes.Process(n, parent, "") for n, parent in ((2, 1), (3, 2), (4, 3), (5, 1))}
    assert [row.pid for row in processes.descendants(2, rows)] == [3, 4]


def test_embedding_process_serves_and_ends() -> None:
    with EmbeddingProcess("words", python=Path(sys.executable)) as endpoint:
        rows = post(f"{endpoint.url}/embeddings", {"input": ["a", "b"]})["data"]
        assert [len(row["embedding"]) for row in rows] == [384, 384]
    with pytest.raises(urllib.error.URLError):
        post(f"{endpoint.url}/embeddings", {"input": ["a"]})
