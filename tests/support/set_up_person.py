"""Somebody who sets LangBot 4.11.2 up in a browser, with nothing but the README of their language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, FrameLocator, Locator, Page, expect, sync_playwright

from playground import browser
from playground.api import PASSWORD, USER
from tests.support.console_frame import ARTIFACTS
from tests.support.set_up_section import NEWER, labels, set_up, shown
from tests.support.webui_words import words

__all__ = ["Person", "person"]

_PATIENCE = 45_000
"""Milliseconds that anything may take to appear."""
_CHAT_MODEL, _EMBEDDING_MODEL = "playground-chat", "playground-embedding"
_KB, _PIPELINE = "memory", "My bot"


class Person:
    """Clicks on what is named.

    Attributes:
        page: the WebUI.
        used: the README's labels that were met so far, in English.
    """

    def __init__(self, page: Page, language: str) -> None:
        """Read the README of *language*, one of ours."""
        self.page = page
        self.used: set[str] = set()
        self._words = words(NEWER)[language]
        there = shown(NEWER, language)
        self._named = [(own, there[own]) for about, own in labels(set_up(language)) if about == NEWER]

    def readme(self, english: str) -> str:
        """Return what the README of this language calls what English calls *english*."""
        found = [own for own, meant in self._named if english in meant]
        assert found, f"the README does not name {english!r}"
        self.used.add(english)
        return found[0]

    def says(self, key: str) -> str:
        """Return the WebUI's word for what the README need not name, such as the fields of a login."""
        return self._words[key]

    def register(self, url: str, own_name_of_language: str) -> None:
        """Become the administrator of a fresh LangBot and get past its wizard."""
        page = self.page
        page.goto(url)
        page.get_by_role("combobox").click()
        page.get_by_role("option", name=own_name_of_language).click()
        for enter in ("register.registerWithPassword", "common.loginWithPassword"):
            # The same two fields twice: to register, to log in.
            button = page.get_by_role("button", name=self.says(enter), exact=True)
            expect(button).to_be_visible()
            page.get_by_placeholder(self.says("common.enterEmail")).fill(USER)
            page.get_by_placeholder(self.says("common.enterPassword")).fill(PASSWORD)
            button.click()
        self.button(self.says("wizard.skip")).click()
        page.get_by_role("dialog").get_by_role("button", name=self.says("wizard.skipConfirmOk")).click()
        page.wait_for_url("**/home/**")
        self._skip_tours()
        self.button(self.says("assistant.collapse")).click()

    def add_models(self, url: str) -> None:
        """Add a provider at *url* with a chat model that may call tools and an embedding model."""
        self.button(self.readme("Models")).click()
        self.button(self.readme("Add Provider")).click()
        dialog = self.page.get_by_role("dialog", name=self.readme("Add Provider"))
        dialog.get_by_label(self.says("models.providerName")).fill("My models")
        dialog.get_by_role("button", name=self.says("models.selectRequester")).click()
        self.page.get_by_role("button", name=re.compile("^OpenAI( OpenAI)?$")).click()
        dialog.get_by_label(self.says("models.requestURL")).fill(url)
        dialog.get_by_label(self.says("models.apiKey")).fill("sk-of-nobody")
        dialog.get_by_role("button", name=self.readme("Save"), exact=True).click()
        expect(dialog).to_be_hidden()
        for number, (kind, name) in enumerate((("Chat", _CHAT_MODEL), ("Embedding", _EMBEDDING_MODEL)), 1):
            self._add_model(kind, name)
            # The list is read anew, and a form that is opened before that has happened is emptied again.
            count = self.says("models.modelsCount").replace("{{count}}", str(number))
            expect(self.page.get_by_text(count, exact=True)).to_be_visible()
        self.page.keyboard.press("Escape")

    def _add_model(self, kind: str, name: str) -> None:
        add = self.button(self.readme("Add"))
        add.click()
        self.page.get_by_role("tab", name=self.readme(kind), exact=True).click()
        field = self.page.get_by_placeholder(self.says("models.modelName"))
        field.fill(name)
        if kind == "Chat":
            self.page.get_by_role("checkbox", name=self.readme("Function Call")).check()
        self.button(self.readme("Test")).click()
        # It says how long the answer took.
        expect(self.page.get_by_role("button", name=re.compile(r"^\d+\.\d+\s*s$"))).to_be_visible()
        add.last.click()
        expect(field).to_be_hidden()

    def install(self, package: Path) -> None:
        """Upload the package of a plugin."""
        self.button(self.readme("Add Extension")).click()
        self.button(self.readme("Manual Add")).click()
        with self.page.expect_file_chooser() as chooser:
            self.page.get_by_text(self.says("addExtension.uploadExtension")).click()
        chooser.value.set_files(package)
        self.button(self.readme("Confirm Install")).click()
        dialog = self.page.get_by_role("dialog")
        expect(dialog.get_by_text(self.readme("Installation successful"))).to_be_visible()
        dialog.get_by_role("button", name=self.says("common.close"), exact=True).first.click()

    def sees_console(self) -> Locator:
        """Look for our page among the plugins' pages; returns its entry."""
        expect(self.page.get_by_text(self.readme("Plugin Pages"), exact=True)).to_be_visible()
        return self.button(self.readme("Memory Console"))

    def create_knowledge_base(self) -> None:
        """Create the memory's knowledge base: the shell first, then its engine's settings."""
        self._plus("Knowledge").click()
        self.page.get_by_label(self.says("knowledge.kbName")).fill(_KB)
        engine = self.page.get_by_role("combobox", name=self.readme("Knowledge Engine"))
        expect(engine).to_contain_text(self.readme("Long-term memory"))
        self.button(self.readme("Save")).click()
        for field in ("Embedding model", "Isolation"):
            # A field that has to be filled in bears a star.
            label = re.compile(rf"^{re.escape(self.readme(field))}\s*\*?$")
            expect(self.page.get_by_text(label).first).to_be_visible()
        expect(self._choice(self.readme("Each conversation by itself (default)"))).to_be_visible()
        self._choose(self.says("knowledge.selectEmbeddingModel"), _EMBEDDING_MODEL)
        self.button(self.readme("Save")).click()
        self._told(self.readme("Knowledge base updated successfully"))

    def create_pipeline(self, runner: str) -> None:
        """Create a pipeline with a runner, the chat model and the knowledge base."""
        self._plus("Processors").click()
        expect(self.page.get_by_role("radio", name=self.readme("Agent"))).not_to_be_checked()
        self.page.get_by_role("radio", name=self.readme("Pipeline")).check()
        self._choose(self.says("agents.selectAgentRunner"), runner, named=True)
        self.page.get_by_label(self.says("common.name")).first.fill(_PIPELINE)
        self.button(self.readme("Submit")).click()
        self.page.get_by_role("tab", name=self.readme("AI"), exact=True).click()
        self._choose(self.readme("Select Model"), _CHAT_MODEL)
        self.button(self.readme("Add Knowledge Base")).click()
        dialog = self.page.get_by_role("dialog", name=self.says("knowledge.selectKnowledgeBases"))
        dialog.get_by_role("checkbox").check()
        dialog.get_by_role("button", name=self.readme("Confirm"), exact=True).click()
        self.button(self.readme("Save")).click()
        self._told(self.says("pipelines.saveSuccess"))

    def opens_private_chat(self) -> None:
        """Choose the private chat beside the pipeline's settings."""
        expect(self._chat).to_be_visible()
        self._chat.get_by_role("button", name=self.readme("Private Chat"), exact=True).click()

    def says_to_bot(self, text: str, answer: str) -> str:
        """Say something; returns the bot's reply, which matches *answer*."""
        field = self._chat.get_by_role("textbox")
        field.fill(text)
        field.press("Enter")
        said = re.compile(answer, re.DOTALL)
        reply = self._chat.get_by_role("paragraph").filter(has_text=said).last
        expect(reply).to_be_visible()
        return reply.inner_text()

    def starts_over(self) -> None:
        """Begin a new conversation in the same chat."""
        self.button(self.readme("Reset Conversation")).click()
        expect(self._chat.get_by_text(self.says("pipelines.debugDialog.noMessages"))).to_be_visible()

    def opens_console(self) -> FrameLocator:
        """Open the Memory Console."""
        self.sees_console().click()
        return self.page.frame_locator("iframe[sandbox]")

    def button(self, name: str) -> Locator:
        """Return the button of that name."""
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def _chat(self) -> Locator:
        return self.page.get_by_role("region", name=self.readme("Debug Chat"))

    def _plus(self, entry: str) -> Locator:
        """Return the + beside an entry of the sidebar, which has a name for screen readers only."""
        return self.button(f"{self.says('common.create')} {self.readme(entry)}")

    def _choice(self, shows: str) -> Locator:
        return self.page.get_by_role("combobox").filter(has_text=shows)

    def _choose(self, field: str, option: str, *, named: bool = False) -> None:
        box = self.page.get_by_role("combobox", name=field) if named else self._choice(field)
        box.click()
        self.page.get_by_role("option", name=option).click()

    def _told(self, text: str) -> None:
        expect(self.page.locator("[data-sonner-toast]").get_by_text(text)).to_be_visible()

    def _skip_tours(self) -> None:
        """Skip each tour as soon as it is in the way."""
        tour = self.page.get_by_role("dialog").filter(has_text=self.says("guidedTour.label"))
        skip = tour.get_by_role("button", name=self.readme("Skip"))
        self.page.add_locator_handler(skip, lambda button: button.click())


@contextmanager
def person(language: str, picture: str) -> Iterator[Person]:
    """A browser with somebody before it who reads *language*; a failure leaves a picture of the screen."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser.find(), args=list(browser.FLAGS))
        context: BrowserContext = running.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(_PATIENCE)
        expect.set_options(timeout=_PATIENCE)
        # The WebUI asks the marketplace, which is not here.
        context.route(re.compile(r"^https?://(?!127\.0\.0\.1)"), lambda route: route.abort())
        page = context.new_page()
        try:
            yield Person(page, language)
        except BaseException:
            ARTIFACTS.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=ARTIFACTS / f"{picture}.png")
            raise
        finally:
            running.close()
