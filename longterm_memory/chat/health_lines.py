"""A health report as lines for a chat: what failed first, with what to do; what is fine last, in one go if need be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..health import Check, HealthReport, Level
from .voice import Voice

__all__ = ["health_lines"]

_BETWEEN = " · "


def health_lines(voice: Voice, report: HealthReport) -> list[str]:
    """Return the report as lines that together fit into one reply.

    Args:
        voice: language and length of replies.
        report: what the health check found.
    """
    counts = {str(level): len(report.of_level(level)) for level in Level}
    lines = [voice.health(f"head_{report.level}", **counts)]
    for level in (Level.ERROR, Level.WARN):
        made = [check for check in report.of_level(level) if check.outcome != "unchecked"]
        lines += [line for check in made for line in _lines(voice, check)]
    lines += _unchecked(voice, report.of_level(Level.WARN))
    fine = report.of_level(Level.OK)
    whole = [*lines, *(line for check in fine for line in _lines(voice, check))]
    if _length(whole) <= voice.limit:
        return whole
    return _cut(voice, [*lines, *_titles(voice, fine)])


def _lines(voice: Voice, check: Check) -> list[str]:
    title, text, remedy = (say(voice.language) for say in (check.title, check.text, check.remedy))
    line = voice.health("line", mark=voice.health(f"mark_{check.level}"), title=title, text=text)
    return [line, voice.health("line_remedy", remedy=remedy)] if remedy else [line]


def _unchecked(voice: Voice, checks: Sequence[Check]) -> list[str]:
    """Name what could not be checked, one line for each reason."""
    by_reason: dict[str, list[str]] = {}
    for check in checks:
        if check.outcome == "unchecked":
            by_reason.setdefault(str(check.values["because"]), []).append(check.title(voice.language))
    mark = voice.health(f"mark_{Level.WARN}")
    return [
        voice.health(
            "line_unchecked",
            mark=mark,
            because=voice.health(f"title_{reason}"),
            titles=_BETWEEN.join(titles),
        )
        for reason, titles in by_reason.items()
    ]


def _titles(voice: Voice, checks: Iterable[Check]) -> list[str]:
    titles = _BETWEEN.join(check.title(voice.language) for check in checks)
    return [voice.health("line_fine", mark=voice.health(f"mark_{Level.OK}"), titles=titles)] if titles else []


def _length(lines: Iterable[str]) -> int:
    return len("\n".join(lines))


def _cut(voice: Voice, lines: list[str]) -> list[str]:
    """Leave out the last lines of a report that is still too long, and say how many."""
    kept, ending = list(lines), list[str]()
    while _length([*kept, *ending]) > voice.limit and len(kept) > 1:
        kept.pop()
        ending = [voice.health("more", count=len(lines) - len(kept))]
    return [*kept, *ending]
