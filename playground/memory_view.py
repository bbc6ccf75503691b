"""What memory a chat request carries, read as the model reads it: out of the text of the system messages.

The demo's offline agent answers from this view, and the demo's transcript shows it, so both see exactly what
the plugin placed in the prompt and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.chat_script import text_of

_FENCED = re.compile(r"<<(.*?)>>", re.DOTALL)
_SPEAKER = re.compile(r"^Current speaker: id <<(.*?)>>(?:, name <<(.*?)>>)?", re.MULTILINE)
_PROFILE_PART = re.compile(
    r"^Profile of (?:this (?P<conversation>conversation)|the current (?P<speaker>speaker)):"
    r"|^- (?P<field>name|traits|preferences|notes): (?P<values><<.*?>>(?: <<.*?>>)*)$",
    re.MULTILINE | re.DOTALL,
)
_RECORD = re.compile(
    r"^(?:\[RAG\] )?(?P<date>\d{4}-\d\d-\d\d)\S* (?P<stars>\*{1,5})(?P<age>\S+)"
    r" (?P<who>[^\n<>]+?) (?P<id>[0-9a-z]{8}) <<(?P<text>.*?)>>",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Entry:
    """One thing a profile says."""

    owner: str
    """``speaker`` or ``conversation``."""
    field: str
    """``name``, ``traits``, ``preferences`` or ``notes``."""
    text: str
    """With its fact key in front, as shown: ``home_city: lives in Oslo``."""

    @property
    def value(self) -> str:
        """The text without a fact key."""
        key, colon, rest = self.text.partition(": ")
        return rest if colon and self.field != "notes" and re.fullmatch(r"[\w.-]+", key) else self.text


@dataclass(frozen=True)
class Record:
    """One recalled memory as shown to the model."""

    id: str
    date: str
    importance: int
    who: str
    text: str


@dataclass(frozen=True)
class MemoryView:
    """The memory in a request.

    Attributes:
        speaker_id: id of who is speaking, ``""`` when the prompt does not say it.
        speaker_name: their shown name.
        entries: what the profiles say.
        records: what was recalled for the message.
        present: whether the prompt holds a profile block at all.
    """

    speaker_id: str = ""
    speaker_name: str = ""
    entries: tuple[Entry, ...] = ()
    records: tuple[Record, ...] = ()
    present: bool = False

    @classmethod
    def of(cls, messages: Sequence[Mapping[str, Any]]) -> MemoryView:
        """Read the system messages of a request; what users, tools or the model said is not looked at."""
        text = "\n".join(text_of(dict(row)) for row in messages if row.get("role") == "system")
        speaker = _SPEAKER.search(text)
        return cls(
            speaker_id=speaker[1] if speaker else "",
            speaker_name=(speaker[2] or "") if speaker else "",
            entries=tuple(_entries(text)),
            records=records_in(text),
            present=bool(re.search(r"^Current speaker: ", text, re.MULTILINE)),
        )

    @property
    def name(self) -> str:
        """What to call the speaker in a memory: the shown name, else the id."""
        return self.speaker_name or self.speaker_id or "somebody"


def records_in(text: str) -> tuple[Record, ...]:
    """Return the memories in *text*, a block of the prompt or a result of ``recall_memory``; each id once."""
    found = {
        row["id"]: Record(row["id"], row["date"], len(row["stars"]), row["who"], row["text"])
        for row in _RECORD.finditer(text)
    }
    return tuple(found.values())


def _entries(text: str) -> list[Entry]:
    owner = ""
    found: list[Entry] = []
    for part in _PROFILE_PART.finditer(text):
        if part["field"] is None:
            owner = part["conversation"] or part["speaker"]
        elif owner:
            found += [Entry(owner, part["field"], value) for value in _FENCED.findall(part["values"])]
    return found
