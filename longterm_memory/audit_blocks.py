"""One block of an audit log as it lies in plugin storage: its key, its JSON, and eight entries."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from pydantic import ValidationError

from .models import AuditEntry
from .storage_keys import short_part

__all__ = ["AUDIT_PREFIX", "BLOCKS", "BLOCK_ENTRIES", "Block", "NewerBlockError", "block_key", "block_prefix"]

AUDIT_PREFIX = "ltm/audit/"
BLOCK_ENTRIES = 8
BLOCKS = 64
_PADDED = 4_096
"""Blocks are filled up to a multiple of this many bytes; eight usual entries need about 3 000."""
_SCHEMA = 1


class NewerBlockError(ValueError):
    """A block that a newer plugin wrote."""


@dataclass(slots=True)
class Block:
    """Up to eight entries with consecutive numbers, oldest first."""

    number: int
    """From 0; its first entry has the number ``8 * number + 1``."""
    entries: list[AuditEntry] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """Whether the next entry needs another block."""
        return len(self.entries) >= BLOCK_ENTRIES

    def dump(self, scope_key: str) -> bytes:
        """Return the stored form."""
        rows = [e.model_dump(exclude={"scope_key"}, exclude_defaults=True) for e in self.entries]
        data = {"schema_version": _SCHEMA, "scope_key": scope_key, "number": self.number, "entries": rows}
        raw = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        return raw.ljust(-(-len(raw) // _PADDED) * _PADDED)

    @classmethod
    def load(cls, raw: bytes, scope_key: str) -> Block:
        """Read a block.

        Raises:
            ValueError: it is none, is of a newer version, or belongs to another conversation.
        """
        try:
            data = json.loads(raw)
            if int(data["schema_version"]) > _SCHEMA:
                raise NewerBlockError("written by a newer version")
            if data["scope_key"] != scope_key or int(data["schema_version"]) < 1:
                raise ValueError("belongs elsewhere, or of no version")
            rows = [AuditEntry.model_validate({**row, "scope_key": scope_key}) for row in data["entries"]]
            return cls(int(data["number"]), rows)
        except (TypeError, KeyError, AttributeError, RecursionError, ValidationError) as exc:
            raise ValueError("no block") from exc


def block_prefix(scope_key: str) -> str:
    """Return how the storage keys of a conversation's blocks begin."""
    return f"{AUDIT_PREFIX}{short_part(scope_key)}/"


def block_key(scope_key: str, number: int) -> str:
    """Return the storage key of a block (or of a slot)."""
    return f"{block_prefix(scope_key)}{number % BLOCKS:02d}"
