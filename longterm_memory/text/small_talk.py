"""Messages that are not worth a recall: greetings, thanks, laughter, emoji, commands."""

from __future__ import annotations

import re
import unicodedata

from .fold import fold
from .terms import is_blank

__all__ = ["skip_reason"]

_PHRASES = frozenset(
    re.split(
        r"\|",
        "hi|hii|hiya|hello|hello there|hey|hey there|yo|sup|good morning|good afternoon|"
        "good evening|good night|morning|gm|gn|bye|goodbye|see you|cya|thanks|thank you|thx|ty|"
        "thanks a lot|ok|okay|k|kk|yes|no|yep|nope|sure|great|cool|nice|lol|haha|hahaha|hmm|oh|"
        "wow|test|ping|how are you|what's up|whats up|你好|您好|你好呀|你好啊|嗨|哈喽|哈啰|嘿|喂|"
        "在吗|在么|在不在|早|早上好|早安|上午好|中午好|下午好|晚上好|晚安|再见|拜拜|谢谢|谢谢你|"
        "多谢|谢啦|好|好的|好吧|行|可以|嗯|嗯嗯|哦|噢|哈哈|哈哈哈|嘿嘿|呵呵|是|是的|不|不是|对|"
        "对的|没事|收到|测试|你好吗|大家好|辛苦了|こんにちは|こんばんは|おはよう|"
        "おはようございます|ありがとう|はい|いいえ|안녕|안녕하세요|감사합니다|hola|buenos días|"
        "buenas|gracias|xin chào|chào|cảm ơn|สวัสดี|ขอบคุณ",
    )
)
_LAUGHTER = re.compile(
    r"(?:ha|he|hi|ho|呵|哈|嘿|嘻){2,}h?|(?:lo)+l+|w{2,}|x{2,}|k{2,}|6{2,}|5{3,}|z{2,}|2333+", re.IGNORECASE
)

_IMAGE = "[Image]"
"""What a 4.11 host puts into the text for an image that the model cannot take."""


def _core(text: str) -> str:
    """Return folded text without the punctuation, emoji and spaces around it."""
    kinds = [unicodedata.category(ch)[0] for ch in text]
    start = next((at for at, kind in enumerate(kinds) if kind in "LN"), len(text))
    # A vowel sign at the end (Thai, Hindi) belongs to the word.
    end = next((at for at in range(len(text), start, -1) if kinds[at - 1] in "LNM"), start)
    return text[start:end]


def skip_reason(text: str, command_prefixes: tuple[str, ...] = ("!", "！")) -> str:
    """Return why no recall is worth making for this message, ``""`` when one is.

    Args:
        text: the message, ``""`` for one without text (an image).
        command_prefixes: what starts a command of the host.

    Returns:
        ``command``, ``no_text``, ``greeting`` or ``""``.
    """
    stripped = text.replace(_IMAGE, " ").strip()
    if any(
        p and stripped.startswith(p) and stripped[len(p) : len(p) + 1].isalpha() for p in command_prefixes
    ):
        return "command"
    if is_blank(stripped):
        return "no_text"
    core = _core(fold(stripped))
    if core in _PHRASES or _LAUGHTER.fullmatch(core):
        return "greeting"
    return ""
