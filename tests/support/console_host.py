"""The Memory Console in the WebUI of a real host, as an operator's browser shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Frame, Page, expect, sync_playwright

from playground import browser
from tests.support.console_frame import ARTIFACTS
from tests.support.talk import PAGE, Chat, MemoryHost

__all__ = ["Tab", "desk"]

_PATIENCE = 45_000
"""Milliseconds that anything may take to appear; the page itself waits 30 s for an answer."""
_TOLD_ALREADY = {"langbot_sidebar_guide_v1": "completed", "langbot-assistant-panel-open": "false"}
"""The WebUI shows a tour and an assistant's panel over the page on a first visit."""


@dataclass
class Tab:
    """One tab with the console open.

    Attributes:
        page: the WebUI.
        problems: what the console complained about in the browser's log.
    """

    page: Page
    problems: list[str] = field(default_factory=list)

    @property
    def frame(self) -> Frame:
        """The console in it; the WebUI makes a new one when it reads its list of pages anew."""
        inner = self.page.wait_for_selector("iframe[sandbox]", state="attached")
        assert inner is not None
        frame = inner.content_frame()
        assert frame is not None
        return frame

    def ready(self) -> None:
        """Wait until the list of spaces is there."""
        self.frame.wait_for_selector(".side:not(:has(.skeletons))")

    def open(self, chat: Chat) -> None:
        """Search for a conversation and open it."""
        self.frame.fill("#search", chat.id)
        row = self.frame.locator(f'[data-space][title="{chat.session_name}"]')
        expect(row).to_have_count(1)
        row.click()
        self.frame.wait_for_selector("#tab-memories")

    def panel(self, name: str, shown: str) -> None:
        """Open a panel and wait for what it shows."""
        self.frame.click(f"#tab-{name}")
        self.frame.wait_for_selector(shown)

    def view(self, place: int, shown: str) -> None:
        """Open a view of the whole memory by the place of its button."""
        self.frame.click(f".top .button >> nth={place}")
        self.frame.wait_for_selector(shown)

    def notice(self) -> str:
        """What the page says that it has just done."""
        return self.frame.inner_text(".notice p")

    def contents(self) -> list[str]:
        """The texts of the memories that are shown."""
        self.frame.wait_for_selector(".panel .answer:not(.waiting)")
        return self.frame.locator(".memory .content:not(.whole)").all_inner_texts()

    def memory(self, text: str) -> str:
        """The selector of the memory with that text."""
        return f".memory:has(.content:text-is({json.dumps(text)}))"

    def shot(self, name: str) -> None:
        """Keep a picture of the whole WebUI."""
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        self.page.wait_for_timeout(350)
        self.page.screenshot(path=ARTIFACTS / f"host-{name}.png")

    def violations(self) -> list[str]:
        """What axe-core finds that keeps people out of the console seriously."""
        self.frame.evaluate(AXE_FILE_PATH.read_text("utf-8"))
        found = self.frame.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{one['id']}: {one['nodes'][0]['html'][:200]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]

    def inert(self) -> bool:
        """Whether nothing that was stored has run."""
        return all(where.evaluate("typeof window.__x") == "undefined" for where in (self.page, self.frame))


@dataclass
class Desk:
    """A browser that is logged in.

    Attributes:
        memory: the product on its host.
        context: the browser's session; its tabs share it.
    """

    memory: MemoryHost
    context: BrowserContext

    def tab(self) -> Tab:
        """Open the console in a new tab."""
        page = self.context.new_page()
        host = self.memory.stage.host
        problems: list[str] = []

        def listen(message: ConsoleMessage) -> None:
            # The SDK looks for words beside the page, which a blob: URL has not; the page brings its own.
            text = message.text
            if (
                message.type == "error"
                and "blob:" in str(message.location)
                and "i18n" not in text
                and "connect-src" not in text
            ):
                problems.append(text)

        page.on("console", listen)
        page.goto(f"{host.url}/home/plugin-pages?id={self.memory.plugin}/{PAGE}")
        tab = Tab(page, problems)
        tab.ready()
        return tab


@contextmanager
def desk(
    memory: MemoryHost, *, theme: str = "light", language: str = "en-US", width: int = 1440
) -> Iterator[Desk]:
    """A browser with an operator logged in, for as long as the block lasts."""
    token = memory.stage.api.rest.token
    told = _TOLD_ALREADY | {"token": token, "langbot-theme": theme, "langbot_language": language}
    with sync_playwright() as playwright:
        running: Browser = playwright.chromium.launch(
            executable_path=browser.find(), args=list(browser.FLAGS)
        )
        context = running.new_context(viewport={"width": width, "height": 900})
        context.set_default_timeout(_PATIENCE)
        expect.set_options(timeout=_PATIENCE)
        script = "if (location.protocol === 'http:' && !localStorage.getItem('token'))"
        context.add_init_script(f"{script} Object.assign(localStorage, {json.dumps(told)})")
        try:
            yield Desk(memory, context)
        finally:
            running.close()
