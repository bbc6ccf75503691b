"""The table of :mod:`.secrets`: how people name secrets and give them away.

A *statement* is a label (password, API key, 验证码), a link (is, a colon, 是) and a value that has to look like
one (:mod:`.secret_values`). The looser the link, the more a value must look like a secret. *Shapes* need none
of this (:mod:`.secret_shapes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from . import secret_values as looks
from .secret_shapes import SHAPES

__all__ = ["KINDS", "LABELLED", "SHAPE_RULES", "STATEMENT_RULES", "Rule"]

KINDS = ("private_key", "api_key", "token", "password", "one_time_code")
"""The kinds of secrets that are told apart; keys of the words files, ``secret.<kind>``."""


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


# ---------------------------------------------------------------- labels

_L, _R = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_PRE, _POST = r"(?:\w{1,40}[_-])?", r"(?:[_-]\w{1,40})?"  # DB_PASSWORD, api_key_prod

_PASSWORDS = (
    r"(?:pass[\s_-]?(?:word|wd|code|phrase)s?|pwd|psw|passwrd|(?:log[\s-]?in|root|admin|wi-?fi)\s+pass)"
)
_ABOUT = (
    r"(?:manager|polic|hash|length|strength|reset|field|generat|hint|app|vault|tool|store|check|librar|protocol|version"
    r"|format|change|rotation|ticket|expir|rule|page|form|file|entropy|score)"
)
"""What follows "password" in the name of something else."""
_KEY = (
    r"(?:(?:api|access|secret|deploy(?:ment)?|licen[cs]e|ssh|encryption|signing|master|product|activation"
    r"|account|service|shared|webhook|app|client|aws|openai|stripe|server|admin|root|private|restricted"
    r"|integration|subscription|storage|unseal|bitlocker)[\s_-]{0,2}(?:key|secret)(?:[\s_-]?id)?s?"
    r"|secret[\s_-]access[\s_-]key)"
)
_OTHER_KEY = (
    r"(?!(?:cache|primary|foreign|public|partition|sort|idempotency|object|storage|redis|map|dict\w*|row|issue"
    r"|fact|user|session|scope|lookup|hash)[\s_-])[a-z]{2,20}[\s_-]key"
)
_TOKENS = (
    r"(?:(?:auth(?:orization|entication)?|access|refresh|bearer|bot|session|personal|jwt|csrf)?[\s_-]?token"
    r"|secret|cookie)"
)
_CODE = (
    r"(?:(?:verification|security|confirmation|one[\s-]?time|log[\s-]?in|sign[\s-]?in"
    r"|auth(?:entication|orization)?|2fa|mfa|otp|sms|access|authenticator|backup|recovery)\s*(?:pass)?code"
    r"|otp|passcode|(?-i:TAN))"
)
_SPARE_CODES = r"(?:backup|recovery|2fa|mfa|scratch|emergency)\s+(?:(?:backup|recovery|access)\s+)?codes?"
_PLAIN_CODE = (
    r"(?:your|enter|use|type)\s+(?:the\s+)?(?:(?!zip|post|area|country|dial|error|exit|status|promo|discount"
    r"|coupon|order|booking|tracking|product|tax|room|colou?r)\w+\s+)?code"
)
_SENT_CODE = (
    r"code\s+(?:that\s+)?(?:\w+\s+){0,2}?(?:texted|sent|messaged|e?mailed|gave)\s+(?:to\s+)?"
    r"(?:me|us|you|her|him)"
)
_WALLET = r"(?:(?:seed|recovery|mnemonic|wallet|secret|backup)\s+(?:phrase|words)|mnemonic|助记词|助記詞)"
_NOTE = r"(?:\s*\([^()\n]{0,24}\))?"
"""A remark between label and value: 密码（大小写敏感）：…"""
_ZH_PASSWORDS = rf"(?:密码|密碼|口令|通行码|通行碼){_NOTE}"
_ZH_KEY = r"(?:密钥|密鑰|秘钥|秘鑰|私钥|私鑰|激活码|(?:api|access|secret|app)[\s_-]?(?:key|secret))"
_ZH_BEARER = r"(?:令牌|凭证|憑證|授权码|授權碼|token)"
_ZH_CODE = (
    r"(?:(?:验证|驗證|校验|校驗|动态|動態|确认|確認|认证|認證|安全|登录|登錄|短信|簡訊|恢复|恢復|备用|備用)(?:码|碼)"
    r"|(?:动态|動態|一次性)(?:密码|密碼|口令))"
)

# ---------------------------------------------------------------- links

_NOW = r"(?:\s+(?:now|still|just|called|always|again|[a-z]{2,12}ly))?"
_IS = (
    rf"(?:\s+(?:is|was|are|becomes|remains|will\s+be){_NOW}(?:\s*:)?\s+"
    r"|\s+(?:(?:was|is|has\s+been|got)\s+)?(?:changed|set|reset|updated|rotated)\s+to\s+)"
)
_S = rf"(?:{_IS}|['’]s{_NOW}\s+)"
"""As "is", or its short form; only for values that no noun is, since "the password's strength" has it too."""
_SIGN = r"(?:(?:\s+(?:itself|again|here|below))?\s*[\"'`]?\s*(?:[:=]|=>|->|→)\s*)"
_OF = r"(?:\s+(?:for|of|to|on|at|in|from|by|with)\s+[\w@'’.-]{1,30}(?:\s+[\w@'’.-]{1,30}){0,3}?)?"
_ZH_IS = (
    r"(?:\s*(?:(?:已经?|现在|現在|目前|还|還|就|暂时|暫時|被|统一)?"
    r"(?:是|为|為|叫|係|(?:改|设|設|换|換|重置|变|變)(?:成|为|為))了?|[:=]|->|=>|→)[:\s]*)"
)

# ---------------------------------------------------------------- values

_VALUE = r"[\"'`“‘「]?(?P<v>(?![:=,;)])[^\s\"'`“”‘’「」<>\[\]{},，。；、！？（）\u4e00-\u9fff]{4,200})"
"""One word as people write a value; commas, brackets and Chinese characters end it."""
_END = r"[\"'`”’」]?(?=\s*(?:$|[\n.,;!?，。；！？、)）]))"
_CODE_VALUE = (
    r"[\"'`“「【]?(?P<v>(?<![A-Za-z0-9-])(?:[A-Z]-)?(?:\d{3}[\s-]\d{3}|\d{4,8}))"
    r"(?![A-Za-z0-9-]*\d|\s*(?:[年月日位次个個元秒分天条條号號人%]|hours|days|times|lines|words|characters))"
)
_SPARE_VALUE = r"(?P<v>(?=[a-z-]{0,19}\d)[a-z0-9-]{6,20}(?:[,;\s]+(?=[a-z-]{0,19}\d)[a-z0-9-]{6,20}){0,19})"
_NO_COUNT = r"(?!\s*[年月位次个個])"

_STATEMENTS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    # ------------------------------------------------ passwords
    ("password", rf"{_L}{_PRE}{_PASSWORDS}{_POST}{_NOTE}{_OF}{_SIGN}{_VALUE}", looks.coded),
    ("password", rf"{_L}{_PRE}{_PASSWORDS}{_POST}{_NOTE}{_OF}{_SIGN}{_VALUE}{_END}", looks.word),
    (
        "password",
        rf"{_L}{_PASSWORDS}{_OF}(?:{_SIGN}|{_IS})(?P<q>[\"'])(?P<v>(?![\[<{{$])[^\"'\n]{{4,80}})(?P=q)",
        looks.quoted,
    ),
    ("password", rf"{_L}{_PASSWORDS}{_OF}\s+[-–—]\s+{_VALUE}", looks.mixed),
    (
        "password",
        rf"{_L}pass[\s-]?phrase{_OF}(?:{_SIGN}|{_IS})[\"“]?(?P<v>\w+(?:[ -]\w+){{2,}}){_END}",
        looks.phrase,
    ),
    ("password", rf"{_L}pw{_OF}(?:{_SIGN}|{_S}){_VALUE}", looks.coded),
    ("password", rf"{_L}pw\s+{_VALUE}", looks.long_mixed),
    ("password", rf"(?:^|[,;.(]|\b(?:the|my|our|his|her|and))[ \t]*pass{_S}{_VALUE}", looks.mixed),
    # the same password everywhere: …
    (
        "password",
        rf"{_L}{_PASSWORDS}(?:\s+(?!{_ABOUT})[a-z]{{2,20}}){{1,3}}\s*:\s*{_VALUE}{_END}",
        looks.long_mixed,
    ),
    ("password", rf"{_L}\w{{1,40}}[_-](?:pass|pw)(?:\s*[:=]|\s+to)\s*{_VALUE}", looks.mixed),
    ("password", rf"{_L}pass{_OF}\s*[:=]\s*{_VALUE}", looks.mixed),
    ("password", rf"{_L}{_PASSWORDS}(?:{_S}|\s+to\s+){_VALUE}", looks.coded),
    ("password", rf"{_L}{_PASSWORDS}{_OF}{_S}{_VALUE}", looks.coded),
    ("password", rf"{_L}{_PASSWORDS}{_OF}{_IS}{_VALUE}{_END}", looks.word),
    ("password", rf"{_L}{_PASSWORDS}\s+{_VALUE}", looks.mixed),
    # The password changed, it's now …
    (
        "password",
        rf"{_L}{_PASSWORDS}\b[^.!?\n]{{0,40}}?(?:it['’]?s|it\s+is|now)\s+(?:now\s+)?{_VALUE}{_END}",
        looks.mixed,
    ),
    (
        "password",
        rf"(?:^|[\s,;:，。])(?P<v>[^\s,;:，。]{{5,60}})\s+(?:is|was)\s+(?:my|our|the|his|her|their)\s+(?:[\w-]+\s+){{0,3}}"
        rf"{_PASSWORDS}",
        looks.coded,
    ),
    # login for the family: mina / …
    (
        "password",
        rf"{_L}(?:credentials?|log[\s-]?in|account)(?:\s+[\w'’.-]{{1,30}}){{0,4}}?"
        rf"(?:\s*:\s*[^\s/]{{1,60}}\s*/|\s+(?:to|is|are)\s+[^\s/:]{{1,60}}\s+/)\s*{_VALUE}",
        looks.coded,
    ),
    (
        "password",
        rf"(?:^|\s)[\w.@+-]{{1,60}}\s*/\s*{_VALUE}\s+(?:as|is|are)\s+"
        rf"[^.\n]{{0,30}}?(?:log[\s-]?in|{_PASSWORDS}|credentials)",
        looks.mixed,
    ),
    (
        "password",
        rf"{_L}(?:(?-i:PIN)|pin{_OF}(?:{_S}|{_SIGN})|(?-i:PIN){_OF}{_SIGN})\s*(?P<v>\d{{4,8}}){_R}",
        looks.anything,
    ),
    (
        "password",
        rf"{_L}(?-i:PIN)\b[^.!?\n]{{0,30}}?(?:it['’]?s|it\s+is|now)\s+(?:now\s+)?(?P<v>\d{{4,8}}){_R}",
        looks.anything,
    ),
    # A "PIN code" of six digits is a postal code in India.
    ("password", rf"{_L}pin\s+(?:code|number){_OF}(?:{_S}|{_SIGN}|\s+)(?P<v>\d{{4}}){_R}", looks.anything),
    ("password", rf"{_ZH_PASSWORDS}{_ZH_IS}{_VALUE}{_NO_COUNT}", looks.coded),
    ("password", rf"{_ZH_PASSWORDS}{_ZH_IS}{_VALUE}{_END}", looks.word),
    (
        "password",
        rf"{_ZH_PASSWORDS}{_ZH_IS}[\"“「]?(?P<v>[\u4e00-\u9fff]{{1,6}}[!-+\--~]{{3,40}}){_END}",
        looks.ending_coded,
    ),
    # 密码就是我的生日…
    (
        "password",
        rf"{_ZH_PASSWORDS}{_ZH_IS}[^。，,\n]{{0,6}}?(?:生日|手机号?|電話|电话|学号|工号)[，,:\s]*(?P<v>[!-+\--~]{{4,40}})",
        looks.digit,
    ),
    ("password", rf"{_ZH_PASSWORDS}\s*{_VALUE}{_NO_COUNT}", looks.digit),
    (
        "password",
        rf"{_ZH_PASSWORDS}[^。！？\n]{{0,16}}?(?:现在|現在|目前|如今)(?:是|为|為|:)\s*{_VALUE}",
        looks.mixed,
    ),
    (
        "password",
        rf"(?P<v>[!-~]{{5,60}})\s*(?:就?是|为|為)\s*[^。，；\n]{{0,12}}?{_ZH_PASSWORDS}",
        looks.coded,
    ),
    ("password", r"pin\s?(?:(?:码|碼)\s*(?:是|为|為|:)?|是|为|為)\s*(?P<v>\d{4,8})(?!\d)", looks.anything),
    (
        "password",
        rf"(?:[账帐賬帳][号號户戶]|用户名?|登[录錄陆陸]|后台|後臺)\s*[是:]?\s*[\w.@+-]{{1,60}}\s*/\s*{_VALUE}",
        looks.mixed,
    ),
    (
        "password",
        rf"{_ZH_PASSWORDS}[^。！？\n]{{0,16}}?(?:改|换|換|变|變|设|設|重置|更新)(?:成|为|為|到)了?\s*{_VALUE}{_NO_COUNT}",
        looks.coded,
    ),
    # ------------------------------------------------ keys and tokens
    ("api_key", rf"{_L}{_PRE}{_KEY}{_POST}{_OF}(?:{_S}|{_SIGN}){_VALUE}", looks.key),
    ("api_key", rf"{_L}{_KEY}\s+{_VALUE}", looks.long_key),
    ("api_key", rf"{_L}{_OTHER_KEY}{_OF}(?:{_S}|{_SIGN}){_VALUE}", looks.random_key),
    ("token", rf"{_L}{_PRE}{_TOKENS}{_OF}(?:{_S}|{_SIGN}){_VALUE}", looks.key),
    ("token", rf"{_L}{_TOKENS}\s+{_VALUE}", looks.long_key),
    ("api_key", rf"{_L}key{_OF}(?:{_S}|{_SIGN}|{_ZH_IS}){_VALUE}", looks.random_key),
    ("api_key", rf"{_ZH_KEY}{_NOTE}(?:{_ZH_IS}|\s+){_VALUE}", looks.key),
    ("token", rf"{_ZH_BEARER}{_NOTE}(?:{_ZH_IS}|\s+){_VALUE}", looks.key),
    # What mail services give to programs: sixteen letters
    (
        "token",
        rf"(?:授权码|授權碼|{_L}app(?:lication)?[\s-]password)(?:{_ZH_IS}|{_S}|{_SIGN})"
        rf"(?P<v>[a-z]{{16}}|(?:[a-z]{{4}} ){{3}}[a-z]{{4}}){_R}",
        looks.anything,
    ),
    (
        "private_key",
        rf"{_WALLET}{_OF}(?:{_IS}|{_SIGN}|{_ZH_IS}|\s+)(?P<v>[a-z]{{3,8}}(?:[\s,]+[a-z]{{3,8}}){{11,23}})",
        looks.wallet_words,
    ),
    # ------------------------------------------------ one-time codes
    ("one_time_code", rf"{_L}{_CODE}{_OF}(?:{_S}|{_SIGN}|\s+){_CODE_VALUE}", looks.digit),
    ("one_time_code", rf"{_L}{_PLAIN_CODE}(?:{_S}|{_SIGN}|\s+){_CODE_VALUE}", looks.digit),
    ("one_time_code", rf"{_L}{_SENT_CODE}(?:{_S}|{_SIGN}){_CODE_VALUE}", looks.digit),
    ("one_time_code", rf"{_L}{_SPARE_CODES}{_OF}(?:{_S}|{_SIGN}|\s+){_SPARE_VALUE}", looks.mixed),
    (
        "one_time_code",
        r"(?P<v>(?<![A-Za-z0-9-])(?:[A-Z]-)?\d{4,8})\s+(?:is|as)\s+(?:your|the|my)\s+"
        r"(?:(?!zip|post|area|error)[\w-]+\s+){0,4}(?:code|otp|passcode|(?-i:TAN))",
        looks.digit,
    ),
    ("one_time_code", rf"{_ZH_CODE}{_NOTE}(?:{_ZH_IS}|\s*){_CODE_VALUE}", looks.digit),
    # 验证码收到了，…
    ("one_time_code", rf"{_ZH_CODE}[^。！？,，\n]{{0,4}}了\s*[,，:]\s*{_CODE_VALUE}", looks.digit),
    (
        "one_time_code",
        rf"(?:恢复|恢復|备用|備用|备份|備份)(?:代?码|代?碼)(?:{_ZH_IS}|\s+){_SPARE_VALUE}",
        looks.mixed,
    ),
    (
        "one_time_code",
        rf"(?P<v>(?<![A-Za-z0-9-])\d{{4,8}})\s*(?:是|为|為|[（(【]).{{0,12}}?{_ZH_CODE}",
        looks.digit,
    ),
)

SHAPE_RULES = tuple(Rule(kind, re.compile(pattern, re.ASCII), looks.anything) for kind, pattern in SHAPES)
"""Rules for what needs no label."""

STATEMENT_RULES = tuple(
    Rule(kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE), judge)
    for kind, pattern, judge in _STATEMENTS
)
"""Rules for labels with their values."""

LABELLED = re.compile(
    r"pass|pwd|psw|pw|(?<![a-z])(?:pin|tan(?![a-z]))|key|secret|token|cookie|code|otp|log[\s-]?in|account|credential|mnemonic"
    r"|(?:seed|recovery|wallet|backup)\s"
    r"|[密码碼钥鑰]|[账帐賬帳][号號户戶]|登[录錄陆陸]|口令|通行|令牌|凭证|憑證|助记|助記|用户名|后台|後臺",
    re.IGNORECASE,
)
"""Found in every text that a statement can match in; most texts have none of it, which saves trying them all."""
