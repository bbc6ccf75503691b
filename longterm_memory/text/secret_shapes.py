"""Secrets that need no context: their own form gives them away; for :mod:`.secret_rules`."""

from __future__ import annotations

__all__ = ["SHAPES"]

_PEM_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}-{4,5}"

_KEY_PREFIXES = (
    r"lin_api_|ntn_|do[opr]_v1_|shp(?:at|ca|pa|ss)_|hv[sb]\.|dapi|dp\.pt\."  # Linear … Shopify, Vault, Doppler
    r"|glsa_|glc_|figd_|PMAK-|NRAK-|xkeysib-|sgp_|dckr_pat_|rubygems_|sntry[su]_|sbp_|tskey-(?:auth|api)-"
    r"|pscale_(?:tkn|pw)_|lsv2_(?:pt|sk)_|jina_|fc-|csk-|fw_|nvapi-|AKLT|bce-v3/ALTAK-|r8_|pplx-|gsk_|xai-|tvly-"
)
"""How the keys of services begin; a digit must follow within sixty characters, since some begin like words."""

SHAPES: tuple[tuple[str, str], ...] = (
    # Any PEM block counts, a truncated one up to the end of the text.
    ("private_key", rf"-{{4,5}} ?BEGIN [A-Z0-9 ]{{0,40}}-{{4,5}}(?:[\s\S]*?{_PEM_END}|[\s\S]*)"),
    (
        "private_key",
        r"\b(?:PuTTY-User-Key-File-\d[\s\S]*|b3BlbnNzaC1rZXktdjE[\w+/=\s]*|AGE-SECRET-KEY-1[A-Z0-9]+)",
    ),
    ("api_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),  # AWS
    ("api_key", r"\b(?:LTAI|AKID)(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{12,40}\b"),  # Alibaba Cloud, Tencent Cloud
    ("api_key", r"\b(?:AIza[\w-]{30,}|GOCSPX-[\w-]{20,}|AAAA[\w-]{7}:APA91b[\w-]{40,})"),  # Google
    # OpenAI and those who copied the form
    ("api_key", r"\bsk-(?=[A-Za-z_-]{0,60}\d)[\w-]{16,}"),
    ("api_key", r"\b(?:[spr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[\w+/=]{16,}|sq0(?:atp|csp)-[\w-]{20,})"),
    ("api_key", rf"\b(?:{_KEY_PREFIXES})(?=[A-Za-z_-]{{0,60}}\d)[\w-]{{20,}}"),
    # SendGrid, Mailgun, Twilio
    ("api_key", r"\b(?:SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-f]{32}|SK[0-9a-f]{32})\b"),
    ("token", r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|gl(?:pat|rt|dt|ptt|soat)-[\w-]{16,})"),
    ("token", r"\b(?:xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,})"),
    # Addresses that post into a chat for whoever knows them: Slack, Discord, Feishu, Teams
    (
        "token",
        r"\b(?:hooks\.slack\.com/services/[\w/]{20,}|discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}"
        r"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[\w-]{16,}|webhook\.office\.com/\S{40,})",
    ),
    (
        "token",
        r"\b(?:hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|ya29\.[\w-]{20,}|ATATT3[\w=-]{20,})",
    ),
    ("token", r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{4,})?"),  # JWT
    # Bots of Telegram, Discord
    ("token", r"\b\d{8,10}:AA[\w-]{30,}|\b[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}"),
    ("token", r"\b(?:Bearer|bearer|Basic)\s+(?=[A-Za-z._~+/-]{0,60}\d)(?P<v>[\w.~+/-]{12,}=*)"),
    (
        "token",
        r"[?&](?:(?:access_|auth_|refresh_|id_)?token|api_?key|key|sig|signature|secret)=(?P<v>[^\s&#]{8,})",
    ),
    ("password", r"[?&](?:password|passwd|pwd)=(?P<v>[^\s&#]{3,})"),
    ("password", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,60}:(?P<v>[^\s/@]{3,80})@"),
    # On a command line
    ("password", r"\bcurl\b[^\n]{0,200}?\s(?:-u|--user)\s*[\"']?[^\s:\"']{1,60}:(?P<v>[^\s\"']{4,80})"),
    ("password", r"\b(?:sshpass|login\b[^\n]{0,80}?)\s+-p\s*[\"']?(?P<v>[^\s\"']{4,80})"),
    ("password", r"\bmysql\w*\b[^\n]{0,80}?\s-p[\"']?(?P<v>[^\s\"']{4,80})"),
)
"""Kind and case-sensitive pattern of each; the group ``v``, or all of it, is the secret."""
