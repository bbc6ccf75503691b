"""How the bot writes its replies: language, dates, names, and how much fits into one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import reduce

from ..errors import LongTermMemoryError
from ..injection.fences import label_id, label_name
from ..scope import Speaker
from ..settings import Settings
from ..text.times import day
from ..words import explain, say

__all__ = ["REPLY_MAX", "Voice"]

REPLY_MAX = 3_000
"""Longest reply, in characters. A command answers with one message, and platforms cut or turn longer ones
into images."""

_NAME, _ID = 24, 40
"""Longest name and longest sender id in a line, in characters."""


@dataclass(frozen=True, slots=True)
class Voice:
    """Turns keys of the words files and values into lines.

    Attributes:
        language: of the sentences; a language without a sentence says it in English.
        zone: zone of dates shown to people.
        prefix: what commands start with here.
        limit: longest reply, in characters.
    """

    language: str = "en_US"
    zone: tzinfo = UTC
    prefix: str = "!"
    limit: int = REPLY_MAX

    @classmethod
    def of(cls, settings: Settings) -> Voice:
        """Return the voice that the settings ask for."""
        return cls(settings.language, settings.zone, settings.command_prefixes[0])

    @property
    def command(self) -> str:
        """The command as it is typed."""
        return f"{self.prefix}memory"

    def say(self, key: str, **values: object) -> str:
        """Return the sentence ``command.<key>``; ``{c}`` in it is the command as it is typed."""
        return say(self.language, f"command.{key}", c=self.command, **values)

    def tell(self, key: str, **values: object) -> str:
        """Return the sentence ``tool.<key>``."""
        return say(self.language, f"tool.{key}", **values)

    def health(self, key: str, **values: object) -> str:
        """Return the sentence ``health.<key>``."""
        return say(self.language, f"health.{key}", **values)

    def explain(self, error: LongTermMemoryError) -> str:
        """Return an error in words."""
        return explain(self.language, error, self.command)

    def memories(self, count: int) -> str:
        """Return a number of memories in words."""
        return self.say("memories_one" if count == 1 else "memories_many", count=count)

    def profiles(self, count: int) -> str:
        """Return a number of profiles in words."""
        return self.say("profiles_one" if count == 1 else "profiles_many", count=count)

    def listed(self, parts: Sequence[str]) -> str:
        """Return a list in one line, with the comma of this language between its parts."""
        return reduce(lambda first, second: self.say("listed", first=first, second=second), parts)

    def date(self, moment: datetime) -> str:
        """Return a time as its date in this zone."""
        return day(moment, self.zone)

    def time(self, moment: datetime) -> str:
        """Return a time with its zone."""
        local = moment.astimezone(self.zone)
        return f"{local:%Y-%m-%d %H:%M} {local.tzname()}"

    def speaker(self, speaker: Speaker) -> str:
        """Return who somebody is: name and id, as far as known."""
        # The dot separates the parts of a line; a name must not make parts of its own.
        name, ident = label_name(speaker.name.replace("·", " "), _NAME), label_id(speaker.id, _ID)
        if name and ident:
            return f"{name} ({ident})"
        return name or ident or self.say("nobody")

    def pages(self, lines: Sequence[str], page: int, again: str) -> str:
        """Return one page of a long text, with a line that says how to see the next.

        Args:
            lines: the whole text, each line much shorter than a reply.
            page: wanted page; one beyond the last is the last.
            again: what to type for another page, without its number.
        """
        room = self.limit - 120 - len(again)
        parts: list[list[str]] = [[]]
        used = 0
        for line in lines:
            if parts[-1] and used + len(line) + 1 > room:
                parts.append([])
                used = 0
            parts[-1].append(line)
            used += len(line) + 1
        page = min(max(page, 1), len(parts))
        shown = list(parts[page - 1])
        if page < len(parts):
            left = sum(map(len, parts[page:]))
            shown.append(self.say("more_lines", count=left, next=page + 1, pages=len(parts), again=again))
        elif page > 1:
            shown.append(self.say("page_last", page=page, pages=len(parts)))
        return "\n".join(shown)
