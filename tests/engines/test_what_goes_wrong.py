"""The strict double is as strict as the real backends together, and not for reasons of the past."""

from __future__ import annotations

import pytest

from playground.engines import HostError
from tests.support.real_engines import ENGINES, Engine
from tests.support.strict_host import StrictHost
from tests.support.wrong_shapes import KEPT, SHAPES, Shape, put


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_the_strict_double_refuses(shape: Shape) -> None:
    api = StrictHost()
    if not shape.fresh:
        await put(api, "kb", *KEPT)
    with pytest.raises(HostError, match="RefusedError"):
        await shape.run(api, "kb")


def _cases() -> list[tuple[str, Shape]]:
    """Return each shape on the backends where it goes wrong, and on the first where it does not."""
    cases = []
    for shape in SHAPES:
        fine = [name for name in ENGINES if name not in shape.goes_wrong]
        cases += [(name, shape) for name in [*shape.goes_wrong, *fine[:1]]]
    return cases


@pytest.mark.parametrize(
    ("engine", "shape"), _cases(), indirect=["engine"], ids=lambda value: getattr(value, "name", value)
)
async def test_real_backends_go_wrong_where_we_say(engine: Engine, shape: Shape) -> None:
    if not shape.fresh:
        await put(engine.api, engine.collection, *KEPT)
    expected = shape.goes_wrong.get(engine.name)
    if expected == "raises":
        with pytest.raises(HostError):
            await shape.run(engine.api, engine.collection)
        return
    answer = await shape.run(engine.api, engine.collection)
    assert (answer == shape.right) == (expected is None)
