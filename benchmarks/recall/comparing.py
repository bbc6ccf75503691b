"""What a change of the ranking cost: the figures of a run beside recorded ones of the same data and model.

The interval of a change is that of paired questions: both rankings answered the same ones, so what counts is how much
each question won or lost, which is far surer than two averages beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .metrics import Result, interval, results

__all__ = ["compared"]

_SHOWN = {"r@5": "recall@5", "r@10": "recall@10", "ndcg@10": "NDCG@10", "mrr": "MRR"}
_ROW = "{:<18} {:<7} {:<10} {:>6} {:>6} {:>7}  {:<19}{}"
_FOOT = """\
was, is     share (0 to 1) before and now; recall@k: of the memories that answer, those among the first k;
            NDCG@10: the same over ten places, worth the less the further down; MRR: 1 / place of the first answer
95 %        of the change, from the questions one by one; with 0 in it the change may be chance
answered    of the questions whose answer is among the best three, those that still bring it with the relevance floor
silent      of the questions of other people's stores, those that bring nothing, as they should"""

_Figures = Mapping[str, Any]


def compared(kept: _Figures, run: _Figures, against: str) -> Iterator[str]:
    """Tell line by line how a run differs from recorded figures; nothing when it measured no recall.

    Args:
        kept: recorded figures, of ``docs/recall.json`` or of an earlier run.
        run: the report of this one.
        against: where ``kept`` comes from.
    """
    if not run.get("recall"):
        return
    yield f"\nAgainst {against}{', measured ' + kept['date'] if 'date' in kept else ''}:\n"
    rows = []
    for dataset, models in run["recall"].items():
        if kept.get("data_sha256", {}).get(dataset) != run["data_sha256"][dataset]:
            yield f"{dataset}: no figures of this very data there to compare with"
            continue
        for model, found in models.items():
            before = kept["recall"].get(dataset, {}).get(model)
            if before is None:
                yield f"{dataset} {model}: no figures of this model there to compare with"
                continue
            pairs = _pairs(*(part.get("places", {}).get(dataset, {}).get(model, "") for part in (kept, run)))
            rows += [
                _row(dataset, model, title, before[name], found[name], _surely(pairs, name))
                for name, title in _SHOWN.items()
            ]
            rows += _abstained(kept, run, dataset, model)
    if rows:
        yield _ROW.format("data set", "model", "figure", "was", "is", "change", "95 %", "").rstrip()
        yield from rows
        yield f"\n{_FOOT}"


def _pairs(before: str, now: str) -> list[tuple[Result, Result]]:
    """Return both results of every question, none when they are not of the same questions."""
    old, new = results(before), results(now)
    return list(zip(old, new, strict=True)) if len(old) == len(new) else []


def _surely(pairs: list[tuple[Result, Result]], name: str) -> tuple[str, str]:
    """Return the interval of a change and what it says."""
    changes = [new.values[name] - old.values[name] for old, new in pairs]
    if not changes:
        return "", ""
    if not any(changes):
        return "", "the same"
    low, high = interval(changes)
    says = "better" if low > 0 else "worse" if high < 0 else "may be chance"
    return f"{low:+.3f} to {high:+.3f}", says


def _row(dataset: str, model: str, title: str, was: float, now: float, surely: tuple[str, str]) -> str:
    change = f"{round(now - was, 3) + 0.0:+.3f}"  # no minus before 0
    return _ROW.format(dataset, model, title, f"{was:.3f}", f"{now:.3f}", change, *surely).rstrip()


def _abstained(kept: _Figures, run: _Figures, dataset: str, model: str) -> Iterator[str]:
    old, new = (
        next((each["of"][name] for each in part["abstention"].values() if name in each["of"]), None)
        for part, name in ((kept, f"{dataset} {model}"), (run, f"{dataset} {model}"))
    )
    if old and new:
        for name, title in (("kept", "answered"), ("suppressed", "silent")):
            yield _row(dataset, model, title, old[name], new[name], ("", ""))
