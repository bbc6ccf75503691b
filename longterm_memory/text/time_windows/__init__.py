"""Dates in a question, English and Chinese, as windows of time: "last May", 上周三, "2 days after 3 June".

What the words mean is decided in three steps, each in a module of its own: :mod:`.english` and :mod:`.chinese` find
phrases, :mod:`.phrases` puts neighbours together ("the evening of" + "7 July"), and :mod:`.calendar` knows which days a
phrase covers once it is known when it was said. Why there is no library in here: docs/decisions/0006.
"""

from .calendar import Unit
from .windows import MAX_LENGTH, MAX_WINDOWS, TimeWindow, time_windows

__all__ = ["MAX_LENGTH", "MAX_WINDOWS", "TimeWindow", "Unit", "time_windows"]
