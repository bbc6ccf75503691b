"""The offline agent: answers chat requests with rules instead of a language model, and really uses the tools.

It knows nothing but the request it gets. What somebody tells is stored with ``update_profile`` and
``remember``; a correction uses the same fact key and the tag ``correction``; "forget …" finds an id with
``recall_memory`` and gives it to ``forget``; a question is answered *only* from the memory in the prompt or
from what ``recall_memory`` returns, so an answer proves what was injected. English and Chinese.

The rules, in the order they are tried:

=============================================  ====================================================
said                                           done
=============================================  ====================================================
"forget …", "忘掉…"                            ``recall_memory``, then ``forget`` with the best id
a question                                     answer from memory, else ``recall_memory``, else "I don't know"
"my name is …", "I am allergic to …", "我叫…"  ``update_profile`` (see ``_FACTS``)
"actually …", "更正…", "不是…，是…"            the same, and ``remember`` tagged as a correction
"remember that …", plans, decisions, dates     ``remember``
anything else                                  nothing is stored
=============================================  ====================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from playground.chat_script import Answer, Call, spoken, text_of
from playground.memory_view import Entry, MemoryView, Record, records_in

_CJK = re.compile(r"[\u3400-\u9fff]")

# ---------------------------------------------------------------- what the agent understands


@dataclass(frozen=True)
class _Topic:
    """Words that mean the same thing to the agent, and the fact key it files them under."""

    pattern: str
    key: str = ""


_TOPICS = (
    _Topic(r"\ballerg\w*|过敏", "allergies"),
    _Topic(r"\b(?:drinks?|teas?|coffees?)\b|[喝茶]|咖啡", "favourite_drink"),
    _Topic(r"\b(?:eats?|foods?|dishe?s?|diet|spicy|vegetarian)\b|吃|辣", "diet"),
    _Topic(r"\b(?:liv(?:e|es|ing)|home|city|town)\b|住|城市", "home_city"),
    _Topic(r"\b(?:jobs?|works?|profession)\b|工作|职业", "job"),
    _Topic(r"\b(?:names?|called)\b|叫什么|名字", "name"),
    _Topic(r"\b(?:fly|flies|flights?|trips?|travel\w*)\b|飞|航班|旅行"),
    _Topic(r"\b(?:part(?:y|ies)|celebrat\w*)\b|派对|聚会"),
    _Topic(r"\b(?:meet|meets|meetings?|appointments?)\b|会议|开会|见面"),
)


@dataclass(frozen=True)
class _Fact:
    """A way to tell a stable fact, and where it goes. Without a *key* the topic of the value gives one."""

    pattern: str
    field: str
    value: str
    key: str = ""


_FACTS = (
    _Fact(r"(?:[Mm]y name is|[Cc]all me) (?P<v>.+)", "name", "{v}"),
    _Fact(r"I(?:'m| am) (?P<v>[A-Z]\w+)$", "name", "{v}"),
    _Fact(r"I(?:'m| am) allergic to (?P<v>.+)", "traits", "allergic to {v}", "allergies"),
    _Fact(r"I (?:now )?live in (?P<v>.+?)(?: now)?$", "traits", "lives in {v}", "home_city"),
    _Fact(r"I work as (?:an? )?(?P<v>.+)", "traits", "works as {v}", "job"),
    _Fact(r"I (?:now )?(?:like|love|prefer) (?P<v>.+)", "preferences", "likes {v}"),
    _Fact(r"我(?:的名字)?(?:叫|是叫)(?P<v>.+)", "name", "{v}"),
    _Fact(r"我对(?P<v>.+?)过敏", "traits", "对{v}过敏", "allergies"),
    _Fact(r"我(?:现在)?住在(?P<v>.+)", "traits", "住在{v}", "home_city"),
    _Fact(r"我(?:最)?喜欢的?不是(?P<old>.+?)[，,]\s*而?是(?P<v>.+)", "preferences", "喜欢{v}"),
    _Fact(r"我(?:现在|最)?(?:喜欢|爱)(?P<v>.+)", "preferences", "喜欢{v}"),
    _Fact(r"我不吃(?P<v>.+)", "preferences", "不吃{v}"),
)

_FORGET = re.compile(
    r"^(?:please )?forget (?:about |that )?(?P<what>.+)|^(?:请)?(?:忘掉|忘了|忘记)(?P<cn>.+)", re.I | re.S
)
_REMEMBER = re.compile(
    r"^(?:please )?remember(?: that|:)? (?P<what>.+)|^(?:请)?记住[：:，,]?(?P<cn>.+)", re.I | re.S
)
_CORRECTION = re.compile(r"^(?:actually|correction|sorry)\b[,:]?\s*|^(?:其实|更正|纠正一下)[：:，,]?", re.I)
_INSTEAD = re.compile(r"不是.+?[，,]\s*而?是")
_PLAN = re.compile(
    r"\b(?:decided|plan(?:s|ned|ning)?|booked|moved|meeting|will|deadline)\b|决定|计划|打算|改到|定在", re.I
)
_QUESTION = re.compile(r"[?？]\s*$|^(?:what|when|where|who|which|how)\b|什么|几号|哪|吗$|谁", re.I)
_SINGULAR = re.compile(r"\b(?:I|me|my|mine)\b|我(?!们)", re.I)
_CLAUSES = re.compile(r"[.!?;](?=\s|$)|[。！？；]|,? and (?=(?:I|my|we)\b)|, (?=(?:I|my|we)\b)|[，,](?=我)")
_DONE = re.compile(r"Done|Stored|Already|Added|Kept|Nothing to change")
"""How the tools' results begin when the thing is in memory."""
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DATES = (
    re.compile(rf"(?P<d>\d{{1,2}}) (?P<name>{'|'.join(_MONTHS)}) (?P<y>\d{{4}})"),
    re.compile(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)"),
    re.compile(r"(?P<y>\d{4})年(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]"),
)
_STOP = frozenset(
    re.findall(
        r"\S+",
        "the and for with that this what when where who which how does did was were are you your our has"
        " have had about there here from into not any all can will now know 什么 我们 你们 一下 知道 时候",
    )
)
_THIRD_PERSON = (
    (r"\bI(?:'m| am)\b", "{n} is"),
    (r"\bI(?:'ve| have)\b", "{n} has"),
    (r"\bI(?:'ll| will)\b", "{n} will"),
    (r"\bI\b", "{n}"),
    (r"\b[Mm]y\b", "{n}'s"),
    (r"\b[Ww]e(?:'re| are)\b", "the group is"),
    (r"\b[Ww]e(?:'ve| have)\b", "the group has"),
    (r"\b[Ww]e\b", "the group"),
    (r"\b[Oo]ur\b", "the group's"),
    (r"我们", "大家"),
    (r"我", "{n}"),
)


# ---------------------------------------------------------------- one decision


@dataclass(frozen=True)
class _Turn:
    """The state of a turn, all of it read from the request."""

    said: str
    view: MemoryView
    results: tuple[str, ...]
    """Results of the tools called in this turn so far."""

    @classmethod
    def of(cls, messages: Sequence[dict[str, Any]]) -> _Turn:
        last = max((n for n, row in enumerate(messages) if row.get("role") == "user"), default=-1)
        said = spoken(messages[last]).strip() if last >= 0 else ""
        results = tuple(text_of(row) for row in messages[last + 1 :] if row.get("role") == "tool")
        return cls(said, MemoryView.of(messages), results)

    @property
    def chinese(self) -> bool:
        return bool(_CJK.search(self.said))


def decide(body: Mapping[str, Any], today: date | None = None) -> Answer:
    """Answer one chat request: with tool calls, or with the final text once they are done.

    Args:
        body: the request, as the OpenAI API defines it.
        today: the day that "tomorrow" counts from; by default the current one.
    """
    turn = _Turn.of([row for row in body.get("messages") or [] if isinstance(row, dict)])
    forget = _FORGET.search(turn.said)
    if forget:
        return _forget(turn, (forget["what"] or forget["cn"]).strip(" .!。！"))
    if _QUESTION.search(turn.said):
        return _reply(turn)
    calls = list(_statements(turn, today or date.today()))
    if calls and not turn.results:
        return Answer(calls=calls)
    return Answer(text=_noted(turn, calls))


def _statements(turn: _Turn, today: date) -> Iterator[Call]:
    """Turn what was told into tool calls, clause by clause."""
    corrected = bool(_CORRECTION.search(turn.said) or _INSTEAD.search(turn.said))
    explicit = _REMEMBER.search(turn.said)
    if explicit:
        yield _remember(turn, explicit["what"] or explicit["cn"], today, corrected)
        return
    for clause in _CLAUSES.split(turn.said):
        text = _CORRECTION.sub("", clause.strip()).strip(" ,，.。")
        fact = _profile_call(turn, text)
        if fact is not None:
            yield fact
            if corrected:
                # A sentence of its own: a record of the change must not bring the old value back.
                yield _remember(turn, _sentence(fact), today, corrected)
        elif text and (corrected or _PLAN.search(text) or _date_in(text)):
            yield _remember(turn, text, today, corrected)


def _profile_call(turn: _Turn, clause: str) -> Call | None:
    for fact in _FACTS:
        found = re.search(fact.pattern, clause)
        if found is None:
            continue
        value = fact.value.format(v=found["v"].strip(" ,，.。!！"))
        if fact.field == "name":
            return Call("update_profile", {"field": "name", "action": "set", "value": value})
        key = fact.key or next((topic.key for topic in _TOPICS if re.search(topic.pattern, value, re.I)), "")
        arguments = {"field": fact.field, "action": "set" if key else "add", "value": value}
        return Call("update_profile", arguments | ({"fact_key": key} if key else {}))
    return None


def _sentence(fact: Call) -> str:
    value = str(fact.arguments["value"])
    return f"我现在{value}" if _CJK.search(value) else f"I now {value}"


def _remember(turn: _Turn, clause: str, today: date, corrected: bool) -> Call:
    text, day = _with_dates(clause.strip(" .。"), today)
    for pattern, third in _THIRD_PERSON:
        text = re.sub(pattern, third.format(n=turn.view.name), text)
    arguments: dict[str, Any] = {"content": text[:1].upper() + text[1:], "importance": 3}
    if corrected:
        arguments["tags"] = ["correction"]
    if day:
        arguments["event_time"] = day.isoformat()
    return Call("remember", arguments)


def _noted(turn: _Turn, calls: Sequence[Call]) -> str:
    """Confirm what the tools say they stored, and quote a tool that says otherwise."""
    if not calls:
        return "好的。（没有需要记住的内容）" if turn.chinese else "All right. (Nothing in that to remember.)"
    refused = [result.strip() for result in turn.results if not _DONE.match(result.strip())]
    if refused:
        return (
            f"没记下：{' '.join(refused)}"
            if turn.chinese
            else f"Not all of that was kept: {' '.join(refused)}"
        )
    facts = [str(call.arguments.get("value") or call.arguments.get("content")) for call in calls]
    return f"记下了：{'；'.join(facts)}。" if turn.chinese else f"Noted: {'; '.join(facts)}."


def _forget(turn: _Turn, what: str) -> Answer:
    """Find the memory that fits best and delete it by its id; a profile entry about it is removed too."""
    if not turn.results:
        return Answer(calls=[Call("recall_memory", {"query": what, "top_k": 5})])
    if len(turn.results) == 1:
        wanted = _terms(what)
        found = _best(wanted, records_in(turn.results[0]))[:1]
        calls = [Call("forget", {"episode_id": row.id}) for row in found]
        for entry in _best(
            wanted, [e for e in turn.view.entries if e.owner == "speaker" and e.field != "notes"]
        ):
            calls.append(
                Call("update_profile", {"field": entry.field, "action": "remove", "value": entry.value})
            )
        if calls:
            return Answer(calls=calls)
        return Answer(text="我这里没有相关的记忆。" if turn.chinese else "I have no memory about that.")
    # The first sentence of each result says what happened; the rest is advice for the model.
    return Answer(text=" ".join(re.split(r"(?<=[.。])\s", result.strip())[0] for result in turn.results[1:]))


def _reply(turn: _Turn) -> Answer:
    """Answer a question from memory, or say that nothing is known."""
    asked = _terms(turn.said)
    own = bool(_SINGULAR.search(turn.said))
    entries = [e for e in turn.view.entries if e.owner == "speaker" or not own]
    known = _best(asked, entries)
    if known:
        facts = "；".join(e.value for e in known) if turn.chinese else "; ".join(e.value for e in known)
        return Answer(
            text=f"你的资料里写着：{facts}。" if turn.chinese else f"Your profile here says: {facts}."
        )
    records = [*turn.view.records, *(row for result in turn.results for row in records_in(result))]
    told = _best(asked, [row for row in records if not own or _is_from(row, turn.view)])
    if told:
        first = told[0]
        if turn.chinese:
            return Answer(text=f"{first.who}告诉过我：{first.text}。")
        return Answer(text=f"{first.who} told me: {first.text}.")
    if not turn.results:
        return Answer(calls=[Call("recall_memory", {"query": turn.said})])
    if turn.chinese:
        return Answer(text="我不知道：这里的记忆里没有相关内容。")
    return Answer(text="I don't know: nothing in my memory here answers that.")


def _is_from(record: Record, view: MemoryView) -> bool:
    return bool({view.speaker_name, view.speaker_id} & {record.who, *record.who.split("/")})


# ---------------------------------------------------------------- words and dates


def _terms(text: str) -> frozenset[str]:
    """Return what *text* is about: its topics, its longer words, the pairs of its Chinese characters."""
    topics = {f"#{n}" for n, topic in enumerate(_TOPICS) if re.search(topic.pattern, text, re.I)}
    words = {word for word in re.findall(r"[a-z][a-z0-9-]{2,}|\d{3,}", text.lower()) if word not in _STOP}
    runs = re.findall(r"[\u3400-\u9fff]+", text)
    pairs = {run[n : n + 2] for run in runs for n in range(len(run) - 1)} - _STOP
    return frozenset(topics | words | pairs)


def _best(wanted: frozenset[str], candidates: Iterable[Entry] | Iterable[Record]) -> list[Any]:
    """Return the candidates that share most with *wanted*, at least one term; they keep their order."""
    scored = []
    for candidate in candidates:
        about = f"name {candidate.text}" if getattr(candidate, "field", "") == "name" else candidate.text
        scored.append((len(wanted & _terms(about)), candidate))
    top = max((score for score, _ in scored), default=0)
    return [candidate for score, candidate in scored if score == top and top > 0]


def _date_in(text: str) -> date | None:
    for pattern in _DATES:
        found = pattern.search(text)
        if found:
            parts = found.groupdict()
            month = _MONTHS.index(parts["name"]) + 1 if parts.get("name") else int(parts["m"])
            try:
                return date(int(parts["y"]), month, int(parts["d"]))
            except ValueError:
                continue
    return None


def _with_dates(text: str, today: date) -> tuple[str, date | None]:
    """Write "tomorrow" out, and return the day the text names."""
    ahead = today + timedelta(days=1)
    text = re.sub(
        r"\btomorrow\b", f"on {ahead.day} {_MONTHS[ahead.month - 1]} {ahead.year}", text, flags=re.I
    )
    text = text.replace("明天", f"{ahead.year}年{ahead.month}月{ahead.day}日")
    return text, _date_in(text)
