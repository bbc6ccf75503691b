"""The Memory Console in LangBot's WebUI: what an operator sees and does there, and that the bot goes by it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator

from playwright.sync_api import expect

from playground.model_server import Call
from tests.support.console_frame import ARTIFACTS
from tests.support.console_host import Tab, desk
from tests.support.console_memory import HOSTILE
from tests.support.talk import Chat, MemoryHost

OSLO = "Ann moves to Oslo in May"
RENT = "The rent is due on the 15th"
BOAT = "The boat needs paint"
ASKED = "When does Ann move to Oslo?"


def talked(memory: MemoryHost) -> Chat:
    """A group with three memories of two people, a profile with a former value, and a turn that recalled one."""
    group = memory.group()
    group.remember(OSLO, "9001", "Mina", tags=["move"], importance=4)
    group.remember(RENT, "9002", "Tao", tags=["home"])
    group.remember(BOAT, "9002", "Tao")
    for drink in ("tea", "coffee"):
        change = {"field": "preferences", "action": "set", "fact_key": "drink", "value": drink}
        group.tool("update_profile", change, "9001", "Mina")
    group.say(ASKED, "9001", "Mina")
    return group


def opened(tab: Tab, text: str) -> str:
    """Open what is known of a memory; returns its selector."""
    row = tab.memory(text)
    tab.frame.click(f"{row} .button[aria-expanded]")
    tab.frame.wait_for_selector(f"{row} .actions")
    return row


def test_what_the_bot_remembered_last_turn_and_why(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    group.remember(OSLO)
    turn = group.say(ASKED)
    with desk(memory_411) as at:
        tab = at.tab()
        tab.frame.fill("#search", group.id)
        # Two clicks from the list of spaces.
        tab.frame.click(f'[data-space][title="{group.session_name}"]')
        tab.frame.click("#tab-injection")
        tab.frame.wait_for_selector(".recalled .score")
        assert tab.frame.locator(".recalled .content").all_inner_texts() == [OSLO]
        assert re.search(r"meaning\s\+\d", tab.frame.inner_text(".recalled .parts"))
        for block in tab.frame.locator(".block pre").all_inner_texts():
            assert block in turn.seen
        assert tab.violations() == []
        tab.shot("injection-en-light-wide")
        tab.frame.click(".recalled .button")
        tab.frame.wait_for_selector(".memory .details")
        assert tab.contents() == [OSLO]


def test_memories_are_found_filtered_and_changed(memory_411: MemoryHost) -> None:
    group = talked(memory_411)
    with desk(memory_411) as at:
        tab = at.tab()
        tab.open(group)
        tab.frame.wait_for_selector(".memory")
        assert sorted(tab.contents()) == sorted([OSLO, RENT, BOAT])
        tab.frame.click(".filters .button")
        tab.frame.select_option('.field:has(label:text-is("Tag")) select', "home")
        expect(tab.frame.locator(".memory")).to_have_count(1)
        assert tab.contents() == [RENT]
        tab.frame.click('.filters .button:has-text("Clear filters")')
        expect(tab.frame.locator(".memory")).to_have_count(3)

        tab.frame.fill(".search-row input", ASKED)
        tab.frame.press(".search-row input", "Enter")
        tab.frame.wait_for_selector(".score")
        assert tab.contents()[0] == OSLO
        assert "relevant" in tab.frame.inner_text(".memory >> nth=0")
        tab.shot("search-en-light-wide")
        tab.frame.click('.search-row .button:has-text("Clear")')
        expect(tab.frame.locator(".memory")).to_have_count(3)

        # Two at once, and back.
        for text in (OSLO, RENT):
            tab.frame.check(f"{tab.memory(text)} input")
        tab.frame.click('.selected .button:has-text("Archive")')
        expect(tab.frame.locator(".memory.archived")).to_have_count(2)
        assert tab.notice().startswith("Archived: 2.")
        assert group.say(ASKED, "9001", "Mina").records == []
        tab.frame.click('.notice .button:has-text("Undo")')
        expect(tab.frame.locator(".memory.archived")).to_have_count(0)
        assert group.say(ASKED, "9001", "Mina").records == [OSLO]

        # Changed where it stands; the bot goes by the new text.
        row = opened(tab, BOAT)
        tab.frame.click(f'{row} .button:has-text("Edit")')
        tab.frame.fill("form.edit textarea", "The boat needs a new sail")
        tab.frame.fill('form.edit .field:has(label:text-is("Tags")) input', "boat, summer")
        tab.frame.click("form.edit .button.primary")
        expect(tab.frame.locator(tab.memory("The boat needs a new sail"))).to_have_count(1)
        assert tab.frame.locator(".memory .tag").all_inner_texts().count("summer") == 1
        assert "The boat needs a new sail" in group.say("What does the boat need?", "9002", "Tao").seen

        # Deleted for good, but only when confirmed.
        row = opened(tab, RENT)
        tab.frame.click(f"{row} .actions .button.danger")
        tab.frame.click(f"{row} .confirm .cancel")
        expect(tab.frame.locator(row)).to_have_count(1)
        tab.frame.click(f"{row} .actions .button.danger")
        assert "Delete for good? Memories: 1." in tab.frame.inner_text(f"{row} .confirm")
        tab.frame.click(f"{row} .confirm .solid")
        expect(tab.frame.locator(row)).to_have_count(0)
        assert "rent" not in group.command("!memory list --all-statuses", "9002", "Tao")
        assert tab.problems == []


def test_profiles_are_changed_by_the_rules_of_the_chat(memory_411: MemoryHost) -> None:
    group = talked(memory_411)
    with desk(memory_411) as at:
        tab = at.tab()
        tab.open(group)
        tab.panel("profiles", '[data-sender="9001"]')
        mina = '[data-sender="9001"]'
        tab.frame.click(f"{mina} .history summary")
        assert "tea" in tab.frame.inner_text(f"{mina} .history")
        tab.frame.click(f"{mina} [data-field=traits] .button")
        tab.frame.fill(f"{mina} [data-field=traits] input >> nth=0", "plays the cello")
        tab.frame.press(f"{mina} [data-field=traits] input >> nth=0", "Enter")
        tab.frame.wait_for_selector(f'{mina} .entries :text("plays the cello")')
        tab.frame.click(f"{mina} [data-field=name] .button")
        tab.frame.fill(f"{mina} .slot input", "Mina Holm")
        tab.frame.press(f"{mina} .slot input", "Enter")
        tab.frame.wait_for_selector(f'{mina} [data-field=name] :text("Mina Holm")')
        seen = group.say("hello again, what now?", "9001", "Mina").profile
        assert "plays the cello" in seen
        assert "Mina Holm" in seen
        # Taken away, and back.
        tab.frame.click(f'{mina} li:has-text("plays the cello") .button[aria-label^="Remove"]')
        expect(tab.frame.locator(f'{mina} .entries :text("plays the cello")')).to_have_count(0)
        tab.frame.click('.notice .button:has-text("Undo")')
        tab.frame.wait_for_selector(f'{mina} .entries :text("plays the cello")')
        # What the policy refuses in a chat is refused here, in words, and stays to be mended.
        tab.frame.click(f"{mina} [data-field=traits] .button:has-text('Add')")
        tab.frame.fill(f"{mina} [data-field=traits] input >> nth=0", "my password is hunter2-Xy77!kq")
        tab.frame.press(f"{mina} [data-field=traits] input >> nth=0", "Enter")
        assert "secret" in tab.frame.inner_text(f"{mina} .problem")
        assert tab.frame.input_value(f"{mina} [data-field=traits] input >> nth=0").startswith("my password")
        assert tab.violations() == []


def test_exported_erased_and_brought_back(memory_411: MemoryHost) -> None:
    group = talked(memory_411)
    with desk(memory_411) as at:
        tab = at.tab()
        tab.open(group)
        tab.panel("transfer", "#export")
        tab.frame.click('section[aria-labelledby="export"] .button.primary')
        exported = tab.frame.input_value(".text-part textarea")
        assert {row["content"] for row in json.loads(exported)["episodes"]} == {OSLO, RENT, BOAT}
        tab.frame.click('.text-part .button:has-text("Copy")')
        tab.frame.wait_for_selector('.notice :text("Copied")')
        # What was copied can be pasted.
        tab.frame.focus("#search")
        tab.page.keyboard.press("Control+A")
        tab.page.keyboard.press("Control+V")
        assert tab.frame.input_value("#search").startswith('{"format":"longtermmemory"')
        tab.frame.fill("#search", group.id)

        tab.frame.click('section[aria-labelledby="erase"] .button.danger')
        assert "3 memories" in tab.frame.inner_text(".confirm")
        tab.frame.click(".confirm .solid")
        tab.frame.wait_for_selector('.notice :text("Erased")')
        assert "No memories" in group.command("!memory list --all-statuses")
        tab.frame.wait_for_selector('.state:has-text("Select a memory space")')

        # A space that nothing is stored in is opened by its name.
        tab.frame.click(".derive summary")
        tab.frame.fill('.derive .field:has(label:text-is("Session name")) input', group.session_name)
        tab.frame.fill('.derive .field:has(label:text-is("Bot UUID")) input', group.bot.uuid)
        tab.frame.click(".derive .button.primary")
        assert tab.frame.inner_text(".keys code >> nth=0") == group.key
        tab.panel("transfer", "#import")
        broken = json.loads(exported)
        broken["episodes"].append({"content": ""})
        file = {"name": "backup.json", "mimeType": "application/json", "buffer": json.dumps(broken).encode()}
        tab.frame.set_input_files('section[aria-labelledby="import"] input[type=file]', file)
        tab.frame.wait_for_selector(".report td")
        assert "content is empty" in tab.frame.inner_text(".report td >> nth=1")
        assert tab.frame.locator(".report .facts dd").all_inner_texts()[:3] == ["3", "0", "1"]
        assert tab.violations() == []
        assert "No memories" in group.command("!memory list"), "a preview writes nothing"
        tab.frame.click('section[aria-labelledby="import"] .button.primary')
        tab.frame.wait_for_selector('.notice :text("Imported: 3")')
        tab.panel("memories", ".memory")
        assert sorted(tab.contents()) == sorted([OSLO, RENT, BOAT])
        assert group.say(ASKED, "9001", "Mina").records == [OSLO]


def test_the_log_tells_who_changed_what(memory_411: MemoryHost) -> None:
    group = talked(memory_411)
    with desk(memory_411, theme="dark") as at:
        tab = at.tab()
        tab.open(group)
        tab.panel("audit", "tbody tr")
        rows = tab.frame.locator("tbody tr").all_inner_texts()
        assert len(rows) == 5
        assert "change profile" in rows[0]
        assert "Mina" in rows[0]
        tab.frame.select_option('.field:has(label:text-is("Operation")) select', "remember")
        expect(tab.frame.locator("tbody tr")).to_have_count(3)
        tab.frame.fill('.field:has(label:text-is("Id of who did it")) input', "9002")
        expect(tab.frame.locator("tbody tr")).to_have_count(2)
        tab.frame.click('section:has(h3:text-is("The whole log")) .button')
        entries = json.loads(tab.frame.input_value(".text-part textarea"))
        assert [entry["operation"] for entry in entries].count("remember") == 3
        assert OSLO not in tab.frame.input_value(".text-part textarea")


def test_health_and_what_it_runs_on(memory_411: MemoryHost) -> None:
    with desk(memory_411) as at:
        tab = at.tab()
        tab.view(0, ".check")
        level = tab.frame.get_attribute(".panel .verdict", "class") or ""
        assert "error" not in level, tab.frame.inner_text(".checks")
        assert "!memory health" in tab.frame.inner_text(".checks")
        tab.frame.wait_for_selector('dt:text-is("Vector database") + dd:text-matches("chroma", "i")')
        assert re.fullmatch(r"[\d,.]+ ms", tab.frame.inner_text('dt:text-is("Search") + dd'))
        tab.shot("diagnostics-en-light-wide")
        tab.frame.click('main .button:has-text("Run again")')
        tab.frame.wait_for_selector('main .button:has-text("Run again"):not(:disabled)')


def shown_parts(tab: Tab) -> Iterator[str]:
    """Turn through a text that is shown to be copied; yield each part of it."""
    area = ".text-part textarea"
    while True:
        text = tab.frame.input_value(area)
        json.loads(text)
        yield text
        later = tab.frame.locator(".text-part .pager .after:enabled")
        if not later.count():
            return
        later.click()
        expect(tab.frame.locator(area)).not_to_have_value(text)


def test_backup_is_made_shown_restored_and_dropped(memory_411: MemoryHost) -> None:
    talked(memory_411)
    with desk(memory_411) as at:
        tab = at.tab()
        tab.view(1, "#backup")
        backup = 'section[aria-labelledby="backup"]'
        tab.frame.click(f'{backup} .button:has-text("Make a")')
        tab.frame.wait_for_selector(f"{backup} .facts")
        tab.frame.click(f'{backup} .button:has-text("Show to copy")')
        # The whole memory of this host, other tests' conversations too: maybe in several parts, each whole JSON.
        assert OSLO in "".join(shown_parts(tab))
        tab.frame.click(f'{backup} .button:has-text("Restore")')
        tab.frame.click(f"{backup} .confirm .cancel")
        tab.frame.click(f'{backup} .button:has-text("Restore")')
        tab.frame.click(f"{backup} .confirm .solid")
        tab.frame.wait_for_selector('.notice :text("The backup is restored.")')
        # All of it was there already.
        imported, skipped, rejected = tab.frame.locator(f"{backup} .report .facts dd").all_inner_texts()[:3]
        assert (imported, rejected) == ("0", "0")
        assert int(skipped.replace(",", "")) >= 3
        tab.frame.click(f'{backup} .button:has-text("Delete backup")')
        tab.frame.click(f"{backup} .confirm .solid")
        tab.frame.wait_for_selector(f'{backup} :text("No backup is kept.")')


def test_a_person_is_erased_everywhere(memory_411: MemoryHost) -> None:
    groups = [memory_411.group(), memory_411.group()]
    for group in groups:
        group.remember("Kim keeps bees", "kim-1", "Kim")
        group.remember(RENT, "9002", "Tao")
    with desk(memory_411) as at:
        tab = at.tab()
        tab.view(1, "#person")
        person = 'section[aria-labelledby="person"]'
        tab.frame.fill(f"{person} input", "kim-1")
        tab.frame.click(f"{person} .button.danger")
        assert "2 memories" in tab.frame.inner_text(f"{person} .confirm")
        tab.frame.click(f"{person} .confirm .solid")
        tab.frame.wait_for_selector('.notice :text("Erased")')
    for group in groups:
        listed = group.command("!memory list --all-statuses", "9002", "Tao")
        assert "bees" not in listed
        assert "rent" in listed


def test_what_people_say_is_never_run(memory_411: MemoryHost) -> None:
    group = memory_411.group()
    group.remember(HOSTILE, "9001", HOSTILE, tags=[HOSTILE[:40]])
    for field, action in (("notes", "set"), ("traits", "add")):
        change = {"field": field, "action": action, "value": HOSTILE, "target": "speaker"}
        group.calling([Call("update_profile", change)], "9001", HOSTILE)
    group.say(f"What about {HOSTILE}?", "9001", HOSTILE)
    panels: tuple[tuple[str, str], ...] = (
        ("memories", ".memory"),
        ("injection", ".block"),
        ("profiles", '[data-sender="9001"]'),
        ("audit", "tbody tr"),
        ("transfer", "#export"),
    )
    with desk(memory_411) as at:
        tab = at.tab()
        tab.open(group)
        for panel, shown in panels:
            tab.panel(panel, shown)
            if panel == "memories":
                tab.frame.click(".memory .button[aria-expanded]")
                tab.frame.wait_for_selector(".details")
            tab.page.wait_for_timeout(200)
            assert tab.inert(), panel
            assert tab.frame.locator("img, .content script, iframe").count() == 0, panel
        tab.panel("memories", ".memory")
        assert tab.frame.inner_text(".memory .content").startswith("<img src=x onerror=")


def test_theme_and_language_follow_the_webui(memory_411: MemoryHost) -> None:
    group = talked(memory_411)
    with desk(memory_411) as at:
        tab = at.tab()
        tab.open(group)
        tab.frame.wait_for_selector(".memory")
        tab.shot("memories-en-light-wide")
        tab.page.click("text=admin@example.com")
        tab.page.click('[role="menu"] [role="combobox"]')
        tab.page.click('[role="option"]:has-text("简体中文")')
        console = tab.page.frame_locator("iframe[sandbox]")
        expect(console.locator("h1")).to_have_text("记忆控制台")
        tab.ready()
        assert tab.frame.get_attribute("html", "lang") == "zh-Hans"
        light = tab.frame.evaluate("getComputedStyle(document.body).backgroundColor")
        if not tab.page.locator('[role="menu"] [role="combobox"]').count():
            tab.page.click("text=admin@example.com")
        tab.page.click('[role="menu"] button:has(svg.lucide-sun)')
        expect(console.locator('html[data-theme="dark"]')).to_be_attached()
        tab.page.keyboard.press("Escape")
        assert tab.frame.evaluate("getComputedStyle(document.body).backgroundColor") != light
        tab.open(group)
        assert tab.frame.inner_text("#tab-memories") == "记忆"
        tab.frame.wait_for_selector(".memory")
        assert tab.violations() == []
        tab.shot("memories-zh-dark-wide")
    with desk(memory_411, width=380) as at:
        tab = at.tab()
        tab.open(group)
        tab.frame.wait_for_selector(".memory")
        tab.shot("memories-en-light-narrow")
        wide = tab.frame.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0


def test_two_tabs_at_once(memory_411: MemoryHost) -> None:
    groups = [talked(memory_411), talked(memory_411)]
    with desk(memory_411) as at:
        tabs = [at.tab(), at.tab()]
        for tab, group in zip(tabs, groups, strict=True):
            tab.open(group)
            tab.frame.wait_for_selector(".memory")
        # Each works in its own space.
        for tab in tabs:
            tab.frame.check(f"{tab.memory(RENT)} input")
        for tab in tabs:
            tab.frame.click('.selected .button:has-text("Archive")')
        for tab in tabs:
            expect(tab.frame.locator(".memory.archived")).to_have_count(1)
        # Both in one: what one has deleted, the other cannot change any more, and says so.
        one, other = tabs
        other.open(groups[0])
        other.frame.wait_for_selector(other.memory(BOAT))
        row = opened(one, BOAT)
        one.frame.click(f"{row} .actions .button.danger")
        one.frame.click(f"{row} .confirm .solid")
        expect(one.frame.locator(row)).to_have_count(0)
        other.frame.check(f"{other.memory(BOAT)} input")
        other.frame.check(f"{other.memory(OSLO)} input")
        other.frame.click('.selected .button:has-text("Archive")')
        other.frame.wait_for_selector(".notice.failed")
        assert re.search(r"Archived: 1\..*Not done: 1\. Not found", other.notice())
        expect(other.frame.locator(".memory")).to_have_count(2)
        assert groups[1].say(ASKED, "9001", "Mina").records == [OSLO]


USEFUL = """new MutationObserver(() => {
  if (!window.__useful && document.querySelector(".space")) window.__useful = performance.now();
}).observe(document, {childList: true, subtree: true})"""
"""Notes when a frame first shows a space, in milliseconds since the frame began to load."""

PANEL = """async ([panel, shown]) => {
  const began = performance.now();
  document.getElementById(`tab-${panel}`).click();
  while (!document.querySelector(shown)) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
"""Opens a panel; returns the milliseconds until it shows what it is for."""


def test_how_fast_it_is_drawn(memory_411: MemoryHost) -> None:
    """First useful paint and the change of a panel, in round trips of one request of the page; told, not judged."""
    group = talked(memory_411)
    with desk(memory_411) as at:
        ping = min(_timed(lambda: memory_411.page("/spaces", {"size": 1})) for _ in range(5))
        at.context.add_init_script(USEFUL)
        tab = at.tab()
        tab.frame.wait_for_selector(".space")
        paint = tab.frame.evaluate("window.__useful") / 1000
        tab.open(group)
        tab.frame.wait_for_selector(".memory")

        # By the page's own clock, so that what it takes to steer a browser from outside is no part of it.
        first = tab.frame.evaluate(PANEL, ["profiles", ".profile"]) / 1000
        again = tab.frame.evaluate(PANEL, ["memories", ".memory"]) / 1000
        assert tab.problems == []
    times = {
        "page_api_ping_ms": round(ping * 1000, 1),
        "first_useful_paint_pings": round(paint / ping, 1),
        "panel_first_pings": round(first / ping, 1),
        "panel_again_pings": round(again / ping, 1),
    }
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    (ARTIFACTS / "times.json").write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
    print(times)


def _timed(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started
