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

__all__ = ["FILE_CHARS", "PART_CHARS", "Package", "Part", "deliver", "pieces"]

PART_CHARS = 2_200
"""Longest text of one part, in characters; the lines above it need the rest of a reply."""

FILE_CHARS = 2_500_000
"""Longest text of one file, in characters, so that it stays under 8 MB in any script."""


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
        files: all of it as files, name and text; at least one.
        parts: the same for replies, at least one.
        holds: what is in it, in words.
        notes: what else people should know about it.
        copied: whether the parts are there to be copied, not only read.
        again: what to type for a part, its number left out.
    """

    files: Sequence[tuple[str, str]]
    parts: Sequence[Part]
    holds: str
    again: str
    notes: Sequence[str] = ()
    copied: bool = True

    @property
    def mark(self) -> str:
        """Four signs that are the same as long as nothing in it has changed."""
        digest = hashlib.sha256()
        for _, text in self.files:
            digest.update(text.encode())
        return digest.hexdigest()[:4]

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
    again = f"{package.again}1"
    sent = await _sent(turn, package)
    whole = sent == len(package.files)
    lost = voice.say("export_file_lost" if whole else "export_parts", count=count, again=again)
    return "\n".join([_outcome(voice, package, sent), *package.notes, lost])


async def _sent(turn: Turn, package: Package) -> int:
    """Send the files; returns how many went out before one could not."""
    for number, (name, text) in enumerate(package.files):
        if not await turn.send_file(name, text.encode()):
            return number
    return len(package.files)


def _outcome(voice: Voice, package: Package, sent: int) -> str:
    size = -(-sum(len(text.encode()) for _, text in package.files) // 1000)
    names = " ".join(name for name, _ in package.files)
    if 0 < sent < len(package.files):
        return voice.say(
            "export_some_files", holds=package.holds, sent=sent, count=len(package.files), names=names
        )
    return voice.say("export_file" if sent else "export_no_file", holds=package.holds, names=names, size=size)


def _part(voice: Voice, package: Package, number: int) -> str:
    part, count = package.parts[number - 1], len(package.parts)
    lines = [voice.say("export_part", part=number, count=count, holds=package.holds, mark=package.mark)]
    lines += package.notes if number == 1 else ()
    if part.piece:
        lines.append(voice.say("export_piece", piece=part.piece, pieces=part.pieces))
    if number < count:
        lines.append(voice.say("export_next", again=f"{package.again}{number + 1}"))
    else:
        lines.append(voice.say("export_last"))
    return "\n".join([*lines, *package.copy(voice), part.text])
