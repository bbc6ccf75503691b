"""The table of :mod:`.secrets`: what secrets look like, and how people name them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["KINDS", "PLACEHOLDER", "RULES", "Rule"]

KINDS = ("private key", "API key", "token", "password", "one-time code")
"""The kinds of secrets that are told apart."""


class Rule(NamedTuple):
    """One way a secret can stand in a text.

    Attributes:
        kind: one of :data:`KINDS`.
        pattern: finds a candidate; its group ``v``, or all of it, is the secret and never empty.
        looks: whether the candidate's value looks like a secret of that kind.
    """

    kind: str
    pattern: re.Pattern[str]
    looks: Callable[[str], bool]


PLACEHOLDER = re.compile(
    r"(.)\1*|[*•.x_-]+|(?:your|my|the|some|insert|enter)[_-].*|.*[_-]here|[$%]\{?\w+\}?%?|user(?:name)?:pass(?:word)?"
    r"|pass(?:word|wd)?|pwd|secret|token",
    re.IGNORECASE,
)
"""Values that stand for a secret without being one."""

# ---------------------------------------------------------------- what a value looks like

_EDGE = "\"'`*_“”‘’«».,;:!?()[]（）。，；！？、"

_TALK_WORDS = """
    2fa a about admin-only again all already also always an and any argon2 as ask at bad base64 bcrypt
    because been being blank broken but by case-sensitive changed compromised correct default different
    difficult disabled easy empty enabled encrypted enough exactly expired expiring false fine for
    forgotten from gone good great hard hashed here hidden hint how important in incorrect insecure
    invalid it just known leaked like locked long lost managed mandatory md5 mfa missing more my n/a
    necessary needed never new no none not null oauth oauth2 obvious of off ok okay old on only optional
    or our out outdated password pending policy private protected public random readonly really redacted
    required reset revoked rotated safe salted same saved scrypt sha1 sha256 sha512 shared short simple
    so sso still stored strong such tbd that the their there this to todo too true unchanged undefined
    unique unknown unsafe unset up used utf-8 utf8 very via visible weak what when where which why with
    working wrong yes your
"""
_TALK = frozenset(_TALK_WORDS.split())
"""What follows "the password is …" in talk about passwords."""

_INFLECTED = re.compile(r"[a-z]+(?:ed|ing|able|ible|ful|less|ly|ous)", re.IGNORECASE)
_ORDINARY = re.compile(
    r"v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d.*|[A-Z]{2,10}-\d{1,6}|#\d+"
    r"|\d{1,5}(?:st|nd|rd|th|k|m|s|ms|h|d|%|x|GB|MB|KB|[- ]?bits?|[- ]?(?:char|digit|day|hour|minute)\w*)"
    r"|(?:AES|SHA|RSA|MD|ED|ES|RS|HS|P|UTF|TLS|SSL|OAuth|base|x)-?\d+",
    re.IGNORECASE,
)
"""Everyday notations: versions, dates, tickets, amounts, ciphers."""


def _talk(bare: str) -> bool:
    return bare.lower() in _TALK or bool(_ORDINARY.fullmatch(bare))


def _mixed(value: str, least: int = 5) -> bool:
    """Letters and digits, ``least`` characters or more."""
    bare = value.strip(_EDGE)
    return (
        len(bare) >= least
        and not _talk(bare)
        and any(ch.isdigit() for ch in bare)
        and any(ch.isalpha() for ch in bare)
    )


def _coded(value: str) -> bool:
    """Four characters or more with a digit, a sign or a capital inside: nothing a dictionary has."""
    bare = value.strip(_EDGE)
    return len(bare) >= 4 and not _talk(bare) and bool(re.search(r"\d|[^\w\s'’/.-]|[a-z][A-Z]", bare))


def _word(value: str) -> bool:
    """Four characters or more that are no talk; participles and adjectives are."""
    bare = value.strip(_EDGE)
    return _coded(value) or (len(bare) >= 4 and not _talk(bare) and not _INFLECTED.fullmatch(bare))


def _key(value: str) -> bool:
    """Eight characters or more with letters and digits, or sixteen that are no words."""
    bare = value.strip(_EDGE)
    if len(bare) < 8 or "://" in bare or _talk(bare):
        return False
    return _mixed(value) or (len(bare) >= 16 and not re.fullmatch(r"[A-Za-z]+(?:[-_/.][A-Za-z]+)*", bare))


def _long_key(value: str) -> bool:
    """Sixteen characters or more with letters and digits; what may follow a label without "is" or a sign."""
    return _key(value) and _mixed(value, 16)


def _phrase(value: str) -> bool:
    """Several words that do not start like talk."""
    first = value.split()[0]
    return not _talk(first) and not _INFLECTED.fullmatch(first)


def _digit(value: str) -> bool:
    return any(ch.isdigit() for ch in value)


def _any(value: str) -> bool:
    return bool(value)


# ---------------------------------------------------------------- shapes

_PEM_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}-{4,5}"
_SHAPES: tuple[tuple[str, str], ...] = (
    # Any PEM block counts, a truncated one up to the end of the text.
    ("private key", rf"-{{4,5}} ?BEGIN [A-Z0-9 ]{{0,40}}-{{4,5}}(?:[\s\S]*?{_PEM_END}|[\s\S]*)"),
    (
        "private key",
        r"\b(?:PuTTY-User-Key-File-\d[\s\S]*|b3BlbnNzaC1rZXktdjE[\w+/=\s]*|AGE-SECRET-KEY-1[A-Z0-9]+)",
    ),
    ("API key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),  # AWS
    ("API key", r"\b(?:LTAI|AKID)(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{12,40}\b"),  # Alibaba Cloud, Tencent Cloud
    ("API key", r"\b(?:AIza[\w-]{30,}|GOCSPX-[\w-]{20,})"),  # Google
    (
        "API key",
        r"\bsk-(?=[A-Za-z_-]{0,60}\d)[\w-]{16,}",
    ),  # OpenAI and those who copied the form
    ("API key", r"\b(?:[spr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[\w+/=]{16,})"),  # Stripe
    ("API key", r"\b(?:gsk|xai|pplx|r8|nvapi|tvly)[-_](?=[A-Za-z_-]{0,60}\d)[\w-]{20,}"),  # model services
    (
        "API key",
        r"\b(?:SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}|SK[0-9a-f]{32})\b",
    ),  # SendGrid, Mailgun, Twilio
    (
        "API key",
        r"\b(?:lin_api_|ntn_|dop_v1_|shp(?:at|ca|pa|ss)_|hvs\.|dapi|dp\.pt\.)(?=[A-Za-z_-]{0,60}\d)[\w-]{24,}",
    ),
    ("token", r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|gl(?:pat|rt|dt)-[\w-]{16,})"),
    ("token", r"\b(?:xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}|hooks\.slack\.com/services/[\w/]{20,})"),
    (
        "token",
        r"\b(?:hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|ya29\.[\w-]{20,}|ATATT3[\w=-]{20,})",
    ),
    ("token", r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{4,})?"),  # JWT
    (
        "token",
        r"\b\d{8,10}:AA[\w-]{30,}|\b[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}",
    ),  # bots of Telegram, Discord
    ("token", r"\b(?:Bearer|bearer|Basic)\s+(?=[A-Za-z._~+/-]{0,60}\d)(?P<v>[\w.~+/-]{12,}=*)"),
    (
        "token",
        r"[?&](?:(?:access_|auth_|refresh_|id_)?token|api_?key|key|sig|signature|secret)=(?P<v>[^\s&#]{8,})",
    ),
    ("password", r"[?&](?:password|passwd|pwd)=(?P<v>[^\s&#]{3,})"),
    ("password", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,60}:(?P<v>[^\s/@]{3,80})@"),
)

# ---------------------------------------------------------------- statements: label, link, value

_L, _R = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_PRE, _POST = r"(?:\w{1,40}[_-])?", r"(?:[_-]\w{1,40})?"  # DB_PASSWORD, api_key_prod

_PASSWORDS = r"(?:pass[\s_-]?(?:word|wd|code|phrase)s?|pwd|psw|(?:log[\s-]?in|root|admin|wi-?fi)\s+pass)"
_KEY = (
    r"(?:(?:api|access|secret|deploy(?:ment)?|licen[cs]e|ssh|encryption|signing|master|product|activation"
    r"|account|service|shared|webhook|app|client|aws|openai|stripe)[\s_-]{0,2}(?:key|secret)(?:[\s_-]?id)?s?"
    r"|secret[\s_-]access[\s_-]key)"
)
_TOKENS = (
    r"(?:(?:auth(?:orization|entication)?|access|refresh|bearer|bot|session|personal|jwt|csrf)?[\s_-]?token"
    r"|secret|cookie)"
)
_CODE = (
    r"(?:(?:verification|security|confirmation|one[\s-]?time|log[\s-]?in|sign[\s-]?in"
    r"|auth(?:entication|orization)?|2fa|mfa|otp|sms|access|authenticator|backup|recovery)\s*(?:pass)?code"
    r"|otp|passcode)"
)
_PLAIN_CODE = (
    r"(?:your|enter|use|type)\s+(?:the\s+)?(?:(?!zip|post|area|country|dial|error|exit|status|promo|discount"
    r"|coupon|order|booking|tracking|product|tax|room|colou?r)\w+\s+)?code"
)
_ZH_PASSWORDS = r"(?:密码|密碼|口令|通行码|通行碼)"
_ZH_KEY = (
    r"(?:密钥|密鑰|秘钥|秘鑰|私钥|私鑰|令牌|凭证|憑證|授权码|授權碼|激活码"
    r"|(?:api|access|secret|app)[\s_-]?(?:key|secret)|token)"
)
_ZH_CODE = (
    r"(?:(?:验证|驗證|校验|校驗|动态|動態|确认|確認|认证|認證|安全|登录|登錄|短信|簡訊)(?:码|碼)"
    r"|(?:动态|動態|一次性)(?:密码|密碼|口令))"
)

_NOW = r"(?:\s+(?:now|still|currently|just|simply|called|always|again|probably))?"
_IS = (
    rf"(?:\s+(?:is|was|are|becomes|remains|will\s+be){_NOW}(?:\s*:)?\s+"
    r"|\s+(?:(?:was|is|has\s+been|got)\s+)?(?:changed|set|reset|updated|rotated)\s+to\s+)"
)
_SIGN = r"(?:\s*[\"'`]?\s*(?:[:=]|=>|->|→)\s*)"
_OF = r"(?:\s+(?:for|of|to|on|at|in)\s+[\w@'’.-]{1,30}(?:\s+[\w@'’.-]{1,30}){0,3}?)?"
_ZH_IS = (
    r"(?:\s*(?:(?:已经?|现在|現在|目前|就|暂时|暫時|被|统一)?"
    r"(?:是|为|為|叫|(?:改|设|設|换|換|重置|变|變)(?:成|为|為))了?|[:=])[:\s]*)"
)

_VALUE = r"[\"'`“‘「]?(?P<v>[^\s\"'`“”‘’「」<>\[\]{}，。；、！？（）\u4e00-\u9fff]{4,200})"
"""One word as people write a value; Chinese characters and brackets end it."""
_END = r"[\"'`”’」]?(?=\s*(?:$|[\n.,;!?，。；！？、)）]))"
_CODE_VALUE = (
    r"[\"'`“「【]?(?P<v>(?<![A-Za-z0-9-])(?:[A-Z]-)?(?:\d{3}[\s-]\d{3}|\d{4,8}))"
    r"(?![A-Za-z0-9-]*\d|\s*(?:[年月日位次个個元秒分天条號号人%]|hours|days|times))"
)
_NO_COUNT = r"(?!\s*[年月位次个個])"

_STATEMENTS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("password", rf"{_L}{_PRE}{_PASSWORDS}{_POST}{_OF}{_SIGN}{_VALUE}", _coded),
    ("password", rf"{_L}{_PRE}{_PASSWORDS}{_POST}{_OF}{_SIGN}{_VALUE}{_END}", _word),
    (
        "password",
        rf"{_L}pass[\s-]?phrase{_OF}(?:{_SIGN}|{_IS})[\"“]?(?P<v>\w+(?:[ -]\w+){{2,}}){_END}",
        _phrase,
    ),
    ("password", rf"{_L}(?:credentials?|log[\s-]?in|account)\s*:\s*[^\s/]{{1,60}}\s*/\s*{_VALUE}", _coded),
    ("password", rf"{_L}pass\s*[:=]\s*{_VALUE}", _mixed),
    ("password", rf"{_L}{_PASSWORDS}(?:{_IS}|\s+to\s+){_VALUE}", _coded),
    ("password", rf"{_L}{_PASSWORDS}{_OF}{_IS}{_VALUE}", _coded),
    ("password", rf"{_L}{_PASSWORDS}{_OF}{_IS}{_VALUE}{_END}", _word),
    ("password", rf"{_L}{_PASSWORDS}\s+{_VALUE}", _mixed),
    (
        "password",
        rf"(?:^|[\s,;:，。])(?P<v>[^\s,;:，。]{{5,60}})\s+(?:is|was)\s+(?:my|our|the|his|her|their)\s+(?:[\w-]+\s+){{0,3}}"
        rf"{_PASSWORDS}",
        _coded,
    ),
    (
        "password",
        rf"{_L}(?:(?-i:PIN)|pin{_OF}(?:{_IS}|{_SIGN})|(?-i:PIN){_OF}{_SIGN})\s*(?P<v>\d{{4,8}}){_R}",
        _any,
    ),
    # A "PIN code" of six digits is a postal code in India.
    ("password", rf"{_L}pin\s+(?:code|number){_OF}(?:{_IS}|{_SIGN}|\s+)(?P<v>\d{{4}}){_R}", _any),
    ("password", rf"{_ZH_PASSWORDS}{_ZH_IS}{_VALUE}{_NO_COUNT}", _word),
    ("password", rf"{_ZH_PASSWORDS}\s*{_VALUE}{_NO_COUNT}", _digit),
    ("password", rf"(?P<v>[!-~]{{5,60}})\s*(?:就?是|为|為)\s*[^。，；\n]{{0,12}}?{_ZH_PASSWORDS}", _coded),
    ("API key", rf"{_L}{_PRE}{_KEY}{_POST}{_OF}(?:{_IS}|{_SIGN}){_VALUE}", _key),
    ("API key", rf"{_L}{_KEY}\s+{_VALUE}", _long_key),
    ("token", rf"{_L}{_PRE}{_TOKENS}{_OF}(?:{_IS}|{_SIGN}){_VALUE}", _key),
    ("token", rf"{_L}{_TOKENS}\s+{_VALUE}", _long_key),
    ("token", rf"{_ZH_KEY}(?:{_ZH_IS}|\s+){_VALUE}", _key),
    ("one-time code", rf"{_L}{_CODE}{_OF}(?:{_IS}|{_SIGN}|\s+){_CODE_VALUE}", _digit),
    ("one-time code", rf"{_L}{_PLAIN_CODE}(?:{_IS}|{_SIGN}|\s+){_CODE_VALUE}", _digit),
    (
        "one-time code",
        r"(?P<v>(?<![A-Za-z0-9-])(?:[A-Z]-)?\d{4,8})\s+is\s+(?:your|the|my)\s+(?:(?!zip|post|area|error)[\w-]+\s+){0,4}(?:code|otp"
        r"|passcode)",
        _digit,
    ),
    ("one-time code", rf"{_ZH_CODE}(?:[（(][^）)\n]{{0,24}}[）)])?(?:{_ZH_IS}|\s*){_CODE_VALUE}", _digit),
    (
        "one-time code",
        rf"(?P<v>(?<![A-Za-z0-9-])\d{{4,8}})\s*(?:是|为|為|[（(【]).{{0,12}}?{_ZH_CODE}",
        _digit,
    ),
)

RULES: tuple[Rule, ...] = (
    *(Rule(kind, re.compile(pattern, re.ASCII), _any) for kind, pattern in _SHAPES),
    *(
        Rule(kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE), looks)
        for kind, pattern, looks in _STATEMENTS
    ),
)
"""All rules, shapes first."""
