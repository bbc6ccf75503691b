"""Recognizing that a text without a key states a fact that a profile keeps under a key.

"City" is kept under the key ``city``; then somebody adds "lives in Oslo" without one. Both in the prompt
would be two current cities, so such a text becomes the current value of the slot and the old value goes to
its history. The rule is conservative, because taking a statement for another's replacement loses it from the
prompt:

- the text is one short, simple statement (no "and", no comma but before a place's country, no negation, no
  past);
- its subject is missing, a pronoun or the profile's own name, never somebody else ("her sister lives in
  Oslo");
- it either names the key itself ("city: Oslo", "favourite colour is green", 生日是5月1日), or the key is one
  of a few single-valued facts with a known way to say them: home (lives in, 住在), employer (works at,
  在…工作), age (31 years old, 31岁), birthday (born on, 生于).

Everything else stays an entry of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..text.fold import fold, same_text

__all__ = ["loose_key", "stated"]

_TEXT_MAX = 80


def loose_key(key: str) -> str:
    """Return the form in which equal fact keys are equal: case, width, spaces, ``_``, ``-`` do not matter."""
    return re.sub(r"[\s_-]+", " ", fold(key).strip(" :=")).strip()


def stated(text: str, keys: Iterable[str], name: str = "") -> list[tuple[str, str]]:
    """Return which of the keyed facts a text states, each with the value it gives.

    Args:
        text: a text without a key.
        keys: fact keys of the profile.
        name: name of the person the profile is about, maybe ``""``.

    Returns:
        ``(key, value)`` pairs in the order of ``keys``, the value folded; mostly none or one.
    """
    plain = same_text(text)
    if not plain or len(plain) > _TEXT_MAX or _COMPOUND.search(plain):
        return []
    subject = _subject(name).match(plain)
    plain = plain[subject.end() :] if subject else plain
    found = ((key, _value(plain, loose_key(key))) for key in keys)
    return [(key, value) for key, value in found if value]


def _value(plain: str, key: str) -> str:
    """Return the value that a statement without its subject gives for a key, ``""`` when it gives none."""
    if len(key) < 2:
        return ""
    link = _NAMES_VALUE if _VALUE_KEY.fullmatch(key) else _SIGN
    match = re.fullmatch(
        rf"(?:(?:current|new)\s+)?{re.escape(key)}{link}(?P<value>.+)", plain.replace("_", " ")
    )
    if match is None:
        for fact in _FACTS:
            if key in fact.keys:
                match = next((m for m in (p.fullmatch(plain) for p in fact.patterns) if m), None)
    value = match["value"].strip() if match else ""
    return "" if _NO_VALUE.match(value) else value


class _Fact(NamedTuple):
    """A fact that has one value at a time: its usual keys (loose form) and the statements that give it."""

    keys: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]


def _fact(keys: str, *patterns: str) -> _Fact:
    return _Fact(frozenset(k.strip() for k in keys.split(",")), tuple(map(re.compile, patterns)))


_FACTS = (
    _fact(
        "city, home, home city, current city, city of residence, residence, place of residence, location,"
        "town, lives in, living in, where lives,"
        "城市, 所在城市, 居住城市, 所在地, 居住地, 现居地, 现居, 常住地, 住处, 住址",
        r"(?:lives?|resides?|living|residing|based|located)\s+(?:now\s+)?in\s+(?P<value>.+?)(?:\s+now)?",
        r"(?:has\s+|have\s+|just\s+)*(?:moved|relocated)\s+to\s+(?P<value>[^\d]+)",
        r"(?:居住在|居住于|住在|现居|定居于|定居在|定居|搬家到|搬到|搬去)了?(?P<value>[^时过]{1,15})",
    ),
    _fact(
        "employer, company, workplace, works at, works for, 公司, 雇主, 单位, 工作单位",
        r"(?:work|works|working|employed)\s+(?:now\s+)?(?:at|for|by)\s+"
        r"(?P<value>(?!home|night|fun|free|weekend).+)",
        r"(?:就职于|任职于|供职于)(?P<value>.{1,20})",
        r"在(?P<value>.{1,20}?)(?:工作|上班|任职)",
    ),
    _fact(
        "age, years old, 年龄, 岁数",
        r"(?:turned\s+)?(?P<value>\d{1,3})\s*(?:years?\s+old|y/?o)",
        r"(?P<value>\d{1,3})\s*岁了?",
    ),
    _fact(
        "birthday, birth date, birthdate, date of birth, dob, born, born on, 生日, 出生日期",
        r"(?:was\s+)?born\s+on\s+(?P<value>.+)",
        r"(?:出生于|生于)(?P<value>.*\d.*?)(?:出生)?",
    ),
)

_SIGN = r"\s*[:=]\s*"
_NAMES_VALUE = r"(?:\s*[:=]\s*|\s+(?:is|are)\s+(?:now\s+)?|\s*(?:现在)?(?:是|为|改为|改成|变成)\s*)"
_VALUE_KEY = re.compile(
    r"(?:.* )?(?:favou?rite|preferred|native)(?: .*)?|最.*"
    r"|(?:.* )?(?:names?|nickname|pronouns|birthday|age|height|weight|shoe size|diet|colou?r|language"
    r"|city|town|country|location|residence|address|time ?zone|e-?mail|phone(?: number)?"
    r"|job|job title|occupation|profession|employer|company|school|university)"
    r"|.*(?:名字|姓名|昵称|生日|年龄|身高|体重|颜色|语言|城市|国家|地址|住址|时区|邮箱|电话"
    r"|职业|公司|单位|学校|专业)"
)
"""Keys after which "is" gives the value; "dog is afraid of thunder" says nothing about which dog it is."""

_COMPOUND = re.compile(
    r"\b(?:and|but|or|while|with|because|when|who|if|before|until|not|never|used to)\b|n['’]t\b"
    r"|[;；、?？]|[，,](?!\s*\w+$)|和|并|但|或|因为|以前|曾|不|没|将|打算|想"
)
_NO_VALUE = re.compile(r"(?:a|an|the|my|his|her|their|our|no|unknown|unclear|undecided)\b|$|什么|哪")


def _subject(name: str) -> re.Pattern[str]:
    who = "|".join(filter(None, ("i|he|she|they|the user|user|the speaker", re.escape(fold(name)))))
    owner = "|".join(filter(None, ("my|his|her|their|the", re.escape(fold(name)) + r"['’]s" if name else "")))
    zh_who = "|".join(filter(None, ("我|他|她|用户|说话人", re.escape(fold(name)))))
    return re.compile(
        rf"(?:(?:{owner})\s+)?(?:(?:{who})\b\s*(?:'s|'m|'re|am|is|are)?\s+)?"
        rf"(?:(?:am|is|are)\s+)?(?:(?:now|currently)\s+)?(?:(?:{zh_who})的?)?(?:现在|目前|已经|已)?"
    )
