"""What is stored and by which model: texts of every kind, vectors of every length."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from longterm_memory.errors import EmbeddingFailed
from longterm_memory.models import CONTENT_MAX, Filters
from longterm_memory.scope import Speaker
from longterm_memory.text.fold import well_formed
from playground.compatibility_facts import Difference
from playground.embedders import HashedWords
from tests.support.conformance import EVERYTHING, ask, native, new_bot, restarted, say
from tests.support.memory import Bot
from tests.support.real_engines import Engine

pytestmark = pytest.mark.engine

ODD = (
    "阿明的口令是向日葵 🌻",
    "a\x00b holds a null byte",
    'quotes "x" \\ and \'y\' and `z` or file_id != ""',
    "lone \ud800 and \udfff surrogates",
    "e\u0301 \u202eright to left\u202c \u2028\u2029\x85\x0b line ends \r\n\t",
    '{\\"looks\\": \\"escaped\\"} %s {0} $1 \\u0000',
    "𝔐𝔦𝔫𝔞 👩‍👩‍👧‍👦 \U0010ffff\ufeff",
)


@pytest.mark.check("odd_text")
async def test_odd_texts_come_back_as_they_were_in_every_field(bot: Bot) -> None:
    memory = await bot.memory()
    written = [
        await say(memory, text, Speaker(f"id-{n}", text), tags=(text, "a,b"), source=text)
        for n, text in enumerate(ODD)
    ]
    for text, episode in zip(ODD, written, strict=True):
        kept = well_formed(text)
        assert (episode.content, episode.tags, episode.source) == (kept.strip(), (kept, "a,b"), kept)
    for seen in (memory, await restarted(bot)):
        assert {e.id: e for e in await seen.select(EVERYTHING)} == {e.id: e for e in written}
        for text, episode in zip(map(well_formed, ODD), written, strict=True):
            assert await seen.show(episode.id) == episode
            assert [e.id for e in await seen.select(Filters(tag=text))] == [episode.id]
            assert [e.id for e in await seen.select(Filters(sender_name=text))] == [episode.id]
    assert (await ask(memory, "口令"))[0] == ODD[0]
    await memory.changes.delete(Filters(tag="a,b"))
    assert await native(bot, memory) == 0


@pytest.mark.check("long_text")
async def test_the_longest_texts_come_back_byte_for_byte(bot: Bot) -> None:
    memory, dice = await bot.memory(), random.Random(4)
    texts = [
        "x" * CONTENT_MAX,
        "😀" * CONTENT_MAX,
        "a" + "\x00" * (CONTENT_MAX - 2) + "z",
        "\\\"'" * (CONTENT_MAX // 3),
        # Nothing that packs well: any character beyond the 16-bit ones takes two escapes.
        "".join(chr(dice.randrange(0x10000, 0x10FFFF)) for _ in range(CONTENT_MAX)),
        "".join(chr(dice.randrange(0x4E00, 0x9FA5)) for _ in range(CONTENT_MAX)),
    ]
    tags = tuple("".join(chr(dice.randrange(0x10000, 0x10FFFF)) for _ in range(200)) for _ in range(10))
    for text in texts:
        await say(memory, text, tags=tags)
    for seen in (memory, await restarted(bot)):
        listed = await seen.select(EVERYTHING)
        assert {e.content for e in listed} == set(texts)
        assert {e.tags for e in listed} == {tags}
        for episode in listed:
            assert await seen.show(episode.id) == episode
    answer = await bot.tool("remember", {"content": "y" * (CONTENT_MAX + 1)})
    assert str(CONTENT_MAX + 1) in answer
    assert str(CONTENT_MAX) in answer
    assert await native(bot, memory) == len(texts)


def words_in(size: int) -> Callable[[list[str]], list[list[float]]]:
    """A model of that many dimensions."""
    words = HashedWords()

    def embed(texts: list[str]) -> list[list[float]]:
        return [
            [sum(vector[n::size]) + 0.001 * (n % 7) for n in range(size)] for vector in words.embed(texts)
        ]

    return embed


@pytest.mark.check("dimensions")
async def test_models_of_any_size_work_or_are_refused_in_words(
    engine: Engine, differs: Callable[[str], Difference | None]
) -> None:
    known = differs("dimensions")
    for size in (24, 100, 1_536):
        collection = f"{engine.collection[:-4]}{size:04d}"
        engine.api.values.clear()
        engine.api.embed = words_in(size)
        bot = await new_bot(engine, collection)
        answer = await bot.tool("remember", {"content": "Mina plays chess"})
        memory = await bot.memory()
        if known and size != 1_536:
            assert answer == known.sentence.replace("100", str(size))
            assert (await memory.page(EVERYTHING)).total == 0
            # Nothing is spoilt: with a model that fits it works.
            engine.api.embed = words_in(384)
            bot.restart()
            answer = await bot.tool("remember", {"content": "Mina plays chess"})
            memory = await bot.memory()
        assert "[" in answer, answer
        assert await ask(await restarted(bot), "Mina plays chess") == ["Mina plays chess"]
        assert await native(bot, memory) == 1


@pytest.mark.check("model_change")
async def test_a_model_of_another_size_is_named_and_costs_nothing(engine: Engine, bot: Bot) -> None:
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "lives in Oslo"})
    await say(await bot.memory(), "Mina plays chess")
    memory = await restarted(bot)
    engine.api.faults.dimension = 512
    prompt = await bot.prompt("what does Mina play?")
    assert "lives in Oslo" in prompt
    answer = await bot.tool("remember", {"content": "Mina plays go"})
    assert ("384" in answer, "512" in answer) == (True, True), answer
    with pytest.raises(EmbeddingFailed, match="model_changed"):
        await ask(memory, "chess")
    assert [e.content for e in await memory.select(EVERYTHING)] == ["Mina plays chess"]
    engine.api.faults.dimension = None
    memory = await restarted(bot)
    assert await ask(memory, "chess") == ["Mina plays chess"]
    await say(memory, "Mina plays go")
    assert await native(bot, memory) == 2
