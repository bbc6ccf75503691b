"""The memory service: the one thing behind tools, command, listener, engine and console.

:class:`MemoryService` holds what belongs to an installation (knowledge base, profiles, snapshots, turns);
``service.scoped(conversation, via=…)`` gives a :class:`~longterm_memory.scoped.ScopedMemory`, which has
every verb the fronts have and no other way in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from .audit import AuditLog
from .collection import Collection
from .confirmations import Confirmations
from .conversation import Attachment, Conversation
from .episodes import EpisodeStore
from .errors import LongTermMemoryError, NotConfigured, NotInPipeline
from .injection.injector import Injector
from .knowledge_base import KnowledgeBase, KnowledgeBaseRegistry
from .listing import Listings
from .logs import get_logger
from .models import Episode
from .opt_outs import OptOuts
from .policy import Actor, Via
from .ports import Host
from .profiles import ProfileStore
from .recall.recaller import Recaller
from .recall.reranking import Reranking
from .scope import Scope
from .scoped import ScopedMemory
from .settings import Settings, Source
from .snapshots import SnapshotStore
from .spaces import SpaceRegistry
from .transfer.backup import Backups
from .turns import TurnWindow
from .withdrawals import Withdrawals

__all__ = ["MemoryService"]

logger = get_logger(__name__)

_CREATION_SECONDS = 20.0
"""Time for the model when a knowledge base is created; the host waits 30 s for that."""


class MemoryService:
    """Memory of one installation of the plugin.

    Args:
        host: vectors, embeddings, storage.
        plugin_config: returns what the operator saved in the plugin's config, maybe ``{}``.
        now: current time, UTC.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        host: Host,
        plugin_config: Callable[[], Mapping[str, Any]] = dict,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.host = host
        self.now = now
        self.clock = clock
        self.knowledge_bases = KnowledgeBaseRegistry(host)
        self.withdrawals = Withdrawals()
        self.profiles = ProfileStore(host.storage)
        self.snapshots = SnapshotStore(host.storage, withdrawals=self.withdrawals)
        self.audit = AuditLog(host.storage, now, self.withdrawals)
        self.opt_outs = OptOuts(host.storage)
        self.spaces = SpaceRegistry(host.storage)
        self.listings = Listings(clock)
        self.confirmations = Confirmations(clock)
        self.backups = Backups(self)
        self.turns = TurnWindow(clock)
        self.injector = Injector(self)
        self.reranking = Reranking(host, clock)
        self._plugin_config = plugin_config
        self._collection: Collection | None = None
        self._reported: set[str] = set()

    # ------------------------------------------------------------ what is configured

    async def settings(self) -> Settings:
        """Return the effective settings; values that cannot be used are logged once.

        Raises:
            StorageFailed: the knowledge base's record could not be read.
        """
        settings, problems = self.configuration(await self.knowledge_bases.get())
        for problem in problems:
            if problem not in self._reported:
                self._reported.add(problem)
                logger.warning("configuration problem: %s", problem)
        return settings

    def configuration(self, base: KnowledgeBase | None) -> tuple[Settings, tuple[str, ...]]:
        """Return the settings in force with a knowledge base, and a line for each value that cannot be used."""
        return Settings.load(self._plugin_config(), base.creation_settings if base else {})

    def sources(self, base: KnowledgeBase | None) -> dict[str, Source]:
        """Return where the value of each setting in force comes from."""
        return Settings.sources(self._plugin_config(), base.creation_settings if base else {})

    async def collection(self) -> Collection:
        """Return the knowledge base in use.

        Raises:
            NotConfigured: there is none, or it has no embedding model.
            StorageFailed: its record could not be read.
        """
        base = await self.knowledge_bases.require()
        if self._collection is None or self._collection.base.id != base.id:
            self._collection = Collection(self.host, base, self.knowledge_bases, self.clock)
        return self._collection

    def recaller(self, collection: Collection) -> Recaller:
        """Return the recall of a collection."""
        return Recaller(collection, lambda: self.now().timestamp(), self.clock, self.reranking)

    def episodes(self, collection: Collection) -> EpisodeStore:
        """Return the episodes of a collection."""
        return EpisodeStore(collection, self.recaller(collection), self.now)

    # ------------------------------------------------------------ life of the knowledge base

    async def knowledge_base_created(self, kb_id: str, creation_settings: Mapping[str, Any]) -> None:
        """Take a new knowledge base into use, and try its model and store out while an operator is watching.

        A model or store that does not answer now is only logged: the first use tries again.

        Raises:
            NotConfigured: another one is in use, or no embedding model was chosen.
            StorageFailed: it could not be noted.
        """
        if not str(creation_settings.get("embedding_model_uuid") or "").strip():
            raise NotConfigured("no_embedding_model")
        await self.knowledge_bases.register(kb_id, creation_settings)
        self._collection = None
        logger.info("knowledge base created: kb_id=%s", kb_id)
        try:
            # The first call to a model is its slowest; better here than on the first turn.
            await (await self.collection()).prepare(timeout=_CREATION_SECONDS)
        except LongTermMemoryError as exc:
            logger.warning("configuration problem: knowledge base not ready: reason=%s", exc.reason)
            self._collection = None

    async def knowledge_base_deleted(self, kb_id: str) -> None:
        """Forget a knowledge base that the host is deleting.

        The host leaves the vectors behind; they are under its id, which no later knowledge base gets.

        Raises:
            StorageFailed: it could not be forgotten.
        """
        await self.knowledge_bases.unregister(kb_id)
        self._collection = None
        logger.info("knowledge base deleted: kb_id=%s", kb_id)

    # ------------------------------------------------------------ conversations

    async def scoped(
        self, conversation: Conversation, *, via: Via, privilege: int = 1, attached: bool = True
    ) -> ScopedMemory:
        """Return the memory of a conversation for whoever speaks in it.

        Args:
            conversation: of the current message.
            via: the front end.
            privilege: the host's privilege of the conversation.
            attached: refuse when the knowledge base is not attached to the pipeline of the message.

        Raises:
            NotConfigured: no usable knowledge base.
            NotInPipeline: it is not attached to this pipeline.
            StorageFailed: its record could not be read.
        """
        base = await self.knowledge_bases.require()
        if attached and conversation.attachment(base.id) is Attachment.NO:
            raise NotInPipeline("not_in_pipeline")
        settings = await self.settings()
        scope = conversation.scope(settings.isolation)
        actor = Actor.of(
            scope, conversation.speaker, via, memory_admins=settings.memory_admins, privilege=privilege
        )
        logger.info(
            "resolved memory context: session_key=%s user_key=%s kb_id=%s isolation=%s",
            scope.session_key,
            scope.user_key,
            base.id,
            settings.isolation,
        )
        return ScopedMemory(self, scope, actor, settings, conversation.query_id)

    async def space(self, scope: Scope, actor: Actor) -> ScopedMemory:
        """Return the memory of a space without a message (engine, console).

        Raises:
            NotConfigured, StorageFailed: as :meth:`scoped`.
        """
        await self.knowledge_bases.require()
        return ScopedMemory(self, scope, actor, await self.settings())

    async def scrub(self, scope: Scope, episode_ids: tuple[str, ...], *, found: bool = True) -> None:
        """Take forgotten memories out of everything that shows what was injected, and out of the kept backup.

        Args:
            scope: where they are, or were.
            episode_ids: which.
            found: whether they were there just now, so that a turn may still hold them.

        Raises:
            StorageFailed: a snapshot may still show them, or the backup hold them.
        """
        if found:
            self.turns.forget(scope.user_key, episode_ids)
        await self.backups.forget_episodes(scope.user_key, episode_ids)
        await self.snapshots.forget(scope, episode_ids, found=found)

    async def changed(self, scope: Scope, before: Episode, after: Episode) -> None:
        """Take a memory as it was before a change out of everything that shows what was injected.

        Raises:
            StorageFailed: a snapshot may still show it.
        """
        self.turns.changed(before, after)
        await self.snapshots.changed(scope, before, after)

    async def adopt(self, kb_id: str, creation_settings: Mapping[str, Any]) -> None:
        """Learn about our knowledge base from a call that names it, when none is known.

        Raises:
            StorageFailed: storage did not answer.
        """
        await self.knowledge_bases.adopt(kb_id, creation_settings)
