"""The other end of ``process.py``: opens one backend and answers calls until its standard input ends.

python -m playground.engines.worker BACKEND FOLDER [ADDRESS_OF_POSTGRES]
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from .backends import Backend, open_in_process
from .faults import VECTOR_CALLS
from .process import CLOSE_SECONDS, read_message, write_message


async def _answer(backend: Backend, message: dict[str, Any], out: IO[bytes]) -> None:
    name, arguments = message["call"], message["arguments"]
    try:
        answer: Any
        if name in VECTOR_CALLS:
            answer = await getattr(backend.service, name)(backend.context, *arguments)
        else:
            answer = await getattr(backend, name)(*arguments)
        write_message(out, {"id": message["id"], "answer": answer})
    except Exception as exc:
        write_message(out, {"id": message["id"], "error": [type(exc).__name__, str(exc)]})


async def _serve(backend: Backend, calls: IO[bytes], out: IO[bytes]) -> None:
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    running: set[asyncio.Task[None]] = set()

    def start(message: dict[str, Any]) -> None:
        task = asyncio.ensure_future(_answer(backend, message, out))
        running.add(task)
        task.add_done_callback(running.discard)

    def read() -> None:
        while (message := read_message(calls)) is not None:
            loop.call_soon_threadsafe(start, message)
        loop.call_soon_threadsafe(ended.set)
        # An engine that hangs must not outlive whoever started it.
        time.sleep(CLOSE_SECONDS)
        os._exit(3)

    threading.Thread(target=read, daemon=True).start()
    await ended.wait()
    await backend.close()


def _leave_out_the_rest_of_the_host() -> None:
    """Keep the vector classes from importing all of LangBot, which they need for one type annotation.

    That takes two thirds of a start: 5 s of processor time.
    """
    application = ModuleType("langbot.pkg.core.app")
    application.__dict__["Application"] = object
    sys.modules[application.__name__] = application


def main() -> None:
    """Run until standard input ends."""
    name, folder, *address = sys.argv[1:]
    _leave_out_the_rest_of_the_host()
    # What a library prints must not get between the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        backend = open_in_process(name, Path(folder), postgres=address[0] if address else None)
    except Exception as exc:
        write_message(out, {"id": 0, "error": [type(exc).__name__, str(exc)]})
        raise
    write_message(out, {"id": 0, "answer": None})
    asyncio.run(_serve(backend, sys.stdin.buffer, out))


if __name__ == "__main__":
    main()
