"""The Memory Console."""
