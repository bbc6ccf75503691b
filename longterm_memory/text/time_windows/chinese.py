"""Chinese phrases that name a time: 上周三, 去年夏天, 5月初, 三天前.

Chinese has no spaces, so most rules say what may not stand beside a phrase: 以前天气 holds no 前天, 一月光 no January.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from . import holidays
from .calendar import (
    Find,
    Now,
    Span,
    Unit,
    ago,
    ahead,
    day_of_month,
    days_from,
    fixed,
    part,
    quarter,
    relative,
    season,
    section,
    stretch,
    vaguely,
    week_of,
    weekday,
    weekend,
    whole_day,
    whole_month,
    whole_year,
    yearly,
)
from .chinese_words import NUMBER, SOME, UNIT, count, follows, repeated, unit_of
from .numbers import CHINESE_DIGITS, chinese_number, chinese_year
from .phrases import Meaning, rules

__all__ = ["RULES"]

_IN_YEAR = frozenset({Unit.YEAR})
_DIGIT = f"[0-9{CHINESE_DIGITS}]"


_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
_DAY = r"(?P<day>[12][0-9]|3[01]|0?[1-9]|二?十[一二三四五六七八九]?|三十一?|[一二三四五六七八九])"
_YEAR = rf"(?P<year>(?:19|20)[0-9]{{2}}|[一二][{CHINESE_DIGITS}]{{3}})年"
_MONTHS_YEAR = _YEAR.replace("(?P<year>", "(?P<year>(?<![0-9])[0-9]{2}|")
"""With a month behind it, 23年 is a year; alone it is twenty-three of them."""
_NOT_COUNTED = r"(?<![0-9A-Za-z.第每几数百千万零〇一二两三四五六七八九十])"
_SECTION = (
    r"(?P<section>初(?![中恋级一二三次步学来衷夏秋春冬])|中旬|上旬|下旬|月?中(?![秋国考学午级奖间文餐心旬的医年专央])|"
    r"底(?![下部线])|末(?![班日])|上半[年月]|下半[年月])"
)
_SECTIONS = {
    "初": "early",
    "上旬": "early",
    "中": "mid",
    "中旬": "mid",
    "月中": "mid",
    "上半月": "first half",
} | {
    "底": "late",
    "末": "late",
    "下旬": "late",
    "下半月": "second half",
    "上半年": "first half",
    "下半年": "second half",
}
_WEEKDAYS = {
    sign: at for at, signs in enumerate(("一1", "二2", "三3", "四4", "五5", "六6", "日天7")) for sign in signs
}
_PARTS = {
    "早上": "morning",
    "早晨": "morning",
    "清晨": "morning",
    "清早": "morning",
    "上午": "morning",
    "早": "morning",
    "中午": "noon",
    "下午": "afternoon",
    "傍晚": "evening",
    "晚上": "night",
    "夜里": "night",
    "夜晚": "night",
    "深夜": "night",
    "半夜": "night",
    "晚": "night",
    "夜": "night",
    "凌晨": "small hours",
}
_PART = "|".join(word for word in _PARTS if len(word) > 1)
_SEASONS = {"春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_SHIFTS = {"上上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}
_SHIFT = (
    r"(?P<shift>(?<!上)上上|(?<![上马晚早以世路线网街楼车])上|(?<!下)下下|(?<![下乡楼以])下|这|(?<!基)本)"
)

_WISH = re.compile(r"(?:节|假期)?(?:愉快|快乐)")
_HAPPENED = re.compile(r"[了过曾]|去")
_CLAUSE_END = re.compile(r"[，。？！；：,.?!;:\n\"”]")


def _inside(find: Find, name: str) -> Find:
    """Return the beginning, middle, end or half of what ``find`` finds."""
    piece = section(name)
    return lambda now, frame: tuple(span for whole in find(now, frame) for span in piece(now, whole))


def _of_year(
    match: re.Match[str], unit: Unit, of: Callable[[int], Span]
) -> tuple[Unit, Find, frozenset[Unit]]:
    if match["year"]:
        return unit, fixed(of(chinese_year(match["year"]))), frozenset()
    return unit, yearly(of), _IN_YEAR


_DAYS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}


def _day(match: re.Match[str]) -> Meaning:
    days = _DAYS[match["day"]]
    if not match["part"]:
        return Meaning(Unit.DAY, days_from(days), relative=True)
    find = part(_PARTS[match["part"]])
    return Meaning(
        Unit.PART, lambda now, _frame: find(now, whole_day(now.today + timedelta(days=days))), relative=True
    )


def _week(match: re.Match[str]) -> Meaning | None:
    weeks, sign = _SHIFTS[match["shift"]], match["weekday"]
    if not sign:
        return Meaning(Unit.WEEK, relative(lambda today: week_of(today, weeks)), relative=True)
    if sign == "末":
        first, days = 5, 2
    else:
        first, days = _WEEKDAYS[sign], 1
    return Meaning(
        Unit.DAY if days == 1 else Unit.DAYS,
        relative(lambda today: whole_day((week_of(today, weeks).start + timedelta(days=first)).date(), days)),
        relative=True,
    )


def _weekday(match: re.Match[str]) -> Meaning | None:
    if repeated(match) or _WISH.match(follows(match)):
        return None
    sign = match["weekday"] or match["weekday2"]
    find = weekend() if sign == "末" else weekday(_WEEKDAYS[sign])
    unit = Unit.DAYS if sign == "末" else Unit.DAY
    return Meaning(unit, find, frozenset({Unit.WEEK}), relative=True, weekday=sign != "末")


def _month(match: re.Match[str]) -> Meaning:
    months = _SHIFTS[match["shift"]]
    find = relative(lambda today: whole_month(today.year, today.month + months))
    if match["section"]:
        return Meaning(Unit.DAYS, _inside(find, _SECTIONS[match["section"]]), relative=True)
    return Meaning(Unit.MONTH, find, relative=True)


_YEARS = {"大前": -3, "前": -2, "去": -1, "上": -1, "今": 0, "本": 0, "明": 1, "后": 2}


def _relative_year(match: re.Match[str]) -> Meaning:
    years = _YEARS[match["shift"]]
    find = relative(lambda today: whole_year(today.year + years))
    if match["section"]:
        return Meaning(
            Unit.SEASON, _inside(find, _SECTIONS[match["section"].removeprefix("年")]), relative=True
        )
    return Meaning(Unit.YEAR, find, relative=True)


def _same_day(match: re.Match[str]) -> Meaning:
    years = _YEARS[match["shift"]]
    return Meaning(
        Unit.DAY, relative(lambda today: whole_day(today.replace(year=today.year + years))), relative=True
    )


def _year(match: re.Match[str]) -> Meaning:
    find = fixed(whole_year(chinese_year(match["year"])))
    if match["section"]:
        return Meaning(Unit.SEASON, _inside(find, _SECTIONS[match["section"].removeprefix("年")]))
    return Meaning(Unit.YEAR, find)


def _years(match: re.Match[str]) -> Meaning | None:
    first, last = chinese_year(match["first"]), chinese_year(match["year"])
    if first >= last:
        return None
    return Meaning(Unit.RANGE, fixed(Span(whole_year(first).start, whole_year(last).end, Unit.RANGE)))


def _piece_of_year(match: re.Match[str]) -> Meaning | None:
    """年初, 下半年: of this year, unless one is named."""
    if repeated(match):
        return None
    name = _SECTIONS[match["section"].removeprefix("年")]

    def of(year: int) -> Span:
        (span,) = section(name)(Now(whole_year(year).start), whole_year(year))
        return span

    return Meaning(Unit.SEASON, yearly(of), _IN_YEAR)


def _calendar_month(match: re.Match[str]) -> Meaning | None:
    if not match["year"] and repeated(match):
        return None
    number = int(chinese_number(match["month"]))
    unit, find, within = _of_year(match, Unit.MONTH, lambda year: whole_month(year, number))
    if match["section"]:
        return Meaning(Unit.DAYS, _inside(find, _SECTIONS[match["section"]]), within)
    return Meaning(unit, find, within)


def _calendar_day(match: re.Match[str]) -> Meaning | None:
    if not match["year"] and repeated(match):
        return None
    number, day = int(chinese_number(match["month"])), int(chinese_number(match["day"]))
    date(2024, number, day)
    unit, find, within = _of_year(match, Unit.DAY, lambda year: whole_day(date(year, number, day)))
    return Meaning(unit, find, within)


def _days_of_month(match: re.Match[str]) -> Meaning | None:
    number = int(chinese_number(match["month"]))
    first, last = int(chinese_number(match["first"])), int(chinese_number(match["day"]))
    date(2024, number, last)
    if first >= last:
        return None
    unit, find, within = _of_year(
        match, Unit.DAYS, lambda year: whole_day(date(year, number, first), last - first + 1)
    )
    return Meaning(unit, find, within)


_DAY_BESIDE = re.compile(
    r"\s*(?:$|[，。？！、,?!]|的?(?:那|这|当)[天日]|早|晚|上午|下午|中午|凌晨|之?前|之?后|以[前后来]|到|至|的时候|我|你|他|她|"
    r"咱|和|跟|去|做|发生|聊|说|吃|买|是)"
)


def _the_day(match: re.Match[str]) -> Meaning | None:
    number = int(chinese_number(match["day"]))
    if repeated(match):
        return None
    after_month = re.search(r"月的?$", match.string[max(0, match.start() - 3) : match.start()])
    if not after_month and not _DAY_BESIDE.match(follows(match, 10)):
        return None
    return Meaning(Unit.DAY, day_of_month(number), frozenset({Unit.MONTH}))


def _clause(match: re.Match[str]) -> str:
    """Return the text around a match up to the punctuation on either side."""
    before, behind = match.string[max(0, match.start() - 40) : match.start()], follows(match, 40)
    ends = list(_CLAUSE_END.finditer(before))
    end = _CLAUSE_END.search(behind)
    return before[ends[-1].end() if ends else 0 :] + behind[: end.start() if end else None]


def _season(match: re.Match[str]) -> Meaning | None:
    if repeated(match):
        return None
    name = _SEASONS[match["season"][0]]
    beside = match.string[max(0, match.start() - 3) : match.start()].endswith(
        ("年", "年的", "这个", "那个", "上个")
    )
    if not match["year"] and not beside and not _HAPPENED.search(_clause(match)):
        return None  # "do you like summer?"
    unit, find, within = _of_year(match, Unit.SEASON, lambda year: season(name, year))
    return Meaning(unit, find, within)


def _school_holidays(match: re.Match[str]) -> Meaning | None:
    if repeated(match):
        return None
    first, last = ((7, 1), (9, 1)) if match["name"] == "暑假" else ((1, 10), (3, 1))

    def of(year: int) -> Span:
        start = date(year, *first)
        return whole_day(start, (date(year, *last) - start).days, exact=False)

    unit, find, within = _of_year(match, Unit.DAYS, of)
    return Meaning(unit, find, within)


def _quarter(match: re.Match[str]) -> Meaning:
    if match["shift"]:
        by = _SHIFTS[match["shift"]]
        return Meaning(
            Unit.SEASON,
            relative(lambda today: quarter(today.year, (today.month + 2) // 3 + by)),
            relative=True,
        )
    number = int(chinese_number(match["number"]))
    unit, find, within = _of_year(match, Unit.SEASON, lambda year: quarter(year, number))
    return Meaning(unit, find, within)


def _part(match: re.Match[str]) -> Meaning:
    return Meaning(Unit.PART, part(_PARTS[match["part"]]), frozenset({Unit.DAY}), alone=False)


def _ago(match: re.Match[str]) -> Meaning | None:
    number, unit = count(match["number"]), unit_of(match["unit"])
    if match["unit"] == "月":
        return None  # 三月前 is "before March"
    if number is None:
        if unit not in SOME:
            return None
        days, most = SOME[unit]
        return Meaning(Unit.DAYS, vaguely(-most * days, -2 * days), relative=True)
    if match["half"] or "半" in match["unit"]:
        number += 0.5
    return Meaning(Unit.DAY if unit == "day" else Unit.DAYS, ago(number, unit), relative=True)


def _some_days(match: re.Match[str]) -> Meaning:
    first, last = {"前几": (-7, -2), "前些": (-10, -2), "前两": (-4, -1)}.get(match["some"], (-4, 0))
    return Meaning(Unit.DAYS, vaguely(first, last), relative=True)


def _recent(match: re.Match[str]) -> Meaning | None:
    number, unit = count(match["number"]), unit_of(match["unit"])
    if unit == "hour" or match["unit"] == "月":
        return None
    if number is None:
        number = SOME[unit][1]
    sign = -1 if match["side"] in ("未来", "接下来") else 1
    return Meaning(Unit.RANGE, stretch(sign * number, unit), relative=True)


def _in_a_while(match: re.Match[str]) -> Meaning | None:
    number, unit = count(match["number"]), unit_of(match["unit"])
    if number is None or unit == "hour":
        return None
    return Meaning(Unit.DAY if unit == "day" else Unit.DAYS, ahead(number, unit), relative=True)


_HOLIDAYS = tuple(holidays.CHINESE.values())
_HOLIDAY = "|".join(f"(?P<h{at}>{pattern})" for at, pattern in enumerate(holidays.CHINESE))


def _holiday(match: re.Match[str]) -> Meaning | None:
    if repeated(match) or _WISH.match(follows(match)):
        return None
    of = next(of for at, of in enumerate(_HOLIDAYS) if match[f"h{at}"])
    unit, find, within = _of_year(match, Unit.DAY, of)
    return Meaning(unit, find, within)


_WEEK_WORD = r"(?:周(?![围期边长岁刊年])|星期|礼拜)"
_FROM_NOW = r"(?:(?<![^，。？！,?!\s])|(?<=[在我你他她们将要的和]))"

RULES = rules(
    (
        # days and parts of them
        (r"(?P<day>大前|(?<![以之目大从年])前|昨|今|明|大后|(?<!先天)(?<![以之然最大年月])后)"
         r"[天日儿](?!方舟|之后|香|头条|努力|养成|形成|性)(?P<part>)", _day),
        (r"(?P<day>(?<![以之])前|昨|今|明)(?P<part>晚|早|夜)(?!期|点|熟|年|白|星)上?", _day),
        (rf"(?P<part>{_PART})", _part),
        # weeks
        (rf"{_SHIFT}个?{_WEEK_WORD}(?P<weekday>[一二三四五六日天末1-7](?![0-9个月]))?", _week),
        (r"(?<![每各一两二三四五六七八九十几半双单0-9])(?:周(?P<weekday>[一二三四五六日末](?!年|岁|围|期))|"
         r"(?:星期|礼拜)(?P<weekday2>[一二三四五六日天]))", _weekday),
        # months and their days
        (rf"{_SHIFT}个?月(?!光|亮|饼|经|球|薪|租|费|票)份?{_SECTION}?", _month),
        (rf"(?:{_MONTHS_YEAR}的?)?{_NOT_COUNTED}{_MONTH}月的?{_DAY}"
         r"(?:[日号](?![线楼门馆店机厅房])|(?=[\s，。？！,?!]|$|我|你))", _calendar_day),
        (rf"(?:{_MONTHS_YEAR}的?)?{_NOT_COUNTED}{_MONTH}月份?"
         rf"(?![光亮球饼薪租费票卡嫂经老牙季龄供息付销收入活食工大]|天(?!气))(?:的?{_SECTION})?", _calendar_month),
        (rf"(?:{_MONTHS_YEAR}的?)?{_NOT_COUNTED}{_MONTH}月"
         rf"{_DAY.replace('day>', 'first>')}[日号]?\s*[-–—~到至]\s*{_DAY}[日号]", _days_of_month),
        (rf"{_NOT_COUNTED}{_DAY}[日号](?![线楼门馆店机厅球选房位车床台院桌字码员文出])", _the_day),
        # seasons and years
        (rf"(?:{_YEAR}的?)?(?P<season>[春夏秋冬](?:天|季(?![一-龥]{2}))|(?<=年)[春夏秋冬](?![游装衣眠节分至])|(?<=年的)[春夏秋冬](?=[，。？！,?!]|$))",
         _season),
        (rf"(?:{_YEAR}的?)?(?P<name>暑假|寒假)", _school_holidays),
        (rf"(?:{_YEAR}的?)?(?:第?(?P<number>[一二三四1-4])个?季度|{_SHIFT}个?季度)", _quarter),
        (rf"(?P<shift>大前|(?<![以之目从大])前|去|(?<![晚早以])上(?=年(?!纪|级))|今|(?<!基)本(?=年度?)|明|(?<![以之然最])后)"
         rf"年(?!轻|代|级|龄)(?:度)?(?:年?{_SECTION})?", _relative_year),
        (r"(?P<shift>大前|前|去|明)年的?今天", _same_day),
        (rf"(?<![0-9{CHINESE_DIGITS}]){_YEAR}(?!代|级)(?:{_SECTION})?", _year),
        (rf"(?<![0-9])(?P<first>(?:19|20)[0-9]{{2}})年?\s*[-–—~到至]\s*{_YEAR}", _years),
        (r"(?P<section>年[初中底末]|[上下]半年)(?!级|恋|一|二|三|秋)", _piece_of_year),
        # as seen from now
        (rf"{_NOT_COUNTED}{NUMBER}多?{UNIT}(?P<half>半)?(?:之|以)?前(?![往面提后夕])", _ago),
        (r"(?P<some>前几|前些|前两|这几|这两|最近几)[天日]", _some_days),
        (rf"(?P<side>最近|过去|近|这|未来|接下来)的?{NUMBER}{UNIT}(?!前|以前|之前|后)", _recent),
        (rf"{_FROM_NOW}{NUMBER}{UNIT}(?:之|以)?后(?!的第|面|来)", _in_a_while),
        (rf"(?=[12一二元情三妇植愚清五劳青母六儿父教国十万双感平圣跨])(?:{_YEAR}的?)?(?:{_HOLIDAY})"
         r"(?!广场|路|街|村|老人|树|帽|袜|歌|口号|运动)", _holiday),
    )
)  # fmt: skip
