"""The replies of ``!memory``: from what the service returns to the one text that goes out.

Pure functions; nothing here decides anything. Text that people wrote is always inside a line of ours or
behind ``>``, so it can never look like a line that the bot says. Each reply fits into one message
(:data:`~.voice.REPLY_MAX`); what does not fit is on a further page, and the last line says how to get it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import BadArgument, LongTermMemoryError
from ..models import KEPT_STATUSES, Filters, Profile, RecallResult, Status
from ..scope import Isolation, Scope
from ..words import joined
from .episode_lines import episode_details, episode_line, forgotten_line
from .inert import one_line
from .person_lines import off_lines
from .profile_lines import profile_lines
from .verbs import Verb
from .voice import Voice

if TYPE_CHECKING:
    from ..episodes import Forgotten, Relatives
    from ..listing import Page
    from ..models import Episode
    from ..policy import Actor
    from ..scoped import Overview, ProfileView

__all__ = [
    "archived",
    "deleted",
    "edited",
    "error",
    "forgotten",
    "listing",
    "me",
    "overview",
    "profile",
    "restored",
    "search",
    "show",
]

_KEY = 200
"""Longest key in a line, in characters."""
_IDS = 20
"""Most ids that a report names one by one."""
_NOT_TYPED = {
    "archive_superseded",
    "code_wrong",
    "content_secret",
    "edit_duplicate",
    "edit_same",
    "part_beyond",
    "scope_unknown",
    "speaker_unknown",
    "status_already",
}
"""What no help on typing mends."""


def overview(voice: Voice, view: Overview) -> str:
    """Return how memory stands here: mode, session, keys, speaker, counts, effective settings."""
    settings, speaker = view.settings, view.actor.speaker
    sharing = (
        "bot_fallback"
        if settings.isolation is Isolation.BOT and not view.scope.shared
        else settings.isolation
    )
    who = voice.say(
        "overview_admin" if view.actor.admin else "overview_speaker", speaker=voice.speaker(speaker)
    )
    if view.problem is not None:
        memories = voice.say("overview_problem", problem=voice.explain(view.problem))
    else:
        memories = voice.say("overview_memories", active=view.active or 0, hidden=view.hidden or 0)
    unread = voice.say("overview_unreadable")
    session, own = view.profiles.session, view.profiles.speaker
    own_facts = _facts(voice, own) if own else (unread if speaker.known else voice.say("profile_empty"))
    return "\n".join(
        [
            voice.say("overview_on"),
            voice.say("overview_conversation", session_name=one_line(view.scope.session_name, _KEY)),
            voice.say(f"overview_{sharing}"),
            who,
            *(off_lines(voice, for_bot=view.profiles.off_for_bot) if view.profiles.off else []),
            memories,
            voice.say(
                "overview_profiles", session=_facts(voice, session) if session else unread, speaker=own_facts
            ),
            voice.say(
                "overview_recall" if settings.auto_recall_top_k else "overview_recall_off",
                count=settings.auto_recall_top_k,
                days=f"{settings.recency_half_life_days:g}",
                strategy=settings.retrieval_strategy,
                weight=f"{1 - settings.lexical_weight:g}",
                boost=voice.say(
                    "overview_switch_on" if settings.exact_match_boost else "overview_switch_off"
                ),
            ),
            voice.say("overview_policy", policy=settings.command_policy),
            voice.say(
                "overview_keys",
                scope_key=one_line(view.scope.scope_key, _KEY),
                user_key=one_line(view.scope.user_key, _KEY),
                kb_id=one_line(view.kb_id, _KEY),
            ),
            voice.say("overview_more"),
        ]
    )


def _facts(voice: Voice, profile: Profile) -> str:
    if profile.empty:
        return voice.say("profile_empty")
    facts = voice.say(
        "overview_facts",
        traits=len(profile.traits),
        preferences=len(profile.preferences),
        notes=len(profile.notes.splitlines()),
    )
    return voice.say("overview_named", facts=facts) if profile.name else facts


def profile(voice: Voice, view: ProfileView, actor: Actor, page: int = 1) -> str:
    """Return both profiles, with what their keyed facts were before."""
    lines: list[str] = []
    if view.session is not None:
        lines += profile_lines(voice, view.session, voice.say("profile_session"))
    lines += _own_profile(voice, view, actor)
    lines += [voice.explain(problem) for problem in view.problems]
    return voice.pages(lines, page, f"{voice.command} profile")


def _own_profile(voice: Voice, view: ProfileView, actor: Actor) -> list[str]:
    if not actor.speaker.known:
        return [voice.say("profile_nobody")]
    if view.speaker is None:
        return []
    return profile_lines(
        voice, view.speaker, voice.say("profile_speaker", speaker=voice.speaker(actor.speaker))
    )


def me(voice: Voice, scope: Scope, actor: Actor, view: ProfileView, own: Page[Episode]) -> str:
    """Return what the bot knows about the speaker here, and who can see it.

    Args:
        voice: how to write it.
        scope: the conversation.
        actor: who asks.
        view: both profiles; only the speaker's is shown.
        own: a page of the speaker's own memories; the profile stands on the first one only.
    """
    if not actor.speaker.known:
        return voice.say("me_nobody")
    lines = [voice.say("me_title", speaker=voice.speaker(actor.speaker))]
    if own.page == 1:
        lines += _own_profile(voice, view, actor)
        lines += [voice.explain(problem) for problem in view.problems]
    if view.off:
        lines += off_lines(voice, for_bot=view.off_for_bot)
    if own.items:
        lines.append(voice.say("me_memories", count=voice.memories(own.total)))
        lines += [episode_line(voice, episode, here=scope.session_name) for episode in own.items]
    else:
        lines.append(voice.say("me_no_memories"))
    lines.append(voice.say("me_others"))
    if not view.off:
        lines.append(voice.say("me_seen_private" if actor.private else "me_seen_group"))
        if scope.shared:
            lines.append(voice.say("me_seen_shared"))
    ending = [voice.say("me_forget")] if own.items else []
    if own.left:
        again = f"{voice.command} me {own.page + 1}"
        ending.append(voice.say("list_more", count=own.left, next=own.page + 1, again=again))
    return _fitted(voice, lines, ending)


def _fitted(voice: Voice, lines: Sequence[str], ending: Sequence[str]) -> str:
    """Return lines and ending as one reply; where that is too long, the longest lines are cut down."""
    room = voice.limit - sum(len(line) + 1 for line in ending)
    longest = max(map(len, lines), default=0)
    while longest > 60 and sum(min(len(line), longest) + 1 for line in lines) > room:
        longest = longest * 3 // 4
    return "\n".join(
        [*(line if len(line) <= longest else f"{line[: longest - 1]}…" for line in lines), *ending]
    )


def search(
    voice: Voice, result: RecallResult, filters: Filters, *, page: int = 1, size: int = 10, here: str = ""
) -> str:
    """Return a page of search results.

    Args:
        voice: how to write it.
        result: hits, best first; one more than the page holds tells that there is another page.
        filters: what was asked for.
        page: which page.
        size: hits on a page.
        here: session name of this conversation.
    """
    if result.skipped:
        return voice.say("search_blank")
    hits = result.hits[(page - 1) * size : page * size]
    if not hits:
        if page > 1:
            return voice.say("search_none_page", page=page)
        return voice.say("search_none_filtered" if filters.narrows else "search_none")
    more = len(result.hits) > page * size
    found = voice.say("search_found", count=voice.memories(len(hits)))
    head = found if page == 1 and not more else voice.say("search_page", page=page)
    lines = [head, *(episode_line(voice, hit.episode, here=here, score=hit.score.total) for hit in hits)]
    return _fitted(voice, lines, [voice.say("search_more", next=page + 1)] if more else [])


def listing(
    voice: Voice, page: Page[Episode], filters: Filters, *, here: str = "", verb: Verb = Verb.LIST
) -> str:
    """Return a page of memories, newest first, with the real totals.

    Args:
        voice: how to write it.
        page: the page.
        filters: what was asked for.
        here: session name of this conversation.
        verb: ``superseded`` and ``archived`` are such lists too.
    """
    if not page.items and page.total:
        return voice.say("list_end", page=page.page - 1)
    if not page.items:
        if verb is Verb.SUPERSEDED:
            return voice.say("list_none_superseded")
        if verb is Verb.ARCHIVED:
            return voice.say("list_none_archived")
        return voice.say("list_none_filtered" if filters.narrows else "list_none")
    lines = [voice.say("list_head", page=page.page, pages=page.pages, count=voice.memories(page.total))]
    lines += [episode_line(voice, episode, here=here) for episode in page.items]
    ending = []
    if page.left:
        again = f"{voice.command} {verb} {page.page + 1}"
        if verb is Verb.LIST and filters.narrows:
            again = voice.say("list_again_filtered", next=page.page + 1)
        ending.append(voice.say("list_more", count=page.left, next=page.page + 1, again=again))
    return _fitted(voice, lines, ending)


def show(voice: Voice, episode: Episode, page: int = 1, relatives: Relatives | None = None) -> str:
    """Return everything known about one memory; a long one has several pages.

    Args:
        voice: how to write it.
        episode: the memory.
        page: which page.
        relatives: its other versions, when they were looked for.
    """
    return voice.pages(episode_details(voice, episode, relatives), page, f"{voice.command} show {episode.id}")


def archived(voice: Voice, episode: Episode) -> str:
    """Return what archiving did."""
    return voice.say("archived", id=episode.id)


def restored(voice: Voice, episode: Episode, replaced_by: Episode | None = None) -> str:
    """Return what restoring did.

    Args:
        voice: how to write it.
        episode: the memory, active again.
        replaced_by: the correction that had replaced it and stays.
    """
    if replaced_by is None:
        return voice.say("restored", id=episode.id)
    kept = voice.say("restored_beside", id=episode.id)
    return f"{kept}\n{episode_line(voice, replaced_by)}"


def edited(voice: Voice, episode: Episode) -> str:
    """Return what an edit did, and how the memory reads now."""
    return f"{voice.say('edited', id=episode.id)}\n{episode_line(voice, episode)}"


def forgotten(voice: Voice, outcome: Forgotten) -> str:
    """Return what a forget deleted, and what it cannot reach."""
    return joined(forgotten_line(voice, outcome), voice.say("forgot_history"))


def deleted(voice: Voice, ids: Sequence[str], filters: Filters) -> str:
    """Return how many memories a bulk delete removed, which, and by what filters."""
    parts = []
    if filters.sender_id:
        parts.append(voice.say("filter_speaker", value=one_line(filters.sender_id, 60)))
    if filters.tag:
        parts.append(voice.say("filter_tag", value=one_line(filters.tag, 60)))
    if filters.time_before:
        parts.append(voice.say("filter_before", value=voice.time(filters.time_before)))
    if filters.statuses >= KEPT_STATUSES:
        parts.append(voice.say("filter_any_status"))
    else:
        names = voice.listed([voice.say(f"status_{s.value}") for s in Status if s in filters.statuses])
        parts.append(voice.say("filter_status", value=names))
    used = voice.say("deleted_filters", filters=voice.listed(parts))
    if not ids:
        return joined(voice.say("deleted_none"), used)
    named = " ".join(ids[:_IDS])
    key = "deleted" if len(ids) <= _IDS else "deleted_more"
    report = voice.say(key, count=voice.memories(len(ids)), ids=named, more=len(ids) - _IDS)
    return joined(report, used, voice.say("forgot_history"))


def error(voice: Voice, problem: LongTermMemoryError, verb: Verb | None = None) -> str:
    """Return an error in words; one about what was typed also says where its help is.

    Args:
        voice: how to write it.
        problem: what went wrong; an error of the parser names its subcommand itself.
        verb: the subcommand, when the line could be read.
    """
    sentence = voice.explain(problem)
    named = problem.details.get("verb") or verb
    if not named or not isinstance(problem, BadArgument) or problem.reason in _NOT_TYPED:
        return sentence
    return voice.say("error_help", problem=sentence, verb=named)
