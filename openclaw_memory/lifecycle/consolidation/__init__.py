"""Consolidation: a model tells what a stretch of conversation came to, and what of it is worth keeping (seed 004)."""
