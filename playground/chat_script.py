"""What the scripted chat model says: rules on the user's last line, tool calls first, then the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_WRAPPED = re.compile(r"<user_message>\s*(.*?)\s*</user_message>", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{tool(?::([^{}]*))?\}")


@dataclass(frozen=True)
class Call:
    """One tool call. In a string anywhere in *arguments*, ``{tool}`` stands for the results of this turn so
    far and ``{tool:REGEX}`` for the first group of the last match of REGEX in them.
    """

    tool: str
    arguments: Any = field(default_factory=dict)
    """A JSON value, or a string that is sent as it stands (models do send broken JSON)."""


@dataclass(frozen=True)
class Rule:
    """When *match* (a regular expression, searched in what the user said) fits, make *calls*, then say
    *reply*.

    *reply* knows the same placeholders as the arguments of a call. The calls go out one per round, or all in
    the first round when *parallel*.
    """

    match: str
    calls: Sequence[Call] = ()
    reply: str = "done"
    parallel: bool = False


@dataclass(frozen=True)
class Answer:
    """What the model answers: text, or tool calls."""

    text: str = ""
    calls: Sequence[Call] = ()

    @property
    def finish_reason(self) -> str:
        """As the API names it."""
        return "tool_calls" if self.calls else "stop"

    def message(self, number: int) -> dict[str, Any]:
        """Return the assistant message; *number* makes the ids of the calls unique."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{number}_{index}",
                    "type": "function",
                    "function": {"name": call.tool, "arguments": _encoded(call.arguments)},
                }
                for index, call in enumerate(self.calls)
            ]
        return message


def answer(body: dict[str, Any], rules: Sequence[Rule]) -> Answer:
    """Decide on the answer to the chat request *body*.

    The state of a turn is read from the request itself: the tool calls after the last user message are done.
    Without a matching rule the answer repeats what the user said, after ``ECHO: ``.
    """
    messages = [message for message in body.get("messages") or [] if isinstance(message, dict)]
    last = max((index for index, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    said = spoken(messages[last]) if last >= 0 else ""
    turn = messages[last + 1 :]
    done = sum(len(message.get("tool_calls") or []) for message in turn if message.get("role") == "assistant")
    results = [text_of(message) for message in turn if message.get("role") == "tool"]
    for rule in rules:
        if re.search(rule.match, said, re.DOTALL):
            left = list(rule.calls)[done:] if rule.parallel else list(rule.calls)[done : done + 1]
            if left:
                return Answer(calls=[Call(call.tool, _filled(call.arguments, results)) for call in left])
            return Answer(text=_filled(rule.reply, results))
    return Answer(text=f"ECHO: {said}")


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, whether its content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def spoken(message: dict[str, Any]) -> str:
    """Return what the user said, without the retrieved context a 4.10 host wraps around it."""
    text = text_of(message)
    wrapped = _WRAPPED.search(text)
    return wrapped.group(1) if wrapped else text


def _filled(value: Any, results: list[str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: _from_results(found.group(1), results), value)
    if isinstance(value, dict):
        return {key: _filled(item, results) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, results) for item in value]
    return value


def _from_results(pattern: str | None, results: list[str]) -> str:
    joined = " | ".join(results)
    if pattern is None:
        return joined
    matches = list(re.finditer(pattern, joined))
    return matches[-1].group(1) if matches else ""


def _encoded(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
