"""A fresh LangBot, set up by clicking on what the README names, remembers; in English and in Simplified Chinese."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from playground import packages
from playground.demo.brains import DemoModels, OfflineAgent
from playground.host import Host
from tests.support.set_up_person import person
from tests.support.set_up_section import NEWER, labels, quotes, set_up, shown

OWN_NAMES = {"en_US": "English", "zh_Hans": "简体中文"}
"""What the WebUI's list of languages calls them."""
AS_INSTALLED = {"PLUGIN__ENABLE_MARKETPLACE": "true"}
"""Without the marketplace the page that takes uploads is empty."""
RUNNER = "Mini Runner"
"""Stands in for LocalAgent from the marketplace."""


@pytest.mark.host
@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", OWN_NAMES)
def test_a_fresh_host_remembers(language: str, tmp_path: Path) -> None:
    told, asked = quotes(set_up(language))[:2]
    # The offline agent never sees the chat history: what it knows, it knows from memory.
    with (
        DemoModels(OfflineAgent()) as models,
        Host(tmp_path / "host", NEWER, env=AS_INSTALLED) as host,
        person(language, f"set-up-{language}") as operator,
    ):
        operator.register(host.url, OWN_NAMES[language])
        operator.add_models(models.url)
        operator.install(packages.build_product())
        operator.sees_console()
        operator.install(packages.build_plugin("mini_runner"))
        operator.create_knowledge_base()
        operator.create_pipeline(RUNNER)

        operator.opens_private_chat()
        operator.says_to_bot(told, r"(Noted|记下了).*Rex")
        operator.starts_over()
        operator.says_to_bot(asked, r"(told me|告诉过我).*Rex")
        assert "Rex" in operator.says_to_bot("!memory list", r"\[bot\].*Rex")
        operator.says_to_bot("!memory", r"Memories: 1 active")
        console = operator.opens_console()
        console.locator("[data-space]").click()
        expect(console.locator(".memory .content")).to_contain_text("Rex")

        named = {label for version, label in labels(set_up(language)) if version == NEWER}
        met = {own for own, meant in shown(NEWER, language).items() if meant & operator.used}
        assert not named - met, "named in the README, but not met on the way"

        # What the README warns of: the debug chat takes a reader who comes back for somebody new.
        operator.page.go_back()
        operator.page.reload()
        operator.says_to_bot("!memory", r"Memories: 0 active")
