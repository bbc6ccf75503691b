"""Every translated README says what the English one says: same structure, commands, tables, code, links and figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.markdown_shape import Section, anchor, sections

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = (ROOT / "README.md").read_text("utf-8")
LANGUAGES = sorted(path.stem.removeprefix("README_") for path in (ROOT / "readme").iterdir())
"""Whatever is there; that none went missing, the line that names them all tells."""


def home(target: str, own: list[Section], root: bool) -> str:
    """Return where a link leads, as the root's README would write it: a place in the same document by its number."""
    if target.startswith("#"):
        anchors = [anchor(section.heading) for section in own]
        return f"section {anchors.index(target[1:])}" if target[1:] in anchors else f"nowhere: {target}"
    if root or re.match(r"[a-z]+:", target):
        return target
    return target.removeprefix("../") if target.startswith("../") else f"readme/{target}"


def facts(section: Section, own: list[Section], root: bool) -> dict[str, object]:
    """Return what has to be the same in every language, by the name that a complaint gives it."""
    links = [home(target, own, root) for target in section.links]
    return {
        "parts": section.kinds,
        "table rows": [sorted(row) for row in section.rows],
        "code blocks": section.blocks,
        "in backticks": sorted(section.code),
        # The line that names the languages differs: no README names itself.
        "links": sorted(link for link in links if section.level > 1 or "README" not in link),
        # A picture may be of the page in that language: console-zh.png for console.png.
        "images": [re.sub(r"-[a-z]{2}(?=\.png$)", "", home(image, own, root)) for image in section.images],
    }


def complaints(english: str, translated: str) -> Iterator[str]:
    """Yield what a translation lacks or has too much, each with the English heading it stands under."""
    theirs, ours = sections(english), sections(translated)
    levels = [s.level for s in theirs], [s.level for s in ours]
    if levels[0] != levels[1]:
        yield f"headings: levels {levels[1]} instead of {levels[0]}"
        return
    for there, here in zip(theirs, ours, strict=True):
        at = there.heading or "top"
        found = facts(here, ours, root=False)
        for what, wanted in facts(there, theirs, root=True).items():
            if found[what] != wanted:
                yield f"{at}: {what}: {found[what]} instead of {wanted}"
        if missing := there.numbers - here.numbers:
            yield f"{at}: numbers that are not there: {sorted(missing)}"


def test_each_language_is_complete() -> None:
    """A test for all, so that one run names everything that a change of the English README leaves to do."""
    found = [
        f"README_{language}.md: {complaint}"
        for language in LANGUAGES
        for complaint in complaints(ENGLISH, (ROOT / "readme" / f"README_{language}.md").read_text("utf-8"))
    ]
    assert found == [], "\n".join(found)


def test_each_language_names_the_others() -> None:
    for language in (None, *LANGUAGES):
        path = ROOT / "README.md" if language is None else ROOT / "readme" / f"README_{language}.md"
        top = path.read_text("utf-8").partition("\n- ")[0]
        others = {f"README_{x}.md" for x in LANGUAGES if x != language} | (
            {"README.md"} if language else set()
        )
        assert set(re.findall(r"README(?:_\w+)?\.md", top)) == others, language


def test_it_is_written_in_its_language() -> None:
    """Whoever copies a paragraph and leaves it in English is told; names and code do not count."""
    for language in LANGUAGES:
        text = (ROOT / "readme" / f"README_{language}.md").read_text("utf-8")
        prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.S)
        english = [
            line
            for line in prose.splitlines()
            if len(re.findall(r"\b(?:the|and|of|is|that|with|for|what|which|are)\b", line)) > 2
        ]
        assert english == [], f"{language}: {english[:3]}"


def test_what_is_left_out_is_noticed() -> None:
    """The comparison is worth something: each of these is a fault that a translation could have."""
    target = "# A\n\nText `x` 12, [l](docs/a.md).\n\n- a\n- b\n\n"
    target += "| k | v |\n|---|---|\n| `p` | 1 |\n\n```sh\nmake x  # say\n```\n"
    own = target.replace("docs/a.md", "../docs/a.md").replace("Text", "文").replace("# say", "# 说")
    assert list(complaints(target, own)) == []
    for old, new in (
        ("# A", "A"),
        ("`x`", "x"),
        ("12", "13"),
        ("../docs/a.md", "../docs/b.md"),
        ("- b\n", ""),
        ("| `p` | 1 |\n", ""),
        ("`p`", "`q`"),
        ("make x", "make y"),
    ):
        assert list(complaints(target, own.replace(old, new, 1))), old
