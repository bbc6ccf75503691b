"""Recall@k, NDCG@10 and the reciprocal rank of a ranking, and their averages with confidence intervals.

Recall@k is the share of a question's evidence among the first k; texts that are equal count for one another. NDCG has
gain 1 per piece of evidence and log2 discount (Järvelin & Kekäläinen 2002).

All of these follow from the places of the evidence, so these are what is kept of a run (:func:`places`): two runs over
the same questions can be compared question by question.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["KS", "Result", "averages", "interval", "places", "results"]

KS = (3, 5, 10)
_SEED, _SAMPLES = 11, 1_000


@dataclass(frozen=True, slots=True)
class Result:
    """What one question got.

    Attributes:
        category: of the question.
        ranks: places of the evidence that was found, from 0 on, ascending.
        missing: how much of the evidence was not found.
        values: ``r@3``, ``r@5``, ``r@10``, ``hit@5``, ``ndcg@10``, ``mrr``.
    """

    category: str
    ranks: tuple[int, ...]
    missing: int
    values: dict[str, float]

    @classmethod
    def of(cls, category: str, ranked: Sequence[str], evidence: Sequence[str]) -> Result:
        """Judge a ranking of texts, best first; a text that comes again does not count twice."""
        place = {text: rank for rank, text in enumerate(dict.fromkeys(ranked))}
        ranks = tuple(sorted(place[text] for text in evidence if text in place))
        return cls.at(ranks, len(evidence) - len(ranks), category)

    @classmethod
    def at(cls, ranks: tuple[int, ...], missing: int, category: str = "") -> Result:
        """Judge a ranking by the places of the evidence in it.

        Args:
            ranks: of what was found, from 0 on, ascending.
            missing: how much was not.
            category: of the question.
        """
        evidence = len(ranks) + missing
        values = {f"r@{k}": sum(rank < k for rank in ranks) / evidence for k in KS}
        values["hit@5"] = float(any(rank < 5 for rank in ranks))
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, evidence)))
        values["ndcg@10"] = sum(1 / math.log2(rank + 2) for rank in ranks if rank < 10) / ideal
        values["mrr"] = 1 / (ranks[0] + 1) if ranks else 0.0
        return cls(category, ranks, missing, values)


def places(found: Iterable[Result]) -> str:
    """Return the places of the evidence of every question in one line: ``0,4+1`` is a question of which two pieces were
    found, at the first and the fifth place, and one was not.
    """
    return " ".join(
        ",".join(map(str, one.ranks)) + (f"+{one.missing}" if one.missing else "") for one in found
    )


def results(line: str) -> list[Result]:
    """Read what :func:`places` gave.

    Raises:
        ValueError: it is no such line.
    """
    found = []
    for word in line.split():
        ranks, _, missing = word.partition("+")
        found.append(Result.at(tuple(map(int, ranks.split(","))) if ranks else (), int(missing or 0)))
    return found


def averages(results: Iterable[Result]) -> dict[str, object]:
    """Return the number of questions, the mean of every value, 95 % bootstrap intervals of R@5 and R@10, and both per
    category.
    """
    found = list(results)
    if not found:
        return {"n": 0}
    report: dict[str, object] = {"n": len(found)}
    for name in found[0].values:
        report[name] = round(float(np.mean([one.values[name] for one in found])), 4)
    for name in ("r@5", "r@10"):
        report[f"{name}_ci"] = interval([one.values[name] for one in found])
    groups: dict[str, list[Result]] = {}
    for one in found:
        groups.setdefault(one.category, []).append(one)
    report["by_category"] = {
        category: {
            "n": len(group),
            **{
                name: round(float(np.mean([one.values[name] for one in group])), 4)
                for name in ("r@5", "r@10", "ndcg@10")
            },
        }
        for category, group in sorted(groups.items())
    }
    return report


def interval(values: Sequence[float]) -> list[float]:
    """Return the 95 % bootstrap interval of the mean of some values, of which there is at least one."""
    pick = np.random.default_rng(_SEED)
    sample = np.asarray(values)
    means = sample[pick.integers(0, len(sample), (_SAMPLES, len(sample)))].mean(axis=1)
    return [round(float(q), 4) for q in np.quantile(means, (0.025, 0.975))]
