"""The README's set-up names what LangBot shows: each label in italics is a word of its WebUI, or one of ours.

It needs the host environments' files, but no running host.
"""

from __future__ import annotations

import difflib
import re
import string
import unicodedata
from collections.abc import Iterator

import pytest

from tests.support.set_up_section import BOLD, ITALICS, labels, paragraphs, readmes, set_up, shown


def unknown(section: str, language: str) -> Iterator[str]:
    """Yield a complaint for each label that the screen does not show in that language."""
    for version, label in labels(section):
        there = shown(version, language)
        if label not in there:
            near = difflib.get_close_matches(label, there, n=3, cutoff=0.4)
            yield f"{language}, LangBot {version}: {label!r} is not on the screen; near: {near}"


def strayed(section: str, english: str, language: str) -> Iterator[str]:
    """Yield a complaint for each label that is no translation of an English one there, and the other way round."""
    theirs, ours = labels(english), labels(section)
    for version, label in ours:
        if label in (there := shown(version, language)) and not there[label] & _of(version, theirs):
            yield f"{language}, LangBot {version}: {label!r} is {sorted(there[label])}, which English does not name"
    for version, label in theirs:
        there = shown(version, language)
        if not any(label in there.get(own, ()) for own in _of(version, ours)):
            wanted = sorted(own for own, meant in there.items() if label in meant)
            yield f"{language}, LangBot {version}: nothing for {label!r}, which is one of {wanted}"


def _of(version: str, found: list[tuple[str, str]]) -> set[str]:
    return {label for about, label in found if about == version}


def asterisks(section: str) -> Iterator[str]:
    """Yield what is in italics or bold that Markdown would show with its asterisks: punctuation inside them and a
    letter outside, as happens in languages without blanks.
    """
    for part in paragraphs(section):
        for found in (*BOLD.finditer(part), *ITALICS.finditer(BOLD.sub(_blank, part))):
            inside = found[0].strip("*")
            before, after = part[: found.start()][-1:], part[found.end() :][:1]
            opens = not _is_mark(inside[0]) or not before.strip() or _is_mark(before)
            closes = not _is_mark(inside[-1]) or not after.strip() or _is_mark(after)
            if not (opens and closes):
                yield f"{before}{found[0]}{after} would show its asterisks"


def _blank(bold: re.Match[str]) -> str:
    return "x" * len(bold[0])


def _is_mark(sign: str) -> bool:
    return sign in string.punctuation or unicodedata.category(sign).startswith("P")


def test_labels_in_english() -> None:
    english = set_up("en_US")
    assert len(labels(english)) > 20, labels(english)
    assert not [*unknown(english, "en_US"), *asterisks(english)]


@pytest.mark.parametrize("language", sorted(readmes().keys() - {"en_US"}))
def test_labels_in(language: str) -> None:
    own = set_up(language)
    complaints = [*unknown(own, language), *strayed(own, set_up("en_US"), language), *asterisks(own)]
    assert not complaints, "\n".join(dict.fromkeys(complaints))


def test_a_wrong_label_is_told_with_the_right_one() -> None:
    section = "Names in *italics*.\n\n1. *Add Extention* → *Confirm Install*\n"
    [complaint] = unknown(section, "en_US")
    assert "'Add Extention'" in complaint
    assert "'Add Extension'" in complaint
    chinese = section.replace("Add Extention", "知识库").replace("Confirm Install", "确认安装")
    assert not list(unknown(chinese, "zh_Hans"))
    complaints = "\n".join(strayed(chinese, section.replace("Extention", "Extension"), "zh_Hans"))
    assert "知识库" in complaints
    assert "添加扩展" in complaints
    assert "确认安装" not in complaints


def test_asterisks_that_would_be_seen_are_told() -> None:
    bold, italics = asterisks("选*独立（默认）*，再*测试*，点 **+** → *独立（默认）*除非，点**+**旁\n")
    assert bold.startswith("点**+**旁 ")
    assert italics.startswith(" *独立（默认）*除 ")
