"""Start, stop, kill and restart a real LangBot in a folder.

    with Host(Path("build/hosts/demo"), "4.11.2") as host:
        print(host.url)

The host listens on loopback only, on ports chosen at start, and needs no network. A supervisor process ends
the whole process tree when this process stops it, ends, crashes or is killed (see ``supervisor.py``), and a
start first ends whatever an earlier run left in the same folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
import urllib.error
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from playground import envs, processes
from playground.rest import LOOPBACK

VERSIONS = ("4.11.2", "4.10.11")
"""Supported LangBot versions, the default one first."""

_T = TypeVar("_T")
_HERE = Path(__file__).resolve().parent
_RUNTIME_READY = re.compile(r"Connected to (instance-scoped )?plugin runtime", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PLATFORMS = {"http_bot", "websocket", "web_page_bot"}
"""Ways to talk to a driven host: its bots, the WebUI's debug chat."""
_PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}


class HostError(RuntimeError):
    """A host did not start or stop; the message ends with what its log said last."""


class Host:
    """One LangBot in one folder.

    Attributes:
        home: The working folder; data, database and log live there and survive a restart.
        version: The LangBot version, one of ``VERSIONS``.
        port: The HTTP port of the running host, 0 before the first start.
    """

    def __init__(
        self,
        home: Path,
        version: str = VERSIONS[0],
        *,
        python: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Describe a host; nothing is started yet.

        Args:
            home: Working folder, created when missing.
            version: One of ``VERSIONS``.
            python: Interpreter with that LangBot installed; by default the one of the ``host-<version>``
                environment, which must have been built (``python -m playground.envs``).
            env: More environment variables for the host, such as ``VDB__USE``.
        """
        if version not in VERSIONS:
            raise ValueError(f"unknown LangBot version {version!r}; known are {', '.join(VERSIONS)}")
        self.home = home.absolute()
        self.version = version
        self.port = 0
        self.debug_port = 0
        self._python = python or envs.python_of(f"host-{version}")
        self._env = dict(env or {})
        self._supervisor: subprocess.Popen[bytes] | None = None

    @property
    def generation(self) -> tuple[int, int]:
        """Major and minor version, for what differs between the generations."""
        major, minor, _ = self.version.split(".")
        return int(major), int(minor)

    @property
    def url(self) -> str:
        """Base address of the WebUI and the HTTP API, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        """Whether the supervised host process runs."""
        return (
            self._supervisor is not None and self._supervisor.poll() is None and self._host_pid() is not None
        )

    def start(self, *, timeout: float = 240.0) -> Self:
        """Start the host and wait until it answers and its plugin runtime is connected.

        Args:
            timeout: Seconds until giving up. A start takes 10 to 25 s on two idle cores, several times that
                on busy ones.

        Raises:
            HostError: when it is running already, ends early or is not ready in time.
        """
        if self.running:
            raise HostError(f"the host in {self.home} is running already")
        if not self._python.exists():
            raise HostError(f"{self._python} is missing: run python -m playground.envs host-{self.version}")
        self.home.mkdir(parents=True, exist_ok=True)
        self.end_leftovers()
        # The WebUI's address may be bookmarked (and the bots' addresses noted), so keep the ports over a
        # restart.
        self.port = self.port if _is_free(self.port) else free_port()
        self.debug_port = self.debug_port if _is_free(self.debug_port) else free_port()
        mark, marks = self.log_mark(), {path: path.stat().st_size for path in self._own_logs()}
        with self._log_path.open("ab") as log:
            self._supervisor = subprocess.Popen(
                [
                    sys.executable,
                    str(_HERE / "supervisor.py"),
                    str(self.home),
                    "--",
                    str(self._python),
                    "-m",
                    "langbot",
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment(),
                start_new_session=True,
            )
        try:
            self._wait_ready(mark, marks, timeout)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self, *, timeout: float = 60.0) -> None:
        """End the host and everything it started; a stopped host is left as it is."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            if supervisor.stdin is not None:
                supervisor.stdin.close()
            try:
                supervisor.wait(timeout)
            except subprocess.TimeoutExpired:
                processes.end([row.pid for row in processes.descendants(supervisor.pid)] + [supervisor.pid])
                supervisor.wait(5)
        self.end_leftovers()

    def restart(self, *, timeout: float = 240.0) -> Self:
        """Stop and start again with the same data."""
        self.stop()
        return self.start(timeout=timeout)

    def kill(self) -> None:
        """SIGKILL the host process, as an out-of-memory kill would; returns once all of it is gone."""
        pid = self._host_pid()
        if pid is None:
            raise HostError(f"the host in {self.home} is not running")
        os.kill(pid, signal.SIGKILL)
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is not None:
            supervisor.wait(60)

    def kill_worker(self, plugin: str) -> int:
        """SIGKILL the worker process of *plugin* (``author/name``).

        Returns:
            The pid that was killed. The runtime may start a new worker afterwards.

        Raises:
            HostError: when no worker of that plugin is found.
        """
        pid = self.worker_pid(plugin)
        if pid is None:
            raise HostError(f"no worker of {plugin} is running")
        os.kill(pid, signal.SIGKILL)
        return pid

    def worker_pid(self, plugin: str) -> int | None:
        """Return the pid of the worker process of *plugin* (``author/name``), or None when there is none."""
        tag = f" --tag {plugin} "
        return next((row.pid for row in self.processes() if tag in row.command + " "), None)

    def processes(self) -> list[processes.Process]:
        """Return the processes of this host: the host itself, the plugin runtime, one worker per plugin."""
        return [] if self._supervisor is None else processes.descendants(self._supervisor.pid)

    def installed_plugins(self) -> list[str]:
        """Return the enabled plugins (``author/name``) that the host's database lists, also when it is
        stopped.

        After a start the HTTP API lists a plugin only once its worker is up, so it cannot say what to wait
        for.
        """
        database = self.home / "data" / "langbot.db"
        if not database.exists():
            return []
        with contextlib.closing(
            sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
        ) as connection:
            rows = connection.execute(
                "SELECT plugin_author, plugin_name FROM plugin_settings WHERE enabled = 1"
            )
            return sorted(f"{author}/{name}" for author, name in rows)

    def end_leftovers(self) -> None:
        """End what a killed earlier run left in this folder: it would hold ports and databases."""
        own = {row.pid for row in self.processes()}
        stale = [row.pid for row in processes.working_in(self.home, "langbot") if row.pid not in own]
        processes.end(stale, grace=2.0)

    def erase(self) -> None:
        """Delete the folder of the stopped host, with the read-only plugin artifacts in it."""
        if self.running:
            raise HostError("stop the host before erasing its folder")
        if self.home.exists():
            erase_folder(self.home)

    # The log holds the host's lines and, through the plugin runtime, those of the plugin workers.

    def log_mark(self) -> int:
        """Return a position in the log for ``log_since``."""
        return self._log_path.stat().st_size if self._log_path.exists() else 0

    def log_since(self, mark: int) -> str:
        """Return what was logged after *mark*, without colour codes."""
        if not self._log_path.exists():
            return ""
        with self._log_path.open("rb") as log:
            log.seek(mark)
            return _COLOUR.sub("", log.read().decode("utf-8", errors="replace"))

    def log_text(self) -> str:
        """Return the whole log of this folder, earlier runs included."""
        return self.log_since(0)

    def wait_for_log(self, pattern: str, *, mark: int = 0, timeout: float = 30.0) -> re.Match[str]:
        """Wait until the log after *mark* matches the regular expression *pattern*.

        Raises:
            HostError: when it does not within *timeout* seconds.
        """
        found = wait_until(lambda: re.search(pattern, self.log_since(mark)), timeout)
        if found is None:
            raise HostError(f"the log never said {pattern!r}; it ends with:\n{self._log_tail()}")
        return found

    def wait_for_quiet_log(self, quiet: float = 0.3, timeout: float = 5.0) -> None:
        """Wait until nothing was logged for *quiet* seconds, *timeout* seconds at most."""
        end, size, since = time.monotonic() + timeout, self.log_mark(), time.monotonic()
        while time.monotonic() < min(end, since + quiet):
            time.sleep(0.05)
            if self.log_mark() != size:
                size, since = self.log_mark(), time.monotonic()

    def __enter__(self) -> Self:
        """Start the host."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the host, also after an error or Ctrl-C."""
        self.stop()

    @property
    def _log_path(self) -> Path:
        return self.home / "host.log"

    def _log_tail(self, lines: int = 25) -> str:
        return "\n".join(self.log_text().splitlines()[-lines:])

    def _host_pid(self) -> int | None:
        if self._supervisor is None:
            return None
        below = [row for row in processes.table().values() if row.parent == self._supervisor.pid]
        return next((row.pid for row in below if row.command.endswith("-m langbot")), None)

    def _environment(self) -> dict[str, str]:
        own = {key: value for key, value in os.environ.items() if key.lower() not in _PROXIES}
        own.pop("VIRTUAL_ENV", None)
        return own | {
            "PYTHONPATH": str(_HERE / "site"),
            "PYTHONUNBUFFERED": "1",
            "PLAYGROUND_DEBUG_PORT": str(self.debug_port),
            "API__HOST": "127.0.0.1",
            "API__PORT": str(self.port),
            "API__WEBHOOK_PREFIX": self.url,
            "BOX__ENABLED": "false",
            "SPACE__DISABLE_MODELS_SERVICE": "true",
            "SPACE__DISABLE_TELEMETRY": "true",
            "PLUGIN__ENABLE_MARKETPLACE": "false",
            "PLUGIN__DISPLAY_PLUGIN_DEBUG_URL": f"ws://127.0.0.1:{self.debug_port}/plugin/debug/ws",
            "SYSTEM__DISABLED_ADAPTERS": ",".join(_other_platforms(self._python)),
            "ANONYMIZED_TELEMETRY": "False",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "HF_HUB_OFFLINE": "1",
            **self._env,
        }

    def _own_logs(self) -> list[Path]:
        return sorted((self.home / "data" / "logs").glob("langbot-*.log"))

    def _runtime_connected(self, mark: int, marks: Mapping[Path, int]) -> bool:
        """Whether the host has said so since these places in its output and in its own log files.

        With Milvus a 4.11 host says nothing on its output: pymilvus sets up logging anew when it is imported, which
        closes the host's console handler for good. The log files are opened again.
        """
        if _RUNTIME_READY.search(self.log_since(mark)):
            return True
        for path in self._own_logs():
            with path.open("rb") as log:
                log.seek(marks.get(path, 0))
                if _RUNTIME_READY.search(log.read().decode("utf-8", errors="replace")):
                    return True
        return False

    def _wait_ready(self, mark: int, marks: Mapping[Path, int], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if self._supervisor is None or self._supervisor.poll() is not None:
                raise HostError(f"the host ended while starting:\n{self._log_tail()}")
            if self._runtime_connected(mark, marks) and _answers(f"{self.url}/api/v1/system/info"):
                return
            time.sleep(0.2)
        raise HostError(f"the host was not ready after {timeout:.0f} s:\n{self._log_tail()}")


def _other_platforms(python: Path) -> list[str]:
    """Return the chat platforms nobody talks to a driven host over; importing their SDKs is half of a start."""
    found = []
    folders = [folder / "langbot/pkg/platform" for folder in envs.site_folders(python)]
    for manifest in (path for folder in folders for path in folder.glob("**/*.yaml")):
        text = manifest.read_text(encoding="utf-8")
        name = re.search(r"^metadata:\s+name: *(\S+)", text, re.MULTILINE)
        if "kind: MessagePlatformAdapter" in text and name and name[1] not in _PLATFORMS:
            found.append(name[1])
    return sorted(found)


def free_port() -> int:
    """Return a TCP port that is free on loopback now; nobody reserves it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(probe: Callable[[], _T | None], timeout: float, *, every: float = 0.1) -> _T | None:
    """Call *probe* until it returns something true; returns that, or None after *timeout* seconds."""
    deadline = time.monotonic() + timeout
    while True:
        value = probe()
        if value or time.monotonic() > deadline:
            return value or None
        time.sleep(every)


def erase_folder(folder: Path) -> None:
    """Delete *folder* although a host made parts of it read-only."""
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(parent, name)
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(folder)


def _is_free(port: int) -> bool:
    if not port:
        return False
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _answers(url: str) -> bool:
    try:
        with LOOPBACK.open(url, timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
