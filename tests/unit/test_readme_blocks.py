"""Generated tables of the README: figures reach the translations, words stay the translators'."""

from __future__ import annotations

import pytest

from playground.readme_blocks import carried, placed


def test_numbers_are_carried_and_words_stay() -> None:
    before = "| data | recall |\n|---|---|\n| LoCoMo, 5 of 10 (en) | 0.728 |\n\nMeasured 2026-12-01 on Chroma 1.5.9."
    after = before.replace("0.728", "0.731").replace("12-01", "12-02").replace("1.5.9", "1.5.10")
    chinese = "| 数据 | 召回 |\n|---|---|\n| LoCoMo，10 段中的 5 段 | 0.728 |\n\n2026-12-01 在 Chroma 1.5.9 上测得。"
    assert carried(before, after, chinese) == (
        "| 数据 | 召回 |\n|---|---|\n| LoCoMo，10 段中的 5 段 | 0.731 |\n\n2026-12-02 在 Chroma 1.5.10 上测得。"
    )
    for changed, own in (
        (f"{after}\nOne line more.", chinese),
        (after.replace("0.731 |", "0.731 of 997 |"), chinese),
        (after, chinese.replace("0.728", "0.72")),
    ):
        with pytest.raises(ValueError, match=r"line"):
            carried(before, changed, own)


def test_a_block_is_replaced_where_it_is() -> None:
    assert placed("a\n<!-- x -->\nold\n<!-- /x -->\nb", "x", "new") == "a\n<!-- x -->\nnew\n<!-- /x -->\nb"
    with pytest.raises(ValueError, match="x"):
        placed("a\nb", "x", "new")
