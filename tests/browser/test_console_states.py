"""The Memory Console's page in a frame like LangBot's, over a memory in this process: what it shows when, to whom."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, Frame

from longterm_memory.words import load
from playground.console import PAGE
from tests.support.console_frame import Console, launched, violations
from tests.support.console_memory import GROUP, filled
from tests.support.memory import Bot, new_bot
from tests.unit.test_manifest import LANGUAGES

PANELS = {
    "memories": ".memories",
    "injection": ".block",
    "profiles": ".profile",
    "audit": "table",
    "transfer": "#export",
}
"""The panels of a space, and what each of them shows when it is there."""
VIEWS = {0: ".checks", 1: "#backup"}
"""The views of the whole memory by the place of their button."""
WORDS = {one: json.loads((PAGE / "i18n" / f"{one}.json").read_text("utf-8")) for one in LANGUAGES}


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with launched() as running:
        yield running


async def opened(browser: Browser, bot: Bot | None, width: int = 1280, **answers: Any) -> Console:
    page = await browser.new_page(viewport={"width": width, "height": 860})
    return Console(
        page, bot.service if bot else None, answers={f"/{name}": made for name, made in answers.items()}
    )


async def every_panel(frame: Frame) -> AsyncIterator[str]:
    """Open one panel after the other, and say which."""
    await frame.click(f'[data-space][title="{GROUP}"]')
    for panel, shown in PANELS.items():
        await frame.click(f"#tab-{panel}")
        await frame.wait_for_selector(shown)
        yield panel
    for place, shown in VIEWS.items():
        await frame.click(f".top .button >> nth={place}")
        await frame.wait_for_selector(shown)
        yield ("diagnostics", "whole")[place]


async def text_of(frame: Frame) -> str:
    return str(await frame.inner_text("#app"))


async def test_every_panel_can_be_used_by_everybody(browser: Browser) -> None:
    """In each language, light and dark, wide and narrow: no word missing, nothing cut off, nobody kept out."""
    bot = await filled()
    looks = [
        ("light", 1600),
        ("dark", 380),
        ("light", 380),
        ("dark", 1280),
        ("light", 760),
        ("dark", 1000),
        ("light", 520),
    ]
    for language, (theme, width) in zip(LANGUAGES, looks, strict=True):
        console = await opened(browser, bot, width)
        frame = await console.show(theme, language.replace("_", "-"))
        async for panel in every_panel(frame):
            place = f"{panel} {language} {theme} {width}"
            assert await violations(frame) == [], place
            wide = await frame.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, place
            shown = await text_of(frame)
            assert not [key for key in WORDS["en_US"] if "." in key and key in shown.split()], place
            await console.shot(f"{panel}-{language}-{theme}-{width}")
            if width < 760 and panel == "transfer":
                await frame.click(".back button")
        assert console.problems == []
        for where in (console.page, frame):
            assert await where.evaluate("typeof window.__x") == "undefined"
        await console.page.close()


async def test_language_and_theme_change_while_it_is_open(browser: Browser) -> None:
    bot = await filled()
    console = await opened(browser, bot)
    frame = await console.show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.click("#tab-profiles")
    await frame.fill('input[type="search"] >> nth=1', "Mina")
    for language in LANGUAGES:
        await console.turn(language=language.replace("_", "-"))
        await frame.wait_for_selector(f'h1:text-is("{WORDS[language]["title"]}")')
        assert await frame.inner_text("#tab-profiles") == WORDS[language]["panel.profiles"]
        assert await frame.get_attribute("html", "lang") == language.replace("_", "-")
    await console.turn(language="pt-BR")
    await frame.wait_for_selector(f'h1:text-is("{WORDS["en_US"]["title"]}")')
    assert await frame.input_value('input[type="search"] >> nth=1') == "Mina"
    light = await frame.evaluate("getComputedStyle(document.body).backgroundColor")
    await console.turn(theme="dark")
    assert await frame.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert console.problems == []


async def test_what_the_bot_remembered_is_two_clicks_away(browser: Browser) -> None:
    bot = await filled()
    console = await opened(browser, bot)
    frame = await console.show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.click("#tab-injection")
    await frame.wait_for_selector(".recalled .score")
    shown = await text_of(frame)
    assert "Mina's dentist appointment is on Friday at 10" in shown
    said = [WORDS["en_US"][words] for words in ("injection.recalled", "injection.seen", "injection.spent")]
    said += [load("en_US")[words] for words in ("console.part_meaning", "console.block_profile")]
    for words in said:
        assert words in shown
    # From a memory that the bot got to all that is known of it.
    await frame.click(".recalled .button")
    await frame.wait_for_selector('.linked :text("Monday at 9")')
    # From a profile to who changed it, and from the log to the memory that an entry is about.
    await frame.click("#tab-profiles")
    await frame.click(f'.button:has-text("{WORDS["en_US"]["profile.log"]}")')
    await frame.wait_for_selector(
        'tbody:has(tr:nth-child(4)):not(:has(tr:nth-child(5))) :text("change profile")'
    )
    await frame.select_option("#panel select", "remember")
    await frame.click("tbody tr:first-child .link")
    await frame.wait_for_selector(
        '.memory .content:text-is("Mina\'s dentist appointment is on Friday at 10")'
    )


async def test_nothing_there_yet(browser: Browser) -> None:
    words = WORDS["en_US"]
    none = {"spaces": [], "total": 0, "page": 1, "pages": 1, "untold": 0, "knowledge_base": None}
    ready = none | {"knowledge_base": {"id": "kb", "has_model": True}}
    space = {
        **{"space_id": "s1", "bot_uuid": "", "session_name": "group_1", "isolation": "session"},
        **{"scope_key": "k", "user_key": "k", "profiles": 0, "episodes": None, "last_activity": ""},
    }
    bare = none | {"spaces": [space], "total": 1}
    mute = bare | {"knowledge_base": {"id": "kb", "has_model": False}}
    for answer, said in (
        (none, words["noKnowledgeBase.title"]),
        (ready, words["spaces.empty"]),
        (bare, words["noKnowledgeBase.banner"]),
        (mute, words["noModel.banner"]),
    ):
        console = await opened(browser, None, spaces=answer)
        frame = await console.show()
        assert said in await text_of(frame)
        assert await violations(frame) == []
    bot = await new_bot()
    await bot.hear("hello", GROUP, "9001")
    console = await opened(browser, bot)
    frame = await console.show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    for panel, said in (
        ("memories", "memories.none"),
        ("audit", "audit.none"),
        ("profiles", "profiles.none"),
    ):
        await frame.click(f"#tab-{panel}")
        await frame.wait_for_selector(f'.state :text-is("{words[said]}")')
        assert await violations(frame) == []
    await frame.fill("#search", "nobody")
    await frame.wait_for_selector(f':text-is("{words["spaces.noMatch"].replace("{query}", "nobody")}")')


async def test_a_failure_has_words_and_another_try(browser: Browser) -> None:
    bot = await filled()
    broken = True

    async def spaces(body: Any) -> Any:
        return {"error": {"code": "storage_down", "text": "Plugin storage is down."}} if broken else None

    console = await opened(browser, bot, spaces=spaces)
    frame = await console.show(ready=False)
    await frame.wait_for_selector('.state.failed :text("Plugin storage is down.")')
    assert await violations(frame) == []
    await console.shot("state-failed-light")
    broken = False
    await frame.click(".state.failed .button")
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.wait_for_selector(".memories")
    # What is shown stays when a later request fails.
    broken = True
    await frame.click(".top .button >> nth=2")
    await frame.wait_for_selector('.banner :text("Plugin storage is down.")')
    assert await frame.locator(".memory").count() == 25
    console.answers["/episodes"] = {"error": {"code": "store_down", "text": "The vector store is down."}}
    await frame.click(".pager .after")
    await frame.wait_for_selector('.problem :text("The vector store is down.")')
    assert await frame.locator(".memory").count() == 25


async def test_bars_until_the_answer_and_nothing_that_flashes(browser: Browser) -> None:
    bot = await filled()
    arrived = asyncio.Event()

    async def late(body: Any) -> Any:
        await arrived.wait()
        return None

    console = await opened(browser, bot, spaces=late, episodes=late)
    frame = await console.show(ready=False)
    await frame.wait_for_selector(".side .skeletons")
    assert await violations(frame) == []
    arrived.set()
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.wait_for_selector(".memories")
    first = await frame.inner_text(".memory >> nth=0")
    arrived.clear()
    await frame.click(".pager .after")
    await frame.wait_for_selector(".answer.waiting")
    assert await frame.inner_text(".memory >> nth=0") == first
    assert not await frame.locator(".panel .skeletons").count()
    arrived.set()
    await frame.wait_for_selector(".panel .answer:not(.waiting)")
    assert await frame.inner_text(".memory >> nth=0") != first


async def test_a_large_space_is_asked_for_until_it_is_read(browser: Browser) -> None:
    bot = await filled()
    left, arrived = 3, asyncio.Event()

    async def reading(body: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 1:
            await arrived.wait()
        return {"error": {"code": "still_reading", "text": "Still being read."}} if left > 0 else None

    console = await opened(browser, bot, episodes=reading)
    frame = await console.show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.wait_for_selector('.slow :text-is("Still being read.")')
    arrived.set()
    await frame.wait_for_selector(".memories")
    assert left == 0
    assert not await frame.locator(".slow").count()


def report(accepted: int, skipped: int, remaining: int) -> dict[str, Any]:
    rows = {"rejected": [{"line": 7, "text": "It is empty."}], "rejected_total": 1, "notes": []}
    counts = {
        "accepted": accepted,
        "skipped": skipped,
        "remaining": remaining,
        "profiles": 0,
        "ignored_profiles": 0,
    }
    return {**rows, **counts, "format": "plain", "stopped": ""}


async def test_long_work_goes_on_until_nothing_is_left(browser: Browser) -> None:
    """What a file that was begun again tells a second time is counted once."""
    bot = await filled()
    imports = [report(100, 10, 150), report(100, 110, 50), report(50, 210, 0)]
    parts = [
        {"report": report(60, 0, 40), "part": 0, "parts": 2, "done": False},
        {"report": report(40, 60, 0), "part": 1, "parts": 2, "done": False},
        {"report": report(30, 5, 0), "part": 2, "parts": 2, "done": True},
    ]
    made = {"made_at": "2026-06-06T06:00:00Z", "episodes": 130, "profiles": 3, "parts": 2, "size": 1603}
    makes = [{"kept": None, "remaining": 4}, {"kept": made, "remaining": 0}]

    async def take(body: Any) -> Any:
        return report(250, 10, 0) if body["dry_run"] else imports.pop(0)

    async def restore(body: Any) -> Any:
        return parts.pop(0)

    async def make(body: Any) -> Any:
        return makes.pop(0)

    async def kept(body: Any) -> Any:
        return {"kept": None if makes else made, "remaining": 0}

    answers = {"import": take, "backup_restore": restore, "backup_make": make, "backup": kept}
    console = await opened(browser, bot, **answers)
    frame = await console.show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.click("#tab-transfer")
    file = {"name": "rows.json", "mimeType": "application/json", "buffer": b"[]"}
    await frame.set_input_files('section[aria-labelledby="import"] input[type=file]', [file])  # type: ignore[list-item]
    await frame.click('section[aria-labelledby="import"] .button.primary')
    await frame.wait_for_selector('.notice :text-is("Imported: 250.")')
    assert await frame.locator(".report .facts dd").all_inner_texts() == ["250", "10", "1", "0"]
    assert not imports
    await frame.click(".top .button >> nth=1")
    await frame.click('.button:has-text("Make a backup")')
    await frame.wait_for_selector('section[aria-labelledby="backup"] .facts')
    await frame.click('.button:has-text("Restore")')
    await frame.click(".confirm .solid")
    await frame.wait_for_selector('.notice :text-is("The backup is restored.")')
    assert await frame.locator(".report .facts dd").all_inner_texts() == ["130", "5", "2", "0"]
    assert not parts


async def test_an_unhealthy_memory_says_what_to_do(browser: Browser) -> None:
    bot = await filled()
    checks = [
        {"name": "a", "level": "ok", "title": "Settings", "text": "Fine.", "remedy": "", "values": {}},
        {
            "name": "b",
            "level": "error",
            "title": "Embedding model",
            "text": "It is down.",
            "remedy": "Start it.",
            "values": {},
        },
        {
            "name": "c",
            "level": "warn",
            "title": "Similarity",
            "text": "Unknown.",
            "remedy": "Report it.",
            "values": {},
        },
    ]
    console = await opened(browser, bot, health={"level": "error", "checks": checks})
    frame = await console.show("dark")
    await frame.click(".top .button >> nth=0")
    await frame.wait_for_selector(".check")
    titles = await frame.locator(".check h4").all_inner_texts()
    assert [" ".join(title.split()) for title in titles] == [
        "Embedding model failed",
        "Similarity to look at",
        "Settings fine",
    ]
    assert await frame.locator(".remedy").all_inner_texts() == ["Start it.", "Report it."]
    assert await violations(frame) == []
    await console.shot("state-unhealthy-dark")
    console.answers["/health"] = {"level": "ok", "checks": checks[:1]}
    await frame.click("main .button.primary")
    await frame.wait_for_selector(".verdict.ok")


async def test_keys_alone_get_everywhere(browser: Browser) -> None:
    bot = await filled()
    console = await opened(browser, bot)
    frame = await console.show()
    keyboard = console.page.keyboard
    await frame.focus(f'[data-space][title="{GROUP}"]')
    await keyboard.press("Enter")
    await frame.wait_for_selector(".memories")
    await frame.wait_for_selector("#detail:focus")
    await frame.focus("#tab-memories")
    for key, panel in (
        ("ArrowRight", "injection"),
        ("End", "transfer"),
        ("ArrowRight", "memories"),
        ("ArrowLeft", "transfer"),
    ):
        await keyboard.press(key)
        assert await frame.evaluate("document.activeElement.id") == f"tab-{panel}"
        assert await frame.get_attribute(f"#tab-{panel}", "aria-selected") == "true"
    await frame.focus("#tab-memories")
    await keyboard.press("Enter")
    # Of the bars one takes the focus; arrow keys go to the others, and the list is narrowed to what is chosen.
    await frame.focus(".bars .bar[tabindex='0']")
    await keyboard.press("Home")
    first = frame.locator(".bars .bar").first
    assert await first.evaluate("bar => bar === document.activeElement")
    said = await first.get_attribute("aria-label")
    assert said and "superseded 1" in said
    assert await frame.inner_text(".axis .told") == said
    await keyboard.press("Enter")
    await frame.wait_for_selector(".bars .bar[aria-pressed=true]")
    await frame.wait_for_selector('.memory.superseded:has-text("Monday at 9")')
    await keyboard.press("ArrowRight")
    await keyboard.press(" ")
    await frame.wait_for_selector(".memory.superseded", state="detached")
    await keyboard.press(" ")
    await frame.wait_for_selector(".bars .bar[aria-pressed=true]", state="detached")
    # Asking back takes the focus to what does no harm; Escape gives it back.
    await frame.focus(".memory .button[aria-expanded]")
    await keyboard.press("Enter")
    delete = frame.locator(".actions .button.danger")
    await delete.focus()
    await keyboard.press("Enter")
    await frame.wait_for_selector(".confirm")
    await frame.wait_for_selector(".confirm .cancel:focus")
    await keyboard.press("Escape")
    await frame.wait_for_selector(".confirm", state="detached")
    await frame.wait_for_selector(".actions .button.danger:focus")
    await frame.locator(".actions .button >> nth=0").focus()
    await keyboard.press("Enter")
    await frame.wait_for_selector("textarea:focus")
    await keyboard.press("Escape")
    await frame.wait_for_selector(".edit", state="detached")


async def test_a_page_is_gone_to_by_its_number(browser: Browser) -> None:
    bot = await filled()
    for n in range(60):
        await bot.remember(f"Errand {n}: buy {n} stamps", GROUP, "9001")
    console = await opened(browser, bot)
    frame = await console.show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    for typed, page in (("4", "4"), ("99", "5"), ("none", "5"), ("-3", "1")):
        await frame.fill(".jump input", typed)
        await frame.press(".jump input", "Enter")
        await frame.wait_for_selector(f'.jump input[aria-label="Page {page} of 5"]')
        assert await frame.input_value(".jump input") == page


async def test_a_tag_that_holds_a_comma_stays_whole(browser: Browser) -> None:
    bot = await filled()
    memory_id = await bot.remember("The boat leaves at six", GROUP, "9001", tags=["Oslo, in June", "trip"])
    frame = await (await opened(browser, bot)).show()
    await frame.click(f'[data-space][title="{GROUP}"]')
    await frame.click(".memory .button[aria-expanded] >> nth=0")
    await frame.click('.actions .button:has-text("Edit")')
    tags = '.edit .field:has(label:text-is("Tags")) input'
    assert await frame.input_value(tags) == "Oslo, in June, trip"
    await frame.fill(tags, "boat, Oslo, in June, journey")
    await frame.click(".edit .button.primary")
    await frame.wait_for_selector(".edit", state="detached")
    shown = await (await bot.memory(GROUP, "9001")).show(memory_id)
    assert sorted(shown.tags) == ["Oslo, in June", "boat", "journey"]


async def test_what_another_tab_changed_meanwhile_is_not_overwritten(browser: Browser) -> None:
    bot = await filled()
    tabs = [await opened(browser, bot), await opened(browser, bot)]
    for console in tabs:
        frame = await console.show()
        await frame.click(f'[data-space][title="{GROUP}"]')
        await frame.click(".memory .button[aria-expanded] >> nth=0")
        await frame.click('.actions .button:has-text("Edit")')
    one, other = (console.frame for console in tabs)
    await one.fill(".edit textarea", "Theirs")
    await one.fill('.edit .field:has(label:text-is("Tags")) input', "theirs")
    await one.click(".edit .button.primary")
    await one.wait_for_selector('.memory .content:text-is("Theirs")')
    await other.fill(".edit textarea", "Mine")
    # The reader's language changes in the middle: what was typed stays.
    await tabs[1].turn(language="zh-Hans")
    await other.click(".edit .button.primary")
    await other.wait_for_selector('.edit .note .content:text-is("Theirs")')
    assert await other.inner_text(".edit .problem") == load("zh_Hans")["error.edit_changed"].replace(
        "{id}", str(await other.get_attribute(".memory:has(.edit)", "data-memory"))
    )
    assert await other.input_value(".edit textarea") == "Mine"
    # Whoever has seen that may replace it; what they did not touch stays as the other left it.
    await other.click(".edit .button.primary")
    await other.wait_for_selector('.memory:has(.content:text-is("Mine")) .tag:text-is("theirs")')
    await other.click('.actions .button:has-text("编辑")')
    await other.fill(".edit textarea", "Too late")
    shown = str(await other.get_attribute(".memory:has(.edit)", "data-memory"))
    memory = await bot.memory(GROUP, "9001", via="console")
    assert await memory.changes.delete_chosen([shown], chains=True)
    await other.click(".edit .button.primary")
    await other.wait_for_selector(".edit .problem")
    assert await other.input_value(".edit textarea") == "Too late"
