"""What people read about switching memory off for themselves, and about having themselves erased."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..confirmations import CODE_SECONDS
from ..scope import Scope
from .voice import Voice

if TYPE_CHECKING:
    from ..erasure import Traces
    from ..policy import Actor
    from ..views import ErasureOffer

__all__ = ["erasure_offered", "erasure_reported", "off_lines", "opted"]


def off_lines(voice: Voice, *, for_bot: bool) -> list[str]:
    """Return that memory is off for the speaker, here or in all conversations with the bot, what that means, and how
    to end it.
    """
    where = voice.say("off_everywhere" if for_bot else "off_here")
    return [where, voice.say("off_means"), voice.say("off_next")]


def opted(voice: Voice, scope: Scope, *, off: bool, changed: bool, for_bot: bool) -> str:
    """Return what ``off`` or ``on`` did.

    Args:
        voice: how to write it.
        scope: the conversation.
        off: whether it was switched off.
        changed: whether it was not so before.
        for_bot: whether memory is off for the speaker now in all conversations with the bot.
    """
    if off:
        return "\n".join(([] if changed else [voice.say("off_already")]) + off_lines(voice, for_bot=for_bot))
    if not changed:
        return voice.say("on_already")
    if scope.shared:
        return voice.say("on_everywhere")
    return "\n".join([voice.say("on_done"), *([voice.say("on_only_here")] if for_bot else [])])


def erasure_offered(voice: Voice, scope: Scope, actor: Actor, offer: ErasureOffer) -> str:
    """Return what ``forgetme`` would erase, what would stay, and the line that confirms it."""
    traces = offer.traces
    head = voice.say("forgetme_would", speaker=voice.speaker(actor.speaker))
    confirm = voice.say("forgetme_confirm", minutes=round(CODE_SECONDS / 60), code=offer.code)
    return "\n".join([head, *_numbers(voice, scope, traces), voice.say("forgetme_stays"), confirm])


def erasure_reported(voice: Voice, scope: Scope, traces: Traces, *, off: bool = False) -> str:
    """Return what ``forgetme`` erased.

    Args:
        voice: how to write it.
        scope: the conversation.
        traces: what was erased.
        off: whether the speaker has memory switched off; then nothing new is stored either.
    """
    lines = [voice.say("forgetme_done"), *_numbers(voice, scope, traces, done=True)]
    lines.append(voice.say("forgetme_stays"))
    return "\n".join(lines if off else [*lines, voice.say("forgetme_next")])


def _numbers(voice: Voice, scope: Scope, traces: Traces, *, done: bool = False) -> list[str]:
    memories = voice.memories(traces.episodes)
    own_profile = traces.profiles > traces.session_profiles
    lines = [
        voice.say("forgetme_memories_shared" if scope.shared else "forgetme_memories", memories=memories),
        voice.say("forgetme_profile" if own_profile else "forgetme_no_profile"),
        *([voice.say("forgetme_session_profile")] if traces.session_profiles else []),
        voice.say("forgetme_audit", count=traces.audit),
    ]
    if done:
        lines.append(voice.say("forgetme_prompts", count=traces.snapshots))
    else:
        lines.append(voice.say("forgetme_prompt"))
    return lines
