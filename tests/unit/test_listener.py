"""The listener: our blocks of this turn are in the prompt, and none of another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from langbot_plugin.api.entities.builtin.provider.message import Message

from components.event_listener.memory_injector import MemoryInjector
from tests.support.memory import Bot, new_bot


async def heard(bot: Bot, text: str, prompt: list[Message], sender: str = "9001") -> list[str]:
    listener = MemoryInjector()
    listener.plugin = SimpleNamespace(memory=lambda: bot.service)  # type: ignore[assignment]
    turn = bot.turn(text, "group_77001", sender)
    context = SimpleNamespace(
        event=SimpleNamespace(default_prompt=prompt),
        query_id=1,
        query_uuid=turn.query_id,
        get_query_vars=turn.variables,
        get_bot_uuid=turn.bot_uuid,
        set_query_var=turn.set_variable,
    )
    await listener._prepare(context)
    await listener._prepare(context)
    return [str(message.content) for message in prompt]


def system(text: str) -> Message:
    return Message(role="system", content=text)


async def test_blocks_left_over_from_another_turn_are_replaced() -> None:
    bot = await new_bot()
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    await bot.remember("the spare key is under the fern")
    old = await bot.hear("where is the spare key?")
    assert len(old.blocks) == 2
    prompt = [system("You are a helpful assistant."), *map(system, old.blocks), system("Answer in verse.")]
    texts = await heard(bot, "what is the weather like in Paris?", prompt, sender="9002")
    assert texts[:2] == ["You are a helpful assistant.", "Answer in verse."]
    assert len(texts) == 3
    assert "9002" in texts[2]
    assert "vegetarian" not in texts[2]
    assert "fern" not in "".join(texts)


async def test_a_failure_of_ours_leaves_the_prompt_as_it_was() -> None:
    bot = await new_bot()

    async def broken(turn: Any) -> Any:
        raise RuntimeError("a bug")

    bot.service.injector.prepare = broken  # type: ignore[method-assign]
    assert await heard(bot, "hello", [system("You are a helpful assistant.")]) == [
        "You are a helpful assistant."
    ]
