"""The one memory knowledge base: which it is, and what it was filled with.

Kept in plugin storage under ``ltm/kb``. The host never tells the plugin about a knowledge base again after
creating it, so this record is what a restarted plugin knows; calls that carry the id and creation settings
heal a lost one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .errors import LongTermMemoryError, NotConfigured, StorageFailed
from .logs import get_logger
from .ports import Host
from .recall.calibration import Calibration

__all__ = ["KB_KEY", "KnowledgeBase", "KnowledgeBaseRegistry"]

logger = get_logger(__name__)

KB_KEY = "ltm/kb"
UNREADABLE = "profile_unreadable"
"""Reason of the error for a stored value that cannot be read."""
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A memory knowledge base.

    Attributes:
        id: the host's uuid of it; also the name of its vector collection.
        creation_settings: what the operator chose when creating it (frozen by the host).
        calibration: reference vectors of its embedding model; ``None`` until something was embedded for it.
            Before that nothing was ever written, so nothing needs to be read: on Milvus a first read would
                even fix a wrong dimension.
    """

    id: str
    creation_settings: Mapping[str, Any] = field(default_factory=dict)
    calibration: Calibration | None = None

    @property
    def model(self) -> str:
        """Uuid of the embedding model, ``""`` when none was chosen."""
        return str(self.creation_settings.get("embedding_model_uuid") or "")


class KnowledgeBaseRegistry:
    """Remembers the knowledge base in plugin storage; reads it once per process."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._known: KnowledgeBase | None = None
        self._read = False
        self._changing = asyncio.Lock()
        self.last_refusal: LongTermMemoryError | None = None
        """Why the last new knowledge base was refused, ``None`` once one was taken or given back; the WebUI shows
        no reason, health does."""

    async def get(self) -> KnowledgeBase | None:
        """Return the knowledge base, ``None`` when there is none.

        Raises:
            StorageFailed: storage did not answer, or the record is unreadable.
        """
        if not self._read:
            raw = await self._host.storage.get(KB_KEY)
            self._known = None if raw is None else _loaded(raw)
            self._read = True
        return self._known

    async def require(self) -> KnowledgeBase:
        """Return the knowledge base.

        Raises:
            NotConfigured: ``not_configured`` or ``no_embedding_model``.
            StorageFailed: as :meth:`get`.
        """
        base = await self.get()
        if base is None:
            raise NotConfigured("not_configured")
        if not base.model:
            raise NotConfigured("no_embedding_model")
        return base

    async def register(self, kb_id: str, creation_settings: Mapping[str, Any]) -> KnowledgeBase:
        """Take a new knowledge base into use.

        Raises:
            NotConfigured: ``second_knowledge_base`` when another one is in use and still exists on the host.
            StorageFailed: storage did not answer.
        """
        async with self._changing:
            try:
                known = await self.get()
            except StorageFailed as exc:
                if exc.reason != UNREADABLE:
                    raise
                # A damaged record must not block a new knowledge base; nothing else is stored under this key.
                logger.warning("knowledge base record replaced: reason=%s", exc.reason)
                known = None
            if known is not None and known.id == kb_id:
                return known
            if known is not None:
                existing = await self._host.knowledge_bases()
                if existing is None or known.id in existing:
                    refusal = NotConfigured("second_knowledge_base", existing=known.id)
                    self.refused(refusal)
                    raise refusal
            base = KnowledgeBase(kb_id, dict(creation_settings))
            await self._save(base)
            self.last_refusal = None
            return base

    def refused(self, reason: LongTermMemoryError) -> None:
        """Note that a new knowledge base was refused, for whoever looks for the reason."""
        self.last_refusal = reason

    async def adopt(self, kb_id: str, creation_settings: Mapping[str, Any]) -> None:
        """Learn about a knowledge base of ours from a call that names it, when none is known.

        One that is only half created (the WebUI saves a row without a model first) is not taken.

        Raises:
            StorageFailed: storage did not answer.
        """
        if kb_id and creation_settings.get("embedding_model_uuid") and await self.get() is None:
            await self.register(kb_id, creation_settings)

    async def calibrated(self, base: KnowledgeBase, calibration: Calibration) -> KnowledgeBase:
        """Keep the reference vectors of the model.

        Raises:
            NotConfigured: ``not_configured`` when it is not the knowledge base in use any more.
            StorageFailed: storage did not answer; nothing is kept.
        """
        async with self._changing:
            known = await self.get()
            if known is None or known.id != base.id:
                raise NotConfigured("not_configured")
            filled = replace(base, calibration=calibration)
            await self._save(filled)
            return filled

    async def unregister(self, kb_id: str) -> None:
        """Forget a deleted knowledge base; another one's id is left alone.

        Raises:
            StorageFailed: storage did not answer.
        """
        async with self._changing:
            try:
                known = await self.get()
            except StorageFailed as exc:
                if exc.reason != UNREADABLE:
                    raise
                # Which one it was cannot be told any more; it must not block the next.
                known = KnowledgeBase(kb_id)
            if known is not None and known.id == kb_id:
                await self._host.storage.delete(KB_KEY)
                self._known, self._read = None, True
                self.last_refusal = None

    async def _save(self, base: KnowledgeBase) -> None:
        data = {
            "schema_version": _SCHEMA,
            "id": base.id,
            "creation_settings": dict(base.creation_settings),
            "calibration": base.calibration.dump() if base.calibration else None,
        }
        await self._host.storage.set(KB_KEY, json.dumps(data, default=_thawed).encode())
        self._known, self._read = base, True


def _thawed(value: object) -> object:
    """Make JSON of the frozen containers in which hosts hand out settings."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


def _loaded(raw: bytes) -> KnowledgeBase:
    try:
        data = json.loads(raw)
        calibration = data["calibration"]
        return KnowledgeBase(
            str(data["id"]),
            dict(data["creation_settings"]),
            Calibration.load(calibration) if calibration else None,
        )
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        raise StorageFailed(UNREADABLE, key=KB_KEY) from exc
