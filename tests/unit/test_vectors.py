"""Quantized unit vectors: how far a cosine can be off, and that nothing drifts."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from longterm_memory.records.vectors import Quantized, unit

DIMENSIONS = (256, 384, 512, 768, 1024, 1536, 3072)


def _units(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    scaled: np.ndarray[Any, Any] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


def _even(dimension: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return _units(rng.standard_normal((200, dimension)))


def _heavy(dimension: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return _units(rng.standard_t(3, (200, dimension)))


def test_the_error_of_a_cosine_is_bounded() -> None:
    for dimension in DIMENSIONS:
        for make, bound in ((_even, 3e-3), (_heavy, 1e-2)):
            exact = make(dimension, np.random.default_rng(dimension))
            decoded = np.stack([Quantized.of(v.astype(np.float32)).vector() for v in exact])
            truth = exact @ exact.T
            assert np.abs(decoded @ exact.T - truth).max() < bound
            assert np.abs((decoded * exact).sum(axis=1) - 1).max() < bound


@given(
    arrays(np.float32, st.integers(1, 64), elements=st.floats(-1, 1, width=32)).filter(
        lambda v: float(np.linalg.norm(v)) > 1e-3
    )
)
def test_encoding_a_decoded_vector_gives_the_same_bytes(values: np.ndarray[Any, Any]) -> None:
    first = Quantized.of(unit(values))
    read = Quantized.decode(first.encode())
    again = Quantized.of(read.vector())
    assert again.encode() == read.encode() == first.encode()
    assert float(np.linalg.norm(read.vector())) == pytest.approx(1, abs=1e-5)
    assert read.dimension == len(values)


def test_the_direction_survives_any_magnitude() -> None:
    for factor in (1e-300, 1e-12, 1.0, 1e12, 1e300):
        assert unit([3 * factor, 4 * factor]).tolist() == pytest.approx([0.6, 0.8])


def test_what_has_no_direction_is_refused() -> None:
    for values in (
        [], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0], [None, 1.0], ["a", "b"], [[1.0], [2.0]],
        [[1.0], [2.0, 3.0]], {"a": 1}, "abc", None, 1.0, [{}],
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            unit(values)


def test_what_is_no_vector_is_not_decoded() -> None:
    for text in ("", "!", "AA", "AAAA", base64.b64encode(bytes(8)).decode(), "ÿÿÿÿ"):
        with pytest.raises(ValueError):
            Quantized.decode(text)
