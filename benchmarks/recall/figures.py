"""The figures of a benchmark run as tables in the documents.

python -m benchmarks.recall.figures build/bench.json   # what the run found → docs/recall.json → documents
python -m benchmarks.recall.figures --check            # whether the documents are what docs/recall.json gives

A run that measured only some parts (``ONLY=weights``, ``MODELS=usem3``) renews those and leaves the others as they are.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longterm_memory.recall.weights import WEIGHTS
from playground import readme_blocks
from playground.envs import ROOT

__all__ = ["KEPT", "blocks", "main", "renewed", "stale"]

KEPT = ROOT / "docs" / "recall.json"
_PAGE = ROOT / "docs" / "how-recall-works.md"
_PARTS = ("recall", "places", "asked_after", "abstention", "prefixes", "updates", "weights")
_NAMES = {
    "locomo_dev": "LoCoMo, 5 of 10 conversations (en)",
    "madial_zh": "MADial-Bench (zh)",
    "memorybank_zh_dev": "MemoryBank, 8 of 15 users (zh)",
}
_RANKINGS = {
    "decay": "similarity x decay",
    "vector": "plain vector",
    "bm25": "BM25",
    "fusion": "half vector, half BM25",
}

_Figures = Mapping[str, Any]


def renewed(known: dict[str, Any], run: _Figures, today: str) -> dict[str, Any]:
    """Return the kept figures with those of a run in place of theirs.

    Args:
        known: what is kept.
        run: the JSON that ``make bench`` wrote.
        today: date of the run.

    Raises:
        ValueError: it ran on the tiny data set, which proves nothing, or its weights are not of the ranking of the
            kept figures.
    """
    if "tiny" in run.get("data_sha256", {}) or "tiny" in run.get("weights", {}):
        raise ValueError("a run on the tiny data set says only that the benchmark works: give DATA")
    for part in _PARTS:
        if part in run:
            known[part] = _without_details(_joined(known.get(part, {}), run[part]))
    for found in known.get("abstention", {}).values():
        found |= _of_all(list(found["of"].values()))
    for part in ("versions", "data_sha256"):
        known[part] = {**known.get(part, {}), **run.get(part, {})}
    known["date"] = today
    for dataset, model, found in _each(known.get("weights", {}), named=False):
        base = known["recall"].get(dataset, {}).get(model, {})
        if base and found["as it is"]["r@5"] != base["r@5"]:
            raise ValueError(f"weights of {dataset} {model} are of another ranking: run ONLY=recall,weights")
    return known


def _joined(known: Any, new: Any) -> Any:
    """Return figures with new ones in place of theirs; what is below the name of a model comes and goes as a whole."""
    if not isinstance(known, dict) or not isinstance(new, dict) or "n" in known or "as it is" in known:
        return new
    return {**known, **{name: _joined(known.get(name), found) for name, found in new.items()}}


def _of_all(parts: list[_Figures]) -> dict[str, float]:
    """Return what the relevance floor does over data sets and models."""
    found: dict[str, float] = {}
    for share, of in (("kept", "questions"), ("suppressed", "of_others")):
        found[of] = sum(part[of] for part in parts)
        found[share] = (
            round(sum(round(part[share] * part[of]) for part in parts) / found[of], 4) if found[of] else 0
        )
    return found


def _without_details(found: Any) -> Any:
    """Drop what no table shows."""
    if isinstance(found, dict):
        return {k: _without_details(v) for k, v in found.items() if k not in ("by_category", "cases_failed")}
    return found


# ---------------------------------------------------------------- tables


def blocks(kept: _Figures) -> dict[str, str]:
    """Return every table by name."""
    return {
        "summary": "\n".join(_summary(kept)),
        "figures": "\n".join(_figures(kept)),
        "weights": "\n".join(_weights(kept)),
    }


def _each(part: _Figures, *, named: bool = True) -> Iterator[tuple[str, str, Any]]:
    for dataset, models in part.items():
        for model, found in models.items():
            yield _NAMES.get(dataset, dataset) if named else dataset, model, found


def _summary(kept: _Figures) -> Iterator[str]:
    yield "| data set | embedding model | questions | recall@5 | recall@10 | best of four simpler rankings, @5 / @10 |"
    yield "|---|---|---|---|---|---|"
    for dataset, model, found in _each(kept["recall"]):
        best = {k: max(float(one[k]) for one in found["baselines"].values()) for k in ("r@5", "r@10")}
        yield (
            f"| {dataset} | {model} | {found['n']} | {found['r@5']:.3f} | {found['r@10']:.3f} "
            f"| {best['r@5']:.3f} / {best['r@10']:.3f} |"
        )
    chroma = kept["versions"].get("chromadb", "")
    yield f"\nMeasured {kept['date']} on Chroma {chroma} through the plugin's own import and recall."


def _figures(kept: _Figures) -> Iterator[str]:
    heads = ("recall@3", "recall@5", "95 %", "recall@10", "NDCG@10", "MRR", "tokens in 5")
    yield f"Measured {kept['date']}.\n"
    yield "| data set | model | ranking | " + " | ".join(heads) + " |"
    yield "|---" * (3 + len(heads)) + "|"
    for dataset, model, found in _each(kept["recall"]):
        rankings = {
            "**this one**": found,
            **{_RANKINGS[name]: one for name, one in found["baselines"].items()},
        }
        for name, one in rankings.items():
            low, high = one["r@5_ci"]
            tokens = f"{one['tokens@5']:.0f}" if "tokens@5" in one else ""
            yield (
                f"| {dataset} | {model} | {name} | {one['r@3']:.3f} | {one['r@5']:.3f} | {low:.3f} to {high:.3f} "
                f"| {one['r@10']:.3f} | {one['ndcg@10']:.3f} | {one['mrr']:.3f} | {tokens} |"
            )
    yield "\nAsked some days after the youngest memory that answers, and at the end; recall@5 of this ranking, plain"
    yield "vector and fusion:\n"
    yield "| data set | model | after 1 day | 14 days | 60 days | at the end |"
    yield "|---|---|---|---|---|---|"
    for dataset, model, found in _each(kept["asked_after"]):
        cells = " | ".join(_after(found[when]) for when in ("1d", "14d", "60d", "end"))
        yield f"| {dataset} | {model} | {cells} |"
    yield "\nRelevance floor: questions that still bring an answer that was among the best three, and questions of"
    yield "other people's stores that bring nothing; counted once per model:\n"
    yield "| data set and model | still answered | brings nothing |"
    yield "|---|---|---|"
    for language, found in kept["abstention"].items():
        for name, one in ({f"**all {language}**": found} | found["of"]).items():
            kept_, silent = (
                f"{one['kept']:.3f} of {one['questions']}",
                f"{one['suppressed']:.3f} of {one['of_others']}",
            )
            yield f"| {name} | {kept_} | {silent} |"
    yield "\nOne endpoint embeds questions like memories; what that costs against one that is told which is which:\n"
    yield "| data set | model | recall@5 alike | told | cost |"
    yield "|---|---|---|---|---|"
    for dataset, model, found in _each(kept["prefixes"]):
        yield f"| {dataset} | {model} | {found['r@5 alike']:.3f} | {found['r@5 told']:.3f} | {found['cost r@5']:+.3f} |"


def _after(found: _Figures) -> str:
    if not found["ours"]["n"]:
        return "no questions"
    return " / ".join(f"{found[who]['r@5']:.3f}" for who in ("ours", "vector", "fusion"))


def _weights(kept: _Figures) -> Iterator[str]:
    columns = [(dataset, model, found) for dataset, model, found in _each(kept["weights"])]
    yield "Change of recall@5 in hundredths, without the weight / with twice of it:\n"
    yield (
        "| weight | value | "
        + " | ".join(f"{dataset.split(',')[0].split(' (')[0]} {model}" for dataset, model, _ in columns)
        + " |"
    )
    yield "|---" * (2 + len(columns)) + "|"
    for name in WEIGHTS.__dataclass_fields__:
        value = getattr(WEIGHTS, name)
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        cells = " | ".join(_change(found, name) for _, _, found in columns)
        yield f"| `{name}` | {shown} | {cells} |"


def _change(found: _Figures, name: str) -> str:
    changes = [found.get(f"{name} {how}", {}).get("r@5", 0.0) for how in ("off", "doubled")]
    return " / ".join(f"{100 * change:+.1f}" if change else "0" for change in changes)


# ---------------------------------------------------------------- documents


def stale() -> list[str]:
    """Return the names of documents that are not what the kept figures give."""
    return [path.name for path, text in _documents().items() if path.read_text(encoding="utf-8") != text]


def _documents() -> dict[Path, str]:
    made = blocks(json.loads(KEPT.read_text(encoding="utf-8")))
    page = _PAGE.read_text(encoding="utf-8")
    for name in ("figures", "weights"):
        page = readme_blocks.placed(page, f"recall {name}", made[name])
    return {_PAGE: page, **readme_blocks.documents("recall summary", made["summary"])}


def main(arguments: list[str]) -> int:
    """Renew or check the documents."""
    if arguments == ["--check"]:
        behind = stale()
        if behind:
            print(f"not what docs/recall.json gives: {', '.join(behind)}", file=sys.stderr)
        return int(bool(behind))
    known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    try:
        for file in arguments:
            run = json.loads(Path(file).read_text(encoding="utf-8"))
            known = renewed(known, run, datetime.now(UTC).date().isoformat())
    except ValueError as exc:
        print(exc, file=sys.stderr)
        return 2
    KEPT.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for path, text in _documents().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
