"""One way to compare text that people type: width, case and spaces do not matter."""

from __future__ import annotations

import unicodedata

__all__ = ["fold", "lowered", "same_text", "well_formed"]


def fold(text: str) -> str:
    """Return ``text`` in NFKC, case-folded, with runs of white space as one space and none at the ends."""
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return " ".join(plain.split())


def lowered(text: str) -> str:
    """Return the same as :func:`fold`, but with ß and ss apart: "in Maßen" is not "in Massen"."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return " ".join(plain.lower().split())


def same_text(text: str) -> str:
    """Return the form under which two memories say literally the same: width, case and spaces do not matter, closing
    punctuation is dropped.
    """
    return lowered(text).rstrip(".!?。！？…~～ ").strip()


def well_formed(text: str) -> str:
    """Return ``text`` with lone surrogates (no text, not encodable anywhere) as U+FFFD; other text
    unchanged.
    """
    return (
        text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )
