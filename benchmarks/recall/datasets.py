"""Retrieval data: memory spaces with dated memories, and questions with the memories that answer them.

A file is ``{"name", "note", "scopes": [{"scope", "now", "episodes": [{"id", "content", "timestamp", "sender_name",
"session"}], "questions": [{"query", "evidence": [id], "category"}]}]}``. ``now`` is when the questions are asked.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["TINY", "Dataset", "Question", "Space", "load_all"]

TINY = Path(__file__).parent / "tiny.json"
"""A small data set of our own, for when no other is at hand; its figures say that the benchmark works, no more."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        text: what is asked.
        evidence: for each memory that answers it, the texts that say so (one: its own).
        category: as the data set names it.
        told_at: epoch seconds of the youngest of those memories.
    """

    text: str
    evidence: tuple[str, ...]
    category: str
    told_at: float


@dataclass(frozen=True)
class Space:
    """One memory space.

    Attributes:
        name: of the space.
        now: epoch seconds of the questions.
        rows: the memories as they stand in the file.
        questions: those whose evidence is there.
    """

    name: str
    now: float
    rows: tuple[dict[str, Any], ...]
    questions: tuple[Question, ...]

    @cached_property
    def times(self) -> dict[str, float]:
        """Epoch seconds per text; of the first row that says it."""
        found: dict[str, float] = {}
        for row in self.rows:
            found.setdefault(row["content"], _seconds(row["timestamp"]))
        return found


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file of them."""

    name: str
    sha256: str
    spaces: tuple[Space, ...]

    @property
    def texts(self) -> list[str]:
        """Every distinct text that is embedded, memories and questions."""
        memories = (row["content"] for space in self.spaces for row in space.rows)
        questions = (question.text for space in self.spaces for question in space.questions)
        return sorted({*memories, *questions}, key=lambda text: (len(text), text))

    @classmethod
    def read(cls, path: Path) -> Dataset:
        """Read a file.

        Raises:
            ValueError: it is not of this shape.
        """
        raw = path.read_bytes()
        try:
            data = json.loads(raw)
            spaces = tuple(_space(one) for one in data["scopes"])
            return cls(str(data["name"]), hashlib.sha256(raw).hexdigest(), spaces)
        except (KeyError, TypeError, AttributeError) as exc:
            raise ValueError(f"{path.name} is not retrieval data: {exc!r}") from exc


def load_all(folder: Path | None) -> list[Dataset]:
    """Return the data sets of a folder, sorted by file name; without a folder the tiny one.

    Raises:
        ValueError: the folder holds none, or a file is not of this shape.
    """
    if folder is None:
        return [Dataset.read(TINY)]
    files = sorted(folder.glob("*.json"))
    if not files:
        raise ValueError(f"no .json file in {folder}")
    return [Dataset.read(path) for path in files]


def _space(raw: dict[str, Any]) -> Space:
    rows = tuple(raw["episodes"])
    by_id = {row["id"]: row for row in rows}
    questions = []
    for one in raw["questions"]:
        told = [by_id[i] for i in one["evidence"] if i in by_id]
        if told:
            texts = tuple(dict.fromkeys(row["content"] for row in told))
            when = max(_seconds(row["timestamp"]) for row in told)
            questions.append(Question(one["query"], texts, str(one.get("category") or ""), when))
    return Space(str(raw["scope"]), _seconds(raw["now"]), rows, tuple(questions))


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
