"""Cases from the field about files and limits, through every front that takes a file: chat, console, upload, restore.

Whatever the front, the same file is judged alike, and a second time it adds nothing.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from longterm_memory.console import answer
from longterm_memory.drafts import TAGS_CHARS_MAX, TAGS_MAX
from longterm_memory.models import CONTENT_MAX, KEPT_STATUSES, Episode, Filters
from longterm_memory.profile_changes.request import ENTRY_MAX, KEY_MAX, NAME_MAX, NOTES_MAX
from longterm_memory.scope import Scope
from longterm_memory.transfer.uploads import upload
from longterm_memory.words import explain
from playground.engines.wire import HostError
from tests.support.memory import KB, Bot, new_bot

HERE, THERE = (Scope.of_session(f"group_7700{n}", bot_uuid="b-01") for n in (1, 2))
KEY = HERE.user_key


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longterm_memory.importer.PAUSES", (0, 0, 0))
    monkeypatch.setattr("longterm_memory.embeddings.sleep", lambda _: asyncio.sleep(0))


async def new() -> Bot:
    return await new_bot(config={"memory_admins": "9001"})


async def kept(bot: Bot, scope: Scope = HERE) -> dict[str, str]:
    """What a new process finds, by id."""
    bot.restart()
    store = bot.service.episodes(await bot.service.collection())
    found: list[Episode] = await store.select(scope.user_key, Filters(statuses=KEPT_STATUSES))
    assert len({e.id for e in found}) == len(found)
    return {e.id: e.content for e in found}


@dataclass(frozen=True)
class Report:
    """What a front told about a file."""

    accepted: int
    skipped: int
    rejected: int
    text: str


async def by_chat(bot: Bot, data: bytes) -> Report:
    text = await bot.command(f"memory import l2 {data.decode()}")
    found = re.search(r"New: (\d+) memor.* Here already: (\d+)\. Rejected: (\d+)\.", text)
    return Report(*(map(int, found.groups()) if found else (0, 0, 0)), text)  # type: ignore[arg-type]


async def by_upload(bot: Bot, data: bytes) -> Report:
    report = await upload(bot.service, data, str(uuid4()))
    told = [f"row {r.line}: {explain('en_US', r.reason)}" for r in (*report.rejected, *report.notes)]
    text = "\n".join([*told, explain("en_US", report.error) if report.error else ""])
    return Report(report.accepted, report.skipped, len(report.rejected), text)


async def by_page(bot: Bot, data: bytes, endpoint: str = "/import") -> Report:
    await answer(bot.service, "/derive", "POST", {"bot_uuid": "b-01", "session_name": "group_77001"})
    body = {"space_id": HERE.space_id, "data": base64.b64encode(data).decode()}
    told = await answer(bot.service, endpoint, "POST", body)
    text = "\n".join(
        [*(f"row {r['line']}: {r['text']}" for r in told["rejected"] + told["notes"]), told["stopped"]]
    )
    return Report(told["accepted"], told["skipped"], told["rejected_total"], text)


async def by_restore(bot: Bot, data: bytes) -> Report:
    return await by_page(bot, data, "/restore_file")


Front = Callable[[Bot, bytes], Awaitable[Report]]
FRONTS: dict[str, Front] = {"chat": by_chat, "page": by_page, "upload": by_upload, "restore": by_restore}
FRONT = pytest.mark.parametrize("front", FRONTS.values(), ids=FRONTS)


def row(content: object, **more: Any) -> dict[str, Any]:
    return {"content": content, "user_key": KEY, **more}


def dumped(rows: object) -> bytes:
    return json.dumps(rows, ensure_ascii=False).encode()


# ---------------------------------------------------------------- shapes


async def _own_export() -> bytes:
    bot = await new()
    for text in ("the tent is green", "阿明喜欢香菜"):
        await bot.remember(text)
    reply = await bot.command("memory export l2")
    return reply[reply.index("{") :].encode()


PAIR = [row("the tent is green"), row("阿明喜欢香菜")]
SIXTY = [
    row(f"note number {n}", timestamp="2026-05-01" if n != 39 else "2026-05-01T25:61:00") for n in range(60)
]
MIXED = [1, "a", None, {"content": 5}, {"content": " "}, row("the tent is green")]


@FRONT
async def test_every_shape_is_read_alike_and_adds_nothing_twice(front: Front) -> None:
    """O1: BOM, UTF-16, JSON Lines, a wrapped list, our own export, empty, mixed, damaged; row by row."""
    text = dumped(PAIR)
    shapes: dict[str, tuple[bytes, tuple[int, int]]] = {
        "list": (text, (2, 0)),
        "one object": (dumped(PAIR[0]), (1, 0)),
        "BOM": (b"\xef\xbb\xbf" + text, (2, 0)),
        "UTF-16": (text.decode().encode("utf-16"), (2, 0)),
        "JSON Lines": (b"\n".join(map(dumped, PAIR)), (2, 0)),
        "wrapped": (dumped({"episodes": PAIR}), (2, 0)),
        "our own export": (await _own_export(), (2, 0)),
        "a bad time in row 40 of 60": (dumped(SIXTY), (59, 1)),
        "mixed": (dumped(MIXED), (1, 5)),
        **{
            f"nothing in {given!r}": (given, (0, 0)) for given in (b"[]", b"{}", b'"x"', b"", b"\xff\xfe\x00")
        },
        "truncated": (text[:-20], (0, 0)),
    }
    for shape, (data, (accepted, rejected)) in shapes.items():
        if front is by_chat and shape in ("UTF-16", "BOM", r"nothing in b'\xff\xfe\x00'"):
            continue  # nobody types those
        bot = await new()
        for turn in range(2):
            report = await front(bot, data)
            new_rows, old_rows = (accepted, 0) if turn == 0 else (0, accepted)
            assert (report.accepted, report.skipped, report.rejected) == (new_rows, old_rows, rejected), shape
            assert accepted or report.text.strip(), shape
            lines = {1: [40], 5: [1, 2, 3, 4, 5]}.get(rejected, [])
            assert all(f"row {line}: " in report.text for line in lines), (shape, report.text)
            assert len(await kept(bot)) == accepted, shape


async def test_a_chat_user_never_writes_another_scope() -> None:
    """O1: whatever the file says, the target is the chat it was typed in."""
    for isolation in ("session", "bot"):
        bot = await new_bot(config={"memory_admins": "9001", "isolation": isolation})
        for n, claim in enumerate(
            (
                {"user_key": THERE.user_key},
                {"user_key": "bot:b-02"},
                {"scope_key": THERE.scope_key, "bot_uuid": "b-02", "session_name": "group_77002"},
                {"user_key": "", "session_name": "person_9002"},
            )
        ):
            assert (await by_chat(bot, dumped([{"content": f"fact number {n}", **claim}]))).accepted == 1
        own = "bot:b-01" if isolation == "bot" else KEY
        rows = [r.metadata for r in bot.api.rows[KB].values() if r.metadata.get("user_key")]
        assert {(m["user_key"], m["session_name"], m["bot_uuid"]) for m in rows} == {
            (own, "group_77001", "b-01")
        }


@FRONT
async def test_one_id_twice_is_said_and_the_rest_comes_in(front: Front) -> None:
    """F8: of two rows with one id the first counts; an id that another conversation has stays that one's."""
    bot = await new()
    await by_upload(bot, dumped([{"id": "k7m29xqd", "content": "theirs", "user_key": THERE.user_key}]))
    rows = [
        row("one", id="k7m29xqd"),
        row("another", id="k7m29xqd"),
        row("two", id=7),
        row("two b", id="7"),
        row("rest"),
    ]
    for accepted, skipped in ((3, 2), (0, 5)):
        report = await front(bot, dumped(rows))
        assert (report.accepted, report.skipped, report.rejected) == (accepted, skipped, 0)
        assert "k7m29xqd" in report.text
    assert sorted((await kept(bot)).values()) == ["one", "rest", "two"]
    assert list((await kept(bot, THERE)).values()) == ["theirs"]


@FRONT
async def test_a_rate_limit_stops_an_import_in_words_and_it_can_be_repeated(front: Front) -> None:
    """G4: on every call, and from the third call on."""
    for passed in (0, 2):
        bot = await new()
        await bot.remember("the tent is green")
        data = dumped([row(f"note number {n}") for n in range(500)])
        bot.api.faults.fail, bot.api.faults.let_pass = {"invoke_embedding"}, {"invoke_embedding": passed}
        bot.api.faults.error = HostError(
            "ActionCallError: [EmbeddingError/RateLimitError] 429 Too Many Requests"
        )
        with bot.api.calls.recording() as calls:
            report = await front(bot, data)
        assert calls.counts["invoke_embedding"] <= 12 + passed
        assert "embedding service" in report.text
        there = len(await kept(bot)) - 1
        assert there == report.accepted < 500
        assert passed or not there
        bot.api.faults.clear()
        bot.clock.move(seconds=120)
        report = await front(bot, data)
        assert (report.accepted, report.skipped, report.rejected) == (500 - there, there, 0)
        assert len(await kept(bot)) == 501


# ---------------------------------------------------------------- limits


async def by_tool(bot: Bot, data: bytes) -> Report:
    (given,) = json.loads(data)
    text = await bot.tool("remember", {"content": given["content"], "tags": given.get("tags")})
    return Report(int(text.startswith("Stored")), 0, int(not text.startswith("Stored")), text)


async def by_edit(bot: Bot, data: bytes) -> Report:
    (given,) = json.loads(data)
    one = await bot.remember("something short")
    text = await bot.command(f"memory edit {one} {given['content']}")
    changed = text.startswith("Changed")
    if not changed:
        await bot.command(f"memory forget {one}")
    return Report(int(changed), 0, int(not changed), text)


async def test_the_size_of_a_memory_is_limited_alike_everywhere() -> None:
    """K5: to the character; refused with the numbers, nothing stored, nothing cut."""
    for name, front in {**FRONTS, "tool": by_tool, "edit": by_edit}.items():
        for given, fits, numbers in (
            ({"content": "x" * CONTENT_MAX}, True, ()),
            ({"content": "记" * CONTENT_MAX}, True, ()),
            ({"content": "x" * (CONTENT_MAX + 1)}, False, (CONTENT_MAX, CONTENT_MAX + 1)),
            ({"content": "tagged", "tags": [f"tag {n}" for n in range(TAGS_MAX)]}, True, ()),
            (
                {"content": "tagged", "tags": [f"tag {n}" for n in range(TAGS_MAX + 1)]},
                False,
                ("tags", TAGS_MAX),
            ),
            ({"content": "tagged", "tags": ["x" * (TAGS_CHARS_MAX + 1)]}, False, ("tags", TAGS_CHARS_MAX)),
        ):
            if name == "edit" and "tags" in given:
                continue  # an edit changes the text only
            bot = await new()
            report = await front(bot, dumped([row(**given)]))
            what = (name, str(given)[:60], report.text[:300])
            assert (report.accepted, report.rejected) == ((1, 0) if fits else (0, 1)), what
            assert list((await kept(bot)).values()) == [given["content"]] * fits, what
            assert all(str(number) in report.text for number in numbers), what


async def test_the_sizes_of_a_profile_are_limited_alike_everywhere() -> None:
    """K5: by the tool, the console, an upload and a restore; an addition beyond a limit is never silent."""
    for field, limit in (
        ("name", NAME_MAX),
        ("traits", ENTRY_MAX),
        ("preferences", ENTRY_MAX),
        ("notes", NOTES_MAX),
    ):
        for length in (limit, limit + 1):
            text = ("ab " * length)[: length - 1] + "z"
            for name, front in {"tool": None, **FRONTS}.items():
                if front is by_chat:
                    continue  # takes in no profiles
                bot = await new()
                if front is None:
                    change = {"scope": "session", "field": field, "action": "set", "value": text}
                    told = await bot.tool("update_profile", change)
                else:
                    profile = {field: [text] if field in ("traits", "preferences") else text}
                    one = {"type": "session", "scope_key": HERE.scope_key, "profile": profile}
                    told = (await front(bot, dumped({"profiles": [one]}))).text
                bot.restart()
                stored = (await bot.service.profiles.session(HERE)).public()[field]
                assert (text in stored) == (length == limit), (name, field, length)  # type: ignore[operator]
                if length > limit:
                    assert not stored, (name, field)
                    assert str(limit) in told, (name, field, told)
                    assert str(length) in told, (name, field, told)


async def test_the_number_of_entries_is_limited_alike_everywhere() -> None:
    """K5: ``max_profile_traits`` and ``max_profile_preferences``, and the length of a key."""
    for field, setting in (("traits", "max_profile_traits"), ("preferences", "max_profile_preferences")):
        entries = [f"likes number {n}" for n in range(6)]
        for name, front in {"tool": None, **FRONTS}.items():
            if front is by_chat:
                continue
            bot = await new_bot(config={"memory_admins": "9001", setting: 5})
            if front is None:
                for entry in entries:
                    change = {"scope": "session", "field": field, "action": "add", "value": entry}
                    told = await bot.tool("update_profile", change)
            else:
                one = {"type": "session", "scope_key": HERE.scope_key, "profile": {field: entries}}
                told = (await front(bot, dumped({"profiles": [one]}))).text
            bot.restart()
            assert len((await bot.service.profiles.session(HERE)).public()[field]) == 5, name  # type: ignore[arg-type]
            assert "5" in told, (name, told)
    bot = await new()
    change = {"field": "traits", "action": "set", "value": "x", "fact_key": "k" * (KEY_MAX + 1)}
    assert str(KEY_MAX) in await bot.tool("update_profile", change)
    slots = {"traits": {"k" * (KEY_MAX + 1): {"value": "x"}}}
    one = {"type": "session", "scope_key": HERE.scope_key, "profile": {}, "slots": slots}
    for front in (by_page, by_upload, by_restore):
        assert (await front(bot, dumped({"profiles": [one]}))).rejected == 1
    assert (await bot.service.profiles.session(HERE)).empty
