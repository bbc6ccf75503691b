"""Two thousand lines that nobody would type: each gets one reply, and nothing goes that was not asked to go."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from longterm_memory.chat.command_line import CommandLine, parse
from longterm_memory.chat.verbs import OPTIONS, VERBS, Verb
from longterm_memory.chat.voice import REPLY_MAX
from longterm_memory.errors import LongTermMemoryError
from longterm_memory.models import KEPT_STATUSES, Episode, Filters
from tests.support.memory import KB, Bot, new_bot

LINES, EXAMPLES = 20, 100
GROUP, PRIVATE, ELSEWHERE = ("group_77001", "9001"), ("person_9001", "9001"), ("group_77002", "9001")
EVERYTHING = Filters(statuses=KEPT_STATUSES)


def wide(word: str) -> str:
    """The word as a Chinese input method types it."""
    return "".join(chr(ord(ch) + 0xFEE0) if "!" <= ch <= "~" else ch for ch in word).replace(" ", "\u3000")


_VERBS = [word for spec in VERBS.values() for word in (spec.verb.value, *spec.aliases) if word]
_DASHES = ["--", "-", "—", "–", "－－", "−−", "——", "---", "﹣"]
_OPTIONS = [
    f"{dash}{name}{end}"
    for name in (*OPTIONS, "tga", "all", "标签", "Tag")
    for dash in _DASHES
    for end in ("", "=", ":", "＝")
]
_VALUES = [
    "9001", "9002", "９００１", "work", '"work"', "“play”", "「旅行 计划」", "10:00", "2026-05-10", "2999-01-01",
    "２０２６－０５－０１", "archived", "superseded", "active,archived", "all", "1", "2", "３", "0", "-1", "1e9",
    "l2", "md", "export", "preview", "run", "accept", "<ID0>", "<ID3>", "<ID5>", "[<ID1>]", "(id <ID2>)",
    "【<ID4>】", "<CODE>", "<OLDCODE>", "k7m29xqd", "a1b2", "undefined", '[{"content": "x y"}]', "[1, null]",
    '{"episodes": [\n {"content": "from a line"}]}', "{", "你好", "🙂", "👩\u200d👩\u200d👧", "\n", "\t", "\u3000",
    "\u200b", "\u202e", "\ud800", "\x00", '"', "'", "“", "」", "--", "—", "=", "*", "%", "\\", "</mem>", "<<x>>",
]  # fmt: skip
"""Values, ids (``<ID0>`` is the first memory there is), codes, JSON, and pieces of all of them."""
_FILTERS = {
    "tag": ["work", "play", '"work"', "“play”", "none"],
    "speaker": ["9001", "9002", "９００１", "'9001'"],
    "before": ["2026-05-10", "2026-05-11", "2999-01-01", "2999-01-01 10:00", "２９９９－０１－０１"],
    "status": ["active", "archived", "superseded", "active,superseded"],
}
_IDS = ["<ID{}>", "[<ID{}>]", "(id <ID{}>)", "【<ID{}>】", "`<ID{}>`", "<ID{}>."]


class Typist:
    """Types anything; hypothesis gives the seed, and pieces of text that it finds nasty."""

    def __init__(self, seed: int, noise: list[str]) -> None:
        self._random = Random(seed)
        self._noise = [*noise, ""]

    def line(self) -> str:
        pick = self._random.choice
        kind = self._random.random()
        if kind < 0.3:
            words = [self._typed("delete"), *(self._filter() for _ in range(pick([1, 1, 2, 2, 3])))]
        elif kind < 0.5:
            verb = pick(["forget", "f", "archive", "restore", "edit", "show"])
            words = [self._typed(verb), pick(_IDS).format(self._random.randrange(6))]
        elif kind < 0.65:
            words = [self._typed(pick(["forgetme", "import l2", "audit", "export"])), pick(_VALUES)]
        else:
            words = [pick([self._typed(pick(_VERBS)), self._word()])]
            words += [self._word() for _ in range(pick([0, 1, 2, 4]))]
        if self._random.random() < 0.2:
            words.insert(self._random.randrange(len(words) + 1), self._word())
        return pick([" ", " ", " ", "  ", "\n", "\u3000", ""]).join(words)

    def _typed(self, word: str) -> str:
        return self._random.choice([word, word, word.upper(), wide(word), f"“{word}”", f" {word}"])

    def _filter(self) -> str:
        pick = self._random.choice
        name = pick([*_FILTERS])
        shown = pick([name, name, wide(name), name.upper()])
        return f"{pick(['--', '--', *_DASHES])}{shown}{pick([' ', ' ', '=', '＝', ':', '　'])}{pick(_FILTERS[name])}"

    def _word(self) -> str:
        pick = self._random.choice
        return pick(
            [
                pick(_VERBS),
                wide(pick(_VERBS)),
                pick(_OPTIONS),
                pick(_VALUES),
                pick(_VALUES),
                pick(self._noise),
            ]
        )


async def populated(policy: str = "owner_or_admin") -> Bot:
    bot = await new_bot(config={"command_policy": policy})
    for text, where, more in (
        ("Mina's rent is due on the 15th", GROUP, {"tags": ["work"]}),
        ("Tao flies to Oslo on Friday", ("group_77001", "9002"), {"tags": ["work", "play"]}),
        ("Mina loves cilantro", GROUP, {}),
        ("Mina cannot stand cilantro", GROUP, {"tags": ["correction"]}),
        ("Mina's dentist is called Bo", PRIVATE, {"tags": ["play"]}),
        ("Mina sings in a choir", PRIVATE, {"importance": 5}),
        ("Mina plans a surprise elsewhere", ELSEWHERE, {"tags": ["work"]}),
    ):
        await bot.remember(text, *where, **more)
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "tall"}, *GROUP)
    return bot


async def stored(bot: Bot, where: tuple[str, str]) -> dict[str, Episode]:
    memory = await bot.memory(*where, via="console")
    return {e.id: e for e in await memory.select(EVERYTHING)}


def read(line: str) -> CommandLine | None:
    try:
        return parse(f"memory {line}")
    except LongTermMemoryError:
        return None


def options_in(raw: str) -> list[str]:
    """Names of everything in a line that looks like an option."""
    plain = re.sub("[‐‑‒–—―−﹣]", "--", unicodedata.normalize("NFKC", raw)).lower()
    return re.findall(r"(?:^|\s)-{1,9}([a-z][a-z-]*)(?=[\s=:]|$)", plain)


def may_go(raw: str, before: dict[str, Episode], code: str) -> set[str]:
    """The ids that a line asks to delete: an id, filters, or a code that was given out."""
    line = read(raw)
    if line is None:
        return set()
    if line.verb is Verb.FORGET:
        chain = {line.id}
        while older := {i for e in map(before.get, chain) if e for i, _ in e.supersedes} - chain:
            chain |= older
        return chain
    if line.verb is Verb.DELETE:
        assert line.options, "a line that deletes has a filter"
        assert set(options_in(raw)) <= line.options, "none of its filters is passed over"
        return {i for i, e in before.items() if line.filters.keeps(e)}
    if line.verb is Verb.FORGETME and code and line.text.strip("[]\"'`<>").lower() == code:
        return {i for i, e in before.items() if e.sender_id == "9001"}
    return set()


async def typed(lines: Iterable[str], where: tuple[str, str], policy: str = "owner_or_admin") -> int:
    """Type lines into one conversation; returns how many memories went."""
    bot = await populated(policy)
    ids = [*(await stored(bot, GROUP)), *(await stored(bot, PRIVATE))]
    other = ELSEWHERE if where == GROUP else GROUP
    untouched, code, gone_in_all = await stored(bot, other), "", 0
    for raw in lines:
        line = re.sub(r"<ID(\d)>", lambda m: ids[int(m[1])], raw).replace("<OLDCODE>", "k7m29x")
        line = line.replace("<CODE>", code or "k7m29x")
        before = await stored(bot, where)
        reply = await bot.command(f"memory {line}", *where)
        after = await stored(bot, where)
        assert reply, line
        assert len(reply) <= REPLY_MAX, line
        reply.encode()
        assert "Traceback" not in reply, line
        gone = set(before) - set(after)
        assert gone <= may_go(line, before, code), (line, reply)
        changed = {i for i in set(before) & set(after) if before[i] != after[i]}
        seen = read(line)
        assert not changed or (
            seen is not None and seen.verb in (Verb.EDIT, Verb.ARCHIVE, Verb.RESTORE) and changed == {seen.id}
        ), line
        gone_in_all += len(gone)
        given_out = re.search(r"forgetme ([0-9a-z]{6})$", reply)
        code = given_out[1] if given_out else code
    assert await stored(bot, other) == untouched
    kept = [await stored(bot, place) for place in (GROUP, PRIVATE, ELSEWHERE)]
    rows = [row for row in bot.api.rows[KB].values() if row.metadata.get("user_key")]
    assert len(rows) == sum(map(len, kept)), "no row is left over"
    return gone_in_all


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    # The line stands in the message; making it shorter would take minutes.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.text(max_size=8), max_size=8),
    st.sampled_from([GROUP, PRIVATE]),
    st.sampled_from(["owner_or_admin", "everyone"]),
)
def test_any_line_gets_a_reply_and_deletes_only_what_it_names(
    seed: int, noise: list[str], where: tuple[str, str], policy: str
) -> None:
    typist = Typist(seed, noise)
    asyncio.run(typed([typist.line() for _ in range(LINES)], where, policy))


@pytest.mark.parametrize("where", [GROUP, PRIVATE], ids=["group", "private"])
async def test_the_same_watch_sees_real_deletions(where: tuple[str, str]) -> None:
    """Were nothing ever deleted above, the test above would prove nothing."""
    named = "<ID0>" if where == GROUP else "<ID4>"
    assert await typed(["list", f"forget {named}", "forgetme", "forgetme <CODE>"], where) >= 2
