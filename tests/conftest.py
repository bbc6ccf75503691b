"""Settings for all tests, and how ``pytest -n`` shares them out.

Whatever shares a host or an engine stays in one worker, which starts it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from playground.host import VERSIONS
from tests.support.real_engines import engine_of

# The same examples in every run: a run says something about the change, not about luck.
# Nor about how busy the machine is.
settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def group_of(nodeid: str) -> str:
    """Return what a test has to be together with; by default the tests of its file.

    Worked out from the id, the one thing that the process that shares out knows of a test.
    """
    file, _, rest = nodeid.partition("::")
    _, _, parameters = rest.partition("[")
    folder = file.split("/")[1]
    if folder == "engines":
        engine = engine_of(parameters)
        return f"engine {engine}" if engine else file
    if file == BACKEND_HOSTS:
        return f"{file} {parameters}"
    if folder == "host" and file not in OWN_HOSTS:
        named = [version for version in VERSIONS if version in parameters]
        return f"host {named[0] if named else VERSIONS[0]}"
    return file


BACKEND_HOSTS = "tests/host/product/test_backends.py"
"""Starts a host per parameter, which no other test uses."""
OWN_HOSTS = (
    "tests/host/test_demo.py",
    "tests/host/test_playground.py",
    "tests/host/test_processes.py",
    "tests/host/test_webui_labels.py",
    "tests/host/product/test_setup_by_clicking.py",
)
"""Tests that start hosts of their own, or none."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand whole groups out, in the order of their first tests: engines and hosts take longest and come first."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return ByGroup(config, log)
