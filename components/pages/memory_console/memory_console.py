"""The Memory Console's server side: hands requests of the page to the memory."""

from __future__ import annotations

from langbot_plugin.api.definition.components.page import Page, PageRequest, PageResponse

from longterm_memory.console import answer


class MemoryConsole(Page):
    """A page in LangBot's WebUI; see ``longterm_memory.console`` for what it can ask."""

    async def handle_api(self, request: PageRequest) -> PageResponse:
        """Answer the page. Failures are answers too: what LangBot makes of an error is no use to anybody."""
        memory = self.plugin.memory()  # type: ignore[attr-defined]
        return PageResponse.ok(await answer(memory, request.endpoint, request.method, request.body))
