"""Which older memories a correction is about."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..records.envelope import Record
from ..scope import Scope
from ..text.corrections import topic_overlap
from ..text.terms import identifiers, terms
from .calibration import Calibration
from .index import ScopeIndex

__all__ = ["CORRECTED_MAX", "corrected_by"]

_CLOSENESS, _OVERLAP = 0.2, 0.45
"""Least closeness (:meth:`Calibration.closeness`) and least overlap of topic words between a correction and
what it replaces. Chosen on 80 triples of fact, correction and related fact (English, Chinese) with two
models."""
_SAME_SUBJECT = _SAME_IDENTIFIER = 0.2
"""What it is worth that a correction takes up the word that a memory begins with (mostly its subject), and
that both name the same ticket, file or version."""
_ALIKE = 0.1
"""Memories that fit a correction nearly as well as the best one are what it is about too."""
_COMPARED = 50
"""Closest memories that are looked at."""
CORRECTED_MAX = 20
"""Most memories that one correction replaces; whoever says something about hundreds at once does not mean
each.
"""


@dataclass(frozen=True, slots=True)
class _Fit:
    record: Record
    closeness: float
    overlap: float
    hints: float

    @property
    def score(self) -> float:
        return self.overlap + self.closeness + self.hints

    @property
    def enough(self) -> bool:
        return self.closeness >= _CLOSENESS and self.overlap >= _OVERLAP


def corrected_by(
    correction: Record,
    scope: Scope,
    index: ScopeIndex,
    calibration: Calibration,
    besides: Collection[str] = (),
) -> list[Record]:
    """Return the older active memories of the same speaker that a correction is about.

    They must share a good part of their topic words (names of the speaker say nothing about the topic) and be
    closer than unrelated texts. Of those, the one that fits best counts, and what fits nearly as well: beside
    "my flight is on Tuesday", "my train is on Tuesday" is merely related. Where nobody knows who speaks and
    there may be several people, nothing is replaced.

    Args:
        correction: the new memory.
        scope: where it was said.
        index: the scope's index, as far as it is loaded.
        calibration: what unrelated means for the model.
        besides: ids of memories that are no candidates.
    """
    speaker = correction.episode.sender_id
    if not speaker and (scope.shared or scope.launcher_type != "person"):
        return []
    mine = [r for r in index.living() if r.episode.sender_id == speaker and r.episode.id not in besides]
    fits = _fits(correction, mine, index, calibration)
    if not fits:
        return []
    best = fits[0]
    named = identifiers(best.record.episode.content)
    return [
        fit.record
        for fit in fits[:CORRECTED_MAX]
        if fit.enough
        and fit.score >= best.score - _ALIKE
        and (fit is best or identifiers(fit.record.episode.content) == named)
    ]


def _fits(correction: Record, mine: list[Record], index: ScopeIndex, calibration: Calibration) -> list[_Fit]:
    """Compare the closest of the speaker's memories with a correction; the best fit comes first."""
    episode = correction.episode
    slots = index.slots(r.episode.id for r in mine)
    closeness = calibration.closeness(index.cosines(correction.vector.vector(), slots))
    said, silent = frozenset(terms(episode.content)), frozenset(terms(episode.sender_name))
    found = []
    for at in np.argsort(-closeness, kind="stable")[:_COMPARED]:
        content = mine[int(at)].episode.content
        first = next((t for t in terms(content) if t not in silent), "")
        hints = _SAME_SUBJECT * (first in said) + _SAME_IDENTIFIER * bool(identifiers(content) & said)
        overlap = topic_overlap(content, episode.content, ignored=(episode.sender_name,))
        found.append(_Fit(mine[int(at)], float(closeness[at]), overlap, hints))
    return sorted(found, key=lambda fit: -fit.score)
