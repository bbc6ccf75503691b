"""Pipelines, agents and bots on a host of either generation, and talking to a bot as its users do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from playground.api import RUNNER_PLUGIN, LangBotApi
from playground.rest import Rest

Kind = Literal["person", "group"]
"""Type of a conversation."""

RUNNER = f"plugin:{RUNNER_PLUGIN}/default"
"""Runner id of the playground's own runner on 4.11."""

PROMPT = "You are a helpful assistant."


@dataclass(frozen=True)
class Brain:
    """What a pipeline or an agent thinks with."""

    llm: str
    """Uuid of the chat model."""
    kbs: Sequence[str] = ()
    """Uuids of the attached knowledge bases."""
    prompt: str = PROMPT
    runner: str = RUNNER
    """Runner id; 4.11 only (4.10 uses its local agent)."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """More settings of the runner, such as ``{"naive-rag": False, "streaming": True}``."""


@dataclass(frozen=True)
class Reply:
    """What came back for one message."""

    text: str
    """The final text. A streamed reply arrives as growing snapshots; only the last counts."""
    parts: list[dict[str, Any]]
    """Every message component as delivered, in order: snapshots, images, files."""

    @property
    def texts(self) -> list[str]:
        """The text components as delivered, snapshots included."""
        return [str(part.get("text", "")) for part in self.parts if part.get("type") == "Plain"]


@dataclass(frozen=True)
class Bot:
    """One bot on the host, driven over its http_bot adapter."""

    api: LangBotApi
    uuid: str
    pipeline: str
    """Uuid of the pipeline or agent behind it."""

    def say(
        self, session: str, text: str, kind: Kind = "person", sender: str = "", name: str = "User"
    ) -> str:
        """Send *text* and return the text of the reply; see ``send``."""
        return self.send(session, text, kind, sender, name).text

    def send(
        self,
        session: str,
        text: str,
        kind: Kind = "person",
        sender: str = "",
        name: str = "User",
        *,
        message: Sequence[Mapping[str, Any]] | None = None,
        timeout: float = 120.0,
    ) -> Reply:
        """Send a message and wait for the reply.

        Args:
            session: Id of the conversation. In a private chat it is also the sender's id, whatever *sender*
                says.
            text: What is said.
            kind: ``person`` or ``group``.
            sender: Id of who speaks in a group; the session's id when empty.
            name: Shown name of who speaks.
            message: Message components to send instead of *text*.
            timeout: Seconds until the request is given up. Without any reply the host ends it earlier, after
                the ``reply_timeout`` of ``add_bot``, and the reply is empty.

        Raises:
            ApiError: when the host refuses, for instance because a message of this session is still in work
            (409).
        """
        body: dict[str, Any] = {
            "session_id": session,
            "session_type": kind,
            "message": list(message) if message is not None else [{"type": "Plain", "text": text}],
            "sender": {"name": name} | ({"id": sender} if sender else {}),
        }
        answer = Rest(self.api.host.url).post(f"/bots/{self.uuid}/sync", body, timeout=timeout)
        parts = [part for part in _flat(answer["message"]) if isinstance(part, dict)]
        return Reply(text=_final_text(parts), parts=parts)

    def add_admin(self, session: str, kind: Kind = "person") -> None:
        """Make a conversation privileged: its commands then carry ``privilege`` 2, whoever types them."""
        self.api.rest.post(
            f"/platform/bots/{self.uuid}/admins", {"launcher_type": kind, "launcher_id": session}
        )

    def reset(self, session: str, kind: Kind = "person") -> None:
        """Drop the host's session, so that the next message starts a new conversation."""
        Rest(self.api.host.url).post(
            f"/bots/{self.uuid}/reset", {"session_id": session, "session_type": kind}
        )


def add_pipeline(api: LangBotApi, brain: Brain, *, name: str = "playground", answer_all: bool = True) -> str:
    """Create a pipeline for either generation; returns its uuid.

    Nobody is @-mentioned or quoted in replies, and the rate limit is out of the way.

    Args:
        api: The host.
        brain: What it thinks with.
        name: Shown name.
        answer_all: Answer everything said in a group; otherwise only after an @mention or the prefix ``ai``.
    """
    uuid = str(api.rest.post("/pipelines", {"name": name, "description": "made by the playground"})["uuid"])
    update_pipeline(api, uuid, brain, answer_all=answer_all)
    return uuid


def bind_plugins(api: LangBotApi, pipeline: str, plugins: Sequence[str] | None) -> None:
    """Let *pipeline* use only *plugins* (``author/name``); None means all that are installed."""
    bound = [dict(zip(("author", "name"), plugin.split("/"), strict=True)) for plugin in plugins or ()]
    body = {"enable_all_plugins": plugins is None, "bound_plugins": bound}
    api.rest.put(f"/pipelines/{pipeline}/extensions", body)


def update_pipeline(api: LangBotApi, uuid: str, brain: Brain, *, answer_all: bool = True) -> None:
    """Give the pipeline *uuid* another brain; see ``add_pipeline``."""
    found = api.rest.get(f"/pipelines/{uuid}")["pipeline"]
    config: dict[str, Any] = found["config"]
    config["trigger"]["group-respond-rules"] = {
        "at": True,
        "prefix": ["ai"],
        "regexp": [],
        "random": float(answer_all),
    }
    config["safety"]["rate-limit"] = {"window-length": 60, "limitation": 100_000, "strategy": "drop"}
    config["output"]["misc"] |= {"at-sender": False, "quote-origin": False}
    if api.host.generation >= (4, 11):
        config["ai"] = {
            "runner": {"id": brain.runner, "expire-time": 0},
            "runner_config": {brain.runner: _runner_settings(brain)},
        }
    else:
        config["ai"]["runner"] = {"runner": "local-agent", "expire-time": 0}
        config["ai"]["local-agent"] |= _runner_settings(brain)
    body = {"name": found["name"], "description": found.get("description") or "", "config": config}
    api.rest.put(f"/pipelines/{uuid}", body)


def add_agent(api: LangBotApi, brain: Brain, *, name: str = "playground agent") -> str:
    """Create an agent, which a bot can be bound to instead of a pipeline (4.11 only); returns its uuid."""
    config = {
        "runner": {"id": brain.runner, "expire-time": 0},
        "runner_config": {brain.runner: _runner_settings(brain)},
    }
    body = {"name": name, "description": "made by the playground", "kind": "agent", "config": config}
    return str(api.rest.post("/agents", body)["uuid"])


def add_bot(
    api: LangBotApi,
    target: str,
    *,
    name: str = "playground bot",
    target_type: Literal["pipeline", "agent"] = "pipeline",
    callback_url: str = "http://127.0.0.1:9/callback",
    reply_timeout: int = 60,
) -> Bot:
    """Create an enabled bot with the http_bot adapter on the pipeline or agent *target*.

    Args:
        api: The host.
        target: Uuid of the pipeline or agent.
        name: Shown name.
        target_type: What *target* is; ``agent`` needs 4.11.
        callback_url: Where replies go that no ``send`` waits for; by default nowhere.
        reply_timeout: Seconds after which ``send`` returns an empty reply; rounded to a multiple of four.
    """
    body: dict[str, Any] = {
        "name": name,
        "description": "made by the playground",
        "adapter": "http_bot",
        "adapter_config": {
            "inbound_secret": "playground",
            "outbound_secret": "",
            "callback_url": callback_url,
            "default_session_type": "person",
            "signature_required": False,
            # The adapter waits four times its callback timeout for a reply.
            "callback_timeout": max(1, reply_timeout // 4),
            "callback_max_retries": 0,
        },
        "enable": True,
    }
    if api.host.generation >= (4, 11):
        binding = {"event_pattern": "message.received", "target_type": target_type, "target_uuid": target}
        body["event_bindings"] = [binding | {"enabled": True}]
        uuid = str(api.rest.post("/platform/bots", body)["uuid"])
    else:
        body["use_pipeline_uuid"] = target
        uuid = str(api.rest.post("/platform/bots", body)["uuid"])
        # 4.10 takes the default pipeline on creation, whatever the request says.
        api.rest.put(f"/platform/bots/{uuid}", {"use_pipeline_uuid": target, "enable": True})
    return Bot(api=api, uuid=uuid, pipeline=target)


def _runner_settings(brain: Brain) -> dict[str, Any]:
    return {
        "model": {"primary": brain.llm, "fallbacks": []},
        "prompt": [{"role": "system", "content": brain.prompt}],
        "knowledge-bases": list(brain.kbs),
        **brain.options,
    }


def _flat(message: Any) -> list[Any]:
    if isinstance(message, list):
        return [part for item in message for part in _flat(item)]
    return [message]


def _final_text(parts: Sequence[Mapping[str, Any]]) -> str:
    """Join the texts, leaving out every snapshot that the next text continues."""
    texts = [str(part.get("text", "")) for part in parts if part.get("type") == "Plain"]
    laters = [*texts[1:], ""] if texts else []
    return "\n".join(
        text for text, later in zip(texts, laters, strict=True) if text and not later.startswith(text)
    )
