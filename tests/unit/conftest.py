"""What holds for all unit tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_slow_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that lies is looked at twice, without a pause in between."""
    monkeypatch.setattr("longterm_memory.records.again.READ_AGAIN", (0.0,))
