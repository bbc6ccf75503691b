"""A memory with something in every corner, for whoever looks at it in the console."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.support.memory import Bot, new_bot

__all__ = ["GROUP", "HOSTILE", "filled"]

GROUP = "group_77001"
"""The conversation that most of it is in."""

HOSTILE = "<img src=x onerror='window.__x=1'><script>window.__x=1</script>\u202e${window.__x=1}"
"""A text that would do something if anything took it for markup or code."""

_FACTS = (
    "Mina's dentist appointment is on Monday at 9",
    "The offsite is in Oslo in June; Tao books the train tickets",
    "Tao's sister Ana visits from Porto on the 14th",
    "小明下周三去北京出差，住在朝阳区的酒店",
    "The rent is due on the 15th of every month",
    "The garden needs water on Tuesdays",
    "The coffee machine on the third floor leaks again. Facilities promised a new one before the end of the quarter, "
    "and until then everybody uses the one on the second floor, which is why the queue is so long on Mondays.",
    HOSTILE,
)


async def filled(**options: object) -> Bot:
    """Return a bot with memories of half a year, profiles with former values, a last turn and a long log."""
    bot = await new_bot()
    bot.config.update({"memory_admins": ["9001"], **options})
    end = datetime.now(UTC)
    bot.clock.at = end - timedelta(days=180)
    for n, fact in enumerate(_FACTS * 5):
        text = fact if n < len(_FACTS) else f"Note {n}: the team finished ticket LTM-{n}"
        tags = [("work", "travel", HOSTILE)[n % 3]] if n % 2 else []
        await bot.remember(text, GROUP, ("9001", "9002")[n % 2], tags=tags, importance=1 + n % 5)
        bot.clock.move(days=4)
    await bot.tool(
        "remember",
        {"content": "Mina's dentist appointment is on Friday at 10", "tags": ["correction"]},
        GROUP,
        "9001",
    )
    for field, value, key in (
        ("name", "Mina", ""),
        ("traits", HOSTILE, ""),
        ("preferences", "tea", "drink"),
        ("preferences", "coffee", "drink"),
    ):
        change = {"target": "speaker", "field": field, "value": value, "action": "set", "fact_key": key}
        await bot.tool("update_profile", {k: v for k, v in change.items() if v}, GROUP, "9001")
    bot.clock.at = end - timedelta(minutes=7)
    await bot.hear("When is the dentist appointment?", GROUP, "9001")
    await bot.hear("hello there, how is the weather?", "person_9001", "9001")
    bot.clock.at = end
    return bot
