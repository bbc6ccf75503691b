"""One turn: from the message that comes in to the blocks that the model gets.

At most four rounds of host calls, whatever the size of the memory: the message's variables; profiles beside
the question's embedding; the search; and, in one go, the query variables and the snapshot. Recall has a
deadline, and whatever fails costs the turn its episodes, never the reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..conversation import (
    ATTACHED_VARIABLE,
    KNOWLEDGE_BASES_VARIABLE,
    Attachment,
    Conversation,
)
from ..errors import BadArgument, LongTermMemoryError, StorageFailed
from ..logs import get_logger
from ..models import Hit, Profile, RecallQuery, RecallResult, Snapshot, SnapshotEpisode
from ..policy import Actor
from ..ports import Turn
from ..recall.recaller import Fill
from ..scope import Scope, Speaker
from ..scoped import ProfileView, ScopedMemory
from ..settings import Settings
from ..text.small_talk import skip_reason
from ..text.times import iso
from ..turns import RESERVE
from .blocks import render_episode_block, render_profile_block

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["CONTEXT_VARIABLE", "Injection", "Injector"]

logger = get_logger(__name__)

CONTEXT_VARIABLE = "_ltm_context"
"""Query variable for other plugins; its keys are a promise (README, for plugin authors)."""


@dataclass(frozen=True, slots=True)
class Injection:
    """What goes into the prompt of this turn.

    Attributes:
        blocks: texts to append to the system part of the prompt, in order; empty when nothing is injected.
        snapshot: what was done and why; ``None`` when the memory is not active here.
        reason: why nothing is injected (``not_configured``, ``not_attached``, ``scope_unknown``, ``command``),
            ``""`` otherwise.
    """

    blocks: tuple[str, ...] = ()
    snapshot: Snapshot | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Recalled:
    """Outcome of the recall of a turn: what is for the prompt, or in one word why there is nothing.

    Attributes:
        state: as in the snapshot.
        hits: the best ones, at most ``auto_recall_top_k``.
        result: everything recalled, with a reserve for the runner's own retrieval.
        seconds: how long it took.
    """

    state: str
    hits: tuple[Hit, ...] = ()
    result: RecallResult = RecallResult()  # noqa: RUF009 - frozen
    seconds: float = 0.0

    @property
    def spent(self) -> dict[str, float]:
        """Seconds by step; all of it in one where it did not get to its end."""
        return dict(self.result.spent) or ({"recall": self.seconds} if self.seconds else {})


class Injector:
    """Prepares turns for one installation."""

    def __init__(self, service: MemoryService) -> None:
        self._service = service
        self._warned = False

    async def prepare(self, turn: Turn) -> Injection:
        """Read the message, recall, and publish what is injected.

        Args:
            turn: the message being answered.

        Returns:
            The blocks for the prompt. Failures of recall and profiles are in the snapshot's notes.

        Raises:
            StorageFailed: not even the settings could be read.
        """
        started = self._service.clock()
        try:
            conversation, base, version = await asyncio.gather(
                Conversation.of_turn(turn), self._service.knowledge_bases.get(), self._service.host.version()
            )
        except BadArgument as exc:
            return self._skipped(turn, exc.reason)
        if base is None or not base.model:
            return self._skipped(turn, "not_configured")
        attachment = conversation.attachment(base.id)
        if attachment is Attachment.NO:
            return self._skipped(turn, "not_attached", conversation)
        settings = await self._service.settings()
        skip = skip_reason(conversation.text, settings.command_prefixes)
        if skip == "command":
            await self._quietly(turn.set_variable(ATTACHED_VARIABLE, str(attachment)), "variable")
            return self._skipped(turn, "command", conversation)
        spent = {"message": self._service.clock() - started}
        scope, began = conversation.scope(settings.isolation), self._service.withdrawals.now()
        memory = ScopedMemory(self._service, scope, Actor.of(scope, conversation.speaker, "tool"), settings)
        (profiles, seconds), recalled = await asyncio.gather(
            self._profiles(memory, settings), self._recall(memory, conversation, settings, skip)
        )
        spent |= {"profiles": seconds, **recalled.spent}
        injection = self._render(
            conversation, scope, settings, profiles, recalled, attachment, started, spent
        )
        # Under the placement "retrieval" the runner is to ask, on every host.
        in_system = settings.episode_placement == "system"
        suppress = in_system and attachment is Attachment.YES and _asks_only_listed(version)
        await self._publish(
            turn, conversation, base.id, injection, profiles, recalled, attachment, suppress, began
        )
        return injection

    # ------------------------------------------------------------ gathering

    async def _profiles(self, memory: ScopedMemory, settings: Settings) -> tuple[ProfileView, float]:
        """Return the profiles, and how many seconds that took."""
        started = self._service.clock()
        try:
            view = await asyncio.wait_for(memory.profiles(), settings.recall_deadline_seconds)
        except TimeoutError:
            view = ProfileView(None, None, (StorageFailed("storage_down"),))
        return view, self._service.clock() - started

    async def _recall(
        self, memory: ScopedMemory, conversation: Conversation, settings: Settings, skip: str
    ) -> _Recalled:
        if not settings.auto_recall_top_k:
            return _Recalled("off")
        if skip:
            return _Recalled(f"skipped:{skip}")
        query = RecallQuery(
            text=conversation.text[:_QUERY_MAX],
            k=settings.auto_recall_top_k + RESERVE,
            speaker_id=conversation.speaker.id,
        )
        deadline, started = settings.recall_deadline_seconds, self._service.clock()
        try:
            result = await asyncio.wait_for(
                # A little less for the embedding call, so that its timeout is noticed as a hang of the
                # service.
                memory.recall(query, fill=Fill.PAGE, timeout=deadline * 0.95),
                deadline,
            )
        except TimeoutError:
            return _Recalled("failed:deadline", seconds=self._service.clock() - started)
        except LongTermMemoryError as exc:
            logger.warning("recall failed: query_id=%s reason=%s", conversation.query_id, exc.reason)
            return _Recalled(f"failed:{exc.reason}", seconds=self._service.clock() - started)
        state = f"skipped:{result.skipped}" if result.skipped else "ok"
        return _Recalled(state, result.hits[: settings.auto_recall_top_k], result)

    # ------------------------------------------------------------ rendering

    def _render(
        self,
        conversation: Conversation,
        scope: Scope,
        settings: Settings,
        profiles: ProfileView,
        recalled: _Recalled,
        attachment: Attachment,
        started: float,
        spent: Mapping[str, float],
    ) -> Injection:
        in_system = settings.episode_placement == "system"
        text, shown = render_episode_block(
            recalled.hits,
            zone=settings.zone,
            now=self._service.now(),
            budget=settings.episode_budget_chars,
        )
        profile_text = render_profile_block(
            profiles.session,
            profiles.speaker,
            conversation.speaker,
            budget=settings.profile_budget_chars,
            unreadable=bool(profiles.problems),
        )
        blocks = (profile_text, text) if in_system and shown else (profile_text,)
        notes = [f"profile:{p.reason}" for p in profiles.problems]
        if profiles.off:
            notes.append("speaker_off")
        if recalled.result.rerank_failed is not None:
            notes.append(f"rerank:{recalled.result.rerank_failed.reason}")
        if attachment is Attachment.UNKNOWN:
            notes.append("knowledge_bases_hidden")
            if not self._warned:
                self._warned = True
                logger.warning("the host does not expose %s: suppression skipped", KNOWLEDGE_BASES_VARIABLE)
        snapshot = Snapshot(
            at=iso(self._service.now()),
            query_id=conversation.query_id,
            scope_key=scope.scope_key,
            user_key=scope.user_key,
            # Of people who opted out nothing is kept, not even that they were here.
            sender_id="" if profiles.off else conversation.speaker.id,
            sender_name="" if profiles.off else conversation.speaker.name,
            injected=True,
            blocks=() if profiles.off else blocks,
            prompt_chars=sum(map(len, blocks)),
            profiles=tuple(
                name
                for name, profile in (("session", profiles.session), ("speaker", profiles.speaker))
                if profile is not None and not profile.empty
            ),
            episodes=tuple(_snapshot_episode(hit) for hit in shown),
            placement=settings.episode_placement,
            recall=recalled.state,
            notes=tuple(notes),
            below_floor=recalled.result.below_floor,
            ms=round((self._service.clock() - started) * 1000),
            spent={step: round(seconds * 1000, 1) for step, seconds in spent.items()},
        )
        visible = {hit.episode.id for hit in shown}
        reserve = tuple(hit for hit in recalled.result.hits if hit.episode.id not in visible)
        self._service.turns.begin(
            scope,
            conversation.speaker,
            query_id=conversation.query_id or "-",
            text=conversation.text,
            shown=visible if in_system else (),
            waiting=reserve if in_system else shown,
            once=not in_system,
        )
        return Injection(blocks, snapshot)

    # ------------------------------------------------------------ publishing

    async def _publish(
        self,
        turn: Turn,
        conversation: Conversation,
        kb_id: str,
        injection: Injection,
        profiles: ProfileView,
        recalled: _Recalled,
        attachment: Attachment,
        suppress: bool,
        began: int,
    ) -> None:
        context = _context(conversation.speaker, profiles, recalled.hits)
        calls = [
            self._quietly(turn.set_variable(CONTEXT_VARIABLE, context), "variable"),
            self._quietly(turn.set_variable(ATTACHED_VARIABLE, str(attachment)), "variable"),
        ]
        if injection.snapshot is not None:
            # Whoever was erased or opted out since the turn began is in no record of it.
            keeping = self._service.snapshots.put(injection.snapshot, began=began)
            calls.append(self._quietly(keeping, "snapshot"))
        if suppress:
            left = [k for k in conversation.knowledge_bases or () if k != kb_id]
            calls.append(self._quietly(turn.set_variable(KNOWLEDGE_BASES_VARIABLE, left), "variable"))
        await asyncio.gather(*calls)
        snapshot = injection.snapshot
        logger.info(
            "memory injection ready: query_id=%s kb_id=%s scope_key=%s sender_id=%s block_count=%d"
            " prompt_chars=%d episodes=%d recall=%s ms=%d",
            conversation.query_id,
            kb_id,
            snapshot.scope_key if snapshot else "",
            conversation.speaker.id,
            len(injection.blocks),
            snapshot.prompt_chars if snapshot else 0,
            len(snapshot.episodes) if snapshot else 0,
            recalled.state,
            snapshot.ms if snapshot else 0,
        )

    @staticmethod
    async def _quietly(call: Awaitable[Any], what: str) -> None:
        """Await something that the reply must not depend on."""
        try:
            await asyncio.wait_for(call, _PUBLISH_SECONDS)
        except (LongTermMemoryError, TimeoutError) as exc:
            logger.warning("%s not written: %s", what, getattr(exc, "reason", "timeout"))

    @staticmethod
    def _skipped(turn: Turn, reason: str, conversation: Conversation | None = None) -> Injection:
        logger.info(
            "memory injection skipped: query_id=%s sender_id=%s reason=%s",
            turn.query_id,
            conversation.speaker.id if conversation else "",
            reason,
        )
        return Injection(reason=reason)


_QUERY_MAX = 2_000
"""Longest part of a message that is embedded as the question, in characters."""
_PUBLISH_SECONDS = 3.0


def _asks_only_listed(version: str) -> bool:
    """Whether taking our knowledge base out of the list keeps the runner from asking it: before 4.11.

    From 4.11 on the runner asks anyway, and taking it out would lock our own and other plugins' tools out.
    """
    return version.removeprefix("v").startswith("4.10.")


def _snapshot_episode(hit: Hit) -> SnapshotEpisode:
    why = {
        "vector": hit.score.vector,
        "cosine": hit.score.cosine,
        "lexical": hit.score.lexical,
        "relevance": hit.score.relevance,
        **hit.score.boosts,
    }
    if hit.score.rerank is not None:
        why["rerank_score"] = hit.score.rerank
    return SnapshotEpisode(
        id=hit.episode.id,
        content=hit.episode.content,
        score=round(hit.score.total, 4),
        why={name: round(value, 4) for name, value in why.items()},
    )


def _context(speaker: Speaker, profiles: ProfileView, hits: tuple[Hit, ...]) -> Mapping[str, Any]:
    """The value of ``_ltm_context``: plain stored text, the promised keys always present."""
    empty = Profile()
    return {
        "speaker": {"id": speaker.id, "name": speaker.name},
        "session_profile": (profiles.session or empty).public(),
        "speaker_profile": (profiles.speaker or empty).public()
        if speaker.known and not profiles.off
        else None,
        "episodes": [
            {
                "content": hit.episode.content,
                "id": hit.episode.id,
                "timestamp": iso(hit.episode.timestamp),
                "sender_id": hit.episode.sender_id,
                "sender_name": hit.episode.sender_name,
                "importance": hit.episode.importance,
                "tags": list(hit.episode.tags),
                "score": round(hit.score.total, 4),
            }
            for hit in hits
        ],
    }
