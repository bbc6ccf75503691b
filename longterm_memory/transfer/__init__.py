"""Memories in and out: files of episodes that an operator uploads."""
