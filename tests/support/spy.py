"""A stand-in for the SDK's API object that only remembers."""

from __future__ import annotations

from typing import Any


class Spy:
    """Has every method of the host, keeps the arguments and answers as told."""

    def __init__(self, answer: Any = None) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        async def method(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, args, kwargs))
            if isinstance(self.answer, BaseException):
                raise self.answer
            return self.answer(*args, **kwargs) if callable(self.answer) else self.answer

        return method
