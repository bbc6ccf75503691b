"""Reading ``!memory …``: one raw line in, one typed :class:`CommandLine` out.

The host splits commands at single spaces and knows no quotes, so the line is parsed from its raw text. The
rule that matters most: an option that cannot be used is an error, never an absent filter. A line that
somebody meant as "delete what is tagged work" must not become "delete".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, cast

from ..errors import BadArgument
from ..ids import EXAMPLE
from ..models import KEPT_STATUSES, Filters, Status
from ..text.fold import well_formed
from .ids import normalize_id, split_id
from .inert import shown
from .option_values import has_no_clock, is_clock, is_option, page_number, raw_value, read_value
from .tokens import Kind, Token, folded, tokenize, unquoted
from .verbs import AVAILABLE, OPTIONS, VERBS, OptionKind, Place, Verb, VerbSpec, find_verb, nearest_verb

__all__ = ["CommandLine", "parse"]

_COMMAND = "memory"
_HELP_OPTIONS = {"help", "h", "?"}
_STATUS_OPTIONS = {"status", "include-superseded", "include-archived", "all-statuses"}


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What somebody typed.

    Attributes:
        verb: the subcommand; ``help`` also for a word that is none, and for one that this release does not
            have.
        id: episode id, normalized; ``""`` when the verb takes none.
        text: search query, new text of an edit, JSON of an import, or a confirmation code.
        choice: ``l2``, ``preview``, ``accept`` …; ``""`` when left out.
        page: page number, from 1 on.
        part: wanted part of an export, from 1 on; 0 when none is asked for.
        filters: what the options ask for. For ``delete`` and ``export`` every status counts unless an option
            says which.
        options: names of the options that were given.
        topic: what help is wanted on; ``None`` for the whole.
        unknown: the word that is no subcommand, for repeating it; ``""`` when there is none.
        suggestion: the subcommand that the unknown word may mean.
    """

    verb: Verb
    id: str = ""
    text: str = ""
    choice: str = ""
    page: int = 1
    part: int = 0
    filters: Filters = field(default_factory=Filters)
    options: frozenset[str] = frozenset()
    topic: Verb | None = None
    unknown: str = ""
    suggestion: Verb | None = None


def parse(command_text: str, *, available: Collection[Verb] = AVAILABLE) -> CommandLine:
    """Read one command line.

    Args:
        command_text: the host's ``command_text`` (``memory list 2``), or the line as typed with its prefix.
        available: the subcommands that this release has.

    Raises:
        BadArgument: an option or a word cannot be used; the sentence says which and what is expected.
        NotFound: ``id_malformed``, where an id should stand.
    """
    text = _after_command(well_formed(command_text))
    head = next(tokenize(text), None)
    if head is None:
        return CommandLine(Verb.OVERVIEW)
    if _asks_help(head):
        return CommandLine(Verb.HELP)
    if head.kind is not Kind.WORD:
        return _read(VERBS[Verb.OVERVIEW], text)
    word = text[head.start : head.end] if not head.quoted else head.value
    verb = find_verb(word)
    if verb is None:
        return CommandLine(Verb.HELP, **_topic(word))
    spec, rest = VERBS[verb], text[head.end :]
    if verb not in available:
        return CommandLine(Verb.HELP, topic=verb)
    first = next(tokenize(rest), None)
    if first and _asks_help(first):
        return CommandLine(Verb.HELP, topic=verb)
    try:
        return _read(spec, rest)
    except BadArgument as exc:
        exc.details.setdefault("verb", verb.value)  # the reply points to its help
        raise


def _asks_help(token: Token) -> bool:
    return token.kind in (Kind.OPTION, Kind.PERHAPS_OPTION) and token.name in _HELP_OPTIONS


def _after_command(command_text: str) -> str:
    """Return what follows the word ``memory`` and whatever prefix stands before it."""
    match = re.match(r"\s*(?P<head>\S+)", command_text)
    if match is None:
        return ""
    head = folded(match["head"]).lstrip("!/#.$\\&~*")
    return command_text[match.end() :] if head == _COMMAND else command_text


def _read(spec: VerbSpec, rest: str) -> CommandLine:
    """Read what follows the subcommand, as its row of the table says."""
    found, rest = _leading(spec, rest)
    words = _Words(spec, rest)
    for place in spec.places:
        if place is Place.QUERY:
            found["text"] = words.query()
        elif place is Place.CODE:
            found["text"] = words.one()
        elif place is Place.PAGE:
            found["page"] = words.page()
        elif place is Place.TOPIC:
            found |= _topic(words.one())
    words.finish()
    part = cast(int, words.options.get("part", 0))
    return CommandLine(
        spec.verb, part=part, filters=words.filters(), options=frozenset(words.options), **found
    )


def _leading(spec: VerbSpec, rest: str) -> tuple[dict[str, Any], str]:
    """Read what stands at fixed places right after the subcommand; return it and what is left."""
    found: dict[str, Any] = {}
    for place in spec.places:
        if place is Place.ID:
            given, rest = split_id(rest)
            if not given:
                raise BadArgument("id_missing", verb=spec.verb.value, example=EXAMPLE)
            found["id"] = normalize_id(given)
        elif place is Place.CHOICE:
            found["choice"], rest = _choice(spec, rest)
        elif place in (Place.TEXT, Place.JSON):
            found["text"], rest = _tail(spec, place, rest), ""
    return found, rest


def _choice(spec: VerbSpec, rest: str) -> tuple[str, str]:
    match = re.match(r"\s*(\S+)", rest)
    word = folded(unquoted(match[1])) if match else ""
    if match and word in spec.choices:
        return word, rest[match.end() :]
    if spec.choice_required:
        raise BadArgument("choice_missing", verb=spec.verb.value, choices=" / ".join(spec.choices))
    return "", rest


def _tail(spec: VerbSpec, place: Place, rest: str) -> str:
    """Return the rest of the line as content: no options in it, only a leading ``--`` may mark its start."""
    tail = rest.strip()
    if re.match(r"--\s", tail):
        tail = tail[2:].strip()
    content = tail if place is Place.JSON else unquoted(tail)
    if not content.strip():
        raise BadArgument("json_missing" if place is Place.JSON else "text_missing", verb=spec.verb.value)
    return content


def _topic(word: str) -> dict[str, Any]:
    topic = find_verb(word) if word else None
    if topic is None and word:
        return {"unknown": shown(word), "suggestion": nearest_verb(word)}
    return {"topic": topic}


class _Words:
    """The words and options after a subcommand; each is taken once, what nobody takes is an error."""

    def __init__(self, spec: VerbSpec, text: str) -> None:
        self.spec = spec
        self.text = text
        self.options: dict[str, object] = {}
        self.words: list[Token] = []
        self._taken: list[tuple[int, int]] = []
        self._scan(list(tokenize(text)))

    # -- splitting options from words

    def _scan(self, tokens: list[Token]) -> None:
        at, ended = 0, False
        while at < len(tokens):
            token = tokens[at]
            at += 1
            if not ended and self._ends_options(token):
                ended = True
                self._taken.append((token.start, token.end))
            elif not ended and is_option(token):
                at += self._take_option(token, tokens[at : at + 2])
            else:
                self.words.append(token)

    def _ends_options(self, token: Token) -> bool:
        # A dash inside a query is a dash; before it, a phone's idea of "--".
        return token.kind is Kind.END or (token.kind is Kind.DASH and not self.words)

    def _take_option(self, token: Token, following: Sequence[Token]) -> int:
        """Read one option; return how many tokens after it were its value."""
        label = f"--{token.name}"
        if token.name not in self.spec.options:
            raise self._unknown(token)
        if token.name in self.options:
            raise BadArgument("option_twice", option=label)
        option = OPTIONS[token.name]
        self._taken.append((token.start, token.end))
        if option.kind is OptionKind.FLAG:
            if token.inline:
                raise BadArgument("option_flag_value", option=label)
            self.options[option.name] = True
            return 0
        used = 0 if token.inline else 1
        value = token if token.inline else (following[0] if following else None)
        text = raw_value(option, value, self.text)
        if option.kind is OptionKind.TIME and value and not value.quoted and len(following) > used:
            clock = following[used]
            if is_clock(clock) and has_no_clock(text):
                text, used = f"{text} {clock.value}", used + 1
        self._taken += [(t.start, t.end) for t in following[:used]]
        self.options[option.name] = read_value(
            option, text, quoted=bool(value and value.quoted), verb=self.spec.verb
        )
        return used

    def _unknown(self, token: Token) -> BadArgument:
        given, known = shown(f"--{token.name}"), self.spec.options
        if not known:
            return BadArgument("option_none", verb=self.spec.verb.value or _COMMAND, option=given)
        close = get_close_matches(token.name[:40], known, n=1, cutoff=0.6)
        options = " ".join(f"--{name}" for name in (close or known))
        return BadArgument(
            "option_near" if close else "option_unknown",
            verb=self.spec.verb.value,
            option=given,
            options=options,
        )

    # -- what the places of the table take

    def query(self) -> str:
        """Take everything that is no option, as it stands; pieces around an option are joined by a space."""
        pieces, start = [], 0
        for taken_from, taken_to in [*sorted(self._taken), (len(self.text), len(self.text))]:
            pieces.append(self.text[start:taken_from].strip())
            start = taken_to
        self.words.clear()
        query = unquoted(" ".join(piece for piece in pieces if piece))
        if not query.strip():
            raise BadArgument("query_missing", verb=self.spec.verb.value)
        return query

    def one(self) -> str:
        """Take one word, ``""`` when there is none."""
        return self.words.pop(0).value if self.words else ""

    def page(self) -> int:
        """Take a page number from the words or from ``--page``; 1 when there is none."""
        if self.words and "page" in self.options:
            raise BadArgument("option_twice", option="--page")
        if self.words:
            return page_number(self.words.pop(0).value, self.spec.verb)
        return cast(int, self.options.get("page", 1))

    def finish(self) -> None:
        """Complain about words that nothing took, and about filters that are needed and not there."""
        if self.words:
            left = " ".join(self.text[t.start : t.end] for t in self.words)
            raise BadArgument("words_left_over", verb=self.spec.verb.value or _COMMAND, words=shown(left))
        if self.spec.filter_required and not self.options:
            raise BadArgument("delete_needs_filter")
        if "status" in self.options and "all-statuses" in self.options:
            raise BadArgument("option_conflict", first="--status", second="--all-statuses")

    def filters(self) -> Filters:
        """Return the filters that the options ask for."""
        names = {
            "speaker": "sender_id",
            "speaker-name": "sender_name",
            "tag": "tag",
            "source": "source",
            "after": "time_after",
            "before": "time_before",
            "importance": "importance_min",
        }
        chosen = {names[name]: value for name, value in self.options.items() if name in names}
        return Filters.model_validate({**chosen, "statuses": self._statuses()})

    def _statuses(self) -> frozenset[Status]:
        statuses = self.options.get("status")
        chosen = _STATUS_OPTIONS & set(self.options)
        if "all-statuses" in chosen or (self.spec.every_status and not chosen):
            # Deleting or exporting what somebody said means every version of it, unless they name the status.
            return KEPT_STATUSES
        found = set(statuses) if isinstance(statuses, frozenset) else {Status.ACTIVE}
        if "include-superseded" in self.options:
            found.add(Status.SUPERSEDED)
        if "include-archived" in self.options:
            found.add(Status.ARCHIVED)
        return frozenset(found)
