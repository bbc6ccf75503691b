"""Handing out what is too long for a line: as text when it is short, else as a file, and always in parts as well.

A command has one reply, platforms cut long ones, and several drop files without a word. So a reply that sends a
file also says how to fetch the same in numbered parts, one reply each.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadArgument
from ..ports import Turn
from .voice import Voice

__all__ = ["PART_CHARS", "Package", "Part", "deliver", "pieces"]

PART_CHARS = 2_200
"""Longest text of one part, in characters; the lines above it need the rest of a reply."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part.

    Attributes:
        text: what to copy.
        piece: number of the piece, from 1, where one record is too long for a reply; 0 for a whole part.
        pieces: how many pieces that record has.
    """

    text: str
    piece: int = 0
    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Package:
    """Something to hand out.

    Attributes:
        name: name of the file.
        text: all of it, for the file.
        parts: the same for replies, at least one.
        holds: what is in it, in words.
        notes: what else people should know about it.
        copied: whether the parts are there to be copied, not only read.
        again: what to type for a part, its number left out.
    """

    name: str
    text: str
    parts: Sequence[Part]
    holds: str
    again: str
    notes: Sequence[str] = ()
    copied: bool = True

    def copy(self, voice: Voice) -> list[str]:
        """Return the line that stands right above a part."""
        return [voice.say("export_copy")] if self.copied else []


_SIGN = re.compile(r"\\u[0-9a-f]{4}|\\.|.", re.DOTALL)


def pieces(text: str) -> list[Part]:
    """Return JSON as one part, or cut into pieces where it is too long for a reply; joined, they say the same.

    No piece begins with what somebody wrote, or begins or ends with a blank, which platforms strip.
    """
    if len(text) <= PART_CHARS:
        return [Part(text)]
    found, piece, inside = [], "", False
    for sign in _SIGN.findall(text):
        if len(piece) + len(sign) > PART_CHARS:
            found.append(f"{piece[:-1]}\\u0020" if inside and piece[-1] == " " else piece)
            piece = _escaped(sign) if inside else sign
        else:
            piece += sign
        inside ^= sign == '"'
    found.append(piece)
    return [Part(piece, number, len(found)) for number, piece in enumerate(found, 1)]


def _escaped(sign: str) -> str:
    return sign if len(sign) > 1 or sign == '"' else "".join(f"\\u{n:04x}" for n in _units(sign))


def _units(character: str) -> tuple[int, ...]:
    """Return the UTF-16 code units of a character."""
    data = character.encode("utf-16-be", "surrogatepass")
    return struct.unpack(f">{len(data) // 2}H", data)


async def deliver(voice: Voice, turn: Turn, package: Package, part: int) -> str:
    """Hand out a package; returns the reply.

    Args:
        voice: how to write it.
        turn: the message being answered; files go out beside the reply.
        package: what.
        part: number of the wanted part, 0 when the whole is wanted.

    Raises:
        BadArgument: ``part_beyond``.
    """
    count = len(package.parts)
    if part > count:
        raise BadArgument("part_beyond", part=part, count=count)
    if part:
        return _part(voice, package, part)
    if count == 1:
        head = [voice.say("export_text", holds=package.holds), *package.notes, *package.copy(voice)]
        return "\n".join([*head, package.parts[0].text])
    data = package.text.encode()
    sent = await turn.send_file(package.name, data)
    lines = [
        voice.say(
            "export_file" if sent else "export_no_file",
            name=package.name,
            holds=package.holds,
            size=-(-len(data) // 1000),
        ),
        *package.notes,
        voice.say("export_file_lost" if sent else "export_parts", count=count, again=_again(package, 1)),
    ]
    return "\n".join(lines)


def _part(voice: Voice, package: Package, number: int) -> str:
    part, count = package.parts[number - 1], len(package.parts)
    mark = hashlib.sha256(package.text.encode()).hexdigest()[:4]
    lines = [voice.say("export_part", part=number, count=count, holds=package.holds, mark=mark)]
    lines += package.notes if number == 1 else ()
    if part.piece:
        lines.append(voice.say("export_piece", piece=part.piece, pieces=part.pieces))
    if number < count:
        lines.append(voice.say("export_next", again=_again(package, number + 1)))
    else:
        lines.append(voice.say("export_last"))
    return "\n".join([*lines, *package.copy(voice), part.text])


def _again(package: Package, part: int) -> str:
    return f"{package.again}{part}"
