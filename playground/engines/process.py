"""A backend in a process of its own: another Python, or one that may crash, hang or be killed.

backend = open_process("seekdb", folder)
backend.kill()       # as if the host's process had been killed; calls on their way fail
backend.restart()    # a new process on the same folder

The process (``worker.py``) opens the host's own classes. Calls go to it and come back as messages over its
standard input and output: four bytes of length, then JSON. Any number may be on their way.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import queue
import signal
import struct
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ..envs import ROOT
from .backends import Backend, Postgres, settle_seconds
from .wire import HostError

START_SECONDS = 120.0
"""How long a process may take to open its backend; 3 to 6 s on two idle cores."""
CLOSE_SECONDS = 15.0
"""How long a process may take to close its backend before it is killed."""

_LENGTH = struct.Struct(">I")


def write_message(pipe: IO[bytes], message: dict[str, Any]) -> None:
    """Write one message.

    Raises:
        TypeError, ValueError: when it is nothing that JSON can say; then nothing was written.
    """
    data = json.dumps(message).encode()
    pipe.write(_LENGTH.pack(len(data)) + data)
    pipe.flush()


def read_message(pipe: IO[bytes]) -> dict[str, Any] | None:
    """Read one message; None at the end of the pipe, also in the middle of a message."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    [length] = _LENGTH.unpack(head)
    data = pipe.read(length)
    return json.loads(data) if len(data) == length else None


class _Running:
    """One process, from its start to its end. Usable from every event loop."""

    def __init__(self, name: str, command: list[str]) -> None:
        self._name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            # Engines start processes themselves; a kill takes all of them, as with a container.
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {0: Future()}
        self._end = ""
        # Neither a full pipe nor an engine that hangs may stop the event loop of a caller.
        self._out: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, args=(pipe,), name=f"{name} {work.__name__}", daemon=True)
            for work, pipe in ((self._write, self._process.stdin), (self._read, self._process.stdout))
        ]
        opened = self._waiting[0]
        for thread in self._threads:
            thread.start()
        try:
            opened.result(START_SECONDS)
        except BaseException:
            self.kill()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self._end

    def call(self, method: str, arguments: tuple[Any, ...]) -> Future[Any]:
        """Send a call; its future fails when the process ends."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._end:
                raise HostError(self._end)
            number = next(self._numbers)
            self._waiting[number] = answer
        self._out.put({"id": number, "call": method, "arguments": arguments})
        return answer

    def close(self) -> None:
        """Let the process close its backend and end; kill it when it does not."""
        self._out.put(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(CLOSE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """SIGKILL the process and whatever it started; returns once all of it is gone."""
        if self._errors.closed:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._out.put(None)
        for thread in self._threads:
            thread.join()
        self._errors.close()

    def _write(self, pipe: IO[bytes]) -> None:
        while (message := self._out.get()) is not None:
            try:
                write_message(pipe, message)
            except OSError:  # the process is gone; the reader tells
                break
            except (TypeError, ValueError) as exc:
                self._settle(message["id"], error=exc)
        with contextlib.suppress(OSError):
            pipe.close()

    def _read(self, pipe: IO[bytes]) -> None:
        while (message := read_message(pipe)) is not None:
            if "error" in message:
                kind, text = message["error"]
                self._settle(message["id"], error=_as_raised(kind, text))
            else:
                self._settle(message["id"], value=message["answer"])
        pipe.close()
        with self._lock:
            self._end = f"ActionCallError: the process of {self._name} is gone: {self._last_words()}"
            left = list(self._waiting)
        for number in left:
            self._settle(number, error=HostError(self._end))

    def _settle(self, number: int, *, value: Any = None, error: Exception | None = None) -> None:
        with self._lock:
            answer = self._waiting.pop(number, None)
        if answer is None or not answer.set_running_or_notify_cancel():
            return  # whoever asked does not wait any more
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(error)

    def _last_words(self) -> str:
        code = self._process.wait()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        # The process shares the place in the file, so it must not be moved.
        size = os.fstat(self._errors.fileno()).st_size
        tail = os.pread(self._errors.fileno(), 2_000, max(0, size - 2_000)).decode(errors="replace")
        lines = [line.strip() for line in tail.splitlines() if line.strip()]
        return f"{how}: {lines[-1]}" if lines else how


def _as_raised(kind: str, text: str) -> Exception:
    """Return an exception that is called as the one in the process was, which the host's texts repeat."""
    made: Exception = type(kind, (Exception,), {"__module__": __name__})(text)
    return made


@dataclass
class _Remote:
    """The calls of a host's ``RAGRuntimeService``, made in a process."""

    running: _Running

    async def ask(self, method: str, *arguments: Any) -> Any:
        return await asyncio.wrap_future(self.running.call(method, arguments))

    async def vector_upsert(self, _context: object, *arguments: Any) -> None:
        await self.ask("vector_upsert", *arguments)

    async def vector_search(self, _context: object, *arguments: Any) -> Any:
        return await self.ask("vector_search", *arguments)

    async def vector_list(self, _context: object, *arguments: Any) -> Any:
        return await self.ask("vector_list", *arguments)

    async def vector_delete(self, _context: object, *arguments: Any) -> Any:
        return await self.ask("vector_delete", *arguments)


@dataclass
class ProcessBackend(Backend):
    """A backend that lives in a process of its own. Make one with :func:`open_process`."""

    command: list[str] = field(default_factory=list, repr=False)

    @property
    def pid(self) -> int:
        """The process; also the id of its process group."""
        return int(self.service.running.pid)

    @property
    def alive(self) -> bool:
        """Whether the process still runs; one that hangs does."""
        return bool(self.service.running.alive)

    def kill(self) -> None:
        """SIGKILL the process and what it started. Calls on their way fail, and so do new ones."""
        self.service.running.kill()

    def restart(self) -> None:
        """Start a new process on the same folder; an old one that still runs is killed first.

        Raises:
            HostError: when the process ends while it opens the backend.
            Exception: what opening the backend raised there, by name and text.
        """
        self.kill()
        self.service.running = _Running(self.name, self.command)

    async def count(self, collection_id: str, file_ids: Sequence[str]) -> int:
        """See :meth:`Backend.count`."""
        return int(await self.service.ask("count", collection_id, list(file_ids)))

    async def versions(self) -> dict[str, str]:
        """See :meth:`Backend.versions`."""
        found: dict[str, str] = await self.service.ask("versions")
        return found


def open_process(
    name: str, folder: Path, *, python: Path, postgres: Postgres | str | None = None
) -> ProcessBackend:
    """Open a backend in a process of its own.

    Args:
        name: one of ``BACKENDS``.
        folder: where it keeps its files; created if missing.
        python: interpreter of an environment that has the host and the engine.
        postgres: for ``pgvector``, a running server or its address. Without it one is started and stopped by
            this process: it outlives the other one, as it outlives a host.

    Raises:
        HostError: when the process ends while it opens the backend.
        Exception: what opening the backend raised there, by name and text.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = Postgres() if name == "pgvector" and postgres is None else None
    server = own or postgres
    address = server.address if isinstance(server, Postgres) else server
    command = [str(python), "-m", "playground.engines.worker", name, str(folder.absolute())]
    command += [address] if address else []
    try:
        remote = _Remote(_Running(name, command))
    except BaseException:
        if own is not None:
            own.stop()
        raise

    async def close() -> None:
        await asyncio.to_thread(remote.running.close)
        if own is not None:
            await asyncio.to_thread(own.stop)

    return ProcessBackend(
        name=name,
        service=remote,
        context=None,
        settle_seconds=settle_seconds(name),
        _close=close,
        command=command,
    )
