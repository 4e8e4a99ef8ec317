"""Compaction: a long session goes on behind a summary of its beginning (seed 004 section 3.3)."""
