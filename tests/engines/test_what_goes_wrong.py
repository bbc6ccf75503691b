"""The strict double is as strict as the real backends together, and not for reasons of the past."""

from __future__ import annotations

import pytest

from playground.engines import HostError
from tests.support.real_engines import ENGINES, Engine
from tests.support.strict_host import StrictHost
from tests.support.wrong_shapes import KEPT, SHAPES, Outcome, Shape, put

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_the_strict_double_refuses(shape: Shape) -> None:
    api = StrictHost()
    if not shape.fresh:
        await put(api, "kb", *KEPT)
    with pytest.raises(HostError, match="RefusedError"):
        await shape.run(api, "kb")


async def _outcome(shape: Shape, engine: Engine) -> Outcome | None:
    try:
        answer = await shape.run(engine.api, engine.collection)
    except HostError:
        return "raises"
    return None if answer == shape.right else "wrong"


def _writing() -> list[tuple[str, Shape]]:
    """Return each writing shape on the backends where it goes wrong, and on the first where it does not."""
    cases = []
    for shape in SHAPES:
        fine = [name for name in ENGINES if name not in shape.goes_wrong]
        if not shape.reads:
            cases += [(name, shape) for name in [*shape.goes_wrong, *fine[:1]]]
    return cases


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_reads_go_wrong_where_we_say(engine: Engine) -> None:
    await put(engine.api, engine.collection, *KEPT)
    await engine.api.settle()
    shapes = [shape for shape in SHAPES if shape.reads]
    outcomes = {shape.name: await _outcome(shape, engine) for shape in shapes}
    assert outcomes == {shape.name: shape.goes_wrong.get(engine.name) for shape in shapes}


@pytest.mark.parametrize(
    ("engine", "shape"), _writing(), indirect=["engine"], ids=lambda value: getattr(value, "name", value)
)
async def test_writes_and_deletes_go_wrong_where_we_say(engine: Engine, shape: Shape) -> None:
    if not shape.fresh:
        await put(engine.api, engine.collection, *KEPT)
    assert await _outcome(shape, engine) == shape.goes_wrong.get(engine.name)
