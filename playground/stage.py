"""A host with everything around it that a conversation needs: model server, models, runner, bots.

with Stage(Path("build/hosts/demo")) as stage:
    bot = stage.bot()
    print(bot.say("alice", "hello"))
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from playground import packages
from playground.api import LangBotApi, Models
from playground.chat import Bot, Brain, add_bot, add_pipeline, bind_plugins
from playground.host import VERSIONS, Host
from playground.model_server import ModelServer

AGENTIC_RAG = "AgenticRAG"
"""How the names of plugins end that empty the list of knowledge bases; a test may install one twice."""


class Stage:
    """A started host, logged in, with a chat and an embedding model and, on 4.11, the playground's runner.

    Attributes:
        host: The host process.
        api: Its operator's API, logged in.
        models: The model server behind its models.
        uuids: The uuids of those models on the host.
    """

    def __init__(
        self,
        home: Path,
        version: str = VERSIONS[0],
        *,
        env: Mapping[str, str] | None = None,
        python: Path | None = None,
        models: ModelServer | None = None,
        embedding_url: str | None = None,
    ) -> None:
        """Describe a stage; ``with`` sets it up.

        Args:
            home: Folder of the host; an existing one is deleted first.
            version: LangBot version.
            env: More environment variables for the host, such as ``VDB__USE``.
            python: Interpreter with that LangBot, instead of the one of ``host-<version>``.
            models: Model server to use instead of a new one.
            embedding_url: Endpoint (with ``/v1``) for embeddings, instead of the model server.
        """
        self.host = Host(home, version, env=env, python=python)
        self.models = models or ModelServer()
        self.uuids = Models("", "")
        self.api: LangBotApi
        self._embedding_url = embedding_url
        self._cleanup = contextlib.ExitStack()

    def bot(
        self,
        *,
        kbs: Sequence[str] = (),
        answer_all: bool = True,
        reply_timeout: int = 60,
        plugins: Sequence[str] | None = None,
        **options: Any,
    ) -> Bot:
        """Create a bot with a pipeline of its own.

        Args:
            kbs: Uuids of the knowledge bases to attach.
            answer_all: Whether everything said in a group is answered.
            reply_timeout: Seconds until a message without a reply is given up.
            plugins: The plugins (``author/name``) the pipeline may use. By default all, except that
                AgenticRAG must be named: it would take retrieval away from every pipeline.
            options: Settings of the runner with ``_`` for ``-``, such as ``naive_rag=False`` or
                ``streaming=True`` (4.11 only; the local agent of 4.10 always streams to this adapter).
        """
        settings = {name.replace("_", "-"): value for name, value in options.items()}
        brain = Brain(llm=self.uuids.llm, kbs=kbs, options=settings)
        pipeline = add_pipeline(self.api, brain, answer_all=answer_all)
        installed = self.host.installed_plugins()
        if plugins is None and any(plugin.endswith(AGENTIC_RAG) for plugin in installed):
            plugins = [plugin for plugin in installed if not plugin.endswith(AGENTIC_RAG)]
        bind_plugins(self.api, pipeline, plugins)
        return add_bot(self.api, pipeline, callback_url=self.models.callback_url, reply_timeout=reply_timeout)

    def install(self, folder: str) -> str:
        """Install ``playground/plugins/<folder>`` unless it is, and return ``author/name``.

        Leave it installed: on 4.10 an uninstalled worker is sometimes taken for a crashed one and started
        again, and the next installation of that plugin then hangs for minutes.
        """
        package = packages.build_plugin(folder)
        plugin = packages.plugin_of(package)
        return plugin if self.api.plugin(plugin) else self.api.install(package)

    def install_product(self) -> str:
        """Build and install the product and return ``author/name``."""
        return self.api.install(packages.build_product())

    def restart(self) -> None:
        """Restart the host, log in again and wait for its plugins."""
        self.host.restart()
        self.api.login()

    def probed(self, where: str | None = None, *, mark: int = 0) -> list[dict[str, Any]]:
        """Return what the probe plugin logged after *mark*, of component *where* only when given.

        A worker's lines reach the log a little later than its answers reach anybody, so this waits until nothing more
        comes.
        """
        self.host.wait_for_quiet_log()
        notes = [json.loads(line) for line in re.findall(r"\[Probe\] (\{.*\})", self.host.log_since(mark))]
        return [note for note in notes if where in (None, note["where"])]

    def __enter__(self) -> Self:
        """Start the model server and the host and set both up."""
        with contextlib.ExitStack() as undo:
            undo.enter_context(self.models)
            # Always anew: an old folder would point at the model server of an earlier run.
            self.host.end_leftovers()
            self.host.erase()
            undo.enter_context(self.host)
            self.api = LangBotApi(self.host).login()
            self._furnish()
            self._cleanup = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the host and the model server."""
        self._cleanup.close()

    def _furnish(self) -> None:
        self.uuids = self.api.add_models(self.models.url, embedding_url=self._embedding_url)
        if self.host.generation >= (4, 11):
            self.install("mini_runner")
