"""The demo around its agent: what its checks find, what its transcript says, how it ends."""

from __future__ import annotations

import contextlib
import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from playground import envs
from playground.demo import __main__ as demo
from playground.demo.brains import BrainError, DemoModels, OfflineAgent, RemoteModel, without_history
from playground.demo.evidence import (
    Condition,
    Evidence,
    Injected,
    NotGiven,
    Quiet,
    SameReplyAs,
    Says,
    SaysNot,
    Used,
)
from playground.demo.scenario import MINA, SCENARIO, TRIP, Chapter, Turn
from playground.demo.stage import StageError, only_one
from playground.demo.transcript import WIDTH, Transcript, columns, wrapped
from playground.host import HostError, free_port

L1 = (
    "## Long-term memory\nCurrent speaker: id <<mina>>, name <<Mina>>\nProfile of the current speaker:\n"
    "- traits: <<home_city: lives in Bremen>>"
)
L2 = "## Recalled memories\n2026-11-30 ***today Mina k7m29xqd <<The flight is on 14 May>>"


def messages(*results: str, said: str = "When?") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"role": "system", "content": L1},
        {"role": "system", "content": L2},
        {"role": "user", "content": said},
    ]
    for number, result in enumerate(results):
        function = {"name": "recall_memory", "arguments": '{"query": "flight"}'}
        rows.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]})
        rows.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    return rows


def evidence(*results: str, reply: str = "On 14 May.", snapshot: dict[str, Any] | None = None) -> Evidence:
    return Evidence(reply, (messages(), messages(*results)), snapshot or {})


# ---------------------------------------------------------------- conditions


def test_a_condition_finds_what_it_looks_for() -> None:
    for condition, holds in (
        (Says(("14 may",)), True), (Says(("14 May", "15 May")), False), (SaysNot(("15 May",)), True),
        (SaysNot(("14 May",)), False), (Injected(("lives in Bremen", "14 May")), True),
        (Injected(("Hamburg",)), False), (Injected(("Recalled memories",)), False),
        (NotGiven(("Hamburg",)), True), (NotGiven(("When?",)), True), (NotGiven(("Bremen",)), False),
        (NotGiven(("secret",)), False), (Used("recall_memory"), True),
        (Used("recall_memory", "secret"), True), (Used("recall_memory", "deleted"), False),
        (Used("recall_memory", times=2), False), (Used("forget"), False), (Quiet(), False),
    ):  # fmt: skip
        assert (condition.failure(evidence("a secret result"), {}) == "") is holds
    assert Quiet().failure(Evidence("", (messages(),)), {}) == ""


def test_what_a_turn_left_is_read_as_it_is() -> None:
    # Nothing given proves nothing when there was no injection.
    without = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": "When?"}]
    assert "injected nothing" in NotGiven(("x",)).failure(Evidence("", (without,)), {})
    assert "not asked" in NotGiven(("x",)).failure(Evidence(""), {})
    earlier = {"before": Evidence("all of it")}
    assert SameReplyAs("before").failure(Evidence("all of it\n"), earlier) == ""
    assert "all of it" in SameReplyAs("before").failure(Evidence("less"), earlier)
    (use,) = evidence("found").tools
    assert (use.name, use.arguments, use.result) == ("recall_memory", {"query": "flight"}, "found")
    for arguments in ("{broken", "[1]", ""):  # no JSON object: shown as it is
        rows = messages("x")
        rows[3]["tool_calls"][0]["function"]["arguments"] = arguments
        (use,) = Evidence("", (rows,)).tools
        assert (len(use.arguments) == 1) is bool(arguments)


# ---------------------------------------------------------------- verdict


class Unpredictable(OfflineAgent):
    real = True


def a_turn(*conditions: Condition, name: str = "") -> Turn:
    return Turn(MINA, TRIP, "When?", "It is proved.", conditions, name)


def test_a_failed_condition_fails_the_demo() -> None:
    verdict = demo.Verdict(OfflineAgent())
    assert verdict.judge(1, a_turn(Says(("14 May",))), evidence()) == ("✓", [])
    mark, problems = verdict.judge(2, a_turn(Says(("15 May",))), evidence())
    assert mark == "✗" and problems == ["the reply lacks “15 May”"]
    assert verdict.failures == ["turn 2: It is proved. But the reply lacks “15 May”."]
    assert verdict.summary == "Memory did NOT work: 1 of 2 checks"


def test_with_a_real_model_only_firm_conditions_fail_it_and_storing_nothing_does() -> None:
    verdict = demo.Verdict(Unpredictable())
    assert verdict.judge(1, a_turn(Says(("15 May",))), evidence())[0] == "~"
    assert not verdict.failures
    assert verdict.summary.startswith("Memory worked: 0 of 1 checks; 1 more (~)")
    assert verdict.judge(2, a_turn(NotGiven(("Bremen",), firm=True)), evidence())[0] == "✗"
    nothing = "no turn had memory in its prompt: the chat model never stored anything"
    for injected, failures in (("Hamburg", [nothing]), ("Bremen", [])):
        verdict = demo.Verdict(Unpredictable())
        verdict.judge(1, a_turn(Injected((injected,))), evidence())
        verdict.close()
        assert verdict.failures == failures


def test_a_proxy_is_not_asked_for_this_machine() -> None:
    for environ, expected in (
        ({}, "127.0.0.1,localhost"), ({"NO_PROXY": "example.org"}, "example.org,127.0.0.1,localhost"),
        ({"no_proxy": "a", "NO_PROXY": "b"}, "a,127.0.0.1,localhost"),
    ):  # fmt: skip
        demo._spare_proxies(environ)
        assert environ["no_proxy"] == expected


# ---------------------------------------------------------------- scenario


def test_the_scenario_covers_what_it_promises() -> None:
    turns = [part for part in SCENARIO if isinstance(part, Turn)]
    assert len(turns) >= 14
    assert {turn.who.name for turn in turns} == {"Mina", "Tao", "Lan"}
    assert {(turn.where.kind, turn.where.id) for turn in turns} == {
        ("group", "trip"),
        ("group", "office"),
        ("person", "mina"),
    }
    assert all(turn.who is MINA for turn in turns if turn.where.kind == "person")
    assert sum(part.restart for part in SCENARIO if isinstance(part, Chapter)) == 1
    assert all(turn.conditions and turn.proves for turn in turns)
    assert {c.firm for turn in turns for c in turn.conditions} == {True, False}
    named = [turn.name for turn in turns if turn.name]
    wanted = [c.name for turn in turns for c in turn.conditions if isinstance(c, SameReplyAs)]
    assert wanted == named


# ---------------------------------------------------------------- transcript


def test_no_line_is_wider_than_the_terminal(tmp_path: Path) -> None:
    out = io.StringIO()
    with Transcript(tmp_path / "deep" / "transcript.txt", out=out) as transcript:
        transcript.chapter("A chapter")
        long = Evidence("很" * 200 + " " + "x" * 300, evidence("结果" * 90).requests)
        transcript.turn(7, a_turn(), long)
        transcript.check("✗", "words " * 60, ["problem " * 40])
    lines = out.getvalue().splitlines()
    assert max(columns(line) for line in lines) <= WIDTH
    assert (tmp_path / "deep" / "transcript.txt").read_text("utf-8").splitlines() == lines
    assert "\x1b" not in out.getvalue()


def test_the_transcript_shows_memory_scores_tools_and_reply(tmp_path: Path) -> None:
    out = io.StringIO()
    snapshot = {"blocks": [L1, L2], "episodes": [{"id": "k7m29xqd", "score": 0.8123}]}
    empty = [{"role": "system", "content": "Current speaker: id <<mina>>"}, {"role": "user", "content": "x"}]
    with Transcript(tmp_path / "t.txt", out=out) as transcript:
        transcript.turn(3, a_turn(), evidence(f"1 memory.\n{L2}", snapshot=snapshot))
        transcript.turn(4, a_turn(), Evidence("", (empty,)))
        transcript.turn(5, a_turn(), Evidence("", ([{"role": "user", "content": "x"}],)))
    text = out.getvalue()
    for part in (
        "profile of Mina: home_city: lives in Bremen",
        "[k7m29xqd] score 0.81, 2026-11-30, Mina: The flight is on 14 May",
        *("recall_memory(query=flight)", "-> 1 memory.", "On 14 May."),
        # Nothing injected is told from nothing known.
        *("nothing known here yet", "nothing was injected", "(no reply)"),
    ):
        assert part in text
    assert "## Recalled memories" not in text


def test_wrapping_loses_nothing_but_spaces() -> None:
    for text in ("a b c", "", "  two  spaces", "第一行\n第二行", "x" * 25):
        assert "".join("".join(wrapped(text, 10)).split()) == "".join(text.split())


# ---------------------------------------------------------------- minds


def test_history_is_taken_out_before_the_model_sees_it() -> None:
    earlier = [{"role": "user", "content": "I am 5"}, {"role": "assistant", "content": "noted"}]
    rows = messages("found")
    assert without_history([*rows[:2], *earlier, *rows[2:]]) == rows
    assert without_history([]) == []


@contextlib.contextmanager
def offline_models() -> Iterator[DemoModels]:
    with DemoModels(OfflineAgent()) as server:
        yield server


def test_a_real_model_answers_with_text_and_tool_calls() -> None:
    with offline_models() as server:
        remote = RemoteModel("sk-x", url=server.url + "/", model="m")
        remote.check()
        given = remote.answer({"messages": messages(said="I live in Hamburg."), "stream": True, "tools": []})
        assert [call.tool for call in given.calls] == ["update_profile"]
        assert json.loads(given.calls[0].arguments)["value"] == "lives in Hamburg"
        assert remote.answer({"messages": messages(said="Hello there.")}).text.startswith("All right")
        sent = server.chats[-1].body
        assert sent["model"] == "m" and set(sent) == {"model", "messages"}


def test_a_real_model_that_fails_says_so_in_the_chat_and_at_the_start() -> None:
    remote = RemoteModel("sk-x", url=f"http://127.0.0.1:{free_port()}/v1")
    assert "no answer from the chat model" in remote.answer({"messages": []}).text
    with pytest.raises(BrainError, match="no answer"):
        remote.check()
    with offline_models() as server, pytest.raises(BrainError, match=r"answered 500: .*chat service is down"):
        server.faults.chat = "down"
        RemoteModel("sk-x", url=server.url).check()


def test_the_environment_chooses_the_mind() -> None:
    assert isinstance(demo.mind_of({}), OfflineAgent)
    assert isinstance(demo.mind_of({"OPENAI_API_KEY": " "}), OfflineAgent)
    with offline_models() as server:
        mind = demo.mind_of({"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "MODEL": "some-model"})
    assert mind.real and mind.description == f"some-model at {server.url}"


# ---------------------------------------------------------------- running


class PretendStage:
    """A stage on which every turn leaves the same behind."""

    def __init__(self, folder: Path, left: Evidence) -> None:
        self.plugin, self.restarts, self.left = "author/name", 0, left
        self.host = type("H", (), {"home": folder})()

    def play(self, turn: Turn) -> Evidence:
        return self.left

    def restart(self) -> None:
        self.restarts += 1


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[PretendStage]:
    stage = PretendStage(tmp_path, evidence())

    @contextlib.contextmanager
    def running(folder: Path, mind: Any, say: Any) -> Iterator[PretendStage]:
        say("starting")
        yield stage

    monkeypatch.setattr(demo, "running_stage", running)
    monkeypatch.setattr(envs, "ensure", lambda name: Path())
    monkeypatch.setenv("no_proxy", "")
    for name in ("OPENAI_API_KEY", "SERVE"):
        monkeypatch.delenv(name, raising=False)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield stage
    for number, handler in handlers.items():  # the demo takes them over
        signal.signal(number, handler)


def test_failed_checks_give_exit_code_1_and_the_place_of_the_log(
    pretend: PretendStage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo.main(["--folder", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "Memory did NOT work" in printed and "host.log" in printed and "turn 1:" in printed
    assert pretend.restarts == 1


def test_all_checks_held_gives_exit_code_0(
    pretend: PretendStage, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = (Chapter("One", restart=True), a_turn(Says(("14 May",)), Injected(("14 May",))))
    monkeypatch.setattr(demo, "SCENARIO", scenario)
    assert demo.main(["--folder", str(tmp_path)]) == 0
    assert "Memory worked: 1 of 1 checks" in capsys.readouterr().out
    assert "Memory worked" in (tmp_path / "transcript.txt").read_text("utf-8")


def test_what_goes_wrong_is_one_line_and_a_code(
    pretend: PretendStage, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors: list[tuple[BaseException, int, str]] = [
        (envs.EnvError("Python 3.9 is not supported here"), 2, "Python 3.9"),
        (HostError("the host ended"), 1, "host.log"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ]
    for error, code, words in errors:
        monkeypatch.setattr(pretend, "play", Mock(side_effect=error))
        assert demo.main(["--folder", str(tmp_path)]) == code
        printed = capsys.readouterr().err
        assert words in printed and "Traceback" not in printed


def test_a_second_demo_in_the_same_folder_is_refused(
    pretend: PretendStage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with only_one(tmp_path):
        assert demo.main(["--folder", str(tmp_path)]) == 2
        with pytest.raises(StageError), only_one(tmp_path):
            pass
    assert "another demo is running" in capsys.readouterr().err
    with only_one(tmp_path):
        pass
