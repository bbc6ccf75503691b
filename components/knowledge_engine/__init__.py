"""Knowledge engines."""
