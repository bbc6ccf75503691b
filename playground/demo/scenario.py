"""The conversation: three people, two groups, one private chat, a restart in the middle."""

from __future__ import annotations

from dataclasses import dataclass

from playground.chat import Kind
from playground.demo.evidence import Condition, Injected, NotGiven, Quiet, SameReplyAs, Says, SaysNot, Used


@dataclass(frozen=True)
class Person:
    """Who speaks."""

    id: str
    name: str


@dataclass(frozen=True)
class Place:
    """A conversation of the bot."""

    kind: Kind
    id: str
    label: str


@dataclass(frozen=True)
class Turn:
    """One message, and what its outcome proves."""

    who: Person
    where: Place
    says: str
    proves: str
    conditions: tuple[Condition, ...]
    name: str = ""
    """For ``SameReplyAs`` of a later turn."""

    @property
    def is_command(self) -> bool:
        """Whether the plugin answers it and not the chat model."""
        return self.says.startswith("!")


@dataclass(frozen=True)
class Chapter:
    """A heading, with a sentence about what comes."""

    title: str
    restart: bool = False
    """Whether the host is stopped and started again here."""


MINA, TAO, LAN = Person("mina", "Mina"), Person("tao", "Tao"), Person("lan", "Lan")
TRIP = Place("group", "trip", "group “Trip”")
OFFICE = Place("group", "office", "group “Office”")
PRIVATE = Place("person", MINA.id, "private chat")

_UNKNOWN = Says(("I don't know",))


def _kept_out(*words: str) -> NotGiven:
    """What was said in another conversation, whatever a model made of it there, never reaches this one."""
    return NotGiven(words, firm=True)


_STORED = Used("remember", "Stored")

SCENARIO: tuple[Turn | Chapter, ...] = (
    Chapter("Getting to know each other: facts go into profiles, plans become memories"),
    Turn(
        MINA,
        TRIP,
        "Hi, my name is Mina Park and I am allergic to peanuts.",
        "Stable facts go into the speaker's profile.",
        (Used("update_profile", "profile of the current speaker", times=2),),
    ),
    Turn(
        TAO,
        TRIP,
        "I'm Tao, and I am allergic to shellfish.",
        "A similar fact of somebody else is kept apart: Mina's profile is not in Tao's prompt.",
        (
            Used("update_profile", "profile of the current speaker", times=2),
            NotGiven(("peanuts", "Mina Park")),
        ),
    ),
    Turn(
        MINA,
        TRIP,
        "We decided to fly to Lisbon on 12 May 2027 with flight TP-1342.",
        "A decision becomes a memory; Mina's profile is in her prompt from now on.",
        (_STORED, Injected(("Mina Park", "peanuts"))),
    ),
    Turn(
        LAN,
        TRIP,
        "我叫林岚，我喜欢乌龙茶。",
        "The same in Chinese: name and preference go into Lan's profile.",
        (
            Used("update_profile", "profile of the current speaker", times=2),
            NotGiven(("peanuts", "shellfish")),
        ),
    ),
    Chapter("Answers come from memory (the agent knows nothing else)"),
    Turn(
        TAO,
        TRIP,
        "What am I allergic to?",
        "Tao gets his own allergy, not Mina's.",
        (Injected(("shellfish",)), NotGiven(("peanuts",)), Says(("shellfish",))),
    ),
    Turn(
        MINA,
        TRIP,
        "What am I allergic to?",
        "The same question from Mina gets hers, not Tao's.",
        (Injected(("peanuts",)), NotGiven(("shellfish",)), Says(("peanuts",))),
    ),
    Turn(
        LAN,
        TRIP,
        "When do we fly to Lisbon, and which flight is it?",
        "What Mina said is recalled for Lan without any tool: it was injected for the question.",
        (Injected(("12 May 2027", "TP-1342")), Says(("12 May 2027", "TP-1342"))),
    ),
    Turn(
        LAN,
        TRIP,
        "我喜欢喝什么？",
        "A Chinese question is answered from the Chinese profile.",
        (Injected(("乌龙茶",)), Says(("乌龙茶",))),
    ),
    Turn(
        LAN,
        TRIP,
        "我们决定2027年5月15日晚上在阿尔法玛区吃晚饭。",
        "A plan in Chinese becomes a memory as well.",
        (_STORED,),
    ),
    Turn(
        LAN,
        TRIP,
        "晚饭在哪里吃？",
        "And is recalled for a Chinese question.",
        (Injected(("阿尔法玛",)), Says(("阿尔法玛",))),
    ),
    Turn(
        TAO,
        TRIP,
        "Thanks, good morning everybody!",
        "Small talk is not worth a memory: nothing is recalled, nothing is stored.",
        (NotGiven(("TP-1342", "阿尔法玛")), Quiet()),
    ),
    Chapter("Other conversations know nothing of it"),
    Turn(
        TAO,
        OFFICE,
        "When do we fly to Lisbon?",
        "Another group does not know the first one's plans, not even through recall_memory.",
        (_kept_out("TP-1342", "12 May"), _UNKNOWN),
    ),
    Turn(
        MINA,
        OFFICE,
        "What am I allergic to?",
        "Profiles stay in their conversation too: the same person is a stranger here.",
        (_kept_out("peanuts", "Mina Park"), _UNKNOWN),
    ),
    Turn(
        MINA,
        PRIVATE,
        "When do we fly to Lisbon?",
        "Nor does a private chat know what was said in a group.",
        (_kept_out("TP-1342", "12 May"), _UNKNOWN),
    ),
    Turn(
        MINA,
        PRIVATE,
        "Please remember that I am planning a surprise party for Tao on 3 June 2027.",
        "A private plan is stored in the private chat.",
        (_STORED,),
    ),
    Turn(
        TAO,
        TRIP,
        "Is a party planned for me?",
        "And it stays there: the group learns nothing of the surprise.",
        (_kept_out("surprise", "3 June"), _UNKNOWN),
    ),
    Turn(
        TAO,
        OFFICE,
        "I live in Hamburg.",
        "Tao tells the office where he lives.",
        (Used("update_profile", "profile of the current speaker"), _kept_out("shellfish")),
    ),
    Turn(
        LAN,
        OFFICE,
        "Remember that the quarterly report is due on 3 March 2027.",
        "The office has a memory of its own now.",
        (_STORED,),
    ),
    Chapter("Facts change, and things are forgotten"),
    Turn(
        MINA,
        TRIP,
        "Actually, our flight to Lisbon is on 14 May 2027.",
        "A correction replaces the older memory.",
        (Used("remember", "replaces"),),
    ),
    Turn(
        TAO,
        TRIP,
        "When do we fly to Lisbon?",
        "Only the new date reaches the model; the old one is gone from recall.",
        (Injected(("14 May 2027",)), NotGiven(("12 May",)), Says(("14 May 2027",))),
    ),
    Turn(
        TAO,
        OFFICE,
        "Actually, I live in Bremen now.",
        "A corrected fact replaces the value under its key, and the change is remembered.",
        (Used("update_profile", "profile of the current speaker"), _STORED),
    ),
    Turn(
        TAO,
        OFFICE,
        "Where do I live?",
        "The new city is the only one in the prompt.",
        (Injected(("Bremen",)), NotGiven(("Hamburg",)), Says(("Bremen",))),
    ),
    Turn(
        LAN,
        TRIP,
        "我喜欢的不是乌龙茶，是茉莉花茶。",
        "A correction in Chinese.",
        (Used("update_profile", "profile of the current speaker"), _STORED),
    ),
    Turn(
        MINA,
        PRIVATE,
        "Forget the surprise party.",
        "The agent finds the memory's id and deletes it for good.",
        (Used("recall_memory", "surprise"), Used("forget", "deleted")),
    ),
    Turn(
        MINA,
        PRIVATE,
        "!memory list",
        "The command sees no trace of it either.",
        (SaysNot(("surprise", "3 June")), Says(("memor",), firm=True)),
    ),
    Turn(
        MINA,
        TRIP,
        "!memory me",
        "Mina can look at what the bot knows about her here.",
        (Says(("Mina Park", "peanuts", "14 May 2027")), SaysNot(("shellfish",))),
        name="before the restart",
    ),
    Chapter("LangBot is stopped and started again", restart=True),
    Turn(
        MINA,
        TRIP,
        "!memory me",
        "After the restart all of it is still there, word for word.",
        (SameReplyAs("before the restart"),),
    ),
    Turn(
        MINA,
        TRIP,
        "What is my name, and what am I allergic to?",
        "The profile is in the prompt again.",
        (Injected(("Mina Park", "peanuts")), NotGiven(("shellfish",))),
    ),
    Turn(
        TAO,
        TRIP,
        "When do we fly to Lisbon?",
        "So is the corrected date, and still not the old one.",
        (Injected(("14 May 2027",)), NotGiven(("12 May",)), Says(("14 May 2027",))),
    ),
    Turn(
        LAN,
        TRIP,
        "我喜欢喝什么？",
        "And the Chinese correction.",
        (Injected(("茉莉花茶",)), NotGiven(("乌龙茶",)), Says(("茉莉花茶",)), SaysNot(("乌龙茶",))),
    ),
    Turn(
        MINA,
        PRIVATE,
        "When is the surprise party for Tao?",
        "What was forgotten stays forgotten.",
        (NotGiven(("surprise party", "3 June")), _UNKNOWN),
    ),
    Turn(
        TAO,
        OFFICE,
        "When do we fly to Lisbon?",
        "And the other group still knows nothing.",
        (_kept_out("TP-1342", "14 May", "12 May"), _UNKNOWN),
    ),
    Turn(
        LAN,
        OFFICE,
        "!memory search report",
        "Its own memory it has: the command finds it by meaning and words.",
        (Says(("quarterly report",)), SaysNot(("Lisbon",), firm=True)),
    ),
)
