"""Long-term memory for chat bots: profiles injected every turn, episodes recalled when they matter.

The public surface: the service, its models and its errors. Everything else is private to this package.
"""

from .conversation import Conversation
from .errors import (
    BadArgument,
    EmbeddingFailed,
    Forbidden,
    LongTermMemoryError,
    NotConfigured,
    NotFound,
    NotInPipeline,
    StorageFailed,
    StoreFailed,
)
from .models import (
    Episode,
    Filters,
    Hit,
    Profile,
    RecallQuery,
    RecallResult,
    Snapshot,
    Status,
)
from .scope import Isolation, Scope, Speaker
from .service import MemoryService
from .settings import Settings
from .words import explain

__all__ = [
    "BadArgument",
    "Conversation",
    "EmbeddingFailed",
    "Episode",
    "Filters",
    "Forbidden",
    "Hit",
    "Isolation",
    "LongTermMemoryError",
    "MemoryService",
    "NotConfigured",
    "NotFound",
    "NotInPipeline",
    "Profile",
    "RecallQuery",
    "RecallResult",
    "Scope",
    "Settings",
    "Snapshot",
    "Speaker",
    "Status",
    "StorageFailed",
    "StoreFailed",
    "explain",
]
