"""What was found out is what is committed; the last test of each engine."""

from __future__ import annotations

import pytest

from playground.compatibility import committed
from tests.support.conformance import Outcomes
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine


async def test_outcomes_are_the_committed_ones(engine: Engine, outcomes: Outcomes) -> None:
    if outcomes.complete:  # a part of the checks says nothing about the whole
        assert outcomes.as_json() == committed().get(engine.name), "run make backends"
