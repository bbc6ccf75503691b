"""Numbers as words, as far as dates use them."""

from __future__ import annotations

__all__ = ["CHINESE_DIGITS", "chinese_number", "chinese_year", "english_number"]

_WORDS = (
    *(
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
    ),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_ENGLISH = {word: number for number, word in enumerate(_WORDS, 1)} | {
    "a": 1, "an": 1, "thirty": 30, "forty": 40, "fifty": 50,
}  # fmt: skip

_DIGITS = {"〇": 0, "零": 0, "○": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5} | {
    "六": 6, "七": 7, "八": 8, "九": 9,
}  # fmt: skip

CHINESE_DIGITS = "".join(_DIGITS)


def english_number(word: str) -> int:
    """Return the number that ``word`` spells, in digits or letters.

    Raises:
        ValueError: it spells none.
    """
    if word.isdecimal():
        return int(word)
    try:
        return _ENGLISH[word.lower()]
    except KeyError:
        raise ValueError(word) from None


def chinese_number(word: str) -> float:
    """Return the number below 100 that ``word`` spells, in digits or characters; 半 is a half.

    Raises:
        ValueError: it spells none.
    """
    if word.isdecimal():
        return int(word)
    if word == "半":
        return 0.5
    tens, ten, ones = word.rpartition("十")
    if not ten:
        tens = "零"
    if len(tens) > 1 or len(ones) > 1 or not (ten or ones):
        raise ValueError(word)
    try:
        return _DIGITS[tens or "一"] * 10 + _DIGITS[ones or "零"]
    except KeyError:
        raise ValueError(word) from None


def chinese_year(word: str) -> int:
    """Return the year that ``word`` spells digit by digit: 2023, 二〇二三; two digits are of this or the last century.

    Raises:
        ValueError: it spells none.
    """
    year = int(word) if word.isdecimal() else int("".join(str(_DIGITS.get(sign, "x")) for sign in word))
    if year < 100:
        return year + (1900 if year >= 70 else 2000)
    return year
