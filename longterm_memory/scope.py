"""Who is talking where, and the keys that keep memories apart.

``session_key`` (= ``scope_key``) names one conversation of one bot; L1 profiles always live there.
``user_key`` is what isolates L2 episodes: the session key, or ``bot:{bot_uuid}`` when isolation is ``bot``
and the bot is known.

Keys are injective: two different (bot, launcher type, launcher id, sender) tuples never share one, whatever
characters the ids hold. Parts made of ``[A-Za-z0-9._-]`` stand verbatim, every other character is
percent-escaped as UTF-8, ``:`` and ``/`` always, so the separators of a key can only be ours.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from .errors import BadArgument
from .text.fold import well_formed

__all__ = ["Isolation", "Scope", "Speaker", "clean_id", "escape_part"]

_VERBATIM = re.compile(r"[A-Za-z0-9._-]")
_ALL_VERBATIM = re.compile(r"[A-Za-z0-9._-]*")
_SESSION_NAME = re.compile(r"(?P<type>[A-Za-z0-9.-]+)_(?P<id>.+)", re.DOTALL)


class Isolation(StrEnum):
    """How far episodes are shared."""

    SESSION = "session"
    """Each conversation has its own episodes (default)."""

    BOT = "bot"
    """All conversations of one bot share their episodes; profiles stay per conversation."""


def clean_id(value: object) -> str:
    """Return an id as the string it compares as; ``""`` when there is none.

    Numbers and their decimal strings are one id (``77001`` and ``"77001"``); ``007`` and ``7`` are two.
    ``None``, booleans, containers, blank strings and strings that are no valid text are no id.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    text = str(value)
    # A lone surrogate is no text and cannot be stored anywhere, so such an id names nobody.
    return text if text.strip() and text == well_formed(text) else ""


def escape_part(part: str) -> str:
    """Percent-escape one part of a key.

    Args:
        part: any text, lone surrogates included.

    Returns:
        ASCII text of ``[A-Za-z0-9._%-]``; different inputs give different outputs.
    """
    if _ALL_VERBATIM.fullmatch(part):
        return part
    return "".join(
        ch if _VERBATIM.match(ch) else "".join(f"%{b:02X}" for b in ch.encode("utf-8", "surrogatepass"))
        for ch in part
    )


def _unescaped(part: str) -> str:
    return clean_id(unquote(part, errors="strict"))


@dataclass(frozen=True, slots=True)
class Speaker:
    """The sender of the current message. ``id`` is ``""`` when the host did not say."""

    id: str = ""
    name: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a sender id to attach memories to."""
        return bool(self.id)


@dataclass(frozen=True, slots=True)
class Scope:
    """One memory space: a conversation of a bot, and how its episodes are isolated.

    Attributes:
        bot_uuid: uuid of the bot, ``""`` when unknown.
        launcher_type: kind of conversation, ``person`` or ``group`` on today's hosts.
        launcher_id: id of the conversation on its platform, as a string.
        isolation: configured isolation of episodes.
    """

    bot_uuid: str
    launcher_type: str
    launcher_id: str
    isolation: Isolation = Isolation.SESSION

    @classmethod
    def of(
        cls,
        *,
        bot_uuid: object,
        launcher_type: object,
        launcher_id: object,
        isolation: Isolation = Isolation.SESSION,
    ) -> Scope:
        """Build a scope from raw host values.

        Raises:
            BadArgument: ``scope_unknown`` when there is no launcher type or id: no scope, no memory.
        """
        kind, ident = clean_id(getattr(launcher_type, "value", launcher_type)), clean_id(launcher_id)
        if not kind or not ident:
            raise BadArgument("scope_unknown")
        return cls(clean_id(bot_uuid), kind, ident, isolation)

    @classmethod
    def of_session(
        cls, session_name: object, *, bot_uuid: object, isolation: Isolation = Isolation.SESSION
    ) -> Scope:
        """Build a scope from the host's ``{launcher_type}_{launcher_id}``.

        Raises:
            BadArgument: ``scope_unknown`` when the name is missing, blank or has no type.
        """
        match = _SESSION_NAME.fullmatch(session_name) if isinstance(session_name, str) else None
        if match is None:
            raise BadArgument("scope_unknown")
        return cls.of(
            bot_uuid=bot_uuid, launcher_type=match["type"], launcher_id=match["id"], isolation=isolation
        )

    @classmethod
    def of_user_key(cls, user_key: str) -> Scope:
        """Build the scope that a readable user key stands for (the inverse of :attr:`user_key`).

        Raises:
            BadArgument: ``scope_unknown`` when it is not such a key.
        """
        head, _, tail = user_key.rpartition(":")
        try:
            if head == "bot" and tail:
                # Where in the bot it was said is not in the key; the record says it itself.
                scope = cls(_unescaped(tail), "", "", Isolation.BOT)
            else:
                kind, _, ident = tail.partition("_")
                scope = cls.of(
                    bot_uuid=_unescaped(head), launcher_type=_unescaped(kind), launcher_id=_unescaped(ident)
                )
        except UnicodeDecodeError as exc:
            raise BadArgument("scope_unknown") from exc
        if scope.user_key != user_key:
            raise BadArgument("scope_unknown")
        return scope

    @property
    def session_name(self) -> str:
        """The host's plain name of the conversation, ``{launcher_type}_{launcher_id}``; ``""`` when it is not
        known.
        """
        return f"{self.launcher_type}_{self.launcher_id}" if self.launcher_id else ""

    @property
    def session_key(self) -> str:
        """Key of the conversation; L1 lives here."""
        # "_" joins type and id, so in the type alone it has to be escaped to keep the key injective.
        session = f"{escape_part(self.launcher_type).replace('_', '%5F')}_{escape_part(self.launcher_id)}"
        if not self.bot_uuid:
            return session
        bot = escape_part(self.bot_uuid)
        # "bot:…" is the prefix of shared keys; a bot that is really called "bot" must not reach them.
        return f"{'%62ot' if bot == 'bot' else bot}:{session}"

    @property
    def scope_key(self) -> str:
        """Same as :attr:`session_key`."""
        return self.session_key

    @property
    def shared(self) -> bool:
        """Whether episodes are shared by all conversations of the bot (``bot`` isolation with a known
        bot).
        """
        return self.isolation is Isolation.BOT and bool(self.bot_uuid)

    @property
    def user_key(self) -> str:
        """Key that isolates L2: the session key, or ``bot:{bot_uuid}`` under ``bot`` isolation with a known
        bot.
        """
        return f"bot:{escape_part(self.bot_uuid)}" if self.shared else self.session_key

    @property
    def space_id(self) -> str:
        """Opaque id of this memory space (32 lowercase hex digits), what pages send instead of keys."""
        return hashlib.sha256(f"space|{self.isolation}|{self.session_key}".encode()).hexdigest()[:32]

    @property
    def person(self) -> str:
        """Sender id of the person whose private chat this is, ``""`` for a group."""
        return self.launcher_id if self.launcher_type == "person" else ""

    def is_private(self, speaker: Speaker) -> bool:
        """Whether this is the private chat of that speaker (type ``person`` and sender equals launcher)."""
        return self.launcher_type == "person" and speaker.known and speaker.id == self.launcher_id

    def speaker_key(self, speaker: Speaker) -> str:
        """Key of the speaker's profile in this conversation.

        Raises:
            BadArgument: ``speaker_unknown`` when there is no sender id.
        """
        if not speaker.known:
            raise BadArgument("speaker_unknown")
        return f"{self.session_key}/{escape_part(speaker.id)}"
