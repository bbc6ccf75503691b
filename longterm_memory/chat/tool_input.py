"""Reading the parameters of a tool call into one typed input per tool.

Parameters that a tool does not have are ignored, so they can never widen what it may see or change. Nothing
here knows a scope or a speaker; how single values are read is in :mod:`longterm_memory.chat.tool_values`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar

from ..errors import BadArgument
from ..ids import EXAMPLE
from ..models import IMPORTANCE_DEFAULT, Filters
from ..text.fold import fold
from ..text.times import parse_bound, parse_moment_or_none
from . import tool_values as values
from .ids import normalize_id

__all__ = [
    "PARAMETERS",
    "TOP_K_MAX",
    "ForgetInput",
    "ProfileInput",
    "RecallInput",
    "RememberInput",
    "read_forget",
    "read_profile",
    "read_recall",
    "read_remember",
]

TOP_K_MAX = 20
"""Most results of one ``recall_memory``."""

Word = TypeVar("Word", bound=str)

ProfileField = Literal["name", "traits", "preferences", "notes"]
ProfileAction = Literal["set", "add", "remove"]
ProfileTarget = Literal["session", "speaker"]


@dataclass(frozen=True, slots=True)
class RememberInput:
    """Parameters of ``remember``.

    Attributes:
        content: the text as given, not blank.
        tags: labels, without repetitions.
        importance: 1..5.
        event_time: when it happened, ``None`` = now.
        importance_moved: whether the importance lay outside 1..5 and was moved to its nearest end; the result
            says so.
    """

    content: str
    tags: tuple[str, ...] = ()
    importance: int = IMPORTANCE_DEFAULT
    event_time: datetime | None = None
    importance_moved: bool = False


@dataclass(frozen=True, slots=True)
class RecallInput:
    """Parameters of ``recall_memory``; a blank query is passed on and finds nothing."""

    query: str
    k: int
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class ProfileInput:
    """Parameters of ``update_profile``.

    Attributes:
        target: whose profile.
        field: which field of it.
        action: what to do.
        values: what to set, add or remove; empty only for a ``remove`` that can do without, several only for
            a ``set``
            of a whole list.
        fact_key: as given, ``""`` when none.
        previous_value: as given, ``""`` when none.
    """

    target: ProfileTarget
    field: ProfileField
    action: ProfileAction
    values: tuple[str, ...] = ()
    fact_key: str = ""
    previous_value: str = ""

    @property
    def value(self) -> str:
        """The one value, ``""`` when there is none."""
        return self.values[0] if self.values else ""


@dataclass(frozen=True, slots=True)
class ForgetInput:
    """Parameters of ``forget``."""

    episode_id: str


PARAMETERS = {
    "remember": ("content", "tags", "importance", "event_time"),
    "recall_memory": (
        "query",
        "top_k",
        "speaker_id",
        "speaker_name",
        "time_after",
        "time_before",
        "importance_min",
        "source",
        "status",
    ),
    "update_profile": ("scope", "field", "action", "value", "fact_key", "previous_value"),
    "forget": ("episode_id",),
}
"""Every parameter of every tool; the tools' YAML is checked against this by a test."""

_TARGETS: dict[ProfileTarget, str] = {
    "speaker": "speaker user me self sender person current_speaker current_user 用户 说话人 当前用户 个人 我",
    "session": "session group chat conversation channel room 会话 群 群聊 群组 聊天",
}
_FIELDS: dict[ProfileField, str] = {
    "name": "name names 名字 姓名 称呼",
    "traits": "traits trait 特征 特质 特点",
    "preferences": "preferences preference prefs pref 偏好 喜好",
    "notes": "notes note 备注 笔记",
}
_ACTIONS: dict[Literal["set", "add", "remove", "update"], str] = {
    "set": "set replace overwrite 设置 替换",
    "update": "update change modify 更新 修改",
    "add": "add append insert 添加 增加 追加",
    "remove": "remove delete del 删除 移除",
}


def _given(tool: str, params: object) -> dict[str, object]:
    """Return the parameters that the tool has, by their names, whatever case and separators the model used.

    Raises:
        BadArgument: ``expected_object`` when the whole is no object.
    """
    if isinstance(params, str):
        try:
            params = json.loads(params)
        except (ValueError, RecursionError):
            params = None
    names = PARAMETERS[tool]
    if not isinstance(params, Mapping):
        raise BadArgument("expected_object", parameters=", ".join(names))
    plain = {name.replace("_", ""): name for name in names}
    found: dict[str, object] = {}
    for key, value in params.items():
        name = plain.get(fold(str(key)).replace("_", "").replace("-", "").replace(" ", ""))
        if name is not None and (name not in found or key == name):
            found[name] = value
    return found


def _bound(value: object, parameter: str, *, end: bool) -> datetime | None:
    if values.absent(value):
        return None
    try:
        return parse_bound(value, parameter=parameter, end=end)
    except BadArgument as exc:
        raise BadArgument("expected_time", parameter=parameter) from exc


def _moment(value: object, parameter: str) -> datetime | None:
    try:
        return parse_moment_or_none(value, parameter=parameter)
    except BadArgument as exc:
        raise BadArgument("expected_time", parameter=parameter) from exc


def read_remember(params: object) -> RememberInput:
    """Read the parameters of ``remember``.

    Raises:
        BadArgument: one of them cannot be used; nothing was done.
    """
    given = _given("remember", params)
    content = values.text(given.get("content"), "content")
    if not content.strip():
        raise BadArgument("content_empty")
    importance, moved = values.importance(given.get("importance"), "importance", clamp=True)
    return RememberInput(
        content=content,
        tags=values.tags(given.get("tags")),
        importance=IMPORTANCE_DEFAULT if importance is None else importance,
        event_time=_moment(given.get("event_time"), "event_time"),
        importance_moved=moved,
    )


def read_recall(params: object, *, default_k: int = 5) -> RecallInput:
    """Read the parameters of ``recall_memory``; a blank filter is no filter, an unusable one is an error.

    Args:
        params: what the model sent.
        default_k: how many results when it does not say.

    Raises:
        BadArgument: one of them cannot be used.
    """
    given = _given("recall_memory", params)
    if given.get("query") is None:
        raise BadArgument("expected_text", parameter="query")
    lowest = given.get("importance_min")
    importance = (
        1 if values.number(lowest) == 0 else values.importance(lowest, "importance_min", clamp=False)[0]
    )
    return RecallInput(
        query=values.text(given["query"], "query"),
        k=values.count(given.get("top_k"), "top_k", default=default_k, highest=TOP_K_MAX),
        filters=Filters(
            sender_id=values.person(given.get("speaker_id"), "speaker_id"),
            sender_name=values.person(given.get("speaker_name"), "speaker_name"),
            time_after=_bound(given.get("time_after"), "time_after", end=False),
            time_before=_bound(given.get("time_before"), "time_before", end=True),
            importance_min=1 if importance is None else importance,
            source=fold(values.person(given.get("source"), "source")),
            statuses=values.statuses(given.get("status"), "status"),
        ),
    )


def read_profile(params: object) -> ProfileInput:
    """Read the parameters of ``update_profile``; a scope that is not clear is refused, never guessed.

    Raises:
        BadArgument: one of them cannot be used; nothing was done.
    """
    given = _given("update_profile", params)
    name = _word(given, "field", _FIELDS)
    fact_key = values.person(given.get("fact_key"), "fact_key")
    previous = values.text(given.get("previous_value"), "previous_value")
    # Of a list or of notes neither a key nor the old value says which part of it is meant.
    action = _action(given, name, whole=name != "name" and not (fact_key or previous))
    texts = values.texts(given.get("value"), "value")
    if action == "remove" and not texts and previous and not fact_key:
        texts = (previous,)
    target = values.choice(given.get("scope"), "scope", _meanings(_TARGETS), _TARGETS)
    found = ProfileInput(
        target=target or ("session" if name == "notes" else "speaker"),
        field=name,
        action=action,
        values=texts,
        fact_key=fact_key,
        previous_value=previous,
    )
    _check_values(found)
    return found


def _meanings(words: Mapping[Word, str]) -> dict[str, Word]:
    """Turn ``meaning → its words`` around."""
    return {word: meaning for meaning, group in words.items() for word in group.split()}


def _word(given: Mapping[str, object], parameter: str, words: Mapping[Word, str]) -> Word:
    found = values.choice(given.get(parameter), parameter, _meanings(words), words)
    if found is None:
        raise values.expected_choice(parameter, words)
    return found


def _action(given: Mapping[str, object], name: ProfileField, *, whole: bool) -> ProfileAction:
    word = values.choice(given.get("action"), "action", _meanings(_ACTIONS), ("set", "add", "remove"))
    if word is None:
        raise values.expected_choice("action", ("set", "add", "remove"))
    if word == "add" and name == "name":
        return "set"  # a name is one text
    if word == "update":
        # Of one fact, an update is a set. Of the whole it may be an addition, and a set would wipe the rest.
        if whole:
            raise BadArgument("expected_fact_key", field=name)
        return "set"
    return word


def _check_values(found: ProfileInput) -> None:
    if len(found.values) > 1 and (found.fact_key or found.field in ("name", "notes")):
        raise BadArgument("expected_one", parameter="value")
    can_do_without = found.action == "remove" and (found.fact_key or found.field == "name")
    if not found.values and not can_do_without:
        raise BadArgument("expected_value", parameter="value")


def read_forget(params: object) -> ForgetInput:
    """Read the parameters of ``forget``.

    Raises:
        BadArgument: there is no ``episode_id``.
        NotFound: ``id_malformed``, it is none.
    """
    given = _given("forget", params)
    value = given.get("episode_id")
    # A text is taken as it stands: "undefined" is something sent as an id, and there is no such memory.
    episode_id = value if isinstance(value, str) else values.text(value, "episode_id")
    if not episode_id.strip():
        raise BadArgument("expected_id", parameter="episode_id", example=EXAMPLE)
    return ForgetInput(normalize_id(episode_id))
