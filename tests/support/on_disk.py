"""A host whose vectors and plugin storage outlive the process, as they do on a real one."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from playground.engines import EngineApi
from playground.engines.backends import open_in_process

__all__ = ["OnDisk"]


class OnDisk(EngineApi):
    """An engine in this process, with plugin storage in a file beside it.

    Args:
        name: the backend.
        folder: where both are kept.
        postgres: for ``pgvector``, the address of the server.
        **options: see :class:`~playground.engines.EngineApi`.
    """

    def __init__(self, name: str, folder: Path, *, postgres: str | None = None, **options: Any) -> None:
        backend = open_in_process(name, folder / name, postgres=postgres)
        super().__init__(backend, serial=name == "seekdb", **options)
        self._file = folder / "storage.json"
        if self._file.exists():
            stored = json.loads(self._file.read_text())
            self.values.update({key: base64.b64decode(value) for key, value in stored.items()})

    async def set_plugin_storage(self, key: str, value: bytes) -> None:
        await super().set_plugin_storage(key, value)
        self._save()

    async def delete_plugin_storage(self, key: str) -> None:
        await super().delete_plugin_storage(key)
        self._save()

    def _save(self) -> None:
        text = json.dumps({k: base64.b64encode(v).decode() for k, v in self.values.items()})
        fresh = self._file.with_suffix(".new")
        fresh.write_text(text)
        os.replace(fresh, self._file)
