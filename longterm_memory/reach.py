"""Which memories belong to a conversation, whatever the isolation was when they were stored.

The isolation can be changed at any time, and memories stay under the key they were stored under. Whoever erases
something, or does not want to be remembered, means all of them.
"""

from __future__ import annotations

from dataclasses import replace

from .scope import Isolation, Scope

__all__ = ["bot_prefix", "keys_of", "reached", "said_in", "scopes_of"]


def scopes_of(scope: Scope) -> tuple[Scope, ...]:
    """Return a conversation under each isolation: by itself and, when its bot is known, sharing with its others."""
    own, shared = (replace(scope, isolation=isolation) for isolation in (Isolation.SESSION, Isolation.BOT))
    return (own, shared) if shared.shared else (own,)


def keys_of(scope: Scope) -> tuple[str, ...]:
    """Return the user keys of :func:`scopes_of`."""
    return tuple(one.user_key for one in scopes_of(scope))


def bot_prefix(scope: Scope) -> str:
    """Return how the scope keys of all conversations of a scope's bot begin; the bot is known."""
    return scope.session_key.split(":", 1)[0] + ":"


def said_in(scope: Scope, user_key: str, session_name: str) -> bool:
    """Whether a memory was said in a conversation.

    Args:
        scope: the conversation.
        user_key: where the memory is.
        session_name: what it says about where it was said.
    """
    own, *bot = keys_of(scope)
    return user_key == own or (user_key in bot and session_name == scope.session_name)


def reached(scope: Scope, user_key: str, session_name: str) -> bool:
    """Whether a memory is one of a space: those that were said in the conversation, and under ``bot`` isolation those
    of all conversations of the bot.

    Args:
        scope: the space.
        user_key: where the memory is.
        session_name: what it says about where it was said.
    """
    if scope.shared and (user_key == scope.user_key or user_key.startswith(bot_prefix(scope))):
        return True
    return said_in(scope, user_key, session_name)
