"""The host of the demo with everything around it: models, the packaged plugin, a bot, their traces."""

from __future__ import annotations

import contextlib
import fcntl
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playground import packages
from playground.api import LangBotApi
from playground.chat import Bot, Brain, add_bot, add_pipeline
from playground.demo.brains import DemoModels, Embeddings, Mind
from playground.demo.evidence import Evidence
from playground.demo.scenario import Place, Turn
from playground.host import VERSIONS, Host

PAGE = "memory_console"


class StageError(RuntimeError):
    """The demo cannot be set up; the message is one line."""


@dataclass
class DemoStage:
    """A running host with the plugin and a bot."""

    host: Host
    models: DemoModels
    api: LangBotApi
    bot: Bot
    embedding: str
    plugin: str

    def play(self, turn: Turn) -> Evidence:
        """Say what the turn says and collect what it leaves behind."""
        asked = len(self.models.chats)
        reply = self.bot.say(
            turn.where.id, turn.says, turn.where.kind, sender=turn.who.id, name=turn.who.name
        )
        requests = tuple(chat.messages for chat in self.models.chats[asked:])
        snapshot = self._snapshot(turn.where) if requests else {}
        prompt = {str(row.get("content")) for row in requests[0]} if requests else set()
        about_this_turn = bool(snapshot) and set(snapshot.get("blocks") or []) <= prompt
        return Evidence(reply, requests, snapshot if about_this_turn else {})

    def restart(self) -> None:
        """Stop the host completely, start it on the same data, wait for its plugins."""
        self.host.restart()
        self.api.login()
        self.warm_up()

    def warm_up(self) -> None:
        """Have the host test its embedding model, as the WebUI can.

        A host loads its model client on the first call, which on a busy machine takes longer than a turn waits for
        memories. The plugin gets over that, but the turn would be one without them.

        Raises:
            ApiError: when the model does not answer.
        """
        self.api.rest.post(f"/provider/models/embedding/{self.embedding}/test")

    @property
    def console_url(self) -> str:
        """Address of the plugin's page in the WebUI."""
        return f"{self.host.url}/home/plugin-pages?id={self.plugin}/{PAGE}"

    def _snapshot(self, place: Place) -> Mapping[str, Any]:
        """Read the plugin's record of the latest injection in *place*, out of the host's database."""
        database = f"file:{self.host.home / 'data' / 'langbot.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(database, uri=True, timeout=10)) as connection:
            row = connection.execute(
                "SELECT value FROM binary_storages WHERE owner = ? AND key = ?",
                (self.plugin, f"ltm/snapshot/{self.bot.uuid}:{place.kind}_{place.id}"),
            ).fetchone()
        try:
            found = json.loads(row[0]) if row else {}
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


@contextlib.contextmanager
def running_stage(folder: Path, mind: Mind, say: Callable[[str], None]) -> Iterator[DemoStage]:
    """Set everything up in *folder* and take it down at the end; an earlier run's remains go first.

    Args:
        folder: where the host lives.
        mind: what answers.
        say: told what is being done; it takes a while.

    Raises:
        HostError, ApiError, TaskError, PackageError, BrainError: when something does not start.
    """
    package = packages.build_product()
    host = Host(folder / "host", VERSIONS[0], env={"VDB__USE": "chroma"})
    _erase(host)
    with contextlib.ExitStack() as undo:
        embeddings = undo.enter_context(Embeddings())
        models = undo.enter_context(DemoModels(mind))
        say(f"LangBot {host.version} is starting ...")
        undo.enter_context(host)
        api = LangBotApi(host).login()
        uuids = api.add_models(models.url, embedding_url=embeddings.url)
        api.install(packages.build_plugin("mini_runner"))
        say(f"{package.name} is being installed ...")
        plugin = api.install(package)
        # The verdict is about memory, not about how busy this machine is.
        api.configure(plugin, {"recall_deadline_seconds": 30})
        kb = api.create_kb(plugin, {"embedding_model_uuid": uuids.embedding, "isolation": "session"})
        brain = Brain(llm=uuids.llm, kbs=[kb], options={"naive-rag": True, "streaming": False})
        bot = add_bot(
            api,
            add_pipeline(api, brain, name="demo"),
            name="demo bot",
            callback_url=models.callback_url,
            reply_timeout=240 if mind.real else 60,
        )
        stage = DemoStage(host, models, api, bot, uuids.embedding, plugin)
        stage.warm_up()
        say("the embedding model answers")
        yield stage


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold *folder* for this process; the lock goes with the process, however it ends.

    Raises:
        StageError: when another demo holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StageError(f"another demo is running in {folder}; stop it first") from None
        yield


def _erase(host: Host) -> None:
    """End what a killed run left, and delete its folder; its host may need a moment to go."""
    deadline = time.monotonic() + 20
    while True:
        host.end_leftovers()
        try:
            host.erase()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
            return
