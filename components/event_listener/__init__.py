"""Event listeners."""
