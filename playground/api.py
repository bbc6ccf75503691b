"""A typed client of the host's HTTP API: account, models, plugins, knowledge bases, pages.

Pipelines, agents, bots and talking to them are in ``playground.chat``.
"""

from __future__ import annotations

import contextlib
import time
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from playground.host import Host
from playground.packages import identity
from playground.rest import ApiError, Rest

USER = "admin@example.com"
PASSWORD = "playground-1!"  # noqa: S105 - the login of a throw-away host on loopback
RUNNER_PLUGIN = "playground/MiniRunner"


class TaskError(RuntimeError):
    """A background task of the host (plugin operation, file import) failed."""


@dataclass(frozen=True)
class Models:
    """The uuids of the models a host was given."""

    llm: str
    embedding: str


class LangBotApi:
    """The operator's side of one running host."""

    def __init__(self, host: Host) -> None:
        """Talk to *host*; call ``login`` first."""
        self.host = host
        self.rest = Rest(f"{host.url}/api/v1")
        self.workspace = ""

    def login(self, user: str = USER, password: str = PASSWORD) -> Self:
        """Create the first account when there is none, log in, skip the WebUI's welcome wizard, await the
        plugins.

        Call it again after a restart of the host.

        Raises:
            ApiError: for a wrong password.
            TaskError: when an installed plugin is not up after a minute.
        """
        # The port may have changed over a restart.
        self.rest = Rest(f"{self.host.url}/api/v1")
        if not self.rest.get("/user/init")["initialized"]:
            self.rest.post("/user/init", {"user": user, "password": password})
        self.rest.token = self.rest.post("/user/auth", {"user": user, "password": password})["token"]
        self.workspace = self.rest.get("/workspaces/current")["workspace"]["uuid"]
        with contextlib.suppress(ApiError):
            self.rest.post("/system/wizard/completed", {"status": "skipped"})
        self.wait_plugins(*self.host.installed_plugins())
        return self

    def wait_plugins(self, *plugins: str, timeout: float = 60.0) -> None:
        """Wait until each of *plugins* (``author/name``) is up: their workers start after the host answers.

        Raises:
            TaskError: when one is not up after *timeout* seconds.
        """
        deadline = time.monotonic() + timeout
        while True:
            up = {_identity(row) for row in self.plugins() if row.get("status") == "initialized"}
            missing = sorted(set(plugins) - up)
            if not missing:
                return
            if time.monotonic() > deadline:
                raise TaskError(f"not up after {timeout:.0f} s: {', '.join(missing)}")
            time.sleep(0.1)

    def wait_task(self, task: int, *, timeout: float = 180.0) -> dict[str, Any]:
        """Wait for a background task and return its description.

        Raises:
            TaskError: when it failed (the host's state says "finished" also then) or is not done in time.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            found: dict[str, Any] = self.rest.get(f"/system/tasks/{task}")
            runtime = found.get("runtime") or {}
            if runtime.get("done"):
                if runtime.get("exception"):
                    raise TaskError(str(runtime["exception"]))
                return found
            time.sleep(0.1)
        raise TaskError(f"task {task} is not done after {timeout:.0f} s")

    # models

    def add_provider(
        self,
        base_url: str,
        *,
        name: str = "playground",
        api_key: str = "sk-playground",
        requester: str = "openai-chat-completions",
    ) -> str:
        """Add an OpenAI-compatible provider at *base_url* (with ``/v1``); returns its uuid."""
        body = {
            "name": name,
            "requester": requester,
            "base_url": base_url,
            "api_keys": [api_key],
        }
        return str(self.rest.post("/provider/providers", body)["uuid"])

    def add_llm(self, provider: str, name: str = "playground-chat") -> str:
        """Add a chat model that can call tools; returns its uuid."""
        body = {"name": name, "provider_uuid": provider, "abilities": ["func_call"], "extra_args": {}}
        return str(self.rest.post("/provider/models/llm", body)["uuid"])

    def add_embedding(self, provider: str, name: str = "playground-embedding") -> str:
        """Add an embedding model; returns its uuid."""
        body = {"name": name, "provider_uuid": provider, "extra_args": {}}
        return str(self.rest.post("/provider/models/embedding", body)["uuid"])

    def add_rerank(self, base_url: str, name: str = "playground-rerank") -> str:
        """Add a rerank model at *base_url* (with ``/v1``), of a provider of its own; returns its uuid.

        The host lets only some kinds of provider have one.
        """
        provider = self.add_provider(base_url, name=name, requester="jina-rerank")
        body = {"name": name, "provider_uuid": provider, "extra_args": {}}
        return str(self.rest.post("/provider/models/rerank", body)["uuid"])

    def add_models(self, base_url: str, *, embedding_url: str | None = None) -> Models:
        """Add a chat model at *base_url* and an embedding model there or at *embedding_url*."""
        provider = self.add_provider(base_url)
        other = self.add_provider(embedding_url, name="playground-embeddings") if embedding_url else provider
        return Models(llm=self.add_llm(provider), embedding=self.add_embedding(other))

    # plugins

    def install(self, package: Path, *, timeout: float = 180.0) -> str:
        """Install or upgrade a plugin from its ``.lbpkg`` and wait until it is listed as initialized.

        Returns:
            ``author/name`` of the plugin.

        Raises:
            TaskError: when the host could not install it. A failed upgrade removes the version that ran.
        """
        with zipfile.ZipFile(package) as content:
            author, name, version = identity(content.read("manifest.yaml").decode("utf-8"))
        task = self.rest.post("/plugins/install/local", upload=(package.name, package.read_bytes()))[
            "task_id"
        ]
        self.wait_task(task, timeout=timeout)
        plugin = f"{author}/{name}"
        self.wait_plugins(plugin)
        found = self.plugin(plugin)
        if found is None or _version(found) != version:
            raise TaskError(f"{plugin} is not at version {version} after its installation")
        return plugin

    def plugins(self) -> list[dict[str, Any]]:
        """Return the installed plugins as the host lists them."""
        return list(self.rest.get("/plugins")["plugins"])

    def plugin(self, plugin: str) -> dict[str, Any] | None:
        """Return the host's description of *plugin* (``author/name``), or None when it is not installed."""
        return next((row for row in self.plugins() if _identity(row) == plugin), None)

    def uninstall(self, plugin: str, *, delete_data: bool = False) -> None:
        """Remove *plugin* (``author/name``), its storage only with *delete_data*."""
        flag = "true" if delete_data else "false"
        self.wait_task(self.rest.delete(f"/plugins/{plugin}?delete_data={flag}")["task_id"])

    def configure(self, plugin: str, config: Mapping[str, Any]) -> None:
        """Save the settings of *plugin* and wait until it is back: saving them restarts its worker."""
        self.rest.put(f"/plugins/{plugin}/config", dict(config))
        self.wait_plugins(plugin)

    def plugin_config(self, plugin: str) -> dict[str, Any]:
        """Return the saved settings of *plugin*; empty until they were saved once."""
        return dict(self.rest.get(f"/plugins/{plugin}/config")["config"] or {})

    def page(self, plugin: str, page: str, endpoint: str, body: Any = None, *, method: str = "POST") -> Any:
        """Call the server side of a plugin's page, as the page's script does; returns its data.

        Raises:
            ApiError: when the page reports a failure.
        """
        request = {"page_id": page, "endpoint": endpoint, "method": method, "body": body}
        return self.rest.post(f"/plugins/{plugin}/page-api", request)

    # knowledge bases

    def create_kb(
        self,
        plugin: str,
        settings: Mapping[str, Any],
        *,
        name: str = "memory",
        retrieval: Mapping[str, Any] | None = None,
    ) -> str:
        """Create a knowledge base with the engine of *plugin*; returns its uuid.

        Args:
            plugin: ``author/name`` of the plugin with the engine.
            settings: Creation settings, ``embedding_model_uuid`` among them.
            name: Shown name.
            retrieval: Retrieval settings.

        Raises:
            ApiError: when the engine refuses; the host says only "internal error", the log says why.
        """
        body = {
            "name": name,
            "description": "made by the playground",
            "knowledge_engine_plugin_id": plugin,
            "creation_settings": dict(settings),
            "retrieval_settings": dict(retrieval or {"top_k": 5}),
        }
        return str(self.rest.post("/knowledge/bases", body)["uuid"])

    def kbs(self) -> list[dict[str, Any]]:
        """Return the knowledge bases."""
        return list(self.rest.get("/knowledge/bases")["bases"])

    def update_kb(self, kb: str, changes: Mapping[str, Any]) -> None:
        """Change a knowledge base; the host ignores changed creation settings."""
        self.rest.put(f"/knowledge/bases/{kb}", dict(changes))

    def delete_kb(self, kb: str) -> None:
        """Delete a knowledge base; its vectors stay unless the engine deletes them."""
        self.rest.delete(f"/knowledge/bases/{kb}")

    def upload(self, kb: str, name: str, content: bytes, *, timeout: float = 600.0) -> str:
        """Upload a document into a knowledge base and wait for the import; returns the document's id.

        Raises:
            TaskError: when the import failed.
        """
        before = {row["uuid"] for row in self.files(kb)}
        stored = self.rest.post("/files/documents", upload=(name, content))["file_id"]
        task = self.rest.post(f"/knowledge/bases/{kb}/files", {"file_id": stored})["task_id"]
        self.wait_task(task, timeout=timeout)
        added = [row["uuid"] for row in self.files(kb) if row["uuid"] not in before]
        return str(added[0]) if added else ""

    def files(self, kb: str) -> list[dict[str, Any]]:
        """Return the documents of a knowledge base with their import status."""
        return list(self.rest.get(f"/knowledge/bases/{kb}/files")["files"])

    def delete_file(self, kb: str, document: str) -> None:
        """Delete a document from a knowledge base."""
        self.rest.delete(f"/knowledge/bases/{kb}/files/{quote(document, safe='')}")

    def retrieve(
        self, kb: str, query: str, settings: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Run the WebUI's retrieve test; without *settings* the engine gets no identity at all."""
        body = {"query": query, "retrieval_settings": dict(settings or {})}
        return list(self.rest.post(f"/knowledge/bases/{kb}/retrieve", body)["results"])


@contextlib.contextmanager
def running_api(host: Host) -> Iterator[LangBotApi]:
    """Start *host*, log in, and stop it at the end."""
    with host:
        yield LangBotApi(host).login()


def _metadata(plugin: Mapping[str, Any]) -> Mapping[str, Any]:
    manifest = plugin.get("manifest") or {}
    metadata: Mapping[str, Any] = (manifest.get("manifest") or manifest).get("metadata") or {}
    return metadata


def _identity(plugin: Mapping[str, Any]) -> str:
    found = _metadata(plugin)
    return f"{found.get('author')}/{found.get('name')}"


def _version(plugin: Mapping[str, Any]) -> str:
    return str(_metadata(plugin).get("version"))
