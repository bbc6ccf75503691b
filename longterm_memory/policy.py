"""Who may do what: the one policy table, for commands, tools and the console alike.

Three questions decide every case. *Through what* does the request come: a tool of the agent, a ``!memory``
command, or the operator's console? *Where*: in somebody's own private chat, or anywhere else (a group, or a
``person`` conversation that several people share, such as a web widget)? *Who*: anybody, or a memory admin?

A memory admin is a sender listed in the setting ``memory_admins``, or a sender with privilege 2 in their own
private chat. The host grants privilege to a conversation, not to a person, so in a group it makes everybody
or nobody an admin and is not looked at.

Tools carry no privilege at all: whoever talks to the bot can make the model call them, and the model can be
talked into it. They change what belongs to the current speaker, and the session profile, whoever the speaker
is.

The console belongs to the operator, who can read the whole database anyway: everything is allowed there.

Under ``bot`` isolation one more rule holds (:func:`sees`): records that were said in another conversation may
be recalled, but are listed, exported or changed by memory admins only. Otherwise a group could page through
everybody's private chats.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from .errors import Forbidden
from .models import Episode
from .scope import Scope, Speaker

__all__ = [
    "Action",
    "Actor",
    "Mode",
    "Via",
    "allows",
    "change_of",
    "check_episode_change",
    "check_episode_shown",
    "decide",
    "is_admin",
    "sees",
]

Mode = Literal["owner_or_admin", "everyone", "admin"]
"""The setting ``command_policy``."""

Via = Literal["tool", "command", "console"]

ADMIN_PRIVILEGE = 2
"""The host's privilege of an admin conversation."""


class Action(StrEnum):
    """What somebody wants to do with this conversation's memory."""

    READ = "read"
    """Search, list, show, recall, profiles, statistics, explained ranking, health."""
    ADD = "add"
    """Store a new memory in one's own name."""
    CHANGE_OWN = "change_own"
    """Edit, archive, restore or forget a memory of one's own; change one's own profile; accept one's own
    candidate."""
    CHANGE_OTHER = "change_other"
    """The same for somebody else's, or for a memory that nobody is known to have said."""
    CHANGE_SESSION_PROFILE = "change_session_profile"
    """Change the profile that belongs to the conversation."""
    WITHDRAW = "withdraw"
    """``forgetme``, ``off`` and ``on``: what a person may always do about themselves."""
    EXPORT_OWN = "export_own"
    """Export the profiles of this conversation, or one's own episodes."""
    EXPORT_ALL = "export_all"
    """Export everybody's episodes."""
    BULK_DELETE = "bulk_delete"
    """``delete`` by filter, or a deletion of a selection that is not all one's own."""
    IMPORT = "import"
    """Write episodes or profiles from a file or a pasted text."""
    CONSOLIDATE = "consolidate"
    """Archive and summarise many episodes at once."""


class Who(StrEnum):
    """A cell of the table."""

    ANYBODY = "anybody"
    ADMIN = "admin"
    NOBODY = "nobody"


_ANY, _ADM, _NO = Who.ANYBODY, Who.ADMIN, Who.NOBODY

COMMANDS: dict[Action, dict[Mode, tuple[Who, Who]]] = {
    # Who may, by command.       In their own private chat, in a group:
    Action.READ: {"owner_or_admin": (_ANY, _ANY), "everyone": (_ANY, _ANY), "admin": (_ANY, _ANY)},
    Action.ADD: {"owner_or_admin": (_ANY, _ANY), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
    Action.CHANGE_OWN: {"owner_or_admin": (_ANY, _ANY), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
    Action.CHANGE_OTHER: {"owner_or_admin": (_ANY, _ADM), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
    Action.CHANGE_SESSION_PROFILE: {
        "owner_or_admin": (_ANY, _ANY),
        "everyone": (_ANY, _ANY),
        "admin": (_ADM, _ADM),
    },
    Action.WITHDRAW: {"owner_or_admin": (_ANY, _ANY), "everyone": (_ANY, _ANY), "admin": (_ANY, _ANY)},
    Action.EXPORT_OWN: {"owner_or_admin": (_ANY, _ANY), "everyone": (_ANY, _ANY), "admin": (_ANY, _ANY)},
    Action.EXPORT_ALL: {"owner_or_admin": (_ANY, _ADM), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
    Action.BULK_DELETE: {"owner_or_admin": (_ANY, _ADM), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
    Action.IMPORT: {"owner_or_admin": (_ANY, _ADM), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
    Action.CONSOLIDATE: {"owner_or_admin": (_ANY, _ADM), "everyone": (_ANY, _ANY), "admin": (_ADM, _ADM)},
}

TOOLS: dict[Action, Who] = {
    # Who may, by tool: the same in every mode and place, admins included.
    Action.READ: _ANY,
    Action.ADD: _ANY,
    Action.CHANGE_OWN: _ANY,
    Action.CHANGE_OTHER: _NO,
    Action.CHANGE_SESSION_PROFILE: _ANY,
    Action.WITHDRAW: _NO,
    Action.EXPORT_OWN: _NO,
    Action.EXPORT_ALL: _NO,
    Action.BULK_DELETE: _NO,
    Action.IMPORT: _NO,
    Action.CONSOLIDATE: _NO,
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, and through what.

    Attributes:
        speaker: sender of the current message; unknown for the console.
        private: whether this is the speaker's own private chat (:meth:`Scope.is_private`).
        admin: whether the speaker is a memory admin here (:func:`is_admin`).
        via: ``tool``, ``command`` or ``console``.
    """

    speaker: Speaker
    private: bool
    admin: bool
    via: Via

    @classmethod
    def of(
        cls,
        scope: Scope,
        speaker: Speaker,
        via: Via,
        *,
        memory_admins: tuple[str, ...] = (),
        privilege: int = 1,
    ) -> Actor:
        """Build the actor of a request.

        Args:
            scope: the conversation of the request.
            speaker: who sent the message, from the query variable ``sender_id``.
            via: the front end.
            memory_admins: the setting of that name.
            privilege: what the host says about the conversation; 1 when it does not say.
        """
        private = scope.is_private(speaker)
        admin = is_admin(speaker, private=private, memory_admins=memory_admins, privilege=privilege)
        return cls(speaker, private, admin, via)


def is_admin(
    speaker: Speaker, *, private: bool, memory_admins: tuple[str, ...] = (), privilege: int = 1
) -> bool:
    """Whether that speaker is a memory admin: listed, or privileged in their own private chat."""
    listed = speaker.known and speaker.id in memory_admins
    return listed or (private and privilege >= ADMIN_PRIVILEGE)


def decide(action: Action, actor: Actor, mode: Mode) -> None:
    """Let the action pass, or say why not.

    Raises:
        Forbidden: ``forbidden_tool`` or ``forbidden_tool_other`` for tools, ``forbidden_policy`` in mode
            ``admin``,
            else ``forbidden_<action>``; each sentence says why, and who can.
    """
    if actor.via == "console":
        return
    if actor.via == "tool":
        if TOOLS[action] is Who.NOBODY:
            raise Forbidden("forbidden_tool_other" if action is Action.CHANGE_OTHER else "forbidden_tool")
        return
    private, group = COMMANDS[action][mode]
    if (private if actor.private else group) is Who.ADMIN and not actor.admin:
        raise Forbidden("forbidden_policy" if mode == "admin" else f"forbidden_{action}")


def allows(action: Action, actor: Actor, mode: Mode) -> bool:
    """Whether :func:`decide` lets the action pass."""
    try:
        decide(action, actor, mode)
    except Forbidden:
        return False
    return True


def change_of(actor: Actor, episode: Episode) -> Action:
    """Whether a change of that episode is a change of one's own or of somebody else's."""
    return Action.CHANGE_OWN if episode.is_from(actor.speaker.id) else Action.CHANGE_OTHER


def sees(actor: Actor, scope: Scope, episode: Episode) -> bool:
    """Whether a command or the console may show, export or change that episode here.

    False only under ``bot`` isolation, for records of other conversations (and for records that do not say where
    they were said) when the actor is no memory admin. Lists, exports and bulk deletes leave out what this refuses.
    The scope itself is checked before, by the record layer.
    """
    if actor.via == "console" or not scope.shared or episode.session_name == scope.session_name:
        return True
    # A tool carries no privilege, so an admin's tool call counts as anybody's.
    return actor.admin and actor.via == "command"


def check_episode_shown(actor: Actor, scope: Scope, episode: Episode, mode: Mode) -> None:
    """Let one episode be shown by id, or say why not.

    Raises:
        Forbidden: see :func:`decide`; ``forbidden_elsewhere`` for a record of another conversation.
    """
    decide(Action.READ, actor, mode)
    if not sees(actor, scope, episode):
        raise Forbidden("forbidden_elsewhere")


def check_episode_change(actor: Actor, scope: Scope, episode: Episode, mode: Mode) -> None:
    """Let one episode be edited, archived, restored or forgotten, or say why not.

    Raises:
        Forbidden: see :func:`decide`; ``forbidden_elsewhere`` for a record of another conversation.
    """
    if not sees(actor, scope, episode):
        raise Forbidden("forbidden_elsewhere")
    decide(change_of(actor, episode), actor, mode)
