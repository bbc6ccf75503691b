"""The health check against vector stores that misbehave or hang: each is found out, and nothing is left behind."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from longterm_memory.conversation import Conversation
from longterm_memory.health import HealthReport, Level, check_health
from longterm_memory.models import Filters
from tests.support.health import (
    Backwards,
    Blind,
    Greedy,
    Haunted,
    Lagging,
    Leaking,
    Loose,
    Sightless,
    Thorough,
    Unheard,
    check,
    failing,
    made_up,
    outcomes,
    wrong,
)
from tests.support.memory import Bot, new_bot
from tests.support.strict_host import StrictHost


async def test_vector_stores_that_misbehave() -> None:
    hosts: list[tuple[StrictHost, dict[str, Any], dict[str, str]]] = [
        (StrictHost(), {"fail": {"vector_upsert"}}, {"store_write": "refused"}),
        (StrictHost(), {"lose_answer": {"vector_upsert"}}, {"store_write": "refused"}),
        (StrictHost(), {"drop_metadata": True}, {"store_write": "unverified", "store_cleanup": "unverified"}),
        (StrictHost(), {"null_metadata": True}, {"store_write": "unverified", "store_cleanup": "unverified"}),
        (StrictHost(), {"fail": {"vector_search"}}, {"store_search": "failed"}),
        (StrictHost(), {"delete_nothing": True, "lie_counts": True}, {"store_delete": "kept", "store_cleanup": "left"}),
        (StrictHost(), {"fail": {"vector_delete"}}, {"store_delete": "failed", "store_cleanup": "unverified"}),
        (
            StrictHost(),
            {"fail": {"vector_search"}, "let_pass": {"vector_search": 2}},
            {"store_metric": "failed", "store_delete": "failed"},
        ),
        (Loose(), {}, {"store_list": "foreign", "store_cleanup": "unverified"}),
        (Sightless(), {}, {"store_list": "missing"}),
        (Blind(), {}, {"store_search": "blind"}),
        (Lagging(), {}, {}),
        (Leaking(), {}, {"store_search": "foreign"}),
        (Backwards(), {}, {"store_metric": "backwards"}),
        (Unheard(), {}, {"store_metric": "unknown"}),
        (Greedy(), {}, {"store_delete": "too_much"}),
        (Haunted(), {}, {"store_delete": "lingers"}),
    ]  # fmt: skip

    async def tried(api: StrictHost, faults: dict[str, Any]) -> tuple[Bot, dict[str, str]]:
        bot = await Bot(api).create()
        for name, value in faults.items():
            setattr(api.faults, name, value)
        return bot, await failing(bot)

    trials = await asyncio.gather(*(tried(api, faults) for api, faults, _ in hosts))
    for (bot, found), (api, _, expected) in zip(trials, hosts, strict=True):
        found.pop("store_rows", "")  # the store was caught, so its counters say so
        assert found == expected, type(api).__name__
        if "store_cleanup" not in expected:
            assert made_up(bot) == [], type(api).__name__


async def test_nothing_is_deleted_through_a_store_that_ignores_filters() -> None:
    bot = await new_bot()
    await bot.remember("my umbrella is behind the piano")
    bot.api.faults.ignore_filters = True
    report = await check(bot)
    found = wrong(report)
    # Reading a written row back by its id asks for one row; by chance that is the right one.
    assert "foreign" in (found.pop("store_write", ""), found.pop("store_list", ""))
    assert found.pop("store_search", "foreign") == "foreign"
    assert found.pop("store_rows") in ("seen", "off")  # off: so many answers that it is not asked any more
    assert found == {"store_cleanup": "unverified"}
    assert outcomes(report)["store_delete"] == "unchecked"
    assert not any(call.name == "vector_delete" for call in bot.api.calls.calls)
    # Once the store behaves, the next check removes what this one had to leave.
    assert made_up(bot) != []
    bot.api.faults.clear()
    report = await check(bot)
    assert outcomes(report)["store_cleanup"] == "ok"
    assert made_up(bot) == []
    assert "umbrella" in await bot.command("memory list")


async def test_whatever_hangs_is_an_error_in_time() -> None:
    loop = asyncio.get_running_loop()

    async def hung(call: str, after: int, seconds: float) -> tuple[str, HealthReport, float, Bot]:
        bot = await new_bot()
        bot.restart()
        bot.api.faults.hang = {call}
        bot.api.faults.let_pass = {call: after}
        started = loop.time()
        report = await check(bot, seconds)
        return call, report, loop.time() - started, bot

    seconds = 2.0
    cases = {
        ("invoke_embedding", 0): {"embedding"},
        ("vector_upsert", 0): {"store_write"},
        ("vector_list", 0): {"store_write"},
        ("vector_list", 3): {"store_list", "store_plain_filter"},
        ("vector_search", 0): {"store_write"},  # the store is met before anything is read back
        ("vector_search", 1): {"store_search"},
        ("vector_delete", 0): {"store_delete"},
        ("get_plugin_storage", 0): {"storage", "knowledge_base"},
        ("set_plugin_storage", 0): {"storage"},
        ("get_plugin_storage_keys", 0): {"contents"},
        ("get_langbot_version", 0): {"host"},
        ("list_knowledge_bases", 0): {"knowledge_base"},
    }
    found = await asyncio.gather(*(hung(*case, seconds) for case in cases))
    for (call, report, took, bot), expected in zip(found, cases.values(), strict=True):
        names = {name for name, outcome in outcomes(report).items() if outcome == "hung"}
        assert names == expected, call
        assert report.level is Level.ERROR
        assert took < 1.5 * seconds, call
        assert made_up(bot) == [] or outcomes(report)["store_cleanup"] == "unverified", call


async def test_what_the_time_did_not_suffice_for_is_said() -> None:
    bot = await new_bot()
    bot.api.faults.hang = {"vector_search", "vector_list"}
    bot.api.faults.let_pass = {"vector_list": 4}
    bot.api.faults.slow = {"vector_list": 0.16}
    report = await check(bot, 2.0)
    found = outcomes(report)
    assert (found["store_list"], found["store_search"], found["store_metric"]) == ("ok", "hung", "unchecked")
    delete = report.named("store_delete")
    assert delete is not None
    assert (delete.outcome, delete.values["because"]) == ("unchecked", "store_plain_filter")


class Reserved:
    """A host that offers nothing for diagnoses."""

    def __init__(self, host: Any) -> None:
        self._host = host

    def __getattr__(self, name: str) -> Any:
        if name == "list_by_user_key":
            raise AttributeError(name)
        return getattr(self._host, name)


async def test_a_host_that_is_not_asked_about_filters() -> None:
    bot = await new_bot()
    bot.service.host = Reserved(bot.service.host)  # type: ignore[assignment]
    report = await check(bot)
    assert report.level is Level.OK
    assert outcomes(report)["store_plain_filter"] == "unasked"


async def test_a_cancelled_check_leaves_nothing_wherever_it_is_stopped() -> None:
    bot = await Bot(Thorough()).create()

    async def stopped(turns: int, again: bool) -> bool:
        task = asyncio.ensure_future(check_health(bot.service))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        if again:
            await asyncio.sleep(0)
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task
            return True
        quiet = 0
        while again and quiet < 50:
            await asyncio.sleep(0)
            quiet = 0 if bot.api.calls.running else quiet + 1
        return False

    ended = turns = 0
    while not ended:
        turns += 7
        for again in (False, True):
            ended += await stopped(turns, again)
            assert made_up(bot) == [], (turns, again)
    assert turns > 100
    assert await failing(bot) == {}


async def test_a_write_that_lands_after_the_check_is_removed_by_the_next() -> None:
    bot = await Bot(Thorough()).create()
    bot.api.faults.slow = {"vector_upsert": 1.2}
    assert await failing(bot, 1.0) == {"store_write": "hung", "store_cleanup": "unverified"}
    bot.api.faults.clear()
    while bot.api.calls.running:
        await asyncio.sleep(0.05)
    assert len(made_up(bot)) == 1
    report = await check(bot)
    assert report.level is Level.OK
    assert made_up(bot) == []


async def test_checks_at_once_and_turns_beside_them() -> None:
    bot = await new_bot()
    for number in range(12):
        await bot.remember(f"umbrella number {number} is behind the piano")
    collection = await bot.service.collection()
    indexes = list(collection.indexes._kept)
    reports = await asyncio.gather(
        *(check(bot) for _ in range(3)), *(bot.prompt("where is umbrella number 7?") for _ in range(5))
    )
    assert [r.level for r in reports if isinstance(r, HealthReport)] == [Level.OK] * 3
    assert all("umbrella number 7" in r for r in reports if isinstance(r, str))
    assert list(collection.indexes._kept) == indexes
    assert made_up(bot) == []
    episodes = bot.service.episodes(collection)
    scope = (await Conversation.of_turn(bot.turn())).scope((await bot.service.settings()).isolation)
    assert len(await episodes.select(scope.user_key, Filters())) == 12
    assert collection.records.health.foreign_rows == 0


async def test_searches_that_left_out_memories_are_told() -> None:
    class FewRows(StrictHost):
        """Finds two rows of however many there are, as pgvector's HNSW index does under a filter."""

        async def _search(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
            return (await super()._search(*args, **kwargs))[:2]

    bot = await Bot(FewRows()).create()
    assert outcomes(await check(bot))["store_answers"] == "ok"
    for n in range(5):
        await bot.remember(f"Mina's shelf {n} holds books")
    await bot.command("memory search shelf")
    seen = (await bot.service.collection()).records.health.short_answers
    assert seen > 0
    report = await check(bot)
    (told,) = [one for one in report.checks if one.name == "store_answers"]
    assert (told.outcome, told.level, told.values) == ("short", Level.WARN, {"count": seen})
    for language in ("en_US", "zh_Hans"):
        assert str(seen) in told.text(language)
        assert "hnsw.iterative_scan" in told.remedy(language)
    assert wrong(report) == {"store_answers": "short"}
