"""Importing a file: every row is judged before anything is written, then profiles and memories go in by batches.

An import that stops, for whatever reason, can be repeated: it goes on where it ended and adds nothing twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from ..chat.inert import one_line
from ..errors import BadArgument, LongTermMemoryError
from ..import_plan import Arrival, Plan
from ..importer import EpisodeImporter
from ..profile_changes import Limits
from ..scope import Isolation, Scope, Speaker
from .formats import Parsed, RawRow, read_file
from .profile_import import PlacedProfile, ProfileImport, ProfileOutcome, check_row, placed
from .profile_rows import ProfileArrival, profile_arrival, unread_fields
from .report import ImportReport, Place, log_report
from .rows import Rejected, Target, arrival

if TYPE_CHECKING:
    from ..service import MemoryService

__all__ = ["Announce", "ImportReport", "Place", "Rejected", "import_file"]

_JUDGED_ROWS = 100
"""Rows judged before others get their turn: a few milliseconds."""
_FIELDS_NAMED, _FIELD_CHARS = 12, 40
"""Most foreign fields that are named, and how much of a name is shown, in characters."""


Announce = Callable[[Sequence[str], Sequence[ProfileOutcome]], Awaitable[None]]
"""Told, before anything is written, which user keys and which profiles an import may write."""


async def import_file(
    service: MemoryService,
    data: bytes,
    *,
    into: Scope | None,
    isolation: Isolation,
    document_id: str = "",
    seconds: float | None = None,
    source: str = "import",
    profiles: bool = True,
    only_from: Speaker | None = None,
    default_sender: Speaker | None = None,
    keep_sessions: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
    announce: Announce | None = None,
) -> ImportReport:
    """Take in a file; can be repeated without duplicates. Never raises one of our errors.

    Args:
        service: the installation's memory.
        data: the file (:mod:`.formats`).
        into: the one scope that everything goes to, whatever the file says (chat, console); ``None`` = each row
            says its own, and one that does not is rejected (upload, restore).
        isolation: of the knowledge base, for rows that name bot and session.
        document_id: the upload that brings it; one that stands in the file does not count.
        seconds: time after which no batch is begun any more; at least one is. ``None`` = as long as it takes.
        source: of rows that name none.
        profiles: whether profiles are taken too.
        only_from: the one sender whose memories are taken; ``None`` = anybody's. Nothing is ever stored for people
            who opted out.
        default_sender: whose memories rows become that name nobody; an export of ours is taken as it stands.
        keep_sessions: whether rows that come from ``into``'s own user key keep the conversation they name, which
            matters under ``bot`` isolation. For the console; from chat everything is said here.
        dry_run: only tell what would happen; nothing is embedded or written.
        progress: told (rows done, rows to do) after every batch.
        announce: awaited before anything is written.
    """
    run = _Run(
        service,
        Target(
            into,
            isolation,
            keep_sessions,
            document_id,
            source,
            default_sender=default_sender,
            only_from=only_from,
        ),
        seconds,
        progress,
    )
    try:
        await run.read(data, with_profiles=profiles)
        if dry_run:
            await run.rehearse()
        else:
            await run.write(announce)
    except LongTermMemoryError as exc:
        run.error = exc
    report = run.report()
    log_report(report, document_id)
    return report


@dataclass
class _Run:
    """One import while it is going on."""

    service: MemoryService
    target: Target
    seconds: float | None
    progress: Callable[[int, int], None] | None
    accepted: int = 0
    skipped: int = 0
    profiles: int = 0
    ignored_profiles: int = 0
    error: LongTermMemoryError | None = None
    format: str = ""
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[Rejected] = field(default_factory=list)
    rows: dict[str, list[Arrival]] = field(default_factory=dict)
    """Judged episodes by user key."""
    left_out: dict[str, tuple[int, int]] = field(default_factory=dict)
    """What of the file has no place here: by name, where it stands first and how often."""
    kept: list[PlacedProfile] = field(default_factory=list)
    left: int = 0
    places: dict[str, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.until = None if self.seconds is None else self.service.clock() + self.seconds
        self.began = self.service.withdrawals.now()

    # ------------------------------------------------------------ reading

    async def read(self, data: bytes, *, with_profiles: bool) -> None:
        """Judge every row."""
        # A big Markdown file takes a second or two; nobody else has to wait for it.
        parsed = await asyncio.to_thread(read_file, data)
        self.format = parsed.format
        self.target = replace(self.target, exact=parsed.exact)
        for number, row in enumerate(parsed.episodes):
            if not number % _JUDGED_ROWS:
                await asyncio.sleep(0)
            self._judge(row)
        self._judge_profiles(parsed, with_profiles=with_profiles)
        self.left_out |= {name: (1, count) for name, count in parsed.left_out.items()}
        self._note_left_out()
        await self._leave_out_opted_out()
        self.left = sum(map(len, self.rows.values()))
        if not self.rows and not self.kept and not self.skipped and not self.ignored_profiles:
            raise BadArgument("file_without_rows", rejected=len(self.rejected))

    def _judge(self, row: RawRow) -> None:
        try:
            found = arrival(row, self.target, lambda why: self.notes.append(Rejected(row.line, why)))
            if found is None:
                self.skipped += 1
                return
            self.rows.setdefault(found.scope.user_key, []).append(found)
            self._count_left_out(row.line, row.left_out)
        except LongTermMemoryError as exc:
            self.rejected.append(Rejected(row.line, exc))

    def _judge_profiles(self, parsed: Parsed, *, with_profiles: bool) -> None:
        for row in parsed.passed_over:
            self._ignore(row.line, row.problem)
        if not with_profiles:
            self.ignored_profiles += len(parsed.profiles)
            return
        judged: list[ProfileArrival] = []
        for row in parsed.profiles:
            try:
                judged.append(profile_arrival(row, self.target))
                self._count_left_out(row.line, unread_fields(cast(Mapping[str, Any], row.value)))
            except LongTermMemoryError as exc:
                self.rejected.append(Rejected(row.line, exc, "profile"))
        taken, others = placed(judged, self.target.into)
        for other in others:
            self._ignore(other.line, BadArgument("profile_elsewhere"))
        self.kept += taken

    def _count_left_out(self, line: int, names: Iterable[str]) -> None:
        for name in names:
            first, rows = self.left_out.get(name, (line, 0))
            self.left_out[name] = first, rows + 1

    def _note_left_out(self) -> None:
        """Say once for the whole file what of it has no place here."""
        if self.left_out:
            shown = [f"{one_line(name, _FIELD_CHARS)} ({rows})" for name, (_, rows) in self.left_out.items()]
            more = [f"+{len(shown) - _FIELDS_NAMED}"] if len(shown) > _FIELDS_NAMED else []
            fields = ", ".join(shown[:_FIELDS_NAMED] + more)
            line = min(first for first, _ in self.left_out.values())
            self.notes.append(Rejected(line, BadArgument("row_fields", fields=fields)))

    async def _leave_out_opted_out(self) -> None:
        """Reject what is about people who switched memory off where it goes."""
        places = dict.fromkeys(
            [a.scope for rows in self.rows.values() for a in rows] + [p.scope for p in self.kept]
        )
        off = {scope: await self.service.opt_outs.of(scope) for scope in places}
        for user_key, rows in list(self.rows.items()):
            self.rows[user_key] = [a for a in rows if a.draft.sender.id not in off[a.scope]]
            self._reject([a.line for a in rows if a.draft.sender.id in off[a.scope]], "episode")
            if not self.rows[user_key]:
                del self.rows[user_key]
        unwanted = [p for p in self.kept if p.speaker and p.speaker.id in off[p.scope]]
        self._reject([p.line for p in unwanted], "profile")
        self.kept = [p for p in self.kept if p not in unwanted]

    def _reject(self, lines: Sequence[int], kind: Literal["episode", "profile"]) -> None:
        self.rejected += [Rejected(line, BadArgument("row_speaker_off"), kind) for line in lines]

    def _ignore(self, line: int, why: LongTermMemoryError | None) -> None:
        self.ignored_profiles += 1
        if why:
            self.notes.append(Rejected(line, why, "profile"))

    # ------------------------------------------------------------ writing

    async def rehearse(self) -> None:
        """Tell what :meth:`write` would do."""
        importer, profiles = await self._importer(), await self._profiles()
        for one in self.kept:
            self._settle(one, await profiles.outcome(one))
        for user_key, rows in self.rows.items():
            plan = await importer.plan(user_key, rows)
            self._take(plan)
            self.accepted += len(plan.fresh)
        self.left = 0

    async def write(self, announce: Announce | None) -> None:
        """Write profiles, then memories."""
        importer, profiles = await self._importer(), await self._profiles()
        if announce is not None:
            found = [await profiles.outcome(one) for one in self.kept]
            await announce(list(self.rows), found)
        for number, one in enumerate(self.kept):
            if number and self._late:
                self.left += len(self.kept) - number
                return
            self._settle(one, await profiles.apply(one))
        if self.rows:
            await importer.prepare()
        for number, (user_key, rows) in enumerate(self.rows.items()):
            if (number or self.kept) and self._late:
                return
            await self._write_scope(importer, user_key, rows)

    async def _write_scope(self, importer: EpisodeImporter, user_key: str, rows: list[Arrival]) -> None:
        total = sum(map(len, self.rows.values()))
        async with importer.turn(user_key):
            plan = await importer.plan(user_key, rows)
            self._take(plan)
            self.left -= len(rows) - len(plan.fresh)
            async with aclosing(
                importer.write(user_key, plan, until=self.until, check=self._check)
            ) as batches:
                async for batch in batches:
                    self.accepted += len(batch.stored)
                    self._place(rows[0].scope).accepted += len(batch.stored)
                    self.skipped += batch.skipped
                    self.rejected += [Rejected(line, why) for line, why in batch.refused]
                    self.left -= batch.rows
                    if self.progress is not None:
                        self.progress(total - self.left, total)

    def _check(self, arrival: Arrival) -> None:
        """Refuse a row about somebody who opted out or was erased since the import began."""
        check_row(self.service.withdrawals, self.began, arrival.scope, arrival.draft.sender.id)

    def _place(self, scope: Scope) -> Place:
        return self.places.setdefault(scope.scope_key, Place(scope))

    @property
    def _late(self) -> bool:
        return self.until is not None and self.service.clock() >= self.until

    def _take(self, plan: Plan) -> None:
        self.skipped += plan.skipped
        self.notes += [Rejected(line, why) for line, why in plan.notes]

    def _settle(self, one: PlacedProfile, outcome: ProfileOutcome) -> None:
        if outcome.error:
            self.rejected.append(Rejected(one.line, outcome.error, "profile"))
        elif outcome.changed:
            self.profiles += 1
            self._place(one.scope).profiles += 1
        else:
            self.ignored_profiles += 1
        self.notes += [Rejected(one.line, why, "profile") for why in outcome.left_out]

    async def _importer(self) -> EpisodeImporter:
        collection = await self.service.collection()
        return EpisodeImporter(
            collection, self.service.recaller(collection), self.service.now, self.service.clock
        )

    async def _profiles(self) -> ProfileImport:
        return ProfileImport(self.service, Limits.of(await self.service.settings()), self.began)

    def report(self) -> ImportReport:
        """Return what became of it so far."""
        return ImportReport(
            self.accepted,
            self.skipped,
            tuple(sorted(self.rejected, key=lambda r: (r.kind, r.line))),
            self.profiles,
            self.ignored_profiles,
            self.left,
            self.error,
            tuple(sorted(self.notes, key=lambda r: (r.kind, r.line))),
            self.format,
            tuple(self.places.values()),
        )
