"""What people may do about themselves, whatever the policy: opt out, and have everything erased."""

from __future__ import annotations

from .access import Access
from .erasure import Traces, erase_space, erase_speaker, traces_of
from .errors import BadArgument, Forbidden
from .policy import Action
from .scope import Speaker
from .views import ErasureOffer

__all__ = ["Privacy"]


class Privacy:
    """Opt-out and erasure in one conversation; ``memory.privacy`` of a scoped memory.

    Args:
        access: who acts where.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def opt(self, *, off: bool) -> bool:
        """Switch memory off or on for the current speaker; returns whether that changed anything.

        Raises:
            BadArgument: ``speaker_unknown``.
            Forbidden: by a tool.
            StorageFailed: it may not be kept.
        """
        self._access.decide(Action.WITHDRAW)
        speaker = self._speaker()
        service, scope = self._access.service, self._access.scope
        changed = await service.opt_outs.change(scope, speaker.id, off=off)
        if off:
            # What is on its way is refused from now on; what is just being written comes before the answer.
            service.withdrawals.opted_out(scope.user_key, speaker.id)
            await self._written(speaker)
        if changed:
            await self._access.audit("opt_out" if off else "opt_in", ("speaker", speaker.id))
        return changed

    async def _written(self, speaker: Speaker) -> None:
        """Wait for what is being written of a speaker."""
        scope = self._access.scope
        await self._access.service.profiles.settled(scope, speaker)
        async with (await self._access.service.collection()).lock(scope.user_key):
            pass

    async def off_for_bot(self) -> bool:
        """Return whether the current speaker switched memory off for all conversations with the bot.

        Raises:
            StorageFailed: it cannot be told.
        """
        off = await self._access.service.opt_outs.for_bot(self._access.scope)
        return self._access.actor.speaker.id in off

    async def is_off(self) -> bool:
        """Return whether memory is switched off for the current speaker.

        Raises:
            StorageFailed: it cannot be told.
        """
        return self._access.actor.speaker.id in await self._access.opted_out()

    async def offer_erasure(self) -> ErasureOffer:
        """Say what :meth:`forgetme` would erase, with the code that confirms it.

        Raises:
            BadArgument, Forbidden: as :meth:`opt`.
            StoreFailed, StorageFailed: it cannot be told.
        """
        self._access.decide(Action.WITHDRAW)
        speaker = self._speaker()
        traces = await traces_of(self._access.service, self._access.scope, speaker.id)
        return ErasureOffer(traces, self._access.service.confirmations.issue(*self._erasure(speaker)))

    async def forgetme(self, code: str) -> Traces:
        """Erase everything of the current speaker in this space; each part is read back.

        Args:
            code: from :meth:`offer_erasure`, at most ten minutes old.

        Raises:
            BadArgument: ``code_wrong``; nothing was erased.
            Forbidden: as :meth:`opt`.
            StoreFailed, StorageFailed: some of it may still be there; the offer can be asked for again.
        """
        self._access.decide(Action.WITHDRAW)
        speaker = self._speaker()
        self._access.service.confirmations.redeem(code, *self._erasure(speaker))
        erased = await erase_speaker(self._access.service, self._access.scope, speaker.id)
        # Their name has just been taken out of the audit; the entry about that must not bring it back.
        await self._access.audit("erase_speaker", ("speaker", ""), erased.counts(), sender=Speaker())
        return erased

    def _speaker(self) -> Speaker:
        if not self._access.actor.speaker.known:
            raise BadArgument("speaker_unknown")
        return self._access.actor.speaker

    def _erasure(self, speaker: Speaker) -> tuple[str, str, str]:
        return "forgetme", self._access.scope.space_id, speaker.id

    async def erase_space(self) -> Traces:
        """Erase this space: profiles, memories, snapshot, audit; for the operator's console only.

        Raises:
            Forbidden: by anything else.
            StoreFailed, StorageFailed: some of it may still be there; repeating goes on.
        """
        if self._access.actor.via != "console":
            raise Forbidden("forbidden_tool")
        service, scope = self._access.service, self._access.scope
        erased = await erase_space(service, scope)
        # The one entry of the request that is to be there after the erasure.
        now = service.withdrawals.now()
        await self._access.audit("erase_space", ("space", scope.space_id), erased.counts(), began=now)
        return erased
