"""What is checked on every vector backend, what some of them do otherwise, and how LangBot is set to each.

The checks are run by ``tests/engines/conformance``; what it found is kept in ``docs/backends.json``, from which
``playground/compatibility.py`` makes the documents. What a backend cannot do stands here, and is tested to be exactly
that: nothing is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BACKENDS", "CHECKS", "DIFFERENCES", "MILVUS", "NOT_RUN", "Difference", "Setup", "difference"]

CHECKS = {
    "write": "A memory is written and read back: every field, also after a restart.",
    "recall": "It is recalled at once and after a restart; an unrelated question recalls nothing.",
    "filters": "Speaker, time, importance, source, status and tag, with a cold and a warm index.",
    "list": "Newest first, with real totals.",
    "status": "Archive and restore: every field and the vector byte-equal, no embedding call.",
    "correction": "A correction replaces, and forgetting it takes what it replaced.",
    "edit": "Another text, everything else as it was.",
    "forget": "Read back, absent from every read; the engine holds exactly one row less.",
    "bulk_delete": "`delete --tag` on 3 of 5 says 3; the others stay.",
    "erase": "After a scope was erased the engine's own count is 0 for it; another scope is untouched.",
    "import": "6 000 memories; the second time nothing is added.",
    "paging": "16 900 memories in one conversation: all listed, totals, last page, first and last, by status, erased.",
    "odd_text": "Unicode, NUL, lone surrogates, quotes and backslashes in every field.",
    "long_text": "8 000 characters, also those that take most room.",
    "dimensions": "Embedding models of 24, 100 and 1 536 dimensions.",
    "model_change": "A model of another size: chat goes on, remember names the change, nothing is lost.",
    "empty": "An empty memory is answered as empty by every command.",
    "first_read": "Reading before anything was written harms nothing: a write works afterwards.",
    "parallel": "50 writers and 50 readers at once, on a fresh knowledge base: none lost, none foreign.",
    "killed": "Killed again and again while writing: every acknowledged memory is there, once.",
    "isolation": "Two spaces with identical texts, by session and by bot: 1 000 recalls, 0 foreign.",
    "stale": "A row that was written twice, or whose id comes round again, never shows what is old.",
}
"""Named checks in the order of the documents, and what each means."""


@dataclass(frozen=True)
class Difference:
    """What one backend does otherwise in one check.

    Attributes:
        what: what holds there instead, for the documents.
        sentence: what people are told then, as the plugin says it in English; ``""`` when they notice nothing.
    """

    what: str
    sentence: str = ""


DIFFERENCES: dict[tuple[str, str], Difference] = {
    ("seekdb", "recall"): Difference(
        "A vector search misses what was written in the last tenths of a second. The plugin knows its own writes and"
        " recalls them at once; only a process that has just started waits that long.",
    ),
    ("seekdb", "parallel"): Difference(
        "One call at a time: LangBot's class mixes up the answers of parallel calls, or the process ends. The plugin"
        " asks SeekDB one call at a time and checks every row; other knowledge bases on the same LangBot do not wait"
        " for it.",
    ),
    ("pgvector", "dimensions"): Difference(
        "Only models of 384, 512, 768, 1 024, 1 536 or 3 072 dimensions. Any other is refused before anything is"
        " stored, and a model that fits works afterwards.",
        "The vector database does not take vectors of 100 dimensions, as this embedding model gives them, so nothing"
        " was stored. An operator has to choose another embedding model; pgvector takes 384, 512, 768, 1024, 1536 or"
        " 3072 dimensions.",
    ),
}
"""(backend, check) to the difference; the test of the check asserts exactly that."""


def difference(backend: str, check: str) -> Difference | None:
    """Return what a backend does otherwise in a check, None where it does as all others."""
    return DIFFERENCES.get((backend, check))


@dataclass(frozen=True)
class Setup:
    """A backend as an operator sees it.

    Attributes:
        title: its name.
        ran: what exactly was run here.
        install: what LangBot's environment needs besides LangBot, as one pip command; ``""`` for nothing.
        environment: environment variables of LangBot.
        config: the same as lines of ``data/config.yaml``.
        notes: what else is worth knowing.
    """

    title: str
    ran: str
    environment: tuple[str, ...]
    config: str
    install: str = ""
    notes: tuple[str, ...] = ()


_QDRANT_ENVIRONMENT = ("VDB__USE=qdrant", "VDB__QDRANT__URL=http://qdrant:6333")
_QDRANT_CONFIG = "vdb:\n  use: qdrant\n  qdrant:\n    url: http://qdrant:6333\n    api_key: ''"
_MILVUS_ENVIRONMENT = ("VDB__USE=milvus", "VDB__MILVUS__URI=./data/milvus.db")
_MILVUS_CONFIG = "vdb:\n  use: milvus\n  milvus:\n    uri: ./data/milvus.db"

_ON_HOSTS = "Also installed, talked with and restarted on whole hosts, LangBot 4.11.2 and 4.10.11."
_MILVUS_DIFFERS = "[What Milvus does differently](#what-milvus-does-differently) holds here."

BACKENDS: dict[str, Setup] = {
    "chroma": Setup(
        "Chroma",
        "embedded, as LangBot runs it by default",
        ("VDB__USE=chroma",),
        "vdb:\n  use: chroma",
        notes=(
            "LangBot's default; nothing to install. Its files are in `data/chroma`.",
            _ON_HOSTS,
        ),
    ),
    "seekdb": Setup(
        "SeekDB",
        "embedded",
        ("VDB__USE=seekdb", "VDB__SEEKDB__MODE=embedded", "VDB__SEEKDB__PATH=./data/seekdb"),
        "vdb:\n  use: seekdb\n  seekdb:\n    mode: embedded\n    path: ./data/seekdb",
        install='pip install "pyseekdb==1.4.0.post1" "pylibseekdb==1.4.0"',
        notes=(
            "For a bot that many people talk to at once, or with other knowledge bases in use, take another one.",
            _ON_HOSTS,
        ),
    ),
    "qdrant": Setup(
        "Qdrant (client's local mode)",
        "LangBot's class on the local mode of qdrant-client",
        _QDRANT_ENVIRONMENT,
        _QDRANT_CONFIG,
        notes=("LangBot itself talks to a server only; the local mode stood in for one.",),
    ),
    "qdrant-edge": Setup(
        "Qdrant (Rust engine)",
        "LangBot's class on qdrant-edge, the engine of the server as a library",
        _QDRANT_ENVIRONMENT,
        _QDRANT_CONFIG,
        notes=("The engine of the server without its network layer.",),
    ),
    "pgvector": Setup(
        "pgvector",
        "a PostgreSQL server with the extension; LangBot's stand-alone mode",
        (
            "VDB__USE=pgvector",
            "VDB__PGVECTOR__HOST=127.0.0.1",
            "VDB__PGVECTOR__PORT=5432",
            "VDB__PGVECTOR__DATABASE=langbot",
            "VDB__PGVECTOR__USER=langbot",
            "VDB__PGVECTOR__PASSWORD=…",
        ),
        "vdb:\n  use: pgvector\n  pgvector:\n    host: 127.0.0.1\n    port: 5432\n    database: langbot\n"
        "    user: langbot\n    password: …",
        install='pip install "psycopg[binary]"',
        notes=(
            "`use_business_database: true` (LangBot's own PostgreSQL, with its ANN indexes) was not run.",
            _ON_HOSTS,
        ),
    ),
    "milvus": Setup(
        "Milvus-lite 2.5",
        "the embedded engine in C++, the nearest to a server",
        _MILVUS_ENVIRONMENT,
        _MILVUS_CONFIG,
        install='pip install "milvus-lite==2.5.1" "setuptools<82"',
        notes=(
            _MILVUS_DIFFERS,
            "Writing an existing id again leaves the old row in place; the plugin gives each version its own.",
            _ON_HOSTS,
        ),
    ),
    "milvus-3": Setup(
        "Milvus-lite 3.2",
        "the embedded engine rewritten in Python",
        _MILVUS_ENVIRONMENT,
        _MILVUS_CONFIG,
        install='pip install "milvus-lite==3.2.2"',
        notes=(
            _MILVUS_DIFFERS,
            "Much slower than 2.5: reading a conversation of 10 000 memories takes it seconds.",
        ),
    ),
}
"""What the suite runs on, in the order of the documents."""

NOT_RUN: dict[str, Setup] = {
    "qdrant-server": Setup(
        "Qdrant server",
        "not verified",
        _QDRANT_ENVIRONMENT,
        _QDRANT_CONFIG,
        notes=("Written for; the engine and LangBot's class were run as above, the network layer was not.",),
    ),
    "milvus-server": Setup(
        "Milvus server",
        "not verified",
        ("VDB__USE=milvus", "VDB__MILVUS__URI=http://milvus:19530"),
        "vdb:\n  use: milvus\n  milvus:\n    uri: http://milvus:19530\n    token: ''\n    db_name: default",
        notes=(
            _MILVUS_DIFFERS,
            "Written for. A server may show a write a moment later than the embedded engines do: the plugin reads"
            " back what it writes and says so when it does not see it.",
        ),
    ),
    "valkey": Setup(
        "Valkey Search",
        "by its code; not verified on a server",
        ("VDB__USE=valkey_search", "VDB__VALKEY_SEARCH__HOST=valkey", "VDB__VALKEY_SEARCH__PORT=6379"),
        "vdb:\n  use: valkey_search\n  valkey_search:\n    host: valkey\n    port: 6379",
        notes=(
            "It filters by `file_id` alone, so single rows are found and deleted in"
            " [another way](decisions/0005-valkey.md). The checks run over LangBot's class on a double of the server;"
            " no server with the search module was run.",
            "Without the search module the first write fails, and nothing is taken for stored.",
        ),
    ),
}
"""What could not be run, and what is known of it."""

MILVUS = (
    "Of a row only `text`, `file_id` and `uuid` come back. So the whole record stands in `text`.",
    "A filter on any other field is dropped, and everybody's rows come back. So `file_id` and the row ids (`uuid`) are"
    " the only filters, and every row is checked.",
    "LangBot's class inserts and never replaces: the same row written twice is there twice. So a change is a new row,"
    " and the old one is deleted after it; of two versions the newer counts.",
    "Its distance is a similarity: 1 for the same, 0 for unrelated. So the plugin works out the cosine itself.",
    "Reading a collection that does not exist creates it with 1 536 dimensions. So the first call is a write.",
    "It pages no further than 16 384 rows of one filter. So a conversation is spread over sixteen.",
)
"""What Milvus does otherwise in every form of it, and what the plugin does about it."""
