"""The strict double is as strict as the real backends together, and not for reasons of the past."""

from __future__ import annotations

from uuid import uuid4

import pytest

from playground.engines import HostError
from tests.support.real_engines import ENGINES, Engine
from tests.support.strict_host import StrictHost
from tests.support.wrong_shapes import KEPT, SHAPES, Outcome, Shape, put

pytestmark = pytest.mark.engine


async def test_the_strict_double_refuses_every_shape() -> None:
    for shape in SHAPES:
        api = StrictHost()
        if not shape.fresh:
            await put(api, "kb", *KEPT)
        with pytest.raises(HostError, match="RefusedError"):
            await shape.run(api, "kb")
            pytest.fail(f"{shape.name} went through")


async def _outcome(shape: Shape, engine: Engine, collection: str) -> Outcome | None:
    try:
        answer = await shape.run(engine.api, collection)
    except HostError:
        return "raises"
    return None if answer == shape.right else "wrong"


def _writing(engine: str) -> list[Shape]:
    """Return the writing shapes to try there: those that go wrong, and those that it is the first to do right."""

    def first_to_do_right(shape: Shape) -> str | None:
        return next((name for name in ENGINES if shape.outcome(name) is None), None)

    shapes = [shape for shape in SHAPES if not shape.reads]
    return [
        shape
        for shape in shapes
        # What a flavour does right and its backend does not is worth a look too.
        if engine in shape.goes_wrong or shape.outcome(engine) or engine == first_to_do_right(shape)
    ]


async def test_calls_go_wrong_where_we_say(engine: Engine) -> None:
    await put(engine.api, engine.collection, *KEPT)
    await engine.api.settle()
    tried = [(shape, engine.collection) for shape in SHAPES if shape.reads]
    for shape in _writing(engine.name):
        tried.append((shape, str(uuid4())))
        if not shape.fresh:
            await put(engine.api, tried[-1][1], *KEPT)
    outcomes = {shape.name: await _outcome(shape, engine, collection) for shape, collection in tried}
    assert outcomes == {shape.name: shape.outcome(engine.name) for shape, _ in tried}
