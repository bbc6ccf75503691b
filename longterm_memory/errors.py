"""Every way the memory service says no, drawn once.

    LongTermMemoryError
    ├── NotConfigured      no memory knowledge base exists yet, or it cannot be used as it stands
    ├── NotInPipeline      the memory knowledge base is not attached to the pipeline of this message
    ├── BadArgument        a value somebody sent cannot be used; says which and what is expected
    ├── NotFound           no such memory in this scope (also said for ids of other scopes)
    ├── Forbidden          the policy does not let this speaker do that here
    ├── EmbeddingFailed    the embedding service did not answer with usable vectors
    ├── RerankFailed       the rerank model gave no usable order; recall keeps its own
    ├── StoreFailed        the vector store failed, or what it answered cannot be trusted
    └── StorageFailed      plugin storage failed or holds something unreadable

An error carries a *reason* (a key of the words files, ``error.<reason>``) and the values that the sentence needs.
Front ends turn it into words in one place, ``longterm_memory.words``; nothing else formats errors.
"""

from __future__ import annotations

__all__ = [
    "BadArgument",
    "EmbeddingFailed",
    "Forbidden",
    "LongTermMemoryError",
    "NotConfigured",
    "NotFound",
    "NotInPipeline",
    "RerankFailed",
    "StorageFailed",
    "StoreFailed",
]


class LongTermMemoryError(Exception):
    """Base of all errors of the memory service.

    Args:
        reason: key of the sentence in the words files, without the ``error.`` prefix, e.g. ``"id_malformed"``.
        **details: values for the placeholders of that sentence; never message text of other people.
    """

    def __init__(self, reason: str, **details: object) -> None:
        self.reason = reason
        self.details = details
        super().__init__(f"{reason} {details}" if details else reason)


class NotConfigured(LongTermMemoryError):
    """No memory knowledge base exists yet, or its settings cannot be used."""


class NotInPipeline(LongTermMemoryError):
    """The memory knowledge base is not attached to the pipeline of this message."""


class BadArgument(LongTermMemoryError):
    """A value cannot be used; the details name the parameter and what is expected."""


class NotFound(LongTermMemoryError):
    """Nothing with that id in this scope."""


class Forbidden(LongTermMemoryError):
    """The policy refuses; the details say who may."""


class EmbeddingFailed(LongTermMemoryError):
    """The embedding service is down, slow, or answered with unusable vectors."""


class RerankFailed(LongTermMemoryError):
    """The rerank model is missing, down, slow, or answered with unusable scores; only ever told in explanations."""


class StoreFailed(LongTermMemoryError):
    """The vector store failed or answered something that cannot be trusted."""


class StorageFailed(LongTermMemoryError):
    """Plugin storage failed, or a stored value is not readable."""
