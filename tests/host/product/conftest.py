"""The built package, installed once per host and shared by the session; each test talks in its own conversations."""

from __future__ import annotations

import pytest

from playground.stage import Stage
from tests.support.talk import MemoryHost


@pytest.fixture(scope="session")
def installed() -> dict[str, MemoryHost]:
    """The product by host version, for those hosts that have it by now."""
    return {}


@pytest.fixture
def memory(host: Stage, installed: dict[str, MemoryHost]) -> MemoryHost:
    """The product on each supported host in turn."""
    return _on(host, installed)


@pytest.fixture
def memory_411(host_411: Stage, installed: dict[str, MemoryHost]) -> MemoryHost:
    """The product on LangBot 4.11.2."""
    return _on(host_411, installed)


@pytest.fixture(params=["4.10.11"])  # in the ids, which say in whose worker a test belongs
def memory_410(host_410: Stage, installed: dict[str, MemoryHost]) -> MemoryHost:
    """The product on LangBot 4.10.11, for what is the same on both: so that one host has not much more to do."""
    return _on(host_410, installed)


def _on(stage: Stage, installed: dict[str, MemoryHost]) -> MemoryHost:
    version = stage.host.version
    if version not in installed:
        installed[version] = MemoryHost.installed(stage)
    return installed[version]
