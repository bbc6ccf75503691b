"""The health check: one probe for ``!memory health`` and the console, on the real services behind the memory."""

from .probe import check_health
from .report import Check, HealthReport, Level

__all__ = ["Check", "HealthReport", "Level", "check_health"]
