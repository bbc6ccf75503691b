"""A knowledge base that holds nothing yet."""

from __future__ import annotations

import pytest

from longterm_memory.errors import EmbeddingFailed, NotFound
from longterm_memory.health import Level, check_health
from longterm_memory.ids import new_id
from tests.support.conformance import EVERYTHING, ask, native, new_bot, restarted, say
from tests.support.memory import Bot
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine


@pytest.mark.check("empty")
async def test_an_empty_memory_is_answered_as_empty(bot: Bot) -> None:
    for memory in (await bot.memory(), await restarted(bot)):
        assert (await memory.page(EVERYTHING)).total == 0
        assert await ask(memory, "anything at all") == []
        with pytest.raises(NotFound):
            await memory.show(new_id())
        with pytest.raises(NotFound):
            await memory.changes.forget(new_id())
        exported = await memory.transfer.export("all")
        assert exported.episodes == ()
        assert (await memory.overview()).problem is None
    for line in (
        "",
        "list",
        "archived",
        "superseded",
        "search chess",
        "stats",
        "why chess",
        "delete --tag x",
    ):
        reply = await bot.command(f"memory {line}".strip())
        assert reply
        assert "did not answer" not in reply
    assert await bot.prompt("does anybody play chess?") == "" or "chess" not in await bot.prompt("chess?")
    erased = await (await bot.memory(via="console")).privacy.erase_space()
    assert erased.episodes == 0
    assert await native(bot, await bot.memory()) == 0


@pytest.mark.check("first_read")
async def test_reading_before_the_first_write_spoils_nothing(engine: Engine) -> None:
    # The model does not answer while the knowledge base is created, so nothing is written to it then.
    engine.api.faults.fail = {"invoke_embedding"}
    bot = await new_bot(engine)
    memory = await bot.memory()
    with engine.api.calls.recording() as calls:
        assert (await memory.page(EVERYTHING)).total == 0
        with pytest.raises(NotFound):
            await memory.show(new_id())
        with pytest.raises(EmbeddingFailed):
            await ask(memory, "anything")
        for reply in (
            await bot.command("memory"),
            await bot.command("memory list"),
            await bot.prompt("hello there"),
        ):
            assert "chess" not in reply
        report = await check_health(bot.service)
        assert any(check.level is Level.ERROR for check in report.checks)
    assert not [name for name in calls.counts if name.startswith("vector")]
    engine.api.faults.clear()
    # And now a read comes first.
    bot.restart()
    assert await ask(await bot.memory(), "chess") == []
    await say(await bot.memory(), "Mina plays chess")
    memory = await restarted(bot)
    assert await ask(memory, "chess") == ["Mina plays chess"]
    assert await native(bot, memory) == 1
