"""What the engine hands out: in a turn, minus what the prompt has; without a listener, the only way in."""

from __future__ import annotations

from typing import Any

from longterm_memory.retrieval import Retrieval, retrieve
from tests.support.memory import Bot, new_bot

ASKED = {"session_name": "group_77001", "bot_uuid": "b-01", "sender_id": "9001", "top_k": 5}


async def ask(bot: Bot, query: str, **settings: Any) -> Retrieval:
    return await retrieve(bot.service, query, {**ASKED, **settings})


def texts(found: Retrieval) -> str:
    return "\n".join(entry.text for entry in found.entries)


async def test_within_a_turn_only_what_is_not_in_the_prompt_yet() -> None:
    bot = await new_bot(config={"auto_recall_top_k": 1})
    for colour in ("green", "blue", "red"):
        await bot.remember(f"the tent is {colour}")
    prompt = await bot.prompt("which colour is the tent?")
    shown = next(colour for colour in ("green", "blue", "red") if f"tent is {colour}" in prompt)
    for _ in range(2):
        found = await ask(bot, "which colour is the tent?")
        assert len(found.entries) == 2
        assert shown not in texts(found)
        assert all(entry.id != "profile" for entry in found.entries)


async def test_placement_retrieval_hands_out_without_a_second_embedding() -> None:
    bot = await new_bot(config={"episode_placement": "retrieval"})
    await bot.remember("the tent is green")
    assert "green" not in await bot.prompt("which colour is the tent?")
    with bot.api.calls.recording() as seen:
        found = await ask(bot, "which colour is the tent?")
    assert texts(found).count("the tent is green") == 1
    assert seen.counts["invoke_embedding"] == 0
    again = await ask(bot, "which colour is the tent?")
    assert again.entries == ()


async def test_a_question_of_its_own_is_searched() -> None:
    bot = await new_bot(config={"episode_placement": "retrieval"})
    await bot.remember("the tent is green")
    await bot.remember("the boat is blue")
    await bot.hear("which colour is the tent?")
    assert "boat" in texts(await ask(bot, "the colour of the boat"))


async def test_another_speaker_of_the_group_has_a_turn_of_their_own() -> None:
    bot = await new_bot()
    await bot.remember("the tent is green")
    await bot.hear("which colour is the tent?")
    assert "green" in texts(await ask(bot, "which colour is the tent?", sender_id="9002"))


async def test_without_a_listener_the_profile_comes_first_once_per_turn() -> None:
    bot = await new_bot()
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    await bot.remember("the tent is green")
    found = await ask(bot, "which colour is the tent?")
    assert found.entries[0].id == "profile"
    assert "vegetarian" in found.entries[0].text
    assert "green" in found.entries[1].text
    again = await ask(bot, "which colour is the tent?")
    assert [entry.id for entry in again.entries] == [found.entries[1].id]
    # Another text is the next message, however soon it comes; so is the same one after a while.
    assert (await ask(bot, "and the tent?")).entries[0].id == "profile"
    bot.clock.move(seconds=30)
    assert (await ask(bot, "and the tent?")).entries[0].id == "profile"


async def test_without_a_listener_the_profile_survives_a_failing_search() -> None:
    bot = await new_bot()
    await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "vegetarian"})
    await bot.remember("the tent is green")
    bot.api.faults.fail.add("invoke_embedding")
    found = await ask(bot, "which colour is the tent?")
    assert [entry.id for entry in found.entries] == ["profile"]
    assert "vegetarian" in found.entries[0].text
    assert found.error is not None
    assert found.error.reason == "embedding_down"


async def test_the_runner_asking_with_the_message_costs_no_second_embedding() -> None:
    bot = await new_bot(config={"auto_recall_top_k": 1})
    for colour in ("green", "blue", "red"):
        await bot.remember(f"the tent is {colour}")
    await bot.hear("which colour is the tent?")
    with bot.api.calls.recording() as seen:
        assert len((await ask(bot, "which colour is the tent?")).entries) == 2
    assert not seen.counts
    await bot.hear("hello")
    with bot.api.calls.recording() as seen:
        assert (await ask(bot, "hello")).entries == ()
    assert not seen.counts["invoke_embedding"]


async def test_a_runner_that_wants_more_than_the_reserve_gets_it() -> None:
    bot = await new_bot(config={"auto_recall_top_k": 1})
    for n in range(12):
        await bot.remember(f"the tent number {n} is green")
    await bot.hear("which tent is green?")
    assert len((await ask(bot, "which tent is green?", top_k=10)).entries) == 10


async def test_what_is_not_recalled_automatically_is_not_handed_to_the_runner_either() -> None:
    bot = await new_bot(config={"auto_recall_top_k": 0})
    await bot.remember("the tent is green")
    await bot.hear("which colour is the tent?")
    assert (await ask(bot, "which colour is the tent?")).entries == ()
    assert "green" in texts(await ask(bot, "is the tent green?"))


async def test_an_agent_in_a_group_does_not_take_the_group_for_a_speaker() -> None:
    bot = await new_bot()
    found = await ask(bot, "hello there, who am I?", sender_id="77001")
    assert "unknown" in found.entries[0].text


async def test_a_turn_whose_listener_saw_no_sender_is_a_turn_all_the_same() -> None:
    bot = await new_bot()
    await bot.remember("the tent is green")
    await bot.service.injector.prepare(bot.turn("which colour is the tent?", sender=""))
    assert (await ask(bot, "which colour is the tent?")).entries == ()


async def test_in_a_private_chat_the_launcher_is_the_speaker() -> None:
    bot = await new_bot()
    note = {"field": "traits", "action": "add", "value": "vegetarian"}
    await bot.tool("update_profile", note, "person_9001", "9001")
    found = await ask(bot, "what do I eat?", session_name="person_9001")
    assert "vegetarian" in found.entries[0].text


async def test_after_a_forget_nothing_waits_for_the_runner() -> None:
    bot = await new_bot(config={"episode_placement": "retrieval"})
    episode_id = await bot.remember("the tent is green")
    await bot.hear("which colour is the tent?")
    await bot.tool("forget", {"episode_id": episode_id})
    assert "green" not in texts(await ask(bot, "which colour is the tent?"))


async def test_any_top_k_is_survived() -> None:
    bot = await new_bot()
    for n in range(25):
        await bot.remember(f"the tent number {n} is green")
    for top_k in ("3", 0, -1, 10**9, "all", None, True, 2.7, [], {}):
        found = await ask(bot, "tent", top_k=top_k)
        assert 1 <= len([e for e in found.entries if e.id != "profile"]) <= 20, top_k


async def test_failures_are_reasons_not_exceptions() -> None:
    bot = await new_bot()
    await bot.remember("the tent is green")
    await bot.hear("hello")
    bot.api.faults.fail.add("vector_search")
    found = await ask(bot, "tent")
    assert found.entries == ()
    assert found.error is not None
    assert found.error.reason == "store_down"


async def test_the_metadata_is_readable_and_scores_fall() -> None:
    bot = await new_bot()
    await bot.remember("the tent is green", tags=["camping, summer"], importance=4)
    await bot.remember("a tent needs pegs, and the boat is blue")
    await bot.hear("hello")
    entries = (await ask(bot, "which colour is the green tent?")).entries
    assert entries[0].metadata["tags"] == ["camping, summer"]
    assert entries[0].metadata["importance"] == 4
    assert entries[0].score >= entries[-1].score
