"""What the bot was given on the last turn of a space, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

from ..errors import LongTermMemoryError
from ..injection.blocks import EPISODES_TITLE
from ..models import Score, Snapshot, SnapshotEpisode
from ..recall.explained import BOOSTS
from ..settings import Settings
from ..words import FALLBACK, explain, load, say
from .bounds import LIST_BYTES, fitting, size_of
from .episode_answers import Part, ScoreAnswer
from .requests import Route, SpaceRequest, spoken

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["ROUTES"]


class BlockAnswer(BaseModel):
    """One text that went into the prompt: ``profile`` or ``episodes``, its name for people, and itself."""

    name: str
    title: str
    text: str


class InjectedEpisode(BaseModel):
    """A memory that the bot was given on that turn.

    Attributes:
        content: as it was then; only the beginning when ``cut``.
        score: the score that it had then.
        relevance: 0..1; ``None`` when the snapshot is of an older version of the plugin.
        cosine: true cosine similarity of message and memory.
        parts: what the score is made of, with the weights that are set now.
    """

    id: str
    content: str
    cut: bool
    score: float
    relevance: float | None
    cosine: float
    parts: list[Part]

    @property
    def size(self) -> int:
        """About how many bytes it takes in an answer."""
        return size_of(self.model_dump(mode="json"))

    def shortened(self, length: int) -> InjectedEpisode:
        """Return it with at most so many characters of text."""
        return self.model_copy(update={"content": self.content[:length], "cut": len(self.content) > length})


class Skipped(BaseModel):
    """Something that was left out or went wrong: a stable reason, and a sentence."""

    reason: str
    text: str


class SnapshotAnswer(BaseModel):
    """The last injection.

    Attributes:
        at: when.
        sender_id: who spoke, ``""`` when unknown or when they switched memory off.
        injected: whether anything went into the prompt.
        blocks: what did, as the model saw it; empty for people who switched memory off.
        characters: how long it was in all.
        profiles: which profiles were used: ``session``, ``speaker``.
        episodes: the memories that were recalled and shown, best first.
        below_floor: how many were looked at and not relevant enough.
        recall: ``ok``, ``off``, ``skipped:<why>`` or ``failed:<why>``.
        recall_text: the same as a sentence.
        skipped: what was left out, and why.
        placement: ``system``, or ``retrieval``: then the runner's own retrieval brought the memories.
        milliseconds: ``total``: how long the turn waited for it; and the steps of it that were measured, ``message``,
            then ``profiles`` beside ``embedding``, ``search``, ``ranking`` and ``rerank`` (``recall`` when these did
            not end).
    """

    at: str
    query_id: str
    sender_id: str
    sender_name: str
    injected: bool
    blocks: list[BlockAnswer]
    characters: int
    profiles: list[str]
    episodes: list[InjectedEpisode]
    below_floor: int
    recall: str
    recall_text: str
    skipped: list[Skipped]
    placement: str
    milliseconds: dict[str, int | float]


class InjectionAnswer(BaseModel):
    """The last injection, ``None`` when there was none."""

    snapshot: SnapshotAnswer | None


async def _injection(service: MemoryService, request: SpaceRequest) -> InjectionAnswer:
    memory = await request.memory(service)
    snapshot = await memory.browsing.snapshot()
    if snapshot is None:
        return InjectionAnswer(snapshot=None)
    return InjectionAnswer(
        snapshot=_shown(snapshot, memory.settings, await spoken(service, request.language))
    )


def _shown(snapshot: Snapshot, settings: Settings, language: str) -> SnapshotAnswer:
    room = max(100_000, LIST_BYTES - 12 * sum(map(len, snapshot.blocks)))
    return SnapshotAnswer(
        at=snapshot.at,
        query_id=snapshot.query_id,
        sender_id=snapshot.sender_id,
        sender_name=snapshot.sender_name,
        injected=snapshot.injected,
        blocks=[_block(text, language) for text in snapshot.blocks],
        characters=snapshot.prompt_chars,
        profiles=list(snapshot.profiles),
        episodes=fitting([_episode(e, settings, language) for e in snapshot.episodes], room),
        below_floor=snapshot.below_floor,
        recall=snapshot.recall,
        recall_text=_recall(snapshot.recall, language),
        skipped=_skipped(snapshot, language),
        placement=snapshot.placement,
        milliseconds={"total": snapshot.ms, **snapshot.spent},
    )


def _block(text: str, language: str) -> BlockAnswer:
    name = "episodes" if text.startswith(EPISODES_TITLE) else "profile"
    return BlockAnswer(name=name, title=say(language, f"console.block_{name}"), text=text)


def _episode(kept: SnapshotEpisode, settings: Settings, language: str) -> InjectedEpisode:
    why = dict(kept.why)
    score = Score(
        total=kept.score,
        vector=why.get("vector", 0.0),
        lexical=why.get("lexical", 0.0),
        boosts={name: why[name] for name in BOOSTS if name in why},
    )
    return InjectedEpisode(
        id=kept.id,
        content=kept.content,
        cut=False,
        score=kept.score,
        relevance=why.get("relevance"),
        cosine=why.get("cosine", 0.0),
        parts=ScoreAnswer.of(score, settings, language).parts,
    )


def _recall(state: str, language: str) -> str:
    """Return what became of the recall, as a sentence."""
    kind, _, why = state.partition(":")
    if kind == "failed" and why != "deadline":
        return say(language, "console.recall_failed", reason=_reason(why, language))
    key = f"console.recall_{kind}_{why}" if why else f"console.recall_{kind}"
    return say(language, key) if key in load(FALLBACK) else say(language, "console.recall_other", state=state)


def _skipped(snapshot: Snapshot, language: str) -> list[Skipped]:
    found = list[Skipped]()
    if snapshot.recall != "ok":
        found.append(Skipped(reason=snapshot.recall, text=_recall(snapshot.recall, language)))
    if snapshot.below_floor:
        text = say(language, "console.skipped_floor", count=snapshot.below_floor)
        found.append(Skipped(reason="below_floor", text=text))
    for note in snapshot.notes:
        kind, _, why = note.partition(":")
        key = f"console.note_{kind}"
        known = key in load(FALLBACK)
        text = say(language, key, reason=_reason(why, language)) if known else note
        found.append(Skipped(reason=note, text=text))
    return found


def _reason(reason: str, language: str) -> str:
    """Return an error's sentence, as far as it needs no values; else its name."""
    try:
        return explain(language, LongTermMemoryError(reason)) if reason else ""
    except KeyError:
        return reason


ROUTES = {"/injection": Route(SpaceRequest, _injection)}
