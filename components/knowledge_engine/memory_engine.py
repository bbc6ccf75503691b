"""The knowledge engine: what LangBot sees of the memory when it creates, asks, fills or deletes the knowledge base."""

from __future__ import annotations

from typing import Any

from langbot_plugin.api.definition.components.knowledge_engine.engine import (
    KnowledgeEngine,
    KnowledgeEngineCapability,
)
from langbot_plugin.api.entities.builtin.provider.message import ContentElement
from langbot_plugin.api.entities.builtin.rag.context import (
    RetrievalContext,
    RetrievalResponse,
    RetrievalResultEntry,
)
from langbot_plugin.api.entities.builtin.rag.enums import DocumentStatus
from langbot_plugin.api.entities.builtin.rag.models import (
    IngestionContext,
    IngestionResult,
)

from longterm_memory import LongTermMemoryError, MemoryService, explain
from longterm_memory.logs import get_logger
from longterm_memory.retrieval import Retrieval, retrieve
from longterm_memory.transfer.uploads import UploadReport, delete_upload, upload

logger = get_logger("longterm_memory")


class MemoryEngine(KnowledgeEngine):
    """One memory knowledge base per plugin."""

    @classmethod
    def get_capabilities(cls) -> list[str]:
        """Declare uploads; without ``doc_parsing`` the WebUI offers no confirm button."""
        return [KnowledgeEngineCapability.DOC_INGESTION, KnowledgeEngineCapability.DOC_PARSING]

    def _memory(self) -> MemoryService:
        return self.plugin.memory()  # type: ignore[attr-defined,no-any-return]

    async def on_knowledge_base_create(self, kb_id: str, config: dict[str, Any]) -> None:
        """Take the new knowledge base into use, or refuse it with a sentence in the log."""
        try:
            await self._memory().knowledge_base_created(kb_id, config)
        except LongTermMemoryError as exc:
            sentence = explain("en_US", exc)
            self._memory().knowledge_bases.refused(exc)
            logger.error("configuration problem: knowledge base refused: kb_id=%s %s", kb_id, sentence)
            raise ValueError(sentence) from exc

    async def on_knowledge_base_delete(self, kb_id: str) -> None:
        """Forget the knowledge base."""
        await self._memory().knowledge_base_deleted(kb_id)

    async def retrieve(self, context: RetrievalContext) -> RetrievalResponse:
        """Hand out memories of the asking conversation; nothing without one."""
        given = dict(context.retrieval_settings)
        logger.info(
            "engine retrieve called: collection_id=%s top_k=%s session_name=%s sender_id=%s bot_uuid=%s query_len=%d",
            context.get_collection_id(),
            given.get("top_k"),
            given.get("session_name"),
            given.get("sender_id"),
            given.get("bot_uuid"),
            len(context.query),
        )
        found = await self._retrieved(context, given)
        entries = [
            RetrievalResultEntry(
                id=entry.id,
                content=[ContentElement(type="text", text=entry.text)],
                metadata=entry.metadata,
                distance=max(0.0, 1.0 - entry.score),
                score=entry.score,
            )
            for entry in found.entries
        ]
        metadata = {"message": explain("en_US", found.error)} if found.error else {}
        return RetrievalResponse(results=entries, total_found=len(entries), metadata=metadata)

    async def _retrieved(self, context: RetrievalContext, given: dict[str, Any]) -> Retrieval:
        memory = self._memory()
        try:
            await memory.adopt(context.get_collection_id(), context.creation_settings)
        except LongTermMemoryError as exc:
            return Retrieval(error=exc)
        return await retrieve(memory, context.query, given)

    async def ingest(self, context: IngestionContext) -> IngestionResult:
        """Take in a file of episodes. Never raises: the host would leave a file that nobody can delete."""
        document_id = context.file_object.metadata.document_id
        try:
            data = await self.plugin.get_knowledge_file_stream(context.file_object.storage_path)
            await self._memory().adopt(context.get_collection_id(), context.creation_settings)
            return _result(document_id, await upload(self._memory(), data, document_id))
        except Exception as exc:
            logger.exception("import failed: document_id=%s", document_id)
            return _failed(document_id, f"{type(exc).__name__}; see the log")

    async def delete_document(self, kb_id: str, document_id: str) -> bool:
        """Delete exactly what that upload brought in; true only when it is seen to be gone."""
        try:
            return await delete_upload(self._memory(), document_id)
        except LongTermMemoryError as exc:
            logger.error("document not deleted: document_id=%s %s", document_id, explain("en_US", exc))
            return False


def _failed(document_id: str, message: str) -> IngestionResult:
    return IngestionResult(document_id=document_id, status=DocumentStatus.FAILED, error_message=message)


def _result(document_id: str, report: UploadReport) -> IngestionResult:
    if not report.ok:
        return _failed(document_id, explain("en_US", report.error) if report.error else "nothing stored")
    rejected, notes = (
        [{"line": row.line, "reason": explain("en_US", row.reason)} for row in rows[:200]]
        for rows in (report.rejected, report.notes)
    )
    return IngestionResult(
        document_id=document_id,
        status=DocumentStatus.COMPLETED,
        chunks_created=report.accepted,
        metadata={
            "accepted": report.accepted,
            "skipped": report.skipped,
            "rejected": rejected,
            "notes": notes,
        },
    )
