"""The Memory Console's page in a real browser, in a frame like LangBot's, over a memory in this process.

The outer page does what the WebUI does: it shows the built file from a blob: URL in a sandboxed frame, with the SDK
that LangBot serves, tells theme and language, and hands the page's requests on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import langbot_plugin
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.async_api import Browser, Frame, Page, async_playwright

from longterm_memory.console import answer
from longterm_memory.service import MemoryService
from playground import browser
from playground.console import TARGET

__all__ = ["ARTIFACTS", "Console", "launched", "violations"]

ARTIFACTS = TARGET.parents[3] / "build" / "console"
"""Where screenshots go."""
ORIGIN = "http://langbot.test"
_SDK = Path(langbot_plugin.__file__).parent / "assets" / "langbot-page-sdk.js"
_OUTER = """<!doctype html><html lang="en"><title>LangBot</title>
<style>html,body{margin:0;height:100%}iframe{border:0;width:100%;height:100%;display:block}</style>
<iframe title="page" sandbox="allow-scripts allow-forms"></iframe>
<script>
const frame = document.querySelector("iframe");
let context = null;
const tell = () => frame.contentWindow.postMessage({type: "langbot:context", ...context}, "*");
window.show = async (theme, language) => {
  context = {theme, language};
  const html = await (await fetch("/index.html")).text();
  const sdk = location.origin + "/api/v1/plugins/_sdk/page-sdk.js";
  const page = html.replace("/api/v1/plugins/_sdk/page-sdk.js", sdk);
  frame.onload = tell;
  frame.src = URL.createObjectURL(new Blob([page], {type: "text/html"}));
};
window.turn = (changes) => { Object.assign(context, changes); tell(); };
window.addEventListener("message", async ({data, source}) => {
  if (!data || data.type !== "langbot:api") return;
  const answer = {type: "langbot:api:response", requestId: data.requestId};
  try { answer.data = JSON.parse(await window.__ask(data.endpoint, JSON.stringify(data.body ?? null), data.method)); }
  catch (error) { answer.error = String(error); }
  source.postMessage(answer, "*");
});
</script></html>"""

Answerer = Callable[[str, Any], Awaitable[Any]]


@dataclass
class Console:
    """One open page.

    Attributes:
        page: the outer page.
        service: the memory it shows, ``None`` when every answer is made up.
        answers: made-up answers by endpoint: a value, or what makes one of the body.
        asked: every request: (endpoint, body).
        problems: what the browser complained about.
    """

    page: Page
    service: MemoryService | None = None
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def show(self, theme: str = "light", language: str = "en-US", *, ready: bool = True) -> Frame:
        """Open the page and wait until its first answer is drawn."""
        await self.page.route(f"{ORIGIN}/**", self._serve)
        await self.page.expose_function("__ask", self._ask)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._listen)
        await self.page.goto(f"{ORIGIN}/")
        await self.page.evaluate("([theme, language]) => window.show(theme, language)", [theme, language])
        frame = self.frame
        await frame.wait_for_selector("#app .app")
        if ready:
            await frame.wait_for_selector(".side:not(:has(.skeletons))")
        return frame

    @property
    def frame(self) -> Frame:
        """The frame with the page in it."""
        return self.page.frames[1]

    async def turn(self, **changes: str) -> None:
        """Have LangBot change its ``theme`` or ``language``."""
        await self.page.evaluate("(changes) => window.turn(changes)", changes)
        await asyncio.sleep(0.1)

    async def shot(self, name: str, *, full: bool = True) -> Path:
        """Keep a picture of the page, all of it with *full*."""
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTIFACTS / f"{name}.png"
        size = self.page.viewport_size
        assert size is not None
        if full:
            height = await self.frame.evaluate("document.documentElement.scrollHeight")
            await self.page.set_viewport_size(size | {"height": max(size["height"], min(height, 4000))})
        await self.frame.wait_for_timeout(350)
        await self.page.screenshot(path=path)
        if full:
            await self.page.set_viewport_size(size)
        return path

    def _listen(self, message: Any) -> None:
        # The SDK looks for words beside the page, which a blob: URL has not; the page brings its own.
        if message.type == "error" and "i18n" not in message.text and "connect-src" not in message.text:
            self.problems.append(message.text)

    async def _serve(self, route: Any) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        if path == "/":
            await route.fulfill(body=_OUTER, content_type="text/html")
        elif path == "/index.html":
            await route.fulfill(body=TARGET.read_text("utf-8"), content_type="text/html")
        elif path.endswith("/page-sdk.js"):
            await route.fulfill(body=_SDK.read_text("utf-8"), content_type="application/javascript")
        else:
            await route.fulfill(status=404)

    async def _ask(self, endpoint: str, body: str, method: str) -> str:
        given = json.loads(body)
        self.asked.append((endpoint, given))
        made = self.answers.get(endpoint)
        if callable(made):
            made = await made(given)  # None: let the memory answer
        if made is None:
            assert self.service is not None, endpoint
            made = await answer(self.service, endpoint, method, given)
        return json.dumps(made)


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A browser for as long as the block lasts."""
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=browser.find(), args=list(browser.FLAGS))
        try:
            yield running
        finally:
            await running.close()


async def violations(frame: Frame) -> list[str]:
    """Return what axe-core finds that keeps people out seriously."""
    await frame.evaluate(AXE_FILE_PATH.read_text("utf-8"))
    found = await frame.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]
