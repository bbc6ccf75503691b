"""Sentences as people say them in a group chat, any number of different ones, in English and Chinese.

They come from templates over many topics, so that each has near relatives and most of the rest is about something
else: what a memory looks like to an embedding model. With a folder of files as ``data/README.md`` describes them, the
turns of those conversations come first.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["asked", "told", "turns"]

_WORDS = {
    "who": "Mina,Tao,Lan,Bo,Ines,Omar,Ruth,Kenji,Aylin,Pavel,Greta,Hugo,Priya,Samir,Noor,Elena,Viktor,"
    "Chloe,Mateo,Freya,Idris,Hana,Leon,Zuri,Anton,Bea,Carlos,Dunja,Emil,Fatima",
    "kin": "sister,brother,mother,father,aunt,uncle,neighbour,flatmate,colleague,manager,cousin,daughter,"
    "son,grandmother,dentist,landlord,teacher,trainer",
    "city": "Oslo,Lisbon,Kyoto,Hanoi,Nairobi,Quito,Leipzig,Cork,Bergen,Tallinn,Porto,Ghent,Izmir,Tbilisi,"
    "Chengdu,Perth,Halifax,Valencia,Kraków,Utrecht",
    "food": "lentil soup,mango sticky rice,rye bread,pickled radish,shakshuka,a mushroom risotto,"
    "cold noodles,pancakes,plum cake,grilled aubergine,tofu stew,a fish curry,dumplings,"
    "a lemon tart,goat cheese,peanut sauce",
    "pet": "a tabby cat,a deaf old dog,two rabbits,a grey parrot,a corn snake,a hedgehog,three hens",
    "thing": "a red bicycle,an old radio,the espresso machine,a sewing machine,a folding kayak,"
    "the label printer,a cello,the projector,a film camera,a standing desk,the spare key,"
    "a winter tent,the 3D printer,a microscope,the garden hose,a telescope,the company laptop,"
    "a guitar amplifier",
    "act": "climbing,choir,pottery,rowing,chess,tango,Spanish,carpentry,beekeeping,archery,yoga,"
    "birdwatching,improv,judo,calligraphy,baking,fencing,sailing",
    "day": "Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday",
    "month": "January,February,March,April,May,June,July,August,September,October,November,December",
    "sys": "the billing service,the login page,the nightly backup,the search index,the mobile app,"
    "the payment gateway,the staging cluster,the mail relay,the invoice export,the image resizer,"
    "the data warehouse,the test runner",
    "fault": "times out,returns an error 500,runs out of memory,loses the session,sends everything twice,"
    "drops the attachments,shows yesterday's numbers,refuses valid passwords,ignores the time zone,"
    "hangs on start",
    "ill": "peanuts,cats,pollen,penicillin,shellfish,dust,latex,wasp stings,gluten,lactose,strawberries",
    "mood": "relieved,annoyed,proud,nervous,delighted,exhausted,curious,disappointed",
    "job": "a nurse,an architect,a tram driver,a translator,a sound engineer,a vet,a florist,"
    "a patent lawyer,a baker,a geologist,a set designer,a midwife,a locksmith",
    "who_zh": "小明,阿华,李娜,老王,佳怡,子轩,晓雯,建国,雨桐,大伟,思琪,俊杰,美玲,浩然,静怡,志强",
    "kin_zh": "妹妹,哥哥,妈妈,爸爸,同事,邻居,室友,表姐,老师,房东,女儿,外婆,教练,经理",
    "city_zh": "成都,杭州,厦门,昆明,大理,西安,青岛,长沙,苏州,哈尔滨,桂林,拉萨,珠海,南京",
    "food_zh": "红烧肉,酸辣粉,小笼包,麻婆豆腐,螺蛳粉,番茄炒蛋,羊肉泡馍,桂花糕,水煮鱼,绿豆汤,凉皮,豆花",
    "thing_zh": "旧相机,咖啡机,露营帐篷,电子琴,投影仪,折叠自行车,打印机,望远镜,缝纫机,平板电脑,羽毛球拍",
    "act_zh": "攀岩,书法,游泳,古筝,摄影,瑜伽,围棋,陶艺,滑雪,法语,烘焙,太极",
    "day_zh": "周一,周二,周三,周四,周五,周六,周日",
    "sys_zh": "支付系统,登录页面,数据备份,搜索服务,报表导出,消息队列,测试环境,手机客户端",
    "fault_zh": "总是超时,返回五百错误,内存不够,重复发送,丢了附件,显示昨天的数据,启动不了",
    "ill_zh": "花生,猫毛,花粉,青霉素,海鲜,灰尘,乳糖,芒果",
}
_SLOTS = {name: tuple(words.split(",")) for name, words in _WORDS.items()} | {
    "n": tuple(str(n) for n in range(2, 98)),
    "date": tuple(str(n) for n in range(1, 29)),
    "hour": tuple(f"{h}:{m}" for h in range(7, 23) for m in ("00", "15", "30", "45")),
}
_TOLD = (
    "{who} and {who2} are flying to {city} on {day} at {hour}.",
    "{who}'s {kin} moved from {city} to {city2} in {month}.",
    "{who} is allergic to {ill}, so no {food} at the party.",
    "{who} cooked {food} for {n} people and was {mood} afterwards.",
    "{who} adopted {pet} from a shelter near {city}.",
    "{who} lent {thing} to {who2} until {day}.",
    "{who} sold {thing} for {n} euros to a {kin} of {who2}.",
    "{who} has {act} practice every {day} at {hour}.",
    "{who} gave up {act} after {n} months and now tries {act2}.",
    "{sys} {fault} since the update on {day}; {who} is looking into it.",
    "{who} fixed it: {sys} no longer {fault} after {n} retries.",
    "the deadline for {sys} moved to {day}, {month} {date}, says {who}.",
    "{who} works as {job} in {city} and starts at {hour}.",
    "{who} used to be {job}, but went back to school in {month}.",
    "{who}'s {kin} is {job} and collects old maps of {city}.",
    "{who} prefers {food} over {food2}, but never before {hour}.",
    "{who} was {mood} because {who2} forgot {thing} in {city}.",
    "the rent of {who}'s flat in {city} goes up by {n} percent in {month}.",
    "{who} has an appointment with the {kin} on {day} at {hour}.",
    "{who} is reading a book about {act} that {who2} found in {city}.",
    "{who}'s {kin} had an operation in {month} and is recovering well.",
    "{who} wants {thing} for the birthday on {month} {date}.",
    "{who} and {who2} got engaged in {city} last {month}.",
    "bring {thing} and {food} on {day}, {who} said, the trip takes {n} hours.",
    "{who} runs {n} kilometres every {day} with the {kin}.",
    "{who} passed the {act} exam with {n} points and is {mood}.",
    "the password hint for {sys} is the name of {who}'s {kin}.",
    "{who}'s train to {city} leaves at {hour}, platform {n}.",
    "{who_zh}打算{day_zh}和{who_zh2}一起去{city_zh}。",
    "{who_zh}对{ill_zh}过敏，聚餐不要点{food_zh}。",
    "{who_zh}的{kin_zh}从{city_zh}搬到了{city_zh2}。",
    "{who_zh}最喜欢吃{food_zh}，不太能吃{food_zh2}。",
    "{who_zh}把{thing_zh}借给了{who_zh2}，{day_zh}要还。",
    "{who_zh}每{day_zh}晚上{n}分钟{act_zh}课，已经坚持了{n2}周。",
    "{sys_zh}从{day_zh}开始{fault_zh}，{who_zh}在排查。",
    "{who_zh}的{kin_zh}在{city_zh}开了一家卖{food_zh}的小店。",
    "{who_zh}花了{n}块钱给{kin_zh}买了{thing_zh}。",
    "{who_zh}放弃了{act_zh}，改学{act_zh2}，{who_zh2}很支持。",
    "{who_zh}下个月{date}号要去{city_zh}参加{act_zh}比赛。",
    "{who_zh}说{sys_zh}{fault_zh}的问题要等{kin_zh}回来再处理。",
)
_ASKED = (
    "when does {who} fly to {city}?",
    "what is {who} allergic to?",
    "who borrowed {thing}?",
    "does anybody know why {sys} {fault}?",
    "what does {who}'s {kin} do for a living?",
    "which hobby did {who} give up?",
    "what should I cook for {who}, maybe {food}?",
    "where does {who}'s {kin} live now, {city}?",
    "who has {act} on {day}?",
    "{who_zh}对什么过敏？",
    "谁要去{city_zh}？",
    "{sys_zh}为什么{fault_zh}？",
    "{thing_zh}借给谁了？",
    "{who_zh}的{kin_zh}现在住在哪里？",
    "{day_zh}谁有{act_zh}课？",
)


def told(count: int, seed: int = 1, folder: Path | None = None) -> list[str]:
    """Return ``count`` different statements in a random order.

    Args:
        count: how many; some hundred thousand are possible.
        seed: of the choice.
        folder: with conversations whose turns are taken first.
    """
    pick = random.Random(seed)
    found = dict.fromkeys(text for text in (turns(folder) if folder else ()) if len(text) > 20)
    while len(found) < count:
        found.setdefault(_filled(pick, _TOLD))
    texts = list(found)[:count]
    pick.shuffle(texts)
    return texts


def asked(count: int, seed: int = 2) -> list[str]:
    """Return ``count`` different questions and statements like those of :func:`told`."""
    pick = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found.setdefault(_filled(pick, _ASKED if pick.random() < 0.5 else _TOLD))
    return list(found)


def turns(folder: Path) -> Iterator[str]:
    """Yield every text of the JSON files of a folder."""
    for file in sorted(folder.glob("*.json")):
        yield from _texts(json.loads(file.read_text(encoding="utf-8")))


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            if name in ("text", "content") and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


def _filled(pick: random.Random, templates: tuple[str, ...]) -> str:
    words = {name: pick.choice(values) for name, values in _SLOTS.items()}
    second = {f"{name}2": pick.choice(values) for name, values in _SLOTS.items()}
    return pick.choice(templates).format(**words, **second)
