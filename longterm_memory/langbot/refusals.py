"""What the text of a failed embedding call says about why it failed: all that crosses the connection is a text.

The host names the kind of failure in its own words, and 4.10 quotes the service's answer behind them; 4.11 does not,
and speaks the language of the workspace. Measured for each HTTP status on both hosts: 400 and 422 arrive as "invalid
parameters", 413 as "API error", 429 as a rate limit, 500 and above as "unknown error".
"""

from __future__ import annotations

import re

from ..errors import EmbeddingFailed

__all__ = ["embedding_failure"]

_BUSY = (
    "Rate limit exceeded or insufficient balance",
    "Límite de solicitudes excedido o saldo insuficiente",
    "リクエスト制限を超えたか、残高が不足しています",
    "Превышен лимит запросов или недостаточно средств",
    "เกินขีดจำกัดคำขอหรือยอดเงินไม่เพียงพอ",
    "Vượt giới hạn yêu cầu hoặc số dư không đủ",
    "请求过于频繁或余额不足",
    "請求過於頻繁或餘額不足",
    "RateLimitError",
    "Too Many Requests",
    "rate limit",
)
_REFUSED = (
    *("Invalid request parameters", "Context length exceeded", "API error"),
    *("Parámetros de solicitud no válidos", "Se superó el límite de contexto", "Error de API"),
    *("リクエストのパラメータが無効です", "コンテキスト長の上限を超えました", "API エラー"),
    *("Некорректные параметры запроса", "Превышена длина контекста", "Ошибка API"),
    *("พารามิเตอร์คำขอไม่ถูกต้อง", "ความยาวบริบทเกินขีดจำกัด", "ข้อผิดพลาด API"),
    *("Tham số yêu cầu không hợp lệ", "Đã vượt quá độ dài ngữ cảnh", "Lỗi API"),
    *("请求参数错误", "上下文长度超限", "API 错误"),
    *("請求參數錯誤", "上下文長度超出限制", "API 錯誤"),
    *("BadRequestError", "UnprocessableEntity", "batch size", "context length", "too large"),
)
_SERVER = re.compile(r"Error code: 5\d\d|InternalServerError|ServiceUnavailable|BadGateway")
"""In what 4.10 quotes: the service is down, whatever else it says."""
_ANSWERED = "[EmbeddingError/"
"""How the host marks what the model's requester raised, in contrast to a connection that failed or was late."""
_SILENT = ("timed out", "timeout", "Connection failed", "APIConnectionError", "连接", "連線", "超时", "逾時")


def _any(phrases: tuple[str, ...], text: str) -> bool:
    return any(phrase.casefold() in text for phrase in phrases)


def embedding_failure(exc: Exception) -> EmbeddingFailed:
    """Return what a failed embedding call means.

    Returns:
        ``embedding_busy`` (too many requests; ``seconds`` is a guess), ``embedding_refused`` (the service will not
        take these texts) or ``embedding_down``, with ``answered`` when something answered at all.
    """
    said = str(exc).casefold()
    if _any(_BUSY, said) or re.search(r"\b429\b", said):
        return EmbeddingFailed("embedding_busy", seconds=1)
    if _any(_REFUSED, said) and not _SERVER.search(str(exc)):
        return EmbeddingFailed("embedding_refused")
    if _ANSWERED.casefold() in said and not _any(_SILENT, said):
        return EmbeddingFailed("embedding_down", answered=True)
    return EmbeddingFailed("embedding_down")
