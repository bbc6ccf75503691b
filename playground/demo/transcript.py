"""The transcript: plain text, at most 100 columns, on the terminal and in a file at once."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from playground.demo.evidence import Evidence
from playground.demo.scenario import Turn

WIDTH = 100
_LABEL = 12


class Transcript:
    """Writes every line to standard output and to a file."""

    def __init__(self, path: Path, *, out: TextIO | None = None) -> None:
        """Write to *path*, created with its folder, and to *out*."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = path.open("w", encoding="utf-8")
        self._out = out or sys.stdout

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._file.close()

    def line(self, text: str = "") -> None:
        """Write one line as it is."""
        self._file.write(text + "\n")
        self._file.flush()
        self._out.write(text + "\n")
        self._out.flush()

    def text(self, text: str, *, label: str = "") -> None:
        """Write a text of any length after a label, wrapped and indented."""
        for number, line in enumerate(wrapped(text, WIDTH - _LABEL - 2)):
            head = label if number == 0 else ""
            self.line(f"  {head:<{_LABEL}}{line}".rstrip())

    def chapter(self, title: str) -> None:
        """Write a heading."""
        self.line()
        self.line(f"== {title} {'=' * max(3, WIDTH - 4 - columns(title))}")

    def turn(self, number: int, turn: Turn, evidence: Evidence) -> None:
        """Write what was said, what memory gave, which tools ran, and the reply; ``check`` comes next."""
        self.line()
        self.line(f"{number:>2}  {turn.where.label}")
        self.text(turn.says, label=turn.who.name)
        if not turn.is_command:
            self._memory(evidence)
            for use in evidence.tools:
                given = ", ".join(f"{name}={value}" for name, value in use.arguments.items())
                self.text(f"{use.name}({given})", label="tool")
                self.text(f"-> {_brief(use.result)}")
        self.text(evidence.reply or "(no reply)", label="bot")

    def check(self, mark: str, proves: str, problems: list[str]) -> None:
        """Write the outcome of a turn: a mark, what is proved, and what went wrong."""
        self.text(proves, label=mark)
        for problem in problems:
            self.text(problem, label="")

    def _memory(self, evidence: Evidence) -> None:
        view = evidence.view
        if not view.present:
            self.text("nothing was injected", label="memory")
            return
        lines = [
            f"{'this conversation' if owner == 'conversation' else 'profile of ' + view.name}: "
            + "; ".join(entry.text for entry in view.entries if entry.owner == owner)
            for owner in ("conversation", "speaker")
            if any(entry.owner == owner for entry in view.entries)
        ]
        scores = evidence.scores
        for record in view.records:
            score = f"score {scores[record.id]:.2f}, " if record.id in scores else ""
            lines.append(f"[{record.id}] {score}{record.date}, {record.who}: {record.text}")
        for number, line in enumerate(lines or ["nothing known here yet that fits"]):
            self.text(line, label="memory" if number == 0 else "")


def columns(text: str) -> int:
    """Return how many terminal columns *text* takes: Chinese characters take two."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter)
        for letter in text
    )


def wrapped(text: str, width: int) -> Iterator[str]:
    """Break *text* into lines of at most *width* columns, at spaces and between Chinese characters."""
    for paragraph in text.split("\n"):
        line = ""
        for piece in re.findall(r"\s+|[\u2e80-\uffee]|[^\s\u2e80-\uffee]+", paragraph.rstrip()):
            if columns(line + piece) <= width:
                line += piece
                continue
            if line.strip():
                yield line.rstrip()
            line = piece.lstrip()
            while columns(line) > width:
                yield line[:width]
                line = line[width:]
        yield line.rstrip()


def _brief(result: str) -> str:
    """Return a tool's result without the lines that explain the records' format to the model."""
    kept = [
        line
        for line in result.strip().split("\n")
        if not line.startswith(("## ", "Past records:", "Speakers:"))
    ]
    return "\n".join(kept)


def elapsed(seconds: float) -> str:
    """Return a duration as people say it."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
