"""JSON over HTTP for the host's API: one request, one answer, errors that say what the host said."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping
from typing import Any

LOOPBACK = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Opens addresses of this machine, past whatever proxy the environment names."""


class ApiError(RuntimeError):
    """The host refused or failed a request.

    Attributes:
        status: HTTP status; 200 when the host refused inside a normal answer.
        answer: The decoded answer, or its text under ``raw``.
    """

    def __init__(self, method: str, path: str, status: int, answer: dict[str, Any]) -> None:
        """Describe the failed request."""
        super().__init__(f"{method} {path} -> {status}: {json.dumps(answer, ensure_ascii=False)[:600]}")
        self.status = status
        self.answer = answer


class Rest:
    """A session with one server."""

    def __init__(self, base: str) -> None:
        """Talk to the server at *base* (no trailing slash)."""
        self.base = base
        self.token = ""

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        upload: tuple[str, bytes] | None = None,
        timeout: float = 120.0,
    ) -> Any:
        """Send one request and return the ``data`` part of the answer.

        Args:
            method: HTTP method.
            path: Path below the base address, starting with ``/``.
            body: Sent as JSON, or as form fields when *upload* is given.
            upload: File name and content, sent as the multipart field ``file``.
            timeout: Seconds until the request is given up.

        Raises:
            ApiError: for any HTTP error and for answers with a ``code`` other than 0.
        """
        data, kind = _encode(body, upload)
        headers = {"Content-Type": kind} if data is not None else {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.base + path, data=data, method=method, headers=headers)
        try:
            with LOOPBACK.open(request, timeout=timeout) as response:
                answer = _decode(response.read())
        except urllib.error.HTTPError as error:
            raise ApiError(method, path, error.code, _decode(error.read())) from None
        if answer.get("code", 0) != 0:
            raise ApiError(method, path, 200, answer)
        return answer.get("data")

    def get(self, path: str, **options: Any) -> Any:
        """GET *path*; see ``call``."""
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        """POST *body* to *path*; see ``call``."""
        return self.call("POST", path, {} if body is None else body, **options)

    def put(self, path: str, body: Any = None, **options: Any) -> Any:
        """PUT *body* to *path*; see ``call``."""
        return self.call("PUT", path, {} if body is None else body, **options)

    def delete(self, path: str, **options: Any) -> Any:
        """DELETE *path*; see ``call``."""
        return self.call("DELETE", path, **options)


def _encode(body: Any, upload: tuple[str, bytes] | None) -> tuple[bytes | None, str]:
    if upload is None:
        return (None if body is None else json.dumps(body).encode(), "application/json")
    boundary = uuid.uuid4().hex
    fields: Mapping[str, Any] = body or {}
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    name, content = upload
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/octet-stream\r\n\r\n"
    )
    parts.append(head.encode() + content + f"\r\n--{boundary}--\r\n".encode())
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def _decode(content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content or b"{}")
    except ValueError:
        return {"raw": content.decode("utf-8", errors="replace")}
    return answer if isinstance(answer, dict) else {"data": answer}
