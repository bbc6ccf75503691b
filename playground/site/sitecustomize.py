"""Loaded by every Python process of a driven host (its folder is on their ``PYTHONPATH``).

Three adjustments of the *machine* a host sees; the host's own code stays as it is:

* no ``/.dockerenv``: inside a container a host would wait for a plugin runtime in another container;
* listeners stay on loopback: the plugin runtime binds its debug port on every interface;
* that debug port, fixed at 5401, moves to ``PLAYGROUND_DEBUG_PORT``, so several hosts can run at once.
"""

import os
import socket
from typing import Any

_DEBUG_PORT = int(os.environ.get("PLAYGROUND_DEBUG_PORT") or 0)
_exists = os.path.exists
_bind = socket.socket.bind


def _exists_outside_container(path: Any) -> bool:
    return path != "/.dockerenv" and _exists(path)


def _bind_on_loopback(self: socket.socket, address: Any) -> None:
    if self.family == socket.AF_INET and isinstance(address, tuple) and len(address) == 2:
        host, port = address
        if port == 5401 and _DEBUG_PORT:
            port = _DEBUG_PORT
        address = ("127.0.0.1" if host in ("", "0.0.0.0") else host, port)  # noqa: S104 - compared, not bound
    _bind(self, address)


os.path.exists = _exists_outside_container
socket.socket.bind = _bind_on_loopback  # type: ignore[method-assign, assignment]
