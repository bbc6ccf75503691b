"""What one turn left behind, and the conditions that a turn's proof is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from playground.chat_script import text_of
from playground.memory_view import MemoryView


@dataclass(frozen=True)
class ToolUse:
    """One tool call and what came back."""

    name: str
    arguments: Mapping[str, Any]
    result: str


@dataclass(frozen=True)
class Evidence:
    """Everything known about one turn.

    Attributes:
        reply: what the bot answered in the chat.
        requests: message lists of the chat requests of the turn, oldest first; none for a command.
        snapshot: the plugin's own record of the injection, when it is about this turn.
    """

    reply: str
    requests: tuple[list[dict[str, Any]], ...] = ()
    snapshot: Mapping[str, Any] = field(default_factory=dict)

    @property
    def view(self) -> MemoryView:
        """The memory in the prompt of the turn."""
        return MemoryView.of(self.requests[0]) if self.requests else MemoryView()

    @property
    def scores(self) -> dict[str, float]:
        """Score by record id, as far as the plugin recorded them."""
        return {row["id"]: float(row["score"]) for row in self.snapshot.get("episodes") or []}

    @property
    def tools(self) -> list[ToolUse]:
        """The tool calls of the turn with their results, in order."""
        turn = self._after_user(self.requests[-1]) if self.requests else []
        results = {row.get("tool_call_id"): text_of(row) for row in turn if row.get("role") == "tool"}
        return [
            ToolUse(
                call["function"]["name"],
                _arguments(call["function"]["arguments"]),
                results.get(call["id"], ""),
            )
            for row in turn
            for call in row.get("tool_calls") or []
        ]

    @property
    def given(self) -> str:
        """All that memory could have told the model: the system messages and the tools' results."""
        rows = [row for request in self.requests for row in request if row.get("role") in ("system", "tool")]
        return "\n".join(text_of(row) for row in rows)

    @staticmethod
    def _after_user(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        last = max((n for n, row in enumerate(messages) if row.get("role") == "user"), default=-1)
        return messages[last + 1 :]


class Condition(Protocol):
    """Something that must hold for a turn.

    Attributes:
        firm: whether it must also hold when a real chat model decides what to store and how to put it.
    """

    @property
    def firm(self) -> bool:
        """See above."""
        ...

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """Return why it does not hold, ``""`` when it does; *earlier* holds the named turns so far."""
        ...


@dataclass(frozen=True)
class Says:
    """The reply holds each of the words."""

    words: tuple[str, ...]
    firm: bool = False

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        missing = [word for word in self.words if word.casefold() not in evidence.reply.casefold()]
        return f"the reply lacks {_listed(missing)}" if missing else ""


@dataclass(frozen=True)
class SaysNot:
    """The reply holds none of the words."""

    words: tuple[str, ...]
    firm: bool = False

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        said = [word for word in self.words if word.casefold() in evidence.reply.casefold()]
        return f"the reply holds {_listed(said)}" if said else ""


@dataclass(frozen=True)
class Injected:
    """The prompt held each of the words in a profile line or a recalled record."""

    words: tuple[str, ...]
    firm: bool = False

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        view = evidence.view
        text = "\n".join([*(e.text for e in view.entries), *(r.text for r in view.records)]).casefold()
        missing = [word for word in self.words if word.casefold() not in text]
        return f"the prompt lacks {_listed(missing)}" if missing else ""


@dataclass(frozen=True)
class NotGiven:
    """None of the words reached the model: not in any system message, not in any tool's result."""

    words: tuple[str, ...]
    firm: bool = False

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        if not evidence.requests:
            return "the model was not asked"
        if not evidence.view.present:
            return "the plugin injected nothing at all"
        found = [word for word in self.words if word.casefold() in evidence.given.casefold()]
        return f"the model was given {_listed(found)}" if found else ""


@dataclass(frozen=True)
class Used:
    """A tool was called, and what it answered holds *answer*."""

    tool: str
    answer: str = ""
    times: int = 1
    firm: bool = False

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        uses = [use for use in evidence.tools if use.name == self.tool]
        if len(uses) < self.times:
            return f"{self.tool} was called {len(uses)} times instead of {self.times}"
        fitting = [use for use in uses if self.answer.casefold() in use.result.casefold()]
        return "" if len(fitting) >= self.times else f"{self.tool} answered: {uses[-1].result}"


@dataclass(frozen=True)
class Quiet:
    """No tool was called."""

    firm: bool = False

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        used = [use.name for use in evidence.tools]
        return f"tools were called: {', '.join(used)}" if used else ""


@dataclass(frozen=True)
class SameReplyAs:
    """The reply equals that of an earlier turn, the one called *name*."""

    name: str
    firm: bool = True

    def failure(self, evidence: Evidence, earlier: Mapping[str, Evidence]) -> str:
        """See ``Condition``."""
        same = evidence.reply.strip() == earlier[self.name].reply.strip()
        return "" if same else f"the reply differs from the one before: {earlier[self.name].reply}"


def _arguments(encoded: str) -> Mapping[str, Any]:
    try:
        found = json.loads(encoded or "{}")
    except ValueError:
        return {"(not JSON)": encoded}
    return found if isinstance(found, dict) else {"(no object)": found}


def _listed(words: list[str]) -> str:
    return ", ".join(f"“{word}”" for word in words)
