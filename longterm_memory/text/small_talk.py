"""Messages that are not worth a recall: greetings, thanks, laughter, emoji; unless they ask to remember."""

from __future__ import annotations

import re

from .fold import fold
from .terms import is_blank

__all__ = ["skip_reason"]

_PHRASES = frozenset(
    "hi|hii|hiya|hello|hello there|hey|hey there|yo|sup|good morning|good afternoon|good evening|good night|morning|gm|gn"
    "|bye|goodbye|see you|cya|thanks|thank you|thx|ty|thanks a lot|ok|okay|k|kk|yes|no|yep|nope|sure|great|cool|nice|lol"
    "|haha|hahaha|hmm|oh|wow|test|ping|how are you|what's up|whats up"
    "|你好|您好|你好呀|你好啊|嗨|哈喽|哈啰|嘿|喂|在吗|在么|在不在|早|早上好|早安|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|谢谢"
    "|谢谢你|多谢|谢啦|好|好的|好吧|行|可以|嗯|嗯嗯|哦|噢|哈哈|哈哈哈|嘿嘿|呵呵|是|是的|不|不是|对|对的|没事|收到|测试"
    "|你好吗|大家好|辛苦了"
    "|こんにちは|こんばんは|おはよう|おはようございます|ありがとう|はい|いいえ|안녕|안녕하세요|감사합니다"
    "|hola|buenos días|buenas|gracias|xin chào|chào|cảm ơn|สวัสดี|ขอบคุณ".split("|")
)
_LAUGHTER = re.compile(r"(?:ha|he|hi|ho|lo|呵|哈|嘿|嘻|w|x|6|k|5)+l?", re.IGNORECASE)
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")


def skip_reason(text: str, command_prefixes: tuple[str, ...] = ("!", "！")) -> str:
    """Return why no recall is worth making for this message, ``""`` when one is.

    Args:
        text: the message, ``""`` for one without text (an image).
        command_prefixes: what starts a command of the host.

    Returns:
        ``command``, ``no_text``, ``greeting`` or ``""``.
    """
    stripped = text.strip()
    if any(
        stripped.startswith(p) and len(stripped) > len(p) and stripped[len(p)].isalpha()
        for p in command_prefixes
    ):
        return "command"
    if is_blank(stripped):
        return "no_text"
    core = _EDGES.sub("", fold(stripped))
    if core in _PHRASES or _LAUGHTER.fullmatch(core):
        return "greeting"
    return ""
