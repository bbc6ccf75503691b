"""Every fault of a host against every verb that changes or shows memory (the reliability list of the project's bars).

For each pair: the verb answers in a sentence of ours, nobody else's memory shows, the chat goes on; and once the fault
is over, in a new process, what was acknowledged is there, every single record is as it was before or as the verb makes
it (never half), and the verb can be repeated.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from longterm_memory.console import answer
from longterm_memory.models import KEPT_STATUSES, Filters
from longterm_memory.scope import Isolation, Scope
from longterm_memory.transfer.importing import import_file
from longterm_memory.words import load
from tests.support.memory import Bot, new_bot
from tests.support.strict_host import StrictHost
from tests.support.trouble import FAULTS, FOREIGN, heard, hurried

HERE, THERE = (Scope.of_session(f"group_7700{n}", bot_uuid="b-01") for n in (1, 2))
MINA, TAO, SOMEBODY = "9001", "9002", "9009"
RENT, CHOIR, CATS, HERON, BOAT, TENT = (f"k7m29xq{letter}" for letter in "abcdef")
KNOWN = (RENT, CHOIR, CATS, HERON, BOAT, TENT)
KAYAK = "Tao has a kayak"
State = dict[str, object]


async def lived_in() -> Bot:
    """Two conversations with memories under known ids, profiles, a snapshot, an audit log; for a process just begun."""
    if not _SEED:
        _SEED.append((await _seeded()).api)
    api = StrictHost()
    api.rows = {name: dict(rows) for name, rows in _SEED[0].rows.items()}
    api._dimensions, api.values = dict(_SEED[0]._dimensions), dict(_SEED[0].values)
    return Bot(api, {"memory_admins": MINA})


_SEED: list[StrictHost] = []


async def _seeded() -> Bot:
    bot = await new_bot(config={"memory_admins": MINA})
    rows = [
        (HERE, RENT, "Mina's rent is due on the 15th", MINA, "active"),
        (HERE, CHOIR, "Mina sings in a choir", MINA, "archived"),
        (HERE, CATS, "Tao is allergic to cats", TAO, "active"),
        (THERE, HERON, FOREIGN, SOMEBODY, "active"),
    ]
    names = ("user_key", "id", "content", "sender_id", "status")
    data = [dict(zip(names, (scope.user_key, *row), strict=True)) for scope, *row in rows]
    report = await import_file(bot.service, json.dumps(data).encode(), into=None, isolation=Isolation.SESSION)
    assert report.accepted == len(rows)
    for sender, trait in ((MINA, "left-handed"), (TAO, "sailor")):
        change = {"field": "traits", "action": "add", "value": trait}
        await bot.tool("update_profile", change, "group_77001", sender)
    await bot.hear("when is Mina's rent due?")
    return bot


async def state(bot: Bot) -> State:
    """Everything that a new process finds, record by record."""
    bot.restart()
    service = bot.service
    found: State = {}
    store = service.episodes(await service.collection())
    for scope in (HERE, THERE):
        for e in await store.select(scope.user_key, Filters(statuses=KEPT_STATUSES)):
            name = e.id if e.id in KNOWN else e.content  # other ids differ from time to time
            assert name not in found, "every memory once"
            found[name] = (e.content, str(e.status), e.sender_id, e.importance)
    profiles, problems = await service.profiles.list_profiles()
    assert not problems
    found |= {f"profile of {p.speaker.id}": p.profile.traits for p in profiles if not p.profile.empty}
    found["off"] = await service.opt_outs.of(HERE)
    kept = await service.backups.kept()
    found["backup"] = kept and (kept.episodes, kept.profiles + kept.unread)
    return found


# ---------------------------------------------------------------- verbs


async def typed(bot: Bot, line: str) -> str:
    return await bot.command(f"memory {line}")


async def asked(bot: Bot, endpoint: str, **body: Any) -> str:
    return json.dumps(await answer(bot.service, endpoint, "POST", body), ensure_ascii=False)


async def on_page(bot: Bot, endpoint: str, **body: Any) -> str:
    await asked(bot, "/derive", bot_uuid="b-01", session_name="group_77001")
    return await asked(bot, endpoint, space_id=HERE.space_id, **body)


async def forgetme(bot: Bot) -> str:
    return (await typed(bot, "forgetme")).rpartition("!memory ")[2]


async def code(bot: Bot, ask: Callable[[Bot], Awaitable[str]]) -> str:
    return str(json.loads(await ask(bot)).get("code", ""))


NEW = [
    {"id": BOAT, "content": "Mina bought a boat", "sender_id": MINA},
    {"id": TENT, "content": "the tent is green", "sender_id": MINA},
]
FILE = base64.b64encode(json.dumps(NEW).encode()).decode()


@dataclass(frozen=True)
class Verb:
    """Something that people or operators do.

    Attributes:
        act: does it; gets what ``prepare`` returned, which went before the fault.
        done: what stands in the answer exactly when all of it is acknowledged.
        shows: for a verb that only shows: every text that must be in what it shows.
        coded: whether ``prepare`` gets the code that confirms it; a code is good once.
    """

    act: Callable[[Bot, str], Awaitable[str]]
    done: str
    prepare: Callable[[Bot], Awaitable[str]] | None = None
    shows: tuple[str, ...] = ()
    coded: bool = False


def line(text: str) -> Callable[[Bot, str], Awaitable[str]]:
    return lambda bot, _: typed(bot, text)


erase_space = partial(on_page, endpoint="/erase_space")
erase_person = partial(asked, endpoint="/erase_person", sender_id=MINA)
ALL = ("rent", "choir", "cats", "left-handed")
VERBS: dict[str, Verb] = {
    "remember": Verb(
        lambda bot, _: bot.tool("remember", {"content": "Mina's boat is blue"}, "group_77001", MINA),
        "Stored as",
    ),
    "update_profile": Verb(
        lambda bot, _: bot.tool("update_profile", {"field": "traits", "action": "add", "value": "tall"}),
        "Added to",
    ),
    "forget": Verb(line(f"forget {RENT}"), "^Deleted"),
    "delete": Verb(line("delete --speaker 9001"), "^Deleted 2"),
    "archive": Verb(line(f"archive {RENT}"), "it is kept, but"),
    "restore": Verb(line(f"restore {CHOIR}"), "is active again"),
    "edit": Verb(line(f"edit {RENT} Mina's rent is due on the 16th"), "It now reads"),
    "import": Verb(line(f"import l2 {json.dumps(NEW)}"), r"New: 2 memories|Here already: 2"),
    "import, page": Verb(
        lambda bot, _: on_page(bot, "/import", data=FILE), r'"(accepted|skipped)": 2.*"stopped": ""'
    ),
    "export": Verb(line("export all"), "memories, 2 profiles", shows=ALL),
    "audit": Verb(line("audit"), "Changes here", shows=("Mina (9001) · ch", "Tao (9002) · ch")),
    "off": Verb(line("off"), "You switched memory off"),
    "on": Verb(line("on"), "Memory is on for you", prepare=lambda bot: typed(bot, "off")),
    "forgetme": Verb(typed, "looked up again to be sure", prepare=forgetme, coded=True),
    "erase_space": Verb(
        lambda bot, given: erase_space(bot, code=given),
        '"erased": true',
        prepare=lambda b: code(b, erase_space),
        coded=True,
    ),
    "erase_person": Verb(
        lambda bot, given: erase_person(bot, code=given),
        '"erased": true',
        prepare=lambda b: code(b, erase_person),
        coded=True,
    ),
    "health": Verb(line("health"), "Health: everything is fine"),
    "backup": Verb(lambda bot, _: asked(bot, "/backup_make"), '"unread": 0.*"remaining": 0'),
    "restore backup": Verb(
        lambda bot, _: asked(bot, "/backup_restore"),
        '"stopped": "".*"done": true',
        prepare=lambda bot: emptied(bot),
    ),
}


async def emptied(bot: Bot) -> str:
    """Take a backup, and lose the space."""
    await asked(bot, "/backup_make")
    store = bot.service.episodes(await bot.service.collection())
    found = await store.select(HERE.user_key, Filters(statuses=KEPT_STATUSES))
    await store.delete_many(HERE, found)
    return ""


# ---------------------------------------------------------------- each with each


CODES = {key.partition(".")[2] for key in load("en_US") if key.startswith("error.") and "_" in key}
TOLD = re.compile(r"missing|damaged|did not|can't|couldn't|failed|not answer|not used")
"""How one is told that what is shown is not all."""
NOT_OURS = re.compile(r"Traceback|ActionCallError|HostError|Exception|sqlite|KeyError|\{[a-z_]*\}")


def spoken(answered: str, what: str) -> str:
    """The words of an answer, which are a sentence of ours: no raw key, nothing of the inside, nothing foreign."""
    text = answered
    if answered.startswith("{"):
        given = json.loads(answered)
        told = given.get("error") or given.get("report") or given
        text = str(told.get("text", told.get("stopped", "")))
        assert "error" not in given or text.endswith((".", ")")), (what, answered)
    else:
        assert text.strip(), what
    assert not NOT_OURS.search(text), (what, text)
    assert not set(re.findall(r"[a-z]+(?:_[a-z]+)+", text)) & CODES, (what, text)
    assert "heron" not in answered, (what, answered)
    return text


@pytest.mark.parametrize("name", VERBS)
async def test_a_fault_costs_no_memory_and_is_told_in_words(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "longterm_memory.audit.BLOCKS", 4
    )  # quicker; how much of the log is kept does not matter here
    verb = VERBS[name]
    bot = await lived_in()
    given = await verb.prepare(bot) if verb.prepare else ""
    before = await state(bot)
    bot = await lived_in()
    given = await verb.prepare(bot) if verb.prepare else ""
    assert re.search(verb.done, reply := await verb.act(bot, given), re.DOTALL), reply
    after = await state(bot)
    async with hurried():
        for fault, switch_on in FAULTS.items():
            await _one(name, verb, fault, switch_on, before, after)


async def _one(
    name: str, verb: Verb, fault: str, switch_on: Callable[[Bot], None], before: State, after: State
) -> None:
    what = f"{name}: {fault}"
    bot = await lived_in()
    given = await verb.prepare(bot) if verb.prepare else ""
    switch_on(bot)
    reply = await verb.act(bot, given)
    said_of_it = spoken(reply, what)
    acknowledged = re.search(verb.done, reply, re.DOTALL) is not None
    # The chat goes on, with the profile wherever that can be read.
    prompt = await heard(bot, "what is the vault code word, and what about cats?", TAO)
    assert "heron" not in prompt, what
    if "profile of 9002" in after and "storage" not in fault and "corrupt" not in fault:
        assert "sailor" in prompt, what
    said = await bot.tool("remember", {"content": KAYAK}, "group_77001", TAO)
    spoken(said, what)
    # The fault is over.
    bot.api.faults.clear()
    bot.clock.move(seconds=300)
    found = await state(bot)
    if said.startswith("Stored as"):
        assert KAYAK in found, what
    if found.pop(KAYAK, None):
        episodes = await (await bot.memory("group_77001", TAO)).select(Filters(sender_id=TAO))
        (kayak,) = [e.id for e in episodes if e.content == KAYAK]
        await bot.command(f"memory forget {kayak}", "group_77001", TAO)
    wrong = {
        key: (before.get(key), value, after.get(key))
        for key in before | after | found
        if (value := found.get(key)) not in (before.get(key), after.get(key))
        or (acknowledged and value != after.get(key))
    }
    assert not wrong, (what, reply, wrong)
    missing = [text for text in verb.shows if text not in reply]
    assert not missing or not acknowledged, (what, reply)
    assert acknowledged or TOLD.search(said_of_it) or not verb.shows, (what, reply)
    again = await verb.prepare(bot) if verb.prepare and verb.coded else given
    await verb.act(bot, again)
    assert await state(bot) == after, what


async def test_changes_of_one_memory_at_once_leave_one_truth() -> None:
    for forgotten in (False, True):
        bot = await lived_in()
        texts = [f"Mina's rent is due on the {n}th" for n in range(20, 26)]
        lines = [
            *(f"edit {RENT} {text}" for text in texts),
            f"archive {RENT}",
            f"restore {RENT}",
            f"archive {RENT}",
        ]
        lines += [f"forget {RENT}"] * 2 * forgotten
        replies = await asyncio.gather(*(typed(bot, each) for each in lines))
        for each, reply in zip(lines, replies, strict=True):
            spoken(reply, each)
        found = await state(bot)
        if forgotten:
            assert any(reply.startswith("Deleted") for reply in replies)
            assert RENT not in found
        else:
            content, status, *_ = found[RENT]  # type: ignore[misc]
            assert content in [t for t, reply in zip(texts, replies, strict=False) if "now reads" in reply]
            assert status in ("active", "archived")
        assert found[CHOIR] == ("Mina sings in a choir", "archived", MINA, 2)
