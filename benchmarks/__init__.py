"""Measurements anyone can repeat: ``make bench`` writes ``build/bench.json`` and prints a table."""
