"""A question, with everything worked out once that ranking needs to know about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from ..models import RecallQuery
from ..text.fold import fold
from ..text.terms import content_terms, identifiers, terms
from ..text.time_windows import TimeWindow, time_windows
from .columns import Columns

__all__ = ["Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        folded: its text, folded.
        terms: all its terms.
        topic: its terms without the names of speakers, who are told by who said a memory.
        identifiers: exact identifiers such as ``=proj-123``.
        only_identifiers: whether it asks for these and nothing else.
        named: numbers of the speakers whose name stands in it.
        asker: numbers of the speakers that are whoever asks.
        windows: times that it names.
    """

    folded: str
    terms: tuple[str, ...]
    topic: tuple[str, ...]
    identifiers: frozenset[str]
    only_identifiers: bool
    named: tuple[int, ...]
    asker: tuple[int, ...]
    windows: tuple[TimeWindow, ...]

    @classmethod
    def of(cls, query: RecallQuery, columns: Columns, now: float, zone: tzinfo) -> Question:
        """Work out a question.

        Args:
            query: as it was asked.
            columns: who speaks in the scope.
            now: epoch seconds.
            zone: where "yesterday" begins at midnight.
        """
        text = query.text
        found, exact = terms(text), identifiers(text)
        names = {term for name in columns.names_in(text) for term in terms(name)}
        # Parts of an identifier ("proj" of PROJ-123) come from it, so they make no question of their own.
        own = {term for identifier in exact for term in terms(identifier[1:])}
        rest = content_terms(text) - exact - own
        return cls(
            folded=fold(text),
            terms=tuple(found),
            topic=tuple(term for term in found if term not in names) or tuple(found),
            identifiers=exact,
            only_identifiers=bool(exact) and all(any(t in identifier for identifier in exact) for t in rest),
            named=tuple(columns.speakers_named(text)),
            asker=tuple(columns.speakers_with_id(query.speaker_id)),
            windows=time_windows(text, datetime.fromtimestamp(now, UTC), zone),
        )
