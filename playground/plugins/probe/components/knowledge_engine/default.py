"""A knowledge engine that holds one sentence and logs who asks for it."""

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
from langbot_plugin.api.entities.builtin.rag.models import IngestionContext, IngestionResult


class ProbeEngine(KnowledgeEngine):
    """Every retrieval finds ``probe sentence``."""

    @classmethod
    def get_capabilities(cls) -> list[str]:
        """Offer the upload of documents."""
        return [KnowledgeEngineCapability.DOC_INGESTION, KnowledgeEngineCapability.DOC_PARSING]

    async def ingest(self, context: IngestionContext) -> IngestionResult:
        """Log the size of an uploaded document and accept it."""
        content = await self.plugin.get_knowledge_file_stream(context.file_object.storage_path)
        plugin: Any = self.plugin
        plugin.note("ingest", size=len(content), file=context.file_object.metadata.model_dump(mode="json"))
        document = context.file_object.metadata.document_id
        return IngestionResult(document_id=document, status=DocumentStatus.COMPLETED, chunks_created=1)

    async def delete_document(self, kb_id: str, document_id: str) -> bool:
        """Log and agree."""
        plugin: Any = self.plugin
        plugin.note("delete_document", kb_id=kb_id, document_id=document_id)
        return True

    async def retrieve(self, context: RetrievalContext) -> RetrievalResponse:
        """Log the settings and return the sentence."""
        plugin: Any = self.plugin
        plugin.note(
            "retrieve", query=context.query, settings=context.retrieval_settings, filters=context.filters
        )
        content = [ContentElement(type="text", text="probe sentence")]
        entry = RetrievalResultEntry(id="probe", content=content, metadata={}, distance=0.0, score=1.0)
        return RetrievalResponse(results=[entry], total_found=1)
