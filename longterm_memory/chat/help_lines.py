"""The help: how each line is typed, an example that works, and who may."""

from __future__ import annotations

from ..ids import EXAMPLE
from ..policy import COMMANDS, Action, Mode, Who
from .command_line import CommandLine
from .verbs import AVAILABLE, VERBS, Group, Verb
from .voice import Voice

__all__ = ["ACTIONS", "help_text"]

ACTIONS: dict[Verb, tuple[Action, ...]] = {
    Verb.EDIT: (Action.CHANGE_OWN, Action.CHANGE_OTHER),
    Verb.ARCHIVE: (Action.CHANGE_OWN, Action.CHANGE_OTHER),
    Verb.RESTORE: (Action.CHANGE_OWN, Action.CHANGE_OTHER),
    Verb.FORGET: (Action.CHANGE_OWN, Action.CHANGE_OTHER),
    Verb.DELETE: (Action.CHANGE_OWN, Action.BULK_DELETE),
    Verb.OFF: (Action.WITHDRAW,),
    Verb.ON: (Action.WITHDRAW,),
    Verb.FORGETME: (Action.WITHDRAW,),
    Verb.EXPORT: (Action.EXPORT_OWN, Action.EXPORT_ALL),
    Verb.IMPORT: (Action.IMPORT,),
}
"""What the policy is asked about a subcommand, one's own first; all others only read."""


def help_text(voice: Voice, line: CommandLine, mode: Mode = "owner_or_admin") -> str:
    """Return the help: all of it, that of one subcommand, or what is wrong with the word that was typed.

    Args:
        voice: how to write it.
        line: what was typed.
        mode: the setting ``command_policy``, for who may.
    """
    topic = line.topic
    if topic is not None and VERBS[topic].available:
        return _help_on(voice, topic, mode)
    lines = []
    if topic is not None:
        lines.append(voice.say("help_unavailable", verb=topic.value))
    elif line.unknown:
        lines.append(voice.say("help_unknown", word=line.unknown))
        if line.suggestion:
            lines.append(voice.say("help_suggestion", verb=line.suggestion.value))
    lines.append(voice.say("help_title"))
    for group in Group:
        lines.append(voice.say(f"help_group_{group}"))
        lines += [_row(voice, verb) for verb in AVAILABLE if VERBS[verb].group is group]
    lines += [voice.say("help_ids", example=EXAMPLE), voice.say("help_group"), voice.say("help_more")]
    return "\n".join(lines)


def _name(verb: Verb) -> str:
    return verb.value or "overview"


def _row(voice: Voice, verb: Verb) -> str:
    usage, about = voice.say(f"usage_{_name(verb)}"), voice.say(f"about_{_name(verb)}")
    return voice.say("help_row", usage=usage, about=about)


def _help_on(voice: Voice, verb: Verb, mode: Mode) -> str:
    spec = VERBS[verb]
    lines = [_row(voice, verb)]
    if spec.aliases:
        short = voice.listed([f"{voice.command} {alias}" for alias in spec.aliases])
        lines.append(voice.say("help_alias", aliases=short))
    lines.append(voice.say(f"more_{_name(verb)}", example=EXAMPLE))
    if spec.options:
        lines.append(voice.say("help_options"))
        lines += [voice.say(f"option_help_{name}") for name in spec.options]
    lines += [_who_may(voice, verb, mode), voice.say("help_group")]
    return "\n".join(lines)


def _who_may(voice: Voice, verb: Verb, mode: Mode) -> str:
    own, *other = [_who(voice, action, mode) for action in ACTIONS.get(verb, (Action.READ,))]
    if not other or other[0] == own:
        return voice.say("may", who=own)
    return voice.say("may_each", own=own, others=other[0])


def _who(voice: Voice, action: Action, mode: Mode) -> str:
    private, group = COMMANDS[action][mode]
    if group is Who.ANYBODY:
        return voice.say("may_anybody")
    return voice.say("may_private" if private is Who.ANYBODY else "may_admin")
