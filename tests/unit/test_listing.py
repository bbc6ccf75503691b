"""Paging while memories come and go: nothing twice, nothing skipped, true totals."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from longterm_memory.listing import Listings, newest_first
from longterm_memory.models import Episode, Filters
from tests.support.memory import new_bot

START = datetime(2026, 5, 1, tzinfo=UTC)


def episode(number: int) -> Episode:
    at = START + timedelta(minutes=number // 3)  # some share their time
    return Episode(id=f"k{number:07d}", content=str(number), timestamp=at, created_at=at, user_key="k")


def listed(numbers: set[int]) -> list[Episode]:
    return sorted(map(episode, numbers), key=newest_first)


def test_nothing_is_shown_twice_or_skipped_while_the_list_changes() -> None:
    chance = random.Random(7)
    for _ in range(200):
        listings, numbers = Listings(), set(range(chance.randrange(1, 60)))
        stayed, shown, page, last = set(numbers), [], 1, False
        while not last:
            found = listings.page("mina", listed(numbers), page, size=5, key=newest_first)
            assert found.total == len(numbers)
            shown += [int(e.content) for e in found.items]
            last = not found.left
            gone = {n for n in numbers if chance.random() < 0.1}
            numbers -= gone
            stayed -= gone
            numbers |= {chance.randrange(200) for _ in range(chance.randrange(4))}
            page += 1
        assert len(shown) == len(set(shown))
        assert stayed <= set(shown) | gone


def test_pages_without_a_walk_go_by_place_and_end_at_the_last() -> None:
    listings = Listings()
    everything = listed(set(range(23)))
    assert listings.page("tao", everything, 3, size=10, key=newest_first).items == tuple(everything[20:])
    beyond = Listings().page("tao", everything, 99, size=10, key=newest_first)
    assert (beyond.page, beyond.pages, beyond.left) == (3, 3, 0)
    assert beyond.items == tuple(everything[20:])
    empty = listings.page("tao", [], 2, size=10, key=newest_first)
    assert (empty.items, empty.total, empty.page, empty.pages) == ((), 0, 1, 1)


def test_everybody_walks_for_themselves_and_a_long_pause_ends_a_walk() -> None:
    clock = [0.0]
    listings = Listings(lambda: clock[0])
    before = listed(set(range(20)))
    listings.page("mina", before, 1, key=newest_first)
    after = listed(set(range(25)))
    assert listings.page("tao", after, 2, key=newest_first).items == tuple(after[10:20])
    assert listings.page("mina", after, 2, key=newest_first).items == tuple(before[10:20])
    clock[0] = 2_000.0
    assert listings.page("mina", after, 2, key=newest_first).items == tuple(after[10:20])


async def test_pages_of_a_conversation_go_on_where_they_were() -> None:
    bot = await new_bot()
    for number in range(15):
        bot.clock.move(seconds=60)
        await bot.remember(f"fact number {number} about city {number}")
    memory = await bot.memory()
    first = await memory.page(Filters(), 1)
    bot.clock.move(seconds=60)
    await bot.remember("a newer fact")
    await memory.changes.forget(first.items[0].id)
    second = await (await bot.memory()).page(Filters(), 2)
    assert [e.content for e in second.items] == [f"fact number {n} about city {n}" for n in range(4, -1, -1)]
    assert (second.total, second.left) == (15, 0)
