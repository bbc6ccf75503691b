"""What kind of fact a sentence states, and of whom: as much as tells a correction's target from its neighbours.

Two sentences may say the same kind of thing in other words ("lives in Osaka", "moved to Oslo", "搬到奥斯陆"), and
nearly the same words of other people ("Mina lives in Hanoi", "Mina's sister lives in Hanoi"). Small tables,
English and Chinese side by side. A sentence they do not know has no facet; then words and vectors decide.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .fold import fold
from .terms import is_unspaced, terms

__all__ = ["ATTRIBUTES", "PERSONAL", "SELF", "beyond_facets", "facets", "holders", "same_holder"]

_FACETS = {
    "home": "live living reside resident relocate move apartment flat address hometown 住 搬 定居 地址 家在",
    "job": "work worker job quit resign employ employee employer hire retire career occupation profession switch"
    " promote engineer developer nurse doctor teacher manager designer accountant lawyer analyst tester"
    " driver cook 上班 工作 辞职 跳槽 离职 入职 任职 就职 升职 当 公司 职业 换工作 做 护士 工程师 经理"
    " 会计 律师 老师 主管",
    "partner": "date dating boyfriend girlfriend husband wife spouse marry married engaged engagement wedding divorce"
    " single partner 男朋友 女朋友 男友 女友 老公 老婆 丈夫 妻子 结婚 离婚 订婚 分手 交往 婚约 单身 对象",
    "birth": "birthday born birth 生日 出生",
    "diet": "vegetarian vegan pescatarian meat fish chicken diet keto 吃素 吃肉 吃鱼 素食 吃荤 饮食 忌口 生酮 肉",
    "study": "study major degree university college school class grade primary kindergarten"
    " 读 专业 上学 转学 学校 小学 中学 高中 大学 年级 学习 幼儿园",
    "allergy": "allergic allergy allergies intolerant intolerance 过敏",
    "drink": "drink drinks coffee tea alcohol beer wine 喝 咖啡 茶 酒",
    "taste": "like love hate enjoy prefer favourite favorite dislike adore fond fan stand bear"
    " 喜欢 讨厌 爱 受不了 偏好 厌",
    "language": "speak fluent language 说 流利 语言",
    "number": "phone mobile extension 手机 电话 尾号 号码 分机",
    "money": "cost price fee rent quote euro dollar yuan salary earn wage budget pay paid subscription"
    " 元 价 费 工资 薪 预算 房租 付 涨价",
    "when": "deadline due postpone reschedule delay extend start begin date expire valid until schedule"
    " 推迟 提前 截止 延 定在 开始 日期 时间 改到 交 到期 有效期 日程",
    "where": "venue held place location room hotel floor move store keep kept park 举行 地点 场地 楼 放 存放 搬",
    "version": "version release upgrade update 版本 升级",
    "name": "call called name named spell spelled spelling nickname 叫 名字 姓 写作 昵称",
    "travel": "trip travel fly flight vacation holiday visit 旅行 旅游 航班 出差 度假",
    "who": "lead leader manage responsible assign owner charge 负责 分配 主管 带队",
    "health": "pressure diagnose diagnosis pain dose medication sick ill 血压 病 疼 骨折",
    "age": "age aged 岁 年龄",
    "size": "size inch weigh weight height tall 尺码 码 身高 体重",
    "colour": "colour color red blue green yellow black white grey gray purple orange pink brown 颜色 色",
    "drive": "drive driver licence license car vehicle 驾照 开车 汽车",
}
"""Words of each kind of fact. A word may stand in several: "moved" is said of homes and of meetings."""

ATTRIBUTES = frozenset(
    {"when", "where", "money", "number", "name", "version", "who", "age", "size", "colour"}
)
"""Kinds that tell one side of a thing: its date is not its place."""
PERSONAL = frozenset({"home", "job", "partner", "birth", "diet", "study"})
"""Kinds of which a person has one at a time, so that another value replaces it whatever it is. Of the others there
are several (allergies, tastes, flights), and it takes a shared word to say which.
"""


def _tables() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    latin: dict[str, frozenset[str]] = {}
    han: dict[str, frozenset[str]] = {}
    for name, words in _FACETS.items():
        for word in words.split():
            table, keys = (han, [word]) if is_unspaced(word) else (latin, terms(word))
            for key in keys:
                table[key] = table.get(key, frozenset()) | {name}
    return latin, han


_LATIN, _HAN = _tables()
_HAN_PIECE = re.compile("|".join(sorted(_HAN, key=len, reverse=True)))


@lru_cache(maxsize=1_024)
def facets(text: str) -> frozenset[str]:
    """Return the kinds of fact that a text may state; empty when no word tells."""
    found = [_LATIN.get(term, frozenset()) for term in terms(text)]
    found += [_HAN[piece] for piece in _HAN_PIECE.findall(fold(text))]
    return frozenset().union(*found)


def beyond_facets(text: str) -> frozenset[str]:
    """Return the terms of a text without the words that tell its kind."""
    return frozenset(terms(_HAN_PIECE.sub(" ", fold(text)))) - _LATIN.keys()


SELF = ""
"""Holder of what is said of the speaker, of somebody by name or of a thing, as against "X's sister"."""

_ROLES = (
    "(?:mother|father|parents|brother|sister|son|daughter)-in-law|sister|brother|sibling|mother|mom|mum|father|dad|parents?"
    "|wife|husband|son|daughter|boyfriend|girlfriend|partner|fianc[eé]e?|friend|colleague|coworker|boss|neighbou?r"
    "|roommate|flatmate|landlord|landlady|teacher|cousin|uncle|aunt|nephew|niece|grandmother|grandma|grandfather"
    "|grandpa|grandparents|assistant|team|kids?|children|child|baby|twins?"
)
_HAN_ROLES = (
    "男朋友|女朋友|男友|女友|朋友|闺蜜|妈妈|母亲|爸爸|父亲|父母|爸妈|姐姐|妹妹|哥哥|弟弟|老公|丈夫|老婆|妻子|儿子|女儿|孩子"
    "|婆婆|公公|岳父|岳母|室友|同事|老板|邻居|房东|老师|助理|[表堂][姐妹哥弟]|叔叔|舅舅|姑姑|阿姨|爷爷|奶奶|外公|外婆|团队|组"
    "|妈|爸"
)
_SAME_ROLE = {
    "mom": "mother", "mum": "mother", "dad": "father", "parent": "parents", "kid": "children", "kids": "children",
    "child": "children", "grandma": "grandmother", "grandpa": "grandfather", "neighbour": "neighbor",
    "妈": "妈妈", "母亲": "妈妈", "爸": "爸爸", "父亲": "爸爸", "丈夫": "老公", "妻子": "老婆", "爸妈": "父母",
    "男友": "男朋友", "女友": "女朋友", "组": "团队",
}  # fmt: skip
_IN_ENGLISH = {
    "妈妈": "mother", "爸爸": "father", "父母": "parents", "姐姐": "sister", "妹妹": "sister", "哥哥": "brother",
    "弟弟": "brother", "老公": "husband", "老婆": "wife", "儿子": "son", "女儿": "daughter", "孩子": "children",
    "男朋友": "boyfriend", "女朋友": "girlfriend", "朋友": "friend", "室友": "roommate", "同事": "colleague",
    "老板": "boss", "邻居": "neighbor", "房东": "landlord", "老师": "teacher", "助理": "assistant", "团队": "team",
    "爷爷": "grandfather", "外公": "grandfather", "奶奶": "grandmother", "外婆": "grandmother",
}  # fmt: skip
_PARTNERS = frozenset(
    {"boyfriend", "girlfriend", "husband", "wife", "partner", "男朋友", "女朋友", "老公", "老婆"}
)
_CLAUSE = re.compile(r"[,;:.!?，；：。！？、](?:\s+|(?<=[^\x00-\x7f]))|\b(?:and|but|because)\b")
_POSSESSED = re.compile(
    r"\s*(?:it (?:is|was) )?(?:my|our|his|her|their|your|[\w.-]+(?: [\w.-]+)?['’]s?) (?:[\w-]+ ){0,2}?"
    rf"(?P<role>(?:ex-|step)?(?:{_ROLES}))s?\b"
)
_HAN_POSSESSED = re.compile(
    rf"\s*(?:[a-z]+|[^有是去和养跟给带接陪爱欢对在把为由\s]{{0,3}}?)\s*的?(?P<role>{_HAN_ROLES})"
)
_NAMED = re.compile(
    rf"\b(?i:{_ROLES}),? (?P<latin>[A-Z][a-zé]+)|(?:{_HAN_ROLES})(?P<han>[小阿老][\u4e00-\u9fff])"
)


@lru_cache(maxsize=1_024)
def holders(text: str) -> tuple[str, ...]:
    """Return of whom the clauses of a text speak, as relations (``sister``, ``妈妈``): of its first clause first, and
    :data:`SELF` there when it names none.
    """
    found = [_holder(clause) for clause in _CLAUSE.split(fold(text)) if clause.strip()]
    return (*found[:1], *(role for role in found[1:] if role)) or (SELF,)


def _holder(clause: str) -> str:
    found = _POSSESSED.match(clause) or _HAN_POSSESSED.match(clause)
    role = found["role"] if found else SELF
    return _SAME_ROLE.get(role, role)


def same_holder(memory: str, correction: str) -> bool:
    """Whether a correction speaks of whom a memory is about.

    "My sister Lan" may be "Lan" in the other one; and whose boyfriend somebody is, is a fact of both.
    """
    mine, theirs = holders(memory)[0], holders(correction)
    if mine in theirs or _IN_ENGLISH.get(mine) in theirs or mine in map(_IN_ENGLISH.get, theirs):
        return True
    pair = {mine, theirs[0]}
    if SELF in pair and pair & _PARTNERS and "partner" in facets(memory) & facets(correction):
        return True
    return any(
        name and name in other
        for text, other in ((memory, correction), (correction, memory))
        for found in _NAMED.finditer(text)
        for name in found.groups()
    )
