"""Which older memories a correction is about."""

from __future__ import annotations

import numpy as np

from ..records.envelope import Record
from ..scope import Scope
from ..text.corrections import topic_overlap
from .calibration import Calibration
from .index import ScopeIndex

__all__ = ["CORRECTED_MAX", "corrected_by"]

_CLOSENESS, _OVERLAP = 0.2, 0.4
"""Least closeness (:meth:`Calibration.closeness`) and least overlap of topic words between a correction and
what it replaces."""
_SAME_DIRECTION = 0.8
"""Closeness from which any shared topic word is enough."""
CORRECTED_MAX = 20
"""Most memories that one correction replaces, the closest ones; whoever says something about hundreds at once
does not mean each of them."""


def corrected_by(
    correction: Record, scope: Scope, index: ScopeIndex, calibration: Calibration
) -> list[Record]:
    """Return the older active memories of the same speaker that a correction is about.

    They must share a good part of their topic words (names of the speaker say nothing about the topic) and be
    closer than unrelated texts; almost the same direction needs less. Merely related facts ("sister" when the
    correction is about a "brother") stay. Where nobody knows who speaks and there may be several people,
    nothing is replaced.

    Args:
        correction: the new memory.
        scope: where it was said.
        index: the scope's index, as far as it is loaded.
        calibration: what unrelated means for the model.
    """
    speaker, name = correction.episode.sender_id, correction.episode.sender_name
    if not speaker and (scope.shared or scope.launcher_type != "person"):
        return []
    mine = [r for r in index.living() if r.episode.sender_id == speaker]
    slots = index.slots(r.episode.id for r in mine)
    closeness = calibration.closeness(index.cosines(correction.vector.vector(), slots))
    found: list[Record] = []
    for at in np.argsort(-closeness, kind="stable"):
        other, close = mine[int(at)], float(closeness[at])
        if close < _CLOSENESS or len(found) == CORRECTED_MAX:
            break
        overlap = topic_overlap(other.episode.content, correction.episode.content, ignored=(name,))
        if overlap >= _OVERLAP or (overlap > 0 and close >= _SAME_DIRECTION):
            found.append(other)
    return found
