"""Faults that people met in memory systems of this kind, through the tools and the command."""

from __future__ import annotations

import json

import pytest

from longterm_memory.chat.tools import call_tool
from longterm_memory.models import Filters, Status
from longterm_memory.retrieval import retrieve
from longterm_memory.scope import Scope
from tests.support.memory import KB, Bot, new_bot
from tests.support.strict_host import StrictHost

GROUP, OTHER, PRIVATE = "group_77001", "group_77002", "person_9001"
MINA, TAO = "9001", "9002"


@pytest.fixture
async def bot() -> Bot:
    return await new_bot()


async def everything(bot: Bot, session: str = GROUP) -> list[str]:
    scope = Scope.of_session(session, bot_uuid="b-01")
    episodes = bot.service.episodes(await bot.service.collection())
    statuses = frozenset(Status) - {Status.DELETED}
    return [e.content for e in await episodes.select(scope.user_key, Filters(statuses=statuses))]


# ---------------------------------------------------------------- isolation


async def test_a1_visitors_of_one_launcher_keep_their_own_profile(bot: Bot) -> None:
    note = {"scope": "speaker", "field": "notes", "action": "add", "value": "Mina is moving in May"}
    await bot.tool("update_profile", note, "person_web", "v1")
    assert "May" in await bot.command("memory me", "person_web", "v1")
    assert "May" not in await bot.command("memory me", "person_web", "v2")
    assert "May" not in await bot.prompt("what do you know about me?", "person_web", "v2")


async def test_a2_a_surprise_stays_in_its_group(bot: Bot) -> None:
    await bot.remember("Mina is planning Tao's surprise party")
    for session in (OTHER, PRIVATE):
        assert "surprise" not in await bot.tool("recall_memory", {"query": "surprise party"}, session)
        assert "surprise" not in await bot.command("memory search surprise party", session)
        assert "surprise" not in await bot.prompt("any surprise party?", session)


async def test_a3_a_new_conversation_of_the_host_keeps_the_memory_of_the_chat(bot: Bot) -> None:
    await bot.remember("the tent is green")
    for conversation in (None, "c-1", "c-2"):
        turn = bot.turn("which colour is the tent?")
        turn.values["conversation_id"] = conversation
        assert "the tent is green" in "".join((await bot.service.injector.prepare(turn)).blocks)
    assert "group_77001" in await bot.command("memory")


async def test_a5_ids_of_another_scope_are_not_found_anywhere(bot: Bot) -> None:
    theirs = await bot.remember("the vault code word is heron", OTHER)
    for line in (f"memory show {theirs}", f"memory forget {theirs}"):
        answer = await bot.command(line, PRIVATE, privilege=2)
        assert answer.startswith("Not found"), answer
    assert (await bot.tool("forget", {"episode_id": theirs}, GROUP)).startswith("Not found")
    assert "heron" not in await bot.command("memory list --all-statuses", GROUP)
    assert await everything(bot, OTHER) == ["the vault code word is heron"]


async def test_a6_an_unknown_session_or_bot_retrieves_nothing(bot: Bot) -> None:
    await bot.remember("the tent is green")
    for session in ("", None, "77001", "group_", "group_  "):
        found = await retrieve(bot.service, "tent", {"session_name": session, "sender_id": MINA})
        assert found.entries == ()
        assert found.error is not None
    found = await retrieve(bot.service, "tent", {"session_name": GROUP, "sender_id": MINA})  # no bot
    assert not [e for e in found.entries if e.id != "profile"]


async def test_a7_without_a_sender_nothing_is_kept_for_a_speaker(bot: Bot) -> None:
    answer = await bot.tool(
        "update_profile", {"field": "traits", "action": "add", "value": "tall"}, GROUP, ""
    )
    assert "who is speaking" in answer
    assert not [k for k in bot.api.values if k.endswith((":", ":None", "/", "/None"))]


async def test_a9_blank_speaker_filters_are_none_for_the_tool_and_errors_for_a_delete(bot: Bot) -> None:
    await bot.remember("the house is blue")
    params = {"query": "house", "speaker_id": "", "speaker_name": "  "}
    assert "the house is blue" in await bot.tool("recall_memory", params)
    for line in (
        'memory delete --speaker ""',
        'memory delete --tag "  "',
        "memory delete",
        "memory delete --speaker",
    ):
        await bot.command(line, GROUP, MINA)
    assert await everything(bot) == ["the house is blue"]


# ---------------------------------------------------------------- who said it


async def test_b2_two_allergies(bot: Bot) -> None:
    await bot.tool("remember", {"content": "Mina is allergic to nuts"}, GROUP, MINA)
    await bot.tool("remember", {"content": "Tao is allergic to cats"}, GROUP, TAO)
    prompt = await bot.prompt("who is allergic to cats?")
    line = next(line for line in prompt.splitlines() if "allergic to cats" in line)
    assert "Tao" in line
    assert "Mina" not in line


async def test_b4_recall_by_speaker_survives_a_new_name(bot: Bot) -> None:
    await bot.remember("the bicycle is red")
    turn = bot.turn("", GROUP, MINA)
    turn.values["sender_name"] = "米娜🌙"
    # The old name finds what was said under it; the id finds everything.
    for speaker in ({"speaker_id": MINA}, {"speaker_name": "Mina"}):
        params = {"query": "bicycle", **speaker}
        assert "the bicycle is red" in await call_tool(bot.service, turn, "recall_memory", params)


async def test_b7_others_memories_are_not_ones_own_to_delete(bot: Bot) -> None:
    minas = await bot.remember("Mina rents a boat")
    assert "admin" in await bot.command(f"memory forget {minas}", GROUP, TAO, privilege=2)
    assert "admin" in await bot.command("memory delete --speaker 9001", GROUP, TAO, privilege=2)
    refused = await bot.tool("forget", {"episode_id": minas}, GROUP, TAO)
    assert "Deleted" not in refused
    assert await everything(bot) == ["Mina rents a boat"]
    bot.config["memory_admins"] = [TAO]
    assert "Deleted" in await bot.command(f"memory forget {minas}", GROUP, TAO)
    assert await everything(bot) == []


# ---------------------------------------------------------------- delete means delete


async def test_c1_forgotten_is_absent_everywhere() -> None:
    for metric in ("l2", "cosine", "similarity"):
        bot = await new_bot(metric=metric)  # type: ignore[arg-type]
        episode_id = await bot.remember("the spare key is under the fern")
        await bot.hear("where is the spare key?")
        assert "Deleted" in await bot.tool("forget", {"episode_id": f"[{episode_id}]"})
        for _ in range(2):
            assert "fern" not in await bot.prompt("where is the spare key?")
            assert "fern" not in await bot.tool("recall_memory", {"query": "spare key"})
            assert "fern" not in await bot.command("memory list --all-statuses")
            assert (await bot.command(f"memory show {episode_id}")).startswith("Not found")
            bot.restart()
        assert not any("fern" in row.metadata["text"] for row in bot.api.rows[KB].values())


async def test_c2_counts_are_ours_and_not_the_backends(bot: Bot) -> None:
    bot.api.faults.lie_counts = True
    ids = [
        await bot.remember(f"work item {n} about topic {n}", tags=["work"] if n < 3 else []) for n in range(5)
    ]
    answer = await bot.command("memory delete --tag work", PRIVATE)
    assert "0" in answer or "No" in answer  # another conversation has none
    answer = await bot.command("memory delete --tag work", GROUP, MINA)
    assert "3 memories" in answer
    bot.api.faults.delete_nothing = True
    answer = await bot.tool("forget", {"episode_id": ids[4]})
    assert "Deleted" not in answer
    assert "not gone" in answer
    bot.api.faults.delete_nothing = False
    assert "Deleted" in await bot.tool("forget", {"episode_id": ids[4]})
    assert (await bot.tool("forget", {"episode_id": ids[4]})).startswith("Not found")


async def test_c3_an_id_is_accepted_as_it_was_shown(bot: Bot) -> None:
    shown = {
        "search": lambda: bot.command("memory search tent"),
        "list": lambda: bot.command("memory list"),
        "recall": lambda: bot.tool("recall_memory", {"query": "tent"}),
        "prompt": lambda: bot.prompt("where is the tent?"),
    }
    for name, show in shown.items():
        episode_id = await bot.remember(f"the tent of {name} is green")
        assert episode_id in await show()
        for form in (f" [{episode_id}] ", f"`{episode_id}`", episode_id.upper()):
            assert "tent of" in await bot.command(f"memory show {form}"), form
        assert "Deleted" in await bot.tool("forget", {"episode_id": f'"{episode_id}"'})


async def test_c3_m3_what_is_no_id_is_not_found_and_shows_an_example(bot: Bot) -> None:
    await bot.remember("the tent is green")
    for given in ("a1b2", "0", "undefined", "k7m2*"):
        for answer in (
            await bot.tool("forget", {"episode_id": given}),
            await bot.command(f"memory forget {given}"),
        ):
            assert answer.startswith("Not found"), answer
            assert "k7m29xqd" in answer
    assert await everything(bot) == ["the tent is green"]


async def test_c5_a_delete_by_time_ends_at_the_scope(bot: Bot) -> None:
    for session in (GROUP, OTHER):
        await bot.remember(f"in {session}", session)
    answer = await bot.command("memory delete --before 2999-01-01", GROUP)
    assert "1 memory" in answer
    assert await everything(bot, OTHER) == [f"in {OTHER}"]


async def test_c7_remembered_again_after_a_forget(bot: Bot) -> None:
    first = await bot.remember("the tent is green")
    await bot.tool("forget", {"episode_id": first})
    second = await bot.remember("the tent is green")
    assert second != first
    assert "the tent is green" in await bot.prompt("tent?")


# ---------------------------------------------------------------- duplicates and corrections


async def test_d1_the_same_sentence_is_kept_once(bot: Bot) -> None:
    for text in ("Room 12 is booked", "Room 12 is booked ", "Room １２ is booked", "room 12 is booked."):
        await bot.tool("remember", {"content": text})
    assert len(await everything(bot)) == 1


async def test_d3_nearly_equal_facts_are_both_kept(bot: Bot) -> None:
    pairs = (("Rent is due on the 15th", "Rent is due on the 16th"), ("阿明喜欢香菜", "阿明不喜欢香菜"))
    for one, other in pairs:
        await bot.remember(one)
        await bot.remember(other)
        prompt = await bot.prompt(one)
        assert one in prompt
        assert other in prompt


async def test_e1_h3_a_correction_replaces_and_is_never_zero() -> None:
    for tag in ("更正", "FACT_UPDATE"):
        bot = await new_bot()
        await bot.remember("Mina loves cilantro")
        await bot.remember("Mina cannot stand cilantro", tags=[tag])
        prompt = await bot.prompt("does Mina like cilantro?")
        assert "cannot stand" in prompt
        assert "loves" not in prompt
        assert "loves" in await bot.command("memory list --include-superseded")


async def test_e2_corrections_stay_with_their_speaker_and_topic(bot: Bot) -> None:
    await bot.tool("remember", {"content": "My flight is Tuesday"}, GROUP, MINA)
    await bot.tool("remember", {"content": "My flight is Tuesday"}, GROUP, TAO)
    await bot.tool("remember", {"content": "My flight is Wednesday", "tags": ["correction"]}, GROUP, MINA)
    active = await bot.command("memory list")
    assert active.count("Tuesday") == 1
    assert active.count("Wednesday") == 1
    await bot.remember("Mina's sister is Lan")
    await bot.remember("Mina's brother is Bo, not Bin", tags=["correction"])
    assert "sister is Lan" in await bot.command("memory list")


async def test_e3_one_current_city(bot: Bot) -> None:
    for params in (
        {"fact_key": "city", "action": "set", "value": "Osaka"},
        {"fact_key": "City ", "action": "set", "value": "Berlin"},
        {"action": "add", "value": "lives in Oslo"},
    ):
        await bot.tool("update_profile", {"field": "traits", **params})
    block = (await bot.hear("hello")).blocks[0]
    assert sum(city in block for city in ("Osaka", "Berlin", "Oslo")) == 1
    assert "Oslo" in block


# ---------------------------------------------------------------- backends and embeddings


async def test_f1_a_backend_without_filters_yields_nothing_foreign(bot: Bot) -> None:
    await bot.remember("the vault code word is heron", OTHER)
    bot.api.faults.ignore_filters = True
    for answer in (
        await bot.tool("recall_memory", {"query": "vault code word", "speaker_id": MINA}),
        await bot.prompt("what is the vault code word?"),
        await bot.command("memory search vault"),
        await bot.command("memory list"),
    ):
        assert "heron" not in answer


async def test_f3_a_lone_memory_is_not_injected_for_anything(bot: Bot) -> None:
    for message in ("嗨", "hi", "QQQQ", "zzz?"):
        await bot.remember("Tao's dentist is on Friday")
        assert "dentist" not in await bot.prompt(message)


async def test_g1_another_model_is_noticed(bot: Bot) -> None:
    await bot.remember("the tent is green")
    bot.restart()
    bot.api.faults.dimension = 512
    assert "tent is green" not in await bot.prompt("where is the tent?")
    answer = await bot.tool("remember", {"content": "the boat is blue"})
    assert "embedding model" in answer
    assert "384" in answer


async def test_h1_chinese_is_found_by_a_word_and_by_one_character(bot: Bot) -> None:
    await bot.remember("阿明的口令是向日葵")
    await bot.remember("Mina sings in a choir")
    for query in ("口令", "口", "阿明的口令？"):
        for answer in (
            await bot.tool("recall_memory", {"query": query}),
            await bot.command(f"memory search {query}"),
            await bot.prompt(f"{query} {query}"),
        ):
            assert "向日葵" in answer, query
            assert "choir" not in answer, query


# ---------------------------------------------------------------- hostile, secret and odd input


async def test_m1_odd_types_are_understood_or_answered_in_one_line() -> None:
    for given, stored in (
        ({"tags": '["a","b"]'}, ("a", "b")), ({"tags": "travel"}, ("travel",)),
        ({"tags": "旅行，工作"}, ("旅行", "工作")), ({"tags": None}, ()),
        ({"tags": {"0": "a"}}, ("a",)), ({"tags": [1, None, ["x"]]}, ("1", "x")),
        ({"importance": "4"}, 4), ({"importance": "high"}, 4), ({"importance": 0.8}, 4), ({"importance": 99}, 5),
        ({"importance": True}, None), ({"importance": None}, 2),
        ({"content": {"text": "hi"}}, "hi"), ({"content": ["a"]}, "a"), ({"content": 5}, "5"),
    ):  # fmt: skip
        for whole in (False, True):
            bot, params = await new_bot(), {"content": "the tent is green", **given}  # type: ignore[dict-item]
            answer = await bot.tool("remember", json.dumps(params) if whole else params)
            assert "\n" not in answer
            found = await (await bot.memory()).select(Filters())
            assert [getattr(e, next(iter(given))) for e in found] == ([] if stored is None else [stored]), (
                given
            )
            assert stored is not None or answer.startswith("importance: expected"), answer
    await bot.remember("the tent is green")
    for k in ("3", 0, -1, 1e9, "all"):
        assert "the tent is green" in await bot.tool("recall_memory", {"query": "the tent", "top_k": k}), k


async def test_l3_secrets_are_kept_nowhere_and_talk_about_keys_is_kept(bot: Bot) -> None:
    note = {"scope": "session", "field": "notes", "action": "add"}
    for secret in (
        *("deploy key is sk-test-FAKE0123456789abcdef", "验证码 482913"),
        "-----BEGIN RSA PRIVATE KEY-----\nMIIB",
    ):
        assert "secret" in await bot.tool("remember", {"content": secret})
        await bot.tool("update_profile", {**note, "value": secret})
        kept = b"".join(value for key, value in bot.api.values.items() if not key.endswith("ltm/kb"))
        assert secret.splitlines()[0].encode() not in kept
    await bot.remember("we have no API key in the build")
    assert await everything(bot) == ["we have no API key in the build"]


async def test_n2_a_broken_option_never_becomes_no_filter(bot: Bot) -> None:
    for line in (
        "memory delete —tag work", "memory delete --tag=work", "memory delete --before 2026-05-01 --tag",
        "memory delete --tg work", "memory delete work", "memory delete --status",
    ):  # fmt: skip
        await bot.remember("the tent is green")
        await bot.command(line, PRIVATE)
        await bot.command(line, GROUP)
        assert await everything(bot) == ["the tent is green"]


async def test_recalled_text_is_not_stored_again_as_news(bot: Bot) -> None:
    await bot.remember("the tent is green")
    block = (await bot.hear("where is the tent?")).blocks[1]
    answer = await bot.tool("remember", {"content": block.splitlines()[-1]})
    assert "already" in answer
    assert await everything(bot) == ["the tent is green"]


async def test_every_fault_of_storage_is_said_in_words() -> None:
    bot = await new_bot()
    bot.api.faults.storage_full = True
    answer = await bot.tool("update_profile", {"field": "traits", "action": "add", "value": "tall"})
    assert "storage" in answer.lower()
    assert "\n" not in answer


async def test_nothing_is_configured_yet() -> None:
    bot = Bot(StrictHost())
    assert "not set up" in await bot.tool("remember", {"content": "x"})
    assert "not set up" in await bot.command("memory")
    assert (await bot.hear("hello there, what is up with the tent?")).reason == "not_configured"
    assert "!memory" in await bot.command("memory help")
