"""The verbs that change or delete memories that are there already.

Each asks the policy, does one thing, takes what is gone or has another text now out of what shows injections, and
writes one audit entry; also when nobody can tell whether the change was made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from .drafts import Revision
from .errors import BadArgument, NotFound, StorageFailed
from .models import KEPT_STATUSES, Episode, Filters, Status
from .policy import Action, check_episode_change

if TYPE_CHECKING:
    from .access import Access
    from .episode_changes import Changed
    from .episodes import Forgotten
    from .withdrawals import Check

__all__ = ["Changes", "narrowing"]


class Changes:
    """Changes of memories in one conversation; ``memory.changes`` of a scoped memory.

    Args:
        access: who acts where.
        select: lists the memories that the actor may see.
    """

    def __init__(self, access: Access, select: Callable[[Filters], Awaitable[list[Episode]]]) -> None:
        self._access = access
        self._select = select

    # ------------------------------------------------------------ one memory

    async def archive(self, episode_id: str) -> Episode:
        """Hide an active memory from recall; :meth:`restore` brings it back as it was.

        Raises:
            NotFound, Forbidden: not here, or not theirs.
            BadArgument: it is hidden already.
            StoreFailed, StorageFailed: what was there is still there; ``change_unknown`` when nobody can tell, and
                ``changed_but_snapshot`` when it was done and a snapshot may still show it.
        """
        return await self._set_status("archive", episode_id, Status.ARCHIVED)

    async def restore(self, episode_id: str) -> Episode:
        """Make an archived or superseded memory active again, importance and all.

        Raises:
            NotFound, Forbidden, StoreFailed, StorageFailed: as :meth:`archive`.
            BadArgument: it is active, or another active memory says the same.
        """
        return await self._set_status("restore", episode_id, Status.ACTIVE)

    async def _set_status(self, operation: str, episode_id: str, status: Status) -> Episode:
        before, check = await self._changeable(episode_id)
        summary: dict[str, int | str] = {"status_before": before.status.value, "status": status.value}
        async with self._access.noted_if_unknown(operation, ("episode", episode_id), summary):
            changes = (await self._access.episodes()).changes
            changed = await changes.set_status(self._access.scope, episode_id, status, check)
        await self._access.audit(
            operation, ("episode", episode_id), summary | {"status_before": changed.before.status.value}
        )
        return await self._shown_as_it_is(changed)

    async def edit(self, episode_id: str, content: str) -> Episode:
        """Give a memory another text; everything else stays.

        Raises:
            NotFound, Forbidden: not here, or not theirs.
            BadArgument: the text cannot be stored.
            EmbeddingFailed, StoreFailed, StorageFailed: as :meth:`archive`.
        """
        return await self.revise(episode_id, Revision(content))

    async def revise(self, episode_id: str, revision: Revision) -> Episode:
        """Give a memory another text, tags, importance or time; everything else stays.

        Raises:
            NotFound, Forbidden, BadArgument, EmbeddingFailed, StoreFailed, StorageFailed: as :meth:`edit`.
        """
        before, check = await self._changeable(episode_id)
        content = before.content if revision.content is None else revision.content.strip()
        summary: dict[str, int | str] = {
            "content_len_before": len(before.content),
            "content_len": len(content),
        }
        others = [name for name in _DETAILS if getattr(revision, name) is not None]
        if others:
            summary["fields"] = ",".join(others)
        async with self._access.noted_if_unknown("edit", ("episode", episode_id), summary):
            changed = await (await self._access.episodes()).changes.edit(
                self._access.scope, episode_id, revision, check
            )
        summary |= {
            "content_len_before": len(changed.before.content),
            "content_len": len(changed.episode.content),
        }
        await self._access.audit("edit", ("episode", episode_id), summary)
        if changed.before.content == changed.episode.content:
            return changed.episode
        return await self._shown_as_it_is(changed)

    async def _shown_as_it_is(self, changed: Changed) -> Episode:
        """Take the former text out of what shows injections.

        Raises:
            StorageFailed: ``changed_but_snapshot``.
        """
        try:
            await self._access.service.changed(self._access.scope, changed.before, changed.episode)
        except StorageFailed as exc:
            raise StorageFailed("changed_but_snapshot", id=changed.episode.id) from exc
        return changed.episode

    async def _changeable(self, episode_id: str) -> tuple[Episode, Check]:
        """Return a memory that the actor may write anew, and what refuses it right before it is written.

        Raises:
            NotFound, Forbidden, StoreFailed, StorageFailed: there is none.
        """
        episode = await (await self._access.episodes()).find(self._access.scope, episode_id)
        await self._access.check_known(episode)
        check_episode_change(
            self._access.actor, self._access.scope, episode, self._access.settings.command_policy
        )
        return episode, await self._access.check_wanted(episode.sender_id)

    # ------------------------------------------------------------ deleting

    async def forget(self, episode_id: str) -> Forgotten:
        """Delete one memory for real, with the superseded versions of its chain.

        Raises:
            NotFound: not in this scope.
            Forbidden: it belongs to somebody else.
            StoreFailed, StorageFailed: it may still be there somewhere.
        """
        episodes = await self._access.episodes()
        try:
            episode = await episodes.find(self._access.scope, episode_id)
        except NotFound:
            # Perhaps an earlier forget got no further than this.
            await self._access.service.scrub(self._access.scope, (episode_id,), found=False)
            raise
        await self._access.check_known(episode)
        check_episode_change(
            self._access.actor, self._access.scope, episode, self._access.settings.command_policy
        )
        # Before, so that nothing is left if we get no further; after, because a turn may have shown it meanwhile.
        await self._access.service.scrub(self._access.scope, (episode_id,))
        async with self._access.noted_if_unknown("forget", ("episode", episode_id)):
            forgotten = await episodes.forget(self._access.scope, episode)
        await self._access.audit("forget", ("episode", episode_id), {"superseded": len(forgotten.chain)})
        await self._scrub_deleted(forgotten.ids)
        return forgotten

    async def delete(self, filters: Filters) -> tuple[str, ...]:
        """Delete every memory that passes the filters; returns the ids.

        Raises:
            BadArgument: ``delete_needs_filter`` when nothing narrows.
            Forbidden: the policy refuses.
            StoreFailed, StorageFailed: some may still be there.
        """
        if not filters.model_copy(update={"statuses": frozenset({Status.ACTIVE})}).narrows and (
            filters.statuses >= KEPT_STATUSES
        ):
            raise BadArgument("delete_needs_filter")
        found = await self._select(filters)
        mine = bool(found) and all(e.is_from(self._access.actor.speaker.id) for e in found)
        self._access.decide(Action.CHANGE_OWN if mine else Action.BULK_DELETE)
        return await self._delete(found, ",".join(sorted(narrowing(filters))))

    async def delete_chosen(self, episode_ids: Sequence[str], *, chains: bool = False) -> tuple[str, ...]:
        """Delete the memories with these ids, as far as they are here; returns the ids that are gone now.

        Args:
            episode_ids: which.
            chains: whether the superseded versions of their chains go as well, as in :meth:`forget`.

        Raises:
            Forbidden: one of them may not be changed; then none is deleted.
            StoreFailed, StorageFailed: some may still be there.
        """
        return await self._delete(await self.chosen(episode_ids, chains=chains), "ids")

    async def chosen(self, episode_ids: Sequence[str], *, chains: bool = False) -> list[Episode]:
        """Return what :meth:`delete_chosen` would delete.

        Raises:
            Forbidden, StoreFailed, StorageFailed: as there.
        """
        episodes = await self._access.episodes()
        found = await episodes.find_all(self._access.scope, episode_ids)
        for episode in found:
            check_episode_change(
                self._access.actor, self._access.scope, episode, self._access.settings.command_policy
            )
        if chains:
            known = {e.id for e in found}
            for episode in [e for e in found if e.supersedes]:
                older = await episodes.chain(self._access.scope, episode)
                found += [e for e in older if e.id not in known]
                known.update(e.id for e in older)
        return found

    async def _delete(self, found: Sequence[Episode], filters: str) -> tuple[str, ...]:
        """Delete memories that the actor may delete; returns the ids of those that were still there."""
        await self._access.service.scrub(self._access.scope, tuple(e.id for e in found))
        summary: dict[str, int | str] = {"count": len(found), "filters": filters}
        async with self._access.noted_if_unknown("delete", ("episodes", ""), summary):
            deleted = await (await self._access.episodes()).delete_many(self._access.scope, found)
        if deleted:
            await self._access.audit("delete", ("episodes", ""), summary | {"count": len(deleted)})
        await self._scrub_deleted(deleted)
        return deleted

    async def _scrub_deleted(self, episode_ids: tuple[str, ...]) -> None:
        try:
            await self._access.service.scrub(self._access.scope, episode_ids)
        except StorageFailed as exc:
            raise StorageFailed("deleted_but_snapshot") from exc


_DETAILS = ("tags", "importance", "timestamp")
"""What an edit can change beside the text."""


def narrowing(filters: Filters) -> list[str]:
    """Return the names of the filters that are set; their values may be names of people."""
    return [name for name in Filters.model_fields if getattr(filters, name) != getattr(Filters(), name)]
